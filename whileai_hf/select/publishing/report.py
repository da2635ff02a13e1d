"""What the publish gate found."""

from __future__ import annotations

import dataclasses
from typing import Any

from whileai_hf.measure.hacks import HackScan, LengthReport
from whileai_hf.measure.hygiene import Contamination, NearDuplicates
from whileai_hf.measure.passes import GroupSignal, PassAt
from whileai_hf.rows import Report


@dataclasses.dataclass(frozen=True)
class GateReport(Report):
    """
    What [`publish_gate`] returns. What does not apply to the rows, or was not asked for, is `None`.

    Args:
        ok (`bool`):
            Whether the rows may be published: nothing is refused.
        mode (`str`):
            What they were checked as, "rl" or "sft".
        refusals (`list[str]`):
            Why they may not.
        n_rows (`int`):
            Rows given.
        n_graded (`int`):
            Rows with a reward.
        privileged (`list[str]`):
            Columns that hold what only a judge may see.
        signal ([`~whileai_hf.measure.passes.GroupSignal`], *optional*):
            Groups by what their rewards say.
        out_of_band (`dict[str, int]`, *optional*):
            Groups `too_easy` and `too_hard` for the band.
        pass_at ([`~whileai_hf.measure.passes.PassAt`], *optional*):
            Pass rates of these rows; the stamps they carry may have seen more.
        n_stamped (`int`):
            Tasks that carry a difficulty stamp which still holds; it is kept, not measured anew.
        hack_scan ([`~whileai_hf.measure.hacks.HackScan`], *optional*):
            What a policy trained on the rewards would learn.
        near_duplicates ([`~whileai_hf.measure.hygiene.NearDuplicates`], *optional*):
            Prompts that say nearly the same.
        lengths ([`~whileai_hf.measure.hacks.LengthReport`], *optional*):
            How long the replies are.
        contamination ([`~whileai_hf.measure.hygiene.Contamination`], *optional*):
            Rows an evaluation set holds, too.
        trust (`dict`, *optional*):
            How far the judge agrees with people, as stamped on the rows.
        eval_sourced (`int`):
            Rows whose reward came from an evaluation.
        warnings (`list[str]`):
            What may be wrong with training on the rows.
        notes (`list[str]`):
            What a reader has to know.
    """

    ok: bool
    mode: str
    refusals: list[str]
    n_rows: int
    n_graded: int
    privileged: list[str]
    signal: GroupSignal | None
    out_of_band: dict[str, int] | None
    pass_at: PassAt | None
    n_stamped: int
    hack_scan: HackScan | None
    near_duplicates: NearDuplicates | None
    lengths: LengthReport | None
    contamination: Contamination | None
    trust: dict[str, Any] | None
    eval_sourced: int
    warnings: list[str]
    notes: list[str]

    def __str__(self) -> str:
        lines = [
            f"publish gate ({self.mode}): {'ok' if self.ok else 'refused'}, {self.n_graded} of {self.n_rows} graded"
        ]
        lines += [f"refused: {text}" for text in self.refusals]
        if self.signal is not None:
            lines.append(f"  {self.signal.mixed} of {self.signal.n_groups} groups are mixed")
        if self.pass_at is not None:
            lines.append(f"  {str(self.pass_at).splitlines()[0]}")
        if self.hack_scan is not None:
            lines.append(f"  hack scan: {self.hack_scan.regime}, strongest feature {self.hack_scan.top_feature}")
        lines += [f"warning: {text}" for text in self.warnings]
        return "\n".join([*lines, *(f"note: {text}" for text in self.notes)])
