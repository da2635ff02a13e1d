"""The owner's own example asks as task rows: first in line, never altered, never dropped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.rows.rng import digest
from whileai_hf.scenarios.axes import AXES, SUCCESS, UNSPECIFIED
from whileai_hf.scenarios.words import singular, words_of
from whileai_hf.spec import AgentSpec


_COMMON = frozenset("get the a an of to in for by all with and on from list show".split())


def unique_seeds(seeds: Sequence[str]) -> tuple[list[str], list[str]]:
    """
    The asks without repeats, and a note for each that was repeated.

    Args:
        seeds (`Sequence[str]`):
            Asks.

    Raises:
        [`~whileai_hf.errors.ConfigurationError`]: If `seeds` is not a list of non-empty strings.
    """
    if isinstance(seeds, str) or not isinstance(seeds, Sequence):
        raise ConfigurationError(f"seeds is {seeds!r:.60}; pass a list of asks, each a string.")
    for index, ask in enumerate(seeds):
        if not isinstance(ask, str) or not ask.strip():
            raise ConfigurationError(f"seeds[{index}] is {ask!r:.60}; every seed is a non-empty string.")
    kept = list(dict.fromkeys(seeds))
    repeated = [ask for ask in kept if seeds.count(ask) > 1]
    return kept, [f"the seed {ask!r:.60} was given {seeds.count(ask)} times and is kept once" for ask in repeated]


def _words(text: str) -> set[str]:
    return {singular(word) for word in re.findall(r"[a-z]+", text.lower())} - _COMMON


def tool_meant(spec: AgentSpec, text: str) -> str:
    """The tool whose words the text shares most of, or `unspecified`."""
    said = _words(text)
    best, most = UNSPECIFIED, 0.0
    for tool in spec.tools:
        named, described = {singular(word) for word in words_of(tool.name)} - _COMMON, _words(tool.description)
        # A word of the name says more than one of the description, and long descriptions must not win by length.
        score = 2 * len(said & named) / max(1, len(named)) + len(said & described) / max(4, len(described))
        if said & named and score > most:
            best, most = tool.name, score
    return best


def seed_row(spec: AgentSpec, text: str, seed: int) -> dict[str, Any]:
    """The task row of one ask of the owner's."""
    dimensions = dict.fromkeys(AXES, UNSPECIFIED)
    dimensions |= {"tool": tool_meant(spec, text), "stance": "ordinary", "tool_condition": SUCCESS, "history": "fresh"}
    return {
        "schema_version": "1",
        "scenario_id": "sc-" + digest("seed", text),
        "prompt": text,
        "phrasing": 0,
        "scenario_dimensions": dimensions,
        "world_state": UNSPECIFIED,
        "faults": None,
        "expected_calls": [],
        "privileged": {
            "hidden_state": "This ask came from the owner of the agent, and the world holds nothing beyond its text.",
            "reference": "The reply settles what the owner's example asks for and claims nothing no tool showed.",
        },
        "tier": "ordinary",
        "persona": "plain",
        "tone": "neutral",
        "typing": "standard",
        "length": "medium",
        "arm": "seed",
        "writer_model": "seed",
        "seed": seed,
    }
