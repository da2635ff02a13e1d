"""Reading verdicts: real cases, forms judges use, and texts that must not be taken for a verdict."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from timing import cpu_time

from whileai_hf.score.judges import Binary, Letters, Scale, YesNo, read_json, read_verdict


SCALES = {"C/I letters": Letters(), "yes/no": YesNo(), "binary": Binary()}
TEN, FIVE, SHARE, PERCENT = Scale(1, 10), Scale(1, 5), Scale(0, 1), Scale(0, 100)


def reward(text, scale):
    value = read_verdict(text, scale).value
    return None if value is None else scale.reward(value)


@pytest.mark.parametrize("case_id", [f"O0{n}" for n in (16, 17, 18, 19, 20, 21, 22, 23, 24, 27, 29)])
def test_real_cases(load_case, case_id):
    case = load_case(case_id)
    given_scale, expected = case["input"]["scale"], case["expected"]
    scale = SCALES[given_scale] if isinstance(given_scale, str) else Scale(*given_scale)
    texts = case["input"].get("cases") or [(case["input"]["text"], expected.get("reward", expected["outcome"]))]
    for text, wanted in texts:
        wanted = None if wanted == "unjudged" else wanted
        got = reward(text, scale)
        assert got == (None if wanted is None else pytest.approx(wanted)), text
        if wanted is None:
            reading = read_verdict(text, scale)
            assert reading.problem and not reading.abstained


@pytest.mark.parametrize(
    ("text", "scale", "value"),
    [
        ("[[7]]", TEN, 7),
        ("**Rating:** 7/10", TEN, 7),
        ("Score: 7 out of 10", TEN, 7),
        ("On a scale of 1 to 10, I would rate this a 7.", TEN, 7),
        ("Score (1-10): 7", TEN, 7),
        ("Score: seven", TEN, 7),
        ("seven out of ten", TEN, 7),
        ("<think>Score: 3</think>Score: 7", TEN, 7),
        ("Score: 3</think>\n7", TEN, 7),
        ("Score: 7\nConfidence: 9", TEN, 7),
        ("Score: 7\nScore: 8", TEN, 8),
        ("a score of 5 would require more. Score: 3", FIVE, 3),
        ("\\boxed{7}", TEN, 7),
        ("<score>7</score>", TEN, 7),
        ("80%", SHARE, 0.8),
        ("Score: 80 percent", SHARE, 0.8),
        ("Score: 8/10", SHARE, 0.8),
        (".8", SHARE, 0.8),
        ("80%", PERCENT, 80),
        ("得分\uff1a7/10", TEN, 7),
        ("评分\uff1a[[7]]", TEN, 7),
        ('```json\n{"score": 7, "reason": "ok"}\n```', TEN, 7),
        ("{'score': 7, 'reason': 'it's ok',}", TEN, 7),
        ('Here: {"rating": 7} hope it helps', TEN, 7),
        ('{"score": 7}\nOn reflection:\n{"score": 8}', TEN, 8),
        ('{"criteria": [{"score": 1}], "score": 4}', TEN, 4),
        ('{"result": {"score": "7/10"}}', TEN, 7),
        ('The tool said {"success": true}.\nVerdict: fail', Binary(), 0),
        ('{"verdict": "pass"}\nOn second thought:\nVerdict: fail', Binary(), 0),
        ('So: {"met": false}', Binary(), 0),
        ("PASS", Binary(), 1),
        ("## Verdict\n**FAIL**", Binary(), 0),
        ("Verdict: not correct", Binary(), 0),
        ("Verdict: Fail (the agent did not pass)", Binary(), 0),
        ("Pass. The agent looked the order up.", Binary(), 1),
        ('{"verdict": "pass", "reason": "回答正确"}', Binary(), 1),
        ("The answer matches.\n\nC", Letters(), 1),
        ("GRADE: C\n\nwait\nGRADE: I", Letters(), 0),
        ("grade: P", Letters({"C": 1, "P": 0.5, "I": 0}), 0.5),
        ("No. There is no record.", YesNo(), 0),
    ],
)
def test_verdicts(text, scale, value):
    reading = read_verdict(text, scale)
    assert reading.value == pytest.approx(value)
    assert reading.problem is None


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ("Passed: 3/5 criteria", Binary()),
        ("Failed: 0", Binary()),
        ("Fail: 4\nPass: 1", Binary()),
        ("Tests passed: 1, tests failed: 3", Binary()),
        ("Passed: 1, Failed: 4", YesNo()),
        ("Checks passed: 3\nChecks failed: 2", TEN),
        ("Score: 7 or 8", TEN),
        ("Score: 7-8", TEN),
        ("Accuracy 7/10, style 8/10", TEN),
        ("I would not give it a 5", TEN),
        ("The score is not 7", TEN),
        ("If it had cited sources the score would be 9", TEN),
        ("It rates this one highly", TEN),
        ("7/10 test cases passed in the run", TEN),
        ("In 2024 order 7 shipped", TEN),
        ("Score: -3", TEN),
        ("Score: 1,000", PERCENT),
        ("Score: 8/10", FIVE),
        ("<think>Score: 3", TEN),
        ('{"score": 7}{"score": 8}', TEN),
        ('[{"score": 7}, {"score": 3}]', TEN),
        ("Verdict: pass or fail", Binary()),
        ("Verdict: partially correct", Binary()),
        ("The agent did not pass", Binary()),
        ("The reply is correct.", Binary()),
        ("Die Antwort ist gut", Binary()),
        ('The tool said {"success": true}, and the agent repeated that.', Binary()),
        ("0.5", Binary()),
        ("Rating: 7", Binary()),
        ("GRADE: I think so", Letters()),
        ("I think it is fine", Letters()),
        ("Yes. No.", YesNo()),
        ("No, wait, yes", YesNo()),
        ("", Binary()),
        (None, Binary()),
    ],
)
def test_no_verdict(text, scale):
    reading = read_verdict(text, scale)
    assert reading.value is None
    assert reading.problem


@pytest.mark.parametrize(
    "text",
    ['{"verdict": "cannot_assess", "reason": "no results"}', '{"verdict": null}', "N/A", "Verdict: cannot tell"],
)
def test_a_judge_may_say_that_it_cannot_tell(text):
    reading = read_verdict(text, Binary())
    assert reading.value is None
    assert reading.abstained


def test_reasons_are_kept():
    assert read_verdict('{"reason": "It guessed.", "verdict": "fail"}', Binary()).reason == "It guessed."
    assert "looked" in read_verdict("It looked nothing up.\nVerdict: fail", Binary()).reason


@given(
    st.floats(1, 10), st.sampled_from(["{}", "[[{}]]", "Score: {}", '{{"score": {}}}', "It guessed.\nRating: {}/10"])
)
def test_any_number_on_the_scale_comes_back(number, form):
    written = f"{number:.3f}"
    assert read_verdict(form.format(written), TEN).value == float(written)


@given(
    st.floats(10.01, 1e6) | st.floats(-1e6, 0.99), st.sampled_from(["{}", "[[{}]]", "Score: {}", '{{"score": {}}}'])
)
def test_no_number_off_the_scale_does(number, form):
    assert read_verdict(form.format(f"{number:.3f}"), TEN).value is None


@given(st.text())
def test_any_text_is_read_or_has_a_problem(text):
    for scale in (TEN, Binary(), Letters(), YesNo()):
        reading = read_verdict(text, scale)
        assert (reading.value is None) == (reading.problem is not None)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=40)
@given(st.dictionaries(st.text(min_size=1), json_values, max_size=4), st.booleans())
def test_json_comes_back_from_between_fences(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only)
    if "<" not in text:  # tags of a reasoning section inside a string end one
        assert read_json(f"Here you are:\n```json\n{text}\n```\nAnything else?") == value


@given(st.dictionaries(st.sampled_from("abc"), st.booleans() | st.none() | st.integers(0, 9), min_size=1))
def test_json_as_python_writes_it(value):
    assert read_json(f"The result is {value!r}.") == value


@pytest.mark.parametrize("end", range(1, 40))
def test_a_cut_object_is_no_object(end):
    text = '{"score": 7, "reason": "It looked up it"}'
    assert read_json(text[:end]) is None


@pytest.mark.parametrize(
    "text",
    [
        *("a" * 200_000, " " * 200_000 + "x", "{" * 200_000, '{"a":' * 40_000, "Score: " * 30_000, "not " * 50_000),
        *("7 " * 100_000, "<think>" * 30_000, "[[7 " * 50_000, "-" * 200_000, "\0" * 1000 + "\ud800" * 1000),
    ],
    ids=lambda text: text[:6].strip() or "spaces",
)
def test_long_texts_take_no_time(text):
    with cpu_time() as spent:
        for scale in (TEN, Binary()):
            read_verdict(text[:100_000], scale)
    assert spent() < 3


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Verdict: pass? No, fail.", None),
        ("Verdict: pass, no issues found", 1.0),
        ('```json\n{"reason": "x", "verdict": "fail"}\n```\nFinal: pass', 1.0),
    ],
)
def test_a_verdict_that_is_taken_back(text, value):
    assert read_verdict(text, Binary()).value == value
