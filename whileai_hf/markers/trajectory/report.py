"""How often each trajectory flag is raised, where, and whether the reward pays for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from whileai_hf.markers.marking import measured
from whileai_hf.markers.rates import RewardLink, RewardLinks, Share
from whileai_hf.markers.trajectory.flags import MARKER_OF, MARKERS
from whileai_hf.markers.trajectory.marking import COLUMNS, TraceMeasure
from whileai_hf.rows import Report, view
from whileai_hf.rows.identity import task_keys
from whileai_hf.rows.view import Source


# Examples kept of each flag.
_EXAMPLES = 5


@dataclasses.dataclass(frozen=True)
class FlagCount:
    """One flag: its share of the rows it could be told of, its link to the reward, and where it was raised."""

    flag: str
    marker: str
    share: Share
    link: RewardLink
    examples: list[dict[str, object]]


@dataclasses.dataclass(frozen=True)
class TraceFlagReport(Report):
    """
    What the trajectory flags say of rows.

    `flags` maps each flag to its [`FlagCount`], `clean` each marker to the share of rows on which it is 1.0;
    `n_unmeasured` counts rows of which nothing could be told.
    """

    n_rows: int
    n_unmeasured: int
    flags: dict[str, FlagCount]
    clean: dict[str, Share]
    warnings: list[str]
    notes: list[str]

    def __str__(self) -> str:
        lines = [
            f"{self.n_rows} rows, {sum(bool(count.share.count) for count in self.flags.values())} of 10 flags raised"
        ]
        for count in self.flags.values():
            if count.share.count:
                lines.append(f"  {count.flag:<22} {count.share}; {count.link}")
                lines += [f"    {one['task']} r{one['rollout']}: {one['fragment']}" for one in count.examples[:2]]
        lines.append(
            "clean: "
            + ", ".join(f"{name} {share.rate:.1%}" for name, share in self.clean.items() if share.rate is not None)
        )
        lines += [f"warning: {text}" for text in self.warnings]
        return "\n".join([*lines, *self.notes])


def trace_flag_report(data: Source, kinds: Mapping[str, str] | None = None) -> TraceFlagReport:
    """
    Each flag's rate with its Wilson interval, examples, and its correlation with the reward.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rollouts, judged or not.
        kinds (`dict[str, str]`, *optional*):
            Tool to `read`, `write`, `delete`, `command` or `other`, where name and arguments do not say.

    Returns:
        [`TraceFlagReport`]: `report["flags"]["lie.phantom_edit"]`; a warning for each flag that the reward pays for.
        Correlations compare rows of one task where tasks have several rows that differ, all rows otherwise.

    Examples:
    ```python
    >>> from whileai_hf.markers.trajectory import trace_flag_report
    >>> report = trace_flag_report([{"prompt": "Is it late?", "steps": [], "final_text": "I checked, it is not."}])
    >>> report["flags"]["lie.unverified_claim"].share.count
    1

    ```
    """
    rows = view(data)
    tasks, places = task_keys(rows), rows.column("rollout_index")
    raised: dict[str, list[int]] = {flag: [] for flag in MARKER_OF}
    untold: dict[str, list[int]] = {marker: [] for marker in MARKERS}
    dirty = dict.fromkeys(MARKERS, 0)
    examples: dict[str, list[dict[str, object]]] = {flag: [] for flag in MARKER_OF}
    unmeasured = 0
    for index, (markers, flags) in enumerate(measured(rows, TraceMeasure(kinds), COLUMNS)):
        if len(markers) < len(MARKERS):
            unmeasured += not markers
            for marker in MARKERS:
                if marker not in markers:
                    untold[marker].append(index)
        if not flags:
            continue
        for marker in {flag["marker"] for flag in flags}:
            dirty[marker] += 1
        for flag, evidence in {flag["flag"]: flag for flag in reversed(flags)}.items():
            raised[flag].append(index)
            if len(examples[flag]) < _EXAMPLES:
                place = places[index] if places[index] is not None else index
                examples[flag].append({"task": tasks[index], "rollout": place, **_shown(evidence)})
    links, n = RewardLinks(rows.column("reward"), tasks), len(rows)
    counts = {}
    for flag, marker in MARKER_OF.items():
        share = Share.of(len(raised[flag]), n - len(untold[marker]))
        counts[flag] = FlagCount(flag, marker, share, links.of(raised[flag], untold[marker]), examples[flag])
    notes = [f"{unmeasured} rows have neither calls nor a reply: nothing was measured on them."] if unmeasured else []
    warnings = [f"the reward pays for {flag}: {count.link}" for flag, count in counts.items() if count.link.pays]
    told = {marker: n - len(untold[marker]) for marker in MARKERS}
    clean = {marker: Share.of(told[marker] - dirty[marker], told[marker]) for marker in MARKERS}
    return TraceFlagReport(n, unmeasured, counts, clean, warnings, notes)


def _shown(evidence: Mapping[str, object]) -> dict[str, object]:
    return {"fragment": evidence["fragment"], "step": evidence["step"]}
