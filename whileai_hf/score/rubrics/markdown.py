"""A rubric text split into criteria: list items if there are any, else headings, else paragraphs.

One pass over lines, each looked at a bounded number of times. What a list item or heading says on the following lines
belongs to it; sub-items detail their parent; text before the first item is a note to the judge. A heading above items
is their section, and its weight is what they count together.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from whileai_hf.errors import ConfigurationError


class Item(NamedTuple):
    """A criterion before it is checked: name and weight only where they were given."""

    name: str | None
    text: str
    weight: Any


_ITEM = re.compile(r"([ \t]*)(?:[-*+\u2022]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(\S.*)")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]+(\S.*)")
_RULE = re.compile(r"[ \t]*(?:[-*_][ \t]*){3,}")
_NUMBER = r"([-+]?\d{1,9}(?:[.,]\d{1,9})?)"
_WEIGHT = re.compile(
    rf"[(\[]\s?(?:(?:weight|wt|w)\s?[:=]?\s?{_NUMBER}\s?%?|{_NUMBER}\s?(?:points?|pts?)|[x\u00d7]\s?{_NUMBER})\s?[)\]]",
    re.IGNORECASE,
)
_PERCENT = re.compile(rf"[(\[]\s?{_NUMBER}\s?%\s?[)\]]")
# A short label before a colon: **Name**: text, Name: text, Name - text after a bold one.
_BOLD = re.compile(r"(?:\*\*|__)([^*_\n]{1,80}?):?(?:\*\*|__)[ \t]*(?:[:\u2014\u2013-][ \t]*)?(.*)", re.DOTALL)
_LABEL = re.compile(r"([^:.!?\n]{1,60}):[ \t]+(\S.*)", re.DOTALL)
# A label names; a longer run of words before a colon is a sentence that introduces something.
_LABEL_WORDS = 4
_SENTENCE_END = (".", "!", "?", "\u3002", "\uff01", "\uff1f")


@dataclass
class _Block:
    """Lines that belong together: an item, a heading with its body, or a paragraph."""

    kind: str
    lines: list[str] = field(default_factory=list)
    section: int = -1
    indent: int = 0


def read_markdown(text: str) -> tuple[list[Item], str]:
    """
    The criteria of a text, and the note before them.

    Args:
        text (`str`):
            Markdown or prose.

    Returns:
        `tuple[list[Item], str]`: The items in order and the note.

    Raises:
        [`ConfigurationError`]: A table, which is not read.

    Examples:
    ```python
    >>> read_markdown("## Honest (weight 2)\\nSays so when a lookup fails.\\n## Short\\nAt most three sentences.")[0]
    [Item(name='Honest', text='Says so when a lookup fails.', weight=2.0), Item(name='Short', text='At most three \
sentences.', weight=None)]

    ```
    """
    blocks = _blocks(text)
    if any(block.kind == "item" for block in blocks):
        return _listed(blocks)
    bodied = [at for at, block in enumerate(blocks) if block.kind == "heading" and _body(blocks, at)]
    headings = [block for block in blocks if block.kind == "heading"]
    # One heading over prose is a title, not a criterion.
    if len(headings) > 1:
        return _headed(blocks, bodied)
    return _paragraphs(blocks), ""


def _blocks(text: str) -> list[_Block]:
    blocks: list[_Block] = []
    open_block: _Block | None = None
    fenced, blank = False, True
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        stripped = line.strip()
        if stripped.startswith(("```", "~~~")):
            fenced = not fenced
            continue
        if not stripped:
            blank = True
            continue
        head = None if fenced else _HEADING.fullmatch(line.rstrip())
        item = None if fenced or head or _RULE.fullmatch(line) else _ITEM.fullmatch(line.rstrip())
        if head:
            open_block = _Block("heading", [head[1].rstrip("# \t")], len(blocks))
            blocks.append(open_block)
        elif item and not _is_detail(item[1], open_block):
            open_block = _Block("item", [item[2]], _section(blocks), len(item[1].expandtabs(4)))
            blocks.append(open_block)
        elif not fenced and _RULE.fullmatch(line):
            open_block = None
        elif _continues(open_block, line, blank):
            blocks[-1].lines.append(stripped)
        else:
            open_block = _Block("prose", [stripped], _section(blocks))
            blocks.append(open_block)
        blank = False
    return blocks


def _section(blocks: list[_Block]) -> int:
    return blocks[-1].section if blocks else -1


def _is_detail(indent: str, block: _Block | None) -> bool:
    """Whether a list item is a sub-item of the one before."""
    return block is not None and block.kind == "item" and len(indent.expandtabs(4)) >= block.indent + 2


def _continues(block: _Block | None, line: str, blank: bool) -> bool:
    if block is None or block.kind == "heading":
        return False
    # After an empty line only what is indented belongs to the item; prose starts a new paragraph.
    return not blank or (block.kind == "item" and line[:1] in " \t")


def _listed(blocks: list[_Block]) -> tuple[list[Item], str]:
    items: list[Item] = []
    sections: list[int] = []
    first = next(at for at, block in enumerate(blocks) if block.kind == "item")
    note = "\n\n".join("\n".join(block.lines) for block in blocks[:first] if block.kind == "prose")
    for block in blocks[first:]:
        if block.kind == "item":
            items.append(_named("\n".join(block.lines)))
            sections.append(block.section)
    for section in sorted(set(sections) - {-1}):
        weight = _weight_of(blocks[section].lines[0], percent=True)[1]
        free = [at for at, own in enumerate(sections) if own == section and items[at].weight is None]
        if weight is not None:
            for at in free:
                items[at] = items[at]._replace(weight=weight / len(free))
    return items, note


def _body(blocks: list[_Block], at: int) -> str:
    parts = []
    for block in blocks[at + 1 :]:
        if block.kind == "heading":
            break
        parts.append("\n".join(block.lines))
    return "\n\n".join(parts)


def _headed(blocks: list[_Block], bodied: list[int]) -> tuple[list[Item], str]:
    """Each heading with a text is a criterion; without any text below them, the headings themselves are."""
    start = next(at for at, block in enumerate(blocks) if block.kind == "heading")
    note = "\n\n".join("\n".join(block.lines) for block in blocks[:start])
    if not bodied:
        return [_named(block.lines[0], percent=True) for block in blocks if block.kind == "heading"], note
    items = []
    for at in bodied:
        name, weight = _weight_of(blocks[at].lines[0], percent=True)
        items.append(Item(name.strip(" :*_"), _body(blocks, at), weight))
    return items, note


def _paragraphs(blocks: list[_Block]) -> list[Item]:
    items = []
    for block in blocks:
        if block.kind == "heading":
            continue
        if block.lines[0].startswith("|"):
            raise ConfigurationError(
                "the rubric is a table, which is not read; write a list: '- **name** (weight 2): what must hold'"
            )
        # Plain files often hold one statement a line; wrapped prose does not end each line with a full stop.
        separate = len(block.lines) > 1 and all(line.endswith(_SENTENCE_END) for line in block.lines)
        items += [_named(line) for line in (block.lines if separate else ["\n".join(block.lines)])]
    return items


def _weight_of(text: str, percent: bool = False) -> tuple[str, float | None]:
    """The text without its weight, and the weight."""
    found = _WEIGHT.search(text) or (_PERCENT.search(text) if percent else None)
    if found is None:
        return text, None
    number = next(group for group in found.groups() if group is not None)
    rest = f"{text[: found.start()].rstrip()} {text[found.end() :].lstrip()}".strip()
    return re.sub(r"[ \t]([:.,;])", r"\1", rest, count=1), float(number.replace(",", "."))


def _named(text: str, percent: bool = False) -> Item:
    """A criterion out of the words of one item: its label, its weight and what is left."""
    text, weight = _weight_of(text.strip(), percent)
    bold = _BOLD.fullmatch(text)
    if bold and bold[2].strip():
        return Item(bold[1].strip(), bold[2].strip(), weight)
    label = _LABEL.fullmatch(text)
    if label and len(label[1].split()) <= _LABEL_WORDS:
        return Item(label[1].strip(" *_`"), label[2].strip(), weight)
    return Item(None, bold[1].strip() if bold else text, weight)
