"""One verdict found in a judge's reply, and what counts as one when a text is meant to be nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass

from whileai_hf.score.judges.amounts import AMOUNT, ENDS, read_amount
from whileai_hf.score.judges.plain import plain
from whileai_hf.score.judges.scales import VerdictScale


# Longest excerpt of a reply in a problem, in characters.
_QUOTE = 80
BRACKETED = re.compile(r"\[\[\s{0,5}([^\[\]\n]{1,40}?)\s{0,5}\]\]")
AMOUNT_ALONE = re.compile(AMOUNT + ENDS, re.IGNORECASE)
# Signs of more than one word.
_SEVERAL = re.compile(r"[\s:=]")
_UNSURE = re.compile(
    r"(?:n/?a|none|null|unknown|unclear|unsure|undetermined|abstain(?:ed)?|skip(?:ped)?|inconclusive|indeterminate"
    r"|insufficient(?:[ _-](?:information|evidence|context))?"
    r"|not[ _-](?:applicable|assessable|enough information|sure)"
    r"|(?:can ?not|can't|cannot|could not|unable to)[ _-](?:be )?"
    r"(?:assess|judge|tell|say|determine|decide|evaluate|rate|grade)\w{0,3})",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Hit:
    """A verdict at a place of the text; without a value it is one that cannot be used."""

    at: int
    value: float | None
    problem: str | None = None
    abstained: bool = False


def quote(text: object) -> str:
    """An excerpt of a reply for a sentence about it."""
    flat = " ".join(str(text).split())
    return repr(flat if len(flat) <= _QUOTE else flat[:_QUOTE] + "...")


def is_unsure(text: str) -> bool:
    """Whether an answer says that the judge cannot tell."""
    return _UNSURE.fullmatch(text.strip(" \t\n.!\"'*`()[]")) is not None


def off_scale(scale: VerdictScale, said: object) -> str:
    return f"the judge answered {quote(said)}, which is not {scale.wording()}"


def from_text(text: str, scale: VerdictScale) -> Hit | None:
    """The verdict of a text that is meant to be nothing else; `None` when it is a longer text."""
    value = scale.words.get(text.strip().casefold())
    if value is not None:  # nearly always, of the judges that answer in JSON
        return Hit(0, value)
    bare = plain(text).strip(" \n!;,\"'()").rstrip(".!;,\"')")
    if not bare:
        return None
    if is_unsure(bare):
        return Hit(0, None, f"the judge cannot tell: {quote(bare)}", abstained=True)
    inner = BRACKETED.fullmatch(bare)
    if inner is not None:
        bare = inner[1]
    value = scale.words.get(bare.casefold())
    if value is not None:
        return Hit(0, value)
    denied = scale.words.get(bare.casefold().removeprefix("not "))
    if denied == 1.0 and bare.casefold().startswith("not "):
        return Hit(0, 0.0)
    amount = AMOUNT_ALONE.fullmatch(bare)
    if amount is not None:
        value = scale.number(*read_amount(amount)[:2])
        return Hit(0, value, None if value is not None else off_scale(scale, bare))
    return None if _SEVERAL.search(bare) else Hit(0, None, off_scale(scale, bare))


def agreed(hits: list[Hit]) -> Hit | None:
    """One verdict out of several about the same: they agree, or there is none."""
    values = {hit.value for hit in hits if hit.value is not None}
    if len(values) > 1:
        return Hit(
            0, None, f"the judge gave different verdicts: {', '.join(f'{value:g}' for value in sorted(values))}"
        )
    if values:
        return next(hit for hit in hits if hit.value is not None)
    return hits[0] if hits else None
