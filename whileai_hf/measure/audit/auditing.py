"""`audit`: one call that says whether rows are fit to train or measure on, and what to do first if not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.audit import findings as found
from whileai_hf.measure.audit.difficulty import pass_band, pass_threshold, task_need
from whileai_hf.measure.audit.learning import length_effect, reward_functions
from whileai_hf.measure.audit.prompts import overlap, read_prompts, similar_prompts
from whileai_hf.measure.audit.report import AuditReport, Finding
from whileai_hf.measure.audit.sample import Sample
from whileai_hf.measure.hacks import hack_scan
from whileai_hf.measure.hygiene.against import Against
from whileai_hf.measure.knobs import check_seed, check_threshold
from whileai_hf.measure.passes import GroupSignal, group_signal, pass_at
from whileai_hf.rows import RowView
from whileai_hf.rows.view import Source
from whileai_hf.traces.rewards import ADVANTAGES, numbers_of
from whileai_hf.traces.sniffing import load_any


# Distinct rewards listed.
_LEVELS = 10
# Columns of numbers that are no reward, whatever else is missing.
_NO_REWARD = {"step", "training_step", "rollout_index", "phrasing", "seed", "n_tokens", "idx", "index", *ADVANTAGES}


def audit(
    data: Source | RowView,
    *,
    endorsed: Sequence[str] = (),
    evals: Against | None = None,
    effect: float = 0.05,
    threshold: float | None = None,
    reward_weights: Mapping[str, float] | None = None,
    seed: int = 0,
) -> AuditReport:
    """
    What is wrong with rollouts, before they train or measure anything.

    Looks for groups whose rewards are all equal, tasks outside a pass rate of 20-80%, what the reward goes with
    besides the task ([`hack_scan`]), reward functions that give nothing or pull apart, rewards that go with length,
    prompts that say the same, and prompts an evaluation holds; and says how many tasks a comparison needs. Groups are
    prompts of a task; in a completions table, at one step. Rows without a reward are left out of all that needs one.

    Args:
        data (`datasets.Dataset`, `list[dict]`, path or Hub repo id):
            Graded rollouts, a GRPO table (`prompt`, `completion`, a column per reward function or `reward`, perhaps
            `advantage`), a folder of TRL's completions tables, or a `traces.jsonl` of verifiers or its folder.
        endorsed (`Sequence[str]`, *optional*, defaults to `()`):
            What the reward is meant to track: parts of feature names, such as `"tool:lookup_order"`.
        evals (`Dataset`, `list[dict]`, path, Hub repo id, or a list of those, *optional*):
            What is or will be measured on.
        effect (`float`, *optional*, defaults to `0.05`):
            Change of the pass rate that a comparison has to see; where rewards are no pass or fail, part of the
            reward's range.
        threshold (`float`, *optional*):
            Reward from which a rollout passes. Left out, the higher of two values, or 1 where rewards end there.
        reward_weights (`Mapping[str, float]`, *optional*):
            Weight of each reward function of a completions table, which also says which columns those are.
        seed (`int`, *optional*, defaults to `0`):
            Seed of shuffles and resampling.

    Returns:
        [`AuditReport`]: `print` it. `ok` is false when a finding is a problem.

    Raises:
        [`ConfigurationError`]: A knob out of range.
        [`SourceNotFoundError`]: `data` or `evals` is neither a path nor a reachable repo.
        [`MissingColumnError`]: Nothing names the task: no prompt, no messages and no id.

    Examples:
    ```python
    >>> from whileai_hf.measure.audit import audit
    >>> table = [
    ...     {"prompt": f"What is {i} + {i + 2}?", "completion": f"{2 * i + j}.", "right": float(j == 2 and i < 9)}
    ...     for i in range(30) for j in range(4)]
    >>> report = audit(table, reward_weights={"right": 1.0})
    >>> report.ok, report.findings[0].name, round(report.dead_share, 2)
    (False, 'dead_groups', 0.7)

    ```
    """
    _check(effect, threshold, seed)
    loaded = load_any(data, reward_weights=reward_weights)
    sample = Sample(loaded)
    scored = sample.scored
    n_scored = int(scored.sum())
    prompts = read_prompts(sample, rollouts=n_scored > 0 or _has_replies(sample.rows))
    near = None if prompts is None else similar_prompts(prompts, seed)
    shared = None if prompts is None or evals is None else overlap(prompts, evals)
    findings = found.of_overlap(shared)
    if prompts is not None:
        findings += found.of_copies(near, prompts.n_repeated, len(prompts.texts))
    fields: dict[str, Any] = dict.fromkeys(_GRADED)
    fields["reward_functions"] = []
    if n_scored:
        graded, more = _graded(sample, threshold, endorsed, effect, seed)
        fields, findings = graded, [*findings, *more]
    else:
        findings.append(found.nothing_to_grade(_could_be_rewards(sample.rows)))
    findings = found.ranked(findings)
    values = sample.rewards[scored]
    levels = np.unique(values)
    return AuditReport(
        ok=not any(one.level == "problem" for one in findings),
        findings=findings,
        format=loaded.format,
        n_rows=len(sample.rows),
        n_scored=n_scored,
        n_unjudged=len(sample.rows) - n_scored,
        n_tasks=sample.n_tasks,
        n_groups=int(sample.groups.max()) + 1,
        rewards={
            "low": float(values.min()) if n_scored else None,
            "high": float(values.max()) if n_scored else None,
            "mean": float(values.mean()) if n_scored else None,
            "levels": levels.tolist() if levels.size <= _LEVELS else [],
        },
        near_duplicates=near,
        contamination=shared,
        notes=[*loaded.notes, *_stopped(fields["signal"])],
        warnings=[f"{one.what}. {one.do}." for one in findings if one.level != "advice"],
        **fields,
    )


# Fields of the report that need a reward.
_GRADED = ("threshold", "dead_share", "signal", "passes", "band", "hack", "length", "reward_functions", "power")


def _check(effect: float, threshold: float | None, seed: Any) -> None:
    check_seed(seed)
    if isinstance(effect, bool) or not isinstance(effect, int | float) or not 0.0 < effect < 1.0:
        raise ConfigurationError(f"effect={effect!r} is no change of a pass rate; pass a number such as 0.05")
    if threshold is not None:
        check_threshold(threshold)


def _has_replies(rows: RowView) -> bool:
    return any(rows.has(name) for name in ("messages", "completion", "steps", "final_text"))


def _could_be_rewards(rows: RowView) -> list[str]:
    """Columns of numbers that nobody has called a reward."""
    names = [name for name in rows.columns if name not in _NO_REWARD]
    return [name for name in names if numbers_of(rows.column(name)) is not None]


def _graded(
    sample: Sample, threshold: float | None, endorsed: Sequence[str], effect: float, seed: int
) -> tuple[dict[str, Any], list[Finding]]:
    """All that needs a reward: the fields of the report, and findings."""
    scored = sample.scored
    limit = pass_threshold(sample.rewards[scored]) if threshold is None else float(threshold)
    signal = group_signal(sample.by_group, threshold=1.0 if limit is None else limit)
    dead = _dead_share(signal)
    hack = hack_scan(sample.by_group, endorsed=endorsed, seed=seed)
    length = length_effect(sample, seed)
    functions = reward_functions(sample, sample.loaded.reward_weights)
    band = None if limit is None else pass_band(sample, limit)
    need = task_need(sample, limit, effect, seed)
    sizes = np.bincount(sample.groups[scored])
    findings = [*found.of_groups(signal, dead, limit), *found.of_hacks(hack, float(np.median(sizes[sizes > 0])))]
    findings += [
        *found.of_length(length, findings),
        *found.of_rows(len(sample.rows), len(sample.rows) - int(scored.sum())),
        *found.of_functions(functions, int(scored.sum())),
        *found.of_band(band),
        *found.of_power(need, limit),
        *found.of_threshold(limit),
    ]
    fields = {
        "threshold": limit,
        "dead_share": dead,
        "signal": signal,
        "passes": None if limit is None else pass_at(sample.rows, threshold=limit, seed=seed),
        "band": band,
        "hack": hack,
        "length": length,
        "reward_functions": functions,
        "power": need,
    }
    return fields, findings


def _stopped(signal: GroupSignal | None) -> list[str]:
    return signal.notes if signal is not None and signal.stopped else []


def _dead_share(signal: GroupSignal) -> float | None:
    flat = signal.all_pass + signal.all_fail
    return flat / (flat + signal.mixed) if flat + signal.mixed else None
