"""Asking a model to judge: which model, what it is shown, whether that fits, and replies kept for the next time.

Shared by the judges that go through a rubric, compare two rows or rank a group; they differ in the question only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from whileai_hf.actors.models import Model, as_model
from whileai_hf.actors.models.failures import is_too_long
from whileai_hf.errors import ConfigurationError, ModelError, ModelStopError
from whileai_hf.rows import dumps
from whileai_hf.rows.rng import digest
from whileai_hf.rows.view import Row
from whileai_hf.score.judges.address import address_of, version_of
from whileai_hf.score.judges.asked import facts_of
from whileai_hf.score.judges.cache import VerdictCache, default_path
from whileai_hf.score.judges.hiding import Hidden
from whileai_hf.score.judges.names import default_judge_model
from whileai_hf.score.judges.transcript import Part, code_for, fenced, parts_of


_HASH_DIGITS = 12
# A judge should say the same about the same row; a model made with other sampling is taken as it is.
_TEMPERATURE = 0.0
_FACTS = "What is known about the task, which the agent was not told:"
_NOTHING = "nothing to judge: no messages, steps, prompt or final_text"
# Where replies are kept: the local store, a file or folder, or nowhere.
CacheAt = bool | str | Path | VerdictCache
T = TypeVar("T")


class Shown(NamedTuple):
    """What a model is shown of one row or several; without text there is a problem that says why."""

    text: str = ""
    problem: str | None = None


class Asker:
    """
    A model in the role of a judge.

    Args:
        model (`str`, [`~whileai_hf.actors.models.Model`] or `Callable`, *optional*):
            Who is asked. A spec string samples at temperature 0. By default `WHILEAI_JUDGE`, else a large open model
            of another family than the policy.
        use_privileged (`bool`, *optional*, defaults to `False`):
            Show the reference and the hidden state of the task.
        context_chars (`int`, *optional*):
            Characters the model can read.
        cache (`bool`, `str`, `Path` or [`VerdictCache`], *optional*, defaults to `True`):
            Where replies are kept: the local store (`True`; for models named by a string only), a `.jsonl` file, a
            folder, or nowhere (`False`).

    Raises:
        [`ConfigurationError`]: A model that cannot be named, or `context_chars` that is no number of characters.
    """

    def __init__(
        self,
        model: Any = None,
        *,
        use_privileged: bool = False,
        context_chars: int | None = None,
        cache: CacheAt = True,
    ) -> None:
        is_count = isinstance(context_chars, int) and not isinstance(context_chars, bool) and context_chars > 0
        if context_chars is not None and not is_count:
            raise ConfigurationError(f"context_chars is {context_chars!r:.40}; pass a number of characters above 0")
        self.use_privileged = use_privileged
        self.context_chars = context_chars
        self._source = model
        self._chooses = model is None
        self._model: Model | None = None if model is None else _made(model)
        self._cache_at = cache
        self._cache: VerdictCache | None = None

    @property
    def model(self) -> Model:
        """Who is asked; the default is settled by the first row, or here."""
        if self._model is None:
            if self._source is None:
                self._source = default_judge_model(())
            self._model = _made(self._source)
        return self._model

    def __getstate__(self) -> dict[str, Any]:
        # A model named by a string is made anew where it is needed: it holds the key of its endpoint.
        return {**vars(self), "_model": None} if isinstance(self._source, str) else vars(self)

    def bind(self, policies: Iterable[str | None]) -> Model:
        """
        Settles the default model, so that it is not the policy's own; without effect when a model was named.

        Raises:
            [`ConfigurationError`]: There is no model to fall back on.
        """
        chosen = default_judge_model(policies) if self._chooses else self._source
        if chosen != self._source:
            self._source, self._model, self._cache = chosen, _made(chosen), None
        return self.model

    def settle(self, policies: Iterable[str | None]) -> None:
        """[`bind`] for a judge that nobody has bound yet."""
        if self._source is None:
            self.bind(policies)

    def provenance(self, *prompt: object) -> dict[str, Any]:
        """Model, prompt hash, temperature and version, as they are recorded with every verdict."""
        prompt_hash = digest(*prompt, self.use_privileged, length=_HASH_DIGITS)
        return {
            "model": self.model.name,
            "prompt_hash": prompt_hash,
            "temperature": self.model.sampling.get("temperature"),
            "version": version_of(self.model, prompt_hash),
        }

    def hash_state(self) -> list[object]:
        """What tells this asker from another, for the fingerprint of a judge."""
        who = "default" if self._source is None else self._identity()
        return [who, self.use_privileged, self.context_chars]

    def _identity(self) -> str:
        name = self._source if isinstance(self._source, str) else self.model.name
        return dumps([name, address_of(self.model), self.model.sampling]).decode()

    def shown(self, row: Row) -> Shown:
        """A row as the model sees it."""
        parts = parts_of(row)
        if not parts:
            return Shown(problem=f"the row has {_NOTHING}")
        facts = facts_of(row) if self.use_privileged else []
        code = code_for(*(text for part in (*parts, *facts) for text in part))
        told = f"{_FACTS}\n{fenced(facts, code, 'FACTS')}\n\n" if facts else ""
        return self._fitting(told + fenced(parts, code))

    def shown_together(self, rows: Mapping[str, Row]) -> Shown:
        """Several rows, each under its label."""
        parts: dict[str, list[Part]] = {label: parts_of(row) for label, row in rows.items()}
        empty = next((label for label, found in parts.items() if not found), None)
        if empty is not None:
            return Shown(problem=f"{empty} has {_NOTHING}")
        code = code_for(*(text for found in parts.values() for part in found for text in part))
        return self._fitting("\n\n".join(fenced(found, code, label) for label, found in parts.items()))

    def _fitting(self, text: str) -> Shown:
        """A transcript is shown whole or not at all: what is cut off may be what decides."""
        if self.context_chars is None or len(text) <= self.context_chars:
            return Shown(text)
        return Shown(problem=f"it does not fit: {len(text)} characters, and context_chars is {self.context_chars}")

    def _replies(self) -> VerdictCache | None:
        """The cache, opened on first use: who is asked has to be known by then."""
        if self._cache is None and self._cache_at is not False:
            at = self._cache_at
            if isinstance(at, VerdictCache):
                self._cache = at
            elif at is not True:
                path = Path(str(at)).expanduser()
                self._cache = VerdictCache(path if path.suffix else path / default_path(self._identity()).name)
            elif isinstance(self._source, str):
                self._cache = VerdictCache(default_path(self._identity()))
        return self._cache

    async def ask(
        self,
        system: str,
        question: str,
        schema: Mapping[str, Any],
        read: Callable[[str], tuple[T, str | None]],
        hidden: Hidden | None = None,
    ) -> tuple[T | None, str | None]:
        """
        What one reply says. Only replies that could be read are kept; others are asked for again the next time.

        Args:
            system (`str`):
                The instructions.
            question (`str`):
                What is asked.
            schema (`Mapping`):
                JSON schema of the answer, for endpoints that take one.
            read (`Callable[[str], tuple]`):
                What a reply says, and what is wrong with it (`None`: nothing).
            hidden ([`Hidden`], *optional*):
                What the model is shown and neither a kept reply nor an error may repeat.

        Returns:
            `tuple`: The same; nothing is said when there is no whole reply.

        Raises:
            [`ConfigurationError`]: No model was named, and there is no default.
            [`~whileai_hf.errors.ModelError`]: The model gave no answer.
        """
        model = self.model
        cache = self._replies()
        key = "" if cache is None else VerdictCache.key(self._identity(), system, question)
        kept = None if cache is None else cache.get(key)
        if isinstance(kept, str):
            return read(kept)
        messages = [{"role": "system", "content": system}, {"role": "user", "content": question}]
        try:
            completion = await model.complete(messages, schema=schema)
        except ModelError as error:
            told = error if hidden is None else hidden.error(error, model.name)
            if is_too_long(error) and not isinstance(error, ModelStopError):
                return None, f"it does not fit the judge's context: {told}"
            if told is error:
                raise
            raise told from None
        if completion.finish_reason == "length":
            return None, "the judge's reply is cut off at its token cap; give the model a higher max_tokens"
        text = completion.message.get("content")
        if not isinstance(text, str) or not text.strip():
            return None, "the judge answered nothing"
        said, problem = read(text)
        if cache is not None and problem is None:
            kept = text if hidden is None else hidden.reply(text)
            if kept == text or read(kept)[1] is None:  # one that is no longer read is not kept
                cache.put(key, kept)
        return said, problem


def _made(source: Any) -> Model:
    return as_model(source, temperature=_TEMPERATURE) if isinstance(source, str) else as_model(source)


def hidden_of(row: Row) -> Hidden:
    """What only the judge may know of a row, kept out of reasons: they ride on rows that become training data."""
    return Hidden(row, lambda: "\n".join(part.text for part in parts_of(row)))
