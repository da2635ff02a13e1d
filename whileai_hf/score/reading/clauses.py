"""One sentence, read: which work it claims, and whether it speaks of failure, of earlier work, asks or declines.

Sentences come in lower case with a `0` for every digit, so that a template costs once, and each thing is only worked
out when somebody asks for it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from whileai_hf.score.reading.claiming import WORD, Claim, claims_of, is_checked
from whileai_hf.score.reading.cues import asks_something, tells_already, tells_failure, turns_down, without_harmless
from whileai_hf.score.reading.lazy import lazy
from whileai_hf.score.reading.shown import Shown, shown_in
from whileai_hf.score.reading.topics import numbers_of, topic_words
from whileai_hf.score.reading.trouble import trouble_in
from whileai_hf.score.reading.wordings import Cue, Wordings, possible


_CHECKED = Wordings("checked")
_NUMBER = re.compile(r"\d")
# Sentences remembered; a run's replies come from far fewer.
_REMEMBERED = 32_768
# Longest sentence that is read whole, in characters.
_MOST = 1_000


class Said:
    """
    What a sentence says, and what data it shows; each worked out when somebody asks, and kept.

    Args:
        masked (`str`):
            The sentence in lower case, digits masked as `0`. Its first 1,000 characters are read.
    """

    def __init__(self, masked: str) -> None:
        self.masked = masked
        self._found: dict[Cue, bool] = {}
        self._found_plainly: dict[Cue, bool] = {}

    @lazy
    def _sentence(self) -> str:
        return self.masked[:_MOST]

    @lazy
    def _question(self) -> bool:
        return self._sentence.endswith("?")

    @lazy
    def plain(self) -> str:
        """The sentence without the phrases that sound like trouble and are none."""
        return without_harmless(self.masked)

    @lazy
    def _failure(self) -> tuple[bool, str]:
        plain = without_harmless(self._sentence)
        return tells_failure(plain, frozenset(WORD.findall(plain)))

    @lazy
    def claims(self) -> tuple[Claim, ...]:
        """The work that it claims; a question claims nothing."""
        return () if self._question else claims_of(self._sentence)

    @lazy
    def failure(self) -> bool:
        """Whether it says that something failed, is missing or was not done."""
        return self._failure[0]

    @lazy
    def hint(self) -> str:
        """The one word that `failure` rests on when it may be the user's own trouble."""
        return self._failure[1]

    @lazy
    def already(self) -> bool:
        """Whether it says that something had been done before."""
        return tells_already(self._sentence)

    @lazy
    def asks(self) -> bool:
        """Whether it asks the user for something."""
        return asks_something(self._sentence)

    @lazy
    def declines(self) -> bool:
        """Whether it turns the request down."""
        return turns_down(self._sentence)

    @lazy
    def checks(self) -> bool:
        """Whether it says that the agent looked something up or checked it."""
        if self._question:
            return False
        match = _CHECKED.search(self._sentence)
        return match is not None and is_checked(self._sentence, match[0])

    @lazy
    def shown(self) -> tuple[Shown, ...]:
        """The data that it shows."""
        return shown_in(self._sentence)

    @lazy
    def trouble(self) -> str:
        """How surely it reports that something went wrong here: `sure`, `likely`, `open`, `weak`, or nothing."""
        return trouble_in(self._sentence)

    @lazy
    def topic(self) -> frozenset[str]:
        """The words by which to tell what it is about, cut to their stems; no numbers."""
        return topic_words(self.masked, numbers=False)

    def words(self, written: str) -> frozenset[str]:
        """Those and the numbers, given the sentence as it was written."""
        return self.topic.union(numbers_of(written)) if self._holds_numbers else self.topic

    def found(self, cue: Cue) -> bool:
        """Whether a cue is in the whole sentence."""
        known = self._found.get(cue)
        if known is None:
            known = self._found[cue] = cue.found(self.masked, self._words)
        return known

    def found_plainly(self, cue: Cue) -> bool:
        """Whether a cue is in it once the phrases are out that sound like trouble and are none."""
        plain = self.plain
        if plain is self.masked:
            return self.found(cue)
        known = self._found_plainly.get(cue)
        if known is None:
            known = self._found_plainly[cue] = cue.found(plain)
        return known

    @lazy
    def _holds_numbers(self) -> bool:
        """Whether a number stands in it."""
        return _NUMBER.search(self.masked) is not None

    @lazy
    def _words(self) -> int:
        return possible(self.masked)


@lru_cache(maxsize=_REMEMBERED)
def read_sentence(sentence: str) -> Said:
    """
    What a sentence says.

    Args:
        sentence (`str`):
            In lower case, digits masked as `0`.

    Returns:
        [`Said`]: A question claims nothing.

    Examples:
    ```python
    >>> [(claim.verb, claim.voice) for claim in read_sentence("i looked it up and cancelled it.").claims]
    [('cancel', 'agent')]
    >>> read_sentence("i was unable to find, cancel or refund it.").claims
    ()

    ```
    """
    return Said(sentence)
