"""`audit_grades`: another model reads a sample of the grades. Never the grader's own: it would agree with itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from huggingface_hub import get_token

from whileai_hf.actors import ScriptedModel
from whileai_hf.actors.models import Model
from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.measure.knobs import check_seed, check_threshold
from whileai_hf.measure.trust.altered import rows_to_judge
from whileai_hf.measure.trust.drawing import drawn_rows
from whileai_hf.measure.trust.goldrows import GoldRows, read_gold_rows
from whileai_hf.measure.trust.queue import read_texts
from whileai_hf.measure.trust.rejudging import ready_judge
from whileai_hf.rows import Report, RowView
from whileai_hf.rows.view import Source
from whileai_hf.score.gold import PASS, Gold, confusion_of
from whileai_hf.score.judges import Judge, default_judge_model, same_model
from whileai_hf.score.judges.names import DEFAULT_JUDGES
from whileai_hf.score.judging import judge_name, judge_rows
from whileai_hf.score.verdicts import Described, Verdict
from whileai_hf.stats import Interval, wilson


# Share of grades an auditor reads the other way from which the report warns.
_WRONG = 0.10


@dataclasses.dataclass(frozen=True)
class AuditReport(Report):
    """
    What [`audit_grades`] returns; the auditor is a second opinion and no gold.

    Args:
        grader (`list[str]`): The models (else the judge) that graded the rows.
        auditor (`str`): Who read them again.
        n (`int`): Grades with the auditor's verdict.
        unjudged (`int`): Rows the auditor gave no verdict on.
        agreement (`float`, *optional*): Share of grades the auditor shares.
        ci95 (`tuple[float, float]`, *optional*): Its Wilson interval, of the sample: passes and failures alike.
        kappa (`float`, *optional*): Cohen's kappa of grader and auditor.
        passed_wrongly (`float`, *optional*): Share of passing grades the auditor fails.
        passed_wrongly_ci95 (`tuple[float, float]`, *optional*): Its Wilson interval.
        failed_wrongly (`float`, *optional*): Share of failing grades the auditor passes.
        failed_wrongly_ci95 (`tuple[float, float]`, *optional*): Its Wilson interval.
        queue (`list[dict]`): The grades the two read differently, to be read by a person.
        warnings (`list[str]`): What to do something about.
    """

    grader: list[str]
    auditor: str
    n: int
    unjudged: int
    agreement: float | None
    ci95: Interval | None
    kappa: float | None
    passed_wrongly: float | None
    passed_wrongly_ci95: Interval | None
    failed_wrongly: float | None
    failed_wrongly_ci95: Interval | None
    queue: list[dict[str, Any]]
    warnings: list[str]

    def __str__(self) -> str:
        who = f"graded by {', '.join(self.grader) or 'an unknown judge'}, audited by {self.auditor}"
        if self.agreement is None or self.ci95 is None:
            lines = [f"{who}: no grade could be audited"]
        else:
            wrong = [
                f"{value:.2f} of {name}"
                for name, value in (("passes", self.passed_wrongly), ("failures", self.failed_wrongly))
                if value is not None
            ]
            lines = [
                f"{who}: agrees on {self.agreement:.2f} [{self.ci95[0]:.2f}, {self.ci95[1]:.2f}] of {self.n} grades",
                f"reads {' and '.join(wrong)} the other way; {len(self.queue)} to read in .queue",
            ]
        return "\n".join([*lines, *(f"warning: {warning}" for warning in self.warnings)])


def audit_grades(
    data: Source,
    *,
    auditor: Any = None,
    backend_spec: str | None = None,
    rubric: Any = None,
    n: int = 50,
    threshold: float = PASS,
    seed: int = 0,
) -> AuditReport:
    """
    Has a sample of grades read by another model, half of them passes and half failures.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Graded rows.
        auditor (`Callable` or `str` or [`Model`], *optional*):
            Who reads them: a judge, or a model that judges by the rubric. By default a large open model of another
            family than the grader's (`WHILEAI_JUDGE` when that is not the grader).
        backend_spec (`str`, *optional*):
            The same as a spec string, `"openai:<model>"`.
        rubric (`str`, `Path`, `list`, `dict` or `Rubric`, *optional*):
            What the auditor goes by.
        n (`int`, *optional*, defaults to `50`):
            Grades to read.
        threshold (`float`, *optional*, defaults to `1.0`):
            Reward from which a row counts as passed.
        seed (`int`, *optional*, defaults to `0`):
            Seed of the sample.

    Returns:
        [`AuditReport`]: Who graded, who audited, and what they read differently.

    Raises:
        [`ConfigurationError`]: The auditor is the grader, or nobody else can be asked.
        [`DataError`]: No row has a grade.

    Examples:
    ```python
    >>> rows = [{"task_id": at, "final_text": "ok" if at % 4 else "?", "reward": 1, "judge_name": "lenient"}
    ...         for at in range(40)]
    >>> report = audit_grades(rows, auditor=lambda row: row["final_text"] == "ok", n=40)
    >>> report.grader, report.passed_wrongly
    (['lenient'], 0.25)

    ```
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ConfigurationError(f"n={n!r} is not a number of grades; pass 1 or more")
    if auditor is not None and backend_spec is not None:
        raise ConfigurationError("auditor= and backend_spec= both say who audits; pass one of them")
    found = read_gold_rows(data, check_threshold(threshold), True, "judge_name")
    if not found.judged.any():
        raise DataError("no row has a grade to audit; grade the rows first: wai.grade(data, judge=...)")
    graders = graders_of(found.rows)
    judge = _auditor(auditor if backend_spec is None else backend_spec, rubric, graders, found.rows)
    index = _sample(found, n, check_seed(seed))
    verdicts = judge_rows(judge, rows_to_judge(found.rows, index))
    rewards = np.array([np.nan if one.reward is None else one.reward for one in verdicts], dtype=np.float64)
    known = ~np.isnan(rewards)
    audit = Gold(np.array(index, dtype=np.int64)[known], rewards[known] >= threshold, {}, 0, 0)
    return _report(found, audit, graders, judge, verdicts)


def graders_of(rows: RowView) -> list[str]:
    """The models that graded the rows, of panels each member's; names of judges that are none."""
    found: dict[str, None] = {}
    last: Any = None
    for meta, name in zip(rows.column("judge_meta"), rows.column("judge_name"), strict=True):
        if meta is last and last is not None:
            continue
        last = meta
        models = list(_models(meta)) or ([str(name)] if name is not None else [])
        found.update(dict.fromkeys(models))
    return list(found)


def _models(meta: Any) -> list[str]:
    if not isinstance(meta, Mapping):
        return []
    members = meta.get("members")
    own = [str(meta["model"])] if meta.get("model") else []
    return own + [model for member in (members if isinstance(members, list) else []) for model in _models(member)]


def _auditor(given: Any, rubric: Any, graders: Sequence[str], rows: RowView) -> Any:
    """The judge that audits, which is not the grader."""
    chosen = _another(graders) if given is None else given
    made = Judge(chosen, rubric) if isinstance(chosen, Model | ScriptedModel) else chosen
    # A spec string is compared before anything is made of it: a model need not be reachable to be refused.
    name = made if isinstance(made, str) else auditor_name(made)
    if any(same_model(name, grader) or name == grader for grader in graders):
        raise ConfigurationError(
            f"the rows were graded by {name}, which cannot audit itself; pass backend_spec= with another model "
            "('openai:<model>')"
        )
    return ready_judge(Judge(made, rubric) if isinstance(made, str) else made, None, rows)


def _another(graders: Sequence[str]) -> str:
    """The default judge, or the other hosted model when that graded the rows."""
    named = default_judge_model(graders)
    # Beside the one that was named, the hosted ones, where there is a key to them.
    candidates: list[str] = [named, *(DEFAULT_JUDGES if get_token() is not None else ())]
    for candidate in candidates:
        if not any(same_model(candidate, grader) for grader in graders):
            return candidate
    raise ConfigurationError(
        f"the rows were graded by {', '.join(graders)}, which are all the models there are to ask; pass "
        "backend_spec= with another one ('openai:<model>')"
    )


def auditor_name(judge: Any) -> str:
    """The model of a judge that says which, else the judge's name."""
    model = judge.provenance().get("model") if isinstance(judge, Described) else None
    return str(model or judge_name(judge))


def _sample(found: GoldRows, n: int, seed: int) -> list[int]:
    """As many passes as failures, as far as there are; in order of rows."""
    drawn = drawn_rows(found.rows, seed, "audit")
    passes, fails = (drawn[(found.judged & side)[drawn]] for side in (found.passed, ~found.passed))
    few = min(passes.size, fails.size, (n + 1) // 2)
    most = n - few
    kept = [passes[: most if fails.size <= passes.size else few], fails[: few if fails.size <= passes.size else most]]
    return sorted(int(at) for at in np.concatenate(kept))


def _report(found: GoldRows, audit: Gold, graders: list[str], judge: Any, verdicts: Sequence[Verdict]) -> AuditReport:
    counts = confusion_of(audit, found.rewards, found.threshold)
    passes, fails = counts.both_pass + counts.only_judge, counts.both_fail + counts.only_gold
    differ = np.flatnonzero(found.passed[audit.index] != audit.label)
    rows = [int(audit.index[at]) for at in differ]
    texts = read_texts(found, rows)
    judged = [one for one in verdicts if one.reward is not None]
    said = {int(row): one.reason for row, one in zip(audit.index, judged, strict=True)}
    wrongly = {
        "passed_wrongly": counts.only_judge / passes if passes else None,
        "failed_wrongly": counts.only_gold / fails if fails else None,
    }
    warnings = [
        f"{value:.0%} of the {kind} grades are wrong to the auditor; read .queue before training on them"
        for kind, value in (("passing", wrongly["passed_wrongly"]), ("failing", wrongly["failed_wrongly"]))
        if value is not None and value > _WRONG
    ]
    return AuditReport(
        grader=graders,
        auditor=auditor_name(judge),
        n=counts.n,
        unjudged=len(verdicts) - counts.n,
        agreement=counts.agreement,
        ci95=counts.interval,
        kappa=counts.kappa,
        passed_wrongly=wrongly["passed_wrongly"],
        passed_wrongly_ci95=wilson(counts.only_judge, passes),
        failed_wrongly=wrongly["failed_wrongly"],
        failed_wrongly_ci95=wilson(counts.only_gold, fails),
        queue=[
            {"row": row, "reward": float(found.rewards[row]), "auditor_says": said.get(row), **text}
            for row, text in zip(rows, texts, strict=True)
        ],
        warnings=warnings,
    )
