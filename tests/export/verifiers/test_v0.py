"""The same wheel under verifiers 0.3, with the command line of that generation."""

import json

import pytest
from openai_server import Server


pytestmark = pytest.mark.timeout(1200)
EVAL = "verifiers.legacy.scripts.eval:main"

ROWS = """
import asyncio, json
import verifiers as vf
from whileai_hf.export.verifiers.judging import OURS, row_of

env = vf.load_environment(NAME, split="holdout")

async def play():
    from openai import AsyncOpenAI
    from verifiers.clients import resolve_client
"""


def run_of(home):
    (file,) = home.folder.rglob("results.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.fixture(scope="module")
def policy(scripted):
    with Server(scripted[1], key="sk-desk") as server:
        yield server


@pytest.fixture(scope="module")
def done(v0_home, policy):
    where = [
        "-m",
        "scripted",
        "-b",
        policy.url,
        "-k",
        "DESK_KEY",
        "-n",
        "4",
        "-r",
        "2",
        "-s",
        "-d",
        "-C",
        "whileai_hf",
    ]
    jobs = {
        name: {"run": EVAL, "arguments": [name, "-a", '{"split": "holdout"}', *where, "-o", name]}
        for name in ("order_desk_test", "talking_desk_test")
    }
    results = v0_home.run(jobs)
    for name, result in results.items():
        assert result["error"] is None, f"{name}: {result['error']}\n{result['output'][-4000:]}"
    return results


def test_rewards(done, v0_home):
    assert run_of(v0_home) == 0
