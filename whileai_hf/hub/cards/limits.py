"""What a reader must not take the rows for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from whileai_hf.hub.cards.markdown import bullets
from whileai_hf.hub.cards.numbers import SplitNumbers
from whileai_hf.hub.cards.told import mapping
from whileai_hf.measure.passes.tally import MIN_GROUPS


if TYPE_CHECKING:
    from whileai_hf.hub.record import RunRecord

# Rollouts per task below which a pass rate per task is a rough guess.
_FEW_REPEATS = 8
_TEMPLATE_WRITER = "template"


def limits_section(record: RunRecord, splits: Sequence[SplitNumbers]) -> str:
    """Known limits, those that hold for these rows only."""
    return bullets([*_of_making(record), *_of_numbers(splits)])


def _of_making(record: RunRecord) -> Iterator[str]:
    if record.report is None:
        yield "How the rows were made is not recorded, so nothing here says how far they stand for real use."
        return
    yield (
        "Situations, people and tool results are simulated: tools answered from a mock world made from their schemas, "
        "not from a real system. Rates on them are rates on simulated situations."
    )
    roles = mapping(record.report.get("roles"))
    if roles.get("writer") == _TEMPLATE_WRITER:
        yield "The requests were written from templates: they vary in content more than in wording."
    if roles and roles.get("user") is None:
        yield "Nobody answered the agent back: conversations have one message of the person who asks."


def _of_numbers(splits: Sequence[SplitNumbers]) -> Iterator[str]:
    for split in splits:
        if split.passes is None:
            continue
        tasks, k = len(split.passes.per_task), split.passes.k
        if tasks < MIN_GROUPS:
            yield f"`{split.name}` has {tasks} graded task{'s' * (tasks != 1)}: too few for an interval."
        elif k is None or k < _FEW_REPEATS:
            size = "one rollout" if k is None else f"as few as {k} rollouts"
            yield (
                f"`{split.name}` has {size} of a task: the histogram of pass rates is wider than the difficulty of "
                "the tasks, and single tasks can be far off."
            )
    if any(split.passes is not None for split in splits):
        yield "Pass rates are those of the policy and the judge named above; another of either gives other numbers."
