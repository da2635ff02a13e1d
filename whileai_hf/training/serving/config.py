"""The knobs of `serve`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import field
from typing import TypedDict

from whileai_hf.errors import ConfigurationError


@dataclasses.dataclass(frozen=True)
class ServeConfig:
    """
    Knobs of [`serve`]. Every field is also a keyword of it.

    Examples:
    ```python
    >>> ServeConfig(port=8001).host
    '127.0.0.1'

    ```
    """

    host: str = field(default="127.0.0.1", metadata={"help": "address to listen on"})
    port: int | None = field(default=None, metadata={"help": "port to listen on (default: a free one)"})
    timeout: float = field(default=600.0, metadata={"help": "seconds the server has to come up"})
    command: Sequence[str] | None = field(
        default=None,
        metadata={
            "help": "command of a server of your own; {weights}, {base}, {name}, {host} and {port} are filled in"
        },
    )
    flags: Sequence[str] = field(default=(), metadata={"help": "further flags of the server"})
    instance_type: str = field(default="nvidia-l4", metadata={"help": "hardware of an Inference Endpoint"})
    instance_size: str = field(default="x1", metadata={"help": "how much of it"})
    vendor: str = field(default="aws", metadata={"help": "cloud of an Inference Endpoint"})
    region: str = field(default="us-east-1", metadata={"help": "region of an Inference Endpoint"})
    namespace: str | None = field(default=None, metadata={"help": "account that pays for an Inference Endpoint"})

    def __post_init__(self) -> None:
        if self.port is not None and not (isinstance(self.port, int) and 0 < self.port < 65536):
            raise ConfigurationError(f"port={self.port!r} is no port; pass 1 to 65535, or leave it out")
        if not self.timeout > 0:
            raise ConfigurationError(f"timeout={self.timeout!r} is no number of seconds above 0")
        for name in ("command", "flags"):
            value = getattr(self, name)
            if isinstance(value, str):
                raise ConfigurationError(f"{name}={value!r:.60} is one text; pass a list of words")


class ServeKnobs(TypedDict, total=False):
    """The fields of [`ServeConfig`] as keywords."""

    host: str
    port: int | None
    timeout: float
    command: Sequence[str] | None
    flags: Sequence[str]
    instance_type: str
    instance_size: str
    vendor: str
    region: str
    namespace: str | None
