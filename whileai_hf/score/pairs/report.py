"""What a set of judged pairs amounts to: wins, ties, how often the order decided, and agreement with people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from whileai_hf.rows import Report
from whileai_hf.score.pairs.sides import Pair
from whileai_hf.score.pairs.voting import Outcome, Side
from whileai_hf.stats import Interval, cohen_kappa, wilson


# Share of pairs whose winner changes with the order from which a report warns: a coin gives one in two.
_FLIP_WARNING = 0.2
# Pairs below which a rate is too rough to warn about.
_FEW = 10
_UNJUDGED_WARNING = 0.1


@dataclass(frozen=True)
class Agreement(Report):
    """A judge's winners beside people's labels, on the pairs that have both."""

    n: int
    accuracy: float | None
    """Share of pairs on which they say the same, ties included; `None` without a pair."""
    accuracy_ci95: Interval | None
    """Wilson 95% interval."""
    kappa: float | None
    """Cohen's kappa over a, b and tie; `None` where it is undefined."""
    orders_kappa: float | None
    """Cohen's kappa between the judge's two orders, labels aside."""
    unlabelled: int
    unjudged: int

    def __str__(self) -> str:
        if self.accuracy is None or self.accuracy_ci95 is None:
            return "no pair has both a label and a verdict"
        low, high = self.accuracy_ci95
        kappa = "undefined" if self.kappa is None else f"{self.kappa:.3f}"
        return f"agreement with labels {self.accuracy:.3f} [{low:.3f}, {high:.3f}] on {self.n} pairs, kappa {kappa}"


@dataclass(frozen=True)
class PairsReport(Report):
    """What a judge said about pairs."""

    n_pairs: int
    wins_a: int
    wins_b: int
    ties: int
    """Both orders said so, the orders differed, or the sides are identical."""
    unjudged: int
    win_rate: float | None
    """Wins of side a among the pairs somebody won; `None` when nobody won any."""
    win_rate_ci95: Interval | None
    """Wilson 95% interval."""
    position_flips: int
    """Pairs whose two orders differ; each is a tie."""
    position_flip_rate: float | None
    """Among the pairs judged in both orders; `None` without one."""
    position_flip_rate_ci95: Interval | None
    first_position_rate: float | None
    """Votes for whatever stood first among the votes for a side, both orders of the same pairs; 0.5 without bias."""
    identical: int
    by_status: dict[str, int]
    agreement: Agreement | None
    """`None` when no label column was given."""
    judge_name: str
    notes: list[str]
    warnings: list[str]

    def __str__(self) -> str:
        lines = [
            f"{self.n_pairs} pairs by {self.judge_name}: a {self.wins_a}, b {self.wins_b}, tie {self.ties}, "
            f"unjudged {self.unjudged}"
        ]
        if self.win_rate is not None and self.win_rate_ci95 is not None:
            low, high = self.win_rate_ci95
            lines.append(f"  win rate of a {self.win_rate:.3f} [{low:.3f}, {high:.3f}]")
        if self.position_flip_rate is not None:
            first = "none" if self.first_position_rate is None else f"{self.first_position_rate:.3f}"
            lines.append(f"  position flip rate {self.position_flip_rate:.3f}, first position preferred {first}")
        if self.agreement is not None:
            lines.append(f"  {self.agreement}")
        return "\n".join([*lines, *self.notes, *(f"warning: {warning}" for warning in self.warnings)])


def pairs_report(
    outcomes: Sequence[Outcome], sides: Sequence[Pair], labels: Sequence[Side | None] | None, judge: str
) -> PairsReport:
    """
    The report on judged pairs.

    Args:
        outcomes (`Sequence[Outcome]`):
            One per pair.
        sides (`Sequence[Pair]`):
            The pairs, for which ones were identical.
        labels (`Sequence`, *optional*):
            What people preferred.
        judge (`str`):
            The judge's name.
    """
    wins = Counter(outcome.winner for outcome in outcomes)
    both = [outcome for outcome in outcomes if None not in outcome.votes.values()]
    flips = sum(outcome.flipped for outcome in both)
    firsts = sum((outcome.votes["ab"] == "a") + (outcome.votes["ba"] == "b") for outcome in both)
    decided = sum(vote in ("a", "b") for outcome in both for vote in outcome.votes.values())
    won = wins["a"] + wins["b"]
    return PairsReport(
        n_pairs=len(outcomes),
        wins_a=wins["a"],
        wins_b=wins["b"],
        ties=wins["tie"],
        unjudged=wins[None],
        win_rate=wins["a"] / won if won else None,
        win_rate_ci95=wilson(wins["a"], won),
        position_flips=flips,
        position_flip_rate=flips / len(both) if both else None,
        position_flip_rate_ci95=wilson(flips, len(both)),
        first_position_rate=firsts / decided if decided else None,
        identical=sum(pair.identical for pair in sides),
        by_status=dict(sorted(Counter(outcome.status for outcome in outcomes).items())),
        agreement=None if labels is None else _agreement(outcomes, labels, both),
        judge_name=judge,
        notes=[],
        warnings=_warnings(outcomes, flips, len(both)),
    )


def _agreement(outcomes: Sequence[Outcome], labels: Sequence[Side | None], both: Sequence[Outcome]) -> Agreement:
    compared = [
        (outcome.winner, label)
        for outcome, label in zip(outcomes, labels, strict=True)
        if outcome.winner is not None and label is not None
    ]
    same = sum(winner == label for winner, label in compared)
    return Agreement(
        n=len(compared),
        accuracy=same / len(compared) if compared else None,
        accuracy_ci95=wilson(same, len(compared)),
        kappa=cohen_kappa([winner for winner, _ in compared], [label for _, label in compared]),
        orders_kappa=cohen_kappa([item.votes["ab"] for item in both], [item.votes["ba"] for item in both]),
        unlabelled=sum(label is None for label in labels),
        unjudged=sum(outcome.winner is None for outcome in outcomes),
    )


def _warnings(outcomes: Sequence[Outcome], flips: int, both: int) -> list[str]:
    warnings = []
    unjudged = [outcome for outcome in outcomes if outcome.winner is None]
    first = unjudged[0].reason if unjudged else None
    if unjudged and len(unjudged) >= _UNJUDGED_WARNING * len(outcomes):
        warnings.append(f"{len(unjudged)} of {len(outcomes)} pairs are unjudged and count nowhere; first: {first}")
    if both >= _FEW and flips >= _FLIP_WARNING * both:
        warnings.append(
            f"the judge changed its mind on {flips} of {both} pairs when the sides changed places; these are ties, "
            "and its other verdicts deserve doubt, too"
        )
    return warnings
