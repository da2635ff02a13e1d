"""Apologies of the agent itself: sorry, apologies, regret, asking to be forgiven.

Whose apology it is decides. Somebody else's ("the seller apologised"), one that is not made ("no need to apologise")
and sayings with the word in them ("better safe than sorry") are none.
"""

from __future__ import annotations

import re

from whileai_hf.markers.style.rules import rule, words


WORDS = words("apology")

_SORRY = rule("apology", "sorry")
_SORRY_THING = rule("apology", "sorry_thing")
_SAYING = rule("apology", "saying")
_SAFE = re.compile(r"\bsafer? th[ae]n $")
_BIG = re.compile(r"\b(?:that|this|a (?:big|huge|quick|massive|very big)) $")
_AM = re.compile(r"\b(?:i|we) (?:am|are)\b")
_OTHERS = rule("apology", "others")
_OTHERS_ARE = re.compile(r"\b(?:you|they|he|she|who) (?:are|is|were|was|have|do|feel)?\s?(?:\w+ )?$")
_FEEL = re.compile(r"\b(?:feel|felt) (?:\w+ )?$")
_OWN = rule("apology", "own")
_I = re.compile(r"\b(?:i|we)\b")
_NEGATED = rule("apology", "negated")
_BEYOND = rule("apology", "beyond")
_REPORTED = rule("apology", "reported")
_HOW = re.compile(r"\bhow (?:\w+ )?$")
_CLAUSE = re.compile(r"[,;:!]| and | but ")

_VERB = rule("apology", "verb")
_VERB_SUBJECT = rule("apology", "verb_subject")
_NOUN_SUBJECT = rule("apology", "noun_subject")
_MADE_TO = rule("apology", "made_to")
_MUST_SAY = rule("apology", "must_say")
_ALLOW = rule("apology", "allow")
_LET_ME = re.compile(r"\b(?:let|allow|permit)(?: \w+)? (?:me|us)\b")
_TO_OTHERS = re.compile(r" (?:to (?!you)|on your)")

_NOUN = rule("apology", "noun")
_NOUN_OWN = rule("apology", "noun_own")
_NOUN_OTHERS = rule("apology", "noun_others")
_NOUN_THING = rule("apology", "noun_thing")
_NOUN_OWED = rule("apology", "noun_owed")
# What is told of apologies in general.
_NOUN_TOPIC = rule("apology", "noun_topic")
_NO_NOUN = re.compile(r"\b(?:no|not|without|never|nothing|need(?:ed)? an|make no)\b(?: \w+){0,2}\s*$")
_MINE = re.compile(r"\b(?:my|our)(?: \w+){0,3}\s*$")
_MINE_MADE = re.compile(r" (?:is|are|for|to you)\b")
# What the reader's apology gets.
_ACCEPTED = re.compile(r" (?:is |are |was |were )?(?:gladly |kindly )?(?:accepted|received|noted)\b")
_NEEDED = re.compile(r"(?: \w+){0,3} (?:not )?(?:needed|necessary|required)")

_REGRET = rule("apology", "regret")
_FORGIVE = rule("apology", "forgive")
_EXCUSE_ME = rule("apology", "excuse_me")
_NO_REGRET = re.compile(r"\b(?:not|never|no|nothing to)\b(?: \w+){0,2} (?:regret|forgive|pardon|excuse)")


def _is_saying(before: str, after: str) -> bool:
    """Whether "sorry" only describes something: a sorry state, better safe than sorry, the Sorry board game."""
    if _SAFE.search(before) or (_SORRY_THING.match(after) and not _AM.search(before)):
        return True
    return bool(_SAYING.search(before)) and not _AM.search(before) and not _BIG.search(before)


def _is_sorry(text: str) -> bool:
    for found in _SORRY.finditer(text):
        before, after = text[: found.start()], text[found.end() :]
        if _is_saying(before, after) or (_NEGATED.search(before) and not _BEYOND.search(text)):
            continue
        if _FEEL.search(before) and after.startswith(" for "):
            continue
        if found.group() in ("apologetic", "regretful") and not _I.search(before):
            continue
        clause = _CLAUSE.split(before)[-1]
        own = _OWN.search(clause)
        if own:
            told = clause[: own.start()]
            if not _REPORTED.search(told) or _HOW.search(told):
                return True
        elif not (_OTHERS.search(before) or _OTHERS_ARE.search(clause)) and (
            _I.search(clause) or not _REPORTED.search(clause)
        ):
            return True
    return False


def _apologises_to_user(before: str) -> bool:
    """Whether who stands before "apologise" is the agent."""
    subjects = list(_VERB_SUBJECT.finditer(before))
    if not subjects or subjects[-1].group() not in ("i", "we", "me", "us"):
        return False
    last = subjects[-1]
    if last.group() in ("me", "us") and not _LET_ME.search(before):
        return False
    between = before[last.end() :]
    if _MADE_TO.search(between) or (_NOUN_SUBJECT.search(between) and "behalf" not in between):
        return False
    return not _REPORTED.search(before[: last.start()]) or bool(_MUST_SAY.search(before))


def _says_apologise(text: str) -> bool:
    for found in _VERB.finditer(text):
        before, after = text[: found.start()], text[found.end() :]
        if _NEGATED.search(before) and not _BEYOND.search(text):
            continue
        if found.group().endswith("ed") and _TO_OTHERS.match(after):
            continue
        if _ALLOW.search(text) or _apologises_to_user(before):
            return True
    return False


def _says_apology(text: str) -> bool:
    for found in _NOUN.finditer(text):
        before, after = text[: found.start()], text[found.end() :]
        if (_NO_NOUN.search(before) and not _BEYOND.search(text)) or _NOUN_OTHERS.search(before):
            continue
        if _ACCEPTED.match(after) or _NOUN_TOPIC.match(after):
            continue
        if _NOUN_OWED.match(after):
            return True
        mine, thing = _MINE.search(before), _NOUN_THING.match(after)
        if mine:
            if not thing or _MINE_MADE.match(after):
                return True
        elif (
            (not thing or not before.strip(" ,") or before.endswith("sincere "))
            and not _NEEDED.match(after)
            and (_NOUN_OWN.search(before) or after.startswith(" for "))
        ):
            return True
    return False


def apologises(text: str) -> bool:
    """
    Whether a sentence is an apology of who says it.

    Args:
        text (`str`):
            The sentence, as [`canonical`] writes it.

    Examples:
    ```python
    >>> apologises("i am so sorry about that."), apologises("better safe than sorry.")
    (True, False)
    >>> apologises("we would like to apologise."), apologises("the seller apologised in the note.")
    (True, False)

    ```
    """
    if _is_sorry(text) or _says_apologise(text) or _says_apology(text):
        return True
    regrets = _REGRET.search(text) or (_FORGIVE.search(text) and not _EXCUSE_ME.search(text))
    return bool(regrets) and not _NO_REGRET.search(text)
