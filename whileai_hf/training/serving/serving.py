"""`serve`, `models` and `unserve`."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Unpack

from whileai_hf.errors import ConfigurationError, SourceNotFoundError, WhileaiError
from whileai_hf.knobs import overlay
from whileai_hf.training.serving.config import ServeConfig, ServeKnobs
from whileai_hf.training.serving.endpoints import end_endpoint, start_endpoint
from whileai_hf.training.serving.identity import process_of
from whileai_hf.training.serving.merging import merge_adapter
from whileai_hf.training.serving.registry import (
    LOG,
    Served,
    all_served,
    end_process,
    folder_of,
    forget,
    recall,
    remember,
)
from whileai_hf.training.serving.servers import SERVERS, choose_server, own_command, shown_name
from whileai_hf.training.serving.weights import Weights, find_weights


PLACES = ("auto", *SERVERS, "endpoint")
# Seconds between two looks at a server that comes up, and of one look.
_LOOK_AGAIN, _ONE_LOOK = 0.5, 5.0
# Characters of a server's log that an error quotes.
_QUOTED = 600


def serve(
    name: str, source: Any, *, where: str = "auto", config: ServeConfig | None = None, **knobs: Unpack[ServeKnobs]
) -> Served:
    """
    Starts an OpenAI-compatible endpoint for what was trained, and returns once it answers.

    The server outlives this process; [`unserve`] ends it. A name that is being served already gives that endpoint when
    the weights are the same.

    Args:
        name (`str`):
            What requests call the model, `"refund-v2"`.
        source ([`TrainingRun`] or `str` or `Path`):
            A run that is done, its id, the folder a trainer wrote, or a model repo.
        where (`str`, *optional*, defaults to `"auto"`):
            `"vllm"` or `"transformers"` (`transformers serve`) on this machine, by default the first that is
            installed; `"endpoint"` for an Inference Endpoint, for weights that are on the Hub.
        config ([`ServeConfig`], *optional*):
            Further knobs as one object.
        **knobs:
            Fields of [`ServeConfig`]: `host`, `port`, `timeout`, `command` (a server of your own), `flags`, ...

    Returns:
        [`Served`]: A mapping with `endpoint` (base URL) and `model`; pass both to `local_model`.

    Raises:
        [`ConfigurationError`]: No server is installed, a run that is not done, or a name that serves something else.
        [`SourceNotFoundError`]: There are no weights.
        [`WhileaiError`]: The server did not come up; the message quotes its log.
    """
    settings = overlay(ServeConfig, config, knobs)
    if where not in PLACES:
        raise ConfigurationError(f"where={where!r}; serve knows {', '.join(map(repr, PLACES))}")
    weights = find_weights(source)
    folder, running = folder_of(name), recall(name)
    if running is not None:
        if running.weights == weights.place:
            return running
        raise ConfigurationError(
            f"{name!r} serves {running.weights} already; unserve({name!r}) first, or pick another name"
        )
    folder.mkdir(parents=True, exist_ok=True)
    if where == "endpoint":
        served = start_endpoint(name, weights, settings)
    else:
        served = _start(name, weights, where, settings, folder)
    remember(served)
    return served


def models() -> list[Served]:
    """
    The models that are being served, the latest first.

    Returns:
        `list[Served]`: Those [`serve`] started and nobody ended.

    Examples:
    ```python
    >>> [served.name for served in models()]
    []

    ```
    """
    return all_served()


def unserve(name: str) -> None:
    """
    Ends what serves a model.

    Args:
        name (`str`):
            As it was served.

    Raises:
        [`SourceNotFoundError`]: Nothing of this name is being served.
    """
    served = recall(name)
    if served is None:
        forget(name)
        there = ", ".join(one.name for one in all_served()) or "nothing is"
        raise SourceNotFoundError(f"no model {name!r} is being served; {there}")
    if served.process is None:
        end_endpoint(served)
    else:
        end_process(served.process)
    forget(name)


def _start(name: str, weights: Weights, where: str, settings: ServeConfig, folder: Path) -> Served:
    port = settings.port or _free_port(settings.host)
    if settings.command is not None:
        server, command = "own", own_command(settings.command, weights, name, settings.host, port)
    else:
        server = choose_server(where)
        command = SERVERS[server](weights, name, settings.host, port)
    if server == "transformers" and weights.is_adapter:
        merge_adapter(weights, folder / name)
    elif weights.is_local:
        _link(folder / name, Path(weights.place))
    with (folder / LOG).open("wb") as log:
        try:
            child = subprocess.Popen(
                [*command, *settings.flags],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise ConfigurationError(f"{command[0]} cannot be started ({error})") from error
    process = process_of(child.pid)
    endpoint = f"http://{settings.host}:{port}/v1"
    try:
        _await_server(endpoint, child, settings.timeout, folder / LOG)
    except BaseException:
        end_process(process)
        child.wait()
        raise
    model = name if server == "own" else shown_name(server, weights, name)
    return Served(name, endpoint, model, server, weights.place, weights.run, process, time.time())


def _link(link: Path, target: Path) -> None:
    if link.is_symlink():
        link.unlink()
    elif link.is_dir():
        shutil.rmtree(link)
    link.symlink_to(target, target_is_directory=True)


def _free_port(host: str) -> int:
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def _await_server(endpoint: str, child: subprocess.Popen[bytes], timeout: float, log: Path) -> None:
    until = time.monotonic() + timeout
    while time.monotonic() < until:
        if child.poll() is not None:
            raise WhileaiError(f"the server ended with {child.returncode}: {_tail(log)}")
        try:
            with urllib.request.urlopen(f"{endpoint}/models", timeout=_ONE_LOOK):
                return
        except urllib.error.HTTPError:
            return  # it answers, and that is all that was asked
        except OSError:
            time.sleep(_LOOK_AGAIN)
    raise WhileaiError(f"the server did not answer within {timeout:g} seconds: {_tail(log)}")


def _tail(log: Path) -> str:
    return " ".join(log.read_text(encoding="utf-8", errors="replace").split())[-_QUOTED:] or "its log is empty"
