"""The run in Trackio, when it is asked for and installed. What goes wrong there never reaches the training.

Points wait in memory until they were sent; what a send refuses goes out with the next one. The record of a run is
the folder on disk, a tracker only shows it.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import time
from collections import deque
from collections.abc import Mapping
from typing import Any

from whileai_hf.errors import ConfigurationError


logger = logging.getLogger(__name__)

TRACKERS = ("none", "trackio")
PROJECT = "whileai-hf"
# Points kept for a tracker that cannot be reached; the oldest go first. Some megabytes.
_MOST_WAITING = 100_000
# Seconds before a tracker that failed is tried again, doubling up to the longest: no step waits for a dead server.
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0


class Tracker:
    """
    Sends points of one run to Trackio.

    Args:
        run_id (`str`):
            Name of the run there; a run that goes on is continued.
        project (`str`, *optional*, defaults to `"whileai-hf"`):
            Trackio project.
        space_id (`str`, *optional*):
            Space that shows it; local without one.
        config (`Mapping[str, Any]`, *optional*):
            What the run is made with.
    """

    def __init__(
        self,
        run_id: str,
        project: str | None = None,
        space_id: str | None = None,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        self._options: dict[str, Any] = {"project": project or PROJECT, "name": run_id, "config": dict(config or {})}
        if space_id is not None:
            self._options["space_id"] = space_id
        self._waiting: deque[tuple[str, dict[str, Any]]] = deque(maxlen=_MOST_WAITING)
        self._module: Any = None
        self._pause, self._again = 0.0, 0.0
        self.closed = False
        self.url = f"https://huggingface.co/spaces/{space_id}" if space_id else None

    @property
    def waiting(self) -> int:
        """Points and alerts that were not sent yet."""
        return len(self._waiting)

    def add(self, step: int, values: Mapping[str, Any]) -> None:
        """Takes a point and sends what waits, unless the tracker failed a moment ago."""
        self._take("log", {"metrics": dict(values), "step": step})

    def alert(self, title: str, text: str) -> None:
        """Takes an alert, which Trackio shows beside the curves."""
        self._take("alert", {"title": title, "text": text})

    def _take(self, call: str, arguments: dict[str, Any]) -> None:
        if not self.closed:
            self._waiting.append((call, arguments))
            if time.monotonic() >= self._again:
                self.flush()

    def flush(self) -> bool:
        """Sends what waits; `False` when the tracker refused, which is logged once in a row."""
        try:
            if self._module is None:
                module = importlib.import_module("trackio")
                module.init(**self._options, resume="allow")
                self._module = module
            while self._waiting:
                call, arguments = self._waiting[0]
                if call == "log":
                    self._module.log(arguments["metrics"], step=arguments["step"])
                else:
                    self._module.alert(**arguments)
                self._waiting.popleft()
        except Exception as error:  # a tracker, its network and its disk raise whatever they like
            if not self._pause:
                logger.warning("Trackio cannot be reached (%s: %s); points are kept", type(error).__name__, error)
            self._pause = min(_LONGEST_PAUSE, 2 * self._pause or _FIRST_PAUSE)
            self._again = time.monotonic() + self._pause
            return False
        self._pause = 0.0
        return True

    def close(self) -> int:
        """Sends what waits, ends the run there, and returns how many points and alerts never got out."""
        if self.closed:
            return 0
        self.closed = True
        if self.flush() and self._module is not None:
            try:
                self._module.finish()
            except Exception as error:  # as above
                logger.warning("Trackio did not finish the run (%s: %s)", type(error).__name__, error)
        return self.waiting


def check_tracker(name: str | None) -> bool:
    """Whether points go to Trackio; an unknown tracker is an error, one that is not installed a warning."""
    if name is None or name == "none":
        return False
    if name != "trackio":
        raise ConfigurationError(f"report_to is {name!r}; expected one of {', '.join(TRACKERS)}")
    if not _installed():
        logger.warning("report_to='trackio', and trackio is not installed: the run is recorded on disk only")
        return False
    return True


def _installed() -> bool:
    try:
        return importlib.util.find_spec("trackio") is not None
    except ValueError:  # a module put there by hand has no spec
        return True
