import json
import sys
from pathlib import Path

import pytest

from whileai_hf.cli import main


MY_AGENT = """
def agent(message):
    return {"steps": [], "final_text": "Order shipped."}


def judge(row):
    return len(row["prompt"]) % 2


not_callable = 3
"""


@pytest.fixture
def workdir(tmp_path, monkeypatch, tools, policy) -> Path:
    """An empty working directory with a spec folder `desk` and a module `cli_user_code`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "cli_user_code", raising=False)  # the one of an earlier test's folder
    (tmp_path / "desk").mkdir()
    (tmp_path / "desk" / "tools.json").write_text(json.dumps(tools))
    (tmp_path / "desk" / "policy.md").write_text(policy)
    (tmp_path / "cli_user_code.py").write_text(MY_AGENT)
    return tmp_path


@pytest.fixture
def run(workdir, capsys):
    """`run("measure", ...)` -> `(exit status, stdout, stderr)`."""

    def call(*argv: str) -> tuple[int, str, str]:
        try:
            status = main(argv)
        except SystemExit as stop:  # argparse's own errors
            status = stop.code
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


@pytest.fixture
def graded(workdir) -> Path:
    """Ten tasks with four rollouts each: two always pass, two never, six half of the time."""
    path = workdir / "graded.jsonl"
    passing = [4, 4, 0, 0, 2, 2, 2, 2, 2, 2]
    rows = [
        {
            "scenario_id": f"sc-{task}",
            "prompt": f"Where is order ORD-104{task}?",
            "messages": [
                {"role": "user", "content": f"Where is order ORD-104{task}?"},
                {"role": "assistant", "content": f"It is on its way, answer {index}."},
            ],
            "steps": [{"tool": "get_order", "arguments": {"order_id": f"ORD-104{task}"}, "result": {"status": "ok"}}],
            "final_text": f"It is on its way, answer {index}.",
            "rollout_index": index,
            "reward": float(index < count),
            "judge_status": "ok",
        }
        for task, count in enumerate(passing)
        for index in range(4)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
