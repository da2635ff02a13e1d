"""Map functions on Ray Data: what `Dataset.map` does on one machine, over the processes or machines of a Ray cluster.

Ray brings the scheduling, the actors and the retries; this module only carries rows there and back, as streams Ray
does not look into (`remote`): its own batches hand `Json` columns over as text and infer types anew for every block.
"""

from __future__ import annotations

import hashlib
import inspect
import logging
import math
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from datasets import Dataset, config
from datasets.arrow_writer import ArrowWriter
from datasets.table import MemoryMappedTable

from whileai_hf.engine.given import check_prompts
from whileai_hf.engine.remote import BatchWorker, WorkerError, pickled, received_rows, sent_batch
from whileai_hf.engine.rollout import Rollout
from whileai_hf.errors import ConfigurationError
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
    payload = pickled(function, ray.cloudpickle)
    with _quiet():
        workers = _connect(ray, workers)
        size = batch_size or _batch_rows(len(rows), workers, function)
        arrow = rows.with_format("arrow")
        batches = [ray.put(sent_batch(arrow[start : start + size])) for start in range(0, len(rows), size)]
        try:
            for batch in _mapped(ray, batches, payload, min(workers, len(batches))):
                yield from received_rows(batch)
        except ray.exceptions.RayError as error:
            line = str(error).strip().partition("\n")[0]
            raise WorkerError(
                f"the workers gave up ({type(error).__name__}: {line:.200}); an agent or judge that crashes its "
                "process or fills the memory does this: try it on a few rows without Ray"
            ) from error


def _mapped(ray: Any, batches: list[Any], payload: bytes, workers: int) -> Iterator[pa.Table]:
    """The execution on Ray Data: batches of `rows` and `error`, in order."""
    source = ray.data.from_arrow_refs(batches)
    source.context.execution_options.preserve_order = True
    source.context.enable_progress_bars = False
    # Left alone, Ray starts a crashing worker again without end. It has announced to drop these arguments.
    parameters = inspect.signature(source.map_batches).parameters.values()
    limits = {"max_restarts": _RESTARTS, "max_task_retries": _RESTARTS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        mapped = source.map_batches(
            BatchWorker,
            fn_constructor_args=(payload,),
            batch_size=None,
            batch_format="pyarrow",
            compute=ray.data.ActorPoolStrategy(size=workers),
            **(limits if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters) else {}),
        )
    yield from mapped.iter_batches(batch_size=None, batch_format="pyarrow")


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
        import ray
        import ray.data
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
    """Ray Data reports every execution on several lines and a failure on hundreds; here it is raised in one."""
    logger = logging.getLogger("ray.data")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
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
