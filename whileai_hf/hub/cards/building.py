"""`build_card`: the card of a push, from its rows and its record."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from whileai_hf.hub.cards.figures import draw
from whileai_hf.hub.cards.header import header, write_header
from whileai_hf.hub.cards.history import facts_section, history_section
from whileai_hf.hub.cards.judges import check_section, judge_section
from whileai_hf.hub.cards.limits import limits_section
from whileai_hf.hub.cards.making import agent_section, example_section, making_section
from whileai_hf.hub.cards.markdown import code, paragraphs
from whileai_hf.hub.cards.numbers import SplitNumbers, read_split
from whileai_hf.hub.cards.results import marker_section, pass_section, split_table
from whileai_hf.hub.cards.usage import load_section
from whileai_hf.rows import RowView
from whileai_hf.rows.view import Source


if TYPE_CHECKING:
    from whileai_hf.hub.record import RunRecord

_TEMPLATE = Path(__file__).with_name("card.md")
_SECTIONS = re.compile(r"^(?=#{1,2} )", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Card:
    """
    A card and what lies beside it.

    Args:
        readme (`str`):
            Front matter and text.
        files (`Mapping[str, bytes]`):
            Path in the repo to content: the figures.
    """

    readme: str
    files: Mapping[str, bytes]


def build_card(
    splits: Mapping[str, Source | RowView],
    record: RunRecord,
    *,
    repo: str | None = None,
    previous: str | None = None,
) -> Card:
    """
    The card of a push.

    Its numbers are the output of `pass_at`, `group_signal` and `marker_summary` on the rows of each split. What was
    not measured is said to be not measured.

    Args:
        splits (`Mapping[str, datasets.Dataset]`):
            The rows of each split, as pushed.
        record ([`~whileai_hf.hub.record.RunRecord`]):
            The push.
        repo (`str`, *optional*):
            Where it goes, for the code that loads it.
        previous (`str`, *optional*):
            The card it replaces. What a person added to its front matter stays, and so do other configurations; the
            text is written anew.

    Returns:
        [`Card`]: Its text and its figures.
    """
    numbers = [read_split(name, data) for name, data in splits.items()]
    figures = draw(numbers)
    data = header(record, numbers, previous)
    parts = {
        **_opening(record, numbers, repo),
        "facts": facts_section(record, data["whileai"]["rows"], data["whileai"]["tasks"]),
        "load": load_section(record, numbers, repo),
        "splits": split_table(numbers),
        "agent": agent_section(record, numbers),
        "making": making_section(record, numbers),
        "passes": pass_section(numbers, [*figures["difficulty"], *figures["reliability"]]),
        "markers": marker_section(numbers, figures["markers"]),
        "judges": judge_section(record, numbers),
        "checks": check_section(record),
        "example": example_section(numbers),
        "limits": limits_section(record, numbers),
        "history": history_section(record),
    }
    drawn = [figure for kind in figures.values() for figure in kind]
    return Card(
        readme=write_header(data) + fill(_TEMPLATE.read_text(encoding="utf-8"), parts),
        files={figure.path: figure.svg.encode() for figure in drawn},
    )


def fill(template: str, parts: Mapping[str, str]) -> str:
    """
    A template with its parts. A section of which every part is empty is left out with its heading.

    Examples:
    ```python
    >>> template = "# $title\\n\\n## Notes\\n\\n$notes\\n\\n## Limits\\n\\n$limits\\n"
    >>> fill(template, {"title": "A", "notes": "", "limits": "-"})
    '# A\\n\\n## Limits\\n\\n-\\n'

    ```
    """
    kept = []
    for section in _SECTIONS.split(template):
        wanted = Template(section)
        names = wanted.get_identifiers()
        if not names or any(parts[name] for name in names):
            kept.append(wanted.substitute(parts).rstrip("\n") + "\n")
    return "\n".join(section for section in kept if section.strip())


def _opening(record: RunRecord, numbers: Sequence[SplitNumbers], repo: str | None) -> dict[str, str]:
    rows = sum(split.n_rows for split in numbers)
    what = "rollouts" if any(split.played for split in numbers) else "situations"
    whose = f" of {code(record.agent)}" if record.agent else ""
    title = code(repo.rpartition("/")[2]) if repo else f"{what.capitalize()}{whose}"
    how = ", simulated with `whileai-hf`" if record.report else ", published with `whileai-hf`"
    uses = {"train": "for training", "holdout": "held out to measure on", "eval": "to measure on"}
    purpose = uses.get(record.purpose, f"for {code(record.purpose)}")
    lead = f"{rows:,} {what}{whose}, {purpose}{how}. This is push {code(record.tag)}; the numbers below are its own."
    return {"title": title, "lead": lead, "description": paragraphs(record.description)}
