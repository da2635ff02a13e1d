"""The rows a person is to label: drawn at random, so that what they say stands for all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.measure.knobs import check_seed
from whileai_hf.measure.trust.drawing import drawn_rows
from whileai_hf.measure.trust.keys import rollout_keys
from whileai_hf.measure.trust.queue import picked_rows
from whileai_hf.rows import dumps, view
from whileai_hf.rows.view import Source
from whileai_hf.score.reading.texts import final_text
from whileai_hf.score.verify.reply import ask_of


# Columns from which a reply is read.
_READ = ("prompt", "final_text", "messages", "steps")


def label_sheet(data: Source, n: int = 60, *, seed: int = 0, path: str | Path | None = None) -> list[dict[str, Any]]:
    """
    Draws rollouts to label by hand, with no sign of what the judge said of them.

    Fill in `label` (1 pass, 0 fail) and give the file to `attach_labels(rows, path, annotator="ana", random=True)`.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rollouts.
        n (`int`, *optional*, defaults to `60`):
            Rows to draw; all of them when there are fewer.
        seed (`int`, *optional*, defaults to `0`):
            Seed of the draw.
        path (`str` or `Path`, *optional*):
            A JSONL file to write them to.

    Returns:
        `list[dict]`: `key`, `prompt`, `reply`, `label` (empty) of each row.

    Raises:
        [`ConfigurationError`]: `n` is not 1 or more.
        [`DataError`]: The rows hold neither prompts nor replies.

    Examples:
    ```python
    >>> rows = [{"task_id": at, "prompt": f"Where is {at}?", "final_text": "Here.", "reward": 1} for at in range(9)]
    >>> sheet = label_sheet(rows, 3)
    >>> len(sheet), list(sheet[0])
    (3, ['key', 'prompt', 'reply', 'label'])

    ```
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ConfigurationError(f"n={n!r} is not a number of rows; pass 1 or more (60 is usual)")
    rows = view(data)
    if len(rows) and not any(rows.has(name) for name in _READ):
        have = ", ".join(rows.columns) or "none"
        raise DataError(f"the rows have none of {', '.join(_READ)} (columns: {have}), so there is nothing to label")
    drawn = drawn_rows(rows, check_seed(seed), "sheet")[:n].tolist()
    keys = rollout_keys(rows)
    sheet = [
        {"key": keys[at], "prompt": ask_of(row.get("prompt")), "reply": final_text(row), "label": None}
        for at, row in zip(drawn, picked_rows(rows, drawn, _READ), strict=True)
    ]
    if path is not None:
        Path(path).expanduser().write_bytes(b"".join(dumps(entry) + b"\n" for entry in sheet))
    return sheet
