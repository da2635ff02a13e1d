"""`replay`: a published run checked by making its calls again, and one failure played again with one factor off.

Checking needs no agent and no model: the answers of the simulated world follow from what stands on a row, so anybody
who has the rows can make the calls again and compare every answer, the faults that fired and the final state. Playing
again needs the agent, and says what a failure depends on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, overload

from whileai_hf.actors.loop import wait_for
from whileai_hf.engine.config import SimulationConfig
from whileai_hf.engine.groups import Group
from whileai_hf.engine.identity import run_id
from whileai_hf.engine.pinned import PinnedTasks, pin
from whileai_hf.engine.player import Player
from whileai_hf.engine.playing import rows_of
from whileai_hf.engine.roles import resolve_roles
from whileai_hf.errors import ConfigurationError, WhileaiError
from whileai_hf.rows import Report, loads, view
from whileai_hf.rows.view import Row, Source
from whileai_hf.sandbox.knowledge import EXISTS, UNSPECIFIED
from whileai_hf.sandbox.reexecution import reexecute
from whileai_hf.sandbox.rowtools import RowToolsets, cannot_replay, read_row_tools
from whileai_hf.scenarios.blocks import clean_twin_task
from whileai_hf.score import grade
from whileai_hf.score.passing import PASS_REWARD
from whileai_hf.spec import AgentSpec, as_spec


# What making a row's calls again reads.
_COLUMNS = (
    "scenario_id", "task_id", "twin_of", "prompt", "seed", "world_state", "faults", "scenario_dimensions", "tools",
    "lineage", "steps", "faults_fired", "state_digest", "rollout_status", "rollout_index",
)  # fmt: skip
# Differences a printed report shows; all of them are in `mismatches`.
_SHOWN = 5
# What can be switched off, and how a row without it reads.
FACTORS = {
    "fault": "no fault is planned for the row",
    "world_state": "the row's world is an ordinary one",
    "script": "the row has no scripted turns",
    "user": "nobody speaks after the ask on the row",
}
_ORDINARY = (None, UNSPECIFIED, EXISTS)
# `avg_turns` at which the user's half of the conversation is the ask.
_ASK_ONLY = 2


@dataclasses.dataclass(frozen=True)
class ReplayReport(Report):
    """What making the calls of finished rows again came to."""

    n_rows: int
    n_replayed: int
    n_matched: int
    n_calls: int
    """Calls whose answers were compared."""
    n_states: int
    """Rows whose final state was compared; the others carry no `state_digest`."""
    matched: list[bool | None]
    """For each row whether all of it came out as it stands there; `None` where it cannot be replayed."""
    mismatches: list[dict[str, Any]]
    """`row`, `scenario_id`, `rollout_index` and the first difference: `what`, `step`, `tool`, `where`, `expected`,
    `got`."""
    not_replayable: list[dict[str, Any]]
    """`reason` and the `rows` it holds for."""
    notes: list[str]

    @property
    def ok(self) -> bool:
        """Whether every row was replayed and came out as it stands there."""
        return self.n_matched == self.n_rows

    def __str__(self) -> str:
        lines = [f"{self.n_matched} of {self.n_replayed} replayed rows match ({self.n_calls} calls compared)"]
        for found in self.mismatches[:_SHOWN]:
            step = "" if found["step"] is None else f", step {found['step']} ({found['tool']})"
            what = f"{found['what']} at {found['where']}" if found["where"] else found["what"]
            lines.append(f"row {found['row']}{step}: {what} was {found['expected']!r}, now {found['got']!r}")
        if len(self.mismatches) > _SHOWN:
            lines.append(f"... and {len(self.mismatches) - _SHOWN} more")
        lines += [f"not replayable: {len(entry['rows'])} rows: {entry['reason']}" for entry in self.not_replayable]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


@dataclasses.dataclass(frozen=True)
class ReplayComparison(Report):
    """One rollout played again with and without a factor."""

    factor: str
    was: Any
    """What was switched off: the fault plan, the state of the world, the scripted or the simulated turns."""
    scenario_id: str | None
    rollout_index: int | None
    repeats: int
    """Rollouts on each side."""
    reward_before: float | None
    """The row's own reward."""
    with_factor: list[dict[str, Any]]
    """Each rollout: `rollout_index`, `rollout_status`, `reward`, `calls`, `state_digest` and `final_text`."""
    without_factor: list[dict[str, Any]]
    failed_with: int | None
    """Failures among the rollouts with the factor; `None` without a judge or a verdict."""
    failed_without: int | None
    depends: bool | None
    """Whether it fails (without a judge: goes another way) because of the factor; `None` when that cannot be said."""
    verdict: str
    notes: list[str]

    def __str__(self) -> str:
        return "\n".join([f"{self.scenario_id}: {self.verdict}", *(f"note: {note}" for note in self.notes)])


@overload
def replay(
    rows: Source | Mapping[str, Any], *, tools: Any = None, config: SimulationConfig | None = None
) -> ReplayReport: ...


@overload
def replay(
    rows: Source | Mapping[str, Any],
    agent: Any,
    *,
    without: str,
    tools: Any = None,
    judge: Callable[[Row], Any] | None = None,
    repeats: int = 1,
    config: SimulationConfig | None = None,
) -> ReplayComparison: ...


def replay(
    rows: Source | Mapping[str, Any],
    agent: Any = None,
    *,
    without: str | None = None,
    tools: Any = None,
    judge: Callable[[Row], Any] | None = None,
    repeats: int = 1,
    config: SimulationConfig | None = None,
) -> ReplayReport | ReplayComparison:
    """
    Checks finished rows by making their tool calls again; or, with an agent, plays one of them again without a factor.

    Args:
        rows (`datasets.Dataset` or `list[dict]` or path or Hub repo id, or one row):
            Rollouts of the simulated world. With `agent`, one of them.
        agent (`Callable`, *optional*):
            Plays the row's task again, with the factor and without it.
        without (`str`, *optional*):
            The factor to switch off: `"fault"` (the planned faults), `"world_state"` (the record is just there),
            `"script"` (the scripted turns) or `"user"` (nobody speaks after the ask).
        tools (`list` or [`AgentSpec`], *optional*):
            The agent's tools, for rows that do not carry them.
        judge (`Callable`, *optional*):
            Row to verdict; without one, final state and calls are compared.
        repeats (`int`, *optional*, defaults to `1`):
            Rollouts on each side; more than one for an agent that samples.
        config ([`SimulationConfig`], *optional*):
            `seed` for rows that have none; with `agent` also `max_turns`, `sampling` and the like.

    Returns:
        [`ReplayReport`] or [`ReplayComparison`]: Which rows came out as they stand there, with the first difference
        of the others; with an agent, what the failure depends on.

    Raises:
        [`ConfigurationError`]: `agent` without `without` or the other way round, or a factor the row does not have.

    Examples:
    ```python
    >>> import whileai_hf as wai
    >>> from whileai_hf.engine.replay import replay
    >>> tools = [{"name": "get_order", "description": "Look up an order by id.",
    ...           "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}}}]
    >>> data = wai.simulate(wai.seeded_agent(tools), tools=tools, budget=8)
    >>> replay(data).n_matched
    8

    ```
    """
    config = config or SimulationConfig()
    source = [dict(rows)] if isinstance(rows, Mapping) else rows
    if agent is None and without is None:
        return _check(source, tools, config.seed)
    if agent is None or without not in FACTORS:
        given = f"without={without!r}" if agent is not None else f"without={without!r} and no agent"
        raise ConfigurationError(
            f"replay got {given}; pass an agent and one of without={', '.join(map(repr, FACTORS))}"
        )
    one = view(source)
    if len(one) != 1:
        raise ConfigurationError(f"replay got {len(one)} rows and an agent; pass the one row to play again")
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
        raise ConfigurationError(f"repeats={repeats!r} is not a whole number above 0; pass 1 or more")
    row = next(one.rows())
    opening = (row.get("messages") or [{}])[0]
    prompt = str(opening.get("content") or "") if opening.get("role") == "system" else ""
    spec = AgentSpec.from_tools(read_row_tools(row) if tools is None else as_spec(tools=tools).tools, prompt)
    return _compare(row, agent, without, spec, judge, repeats, config)


def _check(source: Source, tools: Any, seed: int) -> ReplayReport:
    rows = view(source)
    toolsets = RowToolsets(tools)
    matched: list[bool | None] = []
    mismatches: list[dict[str, Any]] = []
    refused: dict[str, list[int]] = {}
    calls = states = 0
    for index, row in enumerate(rows.rows([name for name in _COLUMNS if rows.has(name)])):
        reason = cannot_replay(row)
        try:
            again = None if reason else reexecute(row, toolsets.find(row), seed=seed)
        except WhileaiError as error:
            again, reason = None, f"its world cannot be set up: {error}"
        if again is None:
            refused.setdefault(reason, []).append(index)
            matched.append(None)
            continue
        calls += again.calls
        states += row.get("state_digest") is not None
        matched.append(again.difference is None)
        if again.difference is not None:
            place = {"row": index, "scenario_id": row.get("scenario_id"), "rollout_index": row.get("rollout_index")}
            mismatches.append({**place, **again.difference})
    replayed = sum(found is not None for found in matched)
    return ReplayReport(
        n_rows=len(matched),
        n_replayed=replayed,
        n_matched=sum(found is True for found in matched),
        n_calls=calls,
        n_states=states,
        matched=matched,
        mismatches=mismatches,
        not_replayable=[{"reason": reason, "rows": found} for reason, found in refused.items()],
        notes=list(_notes(replayed, states)),
    )


def _notes(replayed: int, states: int) -> Iterator[str]:
    if states < replayed:
        yield f"{replayed - states} rows carry no state_digest: their answers were compared, their final state was not"


# One failure again, with and without a factor.


def _compare(
    row: Row,
    agent: Any,
    factor: str,
    spec: AgentSpec,
    judge: Callable[[Row], Any] | None,
    repeats: int,
    config: SimulationConfig,
) -> ReplayComparison:
    pinned = pin([row])
    task = pinned.tasks[0]
    changed, altered, was = _switched_off(row, task, config, factor)
    first = row.get("rollout_index") or 0
    sides = []
    for side, knobs in ((task, config), (changed, altered)):
        rows = _play(agent, spec, side, range(first, first + repeats), knobs, pinned)
        rewards = [None] * len(rows) if judge is None else _rewards(rows, judge, side)
        sides.append([_outcome(found, reward, spec) for found, reward in zip(rows, rewards, strict=True)])
    failed = [_failed(side) for side in sides]
    notes = []
    if factor == "world_state" and judge is not None and task.get("privileged"):
        notes.append("what the judge was told of the hidden state still describes the state that was switched off")
    depends, verdict = _verdict(factor, sides, failed, repeats, judged=judge is not None)
    return ReplayComparison(
        factor=factor,
        was=was,
        scenario_id=row.get("scenario_id"),
        rollout_index=row.get("rollout_index"),
        repeats=repeats,
        reward_before=row.get("reward"),
        with_factor=sides[0],
        without_factor=sides[1],
        failed_with=failed[0],
        failed_without=failed[1],
        depends=depends,
        verdict=verdict,
        notes=notes,
    )


def _switched_off(row: Row, task: Row, config: SimulationConfig, factor: str) -> tuple[Row, SimulationConfig, Any]:
    """The task and the knobs without a factor, and what the factor was."""
    was = {
        "fault": task.get("faults"),
        "world_state": None if task.get("world_state") in _ORDINARY else task.get("world_state"),
        "script": task.get("script"),
        "user": [step["user"] for step in row.get("steps") or () if step.get("user") is not None],
    }[factor]
    if not was:
        raise ConfigurationError(
            f"replay got without={factor!r}, but {FACTORS[factor]}: there is nothing to switch off"
        )
    if factor == "fault":
        return {**clean_twin_task(task), "scenario_id": task.get("scenario_id"), "twin_of": None}, config, was
    if factor == "user":
        # The ask is the one message a conversation of this length has room for.
        return task, dataclasses.replace(config, avg_turns=_ASK_ONLY), was
    return {**task, **({"script": None} if factor == "script" else {"world_state": EXISTS})}, config, was


def _play(
    agent: Any, spec: AgentSpec, task: Row, indices: Sequence[int], config: SimulationConfig, pinned: PinnedTasks
) -> list[Row]:
    k = len(indices)
    knobs = dataclasses.replace(config, repeats=k, situations=None, budget=k)
    roles = resolve_roles(agent, knobs)
    player = Player(roles, spec, knobs, run_id(roles, spec, knobs, drawn=False), pinned.foreign)
    group = Group(0, task, k, k)
    for index in indices:
        work = (group, index)
        group.rows[index] = wait_for(player.play_async(work)) if player.agent.is_async else player.play(work)
    return [loads(played.line) for played in rows_of(group, player)]


def _rewards(rows: list[Row], judge: Callable[[Row], Any], task: Row) -> list[float | None]:
    tasks = [task] if task.get("privileged") or task.get("expected_calls") else None
    graded = grade(rows, judge=judge, tasks=tasks, concurrency=1)
    rewards: list[float | None] = view(graded).column("reward")
    return rewards


def _outcome(row: Row, reward: float | None, spec: AgentSpec) -> dict[str, Any]:
    again = None if cannot_replay(row) else reexecute(row, spec.tools)
    return {
        "rollout_index": row["rollout_index"],
        "rollout_status": row["rollout_status"],
        "reward": reward,
        "calls": [step["tool"] for step in row["steps"] if step.get("tool") is not None],
        "state_digest": None if again is None or again.difference is not None else again.state_digest,
        "final_text": row["final_text"],
    }


def _failed(side: list[dict[str, Any]]) -> int | None:
    """Failures on one side: rewards under 1, and rollouts the agent did not finish; `None` when one has no verdict."""
    rewards = [0.0 if one["rollout_status"] != "ok" else one["reward"] for one in side]
    if None in rewards:
        return None
    return sum(bool(reward < PASS_REWARD) for reward in rewards)


def _verdict(
    factor: str, sides: list[list[dict[str, Any]]], failed: list[int | None], n: int, judged: bool
) -> tuple[bool | None, str]:
    """Whether the failure depends on the factor, and a sentence that says so."""
    on, off = failed
    if judged:
        if on is None or off is None:
            return None, "the judge gave no verdict on some of the rollouts, so nothing can be said"
        counts = f"{on} of {n} fail with it, {off} of {n} without"
        if on == 0:
            return None, f"it did not fail again, so nothing can be said about the {factor}: {counts}"
        if off == 0:
            return True, f"it failed under the {factor}: {counts}"
        if off >= on:
            return False, f"it fails without the {factor} as well: {counts}"
        return None, f"it fails less often without the {factor}: {counts}"
    ends = [{(tuple(one["calls"]), one["state_digest"], one["rollout_status"]) for one in side} for side in sides]
    if ends[0] == ends[1]:
        return False, f"without the {factor} it makes the same calls and ends in the same state"
    what = "other calls" if {end[0] for end in ends[0]} != {end[0] for end in ends[1]} else "the same calls"
    states = "another" if {end[1:] for end in ends[0]} != {end[1:] for end in ends[1]} else "the same"
    return True, f"without the {factor} it makes {what} and ends in {states} state"
