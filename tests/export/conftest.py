import importlib.util
import json
from pathlib import Path

import pytest


def _load_tiny_model():
    # The tests are no package, so a helper beside them is loaded by its path.
    spec = importlib.util.spec_from_file_location("tiny_model", Path(__file__).parents[1] / "tiny_model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def tiny_model():
    """The module that builds a tiny model."""
    pytest.importorskip("trl")
    return _load_tiny_model()


@pytest.fixture(scope="session")
def tiny_model_dir(tiny_model, tmp_path_factory) -> Path:
    """A folder with a tiny Qwen3 and its tokenizer."""
    return tiny_model.save_tiny_model(tmp_path_factory.mktemp("tiny-model"))


@pytest.fixture(scope="session")
def tokenizer(tiny_model):
    """The tokenizer of the tiny model."""
    return tiny_model.make_tokenizer()


def call(name, arguments, index=0):
    function = {"name": name, "arguments": arguments}
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": f"call_{index}", "type": "function", "function": function}],
    }


def result(name, value, index=0):
    return {"role": "tool", "tool_call_id": f"call_{index}", "name": name, "content": json.dumps(value)}


SECRET = "The order was lost on purpose and a right agent refunds it at once."


@pytest.fixture
def rollouts(tools, policy) -> list[dict]:
    """Three tasks with four rollouts each, two tools with different parameters, everything a run puts on a row."""
    rows = []
    for task in range(3):
        for index in range(4):
            order = f"ORD-104{task}"
            prompt = f"Where is order {order}?"
            answer = f"It is on its way, answer {index}."
            steps = [{"tool": "get_order", "arguments": {"order_id": order}, "result": {"status": "ok"}}]
            messages = [
                {"role": "system", "content": policy},
                {"role": "user", "content": prompt},
                call("get_order", {"order_id": order}),
                result("get_order", {"status": "ok"}),
            ]
            if index % 2:
                messages += [
                    call("refund_order", {"order_id": order, "reason": "late"}, 1),
                    result("refund_order", {"status": "updated", "total": 12.5}, 1),
                ]
            rows.append(
                {
                    "schema_version": "1",
                    "run_id": "run-1",
                    "scenario_id": f"sc-000000000{task}",
                    "prompt": prompt,
                    "messages": [*messages, {"role": "assistant", "content": answer}],
                    "tools": tools,
                    "steps": steps,
                    "final_text": answer,
                    "finish_reason": "stop",
                    "rollout_index": index,
                    "rollout_status": "ok",
                    "scenario_dimensions": {"tool": "get_order", "tool_condition": "success"},
                    "world_state": "ordinary",
                    "faults": {"get_order": {"kind": "timeout", "ran": "no", "at": 1, "lasts": 1}} if task else None,
                    "seed": task,
                    "reward": float(index <= task),
                    "reason": "as judged",
                    "privileged": {"hidden_state": SECRET, "reference": SECRET},
                    "expected_calls": [{"tool": "refund_order", "arguments": {"note": SECRET}}],
                    "answer": f"answer to {task}",
                    "latency_ms": 10 * task + index,
                }
            )
    return rows


@pytest.fixture
def secret() -> str:
    """A sentence that only the privileged block holds."""
    return SECRET
