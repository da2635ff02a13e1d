"""`evaluate`: an environment played by a model in this process, without a command line and without files."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import os
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import Any, TypedDict, TypeVar, Unpack

from datasets import Dataset

from whileai_hf.actors.models import Model, as_model
from whileai_hf.actors.models.endpoint import Endpoint, parse
from whileai_hf.errors import ConfigurationError
from whileai_hf.export.environment import EnvironmentSpec
from whileai_hf.export.package.reading import EnvironmentPackage, load_package
from whileai_hf.export.verifiers.memory import as_package
from whileai_hf.export.verifiers.reading import rows_of
from whileai_hf.knobs import overlay
from whileai_hf.rows.view import Row


Result = TypeVar("Result")
# Where the endpoint's key is for the length of a run: a key in a config would end up in every recorded rollout.
_KEY_VARIABLE = "WHILEAI_HF_POLICY_KEY"


@dataclasses.dataclass(frozen=True)
class EvaluationConfig:
    """
    Knobs of [`evaluate`]. Every field is also a keyword of it.

    Examples:
    ```python
    >>> EvaluationConfig(temperature=1.0).split
    'holdout'

    ```
    """

    split: str = field(default="holdout", metadata={"help": "train or holdout"})
    temperature: float | None = field(default=None, metadata={"help": "sampling temperature; the server's by default"})
    max_tokens: int | None = field(default=None, metadata={"help": "tokens of one reply"})
    max_turns: int | None = field(default=None, metadata={"help": "turns of one rollout; those of the environment"})
    concurrency: int = field(default=32, metadata={"help": "rollouts in flight"})
    api_key: str | None = field(default=None, metadata={"help": "key of the endpoint, else from the environment"})
    reward: str | None = field(default=None, metadata={"help": "another reward, module:attr"})

    def __post_init__(self) -> None:
        if self.split not in ("train", "holdout"):
            raise ConfigurationError(f"split={self.split!r} is neither 'train' nor 'holdout'")
        for name in ("max_tokens", "max_turns", "concurrency"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise ConfigurationError(f"{name}={value!r} is not a whole number, 1 or more")


class EvaluationKnobs(TypedDict, total=False):
    """The fields of [`EvaluationConfig`] as keywords."""

    split: str
    temperature: float | None
    max_tokens: int | None
    max_turns: int | None
    concurrency: int
    api_key: str | None
    reward: str | None


def evaluate(
    environment: Any,
    model: Any,
    *,
    n: int | None = None,
    k: int = 1,
    config: EvaluationConfig | None = None,
    **knobs: Unpack[EvaluationKnobs],
) -> Dataset:
    """
    Plays an exported environment with verifiers, and returns the rollouts.

    Args:
        environment (path, Hub repo id, [`EnvironmentPackage`] or [`EnvironmentSpec`]):
            What [`export_environment`] wrote, or an environment that was made in this process.
        model (`str`, [`Model`] or `Callable`):
            The policy, as for [`~whileai_hf.actors.models.as_model`]: `vllm:<model>@<url>`, `openai:<model>`, a chat
            callable, a scripted model. One of this process is served on loopback.
        n (`int`, *optional*):
            Tasks, from the first on; all of the split by default.
        k (`int`, *optional*, defaults to `1`):
            Rollouts of each.
        config ([`EvaluationConfig`], *optional*):
            Further knobs.
        **knobs:
            Fields of [`EvaluationConfig`]: `split`, `temperature`, `max_tokens`, `max_turns`, `concurrency`,
            `api_key`, `reward`.

    Returns:
        `datasets.Dataset`: A graded row per rollout, tasks in their order, as [`from_traces`] reads them. None is left
        out: one that failed has `rollout_status` `"error"` and no reward.

    Raises:
        [`ConfigurationError`]: verifiers 0.4 is not installed, or an argument is wrong.
    """
    settings = overlay(EvaluationConfig, config, knobs)
    for name, value in (("n", n), ("k", k)):
        if (value is not None or name == "k") and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise ConfigurationError(f"{name}={value!r} is not a whole number, 1 or more")
    package = package_of(environment)
    if not package.lines(settings.split):
        other = "train" if settings.split == "holdout" else "holdout"
        raise ConfigurationError(f"{package.name} has no tasks in split={settings.split!r}; pass split={other!r}")
    _check_installed()
    package.reward()
    endpoint = _endpoint(model, settings)
    with _key(endpoint.key if isinstance(endpoint, Endpoint) else None):
        episodes = _run(_play(package, endpoint, n, k, settings))
    return rows_of(episodes)


def package_of(environment: Any) -> EnvironmentPackage:
    """The package behind whatever names an environment."""
    if isinstance(environment, EnvironmentPackage):
        return environment
    return as_package(environment) if isinstance(environment, EnvironmentSpec) else load_package(environment)


def verifiers_environment(environment: Any, **knobs: Unpack[EvaluationKnobs]) -> Any:
    """
    An environment as the object that verifiers 0.4 and its trainers take.

    Args:
        environment (path, Hub repo id, [`EnvironmentPackage`] or [`EnvironmentSpec`]):
            It need not be installed.
        **knobs:
            Fields of [`EvaluationConfig`]; `split`, `max_turns` and `reward` are read.

    Returns:
        `verifiers.v1.Env`: With its task set and its harness.

    Raises:
        [`ConfigurationError`]: verifiers 0.4 is not installed.
    """
    return _environment(package_of(environment), overlay(EvaluationConfig, None, knobs))


def _environment(package: EnvironmentPackage, settings: EvaluationConfig) -> Any:
    _check_installed()
    import verifiers.v1 as vf

    package.imported()
    task: Row = {} if settings.reward is None else {"reward": settings.reward}
    agent: Row = {} if settings.max_turns is None else {"max_turns": settings.max_turns}
    given: Row = {"taskset": {"id": package.module, "split": settings.split, **({"task": task} if task else {})}}
    return vf.load_environment(vf.resolve_env_config({**given, **({"agent": agent} if agent else {})}))


def _check_installed() -> None:
    try:
        import verifiers.v1  # noqa: F401
        from verifiers.v1.taskset import Taskset  # noqa: F401
    except ImportError as error:
        raise ConfigurationError(
            f"this needs verifiers 0.4 ({error}); install it with pip install 'verifiers>=0.4,<0.5'"
        ) from error


def _endpoint(model: Any, settings: EvaluationConfig) -> Endpoint | Model:
    """Where the policy is: an endpoint that verifiers can ask, or a model that has to be served to it."""
    if isinstance(model, str) and not model.startswith("transformers:"):
        endpoint = parse(model)
        if settings.api_key is not None:
            endpoint = dataclasses.replace(endpoint, key=settings.api_key)
        if endpoint.model:
            return endpoint
    return as_model(model)


@contextmanager
def _key(key: str | None) -> Iterator[None]:
    if key is None:
        yield
        return
    before = os.environ.get(_KEY_VARIABLE)
    os.environ[_KEY_VARIABLE] = key
    try:
        yield
    finally:
        if before is None:
            del os.environ[_KEY_VARIABLE]
        else:
            os.environ[_KEY_VARIABLE] = before


def _run(work: Coroutine[Any, Any, Result]) -> Result:
    """Runs to the end, also where the caller's thread has a loop that runs, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    done: list[Result] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(asyncio.run(work))
        except BaseException as error:  # handed to the caller, whose thread this is done for
            failed.append(error)

    thread = threading.Thread(target=run, name="whileai-evaluate", daemon=True)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return done[0]


async def _play(
    package: EnvironmentPackage, endpoint: Endpoint | Model, n: int | None, k: int, settings: EvaluationConfig
) -> list[Row]:
    if isinstance(endpoint, Endpoint):
        return await _episodes(package, endpoint.url, endpoint.sent_model, n, k, settings)
    from whileai_hf.export.verifiers.serving import ModelServer  # its HTTP server comes with verifiers

    async with ModelServer(endpoint) as server:
        return await _episodes(package, server.url, endpoint.name, n, k, settings)


async def _episodes(
    package: EnvironmentPackage, url: str, model: str, n: int | None, k: int, settings: EvaluationConfig
) -> list[Row]:
    import verifiers.v1 as vf

    env = _environment(package, settings)
    sampling = {"temperature": settings.temperature, "max_tokens": settings.max_tokens}
    context = vf.ModelContext(
        client=vf.EvalClientConfig(base_url=url, api_key_var=_KEY_VARIABLE),
        model=model,
        sampling=vf.SamplingConfig(**{name: value for name, value in sampling.items() if value is not None}),
    )
    tasks = list(env.taskset if n is None else env.taskset.take(n))
    gate = asyncio.Semaphore(settings.concurrency)
    play = functools.partial(env.run_slot, ctx=context, semaphore=gate)
    async with env.serving():
        episodes = await asyncio.gather(*(play(slot) for task in tasks for slot in env.slots(task, k)))
    return [episode.model_dump(mode="json", exclude_none=True) for episode in episodes]
