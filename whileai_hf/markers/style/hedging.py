"""Hedges: the agent waters down what it says itself and names no reason.

Words that always hedge ("I think", "as far as I know") count wherever the agent says them. Modals and adverbs
("might", "probably") count only in a plain statement of its own: not in a question, an offer, a condition, a
permission, in somebody else's mouth, or where the sentence says what kept the agent from knowing.
"""

from __future__ import annotations

import re

from whileai_hf.markers.style.rules import rule, words


WORDS = words("hedging")

_SELF = rule("hedging", "self")
_NOT_SELF = rule("hedging", "not_self")
_REMARK = rule("hedging", "remark")
_CERTAIN = re.compile(r"100 ?%|100 percent")
_CANNOT_SAY = re.compile(r"^(?:i|we) (?:ca|co|wo)|^(?:it is )?(?:hard|difficult|tough|tricky)")
_ON_WHAT = re.compile(r"depends on (?:the|your|how|what|who|whether|which)\b")
_CANDIDATES = re.compile(
    r"\b(?:two|three|four|both|several|many|more than one|\d+)\b.*\b(?:which|tell me|until you|unless you|confirm"
    r"|say so)\b"
    r"|\b(?:which|tell me|until you|unless you)\b.*\b(?:two|three|four|both|several|many|more than one)\b"
)
# "Add more or less sugar", "more or less than a kilo": of an amount.
_QUANTITY = re.compile(
    r"(?:^|\b(?:add|use|take|put|want|need|get|order|eat|drink|pay|for|with|any|much|little|give|pour|even|of|or"
    r"|and)) ?"
    r"\0 (?!the same|the\b|done|everything|all|what|as|like|right|finished|ready|that\b|so\b|every|it\b|this\b)\w"
    r"|\0 (?:than|of (?:it|that|the|this|them)|or the same)\b|\0 by\b"
)
_BUT = re.compile(r",? but\b")
_ASSUMES = re.compile(r"\b(?:assum|presum|take it|gather|understand|suppos|guess|think you (?:mean|want))")
_SPECIFIC = re.compile(r"[:;] ?(?!there|but|so|it\b)\w")
_ALMOST_SURE = rule("hedging", "almost_sure")
_UNSURE = rule("hedging", "unsure")
_WHICH = rule("hedging", "which")
_UNSURE_OTHERS = rule("hedging", "unsure_others")
_LIKELY = rule("hedging", "likely")
_CAUSE = re.compile(r"^ (?:because|since|due)\b")
_HEADING = re.compile(r" \w+(?: \w+)?:")
_TO_DO = re.compile(r" to \w")
_LIKELY_THING = rule("hedging", "likely_thing")
_SUGGESTION = rule("hedging", "suggestion")
_MODAL = rule("hedging", "modal")
_MONTH = rule("hedging", "month")
_YOU_MIGHT = rule("hedging", "you_might")
_STRENGTH = rule("hedging", "strength")
_SEEMS = rule("hedging", "seems")
_SORT = rule("hedging", "sort")
_SORT_THING = rule("hedging", "sort_thing")
_REASON = rule("hedging", "reason")
_ACCORDING = rule("hedging", "according")
_CONDITION = rule("hedging", "condition")
_POLICY = rule("hedging", "policy")
# Of these it does not matter what the sentence gives as a reason.
_PLAIN = ("probably", "maybe", "perhaps", "prob")


def _minds(text: str) -> bool:
    """Whether a sentence says what the agent thinks, guesses, knows of."""
    for found in _SELF.finditer(text):
        if _NOT_SELF.search(text[max(0, found.start() - 12) : found.end()]):
            continue
        # "I assume you mean order 7?" asks; so does "I'd assume Al, but there are two, so tell me which".
        if not (_ASSUMES.search(found.group()) and (text.endswith("?") or _CANDIDATES.search(text))):
            return True
    for found in _REMARK.finditer(text):
        what = found.group()
        if _CERTAIN.search(what) and not what.startswith("without"):
            continue
        if _CANNOT_SAY.search(what) and _REASON.search(f"{text[: found.start()]} {text[found.end() :]}"):
            continue
        if what == "more or less" and _QUANTITY.search(f"{text[: found.start()]}\0{text[found.end() :]}"):
            continue
        if _ON_WHAT.search(what) and _SPECIFIC.search(text[found.end() - 1 :]):
            continue
        return True
    return bool(_ALMOST_SURE.search(text))


def _is_unsure(text: str) -> bool:
    """Whether a sentence says that the agent is not sure: neither of what is meant, nor for a reason it names."""
    for found in _UNSURE.finditer(text):
        before, after = text[: found.start()], text[found.end() :]
        if _BUT.match(after) or not (
            _WHICH.search(after) or _REASON.search(after) or _REASON.search(before) or _UNSURE_OTHERS.search(before)
        ):
            return True
    return False


def _softens_with_adverb(text: str) -> bool:
    if _SUGGESTION.search(text):
        return False
    for found in _LIKELY.finditer(text):
        if found.group() == "most likely" and _TO_DO.match(text[found.end() :]):
            continue  # "most likely to succeed"
        if not found.start() and _HEADING.match(text[found.end() :]):
            continue  # "Likely voters: 412"
        if _LIKELY_THING.search(text[: found.start()]) or _ACCORDING.search(text[: found.start()]):
            continue
        # In "most likely because of the maps" the cause is what is claimed.
        reasons = text[: found.start()] + _CAUSE.sub("", text[found.end() :])
        if found.group() in _PLAIN or not _REASON.search(reasons):
            return True
    return False


def _softens_with_modal(text: str) -> bool:
    if _REASON.search(text) or _POLICY.search(text):
        return False
    for found in _MODAL.finditer(text):
        before, what = text[: found.start()], found.group()
        if _ACCORDING.search(before) or (what.startswith("may") and _MONTH.search(before)):
            continue
        if what.startswith("might") and (_YOU_MIGHT.search(before) or _STRENGTH.search(before)):
            continue
        return True
    return False


def hedges(text: str) -> bool:
    """
    Whether a sentence hedges.

    Args:
        text (`str`):
            The sentence, as [`canonical`] writes it.

    Examples:
    ```python
    >>> hedges("i think it shipped."), hedges("you may return it within 30 days.")
    (True, False)
    >>> hedges("it might be lost."), hedges("the lookup timed out, so it might be lost.")
    (True, False)

    ```
    """
    if _minds(text) or _is_unsure(text):
        return True
    if text.endswith("?"):
        return False
    if any(not _SORT_THING.search(text[max(0, found.start() - 24) : found.start()]) for found in _SORT.finditer(text)):
        return True
    seems = _SEEMS.search(text)
    if seems and not _REASON.search(text) and not _ACCORDING.search(text[: seems.start()]):
        return True
    return not _CONDITION.search(text) and (_softens_with_adverb(text) or _softens_with_modal(text))
