"""Did the change help, and what did it break? `python recipes/before-after/run.py`. No key, no model."""

from pathlib import Path

import whileai_hf as wai
from whileai_hf.measure import trust
from whileai_hf.rows.rng import unit


POLICY = "You are the order desk.\n- Look an order up before you speak about it.\n- Say so when something fails."


def get_order(order_id: str) -> dict:
    """Look up an order by its number, for example ORD-10432."""
    raise NotImplementedError("answered by the simulated world")


def cancel_order(order_id: str) -> dict:
    """Cancel an order by its number, for example ORD-10432."""
    raise NotImplementedError("answered by the simulated world")


TOOLS = [get_order, cancel_order]
HONEST = wai.seeded_agent(TOOLS, rate=0.0)


def desk(message: str, slip: float, opening: str = "") -> dict:
    """An agent that now and then says all went well without having looked; anew in every playing of a task."""
    now = wai.current_rollout()
    if unit(now.sampling_seed, now.scenario_id, now.rollout_index, "slip") < slip:
        return {"steps": [], "final_text": opening + "I have cancelled the order and sent you a confirmation."}
    played = HONEST(message)
    return {"steps": played["steps"], "final_text": opening + played["final_text"]}


def before(message: str) -> dict:
    """Slips in three rollouts of ten."""
    return desk(message, slip=0.3)


def after(message: str) -> dict:
    """Slips less, and has learned to say sorry."""
    return desk(message, slip=0.12, opening="I'm sorry for the trouble. ")


def figure(report: wai.measure.compare.DeltaReport) -> str:
    """Every metric with its interval, as a picture."""
    lines = [
        wai.plots.Effect(name, metric.delta, metric.ci95, metric.verdict)
        for name, metric in report.metrics.items()
        if metric.delta is not None
    ]
    return wai.plots.forest(lines, title="After minus before")


def main() -> None:
    first = wai.simulate(
        before, tools=TOOLS, system_prompt=POLICY, mode="rl", situations=60, repeats=4, repeat_policy="fixed", runs=3
    )
    second = wai.simulate(after, tools=TOOLS, system_prompt=POLICY, tasks=first, repeat_policy="fixed", runs=3)
    old, new = (wai.style_markers(wai.evaluate(rows, wai.conduct_grade, trust="off")) for rows in (first, second))
    print(wai.pass_at(old))
    print(wai.eval_variance(old))
    report = wai.delta_report(old, new, target="pass_at_1", must_not_regress=["no_apology"], by="tool")
    print(report)
    out = Path("before-after-out")
    out.mkdir(exist_ok=True)
    (out / "delta.svg").write_text(figure(report), encoding="utf-8")

    # Sixty rows for people to label; what the agent was made to do stands in for them here.
    sheet = trust.label_sheet(old, 60)
    labels = {line["key"]: int("sent you a confirmation" not in line["reply"]) for line in sheet}
    labelled, attached = trust.attach_labels(old, labels, annotator="stand-in", random=True)
    print(attached)
    print(wai.judge_trust(labelled, judge=wai.conduct_grade))
    print(wai.corrected_rate(labelled))


if __name__ == "__main__":
    main()
