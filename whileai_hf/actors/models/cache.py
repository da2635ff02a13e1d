"""Model calls kept by content, so that a run costs nothing the second time.

A call is what was asked of whom: model, sampling, messages, tools, schema, log probabilities and seed. Equal calls get
equal answers, those of one moment included. Errors are not kept. To ask anew, use another file or `mode="record"`.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from whileai_hf.actors.models.history import api_messages
from whileai_hf.actors.models.model import Completion, Message, Model
from whileai_hf.errors import ConfigurationError, DataError, ModelError
from whileai_hf.rows.canonical import dumps, loads
from whileai_hf.rows.rng import digest


MODES = ("auto", "replay", "record")
# Part of every key: a change of what a record holds makes old ones misses, not wrong answers.
_VERSION = 1
_KEY_DIGITS = 40
_SHOWN_CHARS = 80


class ModelCache:
    """
    A JSONL file of model calls. Threads, event loops and processes may share it.

    Args:
        path (`str` or `Path`):
            The file; made on the first record.
        mode (`str`, *optional*, defaults to `"auto"`):
            `"auto"` answers from the file and records what is missing, `"replay"` only answers from it, `"record"`
            asks the model every time and records over what is there.

    Raises:
        ConfigurationError: When the mode is unknown.

    Examples:
    ```python
    >>> import tempfile
    >>> cache = ModelCache(Path(tempfile.mkdtemp()) / "calls.jsonl")
    >>> _ = cache.put("key", Completion({"role": "assistant", "content": "Hi."}))
    >>> cache.get("key").message["content"], cache.hits, cache.misses
    ('Hi.', 1, 0)

    ```
    """

    def __init__(self, path: str | os.PathLike[str], mode: str = "auto") -> None:
        if mode not in MODES:
            raise ConfigurationError(f"mode is {mode!r}; use one of {', '.join(MODES)}.")
        self.path = Path(path)
        self.mode = mode
        self._fresh()

    def _fresh(self) -> None:
        self.hits = 0
        self.misses = 0
        self._places: dict[str, tuple[int, int]] = {}  # key -> offset and length of its line
        self._read = 0  # bytes of the file that are known
        self._lock = threading.Lock()
        self._asking: dict[tuple[int, str], _Turn] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "mode": self.mode}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._fresh()

    def __len__(self) -> int:
        with self._lock:
            self._catch_up()
            return len(self._places)

    def _catch_up(self) -> None:
        """Learns the whole lines that were added since, by this process or another."""
        try:
            size = self.path.stat().st_size
        except FileNotFoundError:
            return
        if size <= self._read:
            return
        with self.path.open("rb") as file:
            file.seek(self._read)
            for line in file:
                if not line.endswith(b"\n"):
                    break  # being written, or torn; whoever writes next ends it first
                key = _key_of(line)
                if key is not None:
                    self._places[key] = (self._read, len(line))
                self._read += len(line)

    def get(self, key: str) -> Completion | None:
        """The recorded completion, `None` when there is none. Counts a hit or a miss."""
        with self._lock:
            place = self._places.get(key)
            if place is None:
                self._catch_up()
                place = self._places.get(key)
            if place is None:
                self.misses += 1
                return None
            self.hits += 1
        with self.path.open("rb") as file:
            file.seek(place[0])
            return _completion(file.read(place[1]))

    def put(self, key: str, completion: Completion) -> Completion:
        """Records a completion: one line, out in one write. Returns it as it will be read."""
        record = line = dumps([key, asdict(completion)]) + b"\n"
        with self._lock:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with self.path.open("a+b", buffering=0) as file:
                    end = file.seek(0, os.SEEK_END)
                    if end:
                        file.seek(end - 1)
                        # Ends the line a killed writer left torn, in the same write: two would let another between.
                        line = line if file.read(1) == b"\n" else b"\n" + line
                    file.write(line)
            except OSError as error:
                raise DataError(f"cannot record model calls in {self.path}: {error.strerror}.") from error
        return _completion(record)

    def turn(self, key: str) -> _Turn:
        """A turn at asking the model for `key`: equal calls of one event loop take theirs one after the other."""
        with self._lock:
            return self._asking.setdefault((id(asyncio.get_running_loop()), key), _Turn(self, key))


class _Turn:
    """Held while a call that is not recorded yet is made."""

    def __init__(self, cache: ModelCache, key: str) -> None:
        self._cache = cache
        self._name = (id(asyncio.get_running_loop()), key)
        self._lock = asyncio.Lock()
        self._holders = 0

    async def __aenter__(self) -> None:
        self._holders += 1
        try:
            await self._lock.acquire()
        except BaseException:
            self._let_go()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._lock.release()
        self._let_go()

    def _let_go(self) -> None:
        self._holders -= 1
        if not self._holders:
            self._cache._asking.pop(self._name, None)


def _completion(line: bytes) -> Completion:
    return Completion(**loads(line)[1])


def _key_of(line: bytes) -> str | None:
    """The key of a record, `None` for a torn line. It stands first: finding it does not parse the answer."""
    key, quote, _ = line.removeprefix(b'["').partition(b'"')
    return key.decode() if line.startswith(b'["') and quote and line.endswith(b"}]\n") else None


class CachedModel:
    """
    A model whose calls are kept; keeps the [`Model`] protocol, so every role can have it.

    Args:
        model ([`Model`]):
            Asked when the cache has no answer.
        cache ([`ModelCache`]):
            Where answers are.
    """

    def __init__(self, model: Model, cache: ModelCache) -> None:
        self.model = model
        self.cache = cache

    def __repr__(self) -> str:
        return f"CachedModel({self.model!r}, {str(self.cache.path)!r}, mode={self.cache.mode!r})"

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def sampling(self) -> dict[str, Any]:
        """How the model samples."""
        return self.model.sampling

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        logprobs: bool = False,
        schema: Mapping[str, Any] | None = None,
        seed: int | None = None,
    ) -> Completion:
        """
        The recorded answer, else the model's; arguments as in [`Model.complete`].

        Raises:
            [`ModelError`]: In replay, when the call was not recorded.
        """
        asked = [_VERSION, self.name, self.sampling, api_messages(messages), tools or [], logprobs, schema, seed]
        key = digest(dumps(asked).decode(), length=_KEY_DIGITS)
        options: dict[str, Any] = {"tools": tools, "logprobs": logprobs, "schema": schema, "seed": seed}
        if self.cache.mode == "record":
            completion = await self.model.complete(messages, **options)
            return self.cache.put(key, completion)
        async with self.cache.turn(key):
            found = self.cache.get(key)
            if found is not None:
                return found
            if self.cache.mode == "replay":
                raise self._missing(messages, seed, key)
            completion = await self.model.complete(messages, **options)
            return self.cache.put(key, completion)

    def _missing(self, messages: Sequence[Message], seed: int | None, key: str) -> ModelError:
        last = messages[-1] if messages else {}
        said = " ".join(str(last.get("content") or "").split())[:_SHOWN_CHARS]
        return ModelError(
            f"{self.cache.path} has no call of {self.name} whose message {len(messages)} ({last.get('role')}) is "
            f'"{said}" with seed {seed} (key {key[:10]}); record it with mode="auto".'
        )
