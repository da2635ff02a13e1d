"""Ways of containment this machine offers, and how to run a program under each."""

import pytest

from whileai_hf.errors import ConfigurationError
from whileai_hf.score.verify.code import CodeExec
from whileai_hf.score.verify.code.command import resolve


def _unavailable(isolation):
    try:
        resolve(isolation)
    except ConfigurationError as error:
        return str(error)
    return None


# What both walls hold is tried on the better one; the other is for the slow run, except where a test names it.
USUAL, OTHER = ("process", "bubblewrap") if _unavailable("bubblewrap") else ("bubblewrap", "process")


@pytest.fixture(params=[USUAL, pytest.param(OTHER, marks=pytest.mark.slow)])
def isolation(request):
    trouble = _unavailable(request.param)
    if trouble:
        pytest.skip(trouble)
    return request.param


@pytest.fixture
def bubblewrapped():
    trouble = _unavailable("bubblewrap")
    if trouble:
        pytest.skip(trouble)


@pytest.fixture
def run(isolation):
    """`run(program, tests, **knobs)`: the verdict."""

    def verdict(program, tests, **knobs):
        return CodeExec(tests, isolation=isolation, **knobs)({"final_text": program})

    return verdict


@pytest.fixture
def quick():
    """The same in a plain process, for what does not depend on the wall around it."""

    def verdict(program, tests, **knobs):
        return CodeExec(tests, isolation="process", **knobs)({"final_text": program})

    return verdict
