"""Config dataclasses as command-line flags and YAML keys: one field, one flag, one key."""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import types
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from whileai_hf.errors import ConfigurationError, SourceNotFoundError


# What a flag's value is called in the help.
_METAVARS: dict[type, str] = {int: "N", float: "X", str: "TEXT"}


def add_config_flags(parser: argparse.ArgumentParser, config: type) -> None:
    """
    Adds one flag for every field of a config dataclass.

    Args:
        parser (`argparse.ArgumentParser`):
            Where the flags go.
        config (`type`):
            A dataclass whose fields carry `metadata={"help": ...}`, and `"cli": False` where a value has no textual
            form; such a field is still a YAML key.
    """
    group = parser.add_argument_group("knobs")
    hints = typing.get_type_hints(config)
    for field in dataclasses.fields(config):
        if not field.metadata.get("cli", True):
            parser.set_defaults(**{field.name: field.default})
            continue
        flag = "--" + field.name.replace("_", "-")
        help = field.metadata["help"].replace("%", "%%")
        kind = _plain_type(hints[field.name])
        if kind is bool:
            group.add_argument(
                flag, dest=field.name, action=argparse.BooleanOptionalAction, default=field.default, help=help
            )
        elif kind is list:
            group.add_argument(flag, dest=field.name, nargs="+", default=field.default, metavar="TEXT", help=help)
        else:
            group.add_argument(
                flag,
                dest=field.name,
                type=kind,
                default=field.default,
                choices=field.metadata.get("choices"),
                metavar=None if field.metadata.get("choices") else _METAVARS[kind],
                help=help if field.default is None else f"{help} (default: {field.default})",
            )


def _plain_type(hint: Any) -> type:
    if hint is Any:
        return str  # a spec string here, an object in Python
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        hint = next(option for option in typing.get_args(hint) if option is not type(None))
    origin = typing.get_origin(hint) or hint
    return list if isinstance(origin, type) and issubclass(origin, Sequence) and origin is not str else origin


def config_from(args: argparse.Namespace, config: type) -> Any:
    """The config dataclass filled from parsed arguments."""
    return config(**{field.name: getattr(args, field.name) for field in dataclasses.fields(config)})


def apply_yaml(parser: argparse.ArgumentParser, path: str) -> None:
    """
    Makes the values of a YAML file the defaults of a command, so that flags override them.

    Args:
        parser (`argparse.ArgumentParser`):
            Parser of the command.
        path (`str`):
            File with one mapping; keys are flags with or without dashes.

    Raises:
        [`SourceNotFoundError`]: There is no such file.
        [`ConfigurationError`]: It is not a YAML mapping, or has a key that is no flag of the command.
    """
    import yaml

    if not Path(path).is_file():
        raise SourceNotFoundError(f"--config {path} is not a file; give the path of a YAML file")
    try:
        values = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"--config {path}: byte {error.start} is not UTF-8; save it as UTF-8") from error
    except yaml.YAMLError as error:
        raise ConfigurationError(f"--config {path} is not YAML: {' '.join(str(error).split())}") from error
    if values is None:
        return
    if not isinstance(values, dict):
        raise ConfigurationError(
            f"--config {path} holds a {type(values).__name__}; expected a mapping of flags to values"
        )
    flags = [action for action in parser._actions if action.dest not in ("help", "config")]
    known = {action.dest for action in flags} | set(parser._defaults)
    for key in values:
        if str(key).replace("-", "_") not in known:
            near = difflib.get_close_matches(str(key).replace("-", "_"), known, n=1, cutoff=0.4)
            hint = f"did you mean {near[0]!r}?" if near else f"the keys are {', '.join(sorted(known))}"
            raise ConfigurationError(f"{path}: unknown key {key!r}; {hint}")
    defaults = {str(key).replace("-", "_"): value for key, value in values.items()}
    for action in flags:
        if not action.option_strings and action.dest in defaults:
            action.nargs = "*" if action.nargs == "+" else "?"  # a positional the file already names need not be typed
    parser.set_defaults(**defaults)
