"""What a command line names: objects by `module:attr`, and where rows are written."""

from __future__ import annotations

import importlib
import sys
import tempfile
import traceback
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from datasets import Dataset, disable_progress_bars

from whileai_hf.errors import ConfigurationError
from whileai_hf.rows import dumps, view


# Characters kept of what a user's module raises.
_MESSAGE = 200


def load_object(name: str, flag: str) -> Any:
    """
    The object a flag names.

    Args:
        name (`str`):
            `package.module:attr`, importable from the working directory, or `path/to/file.py:attr`.
        flag (`str`):
            The flag, for the error.

    Raises:
        [`ConfigurationError`]: There is no colon, no such module or no such attribute, or the module does not load.

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
    return _imported(name, f"{flag} {name}")


def _load_file(path: str, flag: str) -> Any:
    file = Path(path).expanduser().resolve()
    if not file.is_file():
        raise ConfigurationError(f"{flag} {path}: no such file; check the path before the colon")
    sys.path.insert(0, str(file.parent))  # imported by name, so that worker processes find it too
    module = _imported(file.stem, f"{flag} {path}")
    if Path(module.__file__ or "").resolve() != file:
        raise ConfigurationError(f"{flag} {path}: another module is called {file.stem!r} already; rename the file")
    return module


def _imported(name: str, given: str) -> Any:
    """A module; what stops it from loading is told in one line, and is no failed gate."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name + ".").startswith(error.name + "."):
            raise ConfigurationError(f"{given}: no such module, not in {Path.cwd()} either; check its name") from error
        raise ConfigurationError(f"{given} needs a module that is not installed: {error}; install it") from error
    except SyntaxError as error:
        place = f"{Path(error.filename or name).name}, line {error.lineno}"
        raise ConfigurationError(f"{given} is no Python: {error.msg} ({place}); correct it") from error
    except (Exception, SystemExit) as error:  # whatever a user's module does when it is run
        last = traceback.extract_tb(error.__traceback__)[-1]
        what = " ".join(f"{type(error).__name__}: {error}".split())
        raise ConfigurationError(
            f"{given} does not load: {what[:_MESSAGE]} ({Path(last.filename).name}, line {last.lineno}); correct it"
        ) from error


def check_output(path: str | None) -> None:
    """
    Refuses an output that [`write_rows`] could not write, before a command starts its work.

    Raises:
        [`ConfigurationError`]: The suffix is none of those it knows, or nothing can be written there.
    """
    if path is None:
        return
    if Path(path).suffix not in ("", ".jsonl", ".parquet"):
        raise ConfigurationError(f"--output {path}: expected .jsonl, .parquet, or a folder name without a suffix")
    check_writable(path, folder=not Path(path).suffix)


def check_writable(path: str, *, folder: bool = False) -> None:
    """
    Refuses a place where nothing can be written, by trying; nothing stays behind.

    Args:
        path (`str`):
            A file, or a folder to be filled; neither it nor the folders above it have to exist.
        folder (`bool`, *optional*, defaults to `False`):
            Which of them.

    Raises:
        [`ConfigurationError`]: It cannot be written.
    """
    target = Path(path)
    try:
        if target.exists() and target.is_dir() != folder:
            kinds = ("a folder", "a file") if target.is_dir() else ("a file", "a folder")
            raise ConfigurationError(f"--output {path}: it is {kinds[0]}, and {kinds[1]} is to be written there")
        if target.exists() and not folder:
            target.open("ab").close()
        else:
            existing = next(place for place in (target, *target.absolute().parents) if place.exists())
            tempfile.TemporaryFile(dir=existing).close()
    except OSError as error:
        raise ConfigurationError(
            f"--output {path} cannot be written: {error.strerror or error}; name another place"
        ) from error


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
