"""`Score`: a judge as a map function.

`rollouts.map(Score(judge), batched=True)` judges a Dataset with caching and `num_proc`, in a notebook or under any
engine that maps batches. What decides whether `map` may answer from its cache is what the judge does (see
`hashing`), never how it is run.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import dill
import pyarrow as pa
from datasets.formatting.formatting import LazyBatch, LazyRow

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.rows import RowView, canonical
from whileai_hf.rows.columns import replace_columns
from whileai_hf.rows.hashing import register_hash
from whileai_hf.score.grouping import judge_groups
from whileai_hf.score.halting import Heard
from whileai_hf.score.hashing import UnhashableError, code_digest
from whileai_hf.score.judging import JudgeFunction, default_concurrency, judge_name, judge_rows
from whileai_hf.score.judgment import PRIVILEGED_COLUMNS, judgment_columns, judgment_values
from whileai_hf.score.lanes import Progress, Row, own
from whileai_hf.score.state import Stateful, state_of
from whileai_hf.score.verdicts import Described, GroupJudge, Selective, Verdict


logger = logging.getLogger(__name__)

# Digits of the hash of a judge's code on rows: enough to tell two edits of one judge apart.
_CODE_DIGITS = 12


class Score:
    """
    Judges rows; use it with `map(..., batched=True)`.

    Args:
        judge (`Callable`):
            Row to verdict, sync or async: a number, a bool, or a mapping with `reward` and optionally `reason`,
            `markers`, `failure_class` and metadata. It must not change the row.
        version (`str`, *optional*):
            The judge's version. Recorded on every row, and the only thing that decides about the cache: the same
            version is answered from it, whatever the judge holds. Without it the judge's code and state decide.
        timeout (`float`, *optional*):
            Seconds a row may take; then its status is `timeout` and its reward `None`.
        concurrency (`int`, *optional*, defaults to 8, to 1 for a verifier):
            Rows judged at the same time in one process. A sync judge is called from that many threads; with 1 and
            no timeout it is called in the calling thread.
        name (`str`, *optional*):
            Name recorded as `judge_name`; by default that of the function or class.
        columns (`Sequence[str]`, *optional*):
            The columns the judge reads. Only they are decoded, which is most of the cost of a fast judge.
        keep_privileged (`bool`, *optional*, defaults to `False`):
            Keep the columns only a judge may see, for another `Score` down the chain.

    Examples:
    ```python
    >>> from whileai_hf.rows import open_rows
    >>> from whileai_hf.score import Score
    >>> rollouts = open_rows([{"prompt": "Where is it?", "final_text": "It shipped."}])
    >>> judged = rollouts.map(Score(lambda row: "shipped" in row["final_text"]), batched=True)
    >>> judged[0]["reward"], judged[0]["judge_status"]
    (1.0, 'ok')

    ```
    """

    def __init__(
        self,
        judge: JudgeFunction,
        *,
        version: str | None = None,
        timeout: float | None = None,
        concurrency: int | None = None,
        name: str | None = None,
        columns: Sequence[str] | None = None,
        keep_privileged: bool = False,
    ) -> None:
        _check_judge(judge)
        _check_limits(timeout, concurrency)
        self.judge = judge
        self._given = version is not None
        self._heard = Heard()
        self.provenance = _provenance(judge, None if version is None else str(version))
        own = self.provenance.get("version")
        self.version = None if own is None else str(own)
        self.source = "grade"
        """Where the reward comes from, for `lineage`: `"grade"`, or `"eval"` for what must not be trained on."""
        self.timeout = timeout
        self.concurrency = concurrency
        self.name = name or judge_name(judge)
        if columns is None and isinstance(judge, Selective):
            columns = judge.columns()
        self.columns = None if columns is None else tuple(columns)
        self.keep_privileged = keep_privileged

    def __call__(self, batch: Any) -> Any:
        """
        Judges a batch.

        Args:
            batch (`Mapping[str, list]` or `pyarrow.Table`):
                Columns of rows.

        Returns:
            `pyarrow.Table` for a batch of `Dataset.map` or a table, `dict[str, list]` for a plain mapping: the input
            columns and those of the judgment. The privileged ones are left out of a table and emptied in a mapping.
        """
        if isinstance(self.judge, GroupJudge):
            raise ConfigurationError(
                f"the judge {self.name} compares all rollouts of an ask, and a batch may hold some of them only; "
                "use grade(data, judge)"
            )
        if isinstance(batch, LazyBatch):
            return self._judge_table(batch.pa_table)
        if isinstance(batch, pa.Table):
            return self._judge_table(batch)
        if isinstance(batch, LazyRow) or not isinstance(batch, Mapping):
            kind = "a single row" if isinstance(batch, LazyRow) else f"a {type(batch).__name__}"
            raise ConfigurationError(f"Score got {kind}; it works on batches: call map(Score(judge), batched=True)")
        return self._judge_mapping(batch)

    def reads(self, available: Sequence[str]) -> list[str]:
        """Of the columns at hand, those a row is decoded from."""
        if self.columns is None:
            return list(available)
        return [name for name in available if name in self.columns or name == "rollout_status"]

    def verdicts(self, rows: Iterable[Row], progress: Progress | None = None) -> list[Verdict]:
        """The judge's verdicts on rows, in order."""
        return judge_rows(
            self.judge,
            rows,
            concurrency=self.concurrency,
            timeout=self.timeout,
            progress=progress,
            heard=self._heard,
        )

    def group_verdicts(
        self, rows: Sequence[Row], keys: Sequence[Any], progress: Progress | None = None
    ) -> list[Verdict]:
        """The verdicts of a judge that sees all rows of a group together, in order of the rows; `keys` name groups."""
        width = default_concurrency(self.judge) if self.concurrency is None else self.concurrency
        judge: Any = self.judge
        return judge_groups(judge, rows, keys, concurrency=width, timeout=self.timeout, progress=progress)

    def values(
        self, verdicts: Sequence[Verdict], markers: Sequence[Any], lineage: Sequence[Any]
    ) -> dict[str, list[Any]]:
        """The judgment's columns as Python values; `markers` and `lineage` are those the rows had before."""
        stamp = {"source": self.source, "judge": self.name, "judge_version": self.version}
        return judgment_values(verdicts, stamp=stamp, provenance=self.provenance, markers=markers, lineage=lineage)

    def _judge_table(self, table: pa.Table) -> pa.Table:
        view = RowView(table)
        verdicts = self.verdicts(view.rows(self.reads(view.columns), share=False))
        columns = judgment_columns(self.values(verdicts, view.column("markers"), view.column("lineage")))
        if not self.keep_privileged:
            table = table.drop_columns([name for name in PRIVILEGED_COLUMNS if name in table.column_names])
        return replace_columns(table, columns)

    def _judge_mapping(self, batch: Mapping[str, Any]) -> dict[str, list[Any]]:
        columns = {name: _plain_column(name, values) for name, values in batch.items()}
        lengths = {len(values) for values in columns.values()}
        if len(lengths) > 1:
            raise DataError(f"the columns of the batch have {sorted(lengths)} rows; expected one length for all")
        count = lengths.pop() if lengths else 0
        names = self.reads(list(columns))
        rows = (own({name: columns[name][index] for name in names}) for index in range(count))
        none = [None] * count
        values = self.values(self.verdicts(rows), columns.get("markers", none), columns.get("lineage", none))
        dropped = () if self.keep_privileged else PRIVILEGED_COLUMNS
        # A stream merges its input columns into what comes back, so one that is left out would stay: it is emptied.
        return {**{name: none if name in dropped else column for name, column in columns.items()}, **values}

    def content_hash(self) -> str:
        """
        What decides whether an earlier result may be used again: the `version` given, else the judge's own version and
        what else it says decides (`hash_state`), else its code and state.
        A judge whose state cannot be hashed gets a new hash every time, so it is never answered from the cache.
        """
        what = f"{type(self).__qualname__} {self.name} {self.columns} {self.keep_privileged} {self.source}"
        if self.version is not None and (self._given or not isinstance(self.judge, Stateful)):
            return f"{what} version {self.version}"
        try:
            return f"{what} {'code' if self.version is None else self.version} {state_of(self.judge)}"
        except UnhashableError as error:
            logger.warning(
                "the judge %s holds %s, which cannot be hashed, so map judges every row again on each call; "
                "pass version= to have unchanged rows answered from the cache",
                self.name,
                error,
            )
            return f"{what} once {uuid.uuid4().hex}"

    def hash_state(self) -> list[object]:
        """What `Dataset.map` fingerprints in place of the object itself."""
        return [self.content_hash()]

    def __getstate__(self) -> dict[str, Any]:
        # dill takes closures and functions of __main__, which plain pickle does not; done here it works for both.
        try:
            judge = dill.dumps(self.judge, recurse=True)
        except Exception as error:  # picklers and reducers raise whatever they like
            raise ConfigurationError(
                f"the judge {self.name} cannot be sent to another process ({type(error).__name__}: {error}); "
                "make its client on first use, or leave num_proc out and raise concurrency="
            ) from error
        return {**vars(self), "judge": judge}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.judge = dill.loads(state["judge"])


def _provenance(judge: Any, version: str | None) -> dict[str, Any]:
    """What is recorded about the judge on every row: what it says itself, else a hash of its code."""
    if isinstance(judge, Described):
        known = judge.provenance()
    else:
        code = code_digest(judge)
        known = {} if code is None else {"code": code[:_CODE_DIGITS]}
    return known if version is None else {**known, "version": version}


def _check_judge(judge: Any) -> None:
    if isinstance(judge, GroupJudge):
        return
    if judge is None:
        raise ConfigurationError(
            "no judge was given; pass judge=, a callable from a row to a number, a bool or {'reward': ...}"
        )
    if isinstance(judge, type):
        raise ConfigurationError(f"judge={judge.__name__} is a class; pass an object of it: {judge.__name__}(...)")
    if not callable(judge):
        raise ConfigurationError(
            f"judge={judge!r} is a {type(judge).__name__}, which cannot be called; "
            "pass a callable from a row to a number, a bool or {'reward': ...}"
        )


def _check_limits(timeout: Any, concurrency: Any) -> None:
    is_time = isinstance(timeout, int | float) and not isinstance(timeout, bool) and 0 < timeout < float("inf")
    if timeout is not None and not is_time:
        raise ConfigurationError(f"timeout={timeout!r} is not a number of seconds above 0; leave it out for no limit")
    is_count = isinstance(concurrency, int) and not isinstance(concurrency, bool) and concurrency >= 1
    if concurrency is not None and not is_count:
        raise ConfigurationError(f"concurrency={concurrency!r} is not a whole number of rows, 1 or more")


def _plain_column(name: str, values: Any) -> list[Any]:
    """A batch column as canonical values, so that a judge sees the same whichever way a row came."""
    column = values.tolist() if hasattr(values, "tolist") else values  # numpy and torch share this name
    if not isinstance(column, list | tuple):
        raise ConfigurationError(
            f"Score got {name!r} as a {type(values).__name__}, not a list: it works on batches, pass batched=True"
        )
    return [canonical(value) if isinstance(value, dict | list | tuple) else value for value in column]


register_hash(Score)
