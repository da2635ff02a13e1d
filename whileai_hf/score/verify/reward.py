"""A judge as a reward function of TRL's trainers.

`GRPOTrainer(reward_funcs=[ExactMatch().as_reward()])`: the trainer hands over a batch as columns, the judge gets one
row after the other in the shape it has everywhere else, and what it could not tell is `None`, which TRL leaves out,
never 0.
"""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.score.judging import (
    DEFAULT_CONCURRENCY,
    JudgeFunction,
    is_async,
    judge_name,
    judge_row_async,
    judge_rows,
)
from whileai_hf.score.reading.calls import arguments_of, message_calls
from whileai_hf.score.reading.texts import text_of
from whileai_hf.score.verdicts import Verdict
from whileai_hf.score.verify.reply import ask_of


logger = logging.getLogger(__name__)

# What TRL passes besides the columns of the data set.
_FROM_TRAINER = frozenset({"completion_ids", "prompt_ids", "trainer_state", "log_extra", "log_metric", "environments"})
_THOUGHT_END = "</think>"
_THOUGHT = "<think>"


RowMaker = Callable[[Sequence[Any], Sequence[Any], Mapping[str, Any]], list[dict[str, Any]]]


def as_reward(
    judge: JudgeFunction, *, name: str | None = None, concurrency: int | None = None, rows: RowMaker | None = None
) -> Callable[..., Any]:
    """
    A judge as a reward function for `GRPOTrainer(reward_funcs=[...])` and `RLOOTrainer`.

    The judge sees a row per completion: `prompt` (the last ask of the user), `final_text` (the completion, or the
    agent's last message when it is a conversation; without a `<think>` section), `messages`, `steps` (the tool calls
    with their results) and the columns of the data set, such as `answer`.

    Args:
        judge (`Callable`):
            Row to verdict, as for `grade`. One that awaits gives an async reward function, which TRL awaits.
        name (`str`, *optional*):
            Name under which TRL logs the reward; that of the judge by default.
        concurrency (`int`, *optional*, defaults to 8, to 1 for a verifier):
            Rows judged at the same time.
        rows (`Callable`, *optional*):
            `(prompts, completions, columns) -> rows`: makes what the judge sees instead of [`rows_of`], for an
            environment that knows more about a completion than its columns say.

    Returns:
        `Callable`: `(prompts, completions, **columns) -> list[float | None]`, `None` for no verdict. It can be
        pickled when the judge can. Given `log_metric`, it logs the mean of each marker as `<name>/<marker>` and the
        share without a verdict as `<name>/unjudged`; given `log_extra`, the reasons as the column `<name>/reason`.

    Examples:
    ```python
    >>> from whileai_hf.score.verify import Numeric
    >>> reward = as_reward(Numeric())
    >>> reward(prompts=["6 * 7?", "6 * 7?"], completions=["It is 42.", "It is 41."], answer=[42, 42])
    [1.0, 0.0]
    >>> reward.__name__
    'numeric'

    ```
    """
    if not callable(judge) or isinstance(judge, type):
        raise ConfigurationError(
            f"as_reward got {judge!r:.80}; pass a judge: a verifier object or a callable of a row"
        )
    if concurrency is not None and (
        isinstance(concurrency, bool) or not isinstance(concurrency, int) or concurrency < 1
    ):
        raise ConfigurationError(f"concurrency={concurrency!r} is not a whole number of rows, 1 or more")
    kind = AsyncReward if is_async(judge) else Reward
    return kind(judge, name or judge_name(judge), concurrency, rows or rows_of)


class JudgeReward:
    """What both kinds share: rows from a batch, and rewards and logs from verdicts."""

    def __init__(self, judge: JudgeFunction, name: str, concurrency: int | None, rows: RowMaker) -> None:
        self.judge = judge
        self.concurrency = concurrency
        self.rows = rows
        self.__name__ = name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__name__!r})"

    def _finish(self, verdicts: Sequence[Verdict], given: Mapping[str, Any]) -> list[float | None]:
        unjudged = [verdict for verdict in verdicts if verdict.reward is None]
        if unjudged:
            first = unjudged[0].reason or unjudged[0].meta.get("error") or unjudged[0].status.value
            logger.warning(
                "%s gave no reward for %d of %d completions, first: %s",
                self.__name__,
                len(unjudged),
                len(verdicts),
                first,
            )
        _log(self.__name__, verdicts, len(unjudged), given)
        return [verdict.reward for verdict in verdicts]


class Reward(JudgeReward):
    """A sync judge as a reward function; what [`as_reward`] returns."""

    def __call__(self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """One reward per completion."""
        rows = self.rows(prompts, completions, columns)
        return self._finish(judge_rows(self.judge, rows, concurrency=self.concurrency), columns)


class AsyncReward(JudgeReward):
    """A judge that awaits as an async reward function."""

    async def __call__(self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """One reward per completion."""
        gate = asyncio.Semaphore(self.concurrency or DEFAULT_CONCURRENCY)
        ask = functools.partial(judge_row_async, self.judge)

        async def judged(row: dict[str, Any]) -> Verdict:
            async with gate:
                return await ask(row)

        verdicts = await asyncio.gather(*map(judged, self.rows(prompts, completions, columns)))
        return self._finish(verdicts, columns)


def _log(name: str, verdicts: Sequence[Verdict], unjudged: int, given: Mapping[str, Any]) -> None:
    log_metric, log_extra = given.get("log_metric"), given.get("log_extra")
    if callable(log_metric) and verdicts:
        values: dict[str, list[float]] = {}
        for verdict in verdicts:
            for marker, value in verdict.markers.items():
                values.setdefault(marker, []).append(value)
        for marker, seen in values.items():
            log_metric(f"{name}/{marker}", sum(seen) / len(seen))
        log_metric(f"{name}/unjudged", unjudged / len(verdicts))
    if callable(log_extra):
        # Always: a column that some batches lack would no longer line up with the completions.
        log_extra(f"{name}/reason", [verdict.reason or "" for verdict in verdicts])


def rows_of(prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """
    The rows a judge sees of a batch of TRL.

    Args:
        prompts (`Sequence[str]` or `Sequence[list[dict]]`):
            Texts or conversations.
        completions (`Sequence[str]` or `Sequence[list[dict]]`):
            Texts, or the messages that followed.
        columns (`Mapping[str, Any]`):
            Further arguments; lists with one value per completion are columns of the data set.

    Returns:
        `list[dict]`: One per completion.
    """
    cells = columns_per_row(prompts, completions, columns)
    return [
        {**own, **_conversation(prompt, completion)}
        for own, prompt, completion in zip(cells, prompts, completions, strict=True)
    ]


def columns_per_row(
    prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """
    What the columns of the data set say about each completion of a batch of TRL.

    Args:
        prompts (`Sequence`):
            The prompts.
        completions (`Sequence`):
            The completions, as many.
        columns (`Mapping[str, Any]`):
            Further arguments of the reward function; lists with one value per completion are columns.

    Returns:
        `list[dict]`: One per completion.
    """
    count = len(completions)
    if len(prompts) != count:
        raise ConfigurationError(f"a reward function got {len(prompts)} prompts and {count} completions")
    own = {
        name: values
        for name, values in columns.items()
        if name not in _FROM_TRAINER and isinstance(values, list | tuple) and len(values) == count
    }
    return [{name: values[index] for name, values in own.items()} for index in range(count)]


def _conversation(prompt: Any, completion: Any) -> dict[str, Any]:
    said: list[dict[str, Any]]
    asked = list(prompt) if isinstance(prompt, list | tuple) else [{"role": "user", "content": text_of(prompt)}]
    if isinstance(completion, Mapping):
        completion = [completion]
    if isinstance(completion, str) or not isinstance(completion, list | tuple):
        said = [{"role": "assistant", "content": completion if isinstance(completion, str) else ""}]
    else:
        said = [dict(message) for message in completion if isinstance(message, Mapping)]
    last = said[-1] if said else {}
    final = _spoken(last.get("content")) if last.get("role") == "assistant" else ""
    return {"prompt": ask_of(prompt), "messages": [*asked, *said], "steps": _steps(said), "final_text": final}


def _spoken(content: Any) -> str:
    """A message without its reasoning section; one that never left it says nothing."""
    text = text_of(content)
    if _THOUGHT_END in text:
        return text.rpartition(_THOUGHT_END)[2]
    return "" if text.lstrip().startswith(_THOUGHT) else text


def _steps(said: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Texts before the last message, calls with results, and what a user said in between."""
    calls: dict[int, list[dict[str, Any]]] = {}
    for tool, written, result, place in message_calls(said):
        calls.setdefault(place, []).append({"tool": tool, "arguments": arguments_of(written), "result": result})
    steps: list[dict[str, Any]] = []
    for place, message in enumerate(said):
        text = text_of(message.get("content"))
        if message.get("role") == "user":
            steps.append({"user": text})
        elif message.get("role") == "assistant":
            if text and place < len(said) - 1:
                steps.append({"text": text})
            steps += calls.get(place, [])
    return steps
