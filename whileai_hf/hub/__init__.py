"""The Hub: push a run, pull exactly that push again, and keep the repos that belong to an agent in order.

A data set is a dataset repo that plain `load_dataset` reads: Parquet, a card, and `run.json` with where the rows came
from. Every push is one commit and one tag. How bytes travel (resolving a revision, committing, retrying) is
`store.repos`; what may leave the machine is decided by `select.publish_gate`. Nothing here trains or measures.

Names load on first use. To add one, write it in a module of this room and name it in `_EXPORTS`.
"""

from __future__ import annotations

from importlib import import_module


TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

_EXPORTS: dict[str, str] = {}

__all__: list[str] = []


def __getattr__(name: str) -> object:
    module = _EXPORTS.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"{__name__}.{module}"), name)
