"""Any judge that gives ratings, as a judge that gives rewards: the rating is kept, the reward runs from 0 to 1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from whileai_hf.errors import ConfigurationError
from whileai_hf.score.judges.judge import Judge
from whileai_hf.score.judges.scales import Scale
from whileai_hf.score.judging import is_async, judge_name
from whileai_hf.score.state import state_of
from whileai_hf.score.verdicts import Described, GroupJudge, Independent, JudgeStatus, Selective, Verdict, verdict
from whileai_hf.score.verify.base import Verifier


Row = Mapping[str, Any]


@runtime_checkable
class Sharing(Protocol):
    """A judge whose reward is a share from 0 to 1 by what it does, and no rating."""

    gives_shares: bool


class Scaled:
    """
    A judge whose rewards are ratings; made by [`scaled`].

    Args:
        judge (`Callable`):
            Row to rating.
        scale ([`Scale`]):
            From the worst rating to the best.
    """

    def __init__(self, judge: Any, scale: Scale) -> None:
        self.judge = judge
        self.scale = scale
        self.name = judge_name(judge)

    def __repr__(self) -> str:
        return f"scaled({self.judge!r}, ({self.scale.lo:g}, {self.scale.hi:g}))"

    def __call__(self, row: Row) -> Any:
        """The verdict on a row."""
        return self.rated(self.judge(row))

    def rated(self, raw: Any) -> Verdict:
        """What a judge returned, its reward read as a rating."""
        given = raw.get("reward") if isinstance(raw, Mapping) else raw
        if isinstance(given, bool | np.bool_):  # a pass or fail is no rating: True is not a 1
            problem = f"the judge answered {bool(given)}; expected {self.scale.wording()}"
            return Verdict(None, JudgeStatus.INVALID_RESULT, meta={"error": problem})
        made = verdict(raw)
        if made.reward is None:
            return made
        rating = made.reward
        meta = {**made.meta, "rating": rating}
        if self.scale.number(rating) is None:
            meta["error"] = f"the rating is {rating:g}; expected {self.scale.wording()}"
            return Verdict(None, JudgeStatus.INVALID_RESULT, made.reason, made.markers, made.failure_class, meta)
        return Verdict(self.scale.reward(rating), made.status, made.reason, made.markers, made.failure_class, meta)

    def provenance(self) -> dict[str, Any]:
        """That of the judge, and the scale."""
        said = dict(self.judge.provenance()) if isinstance(self.judge, Described) else {}
        if said.get("version") is not None:
            said["version"] = f"{said['version']}/{self.scale.lo:g}-{self.scale.hi:g}"
        return {**said, "scale": repr(self.scale)}

    def bind(self, policies: Iterable[str | None]) -> Scaled:
        """Settles the default model of the judge, where it has one, for rows of these policies."""
        if isinstance(self.judge, Independent):
            self.judge.bind(policies)
        return self

    def hash_state(self) -> list[object]:
        """What `Dataset.map` fingerprints in place of the object itself."""
        return [state_of(self.judge), repr(self.scale)]

    def columns(self) -> Sequence[str] | None:
        """Those the judge reads."""
        return self.judge.columns() if isinstance(self.judge, Selective) else None


class AsyncScaled(Scaled):
    """[`Scaled`] for a judge that awaits."""

    async def __call__(self, row: Row) -> Any:
        """The verdict on a row."""
        return self.rated(await self.judge(row))


def scaled(judge: Any, scale: tuple[float, float]) -> Any:
    """
    A judge that gives ratings, as one that gives rewards from 0 to 1.

    Args:
        judge (`Callable`):
            Any judge, sync or async, whose reward is a rating. A [`Judge`] is asked for ratings on the scale.
        scale (`(float, float)`):
            The worst and the best rating.

    Returns:
        A judge: the reward is `(rating - lo) / (hi - lo)`, the rating is kept as `rating`, and one off the scale is
        an `invalid_result`.

    Raises:
        [`ConfigurationError`]: A scale without room, a judge that is on another one, or one that gives no ratings.

    Examples:
    ```python
    >>> from whileai_hf.score.judges import scaled
    >>> judge = scaled(lambda row: row["stars"], (1, 5))
    >>> judge({"stars": 4}).reward, judge({"stars": 9}).status.value
    (0.75, 'invalid_result')

    ```
    """
    if not isinstance(scale, tuple | list) or len(scale) != 2:
        raise ConfigurationError(f"scale={scale!r:.60}; pass the worst and the best rating, such as (1, 5)")
    bounds = Scale(scale[0], scale[1])
    if isinstance(judge, Judge):
        if judge.scale.likert and judge.scale != bounds:
            raise ConfigurationError(f"the judge answers on {judge.scale!r}, and scale= says {bounds!r}; drop one")
        return judge if judge.scale == bounds else judge.rescaled(bounds)
    name = judge_name(judge)
    if isinstance(judge, Verifier | Sharing | GroupJudge):
        raise no_ratings(name)
    return (AsyncScaled if is_async(judge) else Scaled)(judge, bounds)


def no_ratings(name: str) -> ConfigurationError:
    """The refusal of a scale for a judge that gives no ratings."""
    return ConfigurationError(f"scale= is for judges that give ratings, and {name} gives rewards from 0 to 1; drop it")
