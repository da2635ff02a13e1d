"""How large a share of the situations each arm of the search gets, by what it has found so far."""

from __future__ import annotations

from collections.abc import Mapping


STRUCTURED = "structured"
MODEL_GUIDED = "model_guided"
OPEN_ENDED = "open_ended"
BEHAVIOR_TARGETED = "behavior_targeted"
FAILURE_MUTATION = "failure_mutation"
ARMS = (STRUCTURED, MODEL_GUIDED, OPEN_ENDED, BEHAVIOR_TARGETED, FAILURE_MUTATION)
# The arms that walk the grid: between them they have whatever the others leave.
GRID = (STRUCTURED, MODEL_GUIDED)

# Who passes a model that writes wants its words; the template's stay as a tenth, to show what the model's add.
_START = {STRUCTURED: 0.10, MODEL_GUIDED: 0.74, OPEN_ENDED: 0.10, BEHAVIOR_TARGETED: 0.03, FAILURE_MUTATION: 0.03}
# Share an arm never falls under, and one it never grows over. What is rare stays rare however well it pays, or the
# run would chase the last odd reply of the agent instead of covering its situations.
_LEAST = {STRUCTURED: 0.05, MODEL_GUIDED: 0.15, OPEN_ENDED: 0.05, BEHAVIOR_TARGETED: 0.01, FAILURE_MUTATION: 0.01}
_MOST = {OPEN_ENDED: 0.10, BEHAVIOR_TARGETED: 0.08, FAILURE_MUTATION: 0.08}
# What one new thing a row adds to a weight.
_GAIN = 0.5


class Weights:
    """
    The shares of the arms, and which arm is next.

    Args:
        guided (`bool`, *optional*, defaults to `False`):
            Whether there is a model that writes; without one its arm has no share.

    Examples:
    ```python
    >>> weights = Weights()
    >>> [weights.next(("structured", "open_ended")) for _ in range(16)].count("open_ended")
    2

    ```
    """

    def __init__(self, *, guided: bool = False) -> None:
        self.shares = dict(_START)
        if not guided:
            self.shares[STRUCTURED] += self.shares.pop(MODEL_GUIDED)
        self._owed = dict.fromkeys(self.shares, 0.0)
        self._due: dict[tuple[str, ...], list[tuple[str, float]]] = {}

    def next(self, able: tuple[str, ...]) -> str:
        """
        The arm whose turn it is.

        Args:
            able (`tuple[str, ...]`):
                The arms that have something to draw; the share of the others goes to the grid.
        """
        due = self._due.get(able)
        if due is None:
            due = self._due[able] = self._shares_among(able)
        owed, best = self._owed, ""
        for arm, share in due:
            owed[arm] += share
            if not best or owed[arm] > owed[best]:
                best = arm
        owed[best] -= 1
        return best

    def _shares_among(self, able: tuple[str, ...]) -> list[tuple[str, float]]:
        shares = {arm: share for arm, share in self.shares.items() if arm in able}
        grid = sum(shares[arm] for arm in GRID if arm in shares)
        spare = 1 - sum(shares.values())
        return [(arm, share * (1 + spare / grid) if arm in GRID else share) for arm, share in shares.items()]

    def learn(self, rows: Mapping[str, int], found: Mapping[str, int]) -> None:
        """
        Moves the shares towards the arms that found something.

        Args:
            rows (`Mapping[str, int]`):
                Rows of each arm in a window.
            found (`Mapping[str, int]`):
                New signatures and cells among them.
        """
        yields = {arm: found.get(arm, 0) / rows[arm] for arm in self.shares if rows.get(arm)}
        if not yields:
            return
        # An arm that had no turn is neither better nor worse for it.
        usual = sum(yields.values()) / len(yields)
        grown = {arm: share * (1 + _GAIN * yields.get(arm, usual)) for arm, share in self.shares.items()}
        total = sum(grown.values())
        shares = {arm: share / total for arm, share in grown.items()}
        for arm, most in _MOST.items():
            shares[arm] = min(max(shares[arm], _LEAST[arm]), most)
        left = 1 - sum(shares[arm] for arm in _MOST)
        grid = [arm for arm in GRID if arm in shares]
        walked = sum(shares[arm] for arm in grid)
        for arm in grid:
            shares[arm] *= left / walked
        if len(grid) > 1:
            first, second = grid
            shares[first] = min(max(shares[first], _LEAST[first]), left - _LEAST[second])
            shares[second] = left - shares[first]
        self.shares = shares
        self._due.clear()
