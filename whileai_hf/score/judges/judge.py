"""A model as a judge: one call a row, a verdict on a scale, or the reason why there is none.

The judge is shown the whole run and grades it by a rubric. A run that does not fit is unjudged, never cut; a reply
that cannot be read is unjudged, never zero. It honours the judge contract, so it goes wherever a judge goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any

from whileai_hf.actors.models import Model, as_model
from whileai_hf.actors.models.failures import is_too_long
from whileai_hf.errors import ConfigurationError, ModelError, ModelStopError
from whileai_hf.rows import dumps
from whileai_hf.rows.hashing import register_hash
from whileai_hf.score.judges.address import address_of, version_of
from whileai_hf.score.judges.asked import Asked, answer_schema, facts_of, prompt_hash, system_text, template, user_text
from whileai_hf.score.judges.cache import VerdictCache, default_path
from whileai_hf.score.judges.hiding import Hidden
from whileai_hf.score.judges.names import VARIABLE, default_judge_model
from whileai_hf.score.judges.reading import Reading, read_verdict
from whileai_hf.score.judges.scales import VerdictScale, as_scale
from whileai_hf.score.judges.standard import standard_of, standard_text
from whileai_hf.score.judges.transcript import TRANSCRIPT_COLUMNS, Row
from whileai_hf.score.verdicts import JudgeStatus, Verdict


# A judge should say the same about the same row; a model made with other sampling is taken as it is.
_TEMPERATURE = 0.0


class Judge:
    """
    Judges rows by asking a model.

    Args:
        model (`str`, [`Model`] or `Callable`, *optional*):
            Who judges, in any form [`~whileai_hf.actors.models.as_model`] takes. A spec string samples at temperature
            0; for other sampling pass `as_model("openai:...", temperature=...)`. By default `WHILEAI_JUDGE`, else a
            large open model of another family than the policy.
        rubric (`str`, `Path`, `list`, `dict` or `Rubric`, *optional*):
            What doing the job means: a text, the path of a `.md` file, or criteria. By default each row's own
            (`privileged.rubric`, or a column `rubric`), else a general one.
        scale (`(lo, hi)` or [`VerdictScale`], *optional*):
            Ask for a rating, kept as `rating`; the reward is `(rating - lo) / (hi - lo)`. Pass or fail by default.
        use_privileged (`bool`, *optional*, defaults to `False`):
            Also show the task's hidden state and reference. What the reason quotes of them is masked.
        name (`str`, *optional*, defaults to `"judge"`):
            Name in `judge_name` and in the markers of a panel.
        cache (`bool`, `str`, `Path` or [`VerdictCache`], *optional*, defaults to `True`):
            Where verdicts are kept: the local store (`True`; for models named by a string only), a `.jsonl` file, a
            folder, or nowhere (`False`).
        context_chars (`int`, *optional*):
            Characters the model can read. A longer run is unjudged without a call; by default the endpoint says.

    Raises:
        [`ConfigurationError`]: An empty rubric, a scale without room, or a model that cannot be named.

    Examples:
    ```python
    >>> import asyncio
    >>> from whileai_hf.actors import ScriptedModel
    >>> from whileai_hf.score.judges import Judge
    >>> model = ScriptedModel(['{"reason": "It guessed.", "verdict": "fail"}'])
    >>> judge = Judge(model, "The agent guesses nothing.")
    >>> verdict = asyncio.run(judge({"prompt": "Where is A1?", "final_text": "It shipped."}))
    >>> verdict.reward, verdict.reason
    (0.0, 'It guessed.')

    ```
    """

    # Rows in flight at one time when nobody says otherwise: waiting is all they do.
    concurrency = 32

    def __init__(
        self,
        model: Any = None,
        rubric: Any = None,
        *,
        scale: VerdictScale | tuple[float, float] | None = None,
        use_privileged: bool = False,
        name: str | None = None,
        cache: bool | str | Path | VerdictCache = True,
        context_chars: int | None = None,
    ) -> None:
        self.scale = as_scale(scale)
        self.rubric = None if rubric is None else standard_text(rubric)
        self.use_privileged = bool(use_privileged)
        self.name = name or "judge"
        is_count = isinstance(context_chars, int) and not isinstance(context_chars, bool) and context_chars > 0
        if context_chars is not None and not is_count:
            raise ConfigurationError(f"context_chars is {context_chars!r}; pass a number of characters above 0")
        self.context_chars = context_chars
        self._source = model
        self._chooses = model is None
        self._cache_at = cache
        self._model: Model | None = None if model is None else _made(model)
        self._cache: VerdictCache | None = None
        self._given_system = None if self.rubric is None else system_text(self.rubric, self.scale)
        self.prompt_hash = prompt_hash(self.rubric, self.scale, self.use_privileged)

    def __repr__(self) -> str:
        who = self._model.name if self._model is not None else f"${VARIABLE} or default"
        return f"Judge({who!r}, scale={self.scale!r}, prompt_hash={self.prompt_hash!r})"

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in vars(self).items() if name not in ("_identity", "_schema")}
        # A model named by a string is made anew where it is needed: it holds the key of its endpoint.
        return {**state, "_model": None} if isinstance(self._source, str) else state

    @property
    def model(self) -> Model:
        """Who judges; the default is settled by the first row, or here."""
        if self._model is None:
            if self._source is None:
                self._source = default_judge_model(())
            self._model = _made(self._source)
        return self._model

    def bind(self, policies: Iterable[str | None]) -> Judge:
        """
        Settles the default model, so that it is not the policy's own; without effect when a model was named.

        Args:
            policies (`Iterable[str]`):
                `model_version` of the rows to be judged.

        Returns:
            [`Judge`]: Itself.

        Raises:
            [`ConfigurationError`]: There is no model to fall back on.
        """
        chosen = default_judge_model(policies) if self._chooses else self._source
        if chosen != self._source:
            self._source, self._model, self._cache = chosen, _made(chosen), None
            vars(self).pop("_identity", None)
        return self

    def fresh(self) -> Judge:
        """A copy that asks the model anew about every row, to measure how far it agrees with itself."""
        made = copy(self)
        made._model, made._cache_at, made._cache = self._model, False, None
        return made

    def rescaled(self, scale: VerdictScale | tuple[float, float]) -> Judge:
        """A copy that answers on another scale."""
        return Judge(
            None if self._chooses else self._source,
            self.rubric,
            scale=scale,
            use_privileged=self.use_privileged,
            name=self.name,
            cache=self._cache_at,
            context_chars=self.context_chars,
        )

    def provenance(self) -> dict[str, Any]:
        """What every verdict has in common: `model`, `prompt_hash`, `temperature`, `version`."""
        said = {
            "model": self.model.name,
            "prompt_hash": self.prompt_hash,
            "temperature": self.model.sampling.get("temperature"),
            "version": version_of(self.model, self.prompt_hash),
        }
        return {**said, "scale": repr(self.scale)} if self.scale.likert else said

    def columns(self) -> Sequence[str] | None:
        """The row columns it reads."""
        return [*TRANSCRIPT_COLUMNS, "privileged", "rubric", "model_version"]

    def hash_state(self) -> list[object]:
        """What `Dataset.map` fingerprints in place of the object itself."""
        return ["default" if self._source is None else self._identity, self.prompt_hash, self.context_chars]

    @cached_property
    def _identity(self) -> str:
        name = self._source if isinstance(self._source, str) else self.model.name
        return dumps([name, address_of(self.model), self.model.sampling, self.prompt_hash]).decode()

    @cached_property
    def _schema(self) -> dict[str, Any]:
        return answer_schema(self.scale)

    def _verdicts(self) -> VerdictCache | None:
        """The cache, opened on first use: who judges has to be known by then."""
        if self._cache is None and self._cache_at is not False:
            at = self._cache_at
            if isinstance(at, VerdictCache):
                self._cache = at
            elif at is True:
                if isinstance(self._source, str):
                    self._cache = VerdictCache(default_path(self._identity))
            else:
                path = Path(str(at))
                self._cache = VerdictCache(path if path.suffix else path / default_path(self._identity).name)
        return self._cache

    async def __call__(self, row: Row) -> Verdict:
        """
        The verdict on a row.

        Args:
            row (`Mapping`):
                A rollout.

        Returns:
            [`Verdict`]: `reward` is `None` when the model could not tell, or its answer could not be read.

        Raises:
            [`ModelError`]: The model did not answer this call.
            [`ModelStopError`]: It will answer no call.
        """
        if self._source is None:
            self.bind((row.get("model_version"),))
        facts = facts_of(row) if self.use_privileged else []
        asked = user_text(row, self.scale, facts)
        if asked is None:
            return _unjudged("the row has nothing to judge: no messages, steps, prompt or final_text")
        try:
            system = self._system(row)
        except ConfigurationError:  # what is wrong with it may quote it
            return _unjudged("the row's own rubric cannot be used: it has no criteria, or is no text, list or dict")
        size = len(system) + len(asked.text)
        if self.context_chars is not None and size > self.context_chars:
            return _unjudged(f"the run does not fit: {size} characters, and context_chars is {self.context_chars}")
        cache = self._verdicts()
        hidden = Hidden(row if self.use_privileged else _rubric_only(row), asked.shown)
        if cache is None:
            return await self._ask(system, asked, hidden)
        key = VerdictCache.key(self._identity, system, asked.text)
        kept = cache.get(key)
        if isinstance(kept, Mapping) and isinstance(kept.get("value"), int | float):
            return self._verdict(Reading(float(kept["value"]), kept.get("reason")))
        made = await self._ask(system, asked, hidden)
        if made.reward is not None:
            cache.put(key, {"value": made.meta.get("rating", made.reward), "reason": made.reason})
        return made

    def _system(self, row: Row) -> str:
        if self._given_system is not None:
            return self._given_system
        own = standard_of(row)
        return system_text(template("default_rubric") if own is None else own, self.scale)

    async def _ask(self, system: str, asked: Asked, hidden: Hidden) -> Verdict:
        messages = [{"role": "system", "content": system}, {"role": "user", "content": asked.text}]
        try:
            completion = await self.model.complete(messages, schema=self._schema)
        except ModelError as error:
            shown = hidden.error(error, self.model.name)
            if is_too_long(error) and not isinstance(error, ModelStopError):
                return _unjudged(f"the run does not fit the judge's context: {shown}")
            if shown is error:
                raise
            raise shown from None
        if completion.finish_reason == "length":
            problem = "the judge's reply is cut off at its token cap; give the model a higher max_tokens"
            return _unjudged(problem, JudgeStatus.INVALID_RESULT)
        reading = read_verdict(completion.message.get("content"), self.scale)
        told = [text and hidden(text) for text in (reading.reason, reading.problem)]
        return self._verdict(Reading(reading.value, told[0], told[1], reading.abstained))

    def _verdict(self, reading: Reading) -> Verdict:
        if not isinstance(reading.value, float):
            status = JudgeStatus.MISSING_REWARD if reading.abstained else JudgeStatus.INVALID_RESULT
            return _unjudged(reading.problem or "no verdict", status, reading.reason)
        meta = {"rating": reading.value} if self.scale.likert else {}
        return Verdict(self.scale.reward(reading.value), reason=reading.reason, meta=meta)


def _rubric_only(row: Row) -> Row:
    """Of what is privileged, the rubric: all that a judge is shown without the facts."""
    privileged = row.get("privileged")
    return {"privileged": {"rubric": privileged.get("rubric")}} if isinstance(privileged, Mapping) else {}


def _made(source: Any) -> Model:
    return as_model(source, temperature=_TEMPERATURE) if isinstance(source, str) else as_model(source)


def _unjudged(problem: str, status: JudgeStatus = JudgeStatus.MISSING_REWARD, reason: str | None = None) -> Verdict:
    return Verdict(None, status, reason, meta={"error": problem})


register_hash(Judge)
