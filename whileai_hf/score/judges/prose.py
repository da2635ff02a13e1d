"""Verdicts in prose: marks judges were told to use, replies that are nothing but a verdict, phrases about a score."""

from __future__ import annotations

import re
from collections.abc import Iterator

from whileai_hf.score.judges.amounts import AMOUNT, ENDS, RANGE, read_amount
from whileai_hf.score.judges.hits import AMOUNT_ALONE, BRACKETED, Hit, agreed, from_text, is_unsure, off_scale, quote
from whileai_hf.score.judges.scales import VerdictScale


# Characters of a line that are looked at after a label.
_LINE_CHARS = 200
# Labels that are looked at, from the end: the last verdict counts, and no reply has this many.
_MOST_LABELS = 200
_LABELS = (
    r"final (?:score|grade|rating|verdict|answer|judge?ment|decision|result)|overall (?:score|grade|rating|verdict)"
    r"|(?:total|my) (?:score|grade|rating|verdict)|grade|score|rating|verdict|judge?ment|decision|reward|result|answer"
    r"|assessment|conclusion|overall|total|final|mark|pass ?/ ?fail|yes ?/ ?no"
)
_LABELLED = re.compile(
    rf"(?<![\w'-])(?P<label>{_LABELS})(?: is| was| of)?\s?(?::|=|-+>|\u2192|\u2013|\u2014|-(?=\s))\s*", re.IGNORECASE
)
_PHRASE = re.compile(
    r"(?:\bscor(?:e|es|ed|ing)(?: is| was| of| it| this| the \w{1,20}| at| as)?"
    r"|\brat(?:e|es|ed|ing)(?: is| was| of| it| this| the \w{1,20}| at| as)?"
    r"|\bg[ia]v(?:e|es|en|ing) (?:it|this|the \w{1,20})|\b(?:deserves?|earns?|gets?|receives?|award(?:s|ed)?)(?: it)?"
    rf"|^)(?: an?| the)?(?: score| rating| grade)?(?: of)?[ :]{{0,2}}{AMOUNT}{ENDS}",
    re.IGNORECASE | re.MULTILINE,
)
_FRACTION = re.compile(rf"(?<![\w/.]){AMOUNT}{ENDS}", re.IGNORECASE)
_WORD = re.compile(r"[\"'(\[]{0,2}(?P<word>[^\W\d_]+|[01])[\"')\]]{0,2}")
# A denied or supposed verdict is none: "not a 5", "if it had asked, the score would be 9".
_NEGATED = re.compile(
    r"(?:\bnot|n't|\bnever|\bcannot|\binstead of|\brather than|\bhardly)\b[^.;:!?\n]{0,30}$"
    r"|\b(?:if|unless|would have|could have)\b[^.;:!?\n]{0,110}$",
    re.IGNORECASE,
)
_NEGATED_CHARS = 130
_ENDED = re.compile(r"\s?(?:[.,;:!?)\]\n*-]|$|(?:for|because|since|as|overall|and|but|or|to)\b)")
_HYPOTHETICAL = re.compile(r"\s?(?:would|means?|requires?|is (?:for|given|reserved)|if\b|=)", re.IGNORECASE)


def _after_label(text: str, at: int, scale: VerdictScale) -> Hit | None:
    """The verdict that follows a label; `None` when prose follows."""
    line = text[at : at + _LINE_CHARS].partition("\n")[0].strip()
    if not line:
        return None
    bracketed = BRACKETED.match(line)
    if bracketed is not None:
        return _within(bracketed[1], at, scale)
    amount = AMOUNT_ALONE.match(line.lstrip("[(\"'"))
    if amount is not None:
        rest = line.lstrip("[(\"'")[amount.end() :]
        if RANGE.match(rest):
            return Hit(at, None, f"the judge gave a range: {quote(line)}")
        number = read_amount(amount)
        if number.in_words and re.match(r" \w", rest):
            return None  # "one of the best"
        value = scale.number(*number[:2])
        return Hit(at, value, None if value is not None else off_scale(scale, line))
    if len(line.split()) <= 4 and is_unsure(line.split(". ")[0]):
        return Hit(at, None, f"the judge cannot tell: {quote(line)}", abstained=True)
    return _word_after_label(line, at, scale)


def _word_after_label(line: str, at: int, scale: VerdictScale) -> Hit | None:
    denied = line.lower().startswith("not ")
    word = _WORD.match(line[4:].lstrip() if denied else line)
    if word is None:
        return None
    rest = (line[4:].lstrip() if denied else line)[word.end() :]
    value = scale.words.get(word["word"].casefold())
    prose = rest.startswith(" ") and not re.match(r" (?:because|since|as|due|[-\u2013\u2014(,;:])", rest)
    if prose and (len(word["word"]) == 1 or value is None or len(rest.split()) > 3):
        return None if len(rest.split()) > 1 or value is None else Hit(at, None, off_scale(scale, line))
    if value is None:
        return Hit(at, None, off_scale(scale, line)) if scale.words else None
    other = _other_word(rest, value, scale) or _takes_back(rest, value, scale)
    if other or (denied and value != 1.0):
        return Hit(at, None, f"the judge gave no single verdict: {quote(line)}")
    return Hit(at, 0.0 if denied else value)


def _other_word(rest: str, value: float, scale: VerdictScale) -> bool:
    """Whether "and no" or "/fail" follows a "yes" or "pass"."""
    following = re.match(r"[ ,]{0,2}(?:and|or|but|/|\||-)+ ?([^\W\d_]+)", rest)
    return following is not None and scale.words.get(following[1].casefold(), value) != value


def _within(inner: str, at: int, scale: VerdictScale) -> Hit:
    hit = from_text(inner, scale) or Hit(0, None, off_scale(scale, inner))
    return Hit(at, hit.value, hit.problem, hit.abstained)


def _negated(text: str, at: int) -> bool:
    return _NEGATED.search(text, max(0, at - _NEGATED_CHARS), at) is not None


def _marked(text: str, scale: VerdictScale) -> Iterator[Hit]:
    """Verdicts in marks a judge was told to use: `[[7]]`, `GRADE: C`."""
    for bracketed in list(BRACKETED.finditer(text))[-_MOST_LABELS:]:
        if not _negated(text, bracketed.start()):
            yield _within(bracketed[1], bracketed.start(), scale)
    prose: dict[str, int] = {}
    labelled: dict[str, list[Hit]] = {}
    for label in list(_LABELLED.finditer(text))[-_MOST_LABELS:]:
        name = label["label"].lower()
        if _negated(text, label.start()):
            continue
        hit = _after_label(text, label.end(), scale)
        if hit is None:
            prose[name] = label.start()
        else:
            labelled.setdefault(name, []).append(Hit(label.start(), hit.value, hit.problem, hit.abstained))
    for name, hits in labelled.items():
        yield from hits
        # The same label again, followed by words: the judge went on thinking, and how it ended is not known.
        if prose.get(name, -1) > hits[-1].at:
            yield Hit(prose[name], None, "the judge went back on its verdict in words")


def _alone(text: str, scale: VerdictScale) -> list[Hit]:
    """Verdicts that are the first or the last line, or the first word before a comma or full stop."""
    lines = text.split("\n")
    hits: list[Hit] = []
    for line in dict.fromkeys((lines[0], lines[-1])):
        hit = from_text(line, scale)
        if hit is not None and (hit.value is not None or len(lines) == 1 or hit.abstained):
            hits.append(hit)
    first = re.match(r"[\"'(]?([^\W\d_]{2,})[\"')]?(?=[.,;:!\n]|\s[-\u2013\u2014]|\s(?:and|or|but)\b|$)", text)
    if first is not None:
        value = scale.words.get(first[1].casefold())
        rest = text[first.end() :]
        if value is not None and (_other_word(rest, value, scale) or _takes_back(rest, value, scale)):
            return [Hit(0, None, f"the judge gave no single verdict: {quote(text)}")]
        # "No" and "correct" also begin sentences; before a comma or a full stop they are answers. "Failed: 0" counts.
        if value is not None and not hits and not re.match(r" ?: ?\d", rest):
            hits.append(Hit(0, value))
    return hits


def _takes_back(rest: str, value: float, scale: VerdictScale) -> bool:
    """Whether a later sentence opens with another verdict."""
    openings = re.finditer(
        r"(?:[.!?;:,\n]|\s[-\u2013\u2014])\s{0,3}(?:wait,? |actually,? |well,? )?([^\W\d_]+)(?=[.,;!\n]|$)",
        rest,
        re.IGNORECASE,
    )
    return any(scale.words.get(opening[1].casefold(), value) != value for opening in openings)


def _phrased(text: str, scale: VerdictScale) -> list[Hit]:
    """Numbers in phrases about the score, and numbers given out of the top of the scale."""
    if not scale.likert:
        return []
    hits: list[Hit] = []
    for pattern in (_PHRASE, _FRACTION):
        for match in list(pattern.finditer(text))[-_MOST_LABELS:]:
            amount = read_amount(match)
            if pattern is _FRACTION and (amount.base is None or scale.number(amount.base) != amount.base):
                continue
            if match.start() == match.start("amount") and pattern is _PHRASE:
                continue  # a line that merely begins with a number
            rest = text[match.end() : match.end() + 30]
            if amount.in_words and (amount.base is None or pattern is _PHRASE):
                continue  # "rates this one highly"
            if pattern is _FRACTION and not _ENDED.match(rest):
                continue  # "7/10 sources are cited"
            if _negated(text, match.start()) or _HYPOTHETICAL.match(rest):
                continue
            if RANGE.match(rest):
                hits.append(Hit(match.start(), None, f"the judge gave a range: {quote(text[match.start() :])}"))
                continue
            value = scale.number(*amount[:2])
            hits.append(Hit(match.start(), value, None if value is not None else off_scale(scale, match.group())))
    return hits


def last_mark(text: str, scale: VerdictScale) -> Hit | None:
    """The last verdict in a mark, `None` when there is none."""
    return max(_marked(text, scale), key=lambda hit: hit.at, default=None)


def from_prose(text: str, scale: VerdictScale) -> Hit | None:
    """The verdict of a reply in prose, `None` when it has none."""
    last = last_mark(text, scale)
    if last is not None:
        later = [hit for hit in _phrased(text, scale) if hit.at > last.at and hit.value is not None]
        return agreed([last, *later]) if last.value is not None else last
    alone = _alone(text, scale)
    return agreed(alone) if alone else agreed(_phrased(text, scale))
