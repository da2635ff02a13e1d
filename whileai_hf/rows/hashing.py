"""Fingerprints of the library's map functions.

`datasets` names the cached result of a `map` after a hash of the function object. That hash must follow what decides
the rows (the source of a user's judge, the spec) and nothing else (a lock, an HTTP client, a counter), so each map
function states it in `hash_state()`. Pickling for `num_proc` is a different matter and stays as it is.
"""

from __future__ import annotations

import inspect
import linecache
import logging
from typing import Any


_logger = logging.getLogger("whileai_hf")


def _save_state(pickler: Any, obj: Any) -> None:
    pickler.save_reduce(tuple, (("whileai_hf", type(obj).__name__, *map(str, obj.hash_state())),), obj=obj)


def register_hash(kind: type) -> None:
    """
    Makes `Dataset.map` fingerprint objects of `kind` by their `hash_state()`.

    Args:
        kind (`type`):
            A class with a method `hash_state() -> list`, whose items have a stable `str`.
    """
    try:
        # The pickler of datasets' Hasher, and nothing else's: sending work to processes uses plain dill.
        from datasets.utils._dill import pklregister
    except ImportError:  # private, so it may move: then functions are hashed by name and an edit is not noticed
        _logger.warning("this version of datasets hashes %s by name: pass version= to what you edit", kind.__name__)
    else:
        pklregister(kind)(_save_state)


def source_of(function: Any) -> str | None:
    """The source text of a function or class as it stands on disk now, `None` when there is none."""
    linecache.checkcache()
    try:
        return inspect.getsource(inspect.unwrap(function))
    except (OSError, TypeError):
        return None
