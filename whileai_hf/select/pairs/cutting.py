"""Where two conversations part, and what of them is compared."""

from __future__ import annotations

from typing import NamedTuple

from whileai_hf.select.pairs.conversation import Conversation, Message, said


class Cut(NamedTuple):
    """A shared prompt and two ways to go on, and how much longer the chosen one's text is in characters."""

    prompt: list[Message]
    chosen: list[Message]
    rejected: list[Message]

    @property
    def lengths(self) -> tuple[int, int]:
        """Characters of the agent's text in both."""
        return said(self.chosen), said(self.rejected)


def cut_pair(chosen: Conversation, rejected: Conversation, cut: str) -> Cut | None:
    """
    Cuts two conversations.

    Args:
        chosen (`Conversation`):
            The better one; the prompt is taken from it.
        rejected (`Conversation`):
            The other one.
        cut (`str`):
            `"first_divergence"`: one turn of the agent each, the first that differs; `"trajectory"`: everything from
            the agent's first turn on.

    Returns:
        [`Cut`], *optional*: `None` where they first differ in something else than what the agent did (the user, a
        tool's result): then the turns before are equal, and the later ones answer different things.
    """
    pairs = zip(chosen.keys, rejected.keys, strict=False)
    at = next((index for index, (one, other) in enumerate(pairs) if one != other), None)
    if cut == "trajectory":
        same = chosen.start == rejected.start and (at is None or at >= chosen.start)
        if not same or (at is None and len(chosen.keys) == len(rejected.keys)):
            return None
        start = chosen.start
        return Cut(chosen.messages[:start], chosen.messages[start:], rejected.messages[start:])
    if at is None or at < chosen.start or chosen.keys[at][0] != "assistant" or rejected.keys[at][0] != "assistant":
        return None
    return Cut(chosen.messages[:at], [chosen.messages[at]], [rejected.messages[at]])
