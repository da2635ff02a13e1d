"""The style markers of rows: a pure function of a text, a map function, and a function over rows in any form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from datasets import Dataset

from whileai_hf.markers.marking import Mark, Measured
from whileai_hf.markers.style.reading import NO_REPLY, Style, read_reply
from whileai_hf.rows.view import Source
from whileai_hf.score.reading.texts import final_text, user_texts


Row = Mapping[str, Any]

# What is read: the reply, and what it replies to.
STYLE_COLUMNS = ("prompt", "final_text", "messages", "steps", "rollout_status")


def style_of(text: str, ask: str = "") -> dict[str, float]:
    """
    The five style markers of a reply.

    Args:
        text (`str`):
            The reply, in English.
        ask (`str`, *optional*, defaults to `""`):
            What the user said.

    Returns:
        `dict[str, float]`: `no_boilerplate`, `no_hedging`, `no_apology`, `no_sycophancy`, `answered`: 1.0 clean, 0.0
        not. Of an empty reply only `answered` can be told.

    Examples:
    ```python
    >>> from whileai_hf.markers.style import style_of
    >>> [name for name, value in style_of("Certainly! I'm sorry, it is lost.").items() if not value]
    ['no_boilerplate', 'no_apology']
    >>> style_of("")
    {'answered': 0.0}

    ```
    """
    return dict(read_reply(text, lambda: [ask] if ask else []).markers)


def style_of_row(row: Row) -> Style | None:
    """The style of a row's reply; `None` where the rollout broke before there could be one."""
    style = read_reply(final_text(row), lambda: user_texts(row))
    return None if style is NO_REPLY and row.get("rollout_status") not in ("ok", None) else style


def measure_style(row: Row) -> Measured:
    """The markers of a row, as [`Mark`] takes them."""
    style = style_of_row(row)
    return (style.markers if style else {}), None


def style_markers(data: Source) -> Dataset:
    """
    Writes the style markers onto rows.

    `no_boilerplate`, `no_hedging`, `no_apology`, `no_sycophancy` and `answered` are 1.0 where the reply is clean. A
    row without any reply has only `answered`, 0.0; a rollout that broke before it could reply has none. The rules are
    for English.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rollouts.

    Returns:
        `datasets.Dataset`: The rows with `markers`; other markers on them are kept.

    Examples:
    ```python
    >>> from whileai_hf.markers.style import style_markers
    >>> style_markers([{"prompt": "Where is it?", "final_text": "I think it shipped."}])[0]["markers"]["no_hedging"]
    0.0

    ```
    """
    return StyleMarkers().over(data)


class StyleMarkers(Mark):
    """
    Writes the style markers; use it with `map(..., batched=True)`.

    Examples:
    ```python
    >>> from whileai_hf.markers.style import StyleMarkers
    >>> from whileai_hf.rows import open_rows
    >>> rows = open_rows([{"prompt": "Where is it?", "final_text": "Great question! It shipped."}])
    >>> rows.map(StyleMarkers(), batched=True)[0]["markers"]["no_sycophancy"]
    0.0

    ```
    """

    def __init__(self) -> None:
        super().__init__(measure_style, columns=STYLE_COLUMNS)
