"""Rankings: reading one out of a reply, and what several of them make of each place.

Rewards are relative to the group and by rank alone, because that is all a ranking says: the best of k gets 1, the
worst 0, each place (k - rank) / (k - 1), equals the mean of the places they share. So the rewards of a group always
average 0.5.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from whileai_hf.score.judges.hits import quote
from whileai_hf.score.judges.json_text import read_json
from whileai_hf.score.judges.plain import plain, without_reasoning


_KEYS = ("ranking", "rank", "order", "ranked", "result", "answer")
_LABEL = re.compile(r"R(\d{1,4})", re.IGNORECASE)
_TEXT_RANKING = re.compile(r"R\d{1,4}(?:\s{0,3}[>=\u2265,\u2248~]\s{0,3}R\d{1,4}){1,200}", re.IGNORECASE)
# Between two labels, what says that they are equals.
_EQUAL = frozenset("=\u2248~")


def read_ranking(text: Any, k: int) -> tuple[list[list[int]] | None, str | None]:
    """
    The ranking of a reply.

    Args:
        text (`str`):
            What the model wrote: JSON with `ranking`, or `R2 > R1 = R3`.
        k (`int`):
            Labels there are, `R1` to `R<k>`.

    Returns:
        `tuple[list[list[int]] | None, str | None]`: Positions (from 0) from the best to the worst, equals together;
        or `None` and what is wrong. Every label has to be there exactly once.

    Examples:
    ```python
    >>> read_ranking('{"ranking": [["R2"], ["R1", "R3"]]}', 3)
    ([[1], [0, 2]], None)
    >>> read_ranking("R1 > R2", 3)
    (None, "the judge's ranking holds 2 of 3 labels: 'R1 > R2'")

    ```
    """
    if not isinstance(text, str) or not text.strip():
        return None, "the judge answered nothing"
    said = without_reasoning(text)
    value = read_json(said)
    if isinstance(value, Mapping):
        lower = {str(key).strip().lower(): item for key, item in value.items()}
        value = next((lower[key] for key in _KEYS if key in lower), None)
    places = _from_list(value) if isinstance(value, list) else _from_text(value if isinstance(value, str) else said)
    if not places:
        return None, f"no ranking could be read in {quote(said)}"
    labels = [label for place in places for label in place]
    if sorted(labels) == list(range(k)):
        return places, None
    distinct = len(set(labels) & set(range(k)))
    wrong = f"holds {distinct} of {k} labels" if distinct < k else "names labels twice or that do not exist"
    return None, f"the judge's ranking {wrong}: {quote(said)}"


def _from_list(value: Sequence[Any]) -> list[list[int]]:
    places = []
    for item in value:
        members = item if isinstance(item, list) else [item]
        labels = []
        for member in members:
            found = _LABEL.fullmatch(str(member).strip(" .\"'`*()[]"))
            if found is None:
                return []
            labels.append(int(found[1]) - 1)
        if labels:
            places.append(labels)
    return places


def _from_text(text: str) -> list[list[int]]:
    """The last ranking written as `R2 > R1 = R3`."""
    found = _TEXT_RANKING.findall(plain_marks(text))
    if not found:
        return []
    places: list[list[int]] = []
    end = 0
    written = found[-1]
    for label in _LABEL.finditer(written):
        between = written[end : label.start()].strip()
        if places and between and between in _EQUAL:
            places[-1].append(int(label[1]) - 1)
        else:
            places.append([int(label[1]) - 1])
        end = label.end()
    return places


def plain_marks(text: str) -> str:
    """The text without emphasis; `>` between labels is no quotation mark of Markdown here."""
    return plain(text.replace(">=", ">").replace(">", "\u2265"))


def mean_ranks(places: Sequence[Sequence[int]], sizes: Sequence[int]) -> list[float]:
    """
    The rank of each item, from 1; equals share the mean of the places they take up.

    Args:
        places (`Sequence[Sequence[int]]`):
            Items from the best to the worst, equals together.
        sizes (`Sequence[int]`):
            How many identical members each item stands for.

    Examples:
    ```python
    >>> mean_ranks([[1], [0, 2]], [1, 1, 1])
    [2.5, 1.0, 2.5]
    >>> mean_ranks([[0], [1]], [2, 1])
    [1.5, 3.0]

    ```
    """
    ranks = [0.0] * len(sizes)
    before = 0
    for place in places:
        size = sum(sizes[item] for item in place)
        for item in place:
            ranks[item] = before + (size + 1) / 2
        before += size
    return ranks


def rank_reward(rank: float, k: int) -> float:
    """
    What a rank is worth in a group of `k`: `(k - rank) / (k - 1)`.

    Examples:
    ```python
    >>> rank_reward(1, 4), rank_reward(2.5, 4), rank_reward(4, 4)
    (1.0, 0.5, 0.0)

    ```
    """
    return (k - rank) / (k - 1)


def order_agreement(first: Sequence[float], second: Sequence[float]) -> float:
    """
    Share of pairs of members that two rankings put in the same order, a tie in both included.

    Examples:
    ```python
    >>> order_agreement([1, 2, 3], [1, 3, 2])
    0.6666666666666666

    ```
    """
    pairs = [(i, j) for i in range(len(first)) for j in range(i)]
    same = sum(_sign(first[i] - first[j]) == _sign(second[i] - second[j]) for i, j in pairs)
    return same / len(pairs) if pairs else 1.0


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
