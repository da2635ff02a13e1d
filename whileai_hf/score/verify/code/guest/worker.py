"""The process that holds the candidate: as a module whose names the tests use, or as a program that is run."""

from __future__ import annotations

import builtins
import os
import sys
import types

from whileai_hf.score.verify.code.guest.peer import CANDIDATE_FILE, Peer
from whileai_hf.score.verify.code.guest.standins import stand_in


TYPE_CHECKING = False  # as in `typing`, whose import would be a sixth of the time a sandbox takes to start
if TYPE_CHECKING:
    from typing import Any


def _anything(target: Any, operation: str, name: str) -> None:
    """The examiner may do with the candidate what it likes."""


def _namespace(name: str) -> types.ModuleType:
    builtins.exit = builtins.quit = sys.exit  # type: ignore[assignment]  # which come with `site`, left out here
    module = types.ModuleType(name)
    module.__file__ = CANDIDATE_FILE
    vars(module)["__builtins__"] = builtins
    sys.modules[name] = module
    return module


def _forget_guest() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "whileai_hf"]:
        del sys.modules[name]


def hold(reading: int, writing: int, sources: list[str]) -> None:
    """
    Runs the candidate once, says whether that went well, and answers calls until nobody asks any more.

    Args:
        reading (`int`), writing (`int`):
            Pipes from and to the examiner.
        sources (`list[str]`):
            What comes before the candidate, and the candidate.
    """
    module = _namespace(CANDIDATE_FILE.removesuffix(".py"))
    peer = Peer(reading, writing, stand_in, _anything, picky=False)
    peer.lend(module)  # the first object lent is number 0, and the examiner begins with that
    peer.lend(_Run(module, sources))
    _forget_guest()
    peer.serve()
    os._exit(0)


class _Run:
    """Running the candidate, as something the examiner can call: whatever it raises goes there."""

    def __init__(self, module: types.ModuleType, sources: list[str]) -> None:
        self._module, self._sources = module, sources

    def __call__(self) -> None:
        for source in self._sources:
            exec(compile(source, CANDIDATE_FILE, "exec"), vars(self._module))


def run_program(sources: list[str]) -> None:
    """
    Runs the candidate as a program, in this process, which ends as programs end.

    Args:
        sources (`list[str]`):
            What comes before the candidate, and the candidate.
    """
    module = _namespace("__main__")
    sys.argv = [CANDIDATE_FILE]
    codes = [compile(source, CANDIDATE_FILE, "exec") for source in sources]
    _forget_guest()
    for code in codes:
        exec(code, vars(module))
