"""A run whose rollouts are played on a Ray cluster, and whose rows, order and report are those of a run at home."""

from __future__ import annotations

from datasets import Dataset, Features

from whileai_hf.engine.config import SimulationConfig
from whileai_hf.engine.distributed import play_tasks
from whileai_hf.engine.drawn import WINDOW
from whileai_hf.engine.queue import LOOK_AHEAD
from whileai_hf.engine.resuming import Recalled
from whileai_hf.engine.rollout import Rollout
from whileai_hf.engine.running import Run
from whileai_hf.engine.topology import Topology
from whileai_hf.errors import ConfigurationError
from whileai_hf.rows import to_dataset, view
from whileai_hf.rows.features import task_features


def play_on_ray(run: Run) -> Dataset:
    """
    Plays a run on Ray, see [`ray_map`].

    Args:
        run ([`Run`]):
            The run. Its tasks are known before the first is played, so none of them depends on what came of another.

    Raises:
        [`ConfigurationError`]: A run that cannot be split into groups that know nothing of each other.
    """
    check_spread(run.config, run.topology, run.pinned is not None, run.score is not None)
    foreign = run.pinned.foreign if run.pinned else Features({})
    tasks = to_dataset([dict(task) for task in run.task_list()], Features({**task_features(), **foreign}))
    rollout = Rollout(run.roles.agent, run.spec, k=run.topology.repeats, config=run.config)
    rollout.run_id, rollout.roles = run.run_id, run.roles
    return run.play(Recalled(view(play_tasks(tasks, rollout)).rows()))


def check_spread(config: SimulationConfig, topology: Topology, pinned: bool, graded: bool) -> None:
    """
    Whether a run can be played in parts.

    Raises:
        [`ConfigurationError`]: With what stands in the way.
    """
    reason = None
    if topology.policy == "successive":
        reason = "repeat_policy='successive' goes by figures of the whole run; use 'two_stage' or 'fixed'"
    elif topology.policy == "two_stage" and graded:
        reason = "grader= decides about repeats here and not on the workers; grade afterwards or use 'fixed' repeats"
    elif topology.policy == "two_stage" and not pinned and topology.situations is None:
        reason = "how many prompts a budget is enough for is not known beforehand; pass situations= or tasks="
    elif config.until == "saturation" or config.mode == "adaptive":
        reason = "what is drawn next depends on what came before; use until='compute' and another mode"
    elif config.time_budget or config.resume or config.runs > 1:
        reason = "time_budget, resume and runs belong to a local run; leave them out"
    elif not pinned and topology.tasks > LOOK_AHEAD + WINDOW:
        reason = (
            f"from task {LOOK_AHEAD + WINDOW} on, what is drawn depends on what came of earlier tasks; draw them "
            "first with wai.situations(n=...) and pass tasks="
        )
    if reason is not None:
        raise ConfigurationError(f"engine='ray': {reason}")
