"""What the scan reads of a rollout: the agent's words, its calls, and numbers that came with it.

Rows are read once, one after the other, and only what is counted is kept: the text itself is gone when the next block
of rows is read.
"""

from __future__ import annotations

import dataclasses
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa
from datasets import Dataset
from numpy.typing import NDArray

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.hacks.letters import COUNTED, count_letters
from whileai_hf.measure.hacks.numbers import Numbers
from whileai_hf.measure.hacks.said import (
    MESSAGES,
    Row,
    cut_off,
    flags_of,
    from_messages,
    from_steps,
    logprob_mean,
    reads_messages,
)
from whileai_hf.measure.hacks.vocabulary import Vocabulary
from whileai_hf.rows import RowView


FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
OwnFeatures = Mapping[str, Callable[[Row], Any]]

_ENDS = ("steps", "final_text", "finish_reason")
_COLUMNS = (*_ENDS, "markers", "trace_flags", "logprob", "n_tokens", "token_logprobs")
# Characters of text, and rows, held before what is in them is counted.
_BLOCK, _ROWS = 500_000, 8192


@dataclasses.dataclass
class Readings:
    """
    What was read of some rows.

    Args:
        words (`np.ndarray` of `int32`):
            Words of all rows after one another, as numbers in the reader's vocabulary.
        ends (`np.ndarray` of shape `(rows,)`):
            Where the words of each row end.
        numbers (`dict[str, np.ndarray]`):
            Numbers by feature, `nan` where a row has none.
        flags (`dict[str, np.ndarray]`):
            Positions of the rows that have a `tool:` or `trace:` feature.
        distinct (`np.ndarray` of shape `(rows,)`):
            Equal for rows whose text and calls are equal, and the same in every process.
        n_with_text (`int`):
            Rows in which the agent said something.
        unread (`dict[str, int]`):
            Rows by feature in which it is there and no number, such as a marker that is text; 0 for a feature of
            the caller's that is `None` in every row.
    """

    words: NDArray[np.int32]
    ends: IntArray
    numbers: dict[str, FloatArray]
    flags: dict[str, IntArray]
    distinct: IntArray
    n_with_text: int
    unread: dict[str, int]


class Reader:
    """
    Reads rows into [`Readings`]; two sets of rows read by one reader have one vocabulary.

    Args:
        own (`Mapping[str, Callable]`, *optional*):
            The caller's features: name to a function from a row to a number.

    Raises:
        [`ConfigurationError`]: No mapping of names and functions.
    """

    def __init__(self, own: OwnFeatures | None = None) -> None:
        self.own = _checked({} if own is None else own)
        self.vocabulary = Vocabulary()

    def read(self, rows: RowView, kept: NDArray[np.bool_]) -> Readings:
        """
        Reads the rows that are kept.

        Args:
            rows (`RowView`):
                All rows.
            kept (`np.ndarray` of `bool`):
                Which of them to read.
        """
        return _Pass(self).over(rows, kept.tolist())

    def names(self) -> list[str]:
        """The words of the vocabulary, in the order of their numbers."""
        return list(self.vocabulary.numbers)


def _checked(own: Any) -> dict[str, Callable[[Row], Any]]:
    if not isinstance(own, Mapping):
        raise ConfigurationError(
            f"features={own!r:.80} is a {type(own).__name__}; pass a dict of names and functions of a row"
        )
    for name, function in own.items():
        if not isinstance(name, str) or not callable(function):
            raise ConfigurationError(
                f"features holds {name!r:.80}: {function!r:.80}; pass names and functions from a row to a number"
            )
    return dict(own)


def _called(name: str, function: Callable[[Row], Any], row: Row) -> Any:
    try:
        return function(row)
    except Exception as error:  # the caller's code can raise anything
        raise ConfigurationError(
            f"features[{name!r}] raised {type(error).__name__} ({error!s:.80}) on a row; return None where there is "
            "nothing to say"
        ) from error


class _Pass:
    """One pass over rows."""

    def __init__(self, reader: Reader) -> None:
        self.reader, self.at = reader, 0
        self.replies, self.turns, self.calls, self.cut = (array("d") for _ in range(4))
        self.markers, self.numbers = Numbers(), Numbers()
        self.tools: defaultdict[str, list[int]] = defaultdict(list)
        self.traces: defaultdict[str, list[int]] = defaultdict(list)
        # Of the rows whose text is not counted yet.
        self.texts: list[str] = []
        self.digests: list[bytes] = []
        self.held = 0
        # Of the others, by block.
        self.words: list[NDArray[np.int32]] = []
        self.n_words: list[IntArray] = []
        self.letters: list[list[FloatArray]] = []
        self.distinct: list[IntArray] = []
        self.n_with_text = 0

    def over(self, rows: RowView, kept: list[bool]) -> Readings:
        by_messages = reads_messages(rows)
        for row, wanted in zip(iterate(rows, _COLUMNS, by_messages, bool(self.reader.own)), kept, strict=True):
            if wanted:
                self._row(row, by_messages)
                if self.held > _BLOCK or len(self.texts) == _ROWS:
                    self._settle()
        self._settle()
        columns = {"reply_length": self.replies, "tool_calls": self.calls, "turns": self.turns, "truncated": self.cut}
        counted = {name: np.array(column, np.float64) for name, column in columns.items()}
        n_words = np.concatenate(self.n_words)
        counted["words"] = n_words.astype(np.float64)
        counted |= {
            name: np.concatenate(found) for name, found in zip(COUNTED, zip(*self.letters, strict=True), strict=True)
        }
        flags = {f"tool:{name}": at for name, at in self.tools.items()}
        flags |= {f"trace:{name}": at for name, at in self.traces.items()}
        return Readings(
            np.concatenate(self.words),
            np.cumsum(n_words),
            counted | dict(self.markers.columns(self.at, "marker:")) | dict(self.numbers.columns(self.at)),
            {name: np.array(at, np.int64) for name, at in sorted(flags.items())},
            np.concatenate(self.distinct),
            self.n_with_text,
            self._unread(),
        )

    def _unread(self) -> dict[str, int]:
        silent = {name: 0 for name in self.reader.own if name not in self.numbers.kept}
        markers = {f"marker:{name}": count for name, count in self.markers.unread.items()}
        return silent | markers | {str(name): count for name, count in self.numbers.unread.items()}

    def _row(self, row: Row, by_messages: bool) -> None:
        at, said = self.at, from_messages(row) if by_messages else from_steps(row)
        text, tools = said.text, said.tools
        self.replies.append(said.reply)
        self.turns.append(said.turns)
        self.calls.append(len(tools))
        self.cut.append(said.truncated or cut_off(row.get("finish_reason"), text, said.reply))
        self.digests.append(_digest(text, tools))
        for tool in set(tools):
            self.tools[tool].append(at)
        if flags := row.get("trace_flags"):
            for flag in flags_of(flags):
                self.traces[flag].append(at)
        markers, own = row.get("markers"), self.reader.own
        if type(markers) is dict or isinstance(markers, Mapping):
            for name, value in markers.items():
                self.markers.add(name, value, at)
        if (mean := logprob_mean(row)) is not None:
            self.numbers.add("logprob_mean", mean, at)
        for name in own:
            self.numbers.add(name, _called(name, own[name], row), at)
        self.texts.append(text)
        self.held += len(text)
        self.at += 1

    def _settle(self) -> None:
        """Counts what is in the texts held, and lets go of them."""
        words, n_words = self.reader.vocabulary.read(self.texts)
        self.words.append(words)
        self.n_words.append(n_words)
        self.letters.append(count_letters(self.texts))
        self.distinct.append(np.frombuffer(b"".join(self.digests), ">i8").astype(np.int64))
        self.n_with_text += len(self.texts) - self.texts.count("")
        self.markers.settle()
        self.numbers.settle()
        self.texts, self.digests, self.held = [], [], 0


def _digest(text: str, tools: list[str]) -> bytes:
    said = "\x1e".join((text, *tools)).encode("utf-8", "surrogatepass")
    return blake2b(said, digest_size=8).digest()


def iterate(rows: RowView, columns: Sequence[str], by_messages: bool, whole: bool = False) -> Iterator[Row]:
    """
    Rows with at least some of their columns.

    Args:
        rows (`RowView`):
            The rows.
        columns (`Sequence[str]`):
            Columns wanted.
        by_messages (`bool`):
            Whether messages are wanted, too.
        whole (`bool`, *optional*, defaults to `False`):
            Whether all columns are.
    """
    if whole or not isinstance(rows.source, Dataset | pa.Table):
        return rows.rows()  # the dicts of a list are read where they are
    names = (*columns, *MESSAGES) if by_messages else columns
    wanted = [name for name in names if name in rows.columns]
    return rows.rows(wanted) if wanted else iter([{}] * len(rows))


def read_lengths(rows: RowView, kept: NDArray[np.bool_]) -> tuple[FloatArray, IntArray]:
    """
    Of every row kept the length of its reply, and whether it was cut off (1) or not (0): what [`Reader`] finds as
    `reply_length` and `truncated`, without a look at the words.
    """
    by_messages = reads_messages(rows)
    lengths, cut = array("d"), array("q")
    for row, wanted in zip(iterate(rows, _ENDS, by_messages), kept.tolist(), strict=True):
        if wanted:
            said = from_messages(row) if by_messages else from_steps(row)
            lengths.append(said.reply)
            cut.append(said.truncated or cut_off(row.get("finish_reason"), said.text, said.reply))
    return np.array(lengths, np.float64), np.array(cut, np.int64)
