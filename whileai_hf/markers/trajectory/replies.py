"""A text of the agent, taken apart once for all who read it.

Nearly every reply says nothing that a detector is after. Its sentences are therefore looked at for the words without
which there is nothing to find, digits masked, and what was seen in a sentence is remembered: replies of one agent are
made of few of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from whileai_hf.markers.trajectory.run_claims import mentions_runs
from whileai_hf.markers.trajectory.secrets import may_name
from whileai_hf.score.reading.claims import mask
from whileai_hf.score.reading.cues import pattern
from whileai_hf.score.reading.texts import assistant_texts, user_texts
from whileai_hf.score.reading.words import own_words


# All ends of sentences, written as one of them; a question keeps its mark.
_END = ". "
_ENDS = (("? ", "?. "), ("?\n", "?. "), ("! ", _END), ("; ", _END), ("\n", _END))
# Sentences remembered.
_MOST_SENTENCES = 32_768
# Characters up to which `asserted` reads the whole of a reply, and by these words alone.
_READ_WHOLE = 600
_NEWS = pattern("told_as_news")
_DONE = pattern("told_as_done")


@lru_cache(maxsize=_MOST_SENTENCES)
def _hints(sentence: str) -> tuple[bool, bool]:
    """Whether a masked sentence may name a credential, and whether it may speak of tests or a build."""
    return may_name(f" {sentence}"), mentions_runs(sentence)


@lru_cache(maxsize=_MOST_SENTENCES)
def _tells_done(sentence: str, news: bool) -> bool:
    return (_NEWS if news else _DONE).search(sentence) is not None


class Reply:
    """
    What the agent said at one time.

    Args:
        text (`str`):
            The text.

    Attributes:
        masked (`list[str]`):
            The sentences of its own words, without what it only shows, a `0` for every digit, in lower case.
    """

    __slots__ = ("_own", "_plain", "masked", "text")

    def __init__(self, text: str) -> None:
        own = own_words(text)
        # Of a text that shows nothing, the sentences are all there is, but for marks of emphasis.
        self._plain = text.isascii() and (own is text or own == text.replace("*", ""))
        for end, written in _ENDS:
            if end in own:
                own = own.replace(end, written)
        self.text, self._own = text, own
        self.masked = mask(own).split(_END)

    def written(self) -> list[str]:
        """The sentences of `masked` as they were written."""
        return self._own.split(_END)

    def hints(self) -> tuple[bool, bool]:
        """Whether the text may name a credential ([`may_name`]), and speak of tests or a build ([`mentions_runs`])."""
        if not self._plain:
            return True, True
        names = runs = False
        for sentence in self.masked:
            one, other = _hints(sentence)
            names, runs = names or one, runs or other
        return names, runs

    def may_tell_done(self, news: bool) -> bool:
        """Whether the text may tell something as done in the sense of `asserted`, whose words these are."""
        if len(self.text) > _READ_WHOLE:
            return True
        last = len(self.masked) - 1
        for place, sentence in enumerate(self.masked):
            if place == last:
                sentence = sentence.rstrip()
            # A sentence that begins with a mark is read without it.
            if sentence and (not sentence[0].isalnum() or _tells_done(sentence, news)):
                return True
        return False


def texts_of(row: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """What the agent said, the reply last, and what the user said; plain rows are read in one pass."""
    messages, final, prompt = row.get("messages"), row.get("final_text"), row.get("prompt")
    if type(messages) is not list or not messages or type(final) is not str or type(prompt) is not str:
        return assistant_texts(row), user_texts(row)
    said: list[str] = []
    asked: list[str] = []
    for message in messages:
        if type(message) is not dict:
            return assistant_texts(row), user_texts(row)
        text = message.get("content")
        if text:
            if type(text) is not str:
                return assistant_texts(row), user_texts(row)
            role = message.get("role")
            if role == "assistant":
                said.append(text)
            elif role == "user":
                asked.append(text)
    if final and (not said or said[-1] != final):
        said.append(final)
    if prompt and prompt not in asked[:1]:
        asked.insert(0, prompt)
    return said, asked
