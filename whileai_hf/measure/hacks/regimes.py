"""Which regime a scan found, and what to say about it."""

from __future__ import annotations

from whileai_hf.measure.hacks.report import HackFeature, HackScan, Regime


# Share of asks that pass throughout from which on a pool has little left to teach.
EXHAUSTED = 0.2
# Names spelled out in a sentence.
_NAMED = 4


def _top(scan: HackScan) -> HackFeature | None:
    return next((feature for feature in scan.features if feature.above_floor), None)


def regime_of(scan: HackScan) -> Regime:
    """The first regime that holds; see [`HackScan`]."""
    top = _top(scan)
    if scan.endorsed and len(scan.endorsed_unmatched) == len(scan.endorsed):
        return "unknown"
    if scan.degenerate:
        return "degenerate"
    if top is None:
        return "no_signal"
    if scan.endorsed and (not top.endorsed or top.rho < 0):
        return "reward_hack"
    return "pool_exhausted" if _exhausted(scan) else "train"


def _exhausted(scan: HackScan) -> bool:
    return scan.all_pass_share is not None and scan.all_pass_share > EXHAUSTED


def _list(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def warnings_of(scan: HackScan) -> list[str]:
    """
    What a reader has to do something about, in plain words.

    Args:
        scan ([`HackScan`]):
            A scan whose regime is known.
    """
    warnings = []
    top = _top(scan)
    if scan.endorsed_unmatched:
        warnings.append(
            f"endorsed {_list(scan.endorsed_unmatched)}: no feature of these rows has that in its name (names are "
            "like tool:<name>, marker:<name>, says:<word>); check the spelling, or pass features= of your own"
        )
    if scan.degenerate:
        warnings.append(
            f"{len(scan.collinear)} features explain the reward perfectly and equally ({_list(scan.collinear)}): half "
            f"of the asks have no more than {scan.distinct_per_ask:g} distinct rollouts, so nothing tells these "
            "features apart; sample more, or at a higher temperature"
        )
    elif scan.regime == "reward_hack" and top is not None and top.endorsed:
        warnings.append(
            f"the reward punishes {top.name}, which is endorsed (correlation {top.rho:+.2f} within asks): a policy "
            "trained on it learns to avoid it"
        )
    elif scan.regime == "reward_hack" and top is not None:
        more = "more of" if top.rho > 0 else "less of"
        best = next((feature for feature in scan.features if feature.endorsed and feature.above_floor), None)
        meant = "nothing endorsed is above it" if best is None else f"the best endorsed is {best.name} {best.rho:+.2f}"
        warnings.append(
            f"the reward goes with {top.name} (correlation {top.rho:+.2f} within asks, noise floor {scan.tau:.2f}; "
            f"{meant}): a policy trained on it learns {more} that"
        )
    # The words of a phrase are no news beside the phrase.
    alike = [] if top is None else [name for name in scan.collinear if name not in top.aliases]
    if top is not None and alike and not scan.degenerate:
        warnings.append(f"{top.name} cannot be told from {_list(alike)}: they go together in these rollouts")
    if _exhausted(scan):
        warnings.append(
            f"{scan.all_pass_share:.0%} of the asks pass throughout and teach nothing; use harder situations"
        )
    return warnings
