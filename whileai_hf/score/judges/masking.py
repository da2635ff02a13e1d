"""Taking out of a judge's reason what only the judge was allowed to see.

Reasons ride on rows that become training data. What a judge was told about a task must not: a value of it, a run of
its words, or a number, an id or a name in it that the run itself never showed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence


MASK = "[privileged]"
# A run of this many words in common is a quotation; fewer happen by chance ("the order has already been").
_RUN = 5
# The same in characters, for scripts that write no spaces between words.
_RUN_CHARS = 4
_WORD = re.compile(r"[^\W_]+(?:[.,'/:_@-][^\W_]+)*")
# Chinese, Japanese, Thai, Lao, Khmer, Burmese; Korean writes spaces, but joins particles to the words.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+"
)
_LABELLED = re.compile(r"^[ \t]{0,9}[^\n:=]{1,60}?[ \t]?[:=][ \t]{0,9}(?=[^\n/])([^\n]+)$", re.MULTILINE)
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_GROUPED_DOTS = re.compile(r"\d{1,3}(?:\.\d{3})+,\d+")
_DECIMAL = re.compile(r"\d+(?:[.,]\d+)?")
_SENTENCE_END = re.compile(r"[.!?:\n]\s*[\"'(]*$")
# Characters between the end of a sentence and the next word.
_LOOK_BACK = 8
_Span = tuple[int, int]


def _word(text: str) -> str:
    """A word for comparing: lower case, no possessive, a number in one notation."""
    word = text.casefold().removesuffix("'s")
    if not word[:1].isdigit():
        return word
    if _GROUPED.fullmatch(word):
        word = word.replace(",", "")
    elif _GROUPED_DOTS.fullmatch(word):
        word = word.replace(".", "").replace(",", ".")
    elif _DECIMAL.fullmatch(word):
        word = word.replace(",", ".")
    if "." in word and word.replace(".", "", 1).isdigit():
        word = word.rstrip("0").rstrip(".")
    return word


def _straight(text: str) -> str:
    return text.replace("\u2019", "'")


def _words(text: str) -> list[str]:
    return [_word(found) for found in _WORD.findall(_straight(text))]


def _values(secret: str) -> Iterator[str]:
    """A secret, and what stands behind the labels in it: "swordfish" of "password: swordfish"."""
    yield secret
    for labelled in _LABELLED.finditer(secret):
        yield labelled[1]


def _names(secret: str, known: set[str]) -> set[str]:
    """Words of a secret written with a capital inside a sentence, or anywhere in a text too short to be one."""
    found = set()
    short = len(_WORD.findall(secret)) < _RUN
    for match in _WORD.finditer(secret):
        text = match.group()
        if len(text) < 3 or not text[0].isupper() or _word(text) in known:
            continue
        before = secret[max(0, match.start() - _LOOK_BACK) : match.start()]
        if short or (match.start() > 0 and _SENTENCE_END.search(before) is None):
            found.add(_word(text))
    return found


def _is_mark(word: str) -> bool:
    return any(letter.isdigit() or letter in "_@" for letter in word)


def _hits(text: str, spans: Sequence[re.Match[str]], secret: str, known: set[str], whole: bool) -> Iterator[_Span]:
    """Where a text repeats a secret, word by word."""
    said = [_word(span.group()) for span in spans]
    words = _words(secret)
    size = min(_RUN, len(words)) if whole else _RUN
    runs = {tuple(words[at : at + size]) for at in range(len(words) - size + 1)} if words else set()
    # One or two words that the run shows as well ("yes", "Paris") give nothing away.
    if len(words) < _RUN and known.issuperset(words):
        runs = set()
    marks = {word for word in words if word not in known and _is_mark(word)}
    names = _names(_straight(secret), known)
    for at, span in enumerate(spans):
        if said[at] in marks or (said[at] in names and span.group()[0].isupper()):
            yield span.span()
        if runs and tuple(said[at : at + size]) in runs:
            yield span.start(), spans[at + size - 1].end()
    # Words of other shapes are joined to what stands around them: "owner:Rotterdam", "id=CX-551".
    atoms = {word for word in marks | (set(words) if whole and len(words) == 1 and runs else set()) if len(word) > 3}
    for atom in atoms:
        if not atom.replace(".", "").isdigit():
            yield from (found.span() for found in re.finditer(rf"(?<![^\W_]){re.escape(atom)}(?![^\W_])", text, re.I))


def _unspaced_hits(text: str, secret: str, shown: str) -> Iterator[_Span]:
    for run in _UNSPACED.findall(secret):
        size = min(_RUN_CHARS, len(run))
        grams = {run[at : at + size] for at in range(len(run) - size + 1)}
        for gram in grams:
            if size > 1 and gram not in shown:
                yield from (found.span() for found in re.finditer(re.escape(gram), text))


def mask(text: str, secrets: Sequence[str], shown: str, standards: Sequence[str] = ()) -> str:
    """
    A text without the secrets it quotes.

    Args:
        text (`str`):
            The judge's reason.
        secrets (`Sequence[str]`):
            Values it must not repeat.
        shown (`str`):
            What is known anyway: words of it are no secrets.
        standards (`Sequence[str]`, *optional*):
            Texts it was to go by, whose wording is a secret: a few common words of them are none.

    Examples:
    ```python
    >>> mask("It missed ticket T-991, as the reference says.", ["Open ticket T-991 first."], "Open a ticket.")
    'It missed ticket [privileged], as the reference says.'
    >>> mask("It is swordfish, for 1,204.50.", ["password: swordfish", "1204.5"], "What is it?")
    'It is [privileged], for [privileged].'

    ```
    """
    straight = _straight(text)  # as long as the text, so that places in one are places in the other
    spans = list(_WORD.finditer(straight))
    known = set(_words(shown))
    hits: set[_Span] = set()
    for whole, given in ((True, secrets), (False, standards)):
        for secret in given:
            for value in _values(secret) if whole else (secret,):
                hits.update(_hits(straight, spans, value, known, whole))
            hits.update(_unspaced_hits(text, secret, shown))
    return _without(text, sorted(hits)) if hits else text


def _without(text: str, hits: list[_Span]) -> str:
    """The text with the hits, and what joins neighbouring ones, replaced."""
    joined: list[list[int]] = []
    for start, end in hits:
        if joined and (start <= joined[-1][1] or not _WORD.search(text, joined[-1][1], start)):
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([start, end])
    pieces: list[str] = []
    done = 0
    for start, end in joined:
        pieces += (text[done:start], MASK)
        done = end
    return "".join([*pieces, text[done:]])
