"""Which metrics a before/after comparison is about, and what each is in it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.compare.arguments import shown
from whileai_hf.measure.metrics import REWARD, Measured, find_metric


def guard_names(must_not_regress: Any) -> list[str]:
    """What must not regress, as a list; one name may stand alone."""
    if isinstance(must_not_regress, str):
        return [must_not_regress]
    if not isinstance(must_not_regress, Collection):
        raise ConfigurationError(
            f"must_not_regress={shown(must_not_regress)} names no metrics; pass a list of their names, empty for none"
        )
    return list(must_not_regress)


def roles_of(
    sides: tuple[Measured, Measured], target: str, guards: list[str], proxy: str | None
) -> tuple[dict[str, str], str | None]:
    """Every metric compared, the target first, with its role, and the proxy, which may be a guard as well."""
    shared = [name for name in sides[0].names if name in sides[1].names]
    finders = [side.find for side in sides]

    def known() -> list[str]:
        return shared

    roles = {find_metric(target, finders, known, "target"): "target"}
    for guard in guards:
        roles.setdefault(find_metric(guard, finders, known, "must_not_regress"), "guard")
    pushed = None if proxy is None else find_metric(proxy, finders, known, "proxy")
    if pushed is not None:
        if roles.get(pushed) == "target":
            raise ConfigurationError(
                f"proxy={proxy!r} is the target itself; name the metric training pushed on, or leave it out"
            )
        roles.setdefault(pushed, "proxy")
    for name in shared:
        if name != REWARD:  # the reward behind pass_at_1 would be one and the same finding twice
            roles.setdefault(name, "other")
    return roles, pushed
