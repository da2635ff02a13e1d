"""The knobs of a push of an adapter."""

from __future__ import annotations

import dataclasses
from dataclasses import field
from typing import TypedDict

from whileai_hf.errors import ConfigurationError


@dataclasses.dataclass(frozen=True)
class AdapterConfig:
    """
    Knobs of [`push_adapter`]. Every field is also a keyword.

    Examples:
    ```python
    >>> AdapterConfig(agent="order desk").private
    True

    ```
    """

    agent: str | None = field(default=None, metadata={"help": "the agent the model is for; its repos share a tag"})
    private: bool = field(
        default=True, metadata={"help": "whether a new repo is private; one that exists stays as it is"}
    )
    description: str = field(default="", metadata={"help": "what the card says first"})
    license: str | None = field(default=None, metadata={"help": "license of the adapter, as the Hub names it"})
    language: list[str] = field(default_factory=list, metadata={"help": "languages it was trained on"})
    eval_data: str | None = field(
        default=None, metadata={"help": "repo@tag of the held-out tasks (default: that of the training data)"}
    )
    overwrite: bool = field(default=False, metadata={"help": "write into a repo that holds something else"})
    token: str | None = field(default=None, metadata={"help": "your token (default: the one of hf auth login)"})

    def __post_init__(self) -> None:
        for name in ("agent", "license", "eval_data"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, str) or not value.strip()):
                raise ConfigurationError(f"{name}={value!r:.60} names nothing; pass text, or leave it out")
        if not isinstance(self.description, str):
            raise ConfigurationError(f"description is a {type(self.description).__name__}; pass text")
        if isinstance(self.language, str):
            object.__setattr__(self, "language", [self.language])


class AdapterKnobs(TypedDict, total=False):
    """The fields of [`AdapterConfig`] as keywords."""

    agent: str | None
    private: bool
    description: str
    license: str | None
    language: list[str]
    eval_data: str | None
    overwrite: bool
    token: str | None
