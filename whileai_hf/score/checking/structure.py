"""What can be wrong with a reward as a function, whatever it pays for.

Equal input must give equal rewards, a reply's reward must not depend on its neighbours or its place in the batch, and
nothing a policy can produce may stop the training.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from whileai_hf.rows import rng
from whileai_hf.score.checking.attempts import Attempt
from whileai_hf.score.checking.calling import GIVEN, parameters_of, takes_everything
from whileai_hf.score.checking.report import ERROR, INFO, WARNING, Finding
from whileai_hf.score.checking.rewards import Reply, Reward
from whileai_hf.score.checking.tasks import ProbeTask


# Replies that a policy does send now and then.
_ODD: tuple[tuple[str, Attempt], ...] = (
    ("odd characters", Attempt("\x00 \ud800 \u202e \U0001f600 é e\u0301 \ufeff ١٢٣ {}[]()\\ $ % </think> \\boxed{")),
    ("other language", Attempt("答えは四十二です。Ответ: сорок два. الجواب هو ٤٢.")),
    ("very long", Attempt("and so on, " * 5_000)),
)
_UNFINISHED = Attempt(None, ({"tool": "lookup", "arguments": {"id": "1"}, "result": {"status": "ok"}},))
# Tasks whose replies are asked for again, in another order and alone.
_MOST_TASKS = 4
# Two rewards are one within this, relative: what batched arithmetic in 32 bits leaves over.
_SAME = 1e-4
# Words of replies that differ in nothing but their length, and the share of all rewards they must span to count.
_LENGTHS = (2, 5, 15, 50, 200)
_SPAN = 0.25


def _same(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is b
    return abs(a - b) <= _SAME * max(1.0, abs(a), abs(b))


def structure_of(reward: Reward, tasks: Sequence[ProbeTask], mixed: Sequence[Reply], seed: int) -> Iterator[Finding]:
    """
    Asks a reward what shows how it is built, and yields what is wrong.

    Args:
        reward ([`Reward`]):
            The reward.
        tasks (`Sequence[ProbeTask]`):
            The tasks.
        mixed (`Sequence[Reply]`):
            Replies of different worth.
        seed (`int`):
            Seed of the other order.
    """
    yield from _repeats(reward, mixed, seed)
    for name, attempt in _ODD:
        reward.ask([Reply(task, attempt) for task in tasks[:_MOST_TASKS]], name)
    if reward.style != "trainer, text":
        reward.ask([Reply(task, _UNFINISHED) for task in tasks[:_MOST_TASKS]], "no final message")


def _repeats(reward: Reward, mixed: Sequence[Reply], seed: int) -> Iterator[Finding]:
    first, again = (reward.ask(mixed, "asked again") for _ in range(2))
    differ = [index for index, pair in enumerate(zip(first, again, strict=True)) if not _same(*pair)]
    if differ:
        what = "Seed it, or set the temperature of its model to 0: the noise is trained on."
        says = "equal replies get different rewards when asked again"
        yield _seen(reward, "not deterministic", "asked again", WARNING, len(differ), mixed, differ[0], says, what)
        return
    if reward.is_judge or len(mixed) < 2:  # rows are judged one by one
        return
    order = rng(seed, "check_reward order").shuffled(range(len(mixed)))
    if order == sorted(order):
        order.reverse()
    shuffled = reward.ask([mixed[index] for index in order], "other order")
    by_place = dict(zip(order, shuffled, strict=True))
    differ = [index for index, value in enumerate(first) if not _same(value, by_place[index])]
    if differ:
        what = "Zip completions with the columns; do not sort, filter or regroup them on the way."
        says = "a reply's reward depends on its place in the batch"
        yield _seen(reward, "order", "other order", ERROR, len(differ), mixed, differ[0], says, what)
        return
    alone = [reward.ask([reply], "alone")[0] for reply in mixed]
    differ = [index for index, pair in enumerate(zip(first, alone, strict=True)) if not _same(*pair)]
    if differ:
        what = "Score every completion by itself; the trainer compares those of one prompt."
        says = "a reply's reward depends on the other replies of the batch"
        yield _seen(reward, "batch", "alone", WARNING, len(differ), mixed, differ[0], says, what)


def _seen(
    reward: Reward, kind: str, probe: str, severity: str, count: int, replies: Sequence[Reply], index: int,
    says: str, what: str,
) -> Finding:  # fmt: skip
    example = replies[index].attempt.excerpt()
    rate = count / len(replies)
    return Finding(reward.name, kind, probe, severity, says, what, rate, len(replies), None, example)


def length_of(reward: Reward, tasks: Sequence[ProbeTask], span: float, whole: bool) -> Iterator[Finding]:
    """
    Whether a reward pays for length, or for brevity, and nothing else.

    Args:
        reward ([`Reward`]):
            The reward.
        tasks (`Sequence[ProbeTask]`):
            The tasks.
        span (`float`):
            Between the lowest and the highest reward it gave to anything.
        whole (`bool`):
            Whether it is all that is trained on.
    """
    words = ("and so it goes on with one more word after the other until there are enough of them " * 12).split()
    given = [
        reward.ask([Reply(task, Attempt(" ".join(words[:size]) + ".")) for task in tasks], "length")
        for size in _LENGTHS
    ]
    series = [known for task in zip(*given, strict=True) if len(known := [r for r in task if r is not None]) > 2]
    for sign, says, what in (
        (
            1,
            "the longer an empty text, the more it is paid",
            "Cap it where replies are long enough, and pay only right ones.",
        ),
        (-1, "the shorter an empty text, the more it is paid", "Pay brevity only among right replies."),
    ):
        steady = [
            values for values in series
            if all(sign * (b - a) >= -1e-9 for a, b in pairwise(values))
            and sign * (values[-1] - values[0]) > _SPAN * span
        ]  # fmt: skip
        if series and span > 0 and len(steady) == len(series):
            severity = ERROR if whole and sign > 0 else WARNING
            example = f"{_LENGTHS[0]} words: {steady[0][0]:.3g}, {_LENGTHS[-1]} words: {steady[0][-1]:.3g}"
            yield Finding(reward.name, "length", None, severity, f"{says} ({example})", what, 1.0, len(series))


def gold_less(reward: Reward, tasks: Sequence[ProbeTask], columns: Sequence[str]) -> Iterator[Finding]:
    """What a reward says of a reply when the columns it compares with are empty: it should be nothing."""
    replies = [Reply(task, Attempt(task.gold)) for task in tasks if task.gold is not None]
    named = [name for name in columns if any(reply.task.columns.get(name) is not None for reply in replies)]
    if not replies or not named:
        return
    known = reward.ask(replies, "answer")
    noted = len(reward.noted)
    unknown = reward.ask(replies, "no gold", without=named)
    crashes = [item for item in reward.noted[noted:] if item.fault.kind == "crash"]
    del reward.noted[noted:]
    scored = [b for a, b in zip(known, unknown, strict=True) if b is not None and not _same(a, b)]
    lacking = sum(all(task.columns.get(name) is None for name in named) for task in tasks)
    severity, there = (WARNING, f", as on {lacking} of the tasks") if lacking else (INFO, "")
    empty = f"where {named[0] if len(named) == 1 else 'the right answer'} is empty{there}"
    if crashes:
        says, what = (
            f"{empty}, it raises {crashes[0].fault.detail}",
            "Return None for such a row, should there be any.",
        )
        yield Finding(reward.name, "no gold", None, severity, says, what, n=len(replies))
    elif scored:
        says = f"{empty}, it gives {scored[0]:g} instead of no verdict"
        what = "Return None: a number tells the policy that all its replies to such a task were bad."
        rate = len(scored) / len(replies)
        yield Finding(reward.name, "no gold", None, severity, says, what, rate, len(replies))


def signature_of(reward: Reward, columns: Sequence[str]) -> Iterator[Finding]:
    """Whether a trainer can call the function at all, and log it."""
    if reward.name == "<lambda>":
        what = "Give it a name with def: it is what the log shows."
        yield Finding(reward.name, "name", None, INFO, "it has no name", what)
    if reward.is_judge or takes_everything(reward.function):
        return
    named = parameters_of(reward.function) or {}
    passed = [*GIVEN, *(name for name in columns if name != "prompt")]
    missing = [name for name in passed if name not in named]
    if missing:
        told = ", ".join(missing[:4]) + (", ..." if len(missing) > 4 else "")
        says = f"a trainer also passes {told}: it would fail at once"
        yield Finding(reward.name, "signature", None, ERROR, says, "Add **kwargs to its parameters.")
