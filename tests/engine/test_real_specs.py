"""Nine real agents, 200 rows each: the promises of the README on tools somebody else wrote."""

import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

import whileai_hf as wai
from whileai_hf.rows import canonical, dumps, view
from whileai_hf.rows.rng import digest
from whileai_hf.sandbox import argument_errors


SPECS = [
    "agentdojo_slack",
    "agentdojo_workspace",
    "mcp_everything",
    "mcp_fetch",
    "mcp_filesystem",
    "mcp_git",
    "mcp_memory",
    "mcp_time",
    "tau_airline",
]
BUDGET = 200


@pytest.fixture(scope="module")
def run(shared):
    @cache
    def simulate(name, concurrency=8):
        spec = wai.AgentSpec.load(shared / "real" / "specs" / f"{name}.json")
        return spec, wai.simulate(wai.seeded_agent(spec.tools), spec, budget=BUDGET, concurrency=concurrency)

    return simulate


def content(data):
    return digest(*(dumps(canonical(row)).decode() for row in view(data).rows()), length=32)


@pytest.mark.parametrize("name", SPECS)
def test_200_rows_of_a_real_agent(run, name):
    spec, data = run(name)
    report = wai.run_report(data)
    assert len(data) == BUDGET and report.shortfall == 0 and report.search["agent_errors"] == 0
    assert len(set(data["prompt"])) == len(set(data["scenario_id"])) == BUDGET
    calls = 0
    for row in view(data).rows(["steps", "prompt"]):
        for step in row["steps"]:
            if "tool" in step:
                assert argument_errors(spec.tool(step["tool"]), step["arguments"]) == [], row["prompt"]
                calls += 1
    assert calls > BUDGET // 4
    # 200 rows cover what they can: each row adds at most as many new pairs as it has pairs of axes.
    covered, total = report.coverage["pairs_covered"], report.coverage["pairs_total"]
    assert covered >= min(0.6 * total, 2.5 * BUDGET), (covered, total)


@pytest.mark.parametrize("name", SPECS)
def test_the_rows_do_not_depend_on_concurrency(run, name):
    assert content(run(name, 1)[1]) == content(run(name, 8)[1]) == content(run(name, 64)[1])


def test_the_rows_do_not_depend_on_the_process(run, shared):
    code = (
        "import sys, whileai_hf as wai; from whileai_hf.rows import *; from whileai_hf.rows.rng import digest\n"
        "for path in sys.argv[1:]:\n"
        "    spec = wai.AgentSpec.load(path)\n"
        "    data = wai.simulate(wai.seeded_agent(spec.tools), spec, budget=200)\n"
        "    print(digest(*(dumps(canonical(row)).decode() for row in view(data).rows()), length=32))\n"
    )
    paths = [str(shared / "real" / "specs" / f"{name}.json") for name in SPECS]
    other = subprocess.run([sys.executable, "-c", code, *paths], capture_output=True, text=True, check=True)
    assert other.stdout.split() == [content(run(name)[1]) for name in SPECS]


def test_a_prompt_tells_which_agent_it_is_for(run):
    prompts, labels = [], []
    for label, name in enumerate(SPECS):
        found = run(name)[1]["prompt"][:]
        prompts += found
        labels += [label] * len(found)
    labels = np.array(labels)
    vectors = TfidfVectorizer(sublinear_tf=True).fit_transform(prompts)
    train = np.arange(len(prompts)) % 2 == 0
    centroids = np.vstack([np.asarray(vectors[train & (labels == label)].mean(axis=0)) for label in range(len(SPECS))])
    guessed = cosine_similarity(vectors[~train], centroids).argmax(axis=1)
    assert (guessed == labels[~train]).mean() >= 0.9


def scalars(value):
    if isinstance(value, dict):
        return [item for inner in value.values() for item in scalars(inner)]
    if isinstance(value, list):
        return [item for inner in value for item in scalars(inner)]
    return [value]


def test_every_airline_tool_is_targeted_and_called_with_arguments_from_the_ask(run):
    spec, data = run("tau_airline")
    targeted, called = set(), set()
    for row in view(data).rows(["scenario_dimensions", "steps", "prompt"]):
        target = row["scenario_dimensions"]["tool"]
        targeted.add(target)
        for step in row["steps"]:
            if step.get("tool") != target:
                continue
            texts = [value for value in scalars(step["arguments"]) if isinstance(value, str)]
            numbers = [v for v in scalars(step["arguments"]) if isinstance(v, int | float) and not isinstance(v, bool)]
            if all(text in row["prompt"] for text in texts) and all(
                f"{number:g}" in row["prompt"] for number in numbers
            ):
                called.add(target)
    assert set(spec.names) <= targeted
    assert set(spec.names) <= called
