"""What measuring a judge found, in one record."""

from __future__ import annotations

import dataclasses
from typing import Any

from whileai_hf.measure.trust.bias import Halves, LengthBias
from whileai_hf.measure.trust.probing import ProbesReport
from whileai_hf.measure.trust.rejudging import Flips
from whileai_hf.rows import Report
from whileai_hf.score.gold import AGREEMENT_FLOOR, KAPPA_FLOOR
from whileai_hf.stats import Interval


_WORDS = {"trusted": "TRUSTED", "not_trusted": "NOT TRUSTED", "not_measured": "NOT MEASURED"}


@dataclasses.dataclass(frozen=True)
class TrustReport(Report):
    """
    Whether a judge can be believed; what [`judge_trust`] returns.

    Args:
        status (`str`): `trusted`, `not_trusted` or `not_measured` (no label to go by, or gold of one class only).
        ok (`bool`): Measured, above both floors and without a flag.
        n_rows (`int`): Rows.
        n_gold (`int`): Rows with both a label that counts and a verdict.
        by_kind (`dict[str, int]`): Labels by who wrote them, those that do not count included.
        n_refused (`int`): Labels that do not count because no person is known to have written them.
        n_unjudged (`int`): Labelled rows without a verdict.
        agreement (`float`, *optional*): Share of `n_gold` on which the judge says what people say.
        ci95 (`tuple[float, float]`, *optional*): Its Wilson interval; the lower end has to reach 0.80.
        kappa (`float`, *optional*): Cohen's kappa; has to reach 0.60; `None` where gold has one class only.
        confusion (`dict[str, int]`): `both_pass`, `only_judge` (passed a failure), `only_gold`, `both_fail`.
        pass_when_gold_fail (`float`, *optional*): Share of gold failures the judge passed.
        baseline (`float`, *optional*): Agreement of always giving gold's more frequent answer.
        halves ([`Halves`]): Agreement on two halves of the tasks.
        length ([`LengthBias`], *optional*): Long against short replies of the same label; `None` with too few.
        consistency ([`Flips`], *optional*): Verdicts that change when the judge is asked again.
        filler ([`Flips`], *optional*): Verdicts that change when words that say nothing are added.
        probes ([`ProbesReport`], *optional*): What was tried on it; `None` when nothing was.
        exploitable_by (`list[str]`, *optional*): Probes that work; `None` when none was tried, or none got a verdict.
        flags (`list[str]`): What is wrong: `agreement`, `kappa`, `unjudged`, `halves`, `length`, `consistency`,
            `filler`, `probe:<name>`.
        queue (`list[dict]`): Disagreements to read, gold failures the judge passed first: `row`, `task`, `gold`,
            `reward`, `reason`, `prompt`, `reply`.
        n_disagreements (`int`): All of them.
        judge_name (`str`, *optional*): The judge of the rows; `None` when they name none, or several.
        notes (`list[str]`): What a reader has to know.
        warnings (`list[str]`): What to do something about.
    """

    status: str
    ok: bool
    n_rows: int
    n_gold: int
    by_kind: dict[str, int]
    n_refused: int
    n_unjudged: int
    agreement: float | None
    ci95: Interval | None
    kappa: float | None
    confusion: dict[str, int]
    pass_when_gold_fail: float | None
    baseline: float | None
    halves: Halves
    length: LengthBias | None
    consistency: Flips | None
    filler: Flips | None
    probes: ProbesReport | None
    exploitable_by: list[str] | None
    flags: list[str]
    queue: list[dict[str, Any]]
    n_disagreements: int
    judge_name: str | None
    notes: list[str]
    warnings: list[str]

    def __str__(self) -> str:
        lines = [f"judge {_WORDS[self.status]}" + (f" ({', '.join(self.flags)})" if self.flags else "")]
        if self.agreement is not None and self.ci95 is not None:
            kappa = "undefined" if self.kappa is None else f"{self.kappa:.2f}"
            low, high = self.ci95
            lines += [
                f"agreement with people {self.agreement:.2f} [{low:.2f}, {high:.2f}] on {self.n_gold} rows (floor "
                f"{AGREEMENT_FLOOR:.2f} on the lower end), kappa {kappa} (floor {KAPPA_FLOOR:.2f}); a constant answer "
                f"agrees on {self.baseline:.2f}",
                str(self.halves),
            ]
        if self.length is not None:
            lines.append(str(self.length))
        if self.consistency is not None:
            lines.append(f"asked again: {self.consistency}")
        if self.filler is not None:
            lines.append(f"with filler: {self.filler}")
        if self.probes is not None:
            lines.append(str(self.probes))
        if self.n_disagreements:
            passed = self.confusion["only_judge"]
            lines.append(f"{self.n_disagreements} disagreements to read in .queue, {passed} of them passed failures")
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join([*lines, *(f"warning: {warning}" for warning in self.warnings)])
