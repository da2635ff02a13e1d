"""One wave: a handful of situations written in one call, asked again where missing, repaired once where wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whileai_hf.errors import ModelError, ModelStopError
from whileai_hf.scenarios.writing.brief import Brief
from whileai_hf.scenarios.writing.caller import Caller
from whileai_hf.scenarios.writing.checks import Fault, faults_of, tidied
from whileai_hf.scenarios.writing.quotes import copy_keys
from whileai_hf.scenarios.writing.scene import Scene


# What stands for a message that was never there.
_MISSING = Fault("missing", "There is no message.")
_COPY = Fault("copy", "It repeats another message of the list; say it differently.")


class Wave:
    """
    The messages of a handful of situations.

    Args:
        briefs (`Sequence[Brief]`):
            What is to be written.
        scene ([`Scene`]):
            The agent.
        caller ([`Caller`]):
            The model.

    Attributes:
        texts (`dict[int, str]`):
            The messages that can be used, by position. What is in it stays in it, also when the wave is abandoned.
        faults (`dict[int, str]`):
            Why a position has none, by position.
        finished (`bool`):
            Whether everything was tried.
        repaired (`int`):
            Messages that were right the second time.
        asked_again (`int`):
            Entries the model left out the first time.
    """

    def __init__(self, briefs: Sequence[Brief], scene: Scene, caller: Caller) -> None:
        self.briefs = briefs
        self.texts: dict[int, str] = {}
        self.faults: dict[int, str] = {}
        self.finished = False
        self.repaired = 0
        self.asked_again = 0
        self._scene = scene
        self._caller = caller
        self._keys: set[str] = set()
        first = briefs[0].task
        self._key = (first["scenario_id"], first.get("phrasing") or 0)

    async def run(self) -> None:
        """Writes what can be written. A call that fails ends the wave with what it has."""
        try:
            await self._write()
        except ModelStopError:
            raise
        except ModelError as error:
            self._caller.errors.append(str(error))
            for at in range(len(self.briefs)):
                if at not in self.texts:
                    self.faults.setdefault(at, "model_error")
        self.finished = True

    async def _write(self) -> None:
        everything = list(range(len(self.briefs)))
        found = await self._asked("write", {at: {"id": str(at + 1), **self.briefs[at].told} for at in everything})
        missing = [at for at in everything if at not in found]
        if missing:
            self.asked_again = len(missing)
            # What came is kept first: the second call may fail.
            wrong = self._taken(found, [at for at in everything if at in found])
            entries = {at: {"id": str(at + 1), **self.briefs[at].told} for at in missing}
            again = await self._asked("write", entries, "again")
            wrong |= self._taken(again, missing)
        else:
            wrong = self._taken(found, everything)
        if wrong:
            await self._repair(wrong, found if not missing else {**found, **again})

    async def _repair(self, wrong: dict[int, list[Fault]], found: dict[int, str]) -> None:
        entries = {
            at: {
                "id": str(at + 1),
                "situation": self.briefs[at].told,
                "message": found[at],
                "wrong": [fault.sentence for fault in faults],
            }
            for at, faults in wrong.items()
            if at in found
        }
        if not entries:
            return
        mended = await self._asked("repair", entries)
        self._taken(mended, [at for at in entries if at in mended])
        self.repaired = sum(at in self.texts for at in entries)

    async def _asked(self, name: str, entries: dict[int, dict[str, Any]], *step: str) -> dict[int, str]:
        found = await self._caller.ask(name, list(entries.values()), *self._key, *step)
        return {int(name) - 1: text for name, text in found.items()}

    def _taken(self, found: dict[int, str], wanted: list[int]) -> dict[int, list[Fault]]:
        """Takes what is right; the rest with what is wrong with it."""
        wrong: dict[int, list[Fault]] = {}
        for at in wanted:
            brief = self.briefs[at]
            text = tidied(found[at], brief) if at in found else ""
            faults = faults_of(text, brief, self._scene) if at in found else [_MISSING]
            keys = copy_keys(text, brief.values)
            if not faults and not self._keys.isdisjoint(keys):
                faults = [_COPY]
            if faults:
                wrong[at] = faults
                self.faults[at] = faults[0].reason
            else:
                self.texts[at] = text
                self.faults.pop(at, None)
                self._keys.update(keys)
        return wrong
