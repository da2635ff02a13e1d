"""What the scan reads of a rollout: the agent's words, its calls, and numbers that came with it.

Rows are read once, one after the other, and only what is counted is kept: the text itself is gone when the next block
of rows is read.
"""

from __future__ import annotations

import dataclasses
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa
from datasets import Dataset
from numpy.typing import NDArray

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.hacks.letters import COUNTED, count_letters
from whileai_hf.measure.hacks.said import (
    MESSAGES,
    NUMBERS,
    Row,
    cut_off,
    flags_of,
    from_messages,
    from_steps,
    logprob_mean,
    reads_messages,
)
from whileai_hf.rows import RowView


FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
OwnFeatures = Mapping[str, Callable[[Row], Any]]

_COLUMNS = ("steps", "final_text", "finish_reason", "markers", "trace_flags", "logprob", "n_tokens", "token_logprobs")
# Scripts written without spaces (kana, Han, Thai) are read letter by letter, so that pairs of them make words.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
# The same for plain ASCII, several times faster: letters, digits and `_` as small letters, all else a space.
_ASCII = "".join(chr(code).lower() if chr(code).isalnum() or chr(code) == "_" else " " for code in range(128))
# Characters of a text whose words are read, half from its beginning and half from its end.
_MOST_TEXT = 20_000
# Characters of text held before their letters are counted.
_BLOCK = 500_000


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
        self.vocabulary: defaultdict[str, int] = defaultdict()
        self.vocabulary.default_factory = self.vocabulary.__len__

    def read(self, rows: RowView, kept: NDArray[np.bool_]) -> Readings:
        """
        Reads the rows that are kept.

        Args:
            rows (`RowView`):
                All rows.
            kept (`np.ndarray` of `bool`):
                Which of them to read.
        """
        return _Pass(self, int(np.count_nonzero(kept))).over(rows, kept.tolist())

    def names(self) -> list[str]:
        """The words of the vocabulary, in the order of their numbers."""
        return list(self.vocabulary)


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

    def __init__(self, reader: Reader, n: int) -> None:
        self.reader, self.n, self.at = reader, n, 0
        self.words, self.ends = array("i"), np.zeros(n, np.int64)
        self.numbers: dict[str, _Numbers] = {}
        self.markers: dict[object, _Numbers] = {}
        self.flags: dict[str, list[int]] = {}
        self.unread: Counter[object] = Counter()
        self.letters: dict[str, FloatArray] = {name: np.zeros(n) for name in COUNTED}
        self.distinct = np.zeros(n, np.int64)
        self.texts: list[str] = []
        self.held = self.counted = self.n_with_text = 0
        self.lengths, self.turns, self.calls, self.cut = (np.zeros(n) for _ in range(4))

    def over(self, rows: RowView, kept: list[bool]) -> Readings:
        by_messages = reads_messages(rows)
        for row, wanted in zip(_iterate(rows, by_messages, bool(self.reader.own)), kept, strict=True):
            if wanted:
                self._row(row, by_messages)
                self.at += 1
        self._count_letters()
        counted = {"reply_length": self.lengths, "tool_calls": self.calls, "turns": self.turns, "truncated": self.cut}
        counted["words"] = np.diff(self.ends, prepend=0).astype(np.float64)
        return Readings(
            np.frombuffer(self.words, np.int32) if self.words else np.zeros(0, np.int32),
            self.ends,
            counted | self.letters | {name: found.column(self.n) for name, found in self._found()},
            {name: np.array(at, np.int64) for name, at in sorted(self.flags.items())},
            self.distinct,
            self.n_with_text,
            self._unread(),
        )

    def _unread(self) -> dict[str, int]:
        silent = {name: 0 for name in self.reader.own if name not in self.numbers}
        return silent | {str(name): count for name, count in self.unread.items() if count}

    def _row(self, row: Row, by_messages: bool) -> None:
        at, vocabulary = self.at, self.reader.vocabulary
        said = from_messages(row) if by_messages else from_steps(row)
        text = said.text
        self.lengths[at], self.turns[at], self.calls[at] = said.reply, said.turns, len(said.tools)
        self.cut[at] = said.truncated or cut_off(row.get("finish_reason"), text, said.reply)
        short = text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT // 2]}\n{text[-_MOST_TEXT // 2 :]}"
        words = short.translate(_ASCII).split() if short.isascii() else _WORD.findall(short.lower())
        self.words.extend(map(vocabulary.__getitem__, words))
        self.ends[at] = len(self.words)
        self.n_with_text += bool(text)
        self.distinct[at] = _digest(text, said.tools)
        for tool in set(said.tools):
            self._flag(f"tool:{tool}")
        if flags := row.get("trace_flags"):
            for flag in flags_of(flags):
                self._flag(f"trace:{flag}")
        self._numbers(row)
        self.texts.append(text)
        self.held += len(text)
        if self.held > _BLOCK:
            self._count_letters()

    def _flag(self, name: str) -> None:
        if name in self.flags:
            self.flags[name].append(self.at)
        else:
            self.flags[name] = [self.at]

    def _numbers(self, row: Row) -> None:
        markers, own = row.get("markers"), self.reader.own
        if type(markers) is dict or isinstance(markers, Mapping):
            for name, value in markers.items():
                if not _put(self.markers, name, value, self.at):
                    self.unread[f"marker:{name}"] += value is not None
        _put(self.numbers, "logprob_mean", logprob_mean(row), self.at)
        for name in own:
            value = _called(name, own[name], row)
            if not _put(self.numbers, name, value, self.at):
                self.unread[name] += value is not None

    def _found(self) -> Iterator[tuple[str, _Numbers]]:
        # Sorted, so that the order of the features is not that in which rows happen to show them.
        named = ((f"marker:{name}", found) for name, found in self.markers.items())
        yield from sorted(named, key=itemgetter(0))
        yield from sorted(self.numbers.items(), key=itemgetter(0))

    def _count_letters(self) -> None:
        if not self.texts:
            return
        end = self.counted + len(self.texts)
        for name, counts in zip(COUNTED, count_letters(self.texts), strict=True):
            self.letters[name][self.counted : end] = counts
        self.texts, self.held, self.counted = [], 0, end


def _digest(text: str, tools: list[str]) -> int:
    said = "\x1e".join((text, *tools)).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(said, digest_size=8).digest(), "big", signed=True)


class _Numbers:
    """Numbers of one name, with the positions of the rows that have one."""

    __slots__ = ("at", "values")

    def __init__(self) -> None:
        self.values, self.at = array("d"), array("q")

    def column(self, n: int) -> FloatArray:
        """One number per row, `nan` where there is none."""
        column = np.full(n, np.nan)
        column[np.frombuffer(self.at, np.int64)] = np.frombuffer(self.values, np.float64)
        return column


def _put(columns: dict[Any, _Numbers], name: object, value: Any, at: int) -> bool:
    """Keeps a number; false for what is none."""
    if type(value) not in NUMBERS:
        if not isinstance(value, np.bool_ | np.number):
            return False
        value = value.item()
        if type(value) not in NUMBERS:
            return False
    column = columns.get(name)
    if column is None:
        column = columns[name] = _Numbers()
    try:
        column.values.append(value)
    except OverflowError:  # an integer no double holds says nothing
        return False
    column.at.append(at)
    return True


def _iterate(rows: RowView, by_messages: bool, whole: bool) -> Iterator[Row]:
    if whole or not isinstance(rows.source, Dataset | pa.Table):
        return rows.rows()  # the dicts of a list are read where they are
    names = (*_COLUMNS, *MESSAGES) if by_messages else _COLUMNS
    wanted = [name for name in names if name in rows.columns]
    return rows.rows(wanted) if wanted else iter([{}] * len(rows))
