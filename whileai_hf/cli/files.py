"""What a command line names: objects by `module:attr`, and where rows are written."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from datasets import Dataset, disable_progress_bars

from whileai_hf.errors import ConfigurationError
from whileai_hf.rows import dumps, view


def load_object(name: str, flag: str) -> Any:
    """
    The object a flag names.

    Args:
        name (`str`):
            `package.module:attr`, importable from the working directory, or `path/to/file.py:attr`.
        flag (`str`):
            The flag, for the error.

    Raises:
        [`ConfigurationError`]: There is no colon, no such module or no such attribute.

    Examples:
    ```python
    >>> load_object("math:sqrt", "--judge")(9)
    3.0

    ```
    """
    module_name, _, attribute = name.rpartition(":")
    if not module_name or not attribute:
        raise ConfigurationError(f"{flag} {name}: expected MODULE:ATTR or FILE.py:ATTR, as in my_agent:agent")
    module = _load_file(module_name, flag) if module_name.endswith(".py") else _load_module(module_name, flag)
    value: Any = module
    for part in attribute.split("."):
        if not hasattr(value, part):
            raise ConfigurationError(
                f"{flag} {name}: {module_name} has no {attribute!r}; check the name after the colon"
            )
        value = getattr(value, part)
    return value


def _load_module(name: str, flag: str) -> Any:
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))  # an installed script does not look in the working directory by itself
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name + ".").startswith(error.name + "."):
            raise  # the module exists and misses something of its own: its traceback is the message
        raise ConfigurationError(
            f"{flag} {name}: no such module, not in {Path.cwd()} either; check its name"
        ) from error


def _load_file(path: str, flag: str) -> Any:
    file = Path(path).expanduser().resolve()
    if not file.is_file():
        raise ConfigurationError(f"{flag} {path}: no such file; check the path before the colon")
    sys.path.insert(0, str(file.parent))  # imported by name, so that worker processes find it too
    module = importlib.import_module(file.stem)
    if Path(module.__file__ or "").resolve() != file:
        raise ConfigurationError(f"{flag} {path}: another module is called {file.stem!r} already; rename the file")
    return module


def check_output(path: str | None) -> None:
    """
    Refuses an output that [`write_rows`] could not write, before a command starts its work.

    Raises:
        [`ConfigurationError`]: The suffix is none of those it knows.
    """
    if path is not None and Path(path).suffix not in ("", ".jsonl", ".parquet"):
        raise ConfigurationError(f"--output {path}: expected .jsonl, .parquet, or a folder name without a suffix")


def write_rows(rows: Dataset, path: str) -> Path:
    """
    Writes rows where their name says.

    Args:
        rows (`Dataset`):
            What to write.
        path (`str`):
            `*.jsonl` (one canonical JSON object a line), `*.parquet`, or a folder for `Dataset.save_to_disk`.
    """
    check_output(path)
    disable_progress_bars()  # one line says where the rows went; a bar for it is noise
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.suffix == ".jsonl":
        write_jsonl(view(rows).rows(), target)
    elif target.suffix == ".parquet":
        rows.to_parquet(str(target))
    else:
        rows.save_to_disk(str(target))
    return target


def write_jsonl(rows: Iterable[Mapping[str, Any]], target: Path) -> None:
    """Writes mappings as one JSON object a line."""
    with target.open("wb") as lines:
        for row in rows:
            lines.write(dumps(row) + b"\n")


def json_text(report: Mapping[str, Any]) -> str:
    """A report as the one line of JSON that `--json` prints."""
    return dumps(dict(report)).decode()
