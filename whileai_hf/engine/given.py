"""Tasks as callers give them, checked and brought to the types a row has.

Task rows come from benchmarks, spreadsheets and other libraries. What the schema knows must fit it, or the caller
hears which task does not; every other column is carried along with the type it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
from datasets import Features, Value

from whileai_hf.errors import DataError
from whileai_hf.rows import dumps
from whileai_hf.rows.columns import infer_feature, is_json
from whileai_hf.rows.features import known_features, task_features
from whileai_hf.rows.view import Row, RowView


def check_prompts(tasks: RowView) -> list[str]:
    """The prompts; a task without one is named."""
    prompts: list[str] = tasks.require("prompt", "name the ask 'prompt'")
    for index, prompt in enumerate(prompts):
        if not isinstance(prompt, str) or not prompt.strip():
            hint = "; a conversation goes into the column 'messages'" if isinstance(prompt, list) else ""
            raise DataError(f"task {index} has the prompt {prompt!r:.60}; expected the words of an ask{hint}")
    return prompts


def foreign_features(view: RowView) -> Features:
    """Columns of the tasks that the row schema does not know, with their types."""
    names = [name for name in view.columns if name not in known_features()]
    if isinstance(view.source, pa.Table):
        return Features.from_arrow_schema(pa.schema([view.source.schema.field(name) for name in names]))
    if isinstance(view.source, Sequence):
        return Features({name: infer_feature(view.column(name)) for name in names})
    return Features({name: view.source.features[name] for name in names})


def fit_tasks(tasks: Iterable[Row], foreign: Features) -> Iterator[Row]:
    """
    Tasks whose values fit their columns.

    Args:
        tasks (`Iterable[dict]`):
            The tasks as given.
        foreign (`datasets.Features`):
            Columns the schema does not know, with the type found for them.

    Raises:
        [`DataError`]: A number that is none, or a plan that is not a dict; the message names the task and the column.
    """
    known = task_features()
    texts = [name for name, feature in {**known, **foreign}.items() if feature == Value("string")]
    numbers = [name for name, feature in known.items() if feature == Value("int64")]
    plans = [name for name, feature in known.items() if is_json(feature)]
    kinds: dict[str, tuple[type, str]] = dict.fromkeys(texts, (str, ""))
    kinds |= dict.fromkeys(numbers, (int, "a whole number")) | dict.fromkeys(plans, (dict, "a dict"))
    for index, given in enumerate(tasks):
        task = dict(given)
        for name, value in given.items():
            kind, expected = kinds.get(name, (object, ""))
            if value is None or isinstance(value, kind):
                continue
            if kind is not str:
                raise DataError(f"task {index} has {name}={value!r:.60}; expected {expected} or nothing")
            task[name] = dumps(value).decode()  # another stack's world state, or a column of mixed types
        yield task
