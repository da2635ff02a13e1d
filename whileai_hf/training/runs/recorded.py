"""What a run is and what it logged, read from its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from datasets import Dataset

from whileai_hf.rows import to_dataset
from whileai_hf.training.runs.place import POINTS
from whileai_hf.training.runs.points import STEP, TIME, Logged, read_points
from whileai_hf.training.runs.record import Record
from whileai_hf.training.runs.telling import text_of


class RecordedRun:
    """
    The reading side of a [`TrainingRun`].

    Args:
        record (`Record`):
            What is known of the run.
        folder (`Path`):
            Where it lies.
    """

    def __init__(self, record: Record, folder: Path) -> None:
        self.record = record
        self.folder = folder

    @property
    def id(self) -> str:
        """`run-` and ten hexadecimal digits."""
        return self.record.id

    @property
    def name(self) -> str:
        """As it was given."""
        return self.record.name

    @property
    def status(self) -> str:
        """`running`, `done`, `failed` or `stopped`."""
        return self.record.status

    @property
    def reason(self) -> str | None:
        """Why it failed or stopped."""
        return self.record.reason

    @property
    def total_steps(self) -> int | None:
        """Steps it is meant to take."""
        return self.record.total_steps

    @property
    def adapter(self) -> str | None:
        """Where the trained weights are."""
        return self.record.adapter

    @property
    def url(self) -> str:
        """Where to look at it: the Space of its tracker, else its folder."""
        return self.record.url or self.folder.absolute().as_uri()

    @property
    def holdout_summary(self) -> dict[str, Any] | None:
        """The held-out evaluation: each side with `n_tasks`, `k` and `ci95`, the verdict and the word."""
        return self.record.holdout

    @property
    def word(self) -> str | None:
        """`Better`, `Worse` or `About the same`; `None` as long as nothing was measured."""
        return None if self.record.holdout is None else self.record.holdout["word"]

    @property
    def training(self) -> dict[str, Any]:
        """`before` and `after`, the two held-out numbers, and their `metric`."""
        block = self.record.holdout or {}
        values = {side: (block.get(side) or {}).get("value") for side in ("before", "after")}
        return {"metric": block.get("metric"), **values}

    @property
    def summary(self) -> dict[str, Any]:
        """What [`finish`] was given, with `notes`, `alarms` and `holdout`."""
        logged = self.logged()
        return {
            **self.record.summary,
            "notes": logged.notes,
            "alarms": logged.alarms,
            "holdout": self.record.holdout,
        }

    def logged(self) -> Logged:
        """Points, notes and alarms, read from the folder."""
        return read_points(self.folder / POINTS)

    @property
    def series(self) -> list[dict[str, Any]]:
        """The points, oldest first, one a step."""
        return [{name: value for name, value in point.items() if name != TIME} for point in self.logged().points]

    @property
    def notes(self) -> list[str]:
        """What [`note`] was given."""
        return self.logged().notes

    @property
    def alarms(self) -> list[dict[str, Any]]:
        """What [`alarm`] was given, each `{"kind", "step", "message"}`."""
        return self.logged().alarms

    def dataset(self) -> Dataset:
        """
        The points as a Dataset: `step`, `time` and one column for each name.

        Returns:
            `datasets.Dataset`: Numbers are float64; a step without a value has `None` there.
        """
        points = self.logged().points
        return to_dataset([{name: _wide(name, value) for name, value in point.items()} for point in points])

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON values; the points are in [`dataset`]."""
        logged = self.logged()
        return {
            **self.record.to_dict(),
            "holdout_summary": self.record.holdout,
            "word": self.word,
            "url": self.url,
            "notes": logged.notes,
            "alarms": logged.alarms,
            "n_points": len(logged.points),
        }

    def __getitem__(self, key: str) -> Any:
        if key == "series":
            return self.series
        if key == "summary":
            return self.summary
        values = self.to_dict()
        if key not in values:
            raise KeyError(f"a training run has no {key!r}; it has series, {', '.join(values)}")
        return values[key]

    def __str__(self) -> str:
        return text_of(self.record, self.logged())

    def __repr__(self) -> str:
        return f"<TrainingRun {self.id} {self.name!r} {self.status}>"


def _wide(name: str, value: Any) -> Any:
    """Columns are of one type whatever a run happened to log: whole numbers and yes or no are numbers like others."""
    return float(value) if name != STEP and isinstance(value, int) else value
