"""An order desk with a scripted policy, exported, built and installed where an interpreter with verifiers is named.

`WHILEAI_VERIFIERS_PYTHON` names one with verifiers 0.4, `WHILEAI_VERIFIERS_V0_PYTHON` one with 0.1.11 to 0.3. Without
them, what needs them is skipped. verifiers takes long to import, so all commands of a test session run in one process.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from openai_server import Reply, call

import whileai_hf as wai
from whileai_hf.export.package import export_environment
from whileai_hf.score.conduct import task_checklist


REPO = Path(__file__).parents[3]
ASKING = " Have the number of the order confirmed before anything else."
POLICY = "You are the order desk. Look an order up before refunding it. Never refund an order twice."
TOOLS = [
    {
        "name": "get-order",
        "description": "Look an order up.",
        "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]},
    },
    {
        "name": "refund_order",
        "description": "Refund an order, whole or in part.",
        "parameters": {
            "type": "object",
            "properties": {"order_id": {"type": "string"}, "part": {"$ref": "#/$defs/money"}},
            "required": ["order_id"],
            "$defs": {"money": {"type": "object", "properties": {"cents": {"type": "integer", "minimum": 1}}}},
        },
    },
]
# The reward goes into the package; while the judge is down, it grades no ask with an odd number of characters.
REWARDS = """
import os

from whileai_hf.score.conduct import task_checklist


def judge(row):
    if os.environ.get("DESK_JUDGE_DOWN") and len(row["prompt"]) % 2:
        raise ConnectionError("the judge is down")
    return task_checklist(row)
"""
KINDS = ("careful", "claims", "loops", "sloppy")
_ID = re.compile(r"[A-Z]{2,}-\d+")
TURNS = 5


def kind_of(ask):
    """How the policy behaves with an ask."""
    return KINDS[sum(map(ord, ask)) % len(KINDS)]


def decide(messages, tools=None):
    """The policy: what it says is decided by the conversation alone, the ids of its calls too."""
    asks = [message["content"] for message in messages if message["role"] == "user"]
    said = [message for message in messages if message["role"] == "assistant"]
    kind, found = kind_of(asks[0]), _ID.findall(" ".join(asks))
    order = found[0] if found else "ORD-1"
    make = lambda *calls: {  # noqa: E731
        "role": "assistant",
        "content": "",
        "tool_calls": [call(name, arguments, f"id-{len(said)}-{n}") for n, (name, arguments) in enumerate(calls)],
    }
    look, refund = ("get-order", {"order_id": order}), ("refund_order", {"order_id": order, "part": {"cents": 50}})
    if not said and ASKING in messages[0]["content"]:
        return {"role": "assistant", "content": "Which order do you mean? Please tell me its number."}
    if kind == "loops":
        return make(look)
    if kind == "claims" and len(said) == 0:
        return {"role": "assistant", "content": f"Order {order} is refunded."}
    if kind == "sloppy" and len(said) == 0:
        return make(look, ("refund_order", '{"order_id": '), refund)
    last = messages[-1]["content"] if messages[-1]["role"] == "tool" else ""
    if kind == "careful" and len(said) == 0:
        return make(look)
    if kind == "careful" and len(said) == 1:
        return make(look if '"status":"ok"' not in last else refund)
    if kind == "careful" and len(said) == 2 and '"status":"ok"' in last:
        return make(refund)
    return {"role": "assistant", "content": f"I worked on {order}. The last thing I saw was: {last[:80]}"}


def behave(request, n):
    """The policy as an endpoint, which counts no tokens."""
    message = decide(request["messages"])
    return Reply(message["content"], calls=message.get("tool_calls", ()), usage=())


def _interpreter(variable):
    path = os.environ.get(variable)
    if not path:
        pytest.skip(f"{variable} names no interpreter")
    return path


def _site(python):
    told = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"], capture_output=True, check=True
    )
    return told.stdout.decode().strip()


# Runs commands one after the other: `{"run": "module:function", "arguments", "environment"}` or `{"code"}`, and writes
# down how each ended.
DRIVER = """
import importlib, io, json, os, sys, traceback
from contextlib import redirect_stderr, redirect_stdout

results = []
for job in json.load(open(sys.argv[1])):
    before, out = dict(os.environ), io.StringIO()
    os.environ.update(job.get("environment", {}))
    result = {"error": None, "value": None}
    try:
        with redirect_stdout(out), redirect_stderr(out):
            if "code" in job:
                scope = {"result": result}
                exec(compile(job["code"], "job", "exec"), scope)
            else:
                module, _, function = job["run"].partition(":")
                sys.argv = [function, *job["arguments"]]
                getattr(importlib.import_module(module), function)()
    except SystemExit as error:
        result["error"] = None if error.code in (0, None) else str(error.code)
    except BaseException:
        result["error"] = traceback.format_exc()
    os.environ.clear()
    os.environ.update(before)
    results.append({**result, "output": out.getvalue()})
json.dump(results, open("results.json", "w"))
"""


class Home:
    """A fresh environment with exported wheels, on top of an interpreter's packages and this checkout."""

    def __init__(self, python, wheels, folder):
        self.folder = folder
        subprocess.run([python, "-m", "venv", "--without-pip", folder / "venv"], check=True, capture_output=True)
        self.python = folder / "venv" / "bin" / "python"
        site = Path(_site(self.python))
        (site / "below.pth").write_text(f"{_site(python)}\n{REPO}\n")
        pip = [sys.executable, "-m", "pip", "--python", self.python, "install", "--quiet", "--no-deps", "--no-index"]
        installed = subprocess.run([*pip, *wheels], capture_output=True, text=True)
        assert installed.returncode == 0, installed.stderr

    def run(self, jobs):
        """Jobs of the driver by name, away from the checkout; what came of each."""
        (self.folder / "jobs.json").write_text(json.dumps(list(jobs.values())))
        env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        done = subprocess.run(
            [self.python, "-c", DRIVER, "jobs.json"],
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={**env, "DESK_KEY": "sk-desk"},
            timeout=1200,
        )
        assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-6000:]}"
        results = json.loads((self.folder / "results.json").read_text())
        return dict(zip(jobs, results, strict=True))


@pytest.fixture(scope="session")
def tasks():
    """One task of each kind and fault condition, worded apart."""
    return wai.situations(tools=TOOLS, system_prompt=POLICY, n=40, seed=5)


@pytest.fixture(scope="session")
def held_out(tasks):
    """Four of them, one of each kind, faults among them."""
    rows = list(tasks)
    picked = []
    for kind in KINDS:
        mine = [
            place for place, row in enumerate(rows) if kind_of(row["prompt"]) == kind and _ID.search(row["prompt"])
        ]
        picked.append(next((place for place in mine if rows[place]["faults"]), mine[0]))
    return tasks.select(picked)


@pytest.fixture(scope="session")
def package(tmp_path_factory, tasks, held_out):
    """The exported project."""
    folder = tmp_path_factory.mktemp("exported")
    (folder / "desk_rewards.py").write_text(REWARDS)
    export_environment(
        tasks,
        folder / "order-desk-test",
        tools=TOOLS,
        system_prompt=POLICY,
        holdout=held_out,
        reward="desk_rewards:judge",
        include=[folder / "desk_rewards.py"],
        max_turns=TURNS,
    )
    return folder / "order-desk-test"


@pytest.fixture(scope="session")
def talking_package(package, tasks, held_out):
    """The same with a user who answers the policy."""
    folder = package.parent / "talking-desk-test"
    export_environment(
        tasks,
        folder,
        tools=TOOLS,
        system_prompt=POLICY + ASKING,
        holdout=held_out,
        max_turns=TURNS,
        user_model="template",
    )
    return folder


@pytest.fixture(scope="session")
def wheels(package, talking_package, tmp_path_factory):
    """The built wheels of both."""
    out = tmp_path_factory.mktemp("wheels")
    for project in (package, talking_package):
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", out]
        subprocess.run(build, cwd=project, check=True, capture_output=True)
    return sorted(out.glob("*.whl"))


@pytest.fixture(scope="session")
def home(wheels, tmp_path_factory):
    """The wheels, installed beside verifiers 0.4."""
    return Home(_interpreter("WHILEAI_VERIFIERS_PYTHON"), wheels, tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def v0_home(wheels, tmp_path_factory):
    """The same wheels, installed beside verifiers 0.3."""
    return Home(_interpreter("WHILEAI_VERIFIERS_V0_PYTHON"), wheels, tmp_path_factory.mktemp("v0-home"))


@pytest.fixture(scope="session")
def simulated(held_out):
    """The rollouts that `simulate` gives of the same tasks and policy, graded."""
    return _simulated(held_out, POLICY, avg_turns=1)


@pytest.fixture(scope="session")
def simulated_talks(held_out):
    """The same with a user who answers."""
    return _simulated(held_out, POLICY + ASKING)


def _simulated(held_out, policy, **knobs):
    data = wai.simulate(decide, tasks=held_out, tools=TOOLS, system_prompt=policy, repeats=2, max_turns=TURNS, **knobs)
    return list(wai.grade(data, task_checklist))


@pytest.fixture(scope="session")
def scripted():
    """`(policy, behaviour of a server, tools, turns, kinds)`."""
    return decide, behave, TOOLS, TURNS, kind_of


@pytest.fixture(scope="session")
def secrets(tasks):
    """Sentences that no policy may read."""
    return {text for task in tasks for text in task["privileged"].values()}
