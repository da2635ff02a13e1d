"""What crosses from one process to another: a map function, batches of rows, and whatever goes wrong.

Rows travel as Arrow streams in a column of bytes, so that no engine in between looks into them: types come out as they
went in. A worker runs the function through `Dataset.map`, so that a row comes out as it would at home. Nothing here
knows which engine carries them.
"""

from __future__ import annotations

import copy
import dataclasses
import pickle
import traceback
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import pyarrow as pa
from datasets import Dataset, disable_progress_bars
from datasets.table import InMemoryTable

from whileai_hf.actors import agent_id
from whileai_hf.actors.callable import Agent
from whileai_hf.actors.naming import Named
from whileai_hf.engine.rollout import Rollout
from whileai_hf.errors import ConfigurationError, WhileaiError


class WorkerError(WhileaiError, RuntimeError):
    """The processes a map function ran in died, or failed in a way that is not the library's."""


class BatchWorker:
    """
    What runs on a worker: a batch in, a batch out, both as Arrow streams.

    Whatever the function raises comes back beside the rows instead of being raised here: Ray would wrap it, print it
    and, for other batches, go on.

    Args:
        payload (`bytes`):
            The pickled map function. Each worker unpickles its own and builds its own threads and event loop.
    """

    def __init__(self, payload: bytes) -> None:
        self._payload = payload
        self._function: Callable[[Any], Any] | None = None

    def __call__(self, batch: pa.Table) -> pa.Table:
        rows: list[bytes | None] = []
        errors: list[bytes | None] = []
        for stream in batch["rows"]:
            try:
                rows.append(_pack(self._map(_unpack(stream.as_buffer()))))
                errors.append(None)
            except Exception as error:  # the user's code raises what it likes; it is raised again where it was called
                rows.append(None)
                errors.append(_pickled_error(error))
        return pa.table({"rows": pa.array(rows, pa.large_binary()), "error": pa.array(errors, pa.large_binary())})

    def _map(self, table: pa.Table) -> pa.Table:
        if self._function is None:
            disable_progress_bars()
            self._function = pickle.loads(self._payload)
        rows = Dataset(InMemoryTable(table), fingerprint="ray")
        mapped = rows.map(
            self._function, batched=True, batch_size=None, keep_in_memory=True, new_fingerprint="ray-mapped"
        )
        return mapped.data.table


class _NamedAgent(Agent):
    """An agent that keeps its name where its source cannot be read: a notebook's code is known to that notebook."""

    def __init__(self, agent: Any) -> None:
        super().__init__(agent)
        self.agent_id = agent_id(agent)


class Pickler(Protocol):
    """A module that pickles like `cloudpickle`: also what the main script defines."""

    def dumps(self, obj: Any) -> bytes:
        """The pickled object."""


def pickled(function: Any, pickler: Pickler) -> bytes:
    """
    A map function as bytes.

    Args:
        function (`Callable`):
            The map function, with the agent or judge it holds.
        pickler ([`Pickler`]):
            What pickles it.

    Raises:
        [`ConfigurationError`]: It holds something that stays on this machine, such as an open client.
    """
    if isinstance(function, Rollout) and not isinstance(function.roles.agent, Agent | Named):
        function = copy.copy(function)
        function.roles = dataclasses.replace(function.roles, agent=_NamedAgent(function.roles.agent))
    try:
        return pickler.dumps(function)
    except ConfigurationError:
        raise
    except Exception as error:  # picklers and reducers raise whatever they like
        raise ConfigurationError(
            f"{type(function).__name__} cannot be sent to another process ({type(error).__name__}: "
            f"{error!s:.200}); let "
            "the agent or judge make its client on first use, or run without Ray"
        ) from error


def _pickled_error(error: Exception) -> bytes:
    error.add_note("On a worker:\n" + "".join(traceback.format_exception(error)))
    try:
        payload = pickle.dumps(error)
        pickle.loads(payload)  # an exception with a constructor of its own is often written and cannot be read
    except Exception:  # whatever its pickling does, the message gets through
        return pickle.dumps(WorkerError(f"{type(error).__name__}: {error}"))
    return payload


def sent_batch(table: pa.Table) -> pa.Table:
    """Rows as a batch for [`BatchWorker`]."""
    return pa.table({"rows": pa.array([_pack(table)], pa.large_binary())})


def received_rows(batch: pa.Table) -> Iterator[pa.Table]:
    """The rows in a batch from [`BatchWorker`]; an error that happened there is raised here."""
    for rows, error in zip(batch["rows"], batch["error"], strict=True):
        if error.is_valid:
            raise pickle.loads(error.as_buffer())
        yield _unpack(rows.as_buffer())


def _pack(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _unpack(content: pa.Buffer) -> pa.Table:
    return pa.ipc.open_stream(content).read_all()
