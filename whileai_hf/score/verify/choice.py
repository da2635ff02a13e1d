# ruff: noqa: RUF001 - look-alike signs are what this module is about
"""A verifier of multiple choice: which option did the reply pick?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.score.verify.base import Verifier
from whileai_hf.score.verify.denials import denied, may_deny
from whileai_hf.score.verify.options import LETTERS, Options, read_options
from whileai_hf.score.verify.reply import squashed
from whileai_hf.score.verify.stated import closing, stated


# An option at the head of an answer: "C", "(C)", "**C**", "option C", "C) Paris".
_HEAD = re.compile(
    r"[\s*_`\"'“‘(\[{$]{0,6}(?:\\(?:text|mathrm|boxed)\{)?(?:(?:the\s)?(?:option|choice|letter)\s)?[\s*_`\"'“(\[{]{0,6}"
    r"(?P<label>[A-Za-z]|\d{1,2})(?![\w'’]|[.,]\d)(?P<mark>[\s*_`\"'”’)\]}$]{0,6}[.):\]]?)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"(?<![\w'’])(?:[A-Z]|\d{1,2})(?![\w'’]|[.,]\d)")
# Another option right behind one: "B or C", "A, B", "A/B", "A and (B)".
_MORE = re.compile(
    r"[\s*_`\"')\]}.]{0,4}(?:,|;|/|&|\||\b(?:or|and|oder|und|ou|et|y)\b)[\s*_`\"'(\[{]{0,4}"
    r"(?:(?:or|and)\s)?(?:option\s)?[(\[*]{0,3}(?P<label>[A-Z]|\d{1,2})(?![\w'’]|[.,]\d)"
)
# Letters marked as options in running text; a bare capital is a word there ("A dog", "I think").
_DECORATED = re.compile(
    r"\(([A-Z])\)|\*\*\(?([A-Z])\)?[.):]?(?:\*\*|\s)|^[ \t]{0,8}(?:[-•][ \t])?\(?([A-Z])[).:](?=\s|$)"
    r"|\b(?:option|Option|OPTION|choice|Choice)\s\(?([A-Z])\b|\b([A-Z])\)\s|\b([A-Z])\s(?:is|would\sbe)\s(?:the\s)?(?:correct|right|best)\b",
    re.MULTILINE,
)
# Another option with nothing but its mark in between: "A) B) C)".
_ADJACENT = re.compile(r"[\s(*]{0,4}([A-Z]|\d{1,2})(?:[).\]*]|$)")
_BARE_LINE = re.compile(r"^[ \t]{0,8}([A-Z])[ \t]*$", re.MULTILINE)
_REASONED = re.compile(r"\s*(?:,|-|–|—|:|;|\n|because\b|since\b|as\b)")
_DENIED_BEFORE = re.compile(
    r"(?:\b(?:not|never|neither|nor|than)|n['’]t)\s[\s*_(]{0,4}(?:option\s|choice\s)?$", re.IGNORECASE
)
_DENIED_AFTER = re.compile(
    r"[\s)\].:*_]{0,6}(?:(?:is|are|was|seems|looks)(?:n['’]t)?\s)?(?:the\s)?(?:not|wrong|incorrect|false)\b|[\s)*_]{0,4}isn['’]t\b",
    re.I,
)
# Letters and texts are looked for in this many last characters of a reply.
_TAIL = 8_000


class MultipleChoice(Verifier):
    r"""
    1 when the reply picks the gold option, and no other.

    The choice is what the reply marks as its answer ("The answer is (C)", `\boxed{C}`, "#### C"), else the one letter
    it marks at all (`C`, `(C)`, `**C**`, "C) Paris", "option C"), else the one option whose text it contains. A reply
    that picks two different options, or lists them all, scores 0 with a reason: naming more than one is no answer, and
    leaving it unjudged would make hedging free. An option that the reply denies ("not B but C") is not picked.

    Args:
        choices (`Sequence[str]` or `Mapping[str, str]`, *optional*):
            The options' texts in order (labelled `A`, `B`, ...), or label to text. Without it: the row's `choices`
            column, also in the form `{"label": [...], "text": [...]}`; without that the letters `A` to `J` are
            options and texts are not recognised.
        field (`str`, *optional*):
            Where the gold answer is; see [`Verifier`]. It may be a label, an option's text, or the option's position
            counted from 0.
        name (`str`, *optional*):
            Name in the rows.

    Examples:
    ```python
    >>> judge = MultipleChoice(choices=["Rome", "Oslo", "Paris"])
    >>> judge({"final_text": "The answer is **C**.", "answer": "C"})["reward"]
    1.0
    >>> judge({"final_text": "It must be Paris.", "answer": 2})["reward"]
    1.0
    >>> judge({"final_text": "B or C", "answer": "C"})
    {'reward': 0.0, 'reason': 'the reply picks B and C'}

    ```
    """

    name = "multiple_choice"
    searches = True
    reads = ("choices",)

    def __init__(
        self,
        *,
        choices: Sequence[str] | Mapping[str, str] | None = None,
        field: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(field=field, name=name)
        self.options = None if choices is None else read_options(choices)
        if choices is not None and self.options is None:
            raise ConfigurationError(
                f"MultipleChoice(choices={choices!r:.80}) are no options; pass the texts of two or more, or a mapping "
                "of label to text"
            )

    def look(self, candidate: str, gold: Any, row: Mapping[str, Any]) -> dict[str, Any]:
        """The verdict with the options of the row, unless they were given at construction."""
        given = row.get("choices")
        if self.options is not None or given is None:
            return self.judge(candidate, gold)
        options = read_options(given)
        if options is None:
            return {"reward": None, "reason": f"the column choices holds no options: {given!r:.80}"}
        return _compare(candidate, gold, options)

    def check(self, candidate: str, gold: Any) -> Any:
        """Compares the options picked with the gold one."""
        return _compare(candidate, gold, self.options or LETTERS)


def _compare(candidate: str, gold: Any, options: Options) -> dict[str, Any]:
    wanted = [options.gold(item) for item in (gold if isinstance(gold, list | tuple) else [gold])]
    if not any(wanted):
        return {"reward": None, "reason": f"the gold answer {gold!r:.60} is none of the options"}
    picks = picked(candidate, options)
    if len(picks) == 1:
        return {"reward": 1.0} if picks[0] in wanted else {"reward": 0.0, "reason": f"the reply picks {picks[0]}"}
    return {
        "reward": 0.0,
        "reason": f"the reply picks {' and '.join(picks)}" if picks else "the reply picks no option",
    }


def picked(reply: str, options: Options) -> list[str]:
    """
    The options a reply picks.

    Args:
        reply (`str`):
            What the agent said.
        options ([`Options`]):
            What there was to pick from.

    Returns:
        `list[str]`: Different labels; more than one when the reply does not decide.

    Examples:
    ```python
    >>> picked("A is tempting, but the answer is (B).", LETTERS), picked("(A) or (B)", LETTERS)
    (['B'], ['A', 'B'])

    ```
    """
    found = _different(label for answer in stated(reply) for label in _head(answer, options, marked=True))
    if not found:
        found = _different(_head(reply, options, marked=False))
    if not found:
        tail = reply[-_TAIL:]
        found = _different(_decorated(tail, options)) or options.mentioned(tail)
    if found and may_deny(reply):
        wrong = _denied(closing(reply)[-_TAIL:], options)
        found = [label for label in found if label not in wrong]
    return found


def _denied(text: str, options: Options) -> set[str]:
    """The options that a text denies, by their letter or by their text."""
    wrong = options.denied(text)
    for match in _LABEL.finditer(text):
        label = options.label(match.group())
        if label is not None and denied(text, *match.span()):
            wrong.add(label)
    return wrong


def _different(labels: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(labels))


def _head(answer: str, options: Options, *, marked: bool) -> list[str]:
    """The options an answer begins with; `marked` when the reply said that this is its answer."""
    if len(answer) <= 400 and (whole := options.with_text(answer.strip().strip("$"))) is not None:
        return [whole]
    match = _HEAD.match(answer)
    label = options.label(match.group("label")) if match is not None else None
    if match is None or label is None:
        return options.mentioned(answer) if marked else []
    rest = answer[match.end() :]
    mark = match.group("mark")
    sure = not rest.strip(" \t\n*_`.!)}]$\"'") or _ends(mark) or ("\n" in mark and not _label_line(rest, options))
    more = _more(answer, match.end("label"), options)
    # "c" in front of other words is a word; so may be "A", unless a reason follows or the mark vouches for it.
    a_word = match.group("label").islower() or not (marked or _REASONED.match(rest))
    if a_word and not sure and not more:
        return options.mentioned(answer) if marked else []
    if not marked:
        if _DENIED_AFTER.match(answer, match.end("label")):
            return []
        more += [] if "\n" in mark else _listing(rest, mark, options)
    elif (next_one := _ADJACENT.match(rest)) is not None:
        more += [other for other in [options.label(next_one.group(1))] if other is not None]
    return [label, *more, *_contradicting(rest, label, options)]


def _listing(rest: str, mark: str, options: Options) -> list[str]:
    """The options a reply goes on to list behind its first: on the same line, or at the head of the next."""
    lines = [line for line in rest[:_TAIL].splitlines() if line.strip()][:2]
    sign = re.escape(mark.strip()[-1:] or ")")
    patterns = (
        rf"(?:^|(?<=\s))[(*]{{0,3}}(\w{{1,2}}){sign}{{1,2}}(?=\s|$)",
        rf"^\s{{0,8}}[-*•(\s]{{0,4}}(\w{{1,2}}){sign}(?=[\s*]|$)",
    )
    found = []
    for line, pattern in zip(lines, patterns, strict=False):
        for match in re.finditer(pattern, line):
            label = options.label(match.group(1))
            if label is not None and not match.group(1).islower() and not _DENIED_AFTER.match(line, match.end(1)):
                found.append(label)
    return found


def _label_line(rest: str, options: Options) -> bool:
    """Whether the next line is another label on its own."""
    return options.label(rest.partition("\n")[0].strip(" \t*_`.()")) is not None


def _ends(mark: str) -> bool:
    return any(char in mark for char in ".):]*")


def _more(answer: str, end: int, options: Options) -> list[str]:
    found = []
    while (match := _MORE.match(answer, end)) is not None:
        label = options.label(match.group("label"))
        # "C, I think".
        if label is not None and (label != "I" or options.texts):
            found.append(label)
        end = match.end()
    return found


def _contradicting(rest: str, label: str, options: Options) -> list[str]:
    """The label of another option whose text stands right behind the letter: "B) Paris" where Paris is C."""
    if not options.texts:
        return []
    form = squashed(rest[:400].lstrip(" )].:*_-–—"))
    known = dict(zip(options.labels, options.texts, strict=False))
    begins = [name for name, text in known.items() if text and (form + " ").startswith(text) and _stops(form, text)]
    longest = max(begins, key=lambda name: len(known[name]), default=label)
    return [] if longest == label or known[longest] == known.get(label) else [longest]


def _stops(form: str, text: str) -> bool:
    return not form[len(text) : len(text) + 1].isalnum()


def _decorated(text: str, options: Options) -> Iterable[str]:
    for pattern in (_DECORATED, _BARE_LINE):
        for match in pattern.finditer(text):
            start, end = match.span(match.lastindex or 0)
            label = options.label(match.group(match.lastindex or 0))
            if (
                label is None
                or _DENIED_AFTER.match(text, end)
                or _DENIED_BEFORE.search(text[max(0, start - 24) : start])
            ):
                continue
            yield label
            yield from _more(text, end, options)
