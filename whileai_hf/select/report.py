"""What a selection did: every row given is either kept or counted at the gate that dropped it."""

from __future__ import annotations

import dataclasses

from whileai_hf.measure.hacks import HackScan
from whileai_hf.rows import Report


# Gate -> what it drops. A row is counted at the first gate it fails, in the order of its mode.
GATES = {
    "ungraded": "no reward: missing, NaN or infinite",
    "unusable": "no prompt, nothing that the agent did or said, or a simulated user at fault",
    "duplicate": "same tool calls, results and reply as an earlier rollout of its group",
    "truncated": "cut at the token limit (finish_reason length)",
    "unanimous": "every reward of the group is the same: no gradient",
    "single": "the only rollout left of its group: nothing to compare it with",
    "out_of_band": "the group's pass rate lies outside the band",
    "below_min_reward": "reward under min_reward",
    "not_selected": "another completion was picked",
    "over_target": "the target was reached",
}


@dataclasses.dataclass(frozen=True)
class SelectionReport(Report):
    """
    What [`optimize`] kept and dropped. `n_in == n_kept + sum(dropped.values())`, and the same for groups.

    Args:
        mode (`str`):
            "rl" or "sft".
        n_in (`int`):
            Rows given.
        n_kept (`int`):
            Rows kept.
        dropped (`dict[str, int]`):
            Gate to rows dropped there; every gate is present.
        n_groups_in (`int`):
            Groups (one prompt of one task) given.
        n_groups_kept (`int`):
            Groups with a row kept.
        dropped_groups (`dict[str, int]`):
            Gate to groups that lost their last row there.
        band_dropped (`dict[str, int]`):
            Groups outside the band: `too_easy` above it, `too_hard` below it. Zero when the band is not enforced.
        eval_sourced (`int`):
            Kept rows whose reward came from an evaluation (`lineage.source == "eval"`).
        n_penalized (`int`):
            Kept rows cut at the token limit that count as failures; what the judge gave them is in
            `reward_before_penalty`.
        hack_scan ([`~whileai_hf.measure.hacks.HackScan`], *optional*):
            What the rows given would teach; `None` when nothing is endorsed.
        privileged (`list[str]`):
            Columns that were left out, or cleared of what only a judge may see.
        warnings (`list[str]`):
            What may be wrong with training on the selection.
        hygiene_warnings (`list[str]`):
            What may be wrong with the rewards or the way they are read.
        notes (`list[str]`):
            What a reader has to know.
    """

    mode: str
    n_in: int
    n_kept: int
    dropped: dict[str, int]
    n_groups_in: int
    n_groups_kept: int
    dropped_groups: dict[str, int]
    band_dropped: dict[str, int]
    eval_sourced: int
    n_penalized: int
    hack_scan: HackScan | None
    privileged: list[str]
    warnings: list[str]
    hygiene_warnings: list[str]
    notes: list[str]

    def __str__(self) -> str:
        lines = [
            f"kept {self.n_kept} of {self.n_in} rows, {self.n_groups_kept} of {self.n_groups_in} groups ({self.mode})"
        ]
        for gate, meaning in GATES.items():
            if self.dropped[gate]:
                lines.append(f"  - {self.dropped[gate]} rows, {self.dropped_groups[gate]} groups {gate}: {meaning}")
        if any(self.band_dropped.values()):
            lines.append(
                f"  band: {self.band_dropped['too_easy']} groups too easy, {self.band_dropped['too_hard']} too hard"
            )
        if self.hack_scan is not None:
            lines.append(f"  hack scan: {self.hack_scan.regime}, strongest feature {self.hack_scan.top_feature}")
        lines += [f"warning: {warning}" for warning in (*self.warnings, *self.hygiene_warnings)]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])
