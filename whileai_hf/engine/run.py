"""`simulate`: situations, an agent, rows, in one call."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Unpack

from datasets import Dataset

from whileai_hf.actors.models import ModelAgent
from whileai_hf.engine.config import SimulationConfig, SimulationKnobs, make_config
from whileai_hf.engine.pinned import config_for, pin
from whileai_hf.engine.roles import resolve_roles
from whileai_hf.engine.running import Run
from whileai_hf.errors import ConfigurationError
from whileai_hf.rows.view import Row
from whileai_hf.score.scorer import Score
from whileai_hf.score.verdicts import GroupJudge
from whileai_hf.spec import as_spec


# New objects between two runs of the cycle collector: a few megabytes.
_COLLECT_AFTER = 50_000


def simulate(
    agent: Any,
    spec: Any = None,
    *,
    tools: Any = None,
    system_prompt: str = "",
    tasks: Any = None,
    grader: Callable[[Row], Any] | None = None,
    config: SimulationConfig | None = None,
    **knobs: Unpack[SimulationKnobs],
) -> Dataset:
    """
    Simulates situations for an agent and plays it through them.

    Args:
        agent (`Callable`, `str` or `Model`):
            `message -> {"steps": [...], "final_text": str}` or `(messages, tools) -> assistant message`, sync or
            async; or a model, such as `"openai:<model>"` (see [`as_model`]).
        spec ([`AgentSpec`] or path, *optional*):
            The agent's tools and prompt; or pass `tools` and `system_prompt`.
        tools (`list`, *optional*):
            Typed functions, OpenAI, bare, MCP or Anthropic tool definitions.
        system_prompt (`str`, *optional*, defaults to `""`):
            The agent's system prompt; its rules become situations.
        tasks (`datasets.Dataset` or `list[dict]` or path, *optional*):
            Play these tasks (or those of an earlier run, with its repeats) instead of drawing new ones.
        grader (`Callable`, *optional*):
            A judge; it sees rows as they land, the allocation goes by its rewards, and the rows come back graded.
        config ([`SimulationConfig`], *optional*):
            All further knobs as one object.
        **knobs:
            Fields of [`SimulationConfig`], such as `mode`, `budget`, `repeats`, `seed` or `concurrency`.

    Returns:
        `datasets.Dataset`: One row per rollout, in task order, columns as in [`rows.features.rollout_features`].
        Rollouts that failed are left out and counted in [`run_report`]. Same inputs, same rows, at any concurrency.

    Raises:
        [`ConfigurationError`]: A knob, or a combination, that cannot be honoured.
        [`SpecError`]: Tools or prompt that cannot be read.

    Examples:
    ```python
    >>> import whileai_hf as wai
    >>> tools = [{"name": "get_order", "description": "Look up an order by id.",
    ...           "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}}}]
    >>> data = wai.simulate(wai.seeded_agent(tools), tools=tools, budget=8)
    >>> len(data), len(set(data["prompt"]))
    (8, 8)

    ```
    """
    if isinstance(grader, GroupJudge):
        raise ConfigurationError(
            f"grader={grader!r:.80} compares whole groups, and a grader sees each row as it lands; "
            "grade after the run: grade(data, judge)"
        )
    if grader is not None and not callable(grader):
        raise ConfigurationError(f"grader={grader!r} is not callable; pass a judge (row -> reward)")
    settings = make_config(config, knobs)
    pinned = None if tasks is None else pin(tasks)
    if pinned is not None:
        settings = config_for(pinned, settings)
    score = None if grader is None else Score(grader)
    roles = resolve_roles(agent, settings)
    if isinstance(roles.agent, ModelAgent):
        # A model may come with the tools and the prompt it is served for.
        tools = roles.agent.spec_tools if tools is None and spec is None else tools
        system_prompt = system_prompt or roles.agent.system_prompt or ""
    run = Run(roles, as_spec(spec, tools=tools, system_prompt=system_prompt), settings, pinned, score)
    if settings.engine == "ray":
        from whileai_hf.engine.spread import play_on_ray  # Ray is an extra, and takes seconds to import

        return play_on_ray(run)
    with _rare_collections():
        return run.play()


@contextmanager
def _rare_collections() -> Iterator[None]:
    """
    A run makes some hundred small objects a row, almost none of them in cycles, and each of them brings the next walk
    of the cycle collector through everything loaded so far nearer. What was there before the run is left out of the
    walks while it lasts, and they come less often.
    """
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], _COLLECT_AFTER), *before[1:])
    ours = gc.get_freeze_count() == 0  # what the user froze must stay frozen
    if ours:
        gc.freeze()
    try:
        yield
    finally:
        gc.set_threshold(*before)
        if ours:
            gc.unfreeze()
