"""`from_traces`: a run of verifiers as rows.

Rollouts of exported environments become the rows that `simulate` and `grade` make of the same ones; those of other
environments become what [`~whileai_hf.traces.read_verifiers_run`] makes of them. What only a judge may see stays in
the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from datasets import Dataset, Features, Value

from whileai_hf.export.verifiers.judging import is_ours, ours_in, rollout_row
from whileai_hf.rows import scrub, to_dataset, view
from whileai_hf.rows.features import judgment_features, rollout_features
from whileai_hf.rows.view import Row, Source
from whileai_hf.traces import read_verifiers_run
from whileai_hf.traces.verifiers_runs import traces_files


def from_traces(source: Source) -> Dataset:
    """
    The rollouts of a verifiers v1 run, of an exported environment or any other.

    Args:
        source (path, `datasets.Dataset` or `list[dict]`):
            A `traces.jsonl`, the folder of a run, or its episodes.

    Returns:
        `datasets.Dataset`: A row per rollout. Of exported environments: every column of a graded rollout, the world it
        left behind among them. Rollouts that failed have `rollout_status` `"error"` and no reward. Nothing of the
        answer key is in the rows.

    Raises:
        [`DataError`]: A line that is no episode.
        [`SourceNotFoundError`]: A folder without a run, or with several.

    Examples:
    ```python
    >>> data = {"environment": "desk", "prompt": "Hi", "tools": [], "info": {"seed": 0}, "reward": "m:f"}
    >>> nodes = [{"message": {"role": "user", "content": "Hi"}},
    ...          {"parent": 0, "message": {"role": "assistant", "content": "Hello."}, "sampled": True}]
    >>> trace = {"nodes": nodes, "rewards": {"reward": {"score": 1.0, "weight": 1.0}}, "ok": True}
    >>> rows = from_traces([{"task": {"key": "t-1", "data": data}, "traces": [trace], "ok": True}])
    >>> rows["final_text"][0], rows["reward"][0]
    ('Hello.', 1.0)

    ```
    """
    foreign = read_verifiers_run(source)  # it checks what it is given, for both kinds
    episodes = _episodes(source)
    if not any(is_ours(_data(episode)) for episode in episodes):
        return foreign
    return rows_of(episodes)


def _episodes(source: Source) -> list[Row]:
    if isinstance(source, str | Path) and Path(source).expanduser().is_dir():
        source = traces_files(Path(source).expanduser())[0]
    return list(view(source).rows())


def _data(episode: Mapping[str, Any]) -> Any:
    task = episode.get("task")
    return task.get("data") if isinstance(task, Mapping) else None


def rows_of(episodes: Sequence[Row]) -> Dataset:
    """
    The rollouts of episodes as rows, in their order.

    Args:
        episodes (`Sequence[dict]`):
            As verifiers records them. Episodes of other environments among them are read as such.
    """
    rows: list[Row] = []
    for episode in episodes:
        if not is_ours(_data(episode)):
            rows += [dict(row) for row in view(read_verifiers_run([episode])).rows()]
            continue
        traces = episode.get("traces") or [{}]
        rows += [_row(episode, trace) for trace in traces]
    seen: Counter[Any] = Counter()
    for row in rows:
        row["rollout_index"] = seen[row["task_id"]]
        seen[row["task_id"]] += 1
    features = Features({**rollout_features(), "task_id": Value("string"), **judgment_features()})
    return to_dataset(rows, features)


def _row(episode: Row, trace: Mapping[str, Any]) -> Row:
    """One rollout; the verdict is the one the run came to."""
    data = _data(episode)
    row = scrub(rollout_row(data, trace))
    config = (trace.get("agent") or {}).get("config") or {}
    told = read_verifiers_run([{**episode, "traces": [trace]}])
    about = next(iter(view(told).rows(["reward", "run_id", "error", "rollout_status", "metadata", "model_version"])))
    row |= {
        "task_id": str(episode["task"].get("key") or data.get("id") or ""),
        "run_id": about["run_id"],
        "model_version": about["model_version"],
        "sampling": config.get("sampling"),
        "metadata": {**(row.get("metadata") or {}), **about["metadata"]},
    }
    if about["rollout_status"] != "ok":
        row |= {"rollout_status": "error", "error": about["error"], "finish_reason": "error"}
    judgment = dict(ours_in(trace).get("judgment") or {})
    reward = about["reward"]
    status = judgment.pop("judge_status", None) or ("ok" if reward is not None else "missing_reward")
    name = judgment.pop("judge_name", None) or str(data["reward"]).rpartition(":")[2]
    return {**row, **judgment, "reward": reward, "judge_status": status, "judge_name": name}
