"""Training rows that an evaluation set holds, too: a model that trained on its exam is measured on its memory.

A row is contaminated when the first of these holds: its task id (`scenario_id`, else `task_id`) is one of the
evaluation's; a field is an evaluation text but for case, punctuation, white space and Unicode form; one evaluation
text covers enough of the field's words with shared word n-grams (the rule of Llama 2: one n-gram in common is not
enough); its embedding is close to that of an evaluation text. Short texts match verbatim only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from datasets import Dataset
from numpy.typing import NDArray

from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.hygiene.against import ID_COLUMNS, Against, known_ids, known_texts, open_sets, row_ids
from whileai_hf.measure.hygiene.columns import read_texts
from whileai_hf.measure.hygiene.contamination import Contamination, Found, report
from whileai_hf.measure.hygiene.matching import Embed, Rule, match_field
from whileai_hf.measure.passes.codes import FetchedView
from whileai_hf.rows import RowView, select_rows, view
from whileai_hf.rows.view import Source


def _checked(fields: Sequence[str], overlap: float, ngram: int, embed: Embed | None, similarity: float) -> Rule:
    if isinstance(fields, str) or not fields or not all(isinstance(name, str) for name in fields):
        raise ConfigurationError(f'fields={fields!r} names no columns; pass a tuple such as ("prompt", "final_text")')
    for name, value in (("overlap", overlap), ("similarity", similarity)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value <= 1.0:
            raise ConfigurationError(f"{name}={value!r} is not a share; pass a number above 0 and at most 1")
    if isinstance(ngram, bool) or not isinstance(ngram, int) or ngram < 1:
        raise ConfigurationError(f"ngram={ngram!r} is not a number of words; pass 1 or more (8 is usual)")
    if embed is not None and not callable(embed):
        raise ConfigurationError(
            f"embed is a {type(embed).__name__}; pass a callable that takes a list of texts and returns a vector each"
        )
    return Rule(float(overlap), ngram, embed, float(similarity))


def contamination_report(
    data: Source,
    against: Against,
    *,
    fields: Sequence[str] = ("prompt",),
    overlap: float = 0.8,
    ngram: int = 8,
    embed: Embed | None = None,
    similarity: float = 0.85,
    ids: bool = True,
) -> Contamination:
    """
    Which rows an evaluation set holds, too. Arguments as in [`decontaminate`], which also takes them out.

    Returns:
        [`Contamination`]: `rows` are the contaminated ones.

    Examples:
    ```python
    >>> from whileai_hf.measure.hygiene import contamination_report
    >>> train = [{"prompt": "Where is order 4412?"}, {"prompt": "Cancel order 7."}]
    >>> contamination_report(train, [{"prompt": "where is ORDER 4412"}]).rows
    [0]

    ```
    """
    return _search(view(data), against, fields, _checked(fields, overlap, ngram, embed, similarity), ids)


def _search(given: RowView, against: Against, fields: Sequence[str], rule: Rule, ids: bool) -> Contamination:
    rows = FetchedView(given, (*fields, *ID_COLUMNS, "messages"))
    sets = open_sets(against)
    names = row_ids(rows)
    found: list[Found] = []
    skipped = [] if rule.embed is not None else ["semantic"]
    known = known_ids(sets) if ids else set()
    if known and any(name is not None for name in names):
        found.append(Found.of_tasks(np.array([name is not None and name in known for name in names], dtype=bool)))
    else:  # without ids on both sides nothing is compared
        skipped.insert(0, "task_id")
    for name in dict.fromkeys(fields):
        texts, held = read_texts(rows, name), known_texts(sets, name)
        matches = match_field(texts, held, rule, answers=name != "prompt").of_rows(texts.code)
        found.append(Found(name, texts, held, matches))
    return report(names, sum(map(len, sets)), found, rule, skipped)


def decontaminate(
    data: Source,
    against: Against,
    *,
    fields: Sequence[str] = ("prompt",),
    overlap: float = 0.8,
    ngram: int = 8,
    embed: Embed | None = None,
    similarity: float = 0.85,
    ids: bool = True,
) -> tuple[Dataset, Contamination]:
    """
    Takes rows out that an evaluation set holds, too: by task id, verbatim, nearly, or in meaning.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Training rows.
        against (`Dataset`, `DatasetDict`, `list[dict]`, path, Hub dataset id, or a list of those):
            What is or will be measured on. A string is a path or an id, never a text.
        fields (`Sequence[str]`, *optional*, defaults to `("prompt",)`):
            Columns to check. `prompt` is compared with the evaluation's prompts (or `question`, `problem`,
            `instruction`, `input`, `query`, `text`, `messages`); any other, such as `final_text`, with the column of
            its name and with answers and references, if at least four words long. Where the evaluation rows are
            rollouts, their replies count, stock phrases among them.
        overlap (`float`, *optional*, defaults to `0.8`):
            Share of its words that one evaluation text must cover with shared n-grams.
        ngram (`int`, *optional*, defaults to `8`):
            Words of an n-gram; shorter texts match verbatim only.
        embed (`Callable`, *optional*):
            Takes a list of texts, returns one vector each; finds paraphrases, which the rules on words do not.
        similarity (`float`, *optional*, defaults to `0.85`):
            Cosine from which two texts mean the same.
        ids (`bool`, *optional*, defaults to `True`):
            Whether equal task ids make one task. Turn it off for sets that number their rows from 0.

    Returns:
        `tuple[Dataset, Contamination]`: The clean rows in their order, and what was found. A list of dicts becomes a
        Dataset, which costs more than the search; [`contamination_report`] only searches.

    Raises:
        [`ConfigurationError`]: A knob out of range, or `against` that holds no rows by its type.
        [`DataError`]: `against` or `data` without rows.
        [`MissingColumnError`]: A field neither side has.

    Examples:
    ```python
    >>> from whileai_hf.measure.hygiene import decontaminate
    >>> train = [{"prompt": "Where is order 4412?"}, {"prompt": "Cancel order 7."}]
    >>> clean, found = decontaminate(train, [{"prompt": "where is ORDER 4412"}])
    >>> clean["prompt"][0], found.n_verbatim
    ('Cancel order 7.', 1)

    ```
    """
    rows = view(data)
    found = _search(rows, against, fields, _checked(fields, overlap, ngram, embed, similarity), ids)
    kept = np.ones(len(rows), bool)
    kept[found.rows] = False
    return keep(rows, kept), found


def keep(rows: RowView, kept: NDArray[np.bool_]) -> Dataset:
    """The rows to keep as a Dataset that has the columns of all, even when none is kept."""
    indices: list[Any] = np.flatnonzero(kept).tolist()
    return select_rows(rows, indices) if indices else select_rows(rows, [0]).select([])
