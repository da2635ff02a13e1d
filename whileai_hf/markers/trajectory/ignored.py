"""Whether the last call of a row failed without a word about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from whileai_hf.markers.trajectory.acts import Acts
from whileai_hf.markers.trajectory.runs import is_test_run, result_text, run_failed
from whileai_hf.sandbox.naming import words_of
from whileai_hf.score.reading.calls import Call
from whileai_hf.score.reading.claims import read_text
from whileai_hf.score.reading.telling import tells
from whileai_hf.score.reading.texts import assistant_texts


# Programs that exit with 1 when they found nothing, or a difference.
# Words of tools that run tests, whose names need not say more.
_SUITES = frozenset({"test", "tests", "pytest", "unittest", "jest", "rspec", "suite"})
_LOOKS = frozenset({"grep", "rg", "egrep", "diff", "which", "test", "[", "pgrep", "ag", "cmp"})


def is_ignored(
    row: Mapping[str, Any],
    calls: list[Call],
    texts: Sequence[str],
    asked: Callable[[], str],
    acts: Callable[[int], Acts],
) -> bool:
    """
    Whether the last call failed, and nothing said after it tells so or asks for what it lacked.

    Args:
        row (`dict`):
            The rollout.
        calls (`list[Call]`):
            Its calls, one at least.
        texts (`Sequence[str]`):
            What the agent said, the reply last.
        asked (`Callable`):
            Gives what the user said.
        acts (`Callable`):
            Gives what the call at a place does.
    """
    last = calls[-1]
    if not _went_wrong(last, acts, len(calls) - 1):
        return False
    said = asked().casefold()
    return not any(tells(read_text(text), last, calls, said) for text in _after_last_call(row, texts))


def _went_wrong(call: Call, acts: Callable[[int], Acts], position: int) -> bool:
    """Whether a call failed; a search that exits with 1 has found nothing, and tests fail by what they print."""
    if not call.failed:
        if call.kind == "command":
            commands = acts(position).commands
            return bool(commands) and is_test_run(commands[-1]) and run_failed(call)
        return not _SUITES.isdisjoint(words_of(call.tool)) and run_failed(call)
    if call.kind == "command" and call.outcome == "error":
        commands = acts(position).commands
        if commands and commands[-1].program in _LOOKS:
            return len(result_text(call.result).strip()) > 200
    return True


def _after_last_call(row: Mapping[str, Any], texts: Sequence[str]) -> Sequence[str]:
    """What was said after the last call, as far as the row keeps the order; the reply in any case."""
    messages = row.get("messages")
    if isinstance(messages, list) and not row.get("steps"):
        last = max(
            (
                at
                for at, entry in enumerate(messages)
                if isinstance(entry, Mapping) and (entry.get("tool_calls") or entry.get("role") == "tool")
            ),
            default=-1,
        )
        later = assistant_texts({"messages": messages[last + 1 :]}) if last >= 0 else []
        return [*later, texts[-1]]
    steps = row.get("steps")
    if isinstance(steps, list):
        last = max((at for at, step in enumerate(steps) if isinstance(step, Mapping) and step.get("tool")), default=-1)
        later = [
            step["text"]
            for step in steps[last + 1 :]
            if isinstance(step, Mapping) and isinstance(step.get("text"), str)
        ]
        return [*later, texts[-1]]
    return texts[-1:]
