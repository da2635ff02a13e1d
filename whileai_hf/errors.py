"""Every exception of the library, in one place.

Each one derives from [`WhileaiError`] and from the standard-library type it refines, so that `except ValueError`
keeps working. A message is one sentence: what was given, where, what was expected, what to do. To add one: subclass
[`WhileaiError`] and a stdlib type, take a single message argument (so that it pickles across processes), and say in
the docstring who raises it.
"""

from __future__ import annotations


class WhileaiError(Exception):
    """Base of every error raised on purpose by this library."""


class ConfigurationError(WhileaiError, ValueError):
    """An argument, a knob or a combination of them that cannot be honoured."""


class SpecError(ConfigurationError):
    """Tools, a system prompt or a spec folder that cannot be read as an agent."""


class DataError(WhileaiError, ValueError):
    """Rows, a Dataset or a file whose content is not what the call needs."""


class MissingColumnError(DataError):
    """A Dataset or row list lacks a column the call needs."""


class SourceNotFoundError(WhileaiError, FileNotFoundError):
    """A source is neither an existing path nor a dataset repo that can be reached."""


class AgentError(WhileaiError, RuntimeError):
    """The agent raised, or returned something that is not a rollout."""


class ModelError(WhileaiError, RuntimeError):
    """A model endpoint gave no answer to one call, for good: retries are used up, or the answer cannot be read."""


class ModelStopError(ModelError):
    """
    A model endpoint that will answer no further call: a spent quota, a wrong key, an unknown model, a dead host.

    Raised out of one call and meant for the whole run: it stops there and reports `reason` as `stopped_because`.

    Args:
        message (`str`):
            One sentence for the user.
        reason (`str`, *optional*, defaults to `"model_unreachable"`):
            `"quota_spent"`, `"unauthorized"`, `"unknown_model"` or `"model_unreachable"`.
    """

    def __init__(self, message: str, reason: str = "model_unreachable") -> None:
        super().__init__(message, reason)
        self.reason = reason

    def __str__(self) -> str:
        return str(self.args[0])


class JudgeError(WhileaiError, RuntimeError):
    """A judge cannot be used at all (a single failed verdict is data on the row, never this error)."""


class WorldError(WhileaiError, RuntimeError):
    """A tool world was called from where no rollout can be told, or with something that is not a tool call."""


class PublishGateError(WhileaiError, ValueError):
    """
    Rows that are not fit to be published.

    Args:
        message (`str`):
            Why, and what to do.
        report (`GateReport`, *optional*):
            What the gate found, see `select.publish_gate`.
    """

    def __init__(self, message: str, report: object = None) -> None:
        super().__init__(message, report)
        self.report = report

    def __str__(self) -> str:
        return str(self.args[0])


class HubError(WhileaiError, ConnectionError):
    """The Hub cannot be reached, or refused what was asked of it."""
