"""Which rollout is being answered: the one of the current context, or the only one there is.

Engine tasks and threads run each rollout in a context of its own, so that a module-level world finds the right
session. A thread an agent starts itself sees an empty context; then the only active rollout is meant, and with
several the caller has to say which. Such a thread belongs to that rollout for good: when it outlives it, its calls are
refused rather than written into the next one.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from whileai_hf.errors import WorldError
from whileai_hf.rows.rng import digest
from whileai_hf.sandbox.session import Session
from whileai_hf.sandbox.toolset import Toolset


@dataclass(eq=False)
class ActiveRollout:
    """
    The rollout being answered.

    Args:
        task (`Mapping`):
            The task row.
        rollout_index (`int`):
            Which of the task's rollouts, from 0.
        seed (`int`):
            Seed of the run.
        session ([`Session`]):
            Its world.
        eval_run (`int`, *optional*, defaults to `0`):
            Which playing of the whole task set it belongs to.
    """

    task: Mapping[str, Any]
    rollout_index: int
    seed: int
    session: Session
    eval_run: int = 0
    _others: dict[str, Session] = field(default_factory=dict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def sampling_seed(self) -> int:
        """Seed of what is sampled in it: another one in every playing of the task set, where the world is the same."""
        return self.seed if not self.eval_run else int(digest(self.seed, "eval_run", self.eval_run, length=8), 16)

    @property
    def prompt(self) -> str:
        """The user's ask."""
        return str(self.task.get("prompt") or "")

    @property
    def scenario_id(self) -> str:
        """The situation being played."""
        return str(self.task.get("scenario_id") or "")

    def session_for(self, toolset: Toolset) -> Session:
        """This rollout's session for these tools: its own when they are the same, else one made on first use."""
        if toolset is self.session.toolset or toolset.fingerprint == self.session.toolset.fingerprint:
            return self.session
        with self._lock:
            found = self._others.get(toolset.fingerprint)
            if found is None:
                found = self._others[toolset.fingerprint] = self.session.sibling(toolset)
            return found


_current: ContextVar[ActiveRollout | None] = ContextVar("whileai_hf_rollout", default=None)
# How many blocks hold each rollout active: an agent may enter its own again in a thread it starts.
_active: dict[int, tuple[ActiveRollout, int]] = {}
_active_lock = threading.Lock()


class _Thread(threading.local):
    """The rollout a thread without a context was first taken to belong to."""

    first: weakref.ref[ActiveRollout] | None = None


_thread = _Thread()


@contextmanager
def activate(rollout: ActiveRollout) -> Iterator[ActiveRollout]:
    """
    Make `rollout` the one that worlds and [`current_rollout`] mean, in this context.

    Examples:
    ```python
    >>> from whileai_hf.sandbox import ActiveRollout, Session, activate, current_rollout
    >>> tools = [{"name": "get_order"}]
    >>> with activate(ActiveRollout({"prompt": "Hi"}, 0, 0, Session(tools))):
    ...     current_rollout().prompt
    'Hi'

    ```
    """
    token = _current.set(rollout)
    key = id(rollout)
    with _active_lock:
        _active[key] = (rollout, _active.get(key, (rollout, 0))[1] + 1)
    try:
        yield rollout
    finally:
        with _active_lock:
            held = _active.pop(key)[1]
            if held > 1:
                _active[key] = (rollout, held - 1)
        _current.reset(token)


def find_rollout() -> ActiveRollout | None:
    """
    The rollout a call belongs to, `None` outside any.

    Raises:
        [`~whileai_hf.errors.WorldError`]: If several are active and the context names none, or if the thread called
            before for a rollout that has ended.
    """
    rollout = _current.get()
    if rollout is not None:
        return rollout
    with _active_lock:
        active = [rollout for rollout, _ in _active.values()]
    if len(active) > 1:
        raise WorldError(
            f"a tool was called from a thread that belongs to none of the {len(active)} rollouts being answered; "
            "start the thread with contextvars.copy_context().run(...), or take current_rollout() in the agent and "
            "use `with activate(rollout):` in the thread."
        )
    if not active:
        return None
    if _thread.first is None:
        _thread.first = weakref.ref(active[0])
    elif _thread.first() is not active[0]:
        raise WorldError(
            "a tool was called from a thread whose earlier calls belong to a rollout that has ended; end the thread "
            "with its rollout, or say which one is meant with contextvars.copy_context().run(...) or "
            "`with activate(rollout):` in the thread."
        )
    return active[0]


def current_rollout() -> ActiveRollout:
    """
    The rollout being answered.

    Returns:
        [`ActiveRollout`]: With `.prompt`, `.scenario_id`, `.rollout_index`, `.task` and `.session`.

    Raises:
        [`~whileai_hf.errors.WorldError`]: Outside any rollout, or when it cannot be told which.
    """
    rollout = find_rollout()
    if rollout is None:
        raise WorldError(
            "no rollout is being answered here; call current_rollout() inside an agent that is simulated."
        )
    return rollout
