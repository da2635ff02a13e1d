"""What was pushed before: lineage and tags."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whileai_hf.hub.cards.markdown import code, table


if TYPE_CHECKING:
    from whileai_hf.hub.record import RunRecord

# Pushes listed, the latest first; all are in `run.json`.
_MOST = 20
# Characters of a digest that tell pushes apart.
_DIGEST = 12


def facts_section(record: RunRecord, n_rows: int, n_tasks: int | None) -> str:
    """One line for each thing that identifies the push."""
    spec = record.spec or {}
    facts = [
        ("Agent", code(record.agent) if record.agent else ""),
        ("Purpose", code(record.purpose)),
        ("Mode", code(record.mode) if record.mode else ""),
        ("Tag", code(record.tag)),
        ("Rows", f"{n_rows:,}"),
        ("Tasks", "" if n_tasks is None else f"{n_tasks:,}"),
        ("Spec", code(spec["sha"]) if spec.get("sha") else ""),
        ("Run", ", ".join(code(name, 40) for name in record.run_ids[:6])),
        ("Made from", _parent(record)),
        ("Content digest", code(record.digest)),
        ("Beside it", _others(record)),
    ]
    return table(["", ""], [[f"**{name}**", value] for name, value in facts if value])


def _others(record: RunRecord) -> str:
    """Other configurations of the repo, each with the push whose card describes it."""
    latest = {entry.config_name: entry.tag for entry in record.history}
    told = [(name, tag) for name, tag in latest.items() if name != record.config_name]
    return ", ".join(f"configuration {code(name)}, described by the card at {code(tag)}" for name, tag in told)


def _parent(record: RunRecord) -> str:
    if record.parent is None:
        return ""
    return " at ".join(code(name) for name in (record.parent.repo, record.parent.tag) if name)


def history_section(record: RunRecord) -> str:
    """Every push of this repo; empty for the first."""
    if len(record.history) < 2:
        return ""
    rows = [
        [
            code(entry.tag),
            f"{entry.rows:,}",
            code(entry.purpose),
            code(entry.config_name),
            code(entry.digest[:_DIGEST]),
            code(entry.parent) if entry.parent else "",
        ]
        for entry in reversed(record.history[-_MOST:])
    ]
    return table(["Tag", "Rows", "Purpose", "Configuration", "Digest", "Made from"], rows)
