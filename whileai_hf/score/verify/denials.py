# ruff: noqa: RUF001 - look-alike signs are what this module is about
"""Whether a reply denies what it names: "not 80", "80 is wrong", "anything but 80", "80? No."

Only the words next to the answer are asked, and between a negation and the answer only words that carry it on ("it
isn't *the case that it is* 80"). "It is not clear that 80 people came", "not only 80" and "not more than 80" therefore
deny nothing, and "80 is not prime" does not call 80 wrong.
"""

from __future__ import annotations

import re
from functools import lru_cache


# Characters before an answer in which a negation of it may stand.
_REACH = 80

# One of these is in every text that denies something; asking for them first costs a microsecond.
_HINTS = (
    *("not", "n't", "nt ", "never", "neither", "nor ", "nope", "no.", "no,", "no!", "? no", "wrong", "false", "than "),
    *("incorrect", "instead", "mistaken", "impossible", "unlikely", "doubt", "far from", "thing but", "!=", "\\ne"),
    *("nicht", "kein", "pas ", "no es", "no son"),
)
_OTHER_HINTS = ("n’t", "non è", "не ", "不是", "≠")
_CARRIES = (
    r"(?:an?|the|it|it['’]s|he|she|they|this|that|that['’]s|there|is|are|was|were|be|been|being|to|as|by|so|exactly|equals?"
    r"|equal(?:l?ing|led)?|actually|really|simply|quite|about|approximately|roughly|possibly|necessarily|definitely"
    r"|certainly|probably|likely|clearly|obviously|still|even|close|near|anywhere|longer|going|think|believe|say|saying"
    r"|said|suppose|guess|reckon|agree|agreed|claim|means?|makes?|gives?|case|true|correct|right|accurate|answers?"
    r"|results?|total|sum|value|number|solution|option|choice|letter|in|on|from|final|called|named|my|your|our|his|her|their|all|at)"
)
# Marks between the words and the answer: brackets, bold, quotes, signs of money and of mathematics.
_DRESS = r"[\s*_`\"'“‘(\[{$€£¥₹+-]{0,8}(?:\\(?:f?boxed|text|mathrm|mathbf|textbf)\s?\{[\s*_({$]{0,4}){0,2}"
_BEFORE = re.compile(
    r"(?P<cue>\bnot\b(?!\s(?:only|just|merely))|(?<![cC]a)n['’]t\b|\bcan(?:no|['’]?)t\b(?!\sbelieve)|\b(?:is|do|does|did|was|wo|are"
    r"|would|could)nt\b|\b(?:never|neither|nor)\b|\b(?:rather|other)\sthan\b|\binstead\sof\b|\b(?:any|every)thing\sbut\b"
    r"|(?<!not\s)(?<!n['’]t\s)\b(?:far\sfrom|wrong|false|incorrect|impossible|unlikely)\b|\bI\s(?:\w{1,12}\s)?doubt\b"
    r"|\bnicht\b|\bkeine?[rsn]?\b|\bpas\b|\bno\s(?:es|son)\b|\bnon\sè|\bне\b|不是|≠|!=|\\neq?\b)"
    rf"(?:[\s*_]{{1,3}}{_CARRIES}(?![\w'’])){{0,10}}{_DRESS}$",
    re.IGNORECASE,
)
_NOT_BEFORE = re.compile(r"(?:n['’]t|\b(?:not|never|no|none|nothing|cannot))\b[^.,;:!?]{0,40}$", re.IGNORECASE)
_ADVERB = r"(?:\s(?:definitely|certainly|clearly|obviously|simply|just|also|actually|really|quite|therefore|thus))?"
_AFTER = re.compile(
    r"[\s)\]}*_`\"'”’$%]{0,6}(?:,?\s?(?:which|that|it|this)\b)?(?:"
    rf"(?:\s|(?<=\s))(?:is|are|was|were|would\sbe|seems|looks|must\sbe|has\sto\sbe){_ADVERB}\s(?:wrong|incorrect|false|mistaken|impossible)\b"
    r"|(?:\s|(?<=\s))(?:(?:is|are|was|does|would|can|could)(?:n['’]t|nt|\snot)|cannot|can['’]?t)(?:\s(?:be|an?|the|my|our|really|actually"
    r"|quite|final|definitely|seem|look|a\sgood)){0,4}(?:\s(?:right|correct|true|it|answer|solution|result|possible"
    r"|valid|option|choice|case|one)\b|\s{0,2}(?:[.,;!)]|$))"
    r"|\s?\?+[\s*_]{0,3}(?:no|nope|wrong|never|not)\b"
    r"|[\s.,;:!…—–()-]{1,6}(?:no|nope|wrong|incorrect|false|not)[\s.!)]{0,5}$)",
    re.IGNORECASE,
)


@lru_cache(maxsize=8)  # of one row, for which it is asked more than once
def may_deny(text: str) -> bool:
    """
    Whether anything in a text can be a denial; nearly all texts are done with here.

    Examples:
    ```python
    >>> may_deny("It is 80."), may_deny("It isn't 75 but 80.")
    (False, True)

    ```
    """
    lowered = text.lower()
    for hint in _HINTS:
        if hint in lowered:
            return True
    if not lowered.isascii() and any(hint in lowered for hint in _OTHER_HINTS):
        return True
    return lowered.rstrip(" .!)").endswith("no")


def denied(text: str, start: int, end: int) -> bool:
    """
    Whether a text denies the answer that stands at a place in it.

    Args:
        text (`str`):
            The text.
        start (`int`):
            Where the answer begins.
        end (`int`):
            Where it ends.

    Returns:
        `bool`: Whether a negation belongs to it.

    Examples:
    ```python
    >>> denied("It is not 75 but 80.", 10, 12), denied("It is not 75 but 80.", 17, 19), denied("80 is wrong", 0, 2)
    (True, False, True)

    ```
    """
    head = text[max(0, start - _REACH) : start]
    match = _BEFORE.search(head)
    if match is not None:
        # "It can't be anything but 80" and "none other than 80" are as good as "it is 80".
        turned = match.group("cue").lower().endswith(("but", "other than"))
        if not (turned and _NOT_BEFORE.search(head[: match.start()])):
            return True
    return _AFTER.match(text, end) is not None
