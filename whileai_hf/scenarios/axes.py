"""The axes a situation is drawn along, read off an agent's spec.

World axes only: which tool, which rule of the prompt, the asker's stance, the state of the record, what goes wrong
with the call, and what happened before. Who asks and how it is typed is drawn per row (`people.py`) because wording
must never decide which situations exist.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from whileai_hf.rows.rng import digest
from whileai_hf.sandbox import FAULT_KINDS, id_parameters, tool_effect
from whileai_hf.sandbox.kinds import COMMON_KINDS, RARE_KINDS
from whileai_hf.sandbox.reach import reach_of
from whileai_hf.spec import AgentSpec, Tool


AXES = ("tool", "rule", "stance", "world_state", "tool_condition", "history")
UNRELATED = "unrelated"
MULTI_TOOL = "multi_tool"
UNSPECIFIED = "unspecified"
SUCCESS = "success"

STANCES = (
    "ordinary",
    "ambiguous",
    "boundary",
    "adversarial",
    "hurried",
    "unsure",
    "retry",
    "mistaken",
    "exploratory",
    "conflicting",
)
WORLD_STATES = (
    "entity exists",
    "entity missing",
    "entity already acted on",
    "entity duplicated",
    "entity partially completed",
    "unknown",
)
HISTORIES = ("fresh", "prior failure", "prior partial action", "contradicts earlier", "repeat visit")
# What the grid covers, and what a situation may meet beyond it: what is rare stays out of the count of pairs.
TOOL_CONDITIONS = (SUCCESS, *COMMON_KINDS)
EVERY_CONDITION = (SUCCESS, *FAULT_KINDS)
# What can happen to a call that changes nothing.
_READING_CONDITIONS = (SUCCESS, *(kind for kind in COMMON_KINDS if not FAULT_KINDS[kind].writes_only))
_WRITES = frozenset({"create", "update", "delete"})

# A stance that is a tier of its own; every other stance is an ordinary ask.
HARD_TIERS = ("ambiguous", "boundary", "adversarial")
# A right agent calls nothing here (it asks back, or refuses), so a planned fault could never be seen.
CALL_FREE_STANCES = frozenset({"ambiguous", "adversarial"})


# The tier of each stance.
TIERS = {stance: stance if stance in HARD_TIERS else "ordinary" for stance in STANCES}


def tier_of(stance: str) -> str:
    """The tier a stance belongs to: `ordinary`, `ambiguous`, `boundary` or `adversarial`."""
    return TIERS[stance]


class Cell(NamedTuple):
    """One situation: a value on every axis."""

    tool: str
    rule: str
    stance: str
    world_state: str
    tool_condition: str
    history: str

    @property
    def faulted(self) -> bool:
        """Whether a fault is planned."""
        return self[4] != SUCCESS


def tool_identity(tool: Tool) -> str:
    """Hash of a tool's name and schema: the part of a tool whose edit makes its situations new ones."""
    schema = json.dumps(tool.parameters, sort_keys=True, default=str)
    return digest("tool", tool.name, schema, length=16)


@dataclass(frozen=True)
class Axes:
    """
    The values of every axis for one agent, and which of them can occur together.

    Args:
        tools (`tuple[str, ...]`):
            Tool names, then `unrelated`, then `multi_tool` when there are at least two tools.
        rules (`tuple[str, ...]`):
            `unspecified`, then the text of each clause of the prompt.
        identities (`dict[str, str]`):
            Tool value to the hash its blocks are placed by.
        with_records (`frozenset[str]`):
            Tool values whose calls name a record, so that the record can be in some state.
        writing (`frozenset[str]`):
            Tool values whose calls change something, so that a change can get lost.
        showing (`dict[str, frozenset[str]]`):
            Tool value to the kinds of fault, common and rare, that can show in its calls.
        pairs (`dict[str, dict[str, frozenset[str]]]`):
            Kind of fault that takes two calls to the tools it is planned for, and to each those it shows in.
    """

    tools: tuple[str, ...]
    rules: tuple[str, ...]
    identities: dict[str, str]
    with_records: frozenset[str]
    writing: frozenset[str]
    showing: dict[str, frozenset[str]]
    pairs: dict[str, dict[str, frozenset[str]]]

    @classmethod
    def of(cls, spec: AgentSpec) -> Axes:
        """The axes of `spec`."""
        identities = {tool.name: tool_identity(tool) for tool in spec.tools}
        with_records = {tool.name for tool in spec.tools if id_parameters(tool)}
        writing = {tool.name for tool in spec.tools if tool_effect(tool) in _WRITES}
        names = list(identities)
        for extra, wanted in ((UNRELATED, True), (MULTI_TOOL, len(spec.tools) > 1)):
            if wanted and extra not in identities:
                names.append(extra)
                identities[extra] = extra
        for members in (with_records, writing):
            if members and MULTI_TOOL in names:
                members.add(MULTI_TOOL)
        reach = reach_of(spec)
        showing = dict(reach.alone)
        if MULTI_TOOL in names and MULTI_TOOL not in showing:
            between = (kind for kind, two in reach.pairs.items() if two)
            showing[MULTI_TOOL] = frozenset(between).union(*showing.values())
        clauses = [clause for clause in dict.fromkeys(spec.clauses) if clause != UNSPECIFIED]
        return cls(
            tools=tuple(names),
            rules=(UNSPECIFIED, *clauses),
            identities=identities,
            with_records=frozenset(with_records),
            writing=frozenset(writing),
            showing=showing,
            pairs=reach.pairs,
        )

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Each tool's identity as 64 bits, for rendezvous hashing."""
        return {name: int(digest("number", identity, length=16), 16) for name, identity in self.identities.items()}

    @cached_property
    def real_tools(self) -> tuple[str, ...]:
        """The tool values a call can be made to."""
        return tuple(name for name in self.tools if name != UNRELATED)

    def world_states(self, tool: str) -> tuple[str, ...]:
        """What state the record may be in for asks about `tool`."""
        return WORLD_STATES if tool in self.with_records else (UNSPECIFIED,)

    def conditions(self, tool: str, stance: str) -> tuple[str, ...]:
        """What may happen to the call for asks about `tool` made in `stance`."""
        if tool == UNRELATED or stance in CALL_FREE_STANCES:
            return (SUCCESS,)
        return TOOL_CONDITIONS if tool in self.writing else _READING_CONDITIONS

    def rare(self, tool: str, stance: str) -> tuple[str, ...]:
        """What else may happen to the call, off the grid."""
        if tool == UNRELATED or stance in CALL_FREE_STANCES:
            return ()
        showing = self.showing.get(tool, frozenset())
        return tuple(kind for kind in RARE_KINDS if kind in showing)

    @cached_property
    def all_conditions(self) -> tuple[str, ...]:
        """What may happen to a call of any tool of this agent."""
        return TOOL_CONDITIONS if self.writing else _READING_CONDITIONS

    def can_meet(self, condition: str) -> bool:
        """Whether that may happen to a call of some tool of this agent."""
        return condition in self.all_conditions or any(condition in kinds for kinds in self.showing.values())

    @cached_property
    def all_world_states(self) -> tuple[str, ...]:
        """The states a record of this agent may be in."""
        return WORLD_STATES if self.with_records else (UNSPECIFIED,)

    def able(self, cell: Cell) -> list[str]:
        """The callable tools that can take the place of `cell`'s tool."""
        state, condition, stance = cell.world_state, cell.tool_condition, cell.stance
        return [
            tool
            for tool in self.real_tools
            if state in self.world_states(tool)
            and (condition == SUCCESS or condition in self.conditions(tool, stance))
        ]

    def possible(self, cell: Cell) -> bool:
        """Whether the values of `cell` can occur together."""
        condition, tool, stance = cell.tool_condition, cell.tool, cell.stance
        return cell.world_state in self.world_states(tool) and (
            condition == SUCCESS or condition in self.conditions(tool, stance) or condition in self.rare(tool, stance)
        )

    def telling(self, cell: Cell) -> bool:
        """Whether the values of `cell` can occur together and its fault, if one is planned, can show."""
        fault = cell.tool_condition
        return self.possible(cell) and (fault == SUCCESS or fault in self.showing.get(cell.tool, ()))

    def can_fault(self, cell: Cell) -> bool:
        """Whether a fault could be planned for `cell`, whatever it plans now."""
        return cell.tool != UNRELATED and cell.stance not in CALL_FREE_STANCES
