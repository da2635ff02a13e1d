"""`profile`: pass rate, support, mixed tasks, tool use and every task of rows, ours or anybody's."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from datasets import DatasetDict

from whileai_hf.errors import ConfigurationError
from whileai_hf.hub.profiling.profiles import Profile
from whileai_hf.hub.profiling.roles import adapt
from whileai_hf.hub.profiling.sources import open_split
from whileai_hf.hub.profiling.tasks import TaskTable, said_in
from whileai_hf.hub.profiling.tools import tool_use
from whileai_hf.measure import group_signal, pass_at
from whileai_hf.measure.audit.difficulty import pass_threshold
from whileai_hf.measure.audit.sample import Sample
from whileai_hf.measure.knobs import check_threshold
from whileai_hf.rows import RowView
from whileai_hf.rows.privileged import PRIVILEGED_KEYS
from whileai_hf.rows.view import Source
from whileai_hf.traces.loaded import Loaded
from whileai_hf.traces.messages import messages_of, reply_of, text_of
from whileai_hf.traces.rewards import ADVANTAGES, numbers_of
from whileai_hf.traces.sniffing import load_any


# Columns of rows that a judge of ours has seen: its rewards pass from 1 on, as in every other report.
_JUDGED = ("judge_status", "run_id")
# Columns that say that rows were rewarded; any other number is a verdict only when somebody says so.
_VERDICTS = ("reward", "rewards", *ADVANTAGES)
_NAMES_TASK = ("scenario_id", "task_id", "prompt", "messages")
# Numbers that are no verdict, whatever else is missing.
_NO_VERDICT = {"step", "training_step", "rollout_index", "phrasing", "seed", "n_tokens", "idx", "index", *ADVANTAGES}


def profile(
    source: Source | DatasetDict,
    *,
    split: str | None = None,
    config: str | None = None,
    revision: str | None = None,
    reward: str | None = None,
    threshold: float | None = None,
    token: str | bool | None = None,
) -> Profile:
    """
    What rows hold: how often they pass, on how many tasks, where verdicts differ, and which tools they use.

    Reads our own rows, completions tables, runs of verifiers, and other people's data sets: `instruction` (with
    `input`), `question`, `conversations` and the like are read as what they are, and what such rows cannot say is
    listed. Nothing is written.

    Args:
        source (Hub repo id, path, `datasets.Dataset`, `DatasetDict` or `list[dict]`):
            The rows. An existing path wins over a repo id.
        split (`str`, *optional*):
            Split of the repo; the only one, else `train`, when left out.
        config (`str`, *optional*):
            Config of the repo; the default one when left out.
        revision (`str`, *optional*):
            Tag, branch or commit of the repo.
        reward (`str`, *optional*):
            Column with the verdict, where it has another name.
        threshold (`float`, *optional*):
            Reward from which a row passes: 1 for rows a judge of ours has seen, else what the rewards themselves say
            (the higher of two values, or full marks).
        token (`str` or `bool`, *optional*):
            Token for a private repo; the one of `hf auth login` when left out.

    Returns:
        [`Profile`]: `print` it.

    Raises:
        [`SourceNotFoundError`]: Neither a path nor a reachable repo, or no such split.
        [`ConfigurationError`]: `reward` is no column of numbers, or `split` was given for rows that have none.

    Examples:
    ```python
    >>> from whileai_hf.hub.profiling import profile
    >>> rows = [{"instruction": "Add.", "input": f"{i}, 3", "output": str(i + 3)} for i in range(4)]
    >>> found = profile(rows)
    >>> found.roles, found.support["n_tasks"], found.pass_rate
    ({'prompt': 'instruction + input', 'reply': 'output'}, 4, None)
    >>> found.cannot[0]
    'pass rate: no row has a reward; grade the rows, or name the column that holds the verdict with reward='

    ```
    """
    if threshold is not None:
        check_threshold(threshold)
    opened = open_split(source, split=split, config=config, revision=revision, token=token)
    if reward is not None and not opened.rows.has(reward):
        raise ConfigurationError(f"reward={reward!r} is no column; the rows have {', '.join(opened.rows.columns)}")
    adapted = adapt(opened.rows)
    loaded = load_any(adapted.rows, reward_weights=None if reward is None else {reward: 1.0})
    if reward is None and loaded.format == "rows" and not any(opened.rows.has(name) for name in _VERDICTS):
        loaded = _unguessed(loaded)
    told = _told(Sample(loaded), threshold)
    lengths = _lengths(loaded.rows, adapted.roles)
    return Profile(
        source=opened.name,
        commit=opened.commit,
        n_rows=len(opened.rows),
        columns=list(opened.rows.columns),
        roles=adapted.roles,
        tool_use=(used := tool_use(loaded.rows)),
        lengths=lengths,
        privileged=sorted(PRIVILEGED_KEYS & set(opened.rows.columns)),
        cannot=[*told.cannot, *_silent(loaded.rows, used is None, lengths)],
        notes=[*opened.notes, *loaded.notes, *told.notes],
        **told.fields,
    )


def _unguessed(loaded: Loaded) -> Loaded:
    """Rows without a reward that was made of columns by their names: `score_rejected` is no verdict on an agent."""
    if not loaded.rows.has("reward"):
        return loaded
    kept = [{name: cell for name, cell in row.items() if name not in _VERDICTS} for row in loaded.rows.rows()]
    return Loaded(RowView(kept), loaded.format)


@dataclasses.dataclass(frozen=True)
class _Told:
    """Fields of the report that need tasks and verdicts, and what could not be told."""

    fields: dict[str, Any]
    cannot: list[str]
    notes: list[str]


_FIELDS = ("support", "threshold", "passes", "signal", "mixed")


def _told(sample: Sample, given: float | None) -> _Told:
    fields: dict[str, Any] = {**dict.fromkeys(_FIELDS), "per_task": []}
    if not any(sample.rows.has(name) for name in _NAMES_TASK):
        return _Told(fields, ["tasks and pass rate: nothing names the task (no prompt, messages or task_id)"], [])
    sizes = np.bincount(sample.tasks, minlength=sample.n_tasks)
    support: dict[str, Any] = {
        "n_tasks": sample.n_tasks,
        "n_scored": int(sample.scored.sum()),
        "repeats": {"min": int(sizes.min()), "median": float(np.median(sizes)), "max": int(sizes.max())},
        "solved": None,
        "never_solved": None,
        "thin": None,
    }
    fields["support"] = support
    if not sample.scored.any():
        return _Told(fields, [_ungraded(sample.rows)], [])
    judged = any(sample.rows.has(name) for name in _JUDGED)
    found = 1.0 if judged else pass_threshold(sample.rewards[sample.scored])
    limit = found if given is None else float(given)
    tasks = TaskTable(sample, limit)
    support |= tasks.support()
    fields |= {
        "threshold": limit,
        "signal": group_signal(sample.by_group, threshold=1.0 if limit is None else limit),
        "mixed": tasks.mixed(),
        "per_task": tasks.profiles(),
    }
    if limit is None:
        why = "pass rate: the rewards are a scale and none of them is what a pass is; pass threshold="
        return _Told(fields, [why], [])
    fields["passes"] = pass_at(sample.rows, threshold=limit)
    said = [f"a row passes from a reward of {limit:g} on, as the rewards themselves say"] if given is None else []
    return _Told(fields, [], [*([] if judged else said), *fields["passes"].notes])


def _ungraded(rows: RowView) -> str:
    could = [name for name in rows.columns if name not in _NO_VERDICT and numbers_of(rows.column(name)) is not None]
    which = f" (numbers stand in {', '.join(could)})" if could else ""
    do = "grade the rows, or name the column that holds the verdict with reward="
    return f"pass rate: no row has a reward; {do}{which}"


def _lengths(rows: RowView, roles: dict[str, str]) -> dict[str, dict[str, float]]:
    """How long asks and replies are, in characters; roles that are not there are left out."""
    found: dict[str, dict[str, float]] = {}
    said: dict[str, list[str | None]] = {}
    if rows.has("prompt"):
        said["prompt"] = [said_in(cell) for cell in rows.column("prompt")]
    if rows.has("final_text") or "reply" in roles:
        name = "final_text" if rows.has("final_text") else roles["reply"]
        said["reply"] = [_reply(cell) for cell in rows.column(name)]
    elif rows.has("messages"):
        said["reply"] = [_reply(cell) for cell in rows.column("messages")]
    for role, texts in said.items():
        sizes = np.array([len(text) for text in texts if text])
        if sizes.size:
            low, middle, high = np.percentile(sizes, [5, 50, 95]).tolist()
            found[role] = {"p5": low, "median": middle, "p95": high}
    return found


def _reply(cell: Any) -> str | None:
    if cell is None or isinstance(cell, str):
        return cell
    return reply_of(messages_of(cell, "assistant")) or text_of(cell) or None


def _silent(rows: RowView, no_tools: bool, lengths: dict[str, Any]) -> list[str]:
    """What rows without certain columns do not tell."""
    out = []
    if no_tools:
        out.append("tool use: the rows have neither steps nor messages")
    if "reply" not in lengths:
        out.append("replies: no column holds what an agent said")
    return out
