"""What a package needs beside the library: read as pip reads it, and written where pip finds it."""

import importlib.metadata
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement

from whileai_hf.errors import ConfigurationError
from whileai_hf.export.package import PackageConfig, export_environment
from whileai_hf.export.package.requirements import check_requires, dependencies


TASKS = [{"prompt": f"What is {n} + {n}?", "answer": str(2 * n)} for n in range(6)]

names = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,6}[A-Za-z0-9])?", fullmatch=True)
spaces = st.sampled_from(("", " "))
versions = st.from_regex(
    r"(1!)?[0-9]{1,3}(\.[0-9]{1,2}){0,2}((a|b|rc)[0-9])?(\.post[0-9])?(\.dev[0-9])?", fullmatch=True
)
clauses = st.tuples(st.sampled_from((">=", "<=", "==", "!=", ">", "<")), spaces, versions).map("".join)
markers = st.tuples(
    st.sampled_from(("python_version", "sys_platform", "os_name")),
    st.sampled_from((" >= ", "<", " == ", " in ", " not in ")),
    st.sampled_from(("'3.12'", '"linux"')),
).map("".join)


@st.composite
def requirements(draw):
    extras = draw(st.lists(names, max_size=2))
    return (
        draw(names)
        + draw(spaces)
        + (f"[{', '.join(extras)}]" if extras else "")
        + draw(spaces)
        + f",{draw(spaces)}".join(draw(st.lists(clauses, max_size=2)))
        + draw(
            st.just("") | markers.map("; {}".format) | st.tuples(markers, markers).map("; {0[0]} and {0[1]}".format)
        )
    )


@given(requirements())
def test_what_pip_reads_is_taken_as_it_is(text):
    Requirement(text)
    assert check_requires([text]) == (text.strip(),)


@given(st.text(alphabet="ab1 .,;[]()<>=!~@'\"_-*\n", max_size=12))
def test_what_is_taken_pip_can_read(text):
    try:
        (taken,) = check_requires([text])
    except ConfigurationError:
        return
    Requirement(taken)


@pytest.mark.parametrize(
    "given",
    (
        "", None, 3, "[math]", "sympy>=", "sympy=1", "sympy 1", "sympy; python_versoin < '3'", "-e .", "./sympy",
        "sympy; os_name == '\x7f'", "sympy; os_name == '\ud800'",
        "sympy @ git+https://example.com/sympy", "sympy>=1\nnumpy", "\ud800",
        "a" + " " * 10**5 + "!", "1" * 10**5 + "!",
        "a>=" + "1" * 10**5 + "!", "a[" + "a," * 10**5, "a; " + "os_name == 'x' and " * 10**4,
    ),
)  # fmt: skip
def test_what_pip_could_not_read(given):
    with pytest.raises(ConfigurationError, match=r"no requirement that pip takes from an index; write name"):
        PackageConfig(requires=["sympy", given])


@pytest.mark.parametrize("given", ("whileai-hf[math]", {"sympy"}, 3))
def test_no_list(given):
    with pytest.raises(ConfigurationError, match="is no list; pass requires="):
        PackageConfig(requires=given)


def test_an_extra_that_the_library_does_not_have(monkeypatch):
    class Metadata:
        def get_all(self, name):
            return {"Provides-Extra": ["math", "open-env"]}[name]

    monkeypatch.setattr(importlib.metadata, "metadata", lambda name: Metadata())
    assert check_requires(["WhileAI_hf[Math, open_env]"]) == ("WhileAI_hf[Math, open_env]",)
    with pytest.raises(ConfigurationError, match=r"no extra 'maths'; did you mean 'math'\?"):
        check_requires(["whileai-hf[maths]"])


def test_the_library_is_named_once():
    plain = ["verifiers>=0.4,<0.5", "whileai-hf"]
    assert dependencies([]) == dependencies(plain) == plain
    assert dependencies(["sympy", "whileai-hf[math]>=0.1"]) == [plain[0], "sympy", "whileai-hf[math]>=0.1"]
    # Where the extra is only needed somewhere, the library is still needed everywhere.
    some = "whileai-hf[math]; sys_platform == 'linux'"
    assert dependencies([some]) == [*plain, some]


def test_the_package_says_what_it_needs(tmp_path, tools):
    needed = ["whileai-hf[math]", 'sympy>=1.12; sys_platform == "linux"', "whileai-hf[math]"]
    export_environment(TASKS, tmp_path / "sums", tools=tools, requires=needed)
    written = tomllib.loads((tmp_path / "sums" / "pyproject.toml").read_text())["project"]["dependencies"]
    assert written == ["verifiers>=0.4,<0.5", *needed[:2]]
    export_environment(TASKS, tmp_path / "sums", tools=tools, overwrite=True)
    written = tomllib.loads((tmp_path / "sums" / "pyproject.toml").read_text())["project"]["dependencies"]
    assert written == ["verifiers>=0.4,<0.5", "whileai-hf"]


def test_nothing_is_written_for_a_wrong_one(tmp_path, tools):
    with pytest.raises(ConfigurationError, match="such as 'whileai-hf"):
        export_environment(TASKS, tmp_path / "sums", tools=tools, requires=["math verify"])
    assert not list(tmp_path.iterdir())
