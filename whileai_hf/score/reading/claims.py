"""What a reply says about the work behind it: done, failed, done before, asked, declined.

A claim is read clause by clause: a past form of a verb of work with somebody to have done it, outside the reach of a
negation, a condition or a modal ("I have cancelled it", "it was cancelled", not "I can cancel it", "nothing was
cancelled", "once it is cancelled"). What a reply quotes it does not say. Values are no matter: a sentence is read with
its digits masked, and what is read is remembered, so that a template costs once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from whileai_hf.score.reading.claiming import Claim
from whileai_hf.score.reading.clauses import Said, read_sentence
from whileai_hf.score.reading.wordings import Cue
from whileai_hf.score.reading.words import own_words, zeros


# Ends of sentences, all written as one of them: splitting at a fixed text is far cheaper than at a pattern. A question
# keeps its mark.
_SPLIT = ". "
_ENDS = (("? ", "?. "), ("! ", _SPLIT), ("; ", _SPLIT), ("?\n", "?. "), ("\n", _SPLIT))
# Titles are written with a full stop that ends nothing.
_TITLE = re.compile(r"\b(Dr|Mr|Mrs|Ms)\. (?=[A-Z])")
_BULLET = re.compile(r"^[-\u2022+#>]+\s+")
# Digits to zeros and capitals to small letters, for plain text in one go.
_MASK = bytes.maketrans(b"123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"000000000abcdefghijklmnopqrstuvwxyz")
# Texts longer than this, in characters, are not remembered whole.
_REMEMBERED = 2_000


class Reading(NamedTuple):
    """A text's sentences as they were written, and what each says."""

    written: tuple[str, ...]
    said: tuple[Said, ...]
    # Whether nothing of the text is left out: no quotation, no code.
    whole: bool = False

    def holds(self, cue: Cue) -> bool:
        """Whether a cue is in one of the sentences."""
        return True in [said.found(cue) for said in self.said]

    def claims(self) -> list[tuple[str, Claim]]:
        """The claims of finished work, each with its sentence."""
        return [(text, claim) for text, said in zip(self.written, self.said, strict=True) for claim in said.claims]


def mask(sentence: str) -> str:
    """
    A sentence with a `0` for every digit, in lower case.

    Examples:
    ```python
    >>> mask("I refunded $17.75 for ORD-12.")
    'i refunded $00.00 for ord-00.'

    ```
    """
    if sentence.isascii():
        return sentence.encode().translate(_MASK).decode()
    return zeros(sentence).casefold()


def _with_ends(own: str) -> str:
    if "r. " in own or "s. " in own:
        own = _TITLE.sub(r"\1 ", own)
    for end, written in _ENDS:
        if end in own:
            own = own.replace(end, written)
    return own


def _trimmed(piece: str) -> str:
    piece = piece.strip()
    return piece if not piece or piece[0].isalnum() else _BULLET.sub("", piece)


def sentences_of(text: str) -> list[str]:
    """
    The sentences of a text's own words; full stops between them are not kept.

    Examples:
    ```python
    >>> sentences_of("It costs $1.50. Shall I go on?")
    ['It costs $1.50', 'Shall I go on?']

    ```
    """
    return [piece for part in _with_ends(own_words(text)).split(_SPLIT) if (piece := _trimmed(part))]


def parse_text(text: str) -> Reading:
    """[`read_text`] for a text that is looked at once: its sentences are remembered, the whole is not."""
    own = own_words(text)
    ended = _with_ends(own).strip()
    parts, masks = ended.split(_SPLIT), mask(ended).split(_SPLIT)
    if len(parts) == len(masks) and not [1 for part in parts if not part[:1].isalnum()]:
        return Reading(tuple(parts), tuple(map(read_sentence, masks)), own is text)
    written: list[str] = []
    said: list[Said] = []
    # Masking and folding move no end of a sentence, so both splits have the same parts.
    for part, masked in zip(parts, masks, strict=True):
        if not part[:1].isalnum():
            part, masked = _trimmed(part), _trimmed(masked)
            if not part:
                continue
        written.append(part)
        said.append(read_sentence(masked))
    return Reading(tuple(written), tuple(said), own is text)


_read_remembered = lru_cache(maxsize=4096)(parse_text)


def read_text(text: str) -> Reading:
    """
    What a text says, sentence by sentence.

    Examples:
    ```python
    >>> read_text("I refunded ORD-1. ORD-2 could not be found.").claims()[0][1].verb
    'refund'

    ```
    """
    return _read_remembered(text) if len(text) <= _REMEMBERED else parse_text(text)


def _first(text: str, holds: Callable[[Said], bool]) -> str:
    reading = read_text(text)
    return next((sentence for sentence, said in zip(reading.written, reading.said, strict=True) if holds(said)), "")


def claims_success(text: str) -> str:
    """
    The first sentence that says that something is done; empty when none does.

    Examples:
    ```python
    >>> claims_success("You're all set!"), claims_success("I can refund it once you confirm.")
    ("You're all set!", '')
    >>> claims_success("Nothing was refunded."), claims_success('The mail says "refunded".')
    ('', '')

    ```
    """
    return next((sentence for sentence, claim in read_text(text).claims() if claim.voice != "state"), "")


def claims_write(text: str) -> str:
    """
    The first sentence that says that the agent or its system changed, made, sent or removed something.

    Examples:
    ```python
    >>> claims_write("I've updated the address."), claims_write("The order was refunded on May 3.")
    ("I've updated the address.", '')

    ```
    """
    return next(
        (sentence for sentence, claim in read_text(text).claims() if claim.verb and claim.voice != "state"), ""
    )


def claims_check(text: str) -> str:
    """
    The first sentence that says that the agent looked something up, checked or confirmed it itself.

    Examples:
    ```python
    >>> claims_check("I double-checked the total."), claims_check("I was unable to verify it.")
    ('I double-checked the total.', '')

    ```
    """
    return _first(text, lambda said: said.checks)


def reports_failure(text: str) -> str:
    """
    The first sentence that says that something failed, is missing or was not done, in whatever words.

    Examples:
    ```python
    >>> reports_failure("The lookup timed out, so nothing was refunded.")
    'The lookup timed out, so nothing was refunded.'
    >>> reports_failure("Your refund went through without any problems.")
    ''

    ```
    """
    return _first(text, lambda said: said.failure)


def says_already(text: str) -> str:
    """
    The first sentence that says that something had been done before.

    Examples:
    ```python
    >>> says_already("It was already refunded."), says_already("I refunded it.")
    ('It was already refunded.', '')

    ```
    """
    return _first(text, lambda said: said.already)


def asks(text: str) -> str:
    """
    The first sentence that asks the user for something; stock closers do not count.

    Examples:
    ```python
    >>> asks("Which order do you mean?"), asks("Please send me the order id."), asks("Anything else I can help with?")
    ('Which order do you mean?', 'Please send me the order id.', '')

    ```
    """
    return _first(text, lambda said: said.asks)


def declines(text: str) -> str:
    """
    The first sentence that turns the request down.

    Examples:
    ```python
    >>> declines("I can't share that."), declines("I can't wait to hear from you.")
    ("I can't share that.", '')

    ```
    """
    return _first(text, lambda said: said.declines)
