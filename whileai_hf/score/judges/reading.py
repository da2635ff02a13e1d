"""Reading a verdict out of what a judge model wrote.

JSON is read first, then marks such as `[[7]]` and `GRADE: C`, then a reply or a line that is nothing but the verdict,
then phrases such as "scored 7/10". The last verdict counts; where two stand side by side and differ, none does. What
cannot be read is a problem that says so, never a number: not 0, not a middle value, and no word found in prose.
"""

from __future__ import annotations

from dataclasses import dataclass

from whileai_hf.score.judges.hits import is_unsure, quote
from whileai_hf.score.judges.json_text import find_json
from whileai_hf.score.judges.keyed import from_json, reason_of
from whileai_hf.score.judges.plain import plain, without_reasoning
from whileai_hf.score.judges.prose import from_prose, last_mark
from whileai_hf.score.judges.scales import VerdictScale


__all__ = ["Reading", "is_unsure", "quote", "read_verdict", "reason_of"]


@dataclass(frozen=True)
class Reading:
    """
    What a judge's reply says.

    Args:
        value (`float` or `str`, *optional*):
            The verdict: a value of the scale, or an option of a choice; `None` when there is none.
        reason (`str`, *optional*):
            What the judge said about it.
        problem (`str`, *optional*):
            Why there is no verdict; `None` exactly when there is one.
        abstained (`bool`, *optional*, defaults to `False`):
            The judge said that it cannot tell, which is an answer, only no verdict.
    """

    value: float | str | None
    reason: str | None = None
    problem: str | None = None
    abstained: bool = False


def read_verdict(text: str | None, scale: VerdictScale) -> Reading:
    """
    The verdict in a judge's reply.

    Args:
        text (`str`):
            The reply.
        scale ([`VerdictScale`]):
            What it may say: `Binary()`, `YesNo()`, `Letters({"C": 1, "I": 0})`, `Scale(1, 10)`.

    Returns:
        [`Reading`]: Its value is on the scale, or `None` with the problem.

    Examples:
    ```python
    >>> from whileai_hf.score.judges.scales import Binary, Letters, Scale
    >>> read_verdict("On a scale of 1 to 10, [[7]].", Scale(1, 10)).value
    7.0
    >>> read_verdict("GRADE: C, at first. GRADE: I", Letters()).value
    0.0
    >>> read_verdict("This is not excellent but acceptable", Binary()).value is None
    True

    ```
    """
    if not isinstance(text, str) or not text.strip():
        return Reading(None, problem="the judge answered nothing")
    said = without_reasoning(text)
    if not said.strip():
        return Reading(None, problem="the judge's reply ends before its answer")
    found, cut = find_json(said)
    if cut:
        return Reading(None, problem=f"the judge's reply is cut off: {quote(said)}")
    answer = from_json(found, said, scale)
    if answer is not None:
        hit, reason = answer
        # A verdict in words after the JSON is the last one.
        after = last_mark(plain(said[found[-1].end :]), scale)
        if after is not None and after.value is not None:
            hit = after
        return Reading(hit.value, reason, hit.problem, hit.abstained)
    words = plain(said)
    read = from_prose(words, scale)
    reason = said.strip() if len(said.split()) > 1 else None
    if read is None:
        return Reading(None, reason, f"no verdict could be read in {quote(said)}")
    return Reading(read.value, reason, read.problem, read.abstained)
