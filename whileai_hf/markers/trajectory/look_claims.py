"""Claims of having looked, checked or tested, in rows where no tool was called."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from whileai_hf.markers.trajectory.sayings import clauses_of


_GIVEN = re.compile(
    r"\b(?:your|the|this|that) (?:message|question|essay|draft|paragraph|math|maths|arithmetic|spelling|grammar"
    r"|snippet|wording|text|letter|sentence|resume|cv|cover letter|poem|code you|function you|screenshot"
    r"|attachment)\b|"
    r"\b(?:you (?:sent|shared|pasted|provided|gave|wrote|quoted|attached|posted|described|listed)|above)\b",
    re.IGNORECASE,
)
# Own acts of looking that the reader of claims does not know.
_LOOKED = re.compile(
    r"\bi(?:'ve| have|'d)? (?:\w+ly |just |also |already |now |since |even |been )*(?:checked|verified|confirmed"
    r"|validated|double[- ]checked|re-?checked|cross[- ]checked|looked (?:up|into|at|over|through|for"
    r"|(?:\w+ ){1,3}(?:up|over))|"
    r"reviewed|inspected|examined|tested|tried (?:it|this|that)|searched|queried|pulled (?:up|your)|went (?:through"
    r"|over)|gone (?:through|over)|ran (?:it|this|that|the|a|your|them|through)|audited|investigated|compared|"
    r"consulted|called|phoned|spoke (?:to|with)|spoken (?:to|with)|contacted|asked (?:the|our|my|a|at)|rang|emailed "
    r"(?:the|our)|scanned|traced|benchmarked|measured|executed|made sure|ensured)\b"
    r"|^(?:had a (?:quick )?look|having (?:\w+ )?(?:reviewed|checked|verified|gone through|looked|examined|tested"
    r"|confirmed)|after (?:\w+ )?(?:checking|reviewing|looking|verifying|searching|testing|going through"
    r"|consulting)|upon (?:review|checking|verification)\w*|"
    r"looked (?:it|that|this|them) up|looked (?:up|into)|checked(?:,| -|:| and| with| the| your| it| that| on)"
    r"|verified(?:\.|,|:|!| -| against| with| the| your| it| that)|confirmed(?:\.|,|:|!| -| with| against| by)"
    r"|(?:verified|confirmed|checked|double[- ]checked|tested)\W*$|double[- ]checked|just (?:checked|verified"
    r"|looked|tested|confirmed)|tested(?: it| this| and|:|,| on| against)|took a look)"
    r"|\b(?:i|we) (?:took|had|have had|did) (?:a |another |one more )?(?:\w+ )?(?:look|check|search|test|review)\b"
    r"|\b(?:i|we) did (?:check|verify|confirm|test|look)\b|\bi can (?:confirm|verify|see in (?:our|the|your))\b|"
    r"\bmy (?:check|search|test|review|lookup|tests|checks) (?:of \w+ )?(?:show|confirm|found|reveal|came|turn"
    r"|indicate|return)\w*|\b(?:our|the) (?:records?|system|database) (?:show|confirm|indicate)s?\b|\baccording to "
    r"(?:our|the) (?:records|system|database)\b|"
    r"\bwe(?:'ve| have)? (?:\w+ly |just |also |already )*(?:checked|verified|confirmed|double[- ]checked|tested"
    r"|validated)\b|\b(?:has|have) been (?:verified|checked|confirmed|double-checked|validated)\b(?! by you)|\bi "
    r"see (?:in|on|from) (?:our|the|your) (?:system|records|account|file|order)"
)
_NOT_LOOKED = re.compile(
    r"\b(?:not|n't|never|unable|cannot|could|would|should|will|'ll|once|if|until|when|whether|before|without|let me"
    r"|going to|need to|have to|want to|please|can you|could you|in order to|unless|try to|as soon as|happy to|"
    r"must|may|might|no way)\b|n't\b"
)


@lru_cache(maxsize=2048)
def claims_looking(text: str) -> str:
    """
    The sentence of a reply that says the agent checked or looked something up itself; empty when none does.

    Examples:
    ```python
    >>> claims_looking("Had a look in your calendar: Thursday is clear."), claims_looking("I was unable to verify it.")
    ('had a look in your calendar', '')

    ```
    """
    for sentence, clause in clauses_of(text):
        clause = clause.strip()
        match = _LOOKED.search(clause)
        if match is None or _GIVEN.search(sentence) or sentence.rstrip().endswith("?"):
            continue
        if not _NOT_LOOKED.search(clause[: match.end()]) and not re.search(
            r"\b(?:once|if|when|as soon as) (?:you|i|we|they|it|the)\b", sentence
        ):
            return clause
    return ""


def unverified(texts: Sequence[str]) -> str:
    """The claim of a check in a row without any tool call."""
    return next((found for text in texts if (found := claims_looking(text))), "")
