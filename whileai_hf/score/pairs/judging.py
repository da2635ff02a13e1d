"""`judge_pairs`: which of two replies is better, asked both ways round.

Any callable that takes two rows can be the judge. It is called with the sides in their order and again with the order
reversed, so half of its calls tell how much of its opinion is about position.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

from datasets import Dataset, Json, Value
from datasets.utils import tqdm

from whileai_hf.errors import ConfigurationError
from whileai_hf.rows import add_columns, open_rows, view
from whileai_hf.rows.view import Row, Source
from whileai_hf.score.judging import is_async, judge_name, judge_rows
from whileai_hf.score.pairs.labels import read_labels
from whileai_hf.score.pairs.pairwise import PairwiseJudge
from whileai_hf.score.pairs.report import PairsReport, pairs_report
from whileai_hf.score.pairs.sides import Pair, find_fields, pair_of
from whileai_hf.score.pairs.voting import Outcome, combine, read_winner, unasked
from whileai_hf.score.scrubbing import without_privileged
from whileai_hf.score.verdicts import Verdict


logger = logging.getLogger(__name__)

# (first, second) -> what `read_winner` reads, sync or async.
PairJudge = Callable[..., Any]


def judge_pairs(
    pairs: Source,
    judge: PairJudge | None = None,
    *,
    a: str | None = None,
    b: str | None = None,
    prompt: str | None = None,
    label: str | None = None,
    concurrency: int | None = None,
    timeout: float | None = None,
) -> tuple[Dataset, PairsReport]:
    """
    Judges pairs of replies, each both ways round.

    Args:
        pairs (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rows with two sides: `a` and `b`, `chosen` and `rejected`, `output_1` and `output_2`, or what `a=` and
            `b=` name. A side is a text, messages, or a whole rollout.
        judge (`Callable`, *optional*):
            `(first, second) -> "A" | "B" | "tie" | None`, sync or async, on two rows with `prompt`, `messages` and
            `final_text`; `"A"` is the one given first. A mapping with `winner` and `reason` is fine, too. By default
            [`pairwise_judge`] with the default model.
        a (`str`, *optional*):
            Column of side a.
        b (`str`, *optional*):
            Column of side b.
        prompt (`str`, *optional*):
            Column with what was asked; `prompt`, `instruction` (with its `input`), `question` or `input` otherwise.
        label (`str`, *optional*):
            Column with the side a person preferred (`"a"`, `"b"`, `"tie"`; 1, 2, 0; the name of a side's column; or
            a list of several people's), to compare the judge with.
        concurrency (`int`, *optional*, defaults to 8):
            Calls at the same time.
        timeout (`float`, *optional*):
            Seconds one call may take.

    Returns:
        `tuple[datasets.Dataset, PairsReport]`: The rows with `winner` (`"a"`, `"b"`, `"tie"`, or `None`: unjudged),
        `votes` (`{"ab": ..., "ba": ...}`, the side preferred with a or b shown first), `flipped`, `judge_status`,
        `reason`, `judge_name` and `judge_meta`; and what they amount to. A side wins when both orders say so. Orders
        that differ are a tie and `flipped`; when one of them fails, the pair is unjudged. Two identical sides are a
        tie without a call.

    Raises:
        [`MissingColumnError`]: Two sides cannot be found, or a named column is absent.
        [`ConfigurationError`]: A judge that cannot be called.

    Examples:
    ```python
    >>> from whileai_hf.score.pairs import judge_pairs
    >>> pairs = [{"prompt": "Where is A1?", "a": "It ships on May 3.", "b": "Soon."}]
    >>> rows, report = judge_pairs(pairs, lambda first, second: "A")  # likes whatever stands first
    >>> rows[0]["winner"], report.wins_a, report.ties, report.position_flip_rate
    ('tie', 0, 1, 1.0)

    ```
    """
    asked: PairJudge = PairwiseJudge() if judge is None else judge
    _check(asked)
    rows = view(pairs)
    fields = find_fields(rows, a, b, prompt)
    labels = None
    if label is not None:
        values = rows.require(label, "label= names the column with the side a person preferred")
        labels = read_labels(values, label, fields)
    sides = [pair_of(row, fields) for row in rows.rows()]
    if isinstance(asked, PairwiseJudge):  # that there is no model to ask is one error, not one on every pair
        asked.bind(side.get("model_version") for pair in sides for side in (pair.a, pair.b))
    outcomes = _outcomes(asked, sides, concurrency, timeout)
    report = pairs_report(outcomes, sides, labels, judge_name(asked))
    for warning in report.warnings:
        logger.warning(warning)
    source = rows.source
    dataset = source if isinstance(source, Dataset) else open_rows(source)
    return without_privileged(_with_outcomes(dataset, outcomes, asked)), report


def _check(judge: Any) -> None:
    if isinstance(judge, type) or not callable(judge):
        what = f"the class {judge.__name__}" if isinstance(judge, type) else repr(judge)[:60]
        raise ConfigurationError(f"judge is {what}; pass a callable (first, second) -> 'A', 'B', 'tie' or None")


def _ask(judge: PairJudge) -> Callable[[Row], Any]:
    """The judge as one of rows, each of which holds the two sides in the order they are shown."""
    if isinstance(judge, PairwiseJudge):
        return judge.judge_order
    if is_async(judge):

        async def ask(row: Row) -> Verdict:
            answer: Awaitable[Any] = judge(row["first"], row["second"])
            return read_winner(await answer)

        return ask
    return _AskSync(judge)


class _AskSync:
    """A judge that does not say it awaits; should it, its answer is waited for."""

    def __init__(self, judge: PairJudge) -> None:
        self.judge = judge

    def __call__(self, row: Row) -> Any:
        answer = self.judge(row["first"], row["second"])
        return _awaited(answer) if isinstance(answer, Awaitable) else read_winner(answer)


async def _awaited(answer: Awaitable[Any]) -> Verdict:
    return read_winner(await answer)


def _orders(sides: Sequence[Pair]) -> Iterator[Row]:
    for pair in sides:
        if pair.problem is None and not pair.identical:
            yield {"first": pair.a, "second": pair.b}
            yield {"first": pair.b, "second": pair.a}


def _outcomes(
    judge: PairJudge, sides: Sequence[Pair], concurrency: int | None, timeout: float | None
) -> list[Outcome]:
    calls = 2 * sum(pair.problem is None and not pair.identical for pair in sides)
    with tqdm(total=calls, desc="Comparing", unit=" calls", disable=None) as bar:
        verdicts = judge_rows(
            _ask(judge),
            _orders(sides),
            concurrency=concurrency,
            timeout=timeout,
            progress=lambda done: bar.update(done - bar.n),
        )
    answered = iter(verdicts)
    outcomes = []
    for pair in sides:
        if pair.problem is not None:
            outcomes.append(unasked(pair.problem))
        elif pair.identical:
            outcomes.append(unasked("the two sides are identical", "tie"))
        else:
            outcomes.append(combine(next(answered), next(answered)))
    return outcomes


def _with_outcomes(dataset: Dataset, outcomes: Sequence[Outcome], judge: PairJudge) -> Dataset:
    said = judge.provenance() if isinstance(judge, PairwiseJudge) else {}
    columns: dict[str, list[Any]] = {
        "winner": [outcome.winner for outcome in outcomes],
        "votes": [outcome.votes for outcome in outcomes],
        "flipped": [outcome.flipped for outcome in outcomes],
        "judge_status": [outcome.status for outcome in outcomes],
        "reason": [outcome.reason for outcome in outcomes],
        "judge_name": [judge_name(judge)] * len(outcomes),
        "judge_meta": [{**said, **outcome.meta} for outcome in outcomes],
    }
    types = {"winner": Value("string"), "votes": Json(), "flipped": Value("bool")}
    return add_columns(dataset, columns, types)
