"""The flags that all training programs have, beside those of TRL's `ModelConfig` and of the trainer's config."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import sys
from dataclasses import field
from typing import Any

from whileai_hf.errors import ConfigurationError


_REFERENCE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


@dataclasses.dataclass
class ProgramArguments:
    """
    What is trained on, what is held out, and how that is judged.

    Examples:
    ```python
    >>> ProgramArguments(data="graded.jsonl").holdout_k
    4

    ```
    """

    data: str = field(
        metadata={"help": "graded rollouts or, for GRPO, tasks: a file, a folder, or namespace/name[@tag]"}
    )
    holdout: str | None = field(
        default=None,
        metadata={
            "help": "held-out rollouts or tasks (default: the holdout split of data, else a share of its tasks)"
        },
    )
    holdout_share: float = field(
        default=0.2, metadata={"help": "share of the tasks to hold out where data has no split for it; 0 for none"}
    )
    holdout_k: int = field(default=4, metadata={"help": "rollouts of every held-out task, before and after training"})
    holdout_tasks: int = field(default=128, metadata={"help": "held-out tasks to play at most"})
    holdout_tokens: int = field(default=512, metadata={"help": "tokens of one message of the held-out rollouts"})
    holdout_turns: int = field(default=12, metadata={"help": "turns of the policy in one held-out rollout"})
    agent: str | None = field(
        default=None, metadata={"help": "agent spec (file or folder) in place of the tools and prompt on the rows"}
    )
    reward: str | None = field(
        default=None,
        metadata={"help": "what a rollout is worth: module:name of a judge or reward function, or a judge model"},
    )
    gold: str | None = field(
        default=None,
        metadata={"help": "judge of the held-out rollouts, which training does not see (default: reward)"},
    )
    execute: str | None = field(
        default=None, metadata={"help": "module:name of execute(tool, arguments), your world instead of the simulated"}
    )
    select: bool = field(default=True, metadata={"help": "pick rows with optimize() before training"})
    name: str | None = field(default=None, metadata={"help": "name of the run (default: method and data)"})
    run: str | None = field(default=None, metadata={"help": "id of a run that was opened for this program"})

    def __post_init__(self) -> None:
        if not 0.0 <= self.holdout_share < 1.0:
            raise ConfigurationError(f"holdout_share={self.holdout_share} is no share of the tasks; pass 0 to 1")
        for name in ("holdout_k", "holdout_tasks", "holdout_tokens", "holdout_turns"):
            if getattr(self, name) < 1:
                raise ConfigurationError(f"{name}={getattr(self, name)} is no count from 1 on")


def is_reference(text: str) -> bool:
    """
    Whether a text names something to import.

    Examples:
    ```python
    >>> is_reference("rewards:concise"), is_reference("openai:gpt-5.1"), is_reference("hf:Qwen/Qwen3-4B")
    (True, False, False)

    ```
    """
    return bool(_REFERENCE.fullmatch(text)) and text.partition(":")[0] not in ("hf", "openai", "ollama", "vllm")


def find_object(reference: str, what: str) -> Any:
    """
    What a `module:name` refers to; modules of the working directory are found.

    Args:
        reference (`str`):
            `"rewards:concise"`.
        what (`str`):
            The flag it was given for, for the error.

    Raises:
        [`ConfigurationError`]: There is no such thing.
    """
    if not _REFERENCE.fullmatch(reference):
        raise ConfigurationError(f"{what}={reference!r:.80} is no module:name")
    module, _, path = reference.partition(":")
    if "" not in sys.path and "." not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(
            f"{what}={reference!r:.80} cannot be loaded ({error}); name it as module:name, importable from the "
            "working directory"
        ) from error
    return found


def find_judge(text: str | None, what: str) -> Any:
    """A judge as a flag names it: `module:name`, the spec string of a model, or `None`."""
    return find_object(text, what) if text is not None and is_reference(text) else text


def reference_of(value: Any, what: str, *, here: bool) -> str:
    """
    The `module:name` under which another process finds a function, or the text that was given.

    Args:
        value (`str` or `Callable`):
            A function of a module, or a text.
        what (`str`):
            The knob, for the error.
        here (`bool`):
            Whether the program runs in this process, where those of `__main__` can be found as well.

    Raises:
        [`ConfigurationError`]: A lambda, an inner function, or one of a notebook.
    """
    if isinstance(value, str):
        return value
    if not callable(value):
        raise ConfigurationError(f"{what} is a {type(value).__name__}; pass a function, or text")
    known: Any = value if inspect.isroutine(value) or inspect.isclass(value) else type(value)
    module, path = known.__module__, known.__qualname__
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = vars(found).get(part) if found is not None else None
    if found is not value or (module == "__main__" and not here):
        raise ConfigurationError(
            f"{what}={path!r:.60} of {module} cannot be found by another process; put it at the top of a module that "
            "can be imported and pass it, or 'module:name'"
        )
    return f"{module}:{path}"
