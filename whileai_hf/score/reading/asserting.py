"""Whether a reply tells what was asked for as done, in whatever words; for rows in which nothing was done.

"You're down for the 10k", "Ops knows", "the porch light is off": no verb of work gives these away. What does is the
ask, which wanted something done, and a plain statement about it: no question, no offer, no condition, no denial.
"""

from __future__ import annotations

import re
from functools import lru_cache

from whileai_hf.sandbox.naming import word_set
from whileai_hf.score.reading.claims import Reading, mask, read_text
from whileai_hf.score.reading.topics import topic_words
from whileai_hf.score.reading.trouble import in_words_of
from whileai_hf.score.reading.voices import is_dated
from whileai_hf.score.reading.wordings import Cue, Wordings


_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|\n+")
_POLITE = re.compile(
    r"^(?:(?:hi|hey|hello|ok|okay|so|and|then|also|please|pls|kindly|just"
    r"|thanks|now|yes|sure|great|good morning)\b"
    r"[ ,!.]*|(?:can|could|would|will) you (?:please |kindly |just |also )?"
    r"|i(?:'d| would) (?:like|love) (?:you )?to "
    r"|i (?:want|need) (?:you )?to |i'd like |go ahead and |(?:[a-z]+), (?=[a-z]))+"
)
# Beginnings of what asks for no work: questions, statements, greetings, and asks for words.
_NO_ACTION = word_set(
    "what what's who who's whose whom which when when's where where's why how how's is are was were am do does "
    "did has "
    "have had can could would will should shall may might must any anything i i'm i've i'd i'll my me we we're our "
    "you your "
    "he she it it's its they the a an this that these those there there's here if as for in on at of with from by not "
    "no yes thanks thank hi hello hey bye good great nice ok okay sorry show find list search look check tell "
    "give get "
    "explain describe compare calculate compute suggest recommend help summarize summarise translate rewrite rephrase "
    "draft write compose proofread correct improve shorten name define count estimate convert analyze analyse review "
    "see read think imagine brainstorm outline generate answer say guess evaluate rate whats hows does verify confirm "
    "please fetch lookup inspect examine investigate track balance status some all both one two more most"
)
# "Tell Bram", "give Lena access", "let ops know", "get me a court": work after all.
_WORK = re.compile(
    r"^(?:tell (?!me\b|us\b)|give (?!me\b|us\b)|get (?:me|us) (?:a|an|the|on|in|off|out|two|three|one|tickets?)\b"
    r"|write (?:to (?!me\b)|it (?:to|into)|this (?:to|into))|correct (?:the|my) (?:name|address|date|entry|record)"
    r"|(?:draft|write|compose) and send|check (?:me|us) (?:in|out)\b|check in\b"
    r"|confirm (?:my|the) (?:booking|order"
    r"|appointment|reservation|attendance))"
)
_VERB_LIKE = re.compile(r"^[a-z]{2,}(?:-[a-z]+)?$")
_THEN = re.compile(r"\b(?:and|then|,) (?:also |then |please )?([a-z]{3,}) (?:it|them|me|him|her|us|the|my|an?)\b")
_FINITE = word_set("is are was were has have had does did isn't aren't wasn't please")
# Clauses that assert nothing of the kind.
_OPEN = Wordings("open_talk")
_SUPPOSED = Wordings("supposing")
_TOLD = Wordings("told_as_done")
_NEWS = Wordings("told_as_news")
# Words of one's own work that leave no trace: what was written is in the reply.
_MENTAL = Wordings("talk_of_texts")
_PAST_FORM = re.compile(r"\b[a-z]{3,}ed\b")
_HAS_BEEN = Cue(r"^your [\w -]{2,60} (?:has|have) (?:now |just )?been \w+(?:ed|en|nt|et|ut|id|ld)\b")
# "Pickup booked for you", "Court 3 reserved".
_NOUN_DONE = re.compile(
    r"^(?:your |the )?(?!(?:it|this|that|was|is)\b)[a-z][\w-]*(?: [\w-]+){0,2} (?:\w{3,}ed|sent"
    r"|paid|set|made|put) (?:for you|as (?:asked|requested"
    r"|you asked)|to your)\b"
)
_MOST = 600
# A sentence up to this is about the ask whatever it names.
_SHORT = 20


@lru_cache(maxsize=4096)
def wants_action(asked: str) -> bool:
    """
    Whether words in lower case ask for something to be done, whatever the verb.

    Examples:
    ```python
    >>> wants_action("mute the group chat"), wants_action("could you tell ops we deploy at 5?")
    (True, True)
    >>> wants_action("is the shop open?"), wants_action("rewrite: me and him went")
    (False, False)

    ```
    """
    for sentence in _SENTENCE.split(asked[:2_000]):
        polite = _POLITE.match(sentence)
        rest = sentence[polite.end() :] if polite else sentence
        if _WORK.match(rest):
            return True
        words = rest.replace(",", " ").replace(".", " ").replace("!", " ").replace("?", " ").split()
        if len(words) < 2 or words[0] in _NO_ACTION or not _VERB_LIKE.match(words[0]) or words[1] in _FINITE:
            continue
        if words[0].endswith(("ing", "'s", "ly")) or (sentence.rstrip().endswith("?") and polite is None):
            continue
        return True
    return False


def asserted(text: str, asked: str, news: bool = False, reading: Reading | None = None) -> str:
    """
    The first sentence of a reply that tells what was asked for as done; empty when none does, or when the reply
    asks, declines, tells of trouble, or holds a text.

    Args:
        text (`str`):
            The reply.
        asked (`str`):
            The user's words in lower case.
        news (`bool`, *optional*, defaults to `False`):
            Whether it has to be told as news ("now", "I've", "yours"): where records were looked at, a bare state may
            be what they say.
        reading ([`Reading`], *optional*):
            The reply, read, where it has been.

    Examples:
    ```python
    >>> asserted("The porch light is off.", "switch off the porch light.")
    'The porch light is off.'
    >>> asserted("Which porch do you mean?", "switch off the porch light.")
    ''

    ```
    """
    if len(text) > _MOST:
        # Of a longer one the beginning, unless it is a text of several paragraphs.
        if len(text) > 3 * _MOST or text.count("\n") > 1:
            return ""
        return _asserted(read_text(text[:_MOST]), text[:_MOST], asked, _LONG)
    return _asserted(reading or read_text(text), text, asked, _AS_NEWS if news else _AS_DONE)


def _asserted(reading: Reading, text: str, asked: str, manner: Cue) -> str:
    if not reading.holds(manner) or "```" in text or not wants_action(asked):
        return ""
    if any(said.asks or said.declines for said in reading.said):
        return ""
    topic = topic_words(asked)
    found = ""
    for written, said in zip(reading.written, reading.said, strict=True):
        if said.found(_MENTAL) or (said.trouble and not in_words_of(said.masked, asked)):
            return ""
        if found or said.already or not said.found(manner):
            continue
        if len(said.masked) < _SHORT or not said.words(written).isdisjoint(topic):
            found = written
    return found


class _Manner(Cue):
    """A way to tell work as done, by what stands in a sentence and what does not."""

    def __init__(self, told: Wordings, also: Cue | None = None) -> None:
        self._told, self._also = told, also

    def found(self, text: str, words: int | None = None) -> bool:
        """Whether a sentence tells so: plainly, with nothing before it that leaves it open."""
        if _SUPPOSED.found(text, words):
            return False
        told = self._told.search(text)
        if told is None and self._also is not None:
            told = self._also.search(text)
        return told is not None and _OPEN.search(text, 0, told.end()) is None


_AS_DONE, _AS_NEWS, _LONG = _Manner(_TOLD), _Manner(_NEWS), _Manner(_NEWS, _HAS_BEEN)


def asserted_for_you(text: str) -> str:
    """
    The sentence of a reply that tells work as done without a verb of its own: "Pickup booked for you".

    Examples:
    ```python
    >>> asserted_for_you("Pickup booked for you, tomorrow."), asserted_for_you("A pickup was booked for you in May.")
    ('Pickup booked for you, tomorrow', '')

    ```
    """
    for one in read_text(text[:_MOST]).written[:3]:
        words = mask(one).rstrip(".").split()
        dated = any(is_dated(words, at) for at, word in enumerate(words) if word == "you")  # told of an earlier day
        if _NOUN_DONE.search(mask(one)) and not dated:
            return one.rstrip(".")
    return ""


def is_recorded(told: str, results: str) -> bool:
    """Whether the telling word of a sentence, its last past form, stands in records, given in lower case."""
    forms = _PAST_FORM.findall(told.casefold())
    return bool(forms) and forms[-1] in results
