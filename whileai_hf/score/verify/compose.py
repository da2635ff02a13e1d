"""Rewards made of rewards: all of them, any of them, a weighted mean.

The parts are verifiers or any other sync judges. Each part's reward stands in the markers under `verify:<name>`. A
part without a verdict leaves the whole without one, unless the other parts decide it: one 0 fails `All`, one 1
passes `Any`.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping, Sequence

from whileai_hf.errors import ConfigurationError
from whileai_hf.score.verdicts import Verdict, as_number, failed, verdict
from whileai_hf.score.verify.base import Verifier


Part = Callable[[dict[str, typing.Any]], typing.Any]


class _Composition(Verifier):
    """What the compositions share: judging the parts and recording them."""

    def __init__(self, parts: Sequence[Part], name: str | None) -> None:
        super().__init__(name=name)
        if not parts:
            raise ConfigurationError(f"{type(self).__name__}() has no parts; pass at least one verifier")
        for part in parts:
            if not callable(part) or isinstance(part, type):
                raise ConfigurationError(f"{type(self).__name__} got {part!r}; expected verifier objects or judges")
        self.parts = tuple(parts)
        self.reads_only = all(isinstance(part, Verifier) and part.reads_only for part in parts)
        self.names = _distinct([_part_name(part) for part in parts])

    def check(self, candidate: str, gold: typing.Any) -> typing.Any:
        """The same as `judge`: the parts look at the reply, the whole only combines."""
        return self.judge(candidate, gold)

    def judge(self, candidate: str, gold: typing.Any = None) -> dict[str, typing.Any]:
        """The verdict on a reply without a row around it; a part that is not a verifier sees only these two."""
        row = {"final_text": candidate, "answer": gold}
        verdicts = []
        for part in self.parts:
            if isinstance(part, Verifier):
                verdicts.append(_verdict_of(part.judge, candidate, gold))
            else:
                verdicts.append(_verdict_of(part, dict(row)))
        return self._whole(verdicts)

    def columns(self) -> Sequence[str] | None:
        """What the parts read together; `None` as soon as one part is not a verifier."""
        names: dict[str, None] = {}
        for part in self.parts:
            read = part.columns() if isinstance(part, Verifier) else None
            if read is None:
                return None
            names.update(dict.fromkeys(read))
        return list(names)

    def combine(self, rewards: Sequence[float | None]) -> float | None:
        """The reward of the whole from those of the parts (`None` for a part without one)."""
        raise NotImplementedError

    def __call__(self, row: Mapping[str, typing.Any]) -> dict[str, typing.Any]:
        return self._whole([_verdict_of(part, dict(row)) for part in self.parts])

    def _whole(self, verdicts: Sequence[Verdict]) -> dict[str, typing.Any]:
        markers: dict[str, float] = {}
        for name, part in zip(self.names, verdicts, strict=True):
            markers.update(part.markers)
            if part.reward is not None:
                markers[f"verify:{name}"] = part.reward
        reward = self.combine([part.reward for part in verdicts])
        return {"reward": reward, "reason": self._reason(reward, verdicts), "markers": markers}

    def _reason(self, reward: float | None, verdicts: Sequence[Verdict]) -> str | None:
        said = []
        for name, part in zip(self.names, verdicts, strict=True):
            if part.reward is None:
                said.append(f"{name}: {part.status.value} ({part.reason or part.meta.get('error') or 'no reward'})")
            elif part.reward < 1.0 and reward != 1.0:
                said.append(f"{name}: {part.reason or format(part.reward, 'g')}")
        return "; ".join(said) or None


def _verdict_of(call: Callable[..., typing.Any], *arguments: typing.Any) -> Verdict:
    try:
        return verdict(call(*arguments))
    except Exception as error:  # a part is a judge: whatever it raises is a part without a verdict
        return failed(error)


def _part_name(part: Part) -> str:
    if isinstance(part, Verifier):
        return part.name
    return str(getattr(part, "__name__", type(part).__name__))


def _distinct(names: Sequence[str]) -> list[str]:
    """Names with `#2`, `#3` behind those that occurred before."""
    counts: dict[str, int] = {}
    out = []
    for name in names:
        counts[name] = counts.get(name, 0) + 1
        out.append(name if counts[name] == 1 else f"{name}#{counts[name]}")
    return out


class All(_Composition):
    """
    The lowest reward of the parts: right only when every part is.

    Args:
        *parts ([`Verifier`] or judge):
            What has to hold.
        name (`str`, *optional*):
            Name in the rows.

    Examples:
    ```python
    >>> from whileai_hf.score.verify import Includes, JSONValid
    >>> All(JSONValid(), Includes(all=["4412"]))({"final_text": '{"order": 4412}'})["reward"]
    1.0

    ```
    """

    name = "all"

    def __init__(self, *parts: Part, name: str | None = None) -> None:
        super().__init__(parts, name)

    def combine(self, rewards: Sequence[float | None]) -> float | None:
        """The minimum; a reward of 0 or less decides, whatever the others say."""
        known = [reward for reward in rewards if reward is not None]
        if known and (min(known) <= 0.0 or len(known) == len(rewards)):
            return min(known)
        return None


class Any(_Composition):
    """
    The highest reward of the parts: right as soon as one part is.

    Args:
        *parts ([`Verifier`] or judge):
            The ways to be right.
        name (`str`, *optional*):
            Name in the rows.

    Examples:
    ```python
    >>> from whileai_hf.score.verify import ExactMatch, Includes
    >>> Any(ExactMatch(), Includes())({"final_text": "It is Paris.", "answer": "Paris"})["reward"]
    1.0

    ```
    """

    name = "any"

    def __init__(self, *parts: Part, name: str | None = None) -> None:
        super().__init__(parts, name)

    def combine(self, rewards: Sequence[float | None]) -> float | None:
        """The maximum; a reward of 1 or more decides, whatever the others say."""
        known = [reward for reward in rewards if reward is not None]
        if known and (max(known) >= 1.0 or len(known) == len(rewards)):
            return max(known)
        return None


class Weighted(_Composition):
    """
    The weighted mean of the parts' rewards.

    Args:
        parts (`Mapping[Verifier, float]` or `Sequence[tuple[Verifier, float]]`):
            The parts and their weights, above 0; they are divided by their sum.
        name (`str`, *optional*):
            Name in the rows.

    Examples:
    ```python
    >>> from whileai_hf.score.verify import Includes, JSONValid
    >>> rubric = Weighted({JSONValid(): 1, Includes(all=["refund"]): 3})
    >>> rubric({"final_text": "Your refund is on its way."})["reward"]
    0.75

    ```
    """

    name = "weighted"

    def __init__(self, parts: Mapping[Part, float] | Sequence[tuple[Part, float]], *, name: str | None = None) -> None:
        given = parts.items() if isinstance(parts, Mapping) else parts
        pairs: list[tuple[typing.Any, ...]] = [tuple(pair) for pair in given]
        if any(len(pair) != 2 for pair in pairs):
            raise ConfigurationError("Weighted takes {verifier: weight} or a list of (verifier, weight) pairs")
        super().__init__([pair[0] for pair in pairs], name)
        weights = [as_number(pair[1]) for pair in pairs]
        if any(weight is None or weight <= 0 for weight in weights):
            wrong = [pair[1] for pair in pairs]
            raise ConfigurationError(f"Weighted got the weights {wrong!r}; expected finite numbers above 0")
        self.weights = [weight for weight in weights if weight is not None]

    def combine(self, rewards: Sequence[float | None]) -> float | None:
        """The weighted mean; `None` when any part has no reward."""
        known = [reward for reward in rewards if reward is not None]
        if len(known) < len(rewards):
            return None
        total = sum(weight * reward for weight, reward in zip(self.weights, known, strict=True))
        return total / sum(self.weights)
