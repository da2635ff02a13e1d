"""What is known about the agent when its users are written: what it does in plain words, and what must not be said.

The writer never sees the agent's prompt. The prompt is read here for two things only: to recognise a message that
quotes it, and for the field it names ("airline"), which every user knows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from whileai_hf.scenarios.asks import ToolPhrases
from whileai_hf.scenarios.axes import AXES, SUCCESS, UNSPECIFIED, Cell
from whileai_hf.scenarios.descriptions import first_sentence
from whileai_hf.scenarios.subjects import fields_of
from whileai_hf.scenarios.tasks import TaskMaker
from whileai_hf.scenarios.words import words_of
from whileai_hf.scenarios.writing.quotes import policy_runs, words
from whileai_hf.spec import AgentSpec


# Tools named to the writer; a service with more is known by these.
_MOST_NAMED = 16
# Characters of a tool's first sentence beyond which its -ing form says it better.
_LONGEST_WANT = 160
# Names that are no words of a language: get_order, getOrder, get-order, order2. "search" is one.
_CODED = re.compile(r"\w+[_-]\w+|[a-z]+[A-Z]\w*|[A-Za-z]+\d+")


class Scene:
    """
    One agent as its users see it.

    Args:
        spec ([`~whileai_hf.spec.AgentSpec`]):
            The agent.
    """

    def __init__(self, spec: AgentSpec) -> None:
        self._spec = spec
        self._maker = TaskMaker(spec)
        described = [f"{tool.name} {tool.description}" for tool in spec.tools]
        self.policy_runs = policy_runs(spec.system_prompt, described)
        self._first_sentences = Counter(first_sentence(tool.description) for tool in spec.tools)
        self.familiar = frozenset(word for text in described for word in words(text))

    @cached_property
    def service(self) -> str:
        """The service in two lines: its field and what it does."""
        doing = list(dict.fromkeys(map(self._doing, self._maker.writer.phrases.values())))
        more = "; and more of the kind" if len(doing) > _MOST_NAMED else ""
        field = f"Field: {', '.join(fields_of(self._spec))}."
        return f"{field}\nPeople come to it for: {'; '.join(doing[:_MOST_NAMED])}{more}." if doing else field

    @cached_property
    def coded_names(self) -> re.Pattern[str]:
        """The names of tools and parameters that only a programmer would write."""
        names = {tool.name for tool in self._spec.tools}
        names |= {name for tool in self._spec.tools for name in tool.parameters.get("properties") or ()}
        coded = sorted(name for name in names if _CODED.fullmatch(name))
        return re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, coded)) + r")(?![\w-])") if coded else _NEVER

    def phrases(self, task: Mapping[str, Any]) -> list[ToolPhrases]:
        """What can be said about the tools a task is about; nothing when it is about none."""
        known = self._maker.writer.phrases
        calls = task.get("expected_calls") or ()
        if calls:
            return [known[call["tool"]] for call in calls if call["tool"] in known]
        cell = cell_of(task)
        # Tasks of another agent, or of nobody's grid, are about no tool of this one.
        axes = self._maker.axes
        if cell.tool not in axes.tools or not axes.can_meet(cell.tool_condition):
            return []
        return [known[name] for name in self._maker.tools(cell) if name in known]

    def wants(self, phrase: ToolPhrases) -> str:
        """What a person comes to a tool for."""
        said = first_sentence(phrase.tool.description)
        # Two tools described alike are told apart by what their names say.
        shared = self._first_sentences[said] > 1
        if not said or shared or len(said) > _LONGEST_WANT or self.coded_names.search(said):
            return self._doing(phrase)
        return said

    def _doing(self, phrase: ToolPhrases) -> str:
        """The -ing form of a tool without any name from the inside, in the words of its own name if need be."""
        plain = (said for said in phrase.doing if not self.coded_names.search(said))
        return next(plain, None) or " ".join(words_of(phrase.tool.name)) or phrase.thing

    def topics(self, rule: str) -> tuple[str, ...]:
        """What a rule is about, in a word or two: all of a rule that the writer gets to know."""
        return () if rule == UNSPECIFIED else self._maker.writer.topics(rule)


_NEVER = re.compile(r"(?!)")


def cell_of(task: Mapping[str, Any]) -> Cell:
    """The situation of a task; what its row does not say is unspecified."""
    said = task.get("scenario_dimensions") or {}
    found = {axis: said.get(axis, UNSPECIFIED) for axis in AXES}
    if found["tool_condition"] == UNSPECIFIED:
        found["tool_condition"] = SUCCESS
    return Cell(**found)
