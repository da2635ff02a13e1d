"""The worlds that run: a folder tree and an exact calculator, whatever a policy sends."""

import sys
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st


@pytest.fixture
def folder(generator):
    return sys.modules["specs.file_clerk.world"].Folder(
        {"/a/one.txt": "x 1", "/a/two.txt": "", "/system/keys.txt": "k"}
    )


@pytest.fixture(scope="module")
def evaluate(generator):
    return sys.modules["specs.math_tools.world"].evaluate


def moves(*pairs):
    return {"moves": [{"from": source, "to": target} for source, target in pairs]}


@pytest.mark.parametrize(
    ("tool", "arguments", "status"),
    (
        ("move_files", moves(("/a/one.txt", "/b/one.txt"), ("/a/none.txt", "/b/none.txt")), "not_found"),
        ("move_files", moves(("/a/one.txt", "/a/two.txt")), "conflict"),
        ("move_files", moves(("/a/one.txt", "/b/x"), ("/a/two.txt", "/b/x")), "invalid_arguments"),
        ("move_files", moves(("/a/one.txt", "/system/one.txt")), "permission_denied"),
        ("delete_files", {"paths": ["/a/two.txt", "/system/keys.txt"]}, "permission_denied"),
        ("delete_files", {"paths": ["/a/two.txt", "/a/none.txt"]}, "not_found"),
        ("delete_files", {"paths": "/a/two.txt"}, "invalid_arguments"),
        ("delete_files", {"paths": [["/a/two.txt"]]}, "invalid_arguments"),
        ("write_file", {"file": {"path": "/a/one.txt", "text": "y"}}, "conflict"),
        ("write_file", {"file": {"path": "/a/new.txt", "text": None}}, "invalid_arguments"),
        ("write_file", {"file": "/a/new.txt"}, "invalid_arguments"),
        ("write_file", {"file": {"path": "/a/one.txt", "text": "y", "mode": "w"}}, "invalid_arguments"),
        ("write_file", {"file": {"path": "/a/one.txt", "text": "y", "mode": ["append"]}}, "invalid_arguments"),
        ("list_files", {}, "invalid_arguments"),
        ("list_files", {"path": 7}, "invalid_arguments"),
        ("read_file", {"path": "/a"}, "not_found"),
        ("format_disk", {}, "unknown_tool"),
    ),
)
def test_what_cannot_be_done_changes_nothing(folder, tool, arguments, status):
    before = dict(folder.files)
    assert folder.call(tool, arguments)["status"] == status
    assert folder.files == before


def test_what_can_be_done_is_done(folder):
    assert folder.call("move_files", moves(("/a/one.txt", "/b/one.txt")))["status"] == "updated"
    appended = {"file": {"path": "/b/one.txt", "text": "\ny 2", "mode": "append"}}
    assert folder.call("write_file", appended)["status"] == "updated"
    assert folder.call("delete_files", {"paths": ["/a/two.txt", "/a/two.txt"]})["deleted"] == 1
    assert folder.files == {"/b/one.txt": "x 1\ny 2", "/system/keys.txt": "k"}


numbers = st.integers(0, 999).map(str) | st.decimals(0, 99, places=2).map(str)
expressions = st.recursive(
    numbers, lambda inner: st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda parts: f"({' '.join(parts)})")
)


@given(expressions)
def test_expressions_are_exact(evaluate, expression):
    import re

    exact = eval(re.sub(r"[\d.]+", lambda number: f"Fraction('{number.group()}')", expression), {"Fraction": Fraction})
    assert evaluate(expression) == exact


@pytest.mark.parametrize(
    ("expression", "value"),
    (("0.1 + 0.2", Fraction(3, 10)), ("2 ** -2", Fraction(1, 4)), ("-(1 / 3)", Fraction(-1, 3)), (" 7 ", Fraction(7))),
)
def test_values(evaluate, expression, value):
    assert evaluate(expression) == value


@pytest.mark.parametrize(
    "expression",
    (
        "", "__import__('os')", "1 if 1 else 2", "2 ** 65", "2 ** 0.5", "9 ** 9 ** 9",
        "((9 ** 64) ** 64) ** 64", "x", "'1'", "True", "1j",
        "(" * 500, "-" * 1500 + "1", "1\x00", "1" * 3000, "[1]", "1 // 2",
    ),
)  # fmt: skip
def test_nothing_else_is_computed(evaluate, expression):
    with pytest.raises((ValueError, ZeroDivisionError)):
        evaluate(expression)


@pytest.mark.parametrize("expression", (" * ".join(["10 ** 64"] * 5), "1 / 0", "", None, 7, []))
def test_the_calculator_answers_whatever_it_is_asked(generator, expression):
    execute = sys.modules["specs.math_tools.world"].execute
    assert execute("calculate", {"expression": expression})["status"] in ("ok", "invalid_arguments")
    assert execute("calculate", {})["status"] == "invalid_arguments"
    assert execute("compute", {})["status"] == "unknown_tool"
