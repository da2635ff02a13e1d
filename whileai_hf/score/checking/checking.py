"""`check_reward`: asks a reward with replies whose worth is known, before anything is trained on it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.rows.view import Source
from whileai_hf.score.checking.calling import is_trainer_reward
from whileai_hf.score.checking.examining import Examination
from whileai_hf.score.checking.hints import hints_of
from whileai_hf.score.checking.probes import PROBES
from whileai_hf.score.checking.remarks import clashes, duplicates, unchecked
from whileai_hf.score.checking.report import ERROR, SEVERITIES, Cell, RewardCheck
from whileai_hf.score.checking.tasks import probe_tasks
from whileai_hf.score.verify.base import Verifier


def check_reward(
    reward_funcs: Callable[..., Any] | Sequence[Callable[..., Any]],
    dataset: Source | None = None,
    *,
    n: int = 8,
    threshold: float | None = None,
    weights: Sequence[float] | None = None,
    gold: str | None = None,
    tools: Any = None,
    seed: int = 0,
) -> RewardCheck:
    """
    Checks rewards before training: what they pay that they should not, what they do not pay that they should, and
    what is wrong with them as functions.

    Args:
        reward_funcs (`Callable` or `list[Callable]`):
            Reward functions as TRL's trainers take them, `(prompts, completions, **columns) -> list[float | None]`,
            sync or async; or judges and verifiers, `(row) -> verdict`; or a list of both.
        dataset (`datasets.Dataset` or `list[dict]` or path or Hub repo id, *optional*):
            What will be trained on: `prompt` and the columns the rewards read, or task or rollout rows. Without it
            generic asks with known answers: then nothing is checked that depends on columns, tools or a rubric of
            yours.
        n (`int`, *optional*, defaults to 8):
            Tasks that every reply is tried on.
        threshold (`float`, *optional*):
            Reward from which a reply counts as paid. By default more than half of what a right reply earns (of the
            sum of several rewards, more than nine tenths), or 0.5 where no right reply is known.
        weights (`Sequence[float]`, *optional*, defaults to 1 each):
            `reward_weights` of the trainer, for the sum of several rewards.
        gold (`str`, *optional*):
            Where the right answer is, as a dotted path into the row; by default the usual columns are tried.
        tools (`list`, `AgentSpec`, *optional*):
            The tools of tasks with `expected_calls`, where the rows carry none.
        seed (`int`, *optional*, defaults to 0):
            Seed of the choice of tasks and of the other order.

    Returns:
        [`RewardCheck`]: `print` it. `ok` is false when a finding is an error.

    Raises:
        [`ConfigurationError`]: Nothing that can be called as a reward, or an argument out of range.
        [`MissingColumnError`]: A function needs a column that the dataset has not.

    Examples:
    ```python
    >>> from whileai_hf.score.checking import check_reward
    >>> def polite(completions, **kwargs):
    ...     return [float("please" in completion[-1]["content"]) for completion in completions]
    >>> report = check_reward(polite)
    >>> report.ok, [finding.probe for finding in report.findings if finding.kind == "exploitable"]
    (False, ['own words'])

    ```
    """
    given: Any = reward_funcs
    functions: list[Callable[..., Any]] = list(given) if isinstance(given, list | tuple) else [given]
    shares = _checked(functions, n, weights, threshold)
    gold = gold or next((item.field for item in functions if isinstance(item, Verifier) and item.field), None)
    styles = [is_trainer_reward(function) for function in functions]
    tasks = probe_tasks(dataset, n, gold, tools, seed)
    hints = hints_of(functions)
    run = Examination(tasks, hints, seed, whole=len(functions) == 1, own=dataset is not None, threshold=threshold)
    findings = list(clashes(tasks))
    for function, trainer, share in zip(functions, styles, shares, strict=True):
        findings += run.examine(function, trainer, share)
    findings += duplicates([reward.name for reward in run.rewards])
    if len(run.given) > 1:
        findings += run.examine_total()
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return RewardCheck(
        ok=not any(finding.severity == ERROR for finding in findings),
        findings=findings,
        table=_by_probe(run.cells),
        functions=run.described,
        n_tasks=len(tasks),
        n_calls=sum(reward.n_calls for reward in (*run.rewards, *run.trials)),
        n_replies=sum(reward.n_replies for reward in (*run.rewards, *run.trials)),
        notes=[*unchecked(tasks, dataset is None), *run.notes],
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _checked(
    functions: Sequence[Any], n: int, weights: Sequence[float] | None, threshold: float | None
) -> list[float]:
    if not functions:
        raise ConfigurationError("reward_funcs is empty; pass at least one function")
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ConfigurationError(f"n={n!r} is no number of tasks; pass at least 1")
    if threshold is not None and not _is_number(threshold):
        raise ConfigurationError(f"threshold={threshold!r:.60}; expected a finite number, or None for the default")
    if weights is None:
        return [1.0] * len(functions)
    if isinstance(weights, str | Mapping) or not isinstance(weights, Iterable):
        raise ConfigurationError(f"weights={weights!r:.60}; expected a list with one number per reward function")
    weights = list(weights)
    wrong = next((weight for weight in weights if not _is_number(weight)), None)
    if wrong is not None or None in weights:
        raise ConfigurationError(f"weights holds {wrong!r:.60}; expected a finite number per reward function")
    if len(weights) != len(functions):
        raise ConfigurationError(f"{len(weights)} weights for {len(functions)} reward functions; pass one each")
    return [float(weight) for weight in weights]


def _by_probe(cells: Sequence[Cell]) -> list[Cell]:
    order = {probe.name: place for place, probe in enumerate(PROBES)}
    return sorted(cells, key=lambda cell: order[cell.probe])
