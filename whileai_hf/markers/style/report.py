"""`style_report`: how often each tic occurs, where, and whether the reward pays for it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

from whileai_hf.markers.marking import measured
from whileai_hf.markers.style.paying import Payment, holm, numbered, payment
from whileai_hf.markers.style.reading import STYLE_MARKERS, Style
from whileai_hf.markers.style.tics import STYLE_COLUMNS, style_of_row
from whileai_hf.rows import Report, group_keys, view
from whileai_hf.rows.view import Source
from whileai_hf.stats import wilson


# What each marker watches for, as a person says it.
TICS = {
    "no_boilerplate": "boilerplate",
    "no_hedging": "hedging",
    "no_apology": "apologies",
    "no_sycophancy": "sycophancy",
    "answered": "not answering",
}
# Rows quoted per marker.
_EXAMPLES = 5
# Chance of any warning when the reward pays for nothing, over the five markers together.
_LEVEL = 0.05


@dataclasses.dataclass(frozen=True)
class StyleReport(Report):
    """
    What [`style_report`] returns.

    Args:
        n_rows (`int`):
            Rows given.
        n_replies (`int`):
            Rows with a reply.
        n_without_reply (`int`):
            Rows whose agent said nothing: not answered, and not counted under the other markers.
        n_broken (`int`):
            Rollouts that broke before there could be a reply; left out throughout.
        markers (`dict[str, dict]`):
            For each of the five markers: `tic` (what it watches for), `hits` (rows with the tic), `n` (rows it could
            be told on), `rate` (`hits / n`), `ci95` (its Wilson interval), `correlation` and `correlation_pooled` of
            the tic with the reward (within tasks, and over all rows; see [`Payment`]), `p_value`, `n_rewarded` (rows
            with a reward), `pays` (whether the reward pays for the tic beyond noise), `examples` (`{"row",
            "scenario_id", "rollout_index", "fragment"}`, `row` being the index).
        warnings (`list[str]`):
            The tics the reward pays for. Tested one-sidedly within tasks at 5 % over the five markers together (Holm).
        notes (`list[str]`):
            What a reader has to know.
    """

    n_rows: int
    n_replies: int
    n_without_reply: int
    n_broken: int
    markers: dict[str, dict[str, Any]]
    warnings: list[str]
    notes: list[str]

    def __str__(self) -> str:
        lines = [f"style of {self.n_replies} replies ({self.n_rows} rows)"]
        for name, found in self.markers.items():
            if found["rate"] is None:
                lines.append(f"  {name}: not measured")
                continue
            low, high = found["ci95"]
            line = f"  {name}: {found['hits']} of {found['n']} with {found['tic']} ({100 * found['rate']:.1f} %, "
            line += f"95 % {100 * low:.1f} to {100 * high:.1f})"
            if found["correlation"] is not None:
                line += f", corr with reward {found['correlation']:+.2f}"
            lines.append(line)
            lines += [f"    row {example['row']}: {example['fragment']}" for example in found["examples"][:1]]
        lines += [f"warning: {warning}" for warning in self.warnings]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


def reward_of(value: Any) -> float | None:
    """A row's reward as a number; `None` where there is none."""
    if isinstance(value, bool | int | float) and math.isfinite(value):
        return float(value)
    return None


def example(index: int, row: Mapping[str, Any], fragment: str) -> dict[str, Any]:
    """A row as reports quote it."""
    about = {name: row.get(name) for name in ("scenario_id", "rollout_index")}
    return {"row": index, **about, "fragment": fragment}


def _marker(
    name: str, values: Sequence[float | None], paid: Payment, examples: list[dict[str, Any]]
) -> dict[str, Any]:
    told = [value for value in values if value is not None]
    hits = sum(1 for value in told if value == 0.0)
    return {
        "tic": TICS[name],
        "hits": hits,
        "n": len(told),
        "rate": hits / len(told) if told else None,
        "ci95": wilson(hits, len(told)),
        "correlation": paid.within,
        "correlation_pooled": paid.pooled,
        "p_value": paid.p_value,
        "n_rewarded": paid.n_rows,
        "pays": False,
        "examples": examples,
    }


def _warning(found: Mapping[str, Any]) -> str:
    within = found["correlation"]
    how = (
        f"corr {within:+.2f} within tasks"
        if within is not None
        else f"corr {found['correlation_pooled']:+.2f} over tasks"
    )
    return f"reward pays for {found['tic']} ({how}, {found['n_rewarded']} rows)"


def style_report(data: Source) -> StyleReport:
    """
    How often each style tic occurs and whether the reward pays for it.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rollouts, with or without a `reward`. They are read afresh; markers on them are neither used nor changed.

    Returns:
        [`StyleReport`]: Rates with intervals, examples, correlations with the reward, and warnings.

    Examples:
    ```python
    >>> from whileai_hf.markers.style import style_report
    >>> rows = [{"prompt": "Where is it?", "final_text": text} for text in ("It shipped.", "I think it shipped.")]
    >>> report = style_report(rows)
    >>> report["markers"]["no_hedging"]["hits"], report["markers"]["no_hedging"]["examples"][0]["row"]
    (1, 1)

    ```
    """
    rows = view(data)
    styles: list[Style | None] = []

    def measure(row: Mapping[str, Any]) -> tuple[dict[str, float], None]:
        styles.append(style_of_row(row))
        return {}, None

    for _ in measured(rows, measure, STYLE_COLUMNS):
        pass
    rewards = [reward_of(value) for value in rows.column("reward")]
    groups = numbered(group_keys(rows))
    identity = {name: rows.column(name) for name in ("scenario_id", "rollout_index")}
    markers = {}
    for name in STYLE_MARKERS:
        values = [style.markers.get(name) if style else None for style in styles]
        told = [index for index, value in enumerate(values) if value is not None]
        paid = payment([None if value is None else 1.0 - value for value in values], rewards, groups)
        hits = [index for index in told if values[index] == 0.0][:_EXAMPLES]
        quoted = [
            example(index, {key: column[index] for key, column in identity.items()}, _fragment(styles[index], name))
            for index in hits
        ]
        markers[name] = _marker(name, values, paid, quoted)
    pays = holm([found["p_value"] for found in markers.values()], _LEVEL)
    for found, beyond_noise in zip(markers.values(), pays, strict=True):
        found["pays"] = beyond_noise
    replies = sum(1 for style in styles if style and style.kind != "empty")
    broken = sum(1 for style in styles if style is None)
    return StyleReport(
        n_rows=len(styles),
        n_replies=replies,
        n_without_reply=len(styles) - replies - broken,
        n_broken=broken,
        markers=markers,
        warnings=[_warning(found) for found in markers.values() if found["pays"]],
        notes=_notes(rewards, broken, markers),
    )


def _fragment(style: Style | None, name: str) -> str:
    return style.fragments.get(name, "") if style else ""


def _notes(rewards: Sequence[float | None], broken: int, markers: Mapping[str, Mapping[str, Any]]) -> list[str]:
    notes = []
    judged = sum(1 for reward in rewards if reward is not None)
    if rewards and not judged:
        notes.append("no row has a reward, so what it pays for is unknown; grade first")
    elif judged and all(found["correlation"] is None for found in markers.values()):
        notes.append("no tic varies together with the reward within a task; k rollouts of each task would tell")
    if broken:
        notes.append(f"{broken} rollouts broke before there was a reply; they are left out")
    return notes
