"""On rows whose agent misbehaved on purpose, each tic is found on those rows and on no other."""

from __future__ import annotations

import pytest

import whileai_hf as wai
from whileai_hf.markers.style import style_report
from whileai_hf.markers.style.tics import measure_style
from whileai_hf.rows import view


TICS = {
    "hedging": "no_hedging",
    "sycophancy": "no_sycophancy",
    "apology": "no_apology",
    "boilerplate": "no_boilerplate",
}
SPECS = ["agentdojo_workspace", "tau_airline"]


def check(data: object) -> None:
    rows = list(view(data).rows())
    for tic, marker in TICS.items():
        seeded = [index for index, row in enumerate(rows) if tic in row["seeded"]]
        assert len(seeded) > 0
        found = [index for index, row in enumerate(rows) if measure_style(row)[0].get(marker) == 0.0]
        assert found == seeded, [rows[index]["final_text"] for index in set(found) ^ set(seeded)]


def test_a_shop(tools: list[dict]) -> None:
    data = wai.simulate(wai.seeded_agent(tools), tools=tools, system_prompt="Help customers with orders.", budget=200)
    check(data)
    seeded = sum(1 for row in view(data).rows(["seeded"]) if "hedging" in row["seeded"])
    assert style_report(data)["markers"]["no_hedging"]["hits"] == seeded > 0


@pytest.mark.parametrize("name", SPECS)
def test_real_tool_sets(name: str, shared) -> None:
    spec = wai.AgentSpec.load(shared / "real" / "specs" / f"{name}.json")
    check(wai.simulate(wai.seeded_agent(spec.tools), spec, budget=120))
