"""A queue of rollouts and the workers that play it."""

from __future__ import annotations

from whileai_hf.actors import background_loop
from whileai_hf.engine.allocation import make_allocation
from whileai_hf.engine.grading import Grader
from whileai_hf.engine.groups import Group
from whileai_hf.engine.player import PlayedRow, Player
from whileai_hf.engine.queue import SUCCESSIVE_LOOK_AHEAD, GroupQueue, Work
from whileai_hf.engine.resuming import Recalled
from whileai_hf.engine.source import TaskSource
from whileai_hf.engine.workers import run_tasks, run_threads
from whileai_hf.score.scorer import Score


def start_playing(
    player: Player,
    source: TaskSource,
    *,
    budget: int,
    losses_allowed: int,
    score: Score | None = None,
    recalled: Recalled | None = None,
) -> tuple[GroupQueue, Grader | None]:
    """
    Starts the workers that play the tasks of a source; returns at once.

    Args:
        player ([`Player`]):
            Plays a rollout; its config says how many at the same time, and how many each prompt gets.
        source ([`TaskSource`]):
            The tasks.
        budget (`int`):
            Good rows after which no task is opened.
        losses_allowed (`int`):
            Lost rollouts after which the agent is called off.
        score ([`Score`], *optional*):
            A judge that sees rows as they come.
        recalled ([`Recalled`], *optional*):
            Rows that need not be played again.

    Returns:
        `tuple[GroupQueue, Grader | None]`: Read the queue with `batches()`; close the grader when done.
    """
    config = player.config
    topology = config.topology()
    look_ahead = source.look_ahead
    if topology.policy == "successive":
        look_ahead = min(look_ahead or SUCCESSIVE_LOOK_AHEAD, SUCCESSIVE_LOOK_AHEAD)
    queue = GroupQueue(source, make_allocation(topology, config.seed), budget, losses_allowed, look_ahead)
    grader = None if score is None else Grader(score, queue, config.concurrency, player.spec.rubric)
    deliver = queue.finish if grader is None else grader.deliver

    def remembered(work: Work) -> PlayedRow | None:
        return None if recalled is None else recalled.take(player, work)

    def play(work: Work) -> PlayedRow:
        return remembered(work) or player.play(work)

    async def play_async(work: Work) -> PlayedRow:
        return remembered(work) or await player.play_async(work)

    source.start(queue.refresh)
    # More workers than rows would only cost their start.
    workers = min(config.concurrency, budget)
    if player.agent.is_async:
        source.hurry()
        run_tasks(queue, play_async, deliver, workers, background_loop())
    else:
        run_threads(queue, play, deliver, workers)
    return queue, grader


def rows_of(group: Group, player: Player) -> list[PlayedRow]:
    """The rows of a group that has ended, losses included, in order and whole: what was decided about it is added."""
    late = (group.status, group.inclusion_p)
    rows = [group.rows[index] for index in sorted(group.rows)]
    for row in rows:
        row.cells, row.line = player.encoder.complete(row.cells, row.line, late)
    return rows
