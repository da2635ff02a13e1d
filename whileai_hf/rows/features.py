"""One `Features` per kind of row, so that every shard, split and version of a Dataset has the same schema.

Heterogeneous JSON (messages, tools, steps, fault plans, markers) is `Json`, which keeps absent keys absent; a struct
would fill them with `None`. Numbers that carry meaning and free-standing strings are typed columns, because a bare
string in a `Json` cell that happens to parse as JSON changes its type (`"4412"` would come back as a number).
"""

from __future__ import annotations

from functools import cache

from datasets import Features, Json, List, Value


SCHEMA_VERSION = "1"


def _string() -> Value:
    return Value("string")


@cache
def task_features() -> Features:
    """Columns of a task Dataset (what [`situations`] returns and [`engine.Rollout`] consumes)."""
    return Features(
        {
            "schema_version": _string(),
            "scenario_id": _string(),
            "prompt": _string(),
            "phrasing": Value("int64"),
            "scenario_dimensions": Json(),
            "world_state": _string(),
            "faults": Json(),
            "expected_calls": List(Json()),
            "privileged": Json(),
            "tier": _string(),
            "persona": _string(),
            "tone": _string(),
            "typing": _string(),
            "length": _string(),
            "arm": _string(),
            "writer_model": _string(),
            "twin_of": _string(),
            "script": List(Json()),
            "seed": Value("int64"),
        }
    )


@cache
def rollout_features() -> Features:
    """Columns of a rollout Dataset, before any judge has seen it."""
    return Features(
        {
            "schema_version": _string(),
            "run_id": _string(),
            "scenario_id": _string(),
            "prompt": _string(),
            "messages": List(Json()),
            "tools": List(Json()),
            "steps": List(Json()),
            "final_text": _string(),
            "finish_reason": _string(),
            "rollout_index": Value("int64"),
            "rollout_status": _string(),
            "error": _string(),
            "scenario_dimensions": Json(),
            "world_state": _string(),
            "faults": Json(),
            "faults_fired": List(Json()),
            "tier": _string(),
            "persona": _string(),
            "tone": _string(),
            "typing": _string(),
            "length": _string(),
            "phrasing": Value("int64"),
            "arm": _string(),
            "seed": Value("int64"),
            "model_version": _string(),
            "policy_version": _string(),
            "writer_model": _string(),
            "user_model": _string(),
            "sampling": Json(),
            "usage": Json(),
            "logprob": Value("float64"),
            "n_tokens": Value("int64"),
            "token_logprobs": List(Value("float64")),
            "behavior_signature": _string(),
            "sim_ok": Value("bool"),
            "sim_reasons": List(_string()),
            "ended_by": _string(),
            "state_digest": _string(),
            "state_changes": List(Json()),
            "script": List(Json()),
            "twin_of": _string(),
            "seeded": List(_string()),
            "metadata": Json(),
            "lineage": Json(),
            "group_status": _string(),
            "group_planned_k": Value("int64"),
            "group_probe": Value("int64"),
            "group_inclusion_p": Value("float64"),
        }
    )


@cache
def judgment_features() -> Features:
    """Columns a judge adds to a rollout."""
    return Features(
        {
            "reward": Value("float64"),
            "reason": _string(),
            "judge_name": _string(),
            "judge_status": _string(),
            "judge_meta": Json(),
            "failure_class": _string(),
            "markers": Json(),
        }
    )


# Columns other stages and other stacks use under a fixed type, wherever they turn up.
_OTHER = {
    "task_id": None,  # an int in some benchmarks, a string in others: inferred per Dataset
    "privileged": Json(),
    "calibration": Json(),
    "trace_flags": Json(),
    "gold_reward": Value("float64"),
    "gold_kind": Value("string"),
    "gold_labels": List(Json()),
}


@cache
def known_features() -> Features:
    """Every column of the schema with its type; the lookup used when rows of unknown origin become a Dataset."""
    typed = {name: feature for name, feature in _OTHER.items() if feature is not None}
    return Features({**task_features(), **rollout_features(), **judgment_features(), **typed})
