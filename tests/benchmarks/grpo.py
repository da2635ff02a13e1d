"""Whether `trainers/grpo.py` makes a policy better: gold pass@1 on held-out tasks before and after, with its interval.

    python tests/benchmarks/grpo.py [--steps 40] [--tasks 32] [--seed 0]

The shipped policy of 111,000 parameters, which looks an order up in three of five conversations, is trained in a world
of one tool on a reward with partial credit. The gold, which training never sees, asks for the lookup and for the right
answer and nothing else. CPU, offline, some minutes.
"""

import argparse
import json
import os
import tempfile
import time
from pathlib import Path


_SCRATCH = tempfile.mkdtemp(prefix="whileai-hf-grpo-")
os.environ.update(
    HF_ASSETS_CACHE=_SCRATCH, HF_HUB_OFFLINE="1", HF_HUB_DISABLE_TELEMETRY="1", TRL_EXPERIMENTAL_SILENCE="1"
)

from whileai_hf.training.launching import train  # noqa: E402
from whileai_hf.training.monitor.demo import desk  # noqa: E402
from whileai_hf.training.monitor.demo.policy import load_policy  # noqa: E402


def _order(row):
    return row["prompt"].rstrip("?").split()[-1]


def _looked_up(row):
    order = {"order_id": _order(row)}
    return any(step.get("tool") == "get_order" and step.get("arguments") == order for step in row["steps"])


def careful(row):
    """The training reward: a third each for the lookup, for naming the order, and for its status alone."""
    text, order = row["final_text"] or "", _order(row)
    named = [status for status in desk.STATUSES if status in text]
    return (_looked_up(row) + (f"Order {order} " in text) + (named == [desk.status_of(order)])) / 3


def done(row):
    """The gold: looked up, and the right answer and nothing else."""
    return float(_looked_up(row) and (row["final_text"] or "").strip() == desk.answer(_order(row)))


def execute(tool, arguments):
    """The order desk."""
    return json.loads(desk.OrderDesk().get_order(**arguments))


def agent(folder):
    """The desk's agent spec, as a file; its schema is the one the policy has learnt."""
    from transformers.utils import get_json_schema

    spec = {"tools": [get_json_schema(desk.OrderDesk().get_order)], "system_prompt": desk.SYSTEM}
    (folder / "agent.json").write_text(json.dumps(spec))
    return str(folder / "agent.json")


def tasks(orders):
    return [{"scenario_id": order, "prompt": desk.ask(order)[1]["content"]} for order in orders]


def save_jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def main():
    import torch

    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--tasks", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    folder = Path(_SCRATCH)
    model, tokenizer = load_policy()
    model.save_pretrained(folder / "base")
    tokenizer.save_pretrained(folder / "base")
    flags = {
        "use_cpu": True, "bf16": False, "logging_steps": 5, "save_strategy": "no", "disable_tqdm": True,
        "lr_scheduler_type": "constant", "max_completion_length": 96, "max_tool_calling_iterations": 1,
        "holdout_tasks": asked.tasks, "holdout_tokens": 48, "holdout_turns": 3, "monitor_every": 0,
        "dataloader_pin_memory": False,
    }  # fmt: skip
    started = time.perf_counter()
    run = train(
        save_jsonl(folder / "train.jsonl", tasks(desk.TRAINED)),
        "grpo",
        base_model=str(folder / "base"),
        where="inline",
        steps=asked.steps,
        seed=asked.seed,
        learning_rate=4e-4,
        batch_size=16,
        generations=8,
        lora=False,
        k=4,
        holdout=save_jsonl(folder / "holdout.jsonl", tasks(desk.HELD_OUT)),
        agent=agent(folder),
        reward=careful,
        gold=done,
        execute=execute,
        flags=flags,
    )
    block = run.holdout_summary
    print(
        json.dumps(
            {
                "benchmark": "grpo",
                "before": round(block["before"]["value"], 3),
                "after": round(block["after"]["value"], 3),
                "delta": round(block["delta"], 3),
                "ci95": [round(end, 3) for end in block["ci95"]],
                "verdict": block["verdict"],
                "word": run.word,
                "n_tasks": block["after"]["n_tasks"],
                "steps": asked.steps,
                "seed": asked.seed,
                "seconds": round(time.perf_counter() - started, 1),
            }
        )
    )


if __name__ == "__main__":
    main()
