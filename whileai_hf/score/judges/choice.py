"""Reading which of two answers a judge preferred.

JSON, then marks (`[[A]]`, `Winner: B`), then a reply that is nothing but an option, then sentences that call one the
better. A sentence that concludes ("Therefore, Output (b) is better.") outweighs those before it; without one, they
have to agree. A preference that is only hinted at is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from whileai_hf.errors import ConfigurationError
from whileai_hf.score.judges.hits import is_unsure, quote
from whileai_hf.score.judges.json_text import find_json
from whileai_hf.score.judges.keyed import reason_of
from whileai_hf.score.judges.plain import plain, without_reasoning
from whileai_hf.score.judges.reading import Reading


_NOUN = (
    r"(?:output|response|answer|assistant|reply|model|option|candidate|completion|summary|agent|trajectory|rollout"
    r"|choice|system)"
)
_TIES = ("tie", "draw", "equal", "both", "same", "neither", "c", "0")
_TIE_SAID = re.compile(
    r"\b(?:it(?:'s| is) a (?:tie|draw)|(?:a|the) tie\b|both\b[^.\n]{0,60}\bequal(?:ly)?\b"
    r"|equally (?:good|well|bad|strong|helpful)|neither\b[^.\n]{0,40}\b(?:better|superior|preferable)"
    r"|no (?:clear )?(?:winner|preference)|are (?:equal|tied|equivalent))",
    re.IGNORECASE,
)
_CUE = re.compile(
    r"\b(?:therefore|thus|hence|overall|in conclusion|in summary|in short|to conclude|so|finally|ultimately"
    r"|consequently|as a result|on balance|based on)\b",
    re.IGNORECASE,
)
_KEYS = ("winner", "choice", "preferred", "preference", "better", "best", "verdict", "answer", "label", "decision",
         "result", "selection", "output")  # fmt: skip
# "[[A>>B]]", "A = B": both options with a sign between.
_RANKED = re.compile(r"(?P<left>[^\W_]{1,20}) ?(?P<sign>>{1,2}|={1,2}|<{1,2}) ?(?P<right>[^\W_]{1,20})")
_RANKED_MARK = re.compile(rf"\[\[ ?{_RANKED.pattern} ?\]\]")
_PREFIX = re.compile(rf"{_NOUN}[ _-]", re.IGNORECASE)
_MORE = r"(?:better|best|superior|preferable|preferred|stronger|winner)\b"
_NOT = re.compile(
    r"(?:\b(?:not|never|neither|nor|cannot|refuse|if|whether|than|as)|n't)\b[^.;:\n]{0,25}$", re.IGNORECASE
)
_TAKEN_BACK = re.compile(r"\b(?:but|wait|actually|no|wrong|mistaken?|although|though|however)\b", re.IGNORECASE)


class _Said(NamedTuple):
    at: int
    option: str | None
    concludes: bool = False


@lru_cache(maxsize=64)
def _patterns(names: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """
    A lone option, one in brackets or after a label, sentences that prefer one (option first, or last), and those in
    which the judge says which it takes.
    """
    either = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    option = rf"(?:the )?(?:(?:{_NOUN} ?)?[(\[\"']{{0,2}}(?P<option>{either})[)\]\"']{{0,2}})"
    named = rf"(?:the )?{_NOUN} ?[(\[\"']{{0,2}}(?P<option>{either})\b[)\]\"']{{0,2}}"
    # Without a noun a lone letter has to be a capital or in brackets: "a" is also an article.
    capital = "|".join(re.escape(name.upper() if len(name) == 1 else name) for name in names)
    loose_named = named.replace("?P<option>", "?P<noun>")
    bare = (
        rf"(?:{loose_named}|(?:[(\[]{{1,2}}|\A)(?P<listed>{either})[)\]]{{1,2}}|\"?(?-i:(?P<option>{capital}))\b\"?)"
    )
    chosen = bare.replace("?P<option>", "?P<chosen>").replace("?P<noun>", "?P<other>")
    alone = re.compile(rf"{option}(?: is better| wins| is the winner)?", re.IGNORECASE)
    marked = re.compile(
        rf"\[\[ ?(?:{_NOUN} ?)?(?P<bracketed>\w{{1,20}}) ?\]\]"
        rf"|\b(?:winner|verdict|choice|preference|preferred(?: {_NOUN})?|better(?: {_NOUN})?|decision|judge?ment"
        r"|answer|selection|result)(?: is)? ?(?::|=|-+>|is)[ \n]{0,3}"
        rf"(?:the )?(?:{_NOUN} ?)?[(\[\"']{{0,2}}(?P<labelled>\w{{1,20}})[)\]\"']{{0,2}}"
        r"(?=\s?(?:[.,;!\n]|$)| (?:because|since|as|is|wins|by|[-\u2013\u2014(]))(?![ ,]{0,2}(?:or|and|/)\b)",
        re.IGNORECASE,
    )
    adverbs = (
        r"(?: (?:clearly|slightly|overall|much|far|significantly|somewhat|definitely|therefore|generally|the|a|an))*"
    )
    first = re.compile(
        rf"(?<!\w){bare},?"
        r"(?: (?:is|was|seems|appears|would be|is judged|is considered|is rated)(?: to be)?"
        rf"{adverbs} ?{_MORE}"
        rf"| (?:wins|outperforms|is the winner|performs better|does better|beats)\b)",
        re.IGNORECASE,
    )
    loose = re.compile(
        rf"(?<!\w){named},?(?: \w{{1,20}}){{0,2}} (?:better|more|superior|best)\b"
        rf"|\b(?:prefer|choose|chose|pick|select|vote for|go with) {chosen}",
        re.IGNORECASE,
    )
    taken = re.compile(
        rf"\bI(?:'ll| will)? (?:prefer|choose|chose|pick|picked|select|selected|vote for|go with) {chosen}"
        r"(?= ?(?:[.,;!\n]|$)| (?:because|since|over)\b)",
        re.IGNORECASE,
    )
    return alone, marked, first, loose, taken


class _Options:
    """The options of a choice and how judges spell them."""

    def __init__(self, options: Sequence[str]) -> None:
        self.names = tuple(str(option) for option in options)
        lower = [name.casefold() for name in self.names]
        if len(set(lower)) != len(lower) or len(lower) < 2 or not all(name.strip() for name in lower):
            raise ConfigurationError(
                f"options={options!r:.80}; pass at least two different names, such as ('A', 'B', 'tie')"
            )
        self.tie = next((name for name in self.names if name.casefold() in ("tie", "draw", "equal")), None)
        self.sides = tuple(name for name in self.names if name != self.tie)
        self._by_spelling = {name.casefold(): name for name in self.names}
        if self.tie is not None:
            for spelling in _TIES:
                self._by_spelling.setdefault(spelling, self.tie)

    def spelled(self, text: str) -> str | None:
        """The option a word stands for, `model_a` included."""
        word = text.strip(" .,;:!()[]\"'").casefold()
        side = self._by_spelling.get(_PREFIX.sub("", word, count=1))
        return self._by_spelling.get(word) or (side if side in self.sides else None)

    def ranked(self, match: re.Match[str]) -> str | None:
        """The option that stands on the better side of a sign."""
        left, right = self.spelled(match["left"]), self.spelled(match["right"])
        if left == right or not {left, right} <= set(self.sides):
            return None
        return self.tie if match["sign"][0] == "=" else left if match["sign"][0] == ">" else right

    def whole(self, text: str) -> str | None:
        """The option a text stands for that says nothing else."""
        bare = " ".join(text.split()).strip(" .!;,\"'")
        alone = _patterns(self.sides)[0].fullmatch(bare)
        if alone is not None:
            return self.spelled(alone["option"])
        if self.tie is not None and _TIE_SAID.fullmatch(bare):
            return self.tie
        ranked = _RANKED.fullmatch(bare)
        return self.ranked(ranked) if ranked is not None else self.spelled(bare)


def _from_json(value: Any, options: _Options) -> tuple[bool, str | None]:
    """Whether a JSON object says which, and which."""
    if not isinstance(value, dict):
        return False, None
    lower = {str(key).strip().lower(): item for key, item in value.items()}
    for key in _KEYS:
        if isinstance(lower.get(key), str | int) and not isinstance(lower[key], bool):
            return True, options.whole(str(lower[key]))
    return False, None


def _denied(text: str, at: int) -> bool:
    return _NOT.search(text, max(0, at - 40), at) is not None


def _concludes(text: str, at: int) -> bool:
    """Whether the sentence up to here began with a concluding word."""
    start = max(text.rfind(stop, 0, at) for stop in (". ", "\n", "! ", "? "))
    return _CUE.search(text, max(0, start), at) is not None


def _named(match: re.Match[str]) -> str:
    """The option a sentence names: exactly one of the groups took part."""
    return next(text for text in match.groups() if text is not None)


def _taken(text: str, options: _Options) -> Iterator[re.Match[str]]:
    """
    "I choose A" where it is the judge's last word: not quoted, not taken back behind it, and no other option named,
    be it for another criterion.
    """
    for match in _patterns(options.sides)[4].finditer(text):
        before, after = text[: match.start()], text[match.end() :]
        chosen = options.spelled(_named(match))
        others = [name.upper() if len(name) == 1 else name for name in options.names if name != chosen]
        mentioned = re.search(rf"\b(?:{'|'.join(map(re.escape, others))})\b", f"{before} {after}")
        if mentioned is None and not before.count('"') % 2 and not _TAKEN_BACK.search(after):
            yield match


def _marks(text: str, options: _Options) -> list[_Said]:
    said = [
        _Said(match.start(), options.ranked(match), True)
        for match in _RANKED_MARK.finditer(text)
        if not _denied(text, match.start())
    ]
    for match in _patterns(options.sides)[1].finditer(text):
        word = match["bracketed"] or match["labelled"]
        option = options.spelled(word)
        # In brackets anything is an answer; after "the better answer is" a word of prose may follow.
        if option is not None or match["bracketed"]:
            said.append(_Said(match.start(), option, True))
    return sorted(said, key=lambda item: item.at)


def _sentences(text: str, options: _Options) -> list[_Said]:
    said: list[_Said] = []
    _, _, first, loose, _ = _patterns(options.sides)
    for match in chain(first.finditer(text), _taken(text, options)):
        if not _denied(text, match.start()):
            said.append(_Said(match.start(), options.spelled(_named(match)), _concludes(text, match.start())))
    for match in loose.finditer(text):
        # Being better at something is a preference only where the judge concludes.
        concludes = _concludes(text, match.start())
        if concludes and not _denied(text, match.start()) and not _denied(text, match.end()):
            said.append(_Said(match.start(), options.spelled(_named(match)), True))
    for match in _TIE_SAID.finditer(text):
        if not _denied(text, match.start()):
            said.append(_Said(match.start(), options.tie, _concludes(text, match.start())))
    return sorted(said, key=lambda item: item.at)


def _decide(said: list[_Said]) -> tuple[bool, str | None]:
    """Whether the sentences come to one conclusion, and which."""
    final = [item for item in said if item.concludes]
    if final:
        return True, final[-1].option
    named = {item.option for item in said}
    return len(named) == 1, next(iter(named), None)


def read_choice(text: str | None, options: Sequence[str] = ("A", "B", "tie")) -> Reading:
    """
    Which option a judge preferred.

    Args:
        text (`str`):
            Its reply.
        options (`Sequence[str]`, *optional*, defaults to `("A", "B", "tie")`):
            The two answers as they were named to the judge, and `"tie"` where that was allowed.

    Returns:
        [`Reading`]: Its value is one of the options as they were given, or `None` with the problem.

    Raises:
        [`ConfigurationError`]: Fewer than two options.

    Examples:
    ```python
    >>> read_choice("Both are polite. Therefore, Output (b) is better.", ("a", "b")).value
    'b'
    >>> read_choice("My verdict: [[C]]").value, read_choice("Output (a) is not better.", ("a", "b")).value
    ('tie', None)

    ```
    """
    known = _Options(options)
    if not isinstance(text, str) or not text.strip():
        return Reading(None, problem="the judge answered nothing")
    said = without_reasoning(text)
    found, cut = find_json(said)
    if cut or not said.strip():
        return Reading(None, problem=f"the judge's reply is cut off: {quote(said)}")
    for item in reversed(found):
        told, option = _from_json(item.value, known)
        if told:
            return _reading(option, reason_of(item.value), said)
    words = plain(said)
    reason = said.strip() if len(said.split()) > 2 else None
    if is_unsure(words):
        return Reading(None, reason, f"the judge cannot tell: {quote(words)}", abstained=True)
    marks = _marks(words, known)
    if marks:
        return _reading(marks[-1].option, reason, said)
    lines = words.split("\n")
    whole = known.whole(words) or (known.whole(lines[0]) if len(lines) > 1 else None)
    sentences = _sentences(words, known)
    decided, option = _decide(sentences)
    if whole is not None and (not decided or option == whole):
        return Reading(whole, reason)
    return _reading(option if decided and whole is None else None, reason, said)


def _reading(option: str | None, reason: str | None, said: str) -> Reading:
    problem = None if option is not None else f"no single preference could be read in {quote(said)}"
    return Reading(option, reason, problem)
