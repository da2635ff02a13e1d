"""Words of the agent's text as numbers: many texts are split at once, and each distinct word is looked up once."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


IntArray = NDArray[np.int64]
# Scripts written without spaces (kana, Han, Thai) are read letter by letter, so that pairs of them make words.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_SPACE = ord(" ")
# Of plain ASCII, letters as small ones, digits and `_` make words, all else is a space; bytes of other characters,
# which `_WORD` has looked at, stay.
_BYTES = bytes(
    code
    if code >= 128 or chr(code).isdigit() or chr(code) == "_"
    else ord(chr(code).lower() if chr(code).isalpha() else " ")
    for code in range(256)
)
# Characters of a text whose words are read, half from its beginning and half from its end.
_MOST_TEXT = 20_000


class Vocabulary:
    """Numbers of words, in the order in which they were first read."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def read(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], IntArray]:
        """
        The words of some texts.

        Args:
            texts (`Sequence[str]`):
                The texts; of those over 20,000 characters both ends are read.

        Returns:
            `tuple`: The words of all texts after one another, as numbers, and how many each text has.

        Examples:
        ```python
        >>> words, counts = Vocabulary().read(["It shipped.", "", "IT is_late"])
        >>> words.tolist(), counts.tolist()
        ([0, 1, 0, 2], [2, 0, 2])

        ```
        """
        parts = [_spaced(text) for text in texts]
        data = np.frombuffer(b" ".join((b"", *parts, b"")).translate(_BYTES), np.uint8)
        apart = data == _SPACE
        starts = np.flatnonzero(apart[:-1] & ~apart[1:]) + 1
        ends = np.flatnonzero(~apart[:-1] & apart[1:]) + 1
        offsets = np.concatenate(([0], np.cumsum(ends - starts))).astype(np.int32)
        words = pa.StringArray.from_buffers(starts.size, pa.py_buffer(offsets), pa.py_buffer(data[~apart]))
        found = words.dictionary_encode()
        number = np.array([self._number(word) for word in found.dictionary.to_pylist()], np.int32)
        before = np.searchsorted(starts, np.cumsum([len(part) + 1 for part in parts], dtype=np.int64))
        return number[found.indices.to_numpy()], np.diff(before, prepend=0)

    def _number(self, word: str) -> int:
        return self.numbers.setdefault(word, len(self.numbers))


def _spaced(text: str) -> bytes:
    """A text between whose words there is something that is none, as UTF-8."""
    if len(text) > _MOST_TEXT:
        text = f"{text[: _MOST_TEXT // 2]}\n{text[-_MOST_TEXT // 2 :]}"
    return text.encode() if text.isascii() else " ".join(_WORD.findall(text.lower())).encode()
