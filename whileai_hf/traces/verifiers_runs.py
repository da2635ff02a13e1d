"""Runs of verifiers v1: the `traces.jsonl` that an evaluation or a trainer leaves behind.

A line is an episode with the trace of every agent in it. The whole task row stands in it, answer key and hidden state
included, and so does whatever the program put into `info`: only the prompt is taken from the first, nothing from the
second, and of errors only their kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from datasets import Dataset

from whileai_hf.errors import DataError, SourceNotFoundError
from whileai_hf.rows import open_rows, view
from whileai_hf.rows.view import Row, Source
from whileai_hf.traces.loaded import Loaded
from whileai_hf.traces.messages import Message, ask_of, messages_of, reply_of


FILE = "traces.jsonl"
# What an episode is known by.
EPISODE = ("task", "traces")
# Limits of the framework that end a rollout.
_CUT = {"max_turns", "max_input_tokens", "max_output_tokens", "max_total_tokens", "compaction_failed"}


def traces_files(folder: Path) -> list[Path]:
    """The `traces.jsonl` of a run's folder, or those of the runs below it."""
    return [folder / FILE] if (folder / FILE).is_file() else sorted(folder.rglob(FILE))


def _episodes(source: Source) -> list[Row]:
    if isinstance(source, str | PathLike) and Path(source).expanduser().is_dir():
        found = traces_files(Path(source).expanduser())
        if len(found) != 1:
            runs = ", ".join(str(file.parent) for file in found[:4]) or "none"
            raise SourceNotFoundError(
                f"{source} holds {len(found)} runs of verifiers ({runs}); pass the folder of one"
            )
        source = found[0]
    return list(view(source).rows())


def _part(value: Any, *names: str) -> Any:
    """What stands at the end of a path of keys, `None` where the path ends early."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def load_verifiers_run(source: Source) -> Loaded:
    """Rows of a run with the weights of its reward functions; see [`read_verifiers_run`]."""
    rows: list[Row] = []
    weights: dict[str, set[float]] = {}
    roles: set[str] = set()
    for number, episode in enumerate(_episodes(source), 1):
        traces = episode.get("traces")
        if not isinstance(traces, list) or not isinstance(episode.get("task"), Mapping):
            raise DataError(
                f"episode {number} has no list of traces and no task, so this is no run of verifiers v1; pass a "
                "traces.jsonl, or its folder"
            )
        # What judges and users of the episode said is scored nowhere; an episode without a trace failed before one.
        scored = [trace for trace in traces if isinstance(trace, Mapping) and trace.get("rewards")]
        for trace in scored or [trace for trace in traces if isinstance(trace, Mapping)][:1] or [{}]:
            rows.append(_row(episode, trace))
            roles.add(_role(trace))
            _weights(trace, weights)
    _number(rows, several=len(roles) > 1)
    same = {name: given.pop() for name, given in weights.items() if len(given) == 1}
    return Loaded(view(rows), "verifiers_run", same if len(same) == len(weights) else {})


def read_verifiers_run(source: Source) -> Dataset:
    """
    Rows of a verifiers v1 run.

    Args:
        source (path, `datasets.Dataset` or `list[dict]`):
            A `traces.jsonl`, the folder of a run, or its episodes.

    Returns:
        `datasets.Dataset`: A row per scored trace with `task_id` (the task's key), `prompt`, `messages` (the last
        branch), `tools`, `final_text`, `reward` (sum of scores times weights), `rewards` (scores by function),
        `markers` (the run's metrics) and where it came from. A trace that failed, or was not scored to the end, has
        no reward. Other fields of the task row, and `info`, are left behind.

    Raises:
        [`DataError`]: A line that is no episode.
        [`SourceNotFoundError`]: A folder without a run, or with several.

    Examples:
    ```python
    >>> task = {"key": "t-1", "data": {"idx": 0, "prompt": "2+2?", "answer": "4"}}
    >>> nodes = [{"message": {"role": "user", "content": "2+2?"}},
    ...          {"parent": 0, "message": {"role": "assistant", "content": "4"}, "sampled": True}]
    >>> trace = {"task": task, "nodes": nodes, "rewards": {"right": {"score": 1.0, "weight": 2.0}}, "ok": True}
    >>> rows = read_verifiers_run([{"task": task, "traces": [trace], "ok": True}])
    >>> rows[0]["final_text"], rows[0]["reward"], "answer" in str(rows[0])
    ('4', 2.0, False)

    ```
    """
    return open_rows(load_verifiers_run(source).rows.source)


def _role(trace: Mapping[str, Any]) -> str:
    return str(_part(trace, "agent", "name") or "agent")


def _row(episode: Row, trace: Mapping[str, Any]) -> Row:
    task = trace.get("task") if isinstance(trace.get("task"), Mapping) else episode["task"]
    nodes = [node for node in trace.get("nodes") or () if isinstance(node, Mapping)]
    messages, said = _last_branch(nodes)
    asked = messages_of(_part(task, "data", "prompt"), "user")
    failed = _failure(episode, trace)
    reward = None if failed else _reward(trace)
    row: Row = {
        "task_id": _task_id(task),
        "prompt": ask_of(asked) or ask_of(messages),
        "messages": messages,
        "tools": [_tool(tool) for tool in trace.get("tools") or () if isinstance(tool, Mapping)],
        "final_text": reply_of(said),
        "finish_reason": "error" if failed else "length" if _was_cut(trace) else "stop",
        "rollout_status": "error" if failed else "ok",
        "error": failed,
        "reward": reward,
        "rewards": {name: _part(given, "score") for name, given in (trace.get("rewards") or {}).items()},
        "markers": {name: value for name, value in (trace.get("metrics") or {}).items() if value is not None},
        "judge_status": "missing_reward" if reward is None else "ok",
        "model_version": _part(trace, "agent", "config", "model"),
        "run_id": _part(episode, "run", "id"),
        "metadata": {"episode": episode.get("id"), "env": _part(episode, "env", "id"), "agent": _role(trace)},
    }
    step = _part(episode, "run", "work", "step")
    if isinstance(step, int) and not isinstance(step, bool):
        row["training_step"] = step
    logprobs = [value for node in nodes if node.get("sampled") for value in node.get("logprobs") or ()]
    if logprobs and len({type(value) for value in logprobs} - {float, int}) == 0:
        row["token_logprobs"] = logprobs
    return row


def _task_id(task: Any) -> str:
    for value in (_part(task, "key"), _part(task, "hash"), _part(task, "data", "id"), _part(task, "data", "idx")):
        if value is not None:
            return str(value)
    return ""


def _last_branch(nodes: Sequence[Mapping[str, Any]]) -> tuple[list[Message], list[Message]]:
    """Messages from the root to the last leaf, and those of them that the model said."""
    parents = {node.get("parent") for node in nodes}
    at: Any = next((index for index in reversed(range(len(nodes))) if index not in parents), None)
    path: list[Mapping[str, Any]] = []
    # A parent stands before its children; anything else is no graph, and must not become an endless walk.
    while isinstance(at, int) and 0 <= at < len(nodes) and len(path) < len(nodes):
        path.append(nodes[at])
        at = nodes[at].get("parent")
    path.reverse()
    messages = [
        (node, _message(message)) for node in path for message in messages_of(node.get("message"), "assistant")
    ]
    said = [message for node, message in messages if node.get("sampled", message["role"] == "assistant")]
    return [message for _, message in messages], said


def _message(message: Message) -> Message:
    """A message with its calls in the shape of an OpenAI request; opaque state of a provider is left behind."""
    kept = {name: value for name, value in message.items() if name != "provider_state"}
    calls = kept.get("tool_calls")
    if isinstance(calls, list):
        wrapped = [_wrapped(call) if isinstance(call, Mapping) and "function" not in call else call for call in calls]
        kept["tool_calls"] = messages_of({"tool_calls": wrapped}, "assistant")[0]["tool_calls"]
    return kept


def _wrapped(call: Mapping[str, Any]) -> dict[str, Any]:
    named = {"id": call["id"]} if "id" in call else {}
    return {**named, "type": "function", "function": {"name": call.get("name"), "arguments": call.get("arguments")}}


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    if "function" in tool:
        return dict(tool)
    function = {name: tool[name] for name in ("name", "description", "parameters", "strict") if name in tool}
    return {"type": "function", "function": function}


def _failure(episode: Row, trace: Mapping[str, Any]) -> str | None:
    """The kind of error a rollout ended with; `None` for one that went through."""
    errors = [*(trace.get("errors") or ()), *(episode.get("errors") or ())]
    kind = next((str(_part(error, "type")) for error in reversed(errors) if _part(error, "type")), None)
    went_through = trace.get("ok", episode.get("ok", True))
    if went_through and trace:
        return None
    return kind or ("timeout" if trace.get("is_timeout") or episode.get("is_timeout") else "no trace")


def _reward(trace: Mapping[str, Any]) -> float | None:
    """Scores times weights; no verdict where a function gave none."""
    given = trace.get("rewards")
    if not isinstance(given, Mapping) or not given:
        return None
    total = 0.0
    for one in given.values():
        score, weight = (one, 1.0) if isinstance(one, int | float) else (_part(one, "score"), _part(one, "weight"))
        if not isinstance(score, int | float):
            return None
        total += float(score) * (float(weight) if isinstance(weight, int | float) else 1.0)
    return total


def _weights(trace: Mapping[str, Any], weights: dict[str, set[float]]) -> None:
    for name, one in (trace.get("rewards") or {}).items():
        weight = _part(one, "weight")
        if isinstance(weight, int | float):
            weights.setdefault(name, set()).add(float(weight))


def _was_cut(trace: Mapping[str, Any]) -> bool:
    calls = [call for call in trace.get("calls") or () if isinstance(call, Mapping) and not call.get("error")]
    return trace.get("stop_condition") in _CUT or bool(calls and calls[-1].get("finish_reason") == "length")


def _number(rows: list[Row], several: bool) -> None:
    """Gives rollouts of a task their place in it; what several agents do on one task are tasks of their own."""
    seen: dict[Any, int] = {}
    for row in rows:
        if several:
            row["task_id"] = f"{row['task_id']}/{row['metadata']['agent']}"
        key = (row.get("training_step"), row["task_id"])
        row["rollout_index"] = seen.get(key, 0)
        seen[key] = row["rollout_index"] + 1
