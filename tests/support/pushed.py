"""Rows for tests of the Hub rooms."""

from __future__ import annotations

from typing import Any

from datasets import Dataset

from whileai_hf.rows import canonical, to_dataset, view


TOOLS = [{"type": "function", "function": {"name": "get_order", "parameters": {"type": "object", "properties": {}}}}]


def graded(tasks: int = 6, k: int = 4, say: str = "It shipped.", **columns: Any) -> list[dict[str, Any]]:
    """Rollouts of `tasks` tasks, `k` each, the first half of every group passing."""
    return [
        {
            "scenario_id": f"sc-{task:010d}",
            "prompt": f"Where is order {task}?",
            "messages": [
                {"role": "user", "content": f"Where is order {task}?"},
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [
                        {"id": "c", "type": "function", "function": {"name": "get_order", "arguments": {"n": [task]}}}
                    ],
                },
                {"role": "tool", "tool_call_id": "c", "name": "get_order", "content": f'{{"n": {repeat}}}'},
                {"role": "assistant", "content": f"{say} {repeat}"},
            ],
            "tools": TOOLS,
            "steps": [{"tool": "get_order", "arguments": {"n": [task]}, "result": {"n": repeat}}, {"text": say}],
            "final_text": f"{say} {repeat}",
            "rollout_index": repeat,
            "policy_version": "p1",
            "reward": float(repeat < k // 2),
            "judge_name": "rule",
            "judge_meta": {"version": "1"},
            **columns,
        }
        for task in range(tasks)
        for repeat in range(k)
    ]


def dataset(*arguments: Any, **columns: Any) -> Dataset:
    """[`graded`] as a Dataset."""
    return to_dataset(graded(*arguments, **columns))


def canonical_rows(data: Any) -> list[dict[str, Any]]:
    """Rows as plain canonical values, to be compared."""
    return [canonical(row) for row in view(data).rows()]
