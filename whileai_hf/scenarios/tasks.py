"""Task rows, and the endless stream of those of the grid.

Everything on a row is a function of the seed, the situation and the phrasing. The stream has one memory: a prompt it
has already emitted is worded again (which, with the wording there is, practically never happens).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.rows.rng import digest, rng
from whileai_hf.sandbox import FAULT_KINDS, fault_plan
from whileai_hf.sandbox.kinds import COMMON_KINDS, RARE_KINDS
from whileai_hf.scenarios.axes import AXES, CALL_FREE_STANCES, SUCCESS, UNSPECIFIED, Axes, Cell, tier_of
from whileai_hf.scenarios.grid import cells
from whileai_hf.scenarios.hidden import hidden_state, reference
from whileai_hf.scenarios.people import draw_person
from whileai_hf.scenarios.seeds import seed_row, unique_seeds
from whileai_hf.scenarios.writer import FRESH, Ask, Writer, tools_for
from whileai_hf.spec import AgentSpec


# Wordings tried before a prompt that is already taken is emitted all the same.
_REWORDINGS = 16


class TaskMaker:
    """
    Makes the rows of one agent.

    Args:
        spec ([`~whileai_hf.spec.AgentSpec`]):
            The agent.
        seed (`int`, *optional*, defaults to `0`):
            Seed of every choice of values and words; situations do not depend on it.
    """

    def __init__(self, spec: AgentSpec, seed: int = 0) -> None:
        self.axes = Axes.of(spec)
        self.writer = Writer(spec)
        self._seed = seed
        self._plans: dict[tuple[str, str], dict[str, Any]] = {}
        recorded = [name for name in self.writer.phrases if name in self.axes.with_records]
        self._first = {}
        for condition in (SUCCESS, *COMMON_KINDS):
            names = recorded or list(self.writer.phrases)
            if condition != SUCCESS and FAULT_KINDS[condition].writes_only:
                names = [name for name in names if name in self.axes.writing] or list(
                    self.axes.writing & set(self.writer.phrases)
                )
            self._first[condition] = frozenset(names)
        for kind in RARE_KINDS:
            alone = (name for name in self.writer.phrases if kind in self.axes.showing[name])
            able = frozenset(self.axes.pairs.get(kind, alone))
            self._first[kind] = able.intersection(recorded) or able

    def faults(self, kind: str, tool: str) -> dict[str, Any]:
        """The plan of a fault of `kind` on the first call of `tool`."""
        plan = self._plans.get((kind, tool))
        if plan is None:
            plan = self._plans[kind, tool] = fault_plan(kind, tool)
        # Rows must not share what a caller may change.
        return {name: dict(entry) for name, entry in plan.items()}

    def tools(self, cell: Cell) -> tuple[str, ...]:
        """The tools `cell` is about, in the order they are needed."""
        return tools_for(cell, self.axes, self.writer, self._first)

    def scenario_id(self, cell: Cell, tools: Sequence[str]) -> str:
        """Identity of a situation: its values, the clause's text and the tools' names and schemas."""
        return "sc-" + digest("\x1f".join(("cell", *cell, *(self.axes.identities[tool] for tool in tools))))

    def row(self, cell: Cell, phrasing: int = 0, attempt: int = 0) -> dict[str, Any]:
        """
        The task row of a situation.

        Args:
            cell ([`Cell`]):
                The situation.
            phrasing (`int`, *optional*, defaults to `0`):
                Which wording of it; values stay the same.
            attempt (`int`, *optional*, defaults to `0`):
                Above 0, another wording because the first was taken.
        """
        tools = self.tools(cell)
        scenario_id = self.scenario_id(cell, tools)
        values = rng(self._seed, "values " + scenario_id)
        shared: dict[str, Any] = {}
        calls = []
        for name in tools:
            phrase = self.writer.phrases[name]
            call = phrase.draw(values, shared)
            shared.update(call.arguments)
            calls.append((phrase, call))
        # The first wording goes on with the stream of its values: starting one is a tenth of a row's cost.
        again = phrasing or attempt
        words = rng(self._seed, f"words {scenario_id} {phrasing} {attempt}") if again else values
        person = draw_person(words, fresh=cell.history == FRESH and cell.stance != "retry")
        topic = words.pick(self.writer.topics(cell.rule)) if cell.rule != UNSPECIFIED else None
        prompt = self.writer.write(cell, Ask(tuple(calls)) if calls else None, person, words, topic)
        expected = [] if cell.stance in CALL_FREE_STANCES else calls
        return {
            "schema_version": "1",
            "scenario_id": scenario_id,
            "prompt": prompt,
            "phrasing": phrasing,
            "scenario_dimensions": dict(zip(AXES, cell, strict=True)),
            "world_state": cell.world_state,
            "faults": self.faults(cell.tool_condition, tools[0]) if cell.faulted and tools else None,
            "expected_calls": [{"tool": phrase.tool.name, "arguments": call.arguments} for phrase, call in expected],
            "privileged": {"hidden_state": hidden_state(cell, calls), "reference": reference(cell, calls)},
            "tier": tier_of(cell.stance),
            "persona": person.persona,
            "tone": person.tone,
            "typing": person.typing,
            "length": person.length,
            "arm": "structured",
            "writer_model": "template",
            "seed": self._seed,
        }


def check_draw(seed: int, fault_rate: float, phrasings: int) -> None:
    """Refuses a `seed`, `fault_rate` or `phrasings` that is out of its range."""
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise ConfigurationError(f"seed is {seed!r:.40}; pass a whole number.")
    if isinstance(fault_rate, bool) or not isinstance(fault_rate, int | float) or not 0 <= fault_rate <= 1:
        raise ConfigurationError(f"fault_rate is {fault_rate!r:.40}; pass a number between 0 and 1.")
    if isinstance(phrasings, bool) or not isinstance(phrasings, int) or phrasings < 1:
        raise ConfigurationError(f"phrasings is {phrasings!r:.40}; pass 1 or more.")


def draw_tasks(
    spec: AgentSpec,
    *,
    seed: int = 0,
    fault_rate: float = 0.5,
    seeds: Sequence[str] = (),
    phrasings: int = 1,
) -> Iterator[dict[str, Any]]:
    """
    Task rows in running order, without end: the owner's asks, then plain situations, then the edges.

    Args:
        spec ([`~whileai_hf.spec.AgentSpec`]):
            The agent.
        seed (`int`, *optional*, defaults to `0`):
            Seed of values and wording. Which situations there are, and their ids, do not depend on it.
        fault_rate (`float`, *optional*, defaults to `0.5`):
            Share of situations with a planned fault among those that could have one, as a running share.
        seeds (`Sequence[str]`, *optional*):
            The owner's own asks, after those of the spec; emitted first, as they are.
        phrasings (`int`, *optional*, defaults to `1`):
            Wordings of each situation, one after the other.

    Returns:
        `Iterator[dict]`: Rows with the columns of a task. A `scenario_id` comes back, with the next phrasing, only
        when every situation has been used.

    Raises:
        [`~whileai_hf.errors.ConfigurationError`]: If an argument is out of its range.

    Examples:
    ```python
    >>> from itertools import islice
    >>> from whileai_hf.scenarios import draw_tasks
    >>> from whileai_hf.spec import AgentSpec
    >>> order = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
    >>> spec = AgentSpec.from_tools([{"name": "get_order", "description": "Look up an order.", "parameters": order}])
    >>> rows = list(islice(draw_tasks(spec, seeds=["Where is 4412?"]), 3))
    >>> rows[0]["prompt"], rows[1]["expected_calls"][0]["tool"], rows[1]["faults"]
    ('Where is 4412?', 'get_order', None)

    ```
    """
    check_draw(seed, fault_rate, phrasings)
    asked, notes = unique_seeds(list(seeds) if isinstance(seeds, tuple) else seeds)
    for note in notes:
        warnings.warn(note + ".", stacklevel=2)
    own = list(dict.fromkeys([*spec.seeds, *asked]))
    return _stream(spec, seed, fault_rate, own, phrasings)


def _stream(
    spec: AgentSpec, seed: int, fault_rate: float, own: Sequence[str], phrasings: int
) -> Iterator[dict[str, Any]]:
    taken = set(own)
    for text in own:
        yield seed_row(spec, text, seed)
    maker = TaskMaker(spec, seed)
    for cell, used_up in cells(maker.axes, fault_rate):
        for phrasing in range(used_up * phrasings, (used_up + 1) * phrasings):
            for attempt in range(_REWORDINGS):
                row = maker.row(cell, phrasing, attempt)
                if row["prompt"] not in taken:
                    break
            taken.add(row["prompt"])
            yield row
