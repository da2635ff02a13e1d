"""Whose voice a user turn is in: the person's, the agent's, several people's, or a model thinking aloud."""

from __future__ import annotations

from whileai_hf.actors.users.phrases import each, phrase, plain


# An echo: this much of a turn, in characters and as a share, is the agent's own message word by word.
_ECHO_CHARS = 60
_ECHO_SHARE = 0.8
# Different weak signs of the agent's voice that make a strong one.
_WEAK_SIGNS = 2


def thinks_aloud(text: str) -> bool:
    """
    Whether a turn holds a model's reasoning about its part.

    Examples:
    ```python
    >>> thinks_aloud("The agent asked for it, so I should reply with it."), thinks_aloud("I should reply.")
    (True, False)

    ```
    """
    return bool(phrase("reasoning").search(plain(text)))


def speaks_as_agent(text: str, reply: str = "") -> bool:
    """
    Whether a turn is in the agent's voice, writes a tool call, or repeats the agent's own message.

    Args:
        text (`str`):
            The turn.
        reply (`str`, *optional*, defaults to `""`):
            What the agent had just said.

    Examples:
    ```python
    >>> speaks_as_agent("How can I help you today?"), speaks_as_agent("Thanks for your patience!")
    (True, False)

    ```
    """
    said = plain(text)
    if phrase("agent").search(said) or phrase("call").search(said):
        return True
    if sum(bool(sign.search(said)) for sign in each("weak")) >= _WEAK_SIGNS:
        return True
    own, theirs = " ".join(said.casefold().split()), " ".join(plain(reply).casefold().split())
    if len(own) < _ECHO_CHARS:
        return False
    return own in theirs or (theirs in own and len(theirs) >= max(_ECHO_CHARS, _ECHO_SHARE * len(own)))


def label_at(text: str) -> int | None:
    """Where a turn starts to speak for the agent (`Agent: ...`), or `None`."""
    match = phrase("spoken for").search(plain(text))
    return match.start() if match else None


def without_label(text: str) -> str:
    """A turn without the name of its own speaker in front: `User: Hello` is `Hello`."""
    return phrase("own label").sub("", text, count=1)
