"""One reward under test: called as it wants to be, with every call counted and everything that goes wrong noted."""

from __future__ import annotations

import copy
import inspect
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

from whileai_hf.actors.loop import wait_for
from whileai_hf.score.checking.attempts import Attempt
from whileai_hf.score.checking.calling import GIVEN, name_of, parameters_of, takes_everything
from whileai_hf.score.checking.tasks import ProbeTask
from whileai_hf.score.checking.values import Fault, read_rewards
from whileai_hf.score.judging import is_async, judge_rows
from whileai_hf.score.verdicts import JudgeStatus


class Reply(NamedTuple):
    """A task with an attempt at it."""

    task: ProbeTask
    attempt: Attempt


class Noted(NamedTuple):
    """A fault, and what the reward was asked when it came up."""

    fault: Fault
    probe: str
    example: str


class Reward(ABC):
    """
    A reward under test.

    Args:
        function (`Callable`):
            The reward.
    """

    style: str
    """How it is called, for the report."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.name = name_of(function)
        self.awaits = is_async(function)
        self.noted: list[Noted] = []
        self.n_calls = 0
        self.n_replies = 0
        self.seconds = 0.0

    @property
    def is_judge(self) -> bool:
        """Whether it takes a row; what it raises then is a verdict, not the end of a training."""
        return isinstance(self, JudgeReward)

    def ask(self, replies: Sequence[Reply], probe: str, without: Sequence[str] = ()) -> list[float | None]:
        """
        The rewards of some replies, asked for together.

        Args:
            replies (`Sequence[Reply]`):
                The batch.
            probe (`str`):
                What is asked, for the notes.
            without (`Sequence[str]`, *optional*):
                Columns that are emptied.

        Returns:
            `list[float | None]`: One each; `None` for no verdict and for what cannot be read.
        """
        if not replies:
            return []
        started = time.perf_counter()
        rewards, faults = self._call(replies, without)
        self.seconds += time.perf_counter() - started
        self.n_calls += 1
        self.n_replies += len(replies)
        if len(replies) > 1 and any(fault.kind == "crash" and fault.reply is None for fault in faults):
            # One reply took the whole batch down, as it would in training; which one, and what of the others?
            return [self.ask([reply], probe, without)[0] for reply in replies]
        for fault in faults:
            reply = replies[fault.reply or 0]
            self.noted.append(Noted(fault, probe, reply.attempt.excerpt()))
        return rewards

    @abstractmethod
    def _call(self, replies: Sequence[Reply], without: Sequence[str]) -> tuple[list[float | None], list[Fault]]: ...


def _unchanged(before: Any, after: Any) -> bool:
    """Whether JSON values are as they were; what else a column holds is not looked into."""
    if type(before) is not type(after):
        return False
    if isinstance(before, dict):
        return before.keys() == after.keys() and all(_unchanged(value, after[key]) for key, value in before.items())
    if isinstance(before, list | tuple):
        return len(before) == len(after) and all(map(_unchanged, before, after))
    if isinstance(before, str | int | float | bool):
        return before is after or before == after or before != before
    return True


class TrainerReward(Reward):
    """
    A function `(prompts, completions, **columns) -> list[float | None]`.

    Args:
        function (`Callable`):
            The function, sync or async.
        conversational (`bool`):
            Whether prompts and completions are lists of messages.
    """

    def __init__(self, function: Callable[..., Any], conversational: bool) -> None:
        super().__init__(function)
        self.conversational = conversational
        self._all = takes_everything(function)
        self._names = frozenset(parameters_of(function) or ())

    @property
    def style(self) -> str:  # type: ignore[override]
        """How it is called."""
        return "trainer, messages" if self.conversational else "trainer, text"

    def _arguments(self, replies: Sequence[Reply], without: Sequence[str]) -> dict[str, Any]:
        names = dict.fromkeys(name for reply in replies for name in reply.task.columns)
        given: dict[str, Any] = {
            name: [None if name in without else copy.deepcopy(reply.task.columns.get(name)) for reply in replies]
            for name in names
            if name not in ("prompt", *GIVEN)
        }
        if "state_changes" in given:
            given["state_changes"] = [_as_list(reply.attempt.changes) for reply in replies]
        completions = [reply.attempt.completion(self.conversational) for reply in replies]
        given |= {
            "prompts": [self._prompt(reply.task.prompt) for reply in replies],
            "completions": completions,
            # Without a tokenizer the bytes of the text stand for its tokens.
            "completion_ids": [list((reply.attempt.text or "").encode("utf-8", "replace")) for reply in replies],
            "trainer_state": SimpleNamespace(global_step=0, max_steps=1000, epoch=0.0, num_train_epochs=1),
            "log_extra": _ignore,
            "log_metric": _ignore,
        }
        return given if self._all else {name: value for name, value in given.items() if name in self._names}

    def _prompt(self, prompt: Any) -> Any:
        if self.conversational and isinstance(prompt, str):
            return [{"role": "user", "content": prompt}]
        return copy.deepcopy(prompt)

    def _call(self, replies: Sequence[Reply], without: Sequence[str]) -> tuple[list[float | None], list[Fault]]:
        arguments = self._arguments(replies, without)
        # Ids made of bytes are as many as characters, and nobody writes into them.
        lists = {k: value for k, value in arguments.items() if isinstance(value, list) and k != "completion_ids"}
        before = copy.deepcopy(lists)
        awaited: list[Fault] = []
        try:
            returned = self.function(**arguments)
            if inspect.isawaitable(returned):
                if not self.awaits:
                    awaited.append(Fault("awaitable", "calling it gives an awaitable, but it is no async function"))
                returned = wait_for(returned)
        except Exception as error:  # whatever a reward raises is what the check is about
            lines = str(error).strip().splitlines()
            return [None] * len(replies), [Fault("crash", f"{type(error).__name__}: {lines[0] if lines else ''}")]
        rewards, faults = read_rewards(returned, len(replies))
        changed = [name for name, value in before.items() if not _unchanged(value, lists[name])]
        faults += [Fault("mutates", f"it changed {name}", 0) for name in changed]
        return rewards, [*awaited, *faults]


def _as_list(changes: tuple[Mapping[str, Any], ...] | None) -> list[dict[str, Any]] | None:
    return None if changes is None else [dict(change) for change in changes]


def _ignore(*args: Any, **kwargs: Any) -> None:
    """Logging of a trainer that is not there."""


class JudgeReward(Reward):
    """A judge or verifier `(row) -> verdict`."""

    style = "judge"

    def _call(self, replies: Sequence[Reply], without: Sequence[str]) -> tuple[list[float | None], list[Fault]]:
        rows = [self._row(reply, without) for reply in replies]
        before = copy.deepcopy(rows)
        verdicts = judge_rows(self.function, rows)
        faults = []
        for index, (verdict, row, pristine) in enumerate(zip(verdicts, rows, before, strict=True)):
            said = str(verdict.meta.get("error") or "")
            if verdict.status in (JudgeStatus.ERROR, JudgeStatus.TIMEOUT):
                faults.append(Fault("crash", said, index))
            elif verdict.status is JudgeStatus.INVALID_RESULT:
                faults.append(Fault("text", said, index))
            if not _unchanged(pristine, row):
                faults.append(Fault("mutates", "it changed the row", index))
        return [verdict.reward for verdict in verdicts], faults

    @staticmethod
    def _row(reply: Reply, without: Sequence[str]) -> dict[str, Any]:
        row = reply.attempt.row(reply.task.columns, reply.task.prompt)
        for name in without:
            row.pop(name, None)
        return row
