"""The Hub: push a run, pull exactly that push again, and keep the repos that belong to an agent in order.

A data set is a dataset repo that plain `load_dataset` reads: Parquet, a card, and `run.json` with where the rows came
from. Every push is one commit and one tag. How bytes travel (resolving a revision, committing, retrying) is
`store.repos`; what may leave the machine is decided by `select.publish_gate`. Nothing here trains or measures.

Names load on first use. To add one, write it in a module of this room and name it in `_EXPORTS`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING


if TYPE_CHECKING:
    from whileai_hf.hub.lifecycle import publish, update_dataset
    from whileai_hf.hub.listing import catalog, datasets
    from whileai_hf.hub.models import push_adapter
    from whileai_hf.hub.profiling import preview, profile
    from whileai_hf.hub.pulling import pull
    from whileai_hf.hub.pushing import PushConfig, push
    from whileai_hf.hub.registering import agents, register_agent
    from whileai_hf.hub.removal import delete_dataset
    from whileai_hf.hub.sessions import export_session_traces
    from whileai_hf.hub.status import hf_status

_EXPORTS = {
    "PushConfig": "pushing",
    "agents": "registering",
    "catalog": "listing",
    "datasets": "listing",
    "delete_dataset": "removal",
    "export_session_traces": "sessions",
    "hf_status": "status",
    "preview": "profiling",
    "profile": "profiling",
    "publish": "lifecycle",
    "pull": "pulling",
    "push": "pushing",
    "push_adapter": "models",
    "register_agent": "registering",
    "update_dataset": "lifecycle",
}

__all__ = [
    "PushConfig",
    "agents",
    "catalog",
    "datasets",
    "delete_dataset",
    "export_session_traces",
    "hf_status",
    "preview",
    "profile",
    "publish",
    "pull",
    "push",
    "push_adapter",
    "register_agent",
    "update_dataset",
]


def __getattr__(name: str) -> object:
    module = _EXPORTS.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"{__name__}.{module}"), name)
