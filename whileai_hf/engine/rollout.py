"""The map function that plays an agent: `tasks.map(Rollout(agent), batched=True)`."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, Unpack

import pyarrow as pa
from datasets.formatting.formatting import LazyBatch, LazyRow

from whileai_hf.engine.config import SimulationConfig, SimulationKnobs, make_config
from whileai_hf.engine.given import check_prompts, fit_tasks, foreign_features
from whileai_hf.engine.identity import run_id
from whileai_hf.engine.player import Player
from whileai_hf.engine.playing import rows_of, start_playing
from whileai_hf.engine.roles import resolve_roles
from whileai_hf.engine.source import Listed, Planned
from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.rows.features import known_features
from whileai_hf.rows.hashing import register_hash
from whileai_hf.rows.privileged import PRIVILEGED_KEYS
from whileai_hf.rows.view import Row, RowView
from whileai_hf.score.hashing import UnhashableError, fingerprint
from whileai_hf.spec import AgentSpec, as_spec


Batch: TypeAlias = Mapping[str, Sequence[Any]] | pa.Table


class Rollout:
    """
    Plays an agent on tasks: a function from a batch of tasks to a batch of rollouts, `k` per task.

    It works in `Dataset.map(..., batched=True)` as it stands, also with `num_proc`. A rollout that fails gives a row
    too: its `rollout_status` is `"error"` (the agent raised) or `"invalid"` (it answered in the wrong shape).

    Args:
        agent (`Callable`):
            `message -> {"steps": [...], "final_text": str}` or `(messages, tools) -> assistant message`, sync or
            async.
        spec ([`AgentSpec`] or path, *optional*):
            The agent's tools and prompt; or pass `tools` and `system_prompt`.
        tools (`list`, *optional*):
            Tools in any shape [`AgentSpec`] reads.
        system_prompt (`str`, *optional*, defaults to `""`):
            The agent's system prompt.
        k (`int`, *optional*, defaults to `1`):
            Rollouts per task.
        keep_privileged (`bool`, *optional*, defaults to `False`):
            Keep the tasks' `privileged` column on the rows. Only for a chain of maps on this machine: a Dataset that
            is pushed must not have it.
        **knobs:
            Fields of [`SimulationConfig`]: `seed`, `concurrency`, `max_turns`, `sampling`, `execute`.

    Examples:
    ```python
    >>> from whileai_hf.engine import Rollout
    >>> tools = [{"name": "get_order", "parameters": {"type": "object", "properties": {}}}]
    >>> play = Rollout(lambda message: {"steps": [], "final_text": "Hello."}, tools=tools)
    >>> play({"prompt": ["Hi"]})["final_text"]
    ['Hello.']

    ```
    """

    def __init__(
        self,
        agent: Any,
        spec: Any = None,
        *,
        tools: Any = None,
        system_prompt: str = "",
        k: int = 1,
        keep_privileged: bool = False,
        config: SimulationConfig | None = None,
        **knobs: Unpack[SimulationKnobs],
    ) -> None:
        self.spec: AgentSpec = as_spec(spec, tools=tools, system_prompt=system_prompt)
        config = make_config(config, knobs)
        self.config = dataclasses.replace(config, repeats=k, situations=None, budget=max(k, 1))
        self.keep_privileged = keep_privileged
        self.roles = resolve_roles(agent, self.config)
        self.run_id = run_id(self.roles, self.spec, self.config, drawn=False)

    def __call__(self, batch: Batch) -> Any:
        """A batch of tasks to a batch of rollouts, in the same kind of container."""
        table = _table(batch)
        tasks = RowView(table if table is not None else _rows(batch))
        check_prompts(tasks)
        foreign = foreign_features(tasks)
        if self.keep_privileged and tasks.has("privileged"):
            foreign["privileged"] = known_features()["privileged"]
        player = Player(self.roles, self.spec, self.config, self.run_id, foreign)
        topology = self.config.topology()
        planned = (Planned(task, topology.repeats, topology.probe) for task in fit_tasks(tasks.rows(), foreign))
        source = Listed(planned, topology.repeats)
        rollouts = len(tasks) * topology.repeats
        queue, _ = start_playing(player, source, budget=rollouts, losses_allowed=rollouts + 1)
        groups = [group for batch in queue.batches() for group in batch.groups]
        if queue.stop is not None:
            raise queue.stop
        cells = [row.cells for group in groups for row in rows_of(group, player)]
        result = player.encoder.table(cells)
        if table is not None:
            return result
        view = RowView(result)
        columns = {name: view.column(name) for name in view.columns}
        # A stream merges the input columns back in, so what must not ride along is overwritten.
        secret = [name for name in PRIVILEGED_KEYS if name in tasks.columns and name not in columns]
        return columns | {name: [None] * result.num_rows for name in secret}

    def hash_state(self) -> list[object]:
        """
        What decides the rows: enters the fingerprint of `Dataset.map` in place of the object itself. The agent counts
        with its code and state; one that holds something without stable content is never answered from the cache.
        """
        try:
            agent = fingerprint([self.roles.agent, self.config.execute])
        except UnhashableError:
            agent = uuid.uuid4().hex
        return [self.run_id, agent, self.config.repeats, self.keep_privileged]


register_hash(Rollout)


def _table(batch: Any) -> pa.Table | None:
    """The raw Arrow behind a batch of `Dataset.map`, `None` for a plain mapping of columns."""
    if isinstance(batch, LazyRow):
        raise ConfigurationError(
            "Rollout got a single row; it works on batches: call map(Rollout(agent), batched=True)"
        )
    if isinstance(batch, pa.Table):
        return batch
    if isinstance(batch, LazyBatch):
        return batch.pa_table
    if not isinstance(batch, Mapping):
        raise ConfigurationError(f"Rollout got a {type(batch).__name__}; it works on batches of columns")
    return None


def _rows(batch: Mapping[str, Any]) -> list[Row]:
    columns = {name: values.tolist() if hasattr(values, "tolist") else values for name, values in batch.items()}
    lengths = {name: len(values) for name, values in columns.items() if isinstance(values, list | tuple)}
    if len(lengths) < len(columns) or len(set(lengths.values())) > 1:
        raise DataError(f"the columns of the batch are not lists of one length ({lengths}); pass batched=True to map")
    batch = columns
    return [dict(zip(batch, values, strict=True)) for values in zip(*batch.values(), strict=True)]
