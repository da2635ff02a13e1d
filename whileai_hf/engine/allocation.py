"""How many rollouts a prompt gets: all of them, or more only where they disagree.

A grouped update learns from prompts whose rollouts get different rewards and from no others, so a prompt that always
passes or always fails is stopped early. Every decision here is about one group; the next is made when all rollouts
asked for have come. What a decision may look at beyond its own group is fixed by the group's place in the run, never
by what happened to finish first: the same rollouts are played at any concurrency.
"""

from __future__ import annotations

from typing import Protocol

from whileai_hf.engine.groups import Group
from whileai_hf.engine.topology import Topology
from whileai_hf.rows import task_key
from whileai_hf.rows.rng import unit


# Groups whose decisions rest on the same figures.
WINDOW = 32


class Allocation(Protocol):
    """A policy of repeats."""

    resumes: bool
    """Whether stopped groups go on when no new prompt is left."""

    def more(self, group: Group) -> int:
        """Rollouts the group gets now that all it asked for have come; 0 ends it. Sets `stopped`, `inclusion_p`."""

    def observe(self, group: Group) -> None:
        """Takes note of a group that has ended; groups come in the order of the run."""

    def view(self, known: int) -> tuple[list[float], float] | None:
        """What a group may go by that is opened when the first `known` groups of the run have ended."""


class Fixed:
    """Every prompt gets its `k`."""

    resumes = False

    def more(self, group: Group) -> int:
        """Nothing beyond the `k` it began with."""
        group.inclusion_p = 1.0
        return 0

    def observe(self, group: Group) -> None:
        """Nothing is learnt."""

    def view(self, known: int) -> None:
        """Nothing to go by."""


class TwoStage:
    """
    Probe, then fill to `k` where the probe disagrees; a random share of the unanimous prompts is filled as well.

    That share makes the result usable: every group's chance of reaching `k` is known, `1` where the probe was mixed
    and `explore_rate` where it was unanimous, so estimates over complete groups can weigh by it (Horvitz and
    Thompson, 1952).

    Args:
        explore_rate (`float`):
            Share of the unanimous prompts.
        seed (`int`):
            Seed of the run.
    """

    resumes = False

    def __init__(self, explore_rate: float, seed: int) -> None:
        self._rate = explore_rate
        self._seed = seed

    def more(self, group: Group) -> int:
        """The rest of `k`, or nothing."""
        if group.due >= group.k:
            return 0
        mixed = group.mixed()
        group.inclusion_p = 1.0 if mixed else self._rate
        name = f"carry {task_key(group.task)} {group.task['prompt']} {group.eval_run or 0}"
        if mixed or unit(self._seed, name) < self._rate:
            return group.k - group.due
        group.stopped = True
        return 0

    def observe(self, group: Group) -> None:
        """Nothing is learnt: a group's fate is its own."""

    def view(self, known: int) -> None:
        """Nothing to go by."""


class Successive:
    """
    Probe, fill to `k` on disagreement, else one rollout more as long as that is likelier to show a split than what a
    new prompt offers for each rollout of its probe.

    Both chances are measured on the run: the hazard is how often a group that was unanimous after `n` rollouts split
    on its next one, with prior `1 / (n + 2)`; a new prompt's is the share of mixed groups over the size of the probe.
    They are counted over whole windows of groups that have ended, so a decision depends on the group's place alone.

    Args:
        topology ([`Topology`]):
            `repeats` and `probe` are read.
    """

    resumes = True

    def __init__(self, topology: Topology) -> None:
        self._k = topology.repeats
        self._probe = topology.probe
        self._seen = [0] * (self._k + 1)
        self._split = [0] * (self._k + 1)
        self._probed = self._mixed = self._ended = 0
        self._views = [self._figures()]

    def _figures(self) -> tuple[list[float], float]:
        hazard = [(self._split[n] + 1 / (n + 2)) / (self._seen[n] + 1) for n in range(self._k + 1)]
        return hazard, (self._mixed + 1) / (self._probed + 2) / self._probe

    def more(self, group: Group) -> int:
        """The rest of `k`, one, or nothing."""
        assert group.pays is not None  # set when the group was opened
        hazard, fresh = group.pays
        group.stopped = False
        if group.due >= group.k:
            return 0
        if group.mixed():
            return group.k - group.due
        if hazard[group.due] > fresh:
            return 1
        group.stopped = True
        return 0

    def observe(self, group: Group) -> None:
        """Counts where the group was still unanimous and where it split."""
        labels = group.labels()
        self._probed += 1
        self._mixed += len(set(labels[: self._probe])) > 1
        for n in range(self._probe, min(len(labels), self._k)):
            if len(set(labels[:n])) > 1:
                break
            self._seen[n] += 1
            self._split[n] += labels[n] != labels[0]
        self._ended += 1
        if self._ended % WINDOW == 0:
            self._views.append(self._figures())

    def view(self, known: int) -> tuple[list[float], float]:
        """Hazards and the worth of a new prompt, over the last whole window among the first `known` groups."""
        return self._views[max(0, known) // WINDOW]


def make_allocation(topology: Topology, seed: int) -> Allocation:
    """The allocation a topology names."""
    if topology.policy == "two_stage":
        return TwoStage(topology.explore_rate, seed)
    return Successive(topology) if topology.policy == "successive" else Fixed()
