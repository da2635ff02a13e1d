"""The same policy gets the same reward wherever an environment is played: in a simulation, by TRL, by verifiers."""

import json
import os
import subprocess

import pytest

from whileai_hf.export.package import trainer_environment


# Plays the holdout of each environment with verifiers, and with `simulate`; one process, since verifiers loads slowly.
BOTH = """
import json, sys
sys.path.insert(0, sys.argv[1])
import generate
from whileai_hf.export.verifiers import evaluate
told = {}
for name, source in generate.SOURCES.items():
    for policy in ("careful", "refuse"):
        act = generate.policies(source)[policy]
        rows = list(evaluate(f"{sys.argv[1]}/{name}", act, n=6, k=2, split="holdout"))
        asked = {row["scenario_id"] for row in rows}
        ours = generate.play(source, act, [task for task in source.tasks() if task["scenario_id"] in asked])
        known = {row["scenario_id"]: [row["reward"], row["steps"], row["final_text"]] for row in ours}
        told[f"{name} {policy}"] = [
            len(rows),
            sum(known[row["scenario_id"]] == [row["reward"], row["steps"], row["final_text"]] for row in rows),
            sum(row["reward"] for row in rows) / len(rows),
        ]
print("told", json.dumps(told))
"""


def said_in(line, environment):
    """The known good run of a task, its calls made in a trainer's environment."""
    said = []
    for message in line["info"]["gold"]:
        said.append(message)
        for call in message.get("tool_calls") or ():
            function = call["function"]
            result = getattr(environment, function["name"])(**function["arguments"])
            said.append({"role": "tool", "name": function["name"], "content": result})
    return said


def test_trl_pays_the_known_good_run(package):
    spec = trainer_environment(package)
    lines = {line["task_id"]: line for line in package.lines("train")}
    (reward,) = spec.reward_funcs
    environment = spec.environment_factory()
    for row in spec.train_dataset.select(range(8)):
        line = lines[row["task_id"]]
        assert not {"privileged", "expected_calls", "gold", "calibration"} & set(row)
        environment.reset(**row)
        about = {name: [value] for name, value in row.items() if name != "prompt"} | {"environments": [environment]}
        batch = {"prompts": [row["prompt"]], "completion_ids": [[0]], "trainer_state": None, **about}
        assert reward(completions=[said_in(line, environment)], **batch) == [1.0]
        assert reward(completions=[[{"role": "assistant", "content": ""}]], **batch) == [0.0]


@pytest.mark.timeout(900)
def test_verifiers_pays_what_a_simulation_pays(checked_in, tmp_path):
    python = os.environ.get("WHILEAI_VERIFIERS_PYTHON")
    if python is None:
        pytest.skip("WHILEAI_VERIFIERS_PYTHON names no interpreter with verifiers 0.4")
    program = tmp_path / "both.py"
    program.write_text(BOTH)
    path = os.pathsep.join(filter(None, (str(checked_in.parent), os.environ.get("PYTHONPATH"))))
    ended = subprocess.run(
        [python, str(program), str(checked_in)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    (line,) = [line for line in ended.stdout.splitlines() if line.startswith("told ")]
    told = json.loads(line.removeprefix("told "))
    assert len(told) == 6
    for name, (played, same, mean) in told.items():
        assert (played, same) == (12, 12), name
        assert mean == 1.0 if name.endswith("careful") else mean < 1.0, name
