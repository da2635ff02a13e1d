"""Where a model is served, as part of who it is: one name at two addresses may be two models."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from whileai_hf.actors.models import Model
from whileai_hf.actors.models.endpoint import Endpoint
from whileai_hf.rows.rng import digest


_DIGITS = 6


@runtime_checkable
class _Served(Protocol):
    """A model behind an endpoint."""

    endpoint: Endpoint


@runtime_checkable
class _Wrapping(Protocol):
    """A model that asks another one, such as one whose calls are kept."""

    model: Any


def address_of(model: Model) -> str | None:
    """The URL a model is asked at, without user, password and query; `None` for one in this process."""
    if isinstance(model, _Served) and isinstance(model.endpoint, Endpoint):
        return model.endpoint.shown
    if isinstance(model, _Wrapping) and isinstance(model.model, Model):
        return address_of(model.model)
    return None


def version_of(model: Model, prompt_hash: str) -> str:
    """`<model>@<prompt hash>`, and for a served model a digest of where."""
    address = address_of(model)
    return f"{model.name}@{prompt_hash}" + ("" if address is None else f"-{digest(address, length=_DIGITS)}")
