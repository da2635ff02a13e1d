"""How an agent behaved, in twelve characters."""

from __future__ import annotations

from typing import Any

from whileai_hf.rows.rng import digest


def behavior_signature(steps: list[dict[str, Any]], final_text: str, prompt: str) -> str:
    """The tools called with the status of each, and roughly how long the reply is."""
    called = [(step["tool"], _status(step.get("result"))) for step in steps if "tool" in step]
    return digest(str(called), min(len(final_text.split()) // 12, 12), length=12)


def _status(result: Any) -> Any:
    return result.get("status") if isinstance(result, dict) else None
