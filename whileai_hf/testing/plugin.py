"""The pytest plugin: `assert_pass_at` as a fixture, and what was measured at the end of the run.

Loaded by pytest in every project that has this package installed, so nothing of the library is imported before a test
asks for the fixture.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


_MEASURED = pytest.StashKey[list[tuple[str, str]]]()


@pytest.fixture
def assert_pass_at(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """[`whileai_hf.testing.assert_pass_at`], whose result is shown again when the run ends."""
    from whileai_hf.testing import assert_pass_at as check

    def measured(*args: Any, **kwargs: Any) -> Any:
        try:
            report = check(*args, **kwargs)
        except AssertionError as error:
            _note(request, str(error).splitlines()[0])
            raise
        _note(request, str(report).splitlines()[0])
        return report

    return measured


def _note(request: pytest.FixtureRequest, line: str) -> None:
    request.config.stash.setdefault(_MEASURED, []).append((request.node.nodeid, line))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Prints one line per measured agent."""
    measured = config.stash.get(_MEASURED, [])
    if measured:
        terminalreporter.section("pass rates")
        for test, line in measured:
            terminalreporter.write_line(f"{test}  {line}")
