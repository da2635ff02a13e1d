"""Whether a person quotes what only a judge may see.

A quotation is a run of whole words of a privileged sentence that had not been said in the conversation. Values a
person knows (their order's number) are no quotation, and neither are turns of phrase everybody uses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from whileai_hf.actors.users.facts import Told, facts_in
from whileai_hf.actors.users.phrases import plain


# Characters of a verbatim run from which it is taken for a quotation.
SHORTEST_QUOTE = 12
# Words of the run, without function words at its ends, and how many of them must carry meaning.
_FEWEST_WORDS = 3
_FEWEST_CONTENT = 2
_WORD = re.compile(r"[\w'@.-]*\w")
_FUNCTION = frozenset(
    "a about after all already also am an and any are as at back be because been before being both but by can "
    "could did do does doing done down each for from get go had has have he her here him his how i if in "
    "instead into is it its just like made make making me more most my need no not now of off on one only or "
    "other our out over own please right said same say says see she should so some still sure than thank thanks "
    "that the their them then there these they thing this those through to too two under until up us very want "
    "was way we well were what when where which while who why will with without would yes yet you your".split()
)


def _words(text: str) -> list[str]:
    return [word.strip(".'-") for word in _WORD.findall(plain(text).casefold())]


def _runs(said: list[str], secret: list[str]) -> Iterator[list[str]]:
    """The maximal runs of words the two share."""
    lengths = [0] * (len(secret) + 1)
    for i, word in enumerate(said):
        previous, lengths = lengths, [0] * (len(secret) + 1)
        for j, other in enumerate(secret):
            if word != other:
                continue
            lengths[j + 1] = previous[j] + 1
            ends = i + 1 == len(said) or j + 1 == len(secret) or said[i + 1] != secret[j + 1]
            if ends and lengths[j + 1] > 1:
                yield said[i + 1 - lengths[j + 1] : i + 1]


def _is_content(word: str) -> bool:
    return word not in _FUNCTION and not facts_in(word)


def quotations(text: str, secrets: Iterable[str], public: Iterable[str], *, strict: bool = False) -> list[str]:
    """
    The runs of privileged text that `text` repeats.

    Args:
        text (`str`):
            What the person said.
        secrets (`Iterable[str]`):
            Privileged sentences.
        public (`Iterable[str]`):
            What had been said before, the ask included; runs standing there are free to repeat.
        strict (`bool`, *optional*, defaults to `False`):
            Count every run of 12 characters, also one of words everybody uses. For a draft that can be written again.

    Returns:
        `list[str]`: The runs, lowercase.

    Examples:
    ```python
    >>> secret = "The order is on file twice, and the two copies differ."
    >>> quotations("I heard it is on file twice and the two copies differ.", [secret], [])
    ['is on file twice and the two copies differ']
    >>> quotations("The order is late, it could not be found.", [secret], ["the order is"])
    []

    ```
    """
    said = _words(text)
    heard = "\n".join(" ".join(_words(line)) for line in public)
    own = set(heard.split())
    found: dict[str, None] = {}
    for secret in secrets:
        # The name of a tool is not a word a person has.
        found.update((word, None) for word in _words(secret) if "_" in word and word in said and word not in own)
        for run in _runs(said, _words(secret)):
            core = list(run)
            while core and core[0] in _FUNCTION:
                core.pop(0)
            while core and core[-1] in _FUNCTION:
                core.pop()
            whole = " ".join(run)
            if len(whole) < SHORTEST_QUOTE or " ".join(core) in heard:
                continue
            telling = [word for word in core if _is_content(word) and word not in own]
            careful = len(" ".join(core)) >= SHORTEST_QUOTE and len(core) >= _FEWEST_WORDS
            if (strict and any(map(_is_content, core))) or (careful and len(telling) >= _FEWEST_CONTENT):
                found[whole] = None
    return list(found)


def gives_away(text: str, secrets: Iterable[str], told: Told) -> list[str]:
    """Facts of privileged sentences that the person says without having been told them."""
    hidden = {fact for secret in secrets for fact in facts_in(secret)}
    return [fact for fact in facts_in(text) if fact in hidden and not told.has(fact)]
