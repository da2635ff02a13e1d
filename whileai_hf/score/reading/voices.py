"""In which voice a past form of a verb of work is told: by the agent, passive, bare, as a state, or not at all."""

from __future__ import annotations

from itertools import pairwise

from whileai_hf.sandbox.naming import word_set
from whileai_hf.score.reading.verbs import ACTIONS


NEGATIONS = word_set(
    "not no nothing never none nobody neither nor without unable cannot can't couldn't couldnt didn't didnt won't "
    "wasn't weren't isn't aren't hasn't haven't hadn't doesn't don't wouldn't shouldn't cant ain't unsuccessful "
    "failed fails fail instead unfortunately nope unsuccessfully rather refused declined yet hardly barely "
    "isnt wasnt hasnt "
    "didnt havent dont doesnt"
)
_MODALS = word_set(
    "would could can will shall may might should must i'll we'll you'll it'll they'll he'll she'll i'd we'd "
    "going want "
    "like need needs ready let let's please able try trying tried attempt attempted attempting plan hope hoping wish "
    "want wanted asked offer offered request requested supposed meant gonna"
)
_PLANNERS = word_set("i we they to i'm we're")
CONDITIONS = word_set(
    "if once when whenever until unless before after whether until till while as assuming provided unless should "
    "suppose in-case should'it wherever for-when"
)
_BE = word_set(
    "is are was were be been being am it's that's you're get gets got getting gotten they're everything's all's "
    "there's 's he's she's who's what's order's refund's became become stands now"
)
_PERFECT = word_set("have has had having i've we've they've it's 've ive weve")
AGENTS = word_set("i we i've we've ive weve team system colleague colleagues department staff")
# What a system does when it answers, or refuses, is not the work it was asked for.
_ANSWERS = word_set(
    "send return give provide report reject block log record flag raise list print store drop lock hold note mark "
    "post write display throw forward"
)
# "Given the delay", "provided that": no work at the beginning of a sentence.
_PREPOSITIONAL = word_set("give provide set put make order request record hold file note")
ADVERBS = word_set(
    "just now also successfully already then fully been have has finally hereby since completely officially gone went "
    "ahead and promptly immediately therefore accordingly safely both all duly as quickly easily personally manually "
    "had only properly correctly further additionally go next simply right away instead again today so later actually "
    "automatically went-ahead subsequently indeed since both"
)
HISTORY = word_set("yesterday ago previously earlier originally formerly last previous past prior initially")
_CALENDAR = word_set(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december jan feb mar apr jun jul aug sep sept oct nov dec"
)
_KEPT_FROM = frozenset({"against", "from", "without", "of", "before", "for", "avoid", "about", "by"})
_AT = frozenset({"on", "at", "in", "since", "by"})


def is_blocked(words: list[str]) -> bool:
    return any(word in NEGATIONS or word in CONDITIONS for word in words)


def is_modal(words: list[str]) -> bool:
    """Whether a modal stands among the words; "may" in "on May 17" is none."""
    found = _MODALS.intersection(words)
    if "plan" in found and not _PLANNERS.intersection(words[:2]):
        found -= {"plan"}  # "your plan has been changed"
    if found != {"may"}:
        return bool(found)
    at = words.index("may")
    return not (words[at - 1] in _AT if at else False) and words[at + 1 : at + 2][:1] != ["00"]


def voice_of(words: list[str], at: int, opens: bool) -> str:
    """How the past form at `at` is claimed; empty when it is no claim."""
    before = words[:at]
    if is_blocked(before) or is_modal(before):
        return ""
    place = at - 1
    while place >= 0 and words[place] in ADVERBS:
        place -= 1
    if words[max(0, place - 1) : place + 1] == ["to", "be"]:
        return ""  # "the balance to be charged" is yet to come
    adverbs = words[place + 1 : at]
    last = words[place] if place >= 0 else ""
    if place < 0:
        # "Refunded your order.", or behind adverbs: "Successfully cancelled." "Has been refunded."
        if ACTIONS[words[at]] in _PREPOSITIONAL:
            return ""
        return "bare" if opens or "been" in adverbs or "has" in adverbs else ""
    if last in ("being", "getting"):
        # "Protected against being stopped"
        return "" if not _KEPT_FROM.isdisjoint(words[max(0, place - 1) : place]) else "progress"
    if "been" in adverbs:
        return "passive" if {"have", "has", "had"}.intersection(adverbs) or last in _PERFECT or last in _BE else ""
    if last in AGENTS:
        return "" if last == "system" and ACTIONS[words[at]] in _ANSWERS else "agent"
    if last in _PERFECT or "have" in adverbs or "has" in adverbs:
        if last == "you":
            return ""  # "you have paid"
        # "The airline has cancelled it" is no work of the agent's.
        return "agent" if not AGENTS.isdisjoint(before) or "'ve" in last else "passive"
    if last in _BE:
        if last in ("got", "was", "were") or "now" in adverbs or "successfully" in adverbs or last == "now":
            return "passive"
        return "state"
    if "successfully" in adverbs:
        return "passive"
    return ""


def is_history(words: list[str], at: int) -> bool:
    """Whether a clause dates what it tells: "was refunded on May 3", and not "the flight on May 3 has been moved"."""
    if "successfully" in words or "now" in words[:at]:
        return False
    perfect = "been" in words[:at]
    return not HISTORY.isdisjoint(words[at + 1 :] if perfect else words) or is_dated(words, at if perfect else -1)


def is_dated(words: list[str], at: int) -> bool:
    """Whether a date or a time stands behind the word at `at`: "created at 09:30", "refunded on May 3"."""
    return any(
        first in _AT and (second[0] == "0" or second in _CALENDAR) for first, second in pairwise(words[at + 1 :])
    )
