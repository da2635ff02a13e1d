"""The card beside the weights a program saves: what was trained on what, and whether it worked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from whileai_hf.training.runs import TrainingRun


_NOT_MEASURED = "**Not measured**: there was no held-out evaluation, so nothing here says whether training worked."


def training_card(run: TrainingRun, *, method: str, adapter: bool) -> str:
    """
    The card of what a run trained.

    Args:
        run ([`TrainingRun`]):
            The run, ended.
        method (`str`):
            How it was trained.
        adapter (`bool`):
            Whether it is an adapter and not a whole model.

    Returns:
        `str`: Markdown with front matter. Folders of this machine are named by their last part.

    Examples:
    ```python
    >>> from whileai_hf.training.runs import training_run
    >>> with training_run("refunds") as run:
    ...     _ = run.holdout(0.42, 0.58, n_tasks=50)
    >>> card = training_card(run, method="grpo", adapter=True)
    >>> [line for line in card.splitlines() if line.startswith("| after")]
    ['| after | 0.58 | 0.442 to 0.706 | 50 |']

    ```
    """
    told = run.to_dict()
    base, data = _shown(told.get("base_model")), _shown(told.get("dataset"))
    header: dict[str, Any] = {
        "library_name": "peft" if adapter else "transformers",
        "tags": ["whileai-hf", "trl", method, *(["lora"] if adapter else [])],
        "whileai": {"run": run.id, "word": run.word},
    }
    if base is not None and _is_repo(told.get("base_model")):
        header["base_model"] = base
    facts = [
        ("Method", method),
        ("Base model", base or "not recorded"),
        ("Data", data or "not recorded"),
        ("Run", f"`{run.id}`, {run.status}" + (f" ({told['reason']})" if told.get("reason") else "")),
    ]
    lines = [
        "---",
        yaml.safe_dump(header, sort_keys=False, allow_unicode=True).rstrip(),
        "---",
        "",
        f"# {run.name}",
        "",
    ]
    lines += [f"- {name}: {value}" for name, value in facts]
    lines += ["", "## Did it work?", "", *_measured(run.holdout_summary), "", "## Settings", "", *_settings(told)]
    alarms = [f"- {alarm['kind']} at step {alarm['step']}: {alarm['message']}" for alarm in told.get("alarms") or ()]
    if alarms:
        lines += ["", "## Alarms", "", *alarms]
    return "\n".join(lines) + "\n"


def _measured(block: Mapping[str, Any] | None) -> list[str]:
    if not block or block.get("after") is None:
        return [_NOT_MEASURED, *[f"- {note}" for note in (block or {}).get("notes", ())]]
    lines = [f"**{block['word'] or 'No word'}** on held-out tasks, by {block['metric']}.", ""]
    lines += ["| | value | 95% interval | tasks |", "|---|---|---|---|"]
    for name in ("before", "after"):
        side = block[name]
        if side is not None:
            tasks = "" if side["n_tasks"] is None else side["n_tasks"]
            lines.append(f"| {name} | {side['value']:.3g} | {_interval(side['ci95'])} | {tasks} |")
    if block["delta"] is not None:
        verdict = "" if block["verdict"] is None else f" ({block['verdict']})"
        lines += ["", f"Change: {block['delta']:+.3g}, 95% interval {_interval(block['ci95'], '+')}{verdict}."]
    return lines + [f"- {note}" for note in block["notes"]]


def _interval(ends: Any, sign: str = "") -> str:
    return "not known" if ends is None else f"{ends[0]:{sign}.3g} to {ends[1]:{sign}.3g}"


def _settings(told: Mapping[str, Any]) -> list[str]:
    config: Mapping[str, Any] = told.get("config") or {}
    return [f"- `{name}`: {value}" for name, value in config.items()] or ["Not recorded."]


def _is_repo(name: Any) -> bool:
    return (
        isinstance(name, str) and name.count("/") == 1 and not name.startswith((".", "/")) and not Path(name).exists()
    )


def _shown(name: Any) -> str | None:
    """A repo as it is called; of a folder of this machine only its own name."""
    if not isinstance(name, str) or not name:
        return None
    local = name.removeprefix("file:")
    return name if local == name and (_is_repo(name) or ":" in name) else Path(local).name
