"""What a simulated user may do wrong, found in the conversation it left.

In published benchmarks a large share of failed conversations fails because of the simulated user. A row with one of
these faults says nothing about the agent, so it is marked and left out of denominators.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from whileai_hf.actors.users.facts import Told, facts_in
from whileai_hf.actors.users.knowledge import REFERENCE_WORDS, Knowledge, knowledge_of
from whileai_hf.actors.users.phrases import beginning, phrase, plain
from whileai_hf.actors.users.requests import answers_to, requests_in
from whileai_hf.actors.users.secrets import gives_away, quotations
from whileai_hf.actors.users.user import spoken
from whileai_hf.actors.users.voice import label_at, speaks_as_agent, thinks_aloud


FAULTS = (
    "invented_fact",
    "leaked_hidden_state",
    "contradicts_ask",
    "gave_up_early",
    "role_swap",
    "leaked_reasoning",
    "answered_for_agent",
)

# The stop marker of published simulators, part of their last turn in the logs.
_NEEDLESS = re.compile(r"\bno (\w+) (?:is )?(?:needed|necessary|wanted|required|please|thanks)\b", re.IGNORECASE)
_STOP_MARK = re.compile(r"#{2,}\s*[A-Z_-]+\s*#{2,}")


def _lacks_known(text: str, knowledge: Knowledge) -> bool:
    """Whether the person says they do not have a reference that is theirs."""
    for match in beginning("lacks").finditer(plain(text)):
        # "I don't have the booking number, but my order number is ..." lacks one thing only.
        lacked = re.split(r",|\bbut\b|\bhowever\b|\balthough\b", match["object"].casefold())[0]
        words = re.findall(r"[a-z]+", lacked)
        for known in knowledge.values:
            if not known.is_reference or not facts_in(known.value):
                continue
            about = [re.sub(r"s$", "", word) for word in known.subject()]
            singular = [re.sub(r"s$", "", word) for word in words]
            places = [i for i in range(len(singular)) if singular[i : i + len(about)] == about]
            # "the order number", not "the order" (of which one may well not know something).
            after = [words[i + len(about)] for i in places if i + len(about) < len(words)]
            if any(word.rstrip("s") in REFERENCE_WORDS for word in after):
                return True
    return False


def _denies_ask(text: str, knowledge: Knowledge) -> bool:
    """Whether the person says they never wanted what the ask wants."""
    asked = knowledge.ask.casefold()
    wanted = [action for action in knowledge.actions if action and action in asked]
    for sentence in re.split(r"(?<=[.?!])\s+|\n", plain(text)):
        if phrase("condition").search(sentence):
            continue
        for match in beginning("refuses").finditer(sentence):
            said = match["object"].casefold()
            # An ask may be at odds with itself on purpose; repeating that is no contradiction.
            if any(action in said for action in wanted) and match.group().casefold() not in asked:
                return True
        needless = _NEEDLESS.search(sentence)
        if needless and needless[1].casefold() in wanted:
            return True
    return False


def _other_reference(text: str, knowledge: Knowledge, told: Told) -> bool:
    """Whether the person names another record of the kind the ask is about."""
    shapes = {re.sub(r"\d", "0", fact) for known in knowledge.values for fact in facts_in(known.value)}
    new = [fact for fact in facts_in(text) if not told.has(fact)]
    return any(re.sub(r"\d", "0", fact) in shapes for fact in new if not fact.replace(".", "").isdigit())


def turn_faults(
    text: str, reply: str, knowledge: Knowledge, told: Told, heard: Sequence[str] = (), *, strict: bool = False
) -> list[str]:
    """
    The faults of one user turn.

    Args:
        text (`str`):
            What the person said.
        reply (`str`):
            What the agent had said right before.
        knowledge ([`Knowledge`]):
            What the person knows.
        told ([`Told`]):
            Facts said so far, the person's own knowledge included.
        heard (`Sequence[str]`, *optional*):
            The texts of the conversation so far.
        strict (`bool`, *optional*, defaults to `False`):
            Take every verbatim run of privileged text for a quotation; see [`quotations`].

    Returns:
        `list[str]`: Names out of [`FAULTS`].
    """
    found = []
    if thinks_aloud(text):
        found.append("leaked_reasoning")
    if label_at(text) is not None:
        found.append("answered_for_agent")
    elif speaks_as_agent(text, reply):
        found.append("role_swap")
    public = [knowledge.ask, *heard]
    if quotations(text, knowledge.secrets, public, strict=strict) or gives_away(text, knowledge.secrets, told):
        found.append("leaked_hidden_state")
    elif knowledge.complete and any(not told.has(fact) for fact in facts_in(text)):
        found.append("invented_fact")
    if _lacks_known(text, knowledge) or _denies_ask(text, knowledge) or _other_reference(text, knowledge, told):
        found.append("contradicts_ask")
    if _walks_out(text, reply, knowledge, heard):
        found.append("gave_up_early")
    return found


def _walks_out(text: str, reply: str, knowledge: Knowledge, heard: Sequence[str]) -> bool:
    """Whether the person breaks off while the agent is at work on the ask and waits for what the person could say."""
    said = plain(text)
    if not phrase("gives up").search(said) or phrase("agrees").search(said):
        return False
    if withholds(reply, knowledge, [*heard, text]):
        return True
    if phrase("bad news").search(plain(reply)):
        return False
    for request in requests_in(reply):
        answers = answers_to(request.text, knowledge)
        if request.kind == "confirmation" or any(known.value.casefold() not in text.casefold() for known in answers):
            return True
    return False


def withholds(reply: str, knowledge: Knowledge, heard: Sequence[str]) -> bool:
    """Whether the agent's last words ask for something the person knows and has not said since."""
    said = "\n".join([knowledge.ask, *heard]).casefold()
    for request in requests_in(reply):
        if request.kind == "confirmation":
            continue
        if any(known.value.casefold() not in said for known in answers_to(request.text, knowledge)):
            return True
    return False


def _never_said(messages: Sequence[Mapping[str, Any]], knowledge: Knowledge) -> bool:
    """Whether the person left without ever saying something the agent had asked for and they know."""
    heard = spoken(messages)
    replies = [text for role, text in heard if role == "assistant"]
    return any(withholds(reply, knowledge, [text for _, text in heard]) for reply in replies)


def _conversation(row: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    messages = row.get("messages") if isinstance(row, Mapping) else row
    return [message for message in messages or () if isinstance(message, Mapping)]


def user_faults(
    row_or_messages: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    task: Mapping[str, Any] | None = None,
    *,
    ended_by_user: bool | None = None,
) -> list[str]:
    """
    What the simulated user of a conversation did wrong.

    Args:
        row_or_messages (`dict` or `list[dict]`):
            A rollout row, or its messages.
        task (`dict`, *optional*):
            The task row, with `expected_calls` and `privileged`. Without it the row's own columns are read; facts can
            then not be called invented, and privileged text not be recognised.
        ended_by_user (`bool`, *optional*):
            Whether the person had the last chance to speak and took it to leave; read off a row's `ended_by` when
            left out.

    Returns:
        `list[str]`: Names out of [`FAULTS`], in that order; `[]` for a user who did nothing wrong.

    Examples:
    ```python
    >>> call = {"tool": "refund", "arguments": {"order_id": "A-77"}}
    >>> task = {"prompt": "Refund my order.", "expected_calls": [call]}
    >>> asked = [{"role": "user", "content": "Refund my order."}, {"role": "assistant", "content": "Which order?"}]
    >>> user_faults([*asked, {"role": "user", "content": "A-77."}], task)
    []
    >>> user_faults([*asked, {"role": "user", "content": "It is B-4512. How can I help you?"}], task)
    ['invented_fact', 'role_swap']

    ```
    """
    messages = _conversation(row_or_messages)
    row = row_or_messages if isinstance(row_or_messages, Mapping) else {}
    if ended_by_user is None:
        ended_by_user = row.get("ended_by") == "user"
    about = task if task is not None else row
    opening = next((text for role, text in spoken(messages) if role == "user"), "")
    return faults_in(messages, about, knowledge_of(about, ask=opening), ended_by_user=ended_by_user)


def faults_in(
    messages: Sequence[Mapping[str, Any]], task: Mapping[str, Any], knowledge: Knowledge, *, ended_by_user: bool
) -> list[str]:
    """[`user_faults`] with the person's knowledge at hand."""
    scripted = {str(turn.get("user")) for turn in task.get("script") or () if isinstance(turn, Mapping)}
    told = Told(knowledge.told)
    heard: list[str] = []
    found: set[str] = set()
    reply, first = "", True
    for message in messages:
        role, content = message.get("role"), message.get("content")
        if not isinstance(content, str) or role not in ("user", "assistant", "tool"):
            continue
        if role == "user" and not first and content not in scripted:
            said = _STOP_MARK.sub("", content)
            found.update(turn_faults(said, reply, knowledge, told, heard))
        if role == "user":
            first, reply = False, ""
        elif role == "assistant":
            reply = f"{reply}\n{content}" if reply else content
        told.add(content)
        if role != "tool":
            heard.append(content)
    if ended_by_user and _never_said(messages, knowledge):
        found.add("gave_up_early")
    return [name for name in FAULTS if name in found]
