"""Calls of the writer's model: a few at a time, each with a seed of its own, its answer read into messages by id."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from whileai_hf.actors.models import Model
from whileai_hf.errors import AgentError, ModelError
from whileai_hf.rows.rng import rng
from whileai_hf.scenarios.writing.answers import ANSWER_SCHEMA, read_answer
from whileai_hf.scenarios.writing.texts import instructions


# Seeds that every backend takes: 31 bits.
_SEED_END = 2**31 - 1


class Caller:
    """
    Asks one model, never more than a number of times at once.

    Args:
        model ([`Model`]):
            The model.
        service (`str`):
            The service in plain words, put into every instruction.
        seed (`int`):
            Seed of the run.
        concurrency (`int`):
            Calls in flight at once.
    """

    def __init__(self, model: Model, service: str, seed: int, concurrency: int) -> None:
        self._model = model
        self._service = service
        self._seed = seed
        self._concurrency = concurrency
        self._gate = asyncio.Semaphore(concurrency)
        self.calls = 0
        self.usage = {"input_tokens": 0, "output_tokens": 0}
        self.errors: list[str] = []

    def open_gate(self) -> None:
        """A fresh gate: one that was waited at belongs to the loop it was waited on."""
        self._gate = asyncio.Semaphore(self._concurrency)

    async def ask(
        self, name: str, entries: Sequence[dict[str, Any]], *key: object, **more: list[Any]
    ) -> dict[str, str]:
        """
        The messages a model writes for some entries.

        Args:
            name (`str`):
                Name of the instructions.
            entries (`Sequence[dict]`):
                Each with an `id`.
            *key (`object`):
                Names this call, so that its seed depends on nothing else.
            **more (`list`):
                Further lists of the question.

        Returns:
            `dict[str, str]`: The messages by id, not all of them when the model left some out.

        Raises:
            [`~whileai_hf.errors.ModelError`]: If the call gave no answer.
        """
        messages = [
            {"role": "system", "content": instructions(name).replace("{service}", self._service)},
            {"role": "user", "content": _question({"situations": list(entries), **more})},
        ]
        seed = rng(self._seed, "writer", name, *key).integer(0, _SEED_END)
        async with self._gate:
            self.calls += 1
            try:
                completion = await self._model.complete(messages, schema=ANSWER_SCHEMA, seed=seed)
                found = read_answer(completion.message.get("content"), [str(entry["id"]) for entry in entries])
            except AgentError as error:
                raise ModelError(f"the writer's model gave a message that cannot be read: {error}") from error
        for kind in self.usage:
            self.usage[kind] += completion.usage.get(kind) or 0
        return found


def _question(parts: dict[str, list[Any]]) -> str:
    """JSON with one entry a line: as readable as indented and a third shorter."""
    lists = []
    for name, entries in parts.items():
        lines = ",\n".join(json.dumps(entry, ensure_ascii=False, default=str) for entry in entries)
        lists.append(f"{json.dumps(name)}: [\n{lines}\n]")
    return "{" + ",\n".join(lists) + "}"
