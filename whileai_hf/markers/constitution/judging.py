"""A judge that holds replies to a constitution: a verdict on every trait, under the trait's own name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from whileai_hf.markers.constitution.spec import Spec, load_spec
from whileai_hf.rows.hashing import register_hash
from whileai_hf.rows.view import Row
from whileai_hf.score.rubrics import Criterion, Rubric, RubricJudge, rubric_judge
from whileai_hf.score.rubrics.judge import MARKER
from whileai_hf.score.verdicts import Verdict


class ConstitutionJudge:
    """
    Judges rows by a constitution; made by [`constitution_judge`].

    Args:
        spec ([`Spec`]):
            The constitution.
        judge ([`RubricJudge`]):
            Goes through its traits.
    """

    name = "constitution_judge"
    gives_shares = True

    def __init__(self, spec: Spec, judge: RubricJudge) -> None:
        self.spec = spec
        self._judge = judge
        self.concurrency = judge.concurrency

    def bind(self, policies: Iterable[str | None]) -> ConstitutionJudge:
        """Settles the default model for rows of these policies; without effect when a model was named."""
        self._judge.bind(policies)
        return self

    def provenance(self) -> dict[str, Any]:
        """What every verdict of this judge has in common, for `judge_meta`."""
        return {**self._judge.provenance(), "spec_version": self.spec.version}

    def columns(self) -> Sequence[str] | None:
        """The row columns it reads."""
        return self._judge.columns()

    def hash_state(self) -> list[object]:
        """What `Dataset.map` fingerprints in place of the object itself."""
        return [*self._judge.hash_state(), self.spec.version]

    async def __call__(self, row: Row) -> Verdict:
        """The verdict on a row; a marker for each trait that could be assessed."""
        verdict = await self._judge(row)
        markers = {name.removeprefix(MARKER): value for name, value in verdict.markers.items()}
        return replace(verdict, markers=markers)


register_hash(ConstitutionJudge)


def constitution_judge(spec: Any, model: Any = None, **knobs: Any) -> ConstitutionJudge:
    """
    A judge that gives a verdict on each trait of a constitution.

    Args:
        spec ([`Spec`], or what [`load_spec`] reads):
            The constitution.
        model (`str`, [`~whileai_hf.actors.models.Model`] or `Callable`, *optional*):
            Who judges; the default judge otherwise.
        **knobs:
            As for [`~whileai_hf.score.rubrics.rubric_judge`]: `per_call`, `max_unassessed`, `cache`, ...

    Returns:
        [`ConstitutionJudge`]: Its markers bear the names [`Spec.behaviors`] gives; the reward is the share of the
        assessed traits that a reply lives up to. A trait that a row says nothing about has no marker there.

    Examples:
    ```python
    >>> import asyncio
    >>> from whileai_hf.actors import ScriptedModel
    >>> spec = load_spec([{"id": "candour", "principle": "Says what is true even when it disappoints."}])
    >>> judge = constitution_judge(spec, ScriptedModel(['{"c1": {"reason": "It flattered.", "verdict": "unmet"}}']))
    >>> verdict = asyncio.run(judge({"prompt": "Is my plan good?", "final_text": "It is brilliant!"}))
    >>> verdict.reward, verdict.markers
    (0.0, {'candour': 0.0})

    ```
    """
    known = load_spec(spec)
    rubric = Rubric(tuple(Criterion(trait.id, f"{trait.name}: {trait.principle}") for trait in known.traits))
    return ConstitutionJudge(known, rubric_judge(model, rubric=rubric, **knobs))
