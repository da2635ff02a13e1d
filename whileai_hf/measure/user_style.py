"""How people write: length, how early they tell what they know, courtesy and typing slips, one number a conversation.

The numbers are made to be compared between two sets of conversations read the same way, simulated ones and real ones.
On their own they are rough: the typo rate knows no dictionary, only the words of the conversations themselves.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from whileai_hf.actors.users.facts import facts_in
from whileai_hf.actors.users.phrases import plain


_WORD = re.compile(r"[a-z']*[a-z]")
_COURTESY = re.compile(
    r"\b(?:please|pls|thanks?|thank you|thx|cheers|sorry|apolog\w+|excuse me|appreciate\w*|grateful|kindly"
    r"|would you mind|(?:could|would) you|good (?:morning|afternoon|evening)|regards|sincerely"
    r"|have a (?:nice|good|great))\b"
)
# Contractions whose apostrophe is missing; those that are words of their own (its, well, ill, were) are left out.
_UNMARKED = frozenset(
    "dont doesnt didnt cant couldnt wouldnt shouldnt isnt arent wasnt werent hasnt havent hadnt wont im ive youre "
    "youve theyre thats whats theres heres youll theyll itll weve".split()
)
# Letters under which a word has too many neighbours to be told from a slip of one of them.
_SHORTEST = 5
# Conversations a word occurs in, or times an agent says it, before it counts as a word of the language.
_ESTABLISHED = 3


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a person said, turn by turn, and what they were told."""

    turns: tuple[str, ...]
    replies: tuple[str, ...] = ()


def _words(text: str) -> list[str]:
    return _WORD.findall(plain(text).casefold())


def _shortened(word: str) -> set[str]:
    """The word with each letter left out: two words one slip apart share one of these, or one is among the other's."""
    return {word[:i] + word[i + 1 :] for i in range(len(word))} | {word}


def _is_slip(word: str, meant: str) -> bool:
    """One letter missing, added, changed or swapped, in the middle of a word (at its end it would be its grammar)."""
    if word[0] != meant[0] or word[-1] != meant[-1] or abs(len(word) - len(meant)) > 1:
        return False
    start = next((i for i, (a, b) in enumerate(zip(word, meant, strict=False)) if a != b), min(len(word), len(meant)))
    if len(word) != len(meant):
        short, long = sorted((word, meant), key=len)
        return short[start:] == long[start + 1 :]
    if word[start + 1 :] == meant[start + 1 :]:
        return True
    return word[start : start + 2] == meant[start : start + 2][::-1] and word[start + 2 :] == meant[start + 2 :]


class Vocabulary:
    """
    The words that the conversations themselves establish.

    Args:
        conversations (`Iterable[Conversation]`):
            Everything that will be compared, so that both sides are held against the same words.
    """

    def __init__(self, conversations: Iterable[Conversation]) -> None:
        by_people: Counter[str] = Counter()
        by_agents: Counter[str] = Counter()
        for conversation in conversations:
            by_people.update({word for turn in conversation.turns for word in _words(turn)})
            by_agents.update(word for reply in conversation.replies for word in _words(reply))
        self._known = {w for counts in (by_people, by_agents) for w, n in counts.items() if n >= _ESTABLISHED}
        self._index: dict[str, list[str]] = {}
        for word in sorted(self._known):
            if len(word) >= _SHORTEST:
                for form in _shortened(word):
                    self._index.setdefault(form, []).append(word)
        self._seen: dict[str, bool] = {}

    def is_typo(self, word: str) -> bool:
        """Whether a word is a slip of a known one."""
        if word in _UNMARKED:
            return True
        if len(word) < _SHORTEST - 1 or word in self._known or "'" in word:
            return False
        if word not in self._seen:
            meant = {known for form in _shortened(word) for known in self._index.get(form, ())}
            self._seen[word] = any(_is_slip(word, other) for other in meant)
        return self._seen[word]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _front_loading(turns: Sequence[str]) -> float | None:
    """Share of the facts a person tells that they tell in the first message; a single message has no later one."""
    facts = {fact for turn in turns for fact in facts_in(turn)}
    return len(facts_in(turns[0])) / len(facts) if facts and len(turns) > 1 else None


def style_of(conversation: Conversation, vocabulary: Vocabulary) -> dict[str, float | None]:
    """
    The style of one person in one conversation.

    Args:
        conversation ([`Conversation`]):
            What they said.
        vocabulary ([`Vocabulary`]):
            The words typing slips are told by.

    Returns:
        `dict`: `words` (mean words of a turn), `front_loading` (share of their facts told first), `politeness` (share
        of turns with a courtesy), `typo_rate` (share of words with a slip); `None` where undefined.

    Examples:
    ```python
    >>> told = [Conversation(("Where is my order?",), ("Your order is late.",) * 3)]
    >>> style = style_of(Conversation(("my ordder A-4412 pls", "dont know")), Vocabulary(told))
    >>> style["words"], style["front_loading"], style["politeness"], style["typo_rate"]
    (3.0, 1.0, 0.5, 0.3333333333333333)

    ```
    """
    turns = [turn for turn in conversation.turns if turn.strip()]
    words = [word for turn in turns for word in _words(turn)]
    return {
        "words": _mean([len(turn.split()) for turn in turns]),
        "front_loading": _front_loading(turns) if turns else None,
        "politeness": _mean([bool(_COURTESY.search(turn.casefold())) for turn in turns]),
        "typo_rate": _mean([vocabulary.is_typo(word) for word in words]),
    }
