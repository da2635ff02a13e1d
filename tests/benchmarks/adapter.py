"""This library behind the functions of a side-by-side benchmark: plain Python in and out.

A function that is missing here is reported as skipped. `prepare_rows` runs outside the clock.
"""

import warnings

from datasets import Dataset, disable_progress_bars


warnings.simplefilter("ignore")
disable_progress_bars()

MODULE = "whileai_hf"
DIST = "whileai-hf"


def _wai():
    import whileai_hf

    return whileai_hf


def prepare_rows(rows):
    """The rows as they are: every function takes a list of dicts. What the functions live in is imported by now."""
    names = ("run_judge", "style_report", "trace_markers", "grounding_report", "pass_at", "optimize", "to_trl")
    names += ("compare_runs", "hack_scan", "judge_trust", "decontaminate", "conduct_grade", "task_checklist")
    for name in names:
        getattr(_wai(), name)
    return rows


def seeded_agent(tools):
    """The sample agent with labelled misbehaviour."""
    return _wai().seeded_agent(tools)


def _headline(data: Dataset):
    report = _wai().run_report(data)
    return len(data), report.stopped_because, len(data.unique("prompt"))


def simulate(agent, *, tools, policy, mode="explore", budget, k=None, concurrency=None, seed=0, reproducible=False):
    """-> (rows, why it stopped, distinct prompts)."""
    knobs = {"repeats": k, "repeat_policy": "fixed"} if k else {}
    if concurrency:
        knobs["concurrency"] = concurrency
    data = _wai().simulate(
        agent,
        tools=tools,
        system_prompt=policy,
        mode=mode,
        budget=budget,
        seed=seed,
        reproducible=reproducible,
        **knobs,
    )
    return _headline(data)


def simulate_asks(agent, asks, *, tools, policy, k, how="tasks", concurrency=None):
    """`k` rollouts of each ask, given as pinned tasks or as the caller's own seeds -> as `simulate`."""
    knobs = {"concurrency": concurrency} if concurrency else {}
    if how == "tasks":
        tasks = [{"task_id": f"task-{index}", "prompt": ask} for index, ask in enumerate(asks)]
        data = _wai().simulate(agent, tools=tools, system_prompt=policy, tasks=tasks, repeats=k, mode="rl", **knobs)
    else:
        data = _wai().simulate(
            agent, tools=tools, system_prompt=policy, seeds=asks, repeats=k, mode="rl", budget=len(asks) * k, **knobs
        )
    return _headline(data)


def run_judge(rows, judge):
    """-> rows that came back."""
    return len(_wai().run_judge(rows, judge))


def style_report(rows):
    """-> markers in the report."""
    return len(_wai().style_report(rows).markers)


def trace_markers(rows):
    """-> rows that came back."""
    return len(_wai().trace_markers(rows))


def grounding(rows):
    """-> (share of rows with calls whose arguments are grounded, rows with calls)."""
    found = _wai().grounding_report(rows)
    return found.grounded_rate, found.with_calls.n


def conduct(rows):
    """-> summed reward of the conduct grade, called as it is."""
    from whileai_hf.score.conduct import conduct_grade

    return sum(conduct_grade(row)["reward"] for row in rows)


def checklist(rows):
    """-> summed reward of the task checklist."""
    from whileai_hf.score.conduct import task_checklist

    return sum(task_checklist(row)["reward"] or 0 for row in rows)


def pass_at(rows):
    """-> (pass@1, its interval, pass^k, pass@k)."""
    found = _wai().pass_at(rows)
    return found.pass_at_1, found.ci95, found.pass_pow_k, found.pass_at_k


def optimize_rl(rows):
    """-> rows kept."""
    kept, _ = _wai().optimize(rows, mode="rl")
    return len(kept)


def export_training(rows, path, *, tools, policy):
    """Writes the SFT training file, tools and prompt on every row -> its rows."""
    return _wai().export_training(rows, path, tools=tools, system_prompt=policy, format="trl").n_rows


def decontaminate(rows, evals):
    """-> (contaminated rows, of those verbatim, near copies); the clean rows come back as a Dataset."""
    from whileai_hf.measure.hygiene import decontaminate

    _, found = decontaminate(rows, against=[evals])
    return found.n_contaminated, found.n_verbatim, found.n_near


def near_duplicate_prompts(rows):
    """-> (distinct prompts, near-duplicate pairs)."""
    from whileai_hf.measure.hygiene import near_duplicate_prompts

    found = near_duplicate_prompts(rows)
    return found.n_prompts, found.n_pairs


def dedupe(rows):
    """-> rows dropped; the rows kept come back as a Dataset."""
    from whileai_hf.measure.hygiene import dedupe_groups

    return dedupe_groups(rows)[1].n_dropped


def compare_runs(a, b):
    """-> (difference, its interval, p-value, verdict)."""
    from whileai_hf.measure.compare import compare_runs as compare

    found = compare(a, b)
    return found.delta, found.ci95, found.p_value, found.verdict


def delta_report(a, b):
    """-> (verdict on the target, metrics compared)."""
    from whileai_hf.measure.compare import delta_report as report

    found = report(a, b, target="pass_at_1")
    return found.verdict, len(found.metrics)


def hack_scan(rows):
    """-> (regime, top feature, features, floor)."""
    found = _wai().hack_scan(rows, endorsed=["marker:grounded", "tool:get_order"])
    return found.regime, found.top_feature, found.n_features, found.tau


def judge_trust(rows):
    """-> (ok, agreement)."""
    found = _wai().judge_trust(rows)
    return found.ok, found.agreement


def publish_gate(rows):
    """-> (ok, warnings)."""
    from whileai_hf.select.publishing import publish_gate as gate

    report = gate(rows, mode="rl", strict=False)
    return report.ok, len(report.warnings)


def curriculum(rows):
    """-> (trainable, solved, not ready)."""
    from whileai_hf.select import curriculum as sort

    found = sort(rows)
    return found.n_trainable, found.n_solved, found.n_not_ready


def preference_pairs(rows):
    """-> pairs."""
    from whileai_hf.select import build_preference_pairs

    return build_preference_pairs(rows)[1].n_pairs
