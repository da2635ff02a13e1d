"""One rollout that is played from elsewhere: calls come one by one, and at the end what was said.

The world's own record of the calls is what is graded. What a client says at the end has to have the same calls in it,
and none of the results it tells are believed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whileai_hf.actors.played import tool_text
from whileai_hf.actors.replies import read_reply
from whileai_hf.actors.users import read_script
from whileai_hf.errors import AgentError, ConfigurationError, DataError
from whileai_hf.export.package.reading import EnvironmentPackage
from whileai_hf.export.verifiers.judging import judged, row_of
from whileai_hf.export.verifiers.tasks import agent_of, data_of, ledger, open_world
from whileai_hf.rows import canonical
from whileai_hf.rows.view import Row
from whileai_hf.sandbox import activate


_MALFORMED = "the arguments are no JSON object"


@dataclass(frozen=True)
class Graded:
    """
    What a rollout is worth.

    Args:
        reward (`float`, *optional*):
            `None` where nobody could grade it, which is no 0.
        truncated (`bool`):
            Whether it was cut off, by turns or in the middle of a call; then it is worth 0.
        markers (`dict[str, float]`):
            What else the judge noted.
        status (`str`):
            How the judge fared.
    """

    reward: float | None
    truncated: bool
    markers: dict[str, float]
    status: str


class ServedRollout:
    """
    A rollout of one task, in a world of its own.

    Args:
        package ([`EnvironmentPackage`]):
            The environment.
        line (`dict`):
            A line of its data.
        reward (`Callable`):
            Who grades.
    """

    def __init__(self, package: EnvironmentPackage, line: Row, reward: Any) -> None:
        self.line = line
        self.calls: list[tuple[str, Any, str]] = []
        self._data = data_of(package, line)
        self._rollout = open_world(self._data)
        self._reward = reward
        self._max_turns = package.max_turns

    def messages(self) -> list[Row]:
        """The conversation a policy starts from."""
        system = agent_of(self._data).system_prompt
        opening = [{"role": "system", "content": system}] if system else []
        return [*opening, {"role": "user", "content": self._rollout.prompt}]

    def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """
        Makes a call.

        Args:
            tool (`str`):
                Name of the tool.
            arguments (`dict`):
                Its arguments.

        Returns:
            `str`: The result, as a policy reads it.
        """
        given = canonical(dict(arguments))
        with activate(self._rollout):
            text = tool_text(self._rollout.session.call(tool, dict(given)))
        self.calls.append((tool, given, text))
        return text

    def reply(self, text: str) -> Graded:
        """Ends the rollout with the policy's answer, where nothing was said along with the calls."""
        said: list[Row] = []
        for number, (tool, arguments, result) in enumerate(self.calls):
            function = {"name": tool, "arguments": arguments}
            made = {"id": f"call_{number}", "type": "function", "function": function}
            said.append({"role": "assistant", "content": "", "tool_calls": [made]})
            said.append({"role": "tool", "tool_call_id": f"call_{number}", "name": tool, "content": result})
        return self._graded([*said, {"role": "assistant", "content": text}])

    def transcript(self, messages: Sequence[Mapping[str, Any]]) -> Graded:
        """
        Ends the rollout with all that was said in it.

        Args:
            messages (`Sequence[dict]`):
                Everything behind the ask. Only the policy's messages are read.

        Raises:
            [`DataError`]: The calls in it are not those that were made here.
        """
        said: list[Row] = []
        rest = list(self.calls)
        for message in messages:
            if message.get("role") != "assistant":
                continue
            said.append(dict(message))
            said.extend(self._results(message, rest))
        if rest:
            raise DataError(
                f"the transcript lacks {len(rest)} of the {len(self.calls)} calls that were made, the first is "
                f"{rest[0][0]!r}; send everything behind the ask"
            )
        return self._graded(said)

    def _results(self, message: Mapping[str, Any], rest: list[tuple[str, Any, str]]) -> list[Row]:
        try:
            calls = read_reply(message).calls
        except AgentError:  # the row will say that this is no message
            return []
        found: list[Row] = []
        for call in calls:
            name: Row = {"role": "tool", "tool_call_id": call.call_id, "name": call.name}
            if not call.readable:
                found.append({**name, "content": tool_text({"status": "invalid_arguments", "error": _MALFORMED})})
            elif rest:
                tool, arguments, result = rest[0]
                if (call.name, canonical(call.arguments)) != (tool, arguments):
                    raise DataError(
                        f"the transcript calls {call.name!r} where {tool!r} was called here, or with other arguments"
                    )
                rest.pop(0)
                found.append({**name, "content": result})
        return found

    def _graded(self, said: list[Row]) -> Graded:
        row = row_of(self._data, said, {}, ledger(self._rollout))
        turns = sum(message["role"] == "assistant" for message in said)
        truncated = turns > self._max_turns or row["finish_reason"] == "length"
        verdict = asyncio.run(judged(self._reward, row))
        reward = 0.0 if truncated and verdict.reward is not None else verdict.reward
        return Graded(reward, truncated, dict(verdict.markers), verdict.status.value)


class TaskShelf:
    """
    The tasks of an environment, to be taken by name, by ask, or by number.

    Args:
        package ([`EnvironmentPackage`]):
            The environment.

    Raises:
        [`ConfigurationError`]: The user speaks again in it, which OpenEnv has no turn for.
    """

    def __init__(self, package: EnvironmentPackage) -> None:
        self._lines = {split: package.lines(split) for split in ("train", "holdout")}
        every = [line for lines in self._lines.values() for line in lines]
        scripted = any(turn.user is not None for line in every for turn in read_script(line["info"].get("script")))
        if package.spec.get("user_model") is not None or scripted:
            raise ConfigurationError(
                f"in {package.name} the user speaks again, and a rollout of OpenEnv has no turn for that; export it "
                "without user_model=, or play it with verifiers or rollout_func="
            )

    def take(
        self, split: str, *, task_id: str | None = None, prompt: str | None = None, number: int | None = None
    ) -> Row:
        """
        One task.

        Args:
            split (`str`):
                `"train"` or `"holdout"`.
            task_id (`str`, *optional*):
                Its id.
            prompt (`str`, *optional*):
                Its ask.
            number (`int`, *optional*, defaults to `0`):
                Its place, counted on from the first when there are fewer.

        Raises:
            [`DataError`]: There is none.
        """
        lines = self._lines.get(split)
        if not lines:
            raise DataError(f"there are no tasks in the split {split!r:.40}; it is 'train' or 'holdout'")
        if task_id is None and prompt is None:
            return lines[(number or 0) % len(lines)]
        wanted = ("task_id", task_id) if task_id is not None else ("prompt", prompt)
        found = [line for line in lines if line[wanted[0]] == wanted[1]]
        if not found:
            raise DataError(f"no task of the split {split!r} has the {wanted[0]} {wanted[1]!r:.80}")
        return found[0]
