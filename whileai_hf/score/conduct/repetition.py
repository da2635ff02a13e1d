"""Work done twice: a change made again although it had been made, a call made over and over."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from whileai_hf.sandbox.naming import word_set
from whileai_hf.score.conduct.evidence import Evidence, Finding
from whileai_hf.score.conduct.recovery import is_in_state, shows_done
from whileai_hf.score.reading.calls import Call
from whileai_hf.score.reading.scalars import scalars
from whileai_hf.score.reading.verbs import BROAD


_SEVERAL = re.compile(
    r"\b(?:two|three|four|both|twice|each|again|another|second|more|double|multiple|several|\d+x)\b"
    r"|(?<![\w.:$#-])[2-9] (?:[a-z]+ )?[a-z]+s\b"
)
# "Two weeks ago": counts of time ask for no second one.
_SPANS = re.compile(
    r"\b(?:two|three|four|several|\d+|more than \w+) (?:\w+ )?(?:second|minute|hour|day|week|month|year|night)s?\b"
)
_MAKING = frozenset({"write", "other"})
# An ask that leaves it to the record whether something is to be done.
_UNLESS = re.compile(
    r"\bunless\b|\bonly if\b|\bif (?:it|they|he|she|i|we|that|this|there|one|none|nobody|not)\b[^.?!]{0,40}(?:n't"
    r"|\bnot\b|\bno\b|\bnone\b)"
    r"|\bif not\b|\bif there's no|\bif missing\b"
)
# Times that one call with one answer may stand in a row before it is going in circles.
_MOST_REPEATS = 3
_MAY_BE_AGAIN = word_set(
    "update change modify edit adjust create add set save write open generate note log send put make"
)
_BATCH = frozenset({"add", "append", "insert", "increment", "press", "click", "scroll", "type", "move", "step"})


@lru_cache(maxsize=4096)
def _is_open(asked: str) -> bool:
    """Whether an ask leaves it to the record what is to be done."""
    return _UNLESS.search(asked) is not None


def _wants_several(asked: str) -> bool:
    """Whether an ask is for more than one of a kind, or for another one."""
    return _SEVERAL.search(_SPANS.sub(" ", asked)) is not None


def repeated_action(evidence: Evidence) -> Finding | None:
    """A change made again although it had been made, or although a record read before said so."""
    if len(evidence.calls) < 2 or not evidence.writes:
        return None
    done: list[Call] = []
    for place, call in enumerate(evidence.calls):
        if place and call.kind in _MAKING and call.outcome == "ok" and _made_before(evidence, place):
            return Finding("repeated_action", f"it did {call.tool} although the record already held one")
        if not call.writes:
            continue
        if call.outcome == "already_done":
            if any(_same(call, other) and other.outcome == "already_done" for other in done):
                return Finding("repeated_action", f"it tried {call.tool} again after being told that it was done")
        elif call.outcome in ("ok", "empty"):
            verb = call.facts.verb
            if verb not in _BATCH:
                same = next((other for other in done if _same(call, other)), None)
                if same is not None and not _was_wanted(evidence, same, call):
                    return Finding("repeated_action", f"it did {call.tool} twice with the same arguments")
            if _seen_done(evidence.calls[:place], call) and not _wants_several(evidence.asked):
                return Finding("repeated_action", f"it did {call.tool} although the record said that it had been done")
        done.append(call)
    return None


def _same(one: Call, other: Call) -> bool:
    return one.tool == other.tool and one.arguments == other.arguments


def _was_wanted(evidence: Evidence, first: Call, second: Call) -> bool:
    """Whether there was a reason for the second time: several asked for, the user spoke, the first had not landed."""
    if first.outcome not in ("ok", "empty"):
        return True
    if any(first.index < place < second.index for place, _ in evidence.talk):
        return True
    between = [call for call in evidence.calls if first.index < call.index < second.index]
    return any(call.kind == "read" for call in between) or _wants_several(evidence.asked)


def _seen_done(before: list[Call], call: Call) -> bool:
    """Whether a record that names what `call` changes already showed that change."""
    verb = call.facts.verb
    if verb in _MAY_BE_AGAIN:
        return False  # what was updated or made once may be again
    broad = verb in BROAD or call.facts.makes
    mine = {str(value).casefold() for value in call.values if isinstance(value, str | int)}
    for other in before:
        if other.kind != "read" or other.outcome != "ok":
            continue
        if mine.isdisjoint({str(value).casefold() for value in other.values}):
            continue
        if broad:
            seen = is_in_state(other.result, verb)
        else:
            seen = shows_done(other.result, verb) or (verb == "check" and _checked_in(other.result))
        if seen:
            return not any(later.writes and later.index > other.index and later.index < call.index for later in before)
    return False


def _made_before(evidence: Evidence, place: int) -> bool:
    """Whether a record read before holds an entry with all the texts passed to make one that was not to be doubled."""
    if not _is_open(evidence.asked):
        return False
    call = evidence.calls[place]
    texts = [value.casefold() for value in call.values if isinstance(value, str)]
    looks = [other for other in evidence.calls[:place] if other.kind == "read" and other.outcome == "ok"]
    shown = [" ".join(map(str, scalars(look.result))).casefold() for look in looks]
    return len(texts) > 1 and any(all(text in seen for text in texts) for seen in shown)


def _checked_in(result: Any) -> bool:
    data = result.get("data", result) if isinstance(result, dict) else None
    return isinstance(data, dict) and data.get("checked_in") is True


def in_circles(evidence: Evidence) -> Finding | None:
    """One call with one answer, made over and over."""
    if len(evidence.calls) <= _MOST_REPEATS:
        return None
    run = 1
    for one, other in zip(evidence.calls, evidence.calls[1:], strict=False):
        run = run + 1 if _same(one, other) and one.result == other.result else 1
        if run > _MOST_REPEATS:
            return Finding(
                "in_circles", f"it made one call of {other.tool} {run} times and got the same answer each time"
            )
    return None
