"""`recommend`: how much to simulate, from the agent's own grid of situations and from what has worked for others."""

from __future__ import annotations

import math
from itertools import islice
from statistics import NormalDist
from typing import Any

from whileai_hf.engine.config import SimulationConfig
from whileai_hf.engine.expected import Expected, expected
from whileai_hf.engine.recommendation import Recommendation
from whileai_hf.engine.topology import Topology
from whileai_hf.errors import ConfigurationError
from whileai_hf.scenarios import coverage
from whileai_hf.scenarios.axes import Axes
from whileai_hf.scenarios.grid import cells, planned_cells
from whileai_hf.spec import AgentSpec, as_spec
from whileai_hf.stats import wilson


PURPOSES = ("sft", "rl")
# Rows that are selected. Published agent sets that worked have 500 to 1,900 examples (see `recommend`).
DEFAULT_TARGET = 800
# Rows of a cell after which little new turns up in it.
_VISITS_SFT = 5
# Situations of a cell in rl mode, where each of them brings k rollouts.
_VISITS_RL = 2
# Rows to choose one from: duplicates go, and so does what does not pass.
_CHOICE = 3
_ROUND_ROWS = 100
# Share of prompts whose rollouts disagree, until it has been measured; and the least that is planned with, since a
# probe of a few asks cannot tell less from nothing.
ASSUMED_MIXED_RATE = 0.5
_LEAST_MIXED_RATE = 0.02
_PROBE_ASKS = 12
# Half-width of the 95 % interval of a measured rate that is worth having.
_PRECISION = 0.05


def recommend(
    spec: Any = None,
    *,
    tools: Any = None,
    system_prompt: str = "",
    mode: str = "sft",
    mixed_rate: float | None = None,
    target: int = DEFAULT_TARGET,
    repeats: int | None = None,
) -> Recommendation:
    """
    How much to simulate for a training set. Needs no model and no network.

    For fine-tuning, a few hundred to two thousand good trajectories have been enough: FireAct (arXiv 2310.05915)
    improved a 7B model with 500, LIMA (arXiv 2305.11206) used 1,000 curated answers, AgentTuning (arXiv 2310.12823)
    1,866 verified trajectories. For group-relative reinforcement learning only prompts whose rollouts disagree carry a
    gradient: DAPO (arXiv 2503.14476) and Skywork-OR1 (arXiv 2505.22312) drop those that are always or never solved.

    Args:
        spec ([`AgentSpec`] or path, *optional*):
            The agent's tools and prompt; or pass `tools` and `system_prompt`.
        tools (`list`, *optional*):
            Tools in any shape [`AgentSpec`] reads.
        system_prompt (`str`, *optional*, defaults to `""`):
            The agent's system prompt.
        mode (`str`, *optional*, defaults to `"sft"`):
            `sft` or `rl`.
        mixed_rate (`float`, *optional*):
            For rl: share of prompts whose k rollouts disagree, as `group_signal` measured it on a few prompts with
            all their rollouts. Assumed to be one half unless given.
        target (`int`, *optional*, defaults to `800`):
            Rows you want to select in the end.
        repeats (`int`, *optional*):
            Rollouts of one prompt, k; 8 for rl and at most 4 for sft unless given.

    Returns:
        [`Recommendation`]: Prints its reasoning; `simulate_kwargs` goes into `simulate`.

    Raises:
        [`ConfigurationError`]: An argument out of its range.

    Examples:
    ```python
    >>> from whileai_hf.engine.recommending import recommend
    >>> tools = [{"name": "get_order", "description": "Look up an order."}]
    >>> rec = recommend(tools=tools, mode="rl", mixed_rate=0.3)
    >>> rec["simulate_kwargs"]["repeats"], rec["situations"] >= 2 * rec["cells"]
    (8, True)

    ```
    """
    _check(mode, mixed_rate, target, repeats)
    agent = as_spec(spec, tools=tools, system_prompt=system_prompt)
    grid = len(planned_cells(Axes.of(agent)))
    if mode == "sft":
        return _for_sft(agent, grid, target, repeats)
    return _for_rl(agent, grid, target, repeats, mixed_rate)


def _check(mode: str, mixed_rate: Any, target: Any, repeats: Any) -> None:
    if mode not in PURPOSES:
        raise ConfigurationError(f"mode={mode!r} is not 'sft' or 'rl'; recommend sizes a training set for one of them")
    if mixed_rate is not None:
        if mode == "sft":
            raise ConfigurationError(f"mixed_rate={mixed_rate!r} says nothing about mode='sft'; leave it out")
        number = isinstance(mixed_rate, int | float) and not isinstance(mixed_rate, bool)
        if not number or not 0 <= mixed_rate <= 1:
            raise ConfigurationError(f"mixed_rate={mixed_rate!r} is not a share between 0 and 1")
    least = 2 if mode == "rl" else 1
    for name, value, low in (("target", target, 1), ("repeats", repeats, least)):
        if value is None and name == "repeats":
            continue
        if isinstance(value, bool) or not isinstance(value, int) or value < low:
            why = "; the rollouts of a prompt are compared with each other" if low > 1 else ""
            raise ConfigurationError(f"{name}={value!r} is not a whole number of {low} or more{why}")


def _for_sft(agent: AgentSpec, grid: int, target: int, repeats: int | None) -> Recommendation:
    usual = SimulationConfig(mode="sft").topology()
    saturated, choice = _VISITS_SFT * grid, _CHOICE * target
    wanted = math.ceil(max(saturated, choice) / _ROUND_ROWS) * _ROUND_ROWS
    fewer = range(usual.phrasings, 0, -1)
    shapes = [(phrasings, repeats) for phrasings in fewer] if repeats else []
    shapes = shapes or [*((usual.phrasings, k) for k in range(usual.repeats, 1, -1)), (2, 2), (1, 2)]
    # The same wording again and again of half the grid is worth less than the whole grid.
    phrasings, each = next((shape for shape in shapes if shape[0] * shape[1] * grid <= wanted), shapes[-1])
    situations = max(grid, math.ceil(wanted / (phrasings * each))) + len(agent.seeds)
    rows = situations * phrasings * each
    reasoning = [
        f"covering grid: {grid} cells for this agent",
        f"saturation wants {_VISITS_SFT} visits per cell = {saturated} rows",
        f"selection wants about {_CHOICE}x its target of {target} to choose from = {choice} rows",
        f"{phrasings} phrasings x {each} repeats: {situations} situations, so that every cell of the grid has one",
        *_seed_line(agent),
        f"generate {rows}, select {target} diverse rows that pass",
        _measuring_line(),
    ]
    return Recommendation(
        mode="sft",
        target=target,
        cells=grid,
        situations=situations,
        phrasings=phrasings,
        repeats=each,
        rows=rows,
        budget=rows,
        mixed_rate=None,
        expected_mixed=None,
        measuring_tasks=_measuring_tasks(),
        reasoning=reasoning,
        simulate_kwargs=_kwargs("sft", situations, phrasings, each),
    )


def _for_rl(agent: AgentSpec, grid: int, target: int, repeats: int | None, given: float | None) -> Recommendation:
    rate = max(_LEAST_MIXED_RATE, ASSUMED_MIXED_RATE if given is None else float(given))
    topology, each, why = _cheapest(repeats, rate)
    k = topology.repeats
    groups = math.ceil(target / k)
    enough = math.ceil(groups / each.mixed)
    situations = max(_VISITS_RL * grid, enough) + len(agent.seeds)
    rows, mixed = round(situations * each.rollouts), round(situations * each.mixed)
    reasoning = [
        f"covering grid: {grid} cells for this agent; {_VISITS_RL} situations per cell = {_VISITS_RL * grid}",
        f"target: {target} rows = {groups} groups of {k} whose rollouts disagree",
        _rate_line(given, rate),
        *why,
        *_seed_line(agent),
        f"generate {situations} situations: about {rows} rollouts ({situations * k} at most), about {mixed} groups = "
        f"{mixed * k} rows to select {target} from",
        *_smaller_line(agent, enough, situations),
        _measuring_line(),
    ]
    kwargs = _kwargs("rl", situations, 1, k)
    return Recommendation(
        mode="rl",
        target=target,
        cells=grid,
        situations=situations,
        phrasings=1,
        repeats=k,
        rows=rows,
        budget=situations * k,
        mixed_rate=rate,
        expected_mixed=mixed,
        measuring_tasks=_measuring_tasks(),
        reasoning=reasoning,
        simulate_kwargs=kwargs | ({"repeat_policy": "fixed"} if topology.policy == "fixed" else {}),
    )


def _cheapest(repeats: int | None, rate: float) -> tuple[Topology, Expected, list[str]]:
    """Two stages unless they cost more for each group that is of use, and what there is to say about it."""
    fixed, staged = (
        SimulationConfig(mode="rl", repeats=repeats, situations=1, repeat_policy=policy).topology()
        for policy in ("fixed", "two_stage")
    )
    k, probe = fixed.repeats, staged.probe
    whole, each = expected(fixed, rate), expected(staged, rate)
    lines = [f"fixed k: {rate:.2f} of the prompts give such a group, {k / rate:.1f} rollouts for each group"]
    if staged.policy == "fixed":
        return fixed, whole, lines
    cost = each.rollouts / each.mixed
    lines += [
        f"two_stage: {probe} rollouts of every prompt, {k} where they disagree and for {staged.explore_rate:.0%} of "
        f"the rest: {each.rollouts:.1f} rollouts a prompt instead of {k}",
        f"prompts that agree in the first {probe} and would not later are mostly passed over: {each.mixed:.2f} of the "
        f"prompts give a group, {cost:.1f} rollouts for each group",
    ]
    if cost < k / rate:
        return staged, each, [*lines, "pass rates count as evenly spread over the prompts that can split at all"]
    return fixed, whole, [*lines, f"so many prompts split that a probe does not pay: all get {k} (fixed)"]


def _kwargs(mode: str, situations: int, phrasings: int, repeats: int) -> dict[str, Any]:
    return {"mode": mode, "situations": situations, "phrasings": phrasings, "repeats": repeats}


def _rate_line(given: float | None, rate: float) -> str:
    if given is None:
        low, high = wilson(_PROBE_ASKS // 2, _PROBE_ASKS) or (0.0, 1.0)
        return (
            f"mixed rate {rate:.2f} is an assumption, the rate is your agent's: probe {_PROBE_ASKS} asks "
            f"(mode='rl', situations={_PROBE_ASKS}, repeat_policy='fixed'), grade, group_signal, pass mixed_rate=; "
            f"{_PROBE_ASKS} asks that show 0.50 leave {low:.2f} to {high:.2f} open"
        )
    if given < rate:
        return (
            f"mixed rate {given:.2f} is planned as {rate:.2f}: almost every prompt is always or never solved, so look "
            "for harder or easier asks (seeds=) before buying rollouts"
        )
    return f"mixed rate {rate:.2f} as measured"


def _seed_line(agent: AgentSpec) -> list[str]:
    asks = len(agent.seeds)
    return [f"your {asks} example asks are played on top of the grid"] if asks else []


def _smaller_line(agent: AgentSpec, enough: int, situations: int) -> list[str]:
    """What the target alone would need, where the grid asks for more."""
    if enough >= situations - len(agent.seeds):
        return []
    first = [cell._asdict() for cell, _ in islice(cells(Axes.of(agent)), enough)]
    share = coverage(agent, first).share
    return [
        f"where rollouts are dear: situations={enough} is enough for the target and holds {share:.0%} of what can "
        "occur together"
    ]


def _measuring_tasks() -> int:
    z = NormalDist().inv_cdf(0.975)
    return math.ceil((z / (2 * _PRECISION)) ** 2)


def _measuring_line() -> str:
    return (
        f"to know a pass rate to {_PRECISION:.0%} either way, measure on {_measuring_tasks()} tasks that are not "
        "trained on"
    )
