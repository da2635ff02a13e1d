"""Fingerprints of the library's map functions.

`datasets` names the cached result of a `map` after a hash of the function object. That hash must follow what decides
the rows (the source of a user's judge, the spec) and nothing else (a lock, an HTTP client, a counter), so each map
function states it in `hash_state()`. Pickling for `num_proc` is a different matter and stays as it is.
"""

from __future__ import annotations

from typing import Any

from datasets.utils import _dill


def _save_state(pickler: Any, obj: Any) -> None:
    pickler.save_reduce(tuple, (("whileai_hf", type(obj).__name__, *map(str, obj.hash_state())),), obj=obj)


def register_hash(kind: type) -> None:
    """
    Makes `Dataset.map` fingerprint objects of `kind` by their `hash_state()`.

    Args:
        kind (`type`):
            A class with a method `hash_state() -> list`, whose items have a stable `str`.
    """
    # The Pickler of this module is used by datasets' Hasher alone; multiprocessing pickles with plain dill.
    _dill.pklregister(kind)(_save_state)


def source_of(function: Any) -> str | None:
    """The source text of a function or class as it stands on disk now, `None` when there is none."""
    import inspect
    import linecache

    linecache.checkcache()
    try:
        return inspect.getsource(inspect.unwrap(function))
    except (OSError, TypeError):
        return None
