"""Contamination: what evaluation sets hold leaves the training rows, and nothing else does."""

import numpy as np
import pytest
from datasets import Dataset, DatasetDict
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.errors import ConfigurationError, DataError, MissingColumnError, SourceNotFoundError
from whileai_hf.measure.hygiene import contamination_report, decontaminate
from whileai_hf.measure.hygiene.coverage import Coverage
from whileai_hf.rows import open_rows


LONG = "please tell me where the blue kettle from my last order has gone to and when it will get here"


def prompts(*texts):
    return [{"prompt": text} for text in texts]


def test_case_only_copies_count_and_one_shared_8_gram_does_not(load_case):
    case = load_case("O009")
    train, held = case["input"]["train"], case["input"]["eval"]
    clean, found = decontaminate(prompts(*train), prompts(*held))
    assert found.rows == case["expected"]["contaminated"]
    assert clean["prompt"][:] == [train[index] for index in case["expected"]["clean"]]
    assert (found.n_verbatim, found.n_near) == (1, 0)


def test_rules_in_order():
    train = [
        {"task_id": "t1", "prompt": "Anything at all"},
        {"task_id": "t2", "prompt": LONG.upper() + "?!"},
        {"task_id": "t3", "prompt": "Hello there. " + LONG},
        {"task_id": "t4", "prompt": "Where is it"},
        {"task_id": "t5", "prompt": None},
    ]
    held = [{"task_id": "t1", "prompt": LONG}, {"task_id": "other", "prompt": "Where is it now"}]
    for rows in (train, open_rows(train)):
        clean, found = decontaminate(rows, held)
        assert clean["task_id"][:] == ["t4", "t5"]
        assert (found.n_same_task, found.n_verbatim, found.n_near, found.n_semantic) == (1, 1, 1, 0)
        assert found.n_contaminated == 3 and found.n_clean == 2 == len(clean)
        assert found.by_field == {"task": {"task_id": 1}, "prompt": {"verbatim": 1, "near": 1, "semantic": 0}}
        assert [one["rule"] for one in found.offenders] == ["task_id", "verbatim", "near"]
        assert found.offenders[2]["share"] == pytest.approx(20 / 22, abs=1e-3)
        assert found.offenders[2]["source"] == "against[0] row 0"
        assert found.rules_skipped == ["semantic"]
        assert "3 of 5 rows" in str(found)


def covered_share(text, other, n=8):
    """The rule, spelled out."""
    text, other = text.split(), other.split()
    grams = {tuple(other[k : k + n]) for k in range(len(other) - n + 1)}
    inside = set()
    for k in range(len(text) - n + 1):
        if tuple(text[k : k + n]) in grams:
            inside |= set(range(k, k + n))
    return len(inside) / len(text)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from("abcd"), max_size=14), max_size=5),
    st.lists(st.lists(st.sampled_from("abcdx"), min_size=1, max_size=20), min_size=1, max_size=5),
    st.integers(1, 4),
    st.sampled_from([0.3, 0.8, 1.0]),
)
def test_coverage_is_the_rule(others, texts, n, least):
    found = Coverage(others, n).of(texts, least)
    for text, by, share in zip(texts, found.by.tolist(), found.share.tolist(), strict=True):
        shares = [covered_share(" ".join(text), " ".join(other), n) for other in others]
        best = max(shares, default=0.0)
        if best >= least - 1e-9:
            assert share == pytest.approx(best) and shares[by] == pytest.approx(best)
        else:
            assert (by, share) == (-1, 0.0)


def test_pieces_of_several_evals_do_not_add_up():
    words = [f"w{k}" for k in range(40)]
    halves = prompts(" ".join(words[:20]), " ".join(words[20:]))
    assert contamination_report(prompts(" ".join(words)), halves).n_contaminated == 0
    assert contamination_report(prompts(" ".join(words[:24])), halves).n_near == 1


def test_overlap_and_ngram():
    held = prompts(LONG)
    half = prompts(LONG + " " + " ".join(f"x{k}" for k in range(18)))
    assert contamination_report(half, held).n_contaminated == 0
    assert contamination_report(half, held, overlap=0.5).n_near == 1
    assert contamination_report(prompts("one two three four"), prompts("one two three five"), ngram=3).n_near == 0
    assert contamination_report(prompts("one two three"), prompts("zero one two three"), ngram=3).n_near == 1


def test_short_prompts_match_verbatim_only():
    found = contamination_report(prompts("Refund order 4412 now", "Refund order 4412!"), prompts("refund order 4412"))
    assert found.rows == [1]
    assert any("fewer than 8 words in prompt" in note for note in found.notes)


def test_replies_are_checked_against_answers_and_references():
    train = [
        {"prompt": "a", "final_text": "Yes."},
        {"prompt": "b", "final_text": "The kettle left Bergen on Friday."},
        {"prompt": "c", "final_text": "It is in Quito, and it will be there for one more week at least."},
        {"prompt": "d", "final_text": None},
    ]
    held = [
        {"question": "q1", "answer": "yes", "reference": "the kettle left bergen on friday"},
        {
            "question": "q2",
            "answer": "It is in Quito and it will be there for one more week at least",
            "reference": None,
        },
    ]
    found = contamination_report(train, held, fields=("prompt", "final_text"))
    assert found.rows == [1, 2]  # and not the "Yes." anyone says
    assert found.by_field["final_text"] == {"verbatim": 2, "near": 0, "semantic": 0}
    assert found.by_field["prompt"]["verbatim"] == 0
    secret = [{"prompt": "q", "privileged": {"reference": "The kettle left Bergen on Friday"}}]
    assert contamination_report(train, secret, fields=("final_text",)).rows == [1]


def test_meaning_needs_an_embedding():
    def embed(texts):
        return [
            [1.0, 0.1 * ("refund" in text)] if "money" in text or "refund" in text else [0.0, 1.0] for text in texts
        ]

    train = prompts("I want my money back", "Where is it")
    assert contamination_report(train, prompts("Give me a refund")).n_contaminated == 0
    found = contamination_report(train, prompts("Give me a refund"), embed=embed)
    assert (found.rows, found.n_semantic, found.rules_skipped) == ([0], 1, ["task_id"])
    assert contamination_report(train, prompts("Give me a refund"), embed=embed, similarity=0.999).n_semantic == 0


@pytest.mark.parametrize(
    "bad", [lambda texts: [[1.0]], lambda texts: None, lambda texts: [[float("nan")]] * len(texts)]
)
def test_bad_embeddings(bad):
    with pytest.raises(ConfigurationError, match="embed returned"):
        contamination_report(prompts("a b", "c"), prompts("d", "e"), embed=bad)


def test_row_numbers_are_no_tasks():
    train = [{"task_id": k, "prompt": f"own question {k}"} for k in range(3)]
    held = [{"task_id": k, "prompt": f"their question {k}"} for k in range(2)]
    found = contamination_report(train, held)
    assert found.n_same_task == 2 and "pass ids=False" in found.warnings[0]
    assert contamination_report(train, held, ids=False).n_contaminated == 0
    named = contamination_report([{"task_id": "sc-1", "prompt": "x"}], [{"task_id": "sc-1", "prompt": "y"}])
    assert (named.n_same_task, named.warnings) == (1, [])


def test_no_ids_on_one_side_is_said():
    found = contamination_report([{"task_id": "t", "prompt": "x"}], prompts("y"))
    assert "task_id" in found.rules_skipped and "task_id" not in str(found.by_field)
    assert any("task ids were not compared" in note for note in found.notes)


def test_every_form_of_against(tmp_path):
    held = prompts("where is it")
    path = tmp_path / "evals.jsonl"
    path.write_text('{"prompt": "Where is it?"}\n')
    train = prompts("Where is it", "Something else")
    data = Dataset.from_list(held)
    splits = DatasetDict(a=data, b=Dataset.from_list(prompts("something else")))
    for against in (held, [held], data, [data, held], str(path), path, [path], (str(path), data)):
        assert contamination_report(train, against).rows == [0]
    assert contamination_report(train, splits).rows == [0, 1]
    assert contamination_report(train, [[{"messages": [{"role": "user", "content": "Where is it?"}]}]]).rows == [0]


def test_bad_input():
    train = prompts("a")
    with pytest.raises(DataError, match="against holds no rows"):
        contamination_report(train, [])
    with pytest.raises(DataError):
        contamination_report([], prompts("a"))
    with pytest.raises(SourceNotFoundError, match="is not an existing path"):
        contamination_report(train, ["Where is it now?"])
    with pytest.raises(ConfigurationError, match="mapping"):
        contamination_report(train, {"prompt": "a"})
    with pytest.raises(ConfigurationError, match="int"):
        contamination_report(train, 3)
    with pytest.raises(MissingColumnError, match="'final_text'"):
        contamination_report(train, prompts("a"), fields=("final_text",))
    with pytest.raises(MissingColumnError, match="rename"):
        contamination_report(train, [{"label": 1}])
    for knobs in ({"fields": "prompt"}, {"fields": ()}, {"overlap": 0}, {"overlap": 80}, {"ngram": 0}, {"embed": 1}):
        with pytest.raises(ConfigurationError):
            contamination_report(train, prompts("a"), **knobs)


def test_everything_contaminated_keeps_the_columns():
    clean, found = decontaminate([{"prompt": "a", "reward": 1.0}], prompts("A"))
    assert (len(clean), clean.column_names, found.n_clean) == (0, ["prompt", "reward"], 0)


def test_odd_texts():
    huge = " ".join(f"w{k}" for k in range(150_000))
    train = prompts(huge, "\ud800 where", "👍", "注文番号はどこですか教えてください", None, 7)
    held = prompts(huge + " more", "👍", "注文番号はどこですか、教えてください!お願い", None, "??")
    found = contamination_report(train, held)
    assert found.rows == [0, 2, 3]
    assert (found.n_near, found.n_verbatim) == (2, 1)


def test_an_empty_column_hides_no_question():
    held = [{"prompt": None, "question": "Where is it?"}]
    assert contamination_report(prompts("where is it"), held).rows == [0]
    empty = contamination_report(prompts("where is it"), [{"prompt": None}])
    assert empty.n_contaminated == 0 and "no text to compare prompt with" in empty.warnings[0]


def test_conversations_without_a_prompt_column():
    said = [[{"role": "user", "content": text}, {"role": "assistant", "content": "x"}] for text in ("Where?", "Why?")]
    for rows in ([{"messages": cell} for cell in said], open_rows([{"messages": cell} for cell in said])):
        assert contamination_report(rows, prompts("where")).rows == [0]


def test_nothing_is_changed():
    train = [{"prompt": "Where is it?", "steps": [{"text": "x"}]}]
    before = repr(train)
    decontaminate(train, prompts("else"))
    assert repr(train) == before


def test_many_evals_of_one_template_find_the_best():
    base = [f"w{k}" for k in range(20)]
    held = [" ".join([*base[:12], f"own{k}", *base[13:]]) for k in range(300)] + [" ".join([*base, "end"])]
    found = contamination_report(prompts(" ".join(["so", *base])), prompts(*held))
    assert found.offenders[0]["source"] == "against[0] row 300"
    assert np.isclose(found.offenders[0]["share"], 20 / 21, atol=1e-3)


def test_columns_that_are_looked_for_are_named_once():
    with pytest.raises(MissingColumnError, match="one of final_text, reference, answer") as caught:
        contamination_report([{"final_text": "b"}], [{"prompt": "x"}], fields=("final_text",))
    listed = str(caught.value).split("(one of ")[1].split(";")[0].split(", ")
    assert len(set(listed)) == len(listed)
