"""`assert_pass_at`: an agent's pass rate, held against a floor."""

from __future__ import annotations

from typing import Any, Literal, Unpack

from whileai_hf.engine import run_report, simulate
from whileai_hf.engine.config import SimulationKnobs
from whileai_hf.errors import ConfigurationError
from whileai_hf.measure import PassAt, pass_at
from whileai_hf.score import evaluate, grade_report


# Enough for a reliable agent to show 80%: 40 tasks that all pass put the lower end of the interval at 0.91.
_TASKS, _REPEATS = 40, 4


def assert_pass_at(
    agent: Any,
    spec: Any = None,
    *,
    tools: Any = None,
    system_prompt: str = "",
    tasks: Any = None,
    judge: Any = None,
    at_least: float = 0.8,
    require: Literal["shown", "not_refuted"] = "shown",
    **knobs: Unpack[SimulationKnobs],
) -> PassAt:
    """
    Plays an agent through situations, grades it, and fails when its pass@1 is not what it has to be.

    A point estimate over a few dozen tasks moves by several points when the same command is run twice, so the 95%
    interval decides. Same agent, same seed: same outcome.

    Args:
        agent (`Callable`, `str` or `Model`):
            As for [`simulate`].
        spec ([`AgentSpec`] or path, *optional*):
            As for [`simulate`]; or pass `tools` and `system_prompt`.
        tools (`list`, *optional*):
            As for [`simulate`].
        system_prompt (`str`, *optional*, defaults to `""`):
            As for [`simulate`].
        tasks (`datasets.Dataset` or `list[dict]` or path, *optional*):
            As for [`simulate`]: an eval set of your own.
        judge (`Callable` or `str` or `Model`, *optional*):
            As for [`evaluate`]; the conduct floor when left out.
        at_least (`float`, *optional*, defaults to `0.8`):
            Pass rate the agent has to have, between 0 and 1.
        require (`str`, *optional*, defaults to `"shown"`):
            `"shown"` passes when the whole interval lies at or above `at_least`; `"not_refuted"` fails only when the
            whole interval lies below it.
        **knobs:
            Fields of [`SimulationConfig`]; where none says how much to run, 40 tasks are played four times each.

    Returns:
        [`PassAt`]: The report, for further assertions.

    Raises:
        `AssertionError`: The pass rate is too low, or it could not be measured; says the interval and what to do.
        [`ConfigurationError`]: `at_least` is no share or can never be shown, or `require` is neither word.

    Examples:
    ```python
    >>> from whileai_hf.testing import assert_pass_at
    >>> def agent(message):
    ...     return {"steps": [], "final_text": "The deposit is refundable within 30 days."}
    >>> report = assert_pass_at(
    ...     agent, at_least=0.8, judge=lambda row: "30 days" in row["final_text"], system_prompt="Answer questions."
    ... )
    >>> report.pass_at_1
    1.0

    ```
    """
    if isinstance(at_least, bool) or not isinstance(at_least, int | float) or not 0.0 <= at_least <= 1.0:
        raise ConfigurationError(f"at_least={at_least!r} is no pass rate; expected a number between 0 and 1")
    if require not in ("shown", "not_refuted"):
        raise ConfigurationError(f"require={require!r}; expected 'shown' or 'not_refuted'")
    if at_least == 1.0 and require == "shown":
        raise ConfigurationError(
            "at_least=1 cannot be shown by any number of tasks; pass a lower rate, or require='not_refuted'"
        )
    if tasks is None and not knobs.keys() & {"mode", "budget", "situations", "repeats"}:
        knobs = {**knobs, "mode": "rl", "repeats": _REPEATS, "repeat_policy": "fixed", "budget": _TASKS * _REPEATS}
    rollouts = simulate(agent, spec, tools=tools, system_prompt=system_prompt, tasks=tasks, **knobs)
    if not len(rollouts):
        raise AssertionError(f"pass@1 could not be measured: no rollout came back\n{run_report(rollouts)}")
    graded = evaluate(rollouts, judge)
    report = pass_at(graded)
    if report.pass_at_1 is None:
        raise AssertionError(f"pass@1 could not be measured: no rollout was judged\n{grade_report(graded)}")
    complaint = _complaint(report, at_least, require)
    if complaint:
        raise AssertionError(complaint)
    return report


def _complaint(report: PassAt, at_least: float, require: str) -> str | None:
    """What is wrong with a pass rate, in a sentence; `None` when nothing is."""
    if report.pass_at_1 is None or report.ci95 is None:
        return f"pass@1 could not be measured: {'; '.join(report.notes)}\n{report}"
    low, high = report.ci95
    found = f"pass@1 is {report.pass_at_1:.3f}, 95% interval [{low:.3f}, {high:.3f}] over {report.n_tasks} tasks"
    if high < at_least:
        return f"{found}: below {at_least:g}\n{report}"
    if require == "shown" and low < at_least:
        way_out = (
            "measure more tasks (situations=, budget=)"
            if report.pass_at_1 > at_least
            else "the agent has to get better"
        )
        return f"{found}: at least {at_least:g} is not shown; {way_out}, or pass require='not_refuted'\n{report}"
    return None
