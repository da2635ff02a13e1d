"""Whether the simulated users behaved, and how they write beside real people.

A conversation that failed because of its simulated user says nothing about the agent. Rows are judged once, at birth,
with the task at hand (`sim_ok`, `sim_reasons`); rows without that stamp are judged here.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from whileai_hf.actors.users import FAULTS, user_faults
from whileai_hf.actors.users.user import spoken
from whileai_hf.errors import DataError
from whileai_hf.measure.user_style import Conversation, Vocabulary, style_of
from whileai_hf.rows import Report, RowView, view
from whileai_hf.rows.view import Source
from whileai_hf.score.privileged import find_secrets, with_secrets
from whileai_hf.stats import Interval, bootstrap_mean_ci, wilson


STYLES = ("words", "front_loading", "politeness", "typo_rate")
# Columns the check of a row reads.
_READ = ("messages", "prompt", "scenario_id", "script", "ended_by", "user_model", "sim_ok", "sim_reasons")


@dataclasses.dataclass(frozen=True)
class UserReport(Report):
    """
    What [`user_report`] returns.

    Args:
        n_rows (`int`):
            Rows given.
        n_users (`int`):
            Rows in which a simulated user spoke or should have.
        n_faulty (`int`):
            Those whose user did something wrong; leave them out of every denominator.
        faulty_share (`float`, *optional*):
            `n_faulty / n_users`; `None` without users.
        faulty_ci95 (`tuple[float, float]`, *optional*):
            Its Wilson interval.
        reasons (`dict[str, int]`):
            Rows by fault. A row can have several.
        faulty (`list[dict]`):
            `{"row", "scenario_id", "user_model", "reasons"}` of every faulty row; `row` is its index.
        by_user_model (`dict[str, dict]`):
            `{"n_users", "n_faulty"}` by who played the user.
        ended_by (`dict[str, int]`):
            Rows by who ended the conversation.
        n_unknowable (`int`):
            Users judged without their task: invented facts and leaks could not be looked for.
        turns (`float`, *optional*):
            Mean messages of the person over the rows with a user.
        style (`dict[str, dict]`):
            For `words`, `front_loading`, `politeness`, `typo_rate`: `{"simulated", "simulated_ci95", "real",
            "real_ci95", "difference", "difference_ci95"}`, means over conversations; see [`style_of`].
        n_real (`int`):
            Conversations of real users compared with.
        notes (`list[str]`):
            What a reader has to know about the numbers.
    """

    n_rows: int
    n_users: int
    n_faulty: int
    faulty_share: float | None
    faulty_ci95: Interval | None
    reasons: dict[str, int]
    faulty: list[dict[str, Any]]
    by_user_model: dict[str, dict[str, int]]
    ended_by: dict[str, int]
    n_unknowable: int
    turns: float | None
    style: dict[str, dict[str, Any]]
    n_real: int
    notes: list[str]

    def __str__(self) -> str:
        if not self.n_users:
            return f"users: nobody was simulated in {self.n_rows} rows"
        low, high = self.faulty_ci95 or (math.nan, math.nan)
        lines = [
            f"users: {self.n_faulty} of {self.n_users} simulated users at fault "
            f"({100 * (self.faulty_share or 0):.1f} %, 95 % {100 * low:.1f} to {100 * high:.1f})"
        ]
        lines += [f"  {name}: {count}" for name, count in self.reasons.items() if count]
        for name, values in self.style.items():
            line = f"  {name}: {_number(values['simulated'])}"
            if values["real"] is not None:
                ends = values["difference_ci95"]
                known = f" ({_number(ends[0])} to {_number(ends[1])})" if ends else ""
                line += f", real people {_number(values['real'])}, difference {_number(values['difference'])}{known}"
            lines.append(line)
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def _number(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.3g}"


def _heard(messages: Any) -> Conversation:
    said = spoken([message for message in messages if isinstance(message, Mapping)])
    return Conversation(
        tuple(text for role, text in said if role == "user"), tuple(text for role, text in said if role == "assistant")
    )


def _real(real: Any) -> list[Conversation]:
    """Real people's conversations out of strings, lists of messages, or rows in any form."""
    if real is None:
        return []
    if isinstance(real, Sequence) and not isinstance(real, str) and not (real and isinstance(real[0], Mapping)):
        found = []
        for index, item in enumerate(real):
            if isinstance(item, str):
                found.append(Conversation((item,)))
            elif isinstance(item, Sequence) and all(isinstance(message, Mapping) for message in item):
                found.append(_heard(item))
            else:
                raise DataError(f"real[{index}] is {item!r:.60}; make it what a person said, or a list of messages.")
        return [conversation for conversation in found if conversation.turns]
    if isinstance(real, Sequence) and not isinstance(real, str) and "role" in real[0] and "messages" not in real[0]:
        return [_heard(real)]
    rows = view(real)
    if rows.has("messages"):
        return [heard for cell in rows.column("messages") if (heard := _heard(cell or [])).turns]
    prompts = rows.require("prompt", "pass real users' rows with messages or prompts, or a list of what they said")
    return [Conversation((prompt,)) for prompt in prompts if isinstance(prompt, str) and prompt.strip()]


def _judged(
    rows: RowView, tasks: Source | None
) -> Iterator[tuple[dict[str, Any], Conversation, list[str] | None, bool]]:
    """Each row with its conversation, its faults (`None`: nobody was simulated) and whether its task was known."""
    columns = [name for name in _READ if rows.has(name)]
    stamps = rows.column("sim_ok")
    # Looking tasks up costs reading the run's store; a run that was stamped at birth needs none of it.
    unstamped = any(stamp is None for stamp in stamps)
    secrets = find_secrets(rows, tasks) if unstamped else [None] * len(rows)
    for row, extra in zip(rows.rows(columns), secrets, strict=True):
        conversation = _heard(row.get("messages") or [])
        if row.get("sim_ok") is not None:
            yield row, conversation, list(row.get("sim_reasons") or []) if not row["sim_ok"] else [], True
        elif len(conversation.turns) < 2 or row.get("user_model") == "script":
            yield row, conversation, None, True
        else:
            task = with_secrets(row, extra, override=True)
            known = task.get("expected_calls") is not None or task.get("privileged") is not None
            yield row, conversation, user_faults(row, task), known


def _style(simulated: list[Conversation], real: list[Conversation]) -> dict[str, dict[str, Any]]:
    vocabulary = Vocabulary([*simulated, *real])
    sides = [[style_of(conversation, vocabulary) for conversation in side] for side in (simulated, real)]
    found = {}
    for name in STYLES:
        here, there = ([value for style in side if (value := style[name]) is not None] for side in sides)
        one, other = (sum(values) / len(values) if values else None for values in (here, there))
        ends, real_ends = bootstrap_mean_ci(here), bootstrap_mean_ci(there)
        found[name] = {
            "simulated": one,
            "simulated_ci95": ends,
            "real": other,
            "real_ci95": real_ends,
            "difference": None if one is None or other is None else one - other,
            "difference_ci95": _difference(one, ends, other, real_ends),
        }
    return found


def _difference(
    one: float | None, ends: Interval | None, other: float | None, real_ends: Interval | None
) -> Interval | None:
    """
    Interval of the difference of two independent means out of their own intervals (MOVER: Zou and Donner 2008). The
    intervals may be skewed, as those of small shares are.
    """
    if one is None or other is None or ends is None or real_ends is None:
        return None
    below = math.hypot(one - ends[0], real_ends[1] - other)
    above = math.hypot(ends[1] - one, other - real_ends[0])
    return one - other - below, one - other + above


def user_report(rows: Source, *, real: Any = None, tasks: Source | None = None) -> UserReport:
    """
    Grades the simulated users of a run and describes how they write.

    Args:
        rows (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rollouts. The stamp a row was born with (`sim_ok`, `sim_reasons`) is taken; rows without one are checked.
        real (`list` or `datasets.Dataset` or path or Hub repo id, *optional*):
            What real users wrote to compare with: strings, lists of messages, or rows with `messages` or `prompt`.
        tasks (`datasets.Dataset` or `list[dict]` or path or Hub repo id, *optional*):
            The tasks, for rows without a stamp; looked up in the run's local store when left out.

    Returns:
        [`UserReport`]: Counts, the faulty rows with their reasons, and style statistics.

    Raises:
        [`DataError`]: `real` holds something that nobody said.

    Examples:
    ```python
    >>> said = [{"role": "user", "content": "Refund it."}, {"role": "assistant", "content": "Which order?"}]
    >>> good = [*said, {"role": "user", "content": "A-77, please."}]
    >>> bad = [*said, {"role": "user", "content": "How can I help you today?"}]
    >>> report = user_report([{"prompt": "Refund it.", "messages": messages} for messages in (good, bad)])
    >>> report.n_users, report.n_faulty, report.faulty[0]["reasons"]
    (2, 1, ['role_swap'])

    ```
    """
    given = view(rows)
    given.require("messages", "pass the rollouts of a run")
    reasons: Counter[str] = Counter()
    ended: Counter[str] = Counter()
    by_model: dict[str, dict[str, int]] = {}
    faulty: list[dict[str, Any]] = []
    people: list[Conversation] = []
    unknowable = 0
    for index, (row, conversation, faults, known) in enumerate(_judged(given, tasks)):
        if row.get("ended_by"):
            ended[row["ended_by"]] += 1
        if faults is None:
            continue
        people.append(conversation)
        unknowable += not known
        counts = by_model.setdefault(row.get("user_model") or "unknown", {"n_users": 0, "n_faulty": 0})
        counts["n_users"] += 1
        if faults:
            counts["n_faulty"] += 1
            reasons.update(faults)
            about = {"scenario_id": row.get("scenario_id"), "user_model": row.get("user_model"), "reasons": faults}
            faulty.append({"row": index, **about})
    others = _real(real)
    n_users = len(people)
    notes = []
    if unknowable:
        notes.append(
            f"{unknowable} users were judged without their task: invented facts and leaks are not found there"
        )
    if 0 < len(others) < 30:
        notes.append(f"only {len(others)} conversations of real people: the intervals are rough")
    return UserReport(
        n_rows=len(given),
        n_users=n_users,
        n_faulty=len(faulty),
        faulty_share=len(faulty) / n_users if n_users else None,
        faulty_ci95=wilson(len(faulty), n_users),
        reasons={name: reasons[name] for name in FAULTS if reasons[name]},
        faulty=faulty,
        by_user_model=by_model,
        ended_by=dict(ended),
        n_unknowable=unknowable,
        turns=sum(len(person.turns) for person in people) / n_users if n_users else None,
        style=_style(people, others),
        n_real=len(others),
        notes=notes,
    )
