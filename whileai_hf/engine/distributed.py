"""Map functions on Ray Data: what `Dataset.map` does on one machine, over the processes or machines of a Ray cluster.

Ray brings the scheduling, the actors and the retries; this module only carries rows there and back. Tasks travel as
Arrow streams that Ray does not look into, because its own batches hand `Json` columns over as text and infer types
anew for every block. A worker runs the function through `Dataset.map`, so that a row comes out as it would at home.
"""

from __future__ import annotations

import copy
import hashlib
import importlib
import logging
import math
import os
import pickle
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from datasets import Dataset, config, disable_progress_bars
from datasets.arrow_writer import ArrowWriter
from datasets.table import InMemoryTable, MemoryMappedTable

from whileai_hf.actors import agent_id
from whileai_hf.actors.callable import Agent
from whileai_hf.actors.naming import Named
from whileai_hf.engine.given import check_prompts
from whileai_hf.engine.rollout import Rollout
from whileai_hf.errors import ConfigurationError, WhileaiError
from whileai_hf.rows import view


# Batches for each worker: enough that one slow batch does not leave the others idle.
_BATCHES_PER_WORKER = 4
# Rows of a batch at most: what is lost with a worker that dies, and what Ray holds in memory at a time.
_MOST_ROWS = 512
# Rounds of a worker's rollouts in one batch: at the end of each batch its places run empty.
_ROUNDS = 2
# Bytes of shared memory of a cluster we start: Ray takes a third of the machine's memory otherwise. What does not fit
# goes to disk.
_STORE_BYTES = 256 << 20
# Times a worker that died (an agent that crashed the process, a machine that was taken away) is started again.
_RESTARTS = 2


class WorkerError(WhileaiError, RuntimeError):
    """The processes a map function ran in died, or failed in a way that is not the library's."""


class BatchWorker:
    """
    What runs on a worker: one batch in, one batch out, both as Arrow streams in a column named `rows`.

    Args:
        payload (`bytes`):
            The pickled map function. Each worker has its own copy and builds its own threads and event loop.
    """

    def __init__(self, payload: bytes) -> None:
        disable_progress_bars()
        self._function = pickle.loads(payload)

    def __call__(self, batch: pa.Table) -> pa.Table:
        return _batch([self._map(_unpack(stream.as_buffer())) for stream in batch["rows"]])

    def _map(self, table: pa.Table) -> pa.Table:
        rows = Dataset(InMemoryTable(table), fingerprint="ray")
        mapped = rows.map(
            self._function, batched=True, batch_size=None, keep_in_memory=True, new_fingerprint="ray-mapped"
        )
        return mapped.data.table


def ray_tables(
    rows: Dataset,
    function: Callable[[Any], Any],
    *,
    workers: int | None = None,
    batch_size: int | None = None,
) -> Iterator[pa.Table]:
    """
    Runs a batched map function on Ray and yields what it returns, batch by batch, in the order of the rows.

    Args:
        rows (`datasets.Dataset`):
            The rows.
        function (`Callable`):
            A batched map function.
        workers (`int`, *optional*):
            Processes; by default one for each CPU of the cluster.
        batch_size (`int`, *optional*):
            Rows handed to a worker at a time; by default a quarter of its share, 512 at most.

    Yields:
        `pyarrow.Table`: The rows of one batch.

    Raises:
        [`ConfigurationError`]: Ray is not installed, or the function cannot be sent to another process.
        [`WorkerError`]: Workers died.
    """
    for name, value in (("workers", workers), ("batch_size", batch_size)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise ConfigurationError(f"{name}={value!r} is not a whole number above 0; leave it out for the default")
    ray = _ray()
    payload = _pickled(function, ray.cloudpickle)
    with _quiet():
        workers = _connect(ray, workers)
        size = batch_size or _batch_rows(len(rows), workers, function)
        arrow = rows.with_format("arrow")
        batches = [_batch([arrow[start : start + size]]) for start in range(0, len(rows), size)]
        try:
            yield from _stream(ray, batches, payload, min(workers, len(batches)))
        except ray.exceptions.RayError as error:
            raise _own(error) from error


def _stream(ray: Any, batches: list[pa.Table], payload: bytes, workers: int) -> Iterator[pa.Table]:
    source = ray.data.from_arrow(batches)
    source.context.execution_options.preserve_order = True
    source.context.enable_progress_bars = False
    mapped = source.map_batches(
        BatchWorker,
        fn_constructor_args=(payload,),
        batch_size=None,
        batch_format="pyarrow",
        compute=ray.data.ActorPoolStrategy(size=workers),
        ray_remote_args_fn=lambda: {"max_restarts": _RESTARTS, "max_task_retries": _RESTARTS},
    )
    for batch in mapped.iter_batches(batch_size=None, batch_format="pyarrow"):
        for stream in batch["rows"]:
            yield _unpack(stream.as_buffer())


def ray_map(
    rows: Dataset,
    function: Callable[[Any], Any],
    *,
    workers: int | None = None,
    batch_size: int | None = None,
) -> Dataset:
    """
    `rows.map(function, batched=True)` on Ray: the same rows in the same order with the same types.

    A cluster the caller has joined (`ray.init(address=...)`, or the environment variable `RAY_ADDRESS`) is used as it
    is and left as it is. Without one, Ray is started on this machine and stays for the next call until the program
    ends or calls `ray.shutdown()`.

    Args:
        rows (`datasets.Dataset`):
            The rows.
        function (`Callable`):
            [`Rollout`], `Score` or another batched map function. It is pickled once, with whatever it holds, and may
            come from the main script or a notebook.
        workers (`int`, *optional*):
            Processes; by default one for each CPU of the cluster.
        batch_size (`int`, *optional*):
            Rows handed to a worker at a time; by default a quarter of its share, 512 at most.

    Returns:
        `datasets.Dataset`: On disk, in the cache of `datasets`.

    Raises:
        [`ConfigurationError`]: Ray is not installed, or the function cannot be sent to another process.
        [`WorkerError`]: Workers died.
    """
    if not len(rows):
        return rows.map(function, batched=True)
    folder = Path(config.HF_DATASETS_CACHE) / "whileai_hf"
    folder.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=folder, suffix=".arrow.tmp")
    os.close(handle)
    written = Path(name)
    try:
        with ArrowWriter(path=name) as writer:
            for table in ray_tables(rows, function, workers=workers, batch_size=batch_size):
                writer.write_table(table)
            writer.finalize()
    except BaseException:
        written.unlink(missing_ok=True)
        raise
    with written.open("rb") as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()[:16]
    # A name for each content: a Dataset of an equal run may have it mapped into memory, and keeps it.
    target = written.replace(folder / f"ray-{content}.arrow")
    info = rows.info.copy()
    info.features = None  # those of the file
    return Dataset(MemoryMappedTable.from_file(str(target)), info=info, split=rows.split, fingerprint=content)


def play_tasks(tasks: Dataset, rollout: Rollout, workers: int | None = None) -> Dataset:
    """
    Plays tasks on Ray: `tasks.map(rollout, batched=True)`, see [`ray_map`].

    Args:
        tasks (`datasets.Dataset`):
            The tasks.
        rollout ([`Rollout`]):
            What plays them; its `concurrency` holds for each worker.
        workers (`int`, *optional*):
            Processes; by default one for each CPU of the cluster.

    Raises:
        [`DataError`]: A task without a prompt, before Ray is started.
    """
    check_prompts(view(tasks))
    return ray_map(tasks, rollout, workers=workers)


def _ray() -> Any:
    try:
        ray = importlib.import_module("ray")
        importlib.import_module("ray.data")
    except ImportError as error:
        raise ConfigurationError(
            f"Ray Data cannot be imported ({error}); install it with pip install 'whileai-hf[ray]', or leave "
            "engine='ray' out"
        ) from error
    return ray


def _connect(ray: Any, workers: int | None) -> int:
    """Joins the cluster or starts one, and says how many workers to run."""
    if not ray.is_initialized():
        options: dict[str, Any] = {}
        if not os.environ.get("RAY_ADDRESS"):
            cpus = os.cpu_count() or 1
            options = {
                "address": "local",
                "num_cpus": max(cpus, workers or 1),
                "object_store_memory": _STORE_BYTES,
                "include_dashboard": False,
            }
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a library does not decide to report on its user
        ray.init(**options, log_to_driver=False, logging_level=logging.ERROR)
    return workers or max(1, int(ray.cluster_resources().get("CPU", 1)))


@contextmanager
def _quiet() -> Iterator[None]:
    """Ray Data says what it is doing on several lines an execution; only its errors are let through."""
    logger = logging.getLogger("ray.data")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _batch_rows(rows: int, workers: int, function: Any) -> int:
    share = math.ceil(rows / workers)
    wanted = math.ceil(share / _BATCHES_PER_WORKER)
    if isinstance(function, Rollout):
        wanted = max(wanted, math.ceil(_ROUNDS * function.config.concurrency / (function.config.repeats or 1)))
    return max(1, min(share, wanted, _MOST_ROWS))


class _NamedAgent(Agent):
    """An agent that keeps its name where its source cannot be read: a notebook's code is known to that notebook."""

    def __init__(self, agent: Any) -> None:
        super().__init__(agent)
        self.agent_id = agent_id(agent)


def _pickled(function: Any, pickler: Any) -> bytes:
    if isinstance(function, Rollout) and not isinstance(function.agent, Agent | Named):
        function = copy.copy(function)
        function.agent = _NamedAgent(function.agent)
    try:
        payload: bytes = pickler.dumps(function)
    except ConfigurationError:
        raise
    except Exception as error:  # picklers and reducers raise whatever they like
        raise ConfigurationError(
            f"{type(function).__name__} cannot be sent to another process ({type(error).__name__}: {error:.200}); let "
            "the agent or judge make its client on first use, or run without Ray"
        ) from error
    return payload


def _own(error: BaseException) -> WhileaiError:
    """What a failure on a worker means here: our own error as it was raised, everything else in one sentence."""
    seen: BaseException | None = error
    while seen is not None:
        cause = getattr(seen, "cause", None)
        if isinstance(cause, WhileaiError):
            return cause
        seen = cause if isinstance(cause, BaseException) else seen.__cause__
    lines = str(error).strip().splitlines()
    return WorkerError(f"the workers gave up: {lines[-1] if lines else type(error).__name__}")


def _batch(tables: list[pa.Table]) -> pa.Table:
    return pa.table({"rows": pa.array([_pack(table) for table in tables], pa.large_binary())})


def _pack(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _unpack(content: pa.Buffer) -> pa.Table:
    return pa.ipc.open_stream(content).read_all()
