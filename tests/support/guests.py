"""Modules that plug into another program and so import it at the top: nothing else may import them at the top."""

from importlib.util import find_spec
from pathlib import PurePosixPath


# By the package that each needs, paths under whileai_hf/.
GUESTS = {
    "pytest": ("testing/plugin.py",),
    "transformers": (
        "training/callback.py",
        "training/watching.py",
        "training/monitor/callback.py",
        "training/launching/program.py",
    ),
    "verifiers": tuple(
        f"export/verifiers/{name}.py" for name in ("harness", "servers", "serving", "taskdata", "v0", "v1")
    ),
}
# What comes with a package of an extra, and is not asked for by itself.
COMPANIONS = {"openenv": {"uvicorn"}, "verifiers": {"aiohttp", "mcp", "pydantic"}}


def may_import(path: str, name: str) -> bool:
    """May this module of ours import that package at the top?"""
    return any(path in paths and (name == host or name in COMPANIONS.get(host, ())) for host, paths in GUESTS.items())


def homeless() -> list[str]:
    """Guests whose host is not installed here, as paths under whileai_hf/."""
    return [path for host, paths in GUESTS.items() if find_spec(host) is None for path in paths]


def module_of(path: str) -> str:
    """The name to import a path under whileai_hf/ by."""
    return ".".join(("whileai_hf", *PurePosixPath(path).with_suffix("").parts))
