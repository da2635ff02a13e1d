"""The first tasks of an agent as a Dataset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.rows import to_dataset
from whileai_hf.rows.features import task_features
from whileai_hf.scenarios.search import Search
from whileai_hf.spec import AgentSpec, as_spec


if TYPE_CHECKING:
    from datasets import Dataset


def situations(
    spec: AgentSpec | Any = None,
    *,
    tools: Any = None,
    system_prompt: str = "",
    n: int = 100,
    seed: int = 0,
    fault_rate: float = 0.5,
    seeds: Sequence[str] = (),
    phrasings: int = 1,
) -> Dataset:
    """
    The first `n` tasks of an agent as a Dataset: what a run without outcomes to learn from would play of the grid and
    around it. The rare kinds of fault, which a run meets beyond its first 128 situations, are left out.

    Args:
        spec ([`~whileai_hf.spec.AgentSpec`], `dict`, `str` or `Path`, *optional*):
            The agent, or the folder or file it is in.
        tools (`list`, *optional*):
            Its tools, when there is no `spec`.
        system_prompt (`str`, *optional*, defaults to `""`):
            Its prompt, when there is no `spec`.
        n (`int`, *optional*, defaults to `100`):
            Number of rows, the owner's asks included; never fewer than those.
        seed (`int`, *optional*, defaults to `0`):
            Seed of values and wording.
        fault_rate (`float`, *optional*, defaults to `0.5`):
            Share of situations with a planned fault among those that could have one.
        seeds (`Sequence[str]`, *optional*):
            The owner's own asks; they come first.
        phrasings (`int`, *optional*, defaults to `1`):
            Wordings of each situation.

    Returns:
        `datasets.Dataset`: One row a task, with `prompt`, `faults`, `expected_calls`, `privileged` and the rest.

    Raises:
        [`~whileai_hf.errors.ConfigurationError`]: If an argument is out of its range.

    Examples:
    ```python
    >>> from whileai_hf.scenarios import situations
    >>> tasks = situations(tools=[{"name": "get_order", "description": "Look up an order."}], n=8)
    >>> len(tasks), len(set(tasks["scenario_id"]))
    (8, 8)

    ```
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ConfigurationError(f"n is {n!r:.40}; pass the number of tasks, 1 or more.")
    agent = as_spec(spec, tools=tools, system_prompt=system_prompt)
    search = Search(agent, seed=seed, fault_rate=fault_rate, seeds=seeds, phrasings=phrasings)
    search.rare_faults = False
    owned = len(dict.fromkeys([*agent.seeds, *seeds]))
    return to_dataset(search.draw(max(n, owned)), task_features())
