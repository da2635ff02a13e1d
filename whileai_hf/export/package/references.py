"""Rewards and worlds by name: `module:attr`, which a trainer's process can import, and the way back.

A package holds names and no code of the caller's, so that what is trained on is what was reviewed. What has no name in
a module - a lambda, a function inside a function, anything defined in a script - cannot be found again and is refused.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import re
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.score.verify.reward import JudgeReward


REFERENCE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
# Names of objects that only this process has, for environments that are played without being written.
_LIVE = "live"
_held: dict[str, Any] = {}
_numbers = itertools.count()


def hold(thing: Any) -> str:
    """A name for an object of this process, valid as long as the process lives."""
    name = f"{_LIVE}:object_{next(_numbers)}"
    _held[name] = thing
    return name


def release(name: str) -> None:
    """Forgets a name that [`hold`] gave."""
    _held.pop(name, None)


def load_reference(reference: str, what: str = "reward") -> Any:
    """
    The object behind a name.

    Args:
        reference (`str`):
            `module:attr`; a class is called without arguments, as verifiers are.
        what (`str`, *optional*, defaults to `"reward"`):
            What it is, for the message when it is not there.

    Returns:
        `Any`: A callable; of `as_reward(judge)` the judge, which takes one row wherever it is used.

    Raises:
        [`ConfigurationError`]: It cannot be imported in this process, or is not callable.

    Examples:
    ```python
    >>> load_reference("whileai_hf.score.conduct:task_checklist").__name__
    'task_checklist'

    ```
    """
    if reference in _held:
        return _held[reference]
    if not REFERENCE.fullmatch(reference):
        raise ConfigurationError(f"the {what} {reference!r:.80} is no name of the form module:attr")
    module, _, path = reference.partition(":")
    try:
        found: Any = importlib.import_module(module)
    except ImportError as error:
        raise ConfigurationError(
            f"the {what} {reference!r} cannot be imported in this process ({error}); install the package that has it, "
            f"or export again with include=['<the file>'], which puts it into the environment"
        ) from error
    for name in path.split("."):
        try:
            found = getattr(found, name)
        except AttributeError as error:
            raise ConfigurationError(f"the {what} {reference!r} is not there: {error}") from error
    if isinstance(found, type):
        try:
            found = found()
        except TypeError as error:
            raise ConfigurationError(
                f"the {what} {reference!r} is a class that needs arguments ({error}); make an object of it in a "
                "module and name that"
            ) from error
    if not callable(found):
        raise ConfigurationError(f"the {what} {reference!r} is {found!r:.60}, which cannot be called")
    return found.judge if isinstance(found, JudgeReward) else found


def reference_of(given: Any, what: str, included: Mapping[Path, str]) -> str:
    """
    The name of an object.

    Args:
        given (`Callable` or `str`):
            A module-level function, class or object, or its name.
        what (`str`):
            `"reward"` or `"world"`, for messages.
        included (`Mapping[Path, str]`):
            Files that go into the package, and the modules they become.

    Returns:
        `str`: `module:attr`. An object of an included file is named where it will be.

    Raises:
        [`ConfigurationError`]: No other process could import it; the message says why.

    Examples:
    ```python
    >>> from whileai_hf.score.conduct import task_checklist
    >>> reference_of(task_checklist, "reward", {})
    'whileai_hf.score.conduct:task_checklist'

    ```
    """
    if isinstance(given, str):
        return _checked(given, what, included)
    if not callable(given):
        raise ConfigurationError(
            f"{what}={given!r:.60} is not callable; pass a function of a module, or 'module:attr'"
        )
    module, name = _place(given, what)
    file = _file_of(module)
    for path, becomes in included.items():
        if file == path:
            return f"{becomes}:{name}"
    if module == "__main__":
        raise ConfigurationError(
            f"{what}={name!r} is defined in the script or notebook that runs now, which a trainer does not run; move "
            f"it into a module of its own and pass include=['that_module.py'], or install that module and import it"
        )
    reference = f"{_front_door(module, name, given)}:{name}"
    load_reference(reference, what)
    return reference


def _front_door(module: str, name: str, given: Any) -> str:
    """The outermost package that has an object under its name: inner modules are moved more often than their doors."""
    parts = module.split(".")
    for depth in range(2, len(parts)):
        outer = sys.modules.get(".".join(parts[:depth]))
        if outer is not None and vars(outer).get(name) is given:
            return outer.__name__
    return module


def _checked(given: str, what: str, included: Mapping[Path, str]) -> str:
    if not REFERENCE.fullmatch(given):
        raise ConfigurationError(f"{what}={given!r:.80} is no name of the form module:attr, such as 'rewards:refunds'")
    module, _, name = given.partition(":")
    for path, becomes in included.items():
        if module in (path.stem, becomes):
            if f"{name.partition('.')[0]}" not in path.read_text(encoding="utf-8"):
                raise ConfigurationError(f"{what}={given!r}: {path.name} has no {name!r}")
            return f"{becomes}:{name}"
    load_reference(given, what)
    return given


def _file_of(module: str) -> Path | None:
    found = sys.modules.get(module)
    file = vars(found).get("__file__") if found is not None else None
    return Path(file).resolve() if isinstance(file, str) else None


def _place(given: Any, what: str) -> tuple[str, str]:
    """Module and name of an object, which has to be findable there."""
    if isinstance(given, types.FunctionType | type):
        if "<lambda>" in given.__qualname__:
            raise ConfigurationError(
                f"{what}=<lambda> has no name that another process could import; define a function in a module"
            )
        if "<locals>" in given.__qualname__:
            outer = given.__qualname__.partition(".<locals>")[0]
            raise ConfigurationError(
                f"{what}={given.__name__!r} is defined inside {outer}() and cannot be imported by another process; "
                "move it to the top level of a module"
            )
        return given.__module__, given.__qualname__
    return _named_object(given, what)


def _named_object(given: Any, what: str) -> tuple[str, str]:
    """The module-level variable that holds an object, such as a verifier with its arguments."""
    for module in list(sys.modules.values()):
        if isinstance(module, types.ModuleType):
            for name, value in list(vars(module).items()):
                if value is given and not name.startswith("__"):
                    return module.__name__, name
    kind = "functools.partial" if isinstance(given, functools.partial) else type(given).__name__
    raise ConfigurationError(
        f"{what} is a {kind} object that no module holds under a name, so another process could not import it; give "
        f"it one in a module ({what.upper()} = {kind}(...)) and pass that"
    )
