"""Which failures of a run were still standing at its end.

A failed call is made good by a later one that did what it was for: the same call again, the same tool with corrected
arguments, another tool to the same end, or a look that shows that it took effect after all.
"""

from __future__ import annotations

import re
from typing import Any

from whileai_hf.sandbox.naming import participle, words_of
from whileai_hf.score.conduct.evidence import GOOD, Evidence
from whileai_hf.score.reading.calls import Call
from whileai_hf.score.reading.reports import wants_change
from whileai_hf.score.reading.scalars import name_words
from whileai_hf.score.reading.verbs import BROAD


_UNUSABLE = frozenset(
    {"denied", "timeout", "rate_limited", "invalid", "error", "not_found", "malformed", "stale", "pending"}
)
# After these the call may have taken effect, so that a look at the record can settle it.
_UNSURE = frozenset({"timeout", "malformed", "pending", "error", "stale"})
# Characters between the things of one list, and what stands between them.
_ONE_BREATH = 90
_LISTS = re.compile(r",| and |&|\n")
_OTHERWISE = re.compile(r"\b(?:or|else|instead|if|otherwise|unless|then|rather|not)\b")
# Values of a field that is named for work: what they say of it is that it was done.
_FINISHED = frozenset(
    {"completed", "complete", "done", "issued", "paid", "processed", "sent", "active", "made", "finished", "confirmed",
     "closed", "yes"}
)  # fmt: skip


def _values(call: Call) -> set[str]:
    return {str(value).casefold() for value in call.values if len(str(value)) > 1}


def _alike(one: set[str], other: set[str]) -> bool:
    """Whether two sets of values share one, or one is a part of another: `12` and `ORD-12`."""
    if not one.isdisjoint(other):
        return True
    return any(len(a) > 1 and len(b) > 1 and (a in b or b in a) for a in one for b in other)


def shows_done(result: Any, verb: str) -> bool:
    """Whether a record reads as if `verb` had been done to it: a status, a flag, a date or entries that say so."""
    if not verb or verb in BROAD:
        return False  # a record that was updated once may be updated again
    if isinstance(result, list) and len(result) == 1:
        result = result[0]
    if not isinstance(result, dict):
        return False
    data = next((result[key] for key in ("data", "result", "record") if isinstance(result.get(key), dict)), result)
    done = participle(verb)
    forms = {done, done.replace("ll", "l")} if done.endswith("lled") else {done}
    for name, value in data.items():
        words = words_of(str(name))
        if isinstance(value, str) and name != "note" and value.casefold() in forms:
            return True
        if isinstance(value, str) and value.casefold() in _FINISHED and list(words) == [verb]:
            return True  # {"refund": "completed"}
        stem = verb[:-1] if verb.endswith("e") else verb
        if value not in (None, False, 0, "", "no", "none", "false", "never") and value != [] and value != {}:
            if any(word in forms for word in words) and not {"not", "un", "partially", "can", "by"}.intersection(
                words
            ):
                return True
            if isinstance(value, list) and len(words) == 1 and words[0].startswith(stem):
                return True
    return False


def is_in_state(result: Any, verb: str) -> bool:
    """Whether a record's own state is the one that `verb` leads to: `{"state": "registered"}` for `register`."""
    data = result.get("data", result) if isinstance(result, dict) else None
    if not verb or not isinstance(data, dict):
        return False
    stem = verb[:-1] if verb.endswith("e") else verb
    return any(
        isinstance(value := data.get(key), str) and value.casefold() in (f"{stem}ed", f"{stem}led", participle(verb))
        for key in ("state", "status", "registration", "enrollment", "membership")
    )


def _settled_by_look(call: Call, look: Call) -> bool:
    return call.outcome in _UNSURE and shows_done(look.result, call.facts.verb)


def _same_end(call: Call, other: Call) -> bool:
    """Whether another tool serves the end of `call`: its name or options speak of what this one's name speaks of."""
    common = words_of(" ".join(map(str, call.arguments)))
    # "hotel" of `hotel.book_spa` is the name of a service.
    place = _service(call.tool) if _service(call.tool) == _service(other.tool) else ""
    telling = [word for word in name_words(call.tool[len(place) :]) if word not in common]
    return any(word in telling for word in other.words)


def _service(tool: str) -> str:
    """What stands before the last dot of a tool's name."""
    return tool[: tool.rfind(".") + 1]


def _same_matter(call: Call, other: Call) -> bool:
    """Whether two tools whose names have no verb may be about one thing; those of one service say which."""
    place = _service(call.tool)
    if not place or place != _service(other.tool):
        return True
    return not set(name_words(call.tool[len(place) :])).isdisjoint(name_words(other.tool[len(place) :]))


def _is_look(call: Call, asked: str) -> bool:
    """Whether a call of a tool whose name has no verb, a directory or a page, was made to answer a question."""
    return call.kind == "read" or (call.kind == "other" and not call.facts.verb and not wants_change(asked))


def _is_other_thing(mine: set[str], theirs: set[str], asked: str) -> bool:
    """Whether two calls of one tool were for two of the things that the user listed."""
    apart, across = mine - theirs, theirs - mine
    if not apart or not across or not all(value in asked for value in apart | across):
        return False
    places = sorted(asked.find(value) for value in (*apart, *across))
    listed = asked[places[0] : places[-1]]
    # Named in one breath; "with the visa, or else the gift card" names two ways to one thing.
    return len(listed) <= _ONE_BREATH and _LISTS.search(listed) is not None and _OTHERWISE.search(listed) is None


def is_recovered(call: Call, later: list[Call], asked: str) -> bool:
    """
    Whether a failed call was made good by one of the calls after it.

    Args:
        call ([`Call`]):
            The one that failed.
        later (`list[Call]`):
            Those after it.
        asked (`str`):
            The user's words in lower case: of two values the user named, one does not stand for the other.
    """
    mine: set[str] | None = None
    for other in later:
        if other.outcome not in GOOD:
            continue
        if other.tool == call.tool:
            if other.arguments == call.arguments:
                return True
            mine = _values(call) if mine is None else mine
            theirs = _values(other)
            if _is_other_thing(mine, theirs, asked):
                continue
            if _alike(mine, theirs) or not all(value in asked for value in mine | theirs):
                return True
            continue
        mine = _values(call) if mine is None else mine
        looks = _is_look(call, asked) and _is_look(other, asked) and _same_matter(call, other)
        if call.kind == "read" or looks:
            if (other.kind != "other" or call.kind == "other") and (
                _alike(mine, _values(other)) or (other.kind == "read" and other.facts.entity == call.facts.entity)
            ):
                return True
        elif not mine.isdisjoint(_values(other)):
            if other.kind == "read":
                if _settled_by_look(call, other):
                    return True
            elif _same_end(call, other):
                return True
    return False


def standing_failures(evidence: Evidence) -> list[Call]:
    """
    The failed calls of a row that nothing later made good.

    Examples:
    ```python
    >>> def step(status):
    ...     return {"tool": "refund", "arguments": {"order": "118"}, "result": {"status": status}}
    >>> [len(standing_failures(Evidence({"prompt": "", "steps": [step("timeout"), step(last)], "final_text": ""})))
    ...  for last in ("ok", "timeout")]
    [0, 2]

    ```
    """
    calls = evidence.calls
    unproven = _unproven(calls) if len(calls) > 1 and evidence.writes else []
    if _UNUSABLE.isdisjoint(evidence.outcomes):
        return unproven
    found = [
        call
        for place, call in enumerate(calls)
        if call.outcome in _UNUSABLE
        and not is_recovered(call, calls[place + 1 :], evidence.asked)
        and not (place and _is_proof(call, calls[:place]))
    ]
    return found + unproven


def _is_proof(call: Call, earlier: list[Call]) -> bool:
    """Whether a look found nothing because the agent had removed it just before."""
    if call.kind != "read" or call.outcome != "not_found":
        return False
    mine = _values(call)
    return any(
        other.kind == "delete" and other.outcome == "ok" and not mine.isdisjoint(_values(other)) for other in earlier
    )


def _record(call: Call) -> dict[str, Any] | None:
    result = call.result
    data = result.get("data") if isinstance(result, dict) else None
    return data if isinstance(data, dict) else None


def _unproven(calls: list[Call]) -> list[Call]:
    """Writes that were answered with a change which a later look at the record does not show."""
    found = []
    for place, call in enumerate(calls):
        if call.kind not in ("write", "delete") or call.outcome != "ok" or call.facts.verb == "create":
            continue
        looks = [other for other in calls[place + 1 :] if other.kind == "read" and other.outcome == "ok"]
        if not looks or any(other.tool == call.tool and other.outcome in GOOD for other in calls[place + 1 :]):
            continue
        before = [other for other in calls[:place] if other.kind == "read" and other.outcome in ("ok", "stale")]
        look = looks[-1]
        old = next((o for o in reversed(before) if (o.tool, o.arguments) == (look.tool, look.arguments)), None)
        if old is not None and is_unchanged(_record(old), call, _record(look)):
            found.append(call)
    return found


def is_unchanged(old: dict[str, Any] | None, claimed: Call, new: dict[str, Any] | None) -> bool:
    """Whether a record reads as before a write that was answered with a change of it."""
    told = _record(claimed)
    if old is None or new is None or told is None:
        return False
    if claimed.result.get("status") == "deleted":
        return old == new
    changed = [key for key, value in told.items() if value != old.get(key)]
    return bool(changed) and all(new.get(key) == old.get(key) for key in changed)
