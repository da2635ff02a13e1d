"""The person without a model: answers what the agent asks from what the task knows, and otherwise is done.

It never starts anything. An agent that answers ends the conversation; one that asks for a detail gets it, or hears
that the person does not know; one that asks for a yes about the ask gets it, and a correction when it names the
wrong record.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from whileai_hf.actors.users.facts import Told, facts_in
from whileai_hf.actors.users.knowledge import Knowledge, Known
from whileai_hf.actors.users.requests import Request, answers_to, requests_in
from whileai_hf.actors.users.user import Message, UserContext, last_reply, spoken
from whileai_hf.rows.rng import Draws, rng


# Ways of typing without capitals at the start of a message.
_LOWERCASE = ("lowercase", "clipped")
_AGREEING = re.compile(r"\b(?:go ahead|proceed|confirm|correct|right|sure|continue|details)\b", re.IGNORECASE)
_STOP = frozenset("and are can for like please that the this want with you your".split())


@cache
def lines(kind: str) -> tuple[str, ...]:
    """The wordings of one kind of answer."""
    texts = json.loads((Path(__file__).parent / "lines.json").read_text("utf-8"))
    return tuple(texts[kind])


def _words(text: str) -> set[str]:
    return {re.sub(r"(?:ing|ed|es|s)$", "", word) for word in re.findall(r"[a-z]{3,}", text.casefold())} - _STOP


def _mistaken(reply: str, knowledge: Knowledge) -> Known | None:
    """The record the ask is about, when the reply names only one of the same shape that was never mentioned."""
    told = Told(knowledge.told)
    shapes = {re.sub(r"\d", "0", fact) for fact in facts_in(reply) if not told.has(fact)}
    for known in knowledge.values:
        own = [re.sub(r"\d", "0", fact) for fact in facts_in(known.value) if not fact.isdigit()]
        if known.value.casefold() not in reply.casefold() and shapes.intersection(own):
            return known
    return None


def _wanted(sentence: str, knowledge: Knowledge) -> bool:
    """Whether what is to be confirmed is what was asked for."""
    own = _words(" ".join([knowledge.ask, *knowledge.actions, *(known.value for known in knowledge.values)]))
    content = _words(_AGREEING.sub(" ", sentence))
    return bool(content & own) or (bool(_AGREEING.search(sentence)) and len(content) <= 3)


class TemplateUser:
    """
    The offline user. It holds nothing, so one instance serves every conversation.

    Examples:
    ```python
    >>> import asyncio
    >>> from whileai_hf.actors.users import TemplateUser, UserContext
    >>> call = {"tool": "refund", "arguments": {"order_id": "ORD-77"}}
    >>> context = UserContext({"prompt": "Refund my order.", "expected_calls": [call]})
    >>> asked = [{"role": "assistant", "content": "Which order is it?"}]
    >>> "ORD-77" in asyncio.run(TemplateUser().next(asked, context))
    True

    ```
    """

    @property
    def name(self) -> str:
        """What the `user_model` column says."""
        return "template"

    async def next(self, messages: Sequence[Message], context: UserContext) -> str | None:
        """What the person says next; see [`SimulatedUser`]."""
        return self.reply(messages, context)

    def reply(self, messages: Sequence[Message], context: UserContext) -> str | None:
        """[`next`][TemplateUser.next] without waiting: nothing here needs to."""
        reply = last_reply(messages)
        wanted = requests_in(reply)
        if not wanted:
            return None
        knowledge = context.knowledge
        before = [text for role, text in spoken(messages) if role == "user"][1:]
        draws = rng(context.seed, "user", context.scenario, context.rollout_index, context.turn)
        said = self._say(reply, wanted, knowledge, before, draws)
        if said is None:
            return None
        return said[:1].lower() + said[1:] if context.task.get("typing") in _LOWERCASE else said

    def _say(
        self, reply: str, wanted: Sequence[Request], knowledge: Knowledge, before: list[str], draws: Draws
    ) -> str | None:
        details = [request.text for request in wanted if request.kind == "detail"]
        answers = list(dict.fromkeys(known for text in details for known in answers_to(text, knowledge)))
        if answers:
            # Told twice already: the agent does not take it, and a third time would not help.
            if len([text for text in before if all(known.value in text for known in answers)]) > 1:
                return None
            if len(answers) == 1:
                return draws.pick(lines("value")).format(value=answers[0].value)
            listed = " and ".join(f"the {known.label} is {known.value}" for known in answers)
            return _upper(draws.pick(lines("values")).format(values=listed))
        confirmations = [request.text for request in wanted if request.kind == "confirmation"]
        wrong = _mistaken(reply, knowledge) if confirmations else None
        if wrong is not None:
            return draws.pick(lines("correction")).format(value=wrong.value)
        if details:
            shrugs = lines("unknown")
            if any(text.casefold() in {line.casefold() for line in shrugs} for text in before):
                return None
            return draws.pick(shrugs)
        if any(_wanted(text, knowledge) for text in confirmations):
            return draws.pick(lines("yes"))
        return None


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
