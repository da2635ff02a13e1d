"""What a program trains on and what it holds out, out of one source or two."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from datasets import Dataset, DatasetDict, load_from_disk

from whileai_hf.errors import DataError, SourceNotFoundError
from whileai_hf.measure.hygiene import split
from whileai_hf.rows import open_rows, task_keys, view
from whileai_hf.rows.snapshots import read_repo


# Names under which a source with splits keeps what is not trained on, in the order they are looked for.
HELD_OUT = ("holdout", "eval", "test", "validation")
_SPLITS = "dataset_dict.json"


@dataclasses.dataclass(frozen=True)
class Material:
    """
    Rows of both sides.

    Args:
        train (`datasets.Dataset`):
            What is trained on.
        held_out (`datasets.Dataset`, *optional*):
            What is not; `None` without.
        notes (`tuple[str, ...]`):
            Where the held-out side comes from.
    """

    train: Dataset
    held_out: Dataset | None
    notes: tuple[str, ...] = ()


def read_material(data: Any, holdout: Any = None, *, share: float = 0.2, seed: int = 0) -> Material:
    """
    Opens the data and what is held out: rows of their own, else the split beside the training rows, else a share.

    Args:
        data (`datasets.Dataset`, `DatasetDict`, `list[dict]`, path or `namespace/name[@tag]`):
            The data.
        holdout (as `data`, *optional*):
            Held-out rows.
        share (`float`, *optional*, defaults to `0.2`):
            Share of the tasks to hold out where neither is there; 0 for none.
        seed (`int`, *optional*, defaults to `0`):
            Seed of the split.

    Raises:
        [`DataError`]: A task is on both sides, or there are too few to hold some out.

    Examples:
    ```python
    >>> material = read_material([{"task_id": str(n), "prompt": f"Ask {n}"} for n in range(10)])
    >>> len(material.train) + len(material.held_out)
    10

    ```
    """
    train, beside = _sides(data)
    if holdout is not None:
        held, note = _sides(holdout), f"held out: {holdout}" if isinstance(holdout, str) else "held out: rows given"
        material = Material(train, held[1] if held[1] is not None else held[0], (note,))
    elif beside is not None:
        material = Material(train, beside, ("held out: the split beside the training rows",))
    elif share:
        parts = split(train, holdout=share, seed=seed)
        return Material(parts["train"], parts["holdout"], (f"held out: {share:g} of the tasks of the data",))
    else:
        return Material(train, None)
    _check_apart(material)
    return material


def _sides(source: Any) -> tuple[Dataset, Dataset | None]:
    if isinstance(source, str | Path):
        path = Path(source).expanduser()
        if (path / _SPLITS).is_file():
            source = load_from_disk(str(path))
        elif not path.exists() and "/" in str(source):
            return _repo(str(source))
    if not isinstance(source, DatasetDict):
        return open_rows(source), None
    name = next((name for name in HELD_OUT if name in source), None)
    rest = [other for other in source if other != name]
    trained = "train" if "train" in source else rest[0] if len(rest) == 1 else None
    if trained is None:
        raise DataError(f"the data has the splits {', '.join(source)}; pass one of them, and holdout= for the other")
    return source[trained], None if name is None else source[name]


def _repo(name: str) -> tuple[Dataset, Dataset | None]:
    repo, _, revision = name.partition("@")
    train = read_repo(repo, revision=revision or None).dataset
    for split_name in HELD_OUT:
        try:
            return train, read_repo(repo, revision=revision or None, split=split_name).dataset
        except SourceNotFoundError:  # no split of this name
            continue
    return train, None


def _check_apart(material: Material) -> None:
    if material.held_out is None:
        return
    trained = set(task_keys(view(material.train)))
    shared = [key for key in dict.fromkeys(task_keys(view(material.held_out))) if key in trained]
    if shared:
        raise DataError(
            f"{len(shared)} held-out tasks are trained on as well, the first is {shared[0]!r:.60}: they cannot say "
            "whether training worked; take them out of one side, or leave holdout out and a share is split off by task"
        )
