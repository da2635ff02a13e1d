"""The sections of a model card."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from whileai_hf.hub.cards.markdown import bullets, code, fence, prose, table
from whileai_hf.hub.models.evaluation import Holdout, Side
from whileai_hf.measure.compare.comparison import band, p_text, plain, points
from whileai_hf.plots import Effect, forest


# Metrics, remarks and settings listed.
_MOST_METRICS, _MOST_REMARKS, _MOST_SETTINGS = 30, 12, 30
# Parts of names of settings that hold places, addresses and secrets.
_OF_THE_MACHINE = ("dir", "path", "file", "token", "key", "secret", "password", "host", "url", "hub", "run_name")
_VERDICTS = {
    "moved": "It rose, by the interval and by more than re-running the evaluation does.",
    "moved_unreplicated": "It rose by the interval, but nothing says how far the evaluation moves by itself.",
    "within_eval_noise": "The change is no larger than what re-running the evaluation does: not a win.",
    "no_change_detected": "The interval covers zero.",
    "moved_the_wrong_way": "It fell.",
    "insufficient_data": "Too few shared tasks to tell.",
}


def holdout_section(holdout: Holdout | None) -> str:
    """The held-out numbers before and after; says so where nobody measured."""
    if holdout is None:
        return (
            "**NOT MEASURED.** No held-out evaluation came with this adapter: nothing here says whether it is better "
            "than its base model."
        )
    rows = [["After", *_cells(holdout.after)]]
    if holdout.before is not None:
        rows.insert(0, ["Before", *_cells(holdout.before)])
    parts = [f"**{prose(holdout.word)}.**"] if holdout.word else []
    parts.append(table([code(holdout.metric), "Value", "95% interval", "Tasks", "Rollouts of each"], rows))
    if holdout.delta is not None:
        verdict = _VERDICTS.get(holdout.verdict or "")
        said = f" {code(holdout.verdict)}: {verdict}" if verdict else ""
        parts.append(f"Change {points(holdout.delta)}, 95% interval {band(holdout.ci95)}.{said}")
    elif holdout.before is None:
        parts.append("The base model was not measured, so this is a level and no change.")
    return "\n\n".join([*parts, *filter(None, [bullets(prose(note, 600) for note in holdout.notes[:_MOST_REMARKS])])])


def _cells(side: Side) -> list[str]:
    interval = "n/a" if side.ci95 is None else f"[{side.ci95[0]:.3f}, {side.ci95[1]:.3f}]"
    sizes = ["n/a" if size is None else str(size) for size in (side.n_tasks, side.k)]
    return [plain(side.value), interval, *sizes]


def delta_section(delta: Mapping[str, Any] | None, figure: str | None) -> str:
    """Every metric of the delta report; empty without one."""
    if delta is None:
        return ""
    rows = [_metric(name, change) for name, change in list(delta["metrics"].items())[:_MOST_METRICS]]
    target = code(delta.get("target"))
    parts = [
        f"Target {target}: {code(delta['verdict'])}, headline {code(delta.get('headline'))}, over "
        f"{code(delta.get('n_paired'))} tasks that both sides have.",
        table(["Metric", "Role", "Before", "After", "Change", "95% interval", "p", "Verdict"], rows),
    ]
    for name, what in (("regressed", "Guarded and fell"), ("dropped", "Fell, too")):
        if delta[name]:
            parts.append(f"**{what}:** {', '.join(map(code, delta[name]))}")
    remarks = [*delta["warnings"], *delta["notes"]]
    if remarks:
        parts.append(bullets(prose(text, 600) for text in remarks[:_MOST_REMARKS]))
    if figure is not None:
        parts.append(f"![Change of every metric with its interval]({figure})")
    return "\n\n".join(parts)


def _metric(name: str, change: Mapping[str, Any]) -> list[str]:
    return [
        code(name),
        prose(change.get("role")) or "-",
        plain(change.get("before")),
        plain(change.get("after")),
        points(change.get("delta")),
        band(change.get("ci95")),
        p_text(change.get("p_adjusted")),
        code(change.get("verdict")),
    ]


def delta_figure(delta: Mapping[str, Any] | None) -> str | None:
    """The changes of all metrics that have one, as an SVG image; `None` without any."""
    if delta is None:
        return None
    effects = [
        Effect(
            name, change["delta"], tuple(change["ci95"]) if change.get("ci95") else None, str(change.get("verdict"))
        )
        for name, change in list(delta["metrics"].items())[:_MOST_METRICS]
        if change["delta"] is not None
    ]
    return forest(effects) if effects else None


def use_section(repo: str, base_model: str) -> str:
    """Code that loads the adapter."""
    lines = [
        "from peft import AutoPeftModelForCausalLM",
        "from transformers import AutoTokenizer",
        "",
        f'model = AutoPeftModelForCausalLM.from_pretrained("{repo}")',
        f'tokenizer = AutoTokenizer.from_pretrained("{base_model}")',
    ]
    serve = f"vllm serve {base_model} --enable-lora --lora-modules adapter={repo}"
    return "\n\n".join([fence("\n".join(lines), "python"), "Or served:", fence(serve, "sh")])


def training_section(run: Mapping[str, Any]) -> str:
    """What a run says about itself; says so where there is none."""
    return bullets(_of_run(run)) if run else "No run came with this adapter: how it was trained is not recorded."


def _of_run(run: Mapping[str, Any]) -> Iterator[str]:
    yield f"run {code(run.get('name'))} ({code(run.get('id'))}), which ended {code(run.get('status'))}"
    if run.get("reason"):
        yield f"because: {prose(run['reason'])}"
    if run.get("trainer"):
        yield f"trainer {code(run['trainer'])}"
    if isinstance(run.get("total_steps"), int):
        yield f"{run['total_steps']:,} steps planned"
    settings = run.get("config")
    told = [pair for pair in settings.items() if _is_setting(*pair)] if isinstance(settings, Mapping) else []
    if told:
        yield "settings: " + ", ".join(f"{code(name, 60)} {code(value, 60)}" for name, value in told[:_MOST_SETTINGS])
    alarms = [alarm for alarm in run.get("alarms") or [] if isinstance(alarm, Mapping)]
    for alarm in alarms[:_MOST_REMARKS]:
        yield f"**alarm** {code(alarm.get('kind'))} at step {code(alarm.get('step'))}: {prose(alarm.get('message'))}"
    if not alarms:
        yield "no alarm was recorded"


def _is_setting(name: Any, value: Any) -> bool:
    """Whether a setting says how the model was trained, and nothing of the machine it was trained on."""
    if not isinstance(name, str) or any(part in name.lower() for part in _OF_THE_MACHINE):
        return False
    return isinstance(value, bool | int | float) or (isinstance(value, str) and bool(value) and value.isidentifier())


def limits_section(holdout: Holdout | None) -> str:
    """What a reader must not take the numbers for."""
    lines = ["An adapter works with the base model named above and no other."]
    if holdout is not None:
        lines.append(
            "The numbers are those of the held-out tasks and their judge; simulated situations stand for the real use "
            "of an agent as far as their data card says."
        )
        if holdout.after.ci95 is None:
            lines.append("Without an interval a number says little about the next run of the same evaluation.")
    return bullets(lines)
