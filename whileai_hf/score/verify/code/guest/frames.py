"""Messages over pipes: JSON text behind its length in eight bytes."""

from __future__ import annotations

import json
import os


TYPE_CHECKING = False  # as in `typing`, whose import would be a sixth of the time a sandbox takes to start
if TYPE_CHECKING:
    from typing import Any

# Longest message in bytes: a value that large has not been asked for by any test, and it must not fill the memory of
# whoever reads it.
LONGEST = 32 * 2**20
_HEAD = 8


def pack(message: Any) -> bytes:
    """
    A message as bytes.

    Examples:
    ```python
    >>> pack([1])
    b'\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x03[1]'

    ```
    """
    data = json.dumps(message).encode("ascii")
    return len(data).to_bytes(_HEAD, "big") + data


def unpack(buffer: bytearray) -> list[Any]:
    """
    The whole messages at the front of a buffer, which loses them.

    Raises:
        ValueError: When a message is longer than allowed or no JSON.
    """
    messages = []
    while len(buffer) >= _HEAD:
        length = int.from_bytes(buffer[:_HEAD], "big")
        if length > LONGEST:
            raise ValueError(f"a message of {length} bytes; at most {LONGEST} are read")
        if len(buffer) < _HEAD + length:
            break
        messages.append(json.loads(buffer[_HEAD : _HEAD + length]))
        del buffer[: _HEAD + length]
    return messages


def send(fd: int, message: Any) -> None:
    """Writes a message; blocks until it is taken."""
    data = memoryview(pack(message))
    if len(data) > LONGEST + _HEAD:
        raise ValueError(f"a value of {len(data)} bytes; at most {LONGEST} can be handed over")
    while data:
        data = data[os.write(fd, data) :]


def _exactly(fd: int, count: int) -> bytes:
    parts = []
    while count:
        part = os.read(fd, min(count, 2**20))
        if not part:
            raise EOFError("the other side has gone")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def receive(fd: int) -> Any:
    """
    Reads one message and not a byte more, so that the next reader of the pipe finds the next message.

    Raises:
        EOFError: When the other side has gone.
        ValueError: When the message is longer than allowed or no JSON.
    """
    length = int.from_bytes(_exactly(fd, _HEAD), "big")
    if length > LONGEST:
        raise ValueError(f"a message of {length} bytes; at most {LONGEST} are read")
    return json.loads(_exactly(fd, length))
