"""What a run trained, as a server needs it: the folder, and the model an adapter sits on."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import orjson

from whileai_hf.errors import ConfigurationError, SourceNotFoundError
from whileai_hf.training.runs import TrainingRun, get_run
from whileai_hf.training.runs.record import FAILED, RUNNING


_ADAPTER = "adapter_config.json"
_REPO = "https://huggingface.co/"


@dataclasses.dataclass(frozen=True)
class Weights:
    """
    Weights to serve.

    Args:
        place (`str`):
            A folder, or a repo on the Hub.
        base (`str`):
            The model an adapter sits on; `place` itself for a whole model.
        run (`str`, *optional*):
            Id of the run.
    """

    place: str
    base: str
    run: str | None = None

    @property
    def is_adapter(self) -> bool:
        """Whether they need the base model."""
        return self.base != self.place

    @property
    def is_local(self) -> bool:
        """Whether they are on this machine."""
        return Path(self.place).is_dir()


def find_weights(source: Any) -> Weights:
    """
    The weights of a run, of a folder or of a repo.

    Args:
        source ([`TrainingRun`] or `str` or `Path`):
            A run, its id, a folder, or a model repo.

    Raises:
        [`ConfigurationError`]: A run without weights, or one that is not done.
        [`SourceNotFoundError`]: Weights that are gone.
    """
    if isinstance(source, str) and source.startswith("run-") and not Path(source).exists():
        source = get_run(source)
    if not isinstance(source, TrainingRun):
        return _at(str(source), None, None)
    record = source.refresh().record
    if record.status in (RUNNING, FAILED):
        raise ConfigurationError(f"{record.id} is {record.status}; serve a run that is done, run.wait() waits for it")
    if record.adapter is None:
        raise ConfigurationError(f"{record.id} names no weights; say where they are with run.finish(adapter=folder)")
    return _at(record.adapter.removeprefix(_REPO), record.base_model, record.id)


def _at(place: str, base: str | None, run: str | None) -> Weights:
    folder = Path(place).expanduser()
    if not folder.is_dir():
        if place.count("/") != 1 or place.startswith((".", "/", "~")):
            raise SourceNotFoundError(f"there are no weights in {place}; pass a folder, a model repo, or another run")
        return Weights(place, base or place, run)
    path = str(folder.resolve())
    if (folder / _ADAPTER).is_file():
        said = orjson.loads((folder / _ADAPTER).read_bytes()).get("base_model_name_or_path")
        return Weights(path, str(said or base), run)
    if not (folder / "config.json").is_file():
        raise SourceNotFoundError(
            f"{folder} holds neither an adapter nor a model; pass the output folder of a trainer"
        )
    return Weights(path, path, run)
