"""How the record of a run changes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from whileai_hf.measure.compare import DeltaReport, delta_report
from whileai_hf.training.runs.outcome import delta_block, holdout_block
from whileai_hf.training.runs.processes import launch, this_process
from whileai_hf.training.runs.record import DONE, RUNNING, Record


if TYPE_CHECKING:
    from whileai_hf.training.runs.run import TrainingRun


def started(record: Record, total_steps: int | None = None) -> Record:
    """The record of a run that trains now, in this process."""
    return dataclasses.replace(
        record,
        status=RUNNING,
        reason=None,
        process=this_process(),
        launch=launch(),
        total_steps=record.total_steps if total_steps is None else total_steps,
    )


def ended(
    record: Record, status: str, summary: Mapping[str, Any] | None, adapter: str | None, reason: str | None
) -> Record:
    """The record of a run that ended; what went wrong stays, and the first reason given is the reason."""
    wrong = record.status not in (RUNNING, DONE)
    return dataclasses.replace(
        record,
        status=record.status if wrong else status,
        reason=record.reason if wrong and record.reason else reason,
        summary={**record.summary, **(summary or {})},
        adapter=record.adapter if adapter is None else adapter,
    )


def keep_holdout(
    run: TrainingRun, before: Any, after: Any, metric: str, n_tasks: int | None, k: int | None
) -> dict[str, Any]:
    """[`TrainingRun.holdout`]."""
    block = holdout_block(before, after, metric, n_tasks, k)
    run.change(holdout=block)
    return block


def keep_delta(run: TrainingRun, before: Any, after: Any, arguments: Mapping[str, Any]) -> DeltaReport:
    """[`TrainingRun.delta`]."""
    report = delta_report(before, after, **arguments)
    run.change(delta=report.to_dict(), holdout=delta_block(report, before, after))
    return report
