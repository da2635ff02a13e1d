"""The forms tests come in, what a candidate may be, and what gets no verdict."""

import ast
import json
import re
import textwrap
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.score import fingerprint, grade
from whileai_hf.score.verify.code import CodeExec, Outcome, Pair, Suite, read_suite
from whileai_hf.score.verify.code.blocks import program_of
from whileai_hf.score.verify.code.guest.codec import decode, encode


ADD = "def add(a, b):\n    return a + b"
WRONG = "def add(a, b):\n    return a - b"


@pytest.mark.parametrize(
    "tests",
    [
        pytest.param("assert add(1, 2) == 3", id="assert"),
        pytest.param(["assert add(1, 2) == 3", "assert add(0, 0) == 0"], id="list"),
        pytest.param("def test_add():\n    assert add(1, 2) == 3", id="function"),
        pytest.param("def test_add():\n    assert add(1, 2) == 3\ntest_add()", id="function that is called"),
        pytest.param("async def test_add():\n    assert add(1, 2) == 3", id="async function"),
        pytest.param("class TestAdd:\n    def test_it(self):\n        assert add(1, 2) == 3", id="class"),
        pytest.param(
            "import unittest\nclass Adding(unittest.TestCase):\n    def test_it(self):\n"
            "        self.assertEqual(add(1, 2), 3)\nif __name__ == '__main__':\n    unittest.main()",
            id="unittest",
        ),
        pytest.param("from solution import add as plus\nassert plus(1, 2) == 3", id="import from"),
        pytest.param("import solution\nassert solution.add(1, 2) == 3", id="import"),
        pytest.param("for a, b, c in [(1, 2, 3), (2, 2, 4)]:\n    assert add(a, b) == c", id="loop"),
        pytest.param(
            {"test": "def check(candidate):\n    assert candidate(1, 2) == 3", "entry_point": "add"}, id="check"
        ),
        pytest.param("def check(f):\n    assert f(1, 2) == 3\ncheck(add)", id="check that is called"),
        pytest.param({"fn_name": "add", "inputs": [[1, 2], ["a", "b"]], "outputs": [3, "ab"]}, id="calls"),
        pytest.param('{"fn_name": "add", "inputs": [[1, 2]], "outputs": [3]}', id="JSON text"),
        pytest.param({"setup": "import math", "test_list": ["assert add(1, 2) == 3"]}, id="prelude"),
    ],
)
def test_forms(tests, quick):
    assert quick(ADD, tests)["reward"] == 1.0
    assert quick(WRONG, tests)["reward"] == 0.0


@pytest.mark.parametrize("reply", ["I'm done.", "", "done", "```python\n```", "Please add two numbers."])
def test_null_agents(reply, quick):
    row = {"prompt": "Please add two numbers.", "final_text": reply, "tests": "assert add(1, 2) == 3"}
    assert CodeExec(isolation="process")(row)["reward"] == 0.0
    assert quick(reply, [{"input": "", "output": "3"}])["reward"] == 0.0


BOUNDARY = (Path(__file__).parent / "boundary.txt").read_text(encoding="utf-8").split("\n=====\n")


def _own_names(case, number):
    """The case with names that no other case has, its test as a function."""
    program, test = case.split("\n-----\n")
    nodes = ast.parse(program).body
    names = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    for name in names:
        program, test = (re.sub(rf"\b{name}\b", f"{name}_{number}", text) for text in (program, test))
    return program, f"def test_{number}():\n" + textwrap.indent(test, "    ")


def test_ordinary_python_works_across_the_boundary_all_at_once(quick):
    """One after the other they are run by the slow run, which says which of them fails."""
    cases = [_own_names(case, number) for number, case in enumerate(BOUNDARY)]
    programs, tests = zip(*cases, strict=True)
    verdict = quick("\n".join(programs), "\n".join(tests), partial=True, timeout=20)
    assert (verdict["tests_passed"], verdict["tests_total"]) == (len(BOUNDARY), len(BOUNDARY)), verdict


@pytest.mark.slow
@pytest.mark.parametrize("case", BOUNDARY)
def test_ordinary_python_works_across_the_boundary(case, quick):
    """Values, objects, exceptions, callbacks: a program and its tests notice nothing of the two processes."""
    program, test = case.split("\n-----\n")
    verdict = quick(program, test)
    assert verdict["reward"] == 1.0, verdict


def test_numpy(quick):
    pytest.importorskip("numpy")
    program = "import numpy as np\ndef f(a):\n    a[0] = 5\n    return np.cumsum(a), np.float64(0.5), np.int8(3)"
    tests = "import numpy as np\na, b, c = f([1, 2])\nassert np.allclose(a, [5, 7]) and b == 0.5 and c == 3"
    assert quick(program, tests, timeout=20)["reward"] == 1.0


def test_share_of_tests(quick):
    tests = ["assert add(0, 0) == 0", "assert add(1, 2) == 3", "assert add(5, 0) == 5", "assert add(2, 2) == 4"]
    verdict = quick(WRONG, tests, partial=True)
    assert (verdict["reward"], verdict["tests_passed"], verdict["tests_total"]) == (0.5, 2, 4)
    assert verdict["reason"] == "test 2 of 4 failed: AssertionError"
    assert quick(WRONG, tests)["reward"] == 0.0


def test_tests_after_a_failed_preparation_count_as_failed(quick):
    verdict = quick(ADD, "assert add(1, 2) == 3\nx = missing()\nassert add(2, 2) == 4", partial=True)
    assert verdict["reward"] == 0.5


def test_reason_says_where_in_the_program(quick):
    assert quick("def f(x):\n    y = 1\n    return x / 0", "assert f(1)")["reason"] == (
        "test 1 of 1 failed: ZeroDivisionError in line 3 of the candidate"
    )
    assert "does not run: SyntaxError" in quick("def f(:", "assert f(1)")["reason"]
    assert "does not run: NameError in line 2" in quick("x = 1\ny", "assert f(1)")["reason"]


@pytest.mark.parametrize(
    ("tests", "says"),
    [
        ("assert add(1, 2) ==", "invalid syntax"),
        ("x = 1", "nothing in the tests can fail"),
        ("add(1, 2)", "nothing in the tests can fail"),
        ("import no_such_module_7361\nassert add(1, 2) == 3", "'no_such_module_7361', which is not installed"),
        ("def test_add(fixture):\n    assert add(1, 2) == 3", "test_add takes arguments"),
        ("def check(f):\n    assert f(1, 2) == 3", "do not say which function"),
        ("import threading\nassert add(threading.Lock(), 2) == 3", "cannot be handed to the candidate's process"),
        ("assert add(open, 2)", "cannot be handed to the candidate's process"),
    ],
)
def test_tests_that_cannot_be_run_give_no_verdict(tests, says, quick):
    verdict = quick(ADD, tests)
    assert verdict["reward"] is None
    assert says in verdict["reason"]


def test_programs(quick):
    double = "print(int(input()) * 2)"
    assert quick(double, [["2", "4"], ["5", "10\n\n"]])["reward"] == 1.0
    assert quick(double, {"inputs": ["2", "5"], "outputs": ["4", "11"]}, partial=True)["reward"] == 0.5
    assert quick("if __name__ == '__main__':\n    print('ran  ')", [{"output": "ran"}])["reward"] == 1.0
    assert quick("import sys\nprint(len(sys.stdin.read()))", [{"input": "x" * 300_000, "output": "300000"}])["reward"]
    assert quick("import atexit\natexit.register(print, 'bye')", [{"output": "bye"}])["reward"] == 1.0
    assert quick("print('ü', '\\u4e2d')", [{"output": "ü 中"}])["reward"] == 1.0


def test_where_rows_keep_tests():
    def adds(code, tests, limits):
        assert tests.sources and "(1, 2) == 3" in tests.sources[-1]
        return Outcome(passed=int("+" in code), total=1)

    judge = CodeExec(runner=adds)
    tests = "assert add(1, 2) == 3"
    for row in (
        {"privileged": {"tests": tests}},
        {"privileged": {"reference": tests}},
        {"test_list": [tests]},
        {"test": "def check(f):\n    assert f(1, 2) == 3", "entry_point": "add"},
    ):
        assert judge({"final_text": ADD, **row})["reward"] == 1.0
        assert judge({"final_text": WRONG, **row})["reward"] == 0.0
        assert set(row) <= set(judge.columns())
    assert CodeExec(field="info.tests", runner=adds)({"final_text": ADD, "info": {"tests": tests}})["reward"]
    for row in ({}, {"test": ""}, {"privileged": None}, {"test": 5}, {"tests": {"x": 1}}, {"solution": ADD}):
        verdict = judge({"final_text": ADD, **row})
        assert verdict["reward"] is None
        assert verdict["reason"]
    assert judge({"answer": "x"})["reward"] is None


def test_odd_replies():
    judge = CodeExec("assert f() == 1", isolation="process")
    blocks = [{"type": "text", "text": "```python\ndef f(): return 1\n```"}]
    assert judge({"final_text": blocks})["reward"] == 1.0
    for reply in (None, "", " \n", "\x00", "def f(): return '\ud800'", "x" * 1_000_000, "```python\n```", 5, {"a": 1}):
        assert judge({"final_text": reply})["reward"] == 0.0


def test_repeating_the_ask_is_no_answer():
    ask = "Fix this program, please: def f(): return 1"
    judge = CodeExec("assert f() == 1", isolation="process")
    assert judge({"prompt": "def f(): return 1", "final_text": "def f(): return 1"})["reward"] == 0.0
    assert judge({"prompt": ask, "final_text": "def f(): return 1"})["reward"] == 1.0


def test_a_runner_of_ones_own():
    asked = []

    def elsewhere(code, tests, limits):
        asked.append((code, tests, limits))
        return Outcome(passed=2, total=3, reason="test 3 of 3 failed")

    judge = CodeExec({"inputs": ["1"], "outputs": ["2"]}, runner=elsewhere, timeout=2, memory_mb=99, partial=True)
    verdict = judge({"final_text": "```py\nprint(2)\n```"})
    assert verdict["reward"] == pytest.approx(2 / 3)
    code, tests, limits = asked[0]
    assert (code, tests.pairs, limits.timeout, limits.memory_mb) == ("print(2)", (Pair("1", "2"),), 2.0, 99)
    assert CodeExec("assert f", runner=lambda *_: Outcome(0, 0))({"final_text": "f = 1"})["reward"] is None


def test_runner_that_cannot_run_leaves_the_row_unjudged():
    def down(code, tests, limits):
        raise ConnectionError("no sandbox today")

    rows = grade([{"prompt": "p", "final_text": ADD}], CodeExec("assert add(1, 2) == 3", runner=down))
    assert rows[0]["reward"] is None
    assert rows[0]["judge_status"] == "error"


def test_several_at_a_time():
    judge = CodeExec("import time\nassert nap()", isolation="process")
    rows = [
        {"prompt": str(n), "final_text": "import time\ndef nap():\n    time.sleep(0.5)\n    return True"}
        for n in range(4)
    ]
    begun = time.monotonic()
    graded = grade(rows, judge, concurrency=4)
    assert list(graded["reward"]) == [1.0] * 4
    assert time.monotonic() - begun < 1.9


def test_fingerprint_is_that_of_the_knobs():
    judge = CodeExec("assert f() == 1", isolation="process")
    before = fingerprint(judge)
    judge({"final_text": "def f(): return 1"})
    assert fingerprint(judge) == before == fingerprint(CodeExec("assert f() == 1", isolation="process"))
    assert fingerprint(CodeExec("assert f() == 2", isolation="process")) != before


def test_wrong_knobs():
    for knobs in ({"timeout": 0}, {"timeout": float("inf")}, {"timeout": True}, {"memory_mb": 8}, {"memory_mb": "1"}):
        with pytest.raises(ConfigurationError):
            CodeExec("assert f()", isolation="process", **knobs)
    with pytest.raises(DataError, match="expected source text"):
        CodeExec(5, isolation="process")
    with pytest.raises(DataError, match="2 inputs and 1 outputs"):
        read_suite({"inputs": ["1", "2"], "outputs": ["3"]})
    with pytest.raises(DataError, match="not all lists of arguments"):
        read_suite({"fn_name": "f", "inputs": ["1"], "outputs": ["3"]})


def test_suites_are_read_once_and_stay():
    suite = read_suite("assert f()")
    assert read_suite(suite) is suite
    assert read_suite("[1, 2].sort()\nassert f()") == Suite(sources=("[1, 2].sort()\nassert f()",))


def test_the_program_in_a_reply():
    assert program_of("a\n```python\nx = 1\n```\nb\n```py\nx = 2\n```\n```bash\nls\n```") == "x = 2"
    assert program_of("```\nx = 1\n```\n```text\nout\n```") == "x = 1"
    assert program_of("```python\nx = '''\n```` no end\n") == "x = '''\n```` no end"
    assert program_of("````python\nx = '```'\n```\ny\n````") == "x = '```'\n```\ny"
    assert program_of("~~~python\nx = 1\n~~~") == "x = 1"
    assert program_of("x = 1") == "x = 1"
    begun = time.monotonic()
    program_of("`" * 200_000)
    program_of("```\n" * 50_000)
    assert time.monotonic() - begun < 2


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.complex_numbers(allow_nan=False)
    | st.decimals(allow_nan=False)
    | st.fractions()
    | st.dates()
    | st.datetimes().map(lambda moment: moment.replace(fold=0))
    | st.timedeltas(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.tuples(st.integers()), inner, max_size=4)
        | st.frozensets(st.integers() | st.text(), max_size=4)
        | st.sets(st.binary(), max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=20, deadline=None)
@given(plain)
def test_plain_values_cross_unchanged(value):
    again = decode(json.loads(json.dumps(encode(value, dict))), dict)
    assert again == value
    assert repr(again) == repr(value) or isinstance(value, list | tuple | dict | set | frozenset)
    assert type(again) is type(value)
