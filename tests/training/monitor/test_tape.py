"""Watching a reward changes nothing about it, and the tape has everything it said."""

import asyncio
import functools
import inspect

import pytest

from whileai_hf.errors import ConfigurationError
from whileai_hf.export.environment import load_environment
from whileai_hf.score.verify import ExactMatch
from whileai_hf.training.monitor.golding import held_out_only, make_gold, seated
from whileai_hf.training.monitor.tape import GOLD, TASK_COLUMN, Tape, reward_name, watched, written


class State:
    global_step = 3


def brevity(prompts, completions, **columns):
    """What a reward says of itself."""
    return [None if text == "?" else 1.0 / len(text) for text in completions]


async def slow_brevity(prompts, completions, **columns):
    await asyncio.sleep(0)
    return brevity(prompts, completions, **columns)


class Callable:
    def __call__(self, prompts, completions, **columns):
        return brevity(prompts, completions)


def said(reward, tape, **columns):
    texts = ["ab", "?", "abcd"]
    found = reward(prompts=["p"] * 3, completions=texts, trainer_state=State(), **columns)
    if inspect.iscoroutine(found):
        found = asyncio.run(found)
    return found


@pytest.mark.parametrize("reward", [brevity, slow_brevity, Callable(), functools.partial(brevity, extra=1)])
def test_a_watched_reward_is_the_same_reward(reward):
    tape = Tape(10)
    seen = watched(reward, tape, reward_name(reward))
    assert said(seen, tape) == [0.5, None, 0.25]
    assert seen.__name__ == {slow_brevity: "slow_brevity"}.get(
        reward, "Callable" if isinstance(reward, Callable) else "brevity"
    )
    assert inspect.iscoroutinefunction(seen) == (reward is slow_brevity)
    assert tape.trained[0].scores == {seen.__name__: [0.5, None, 0.25]}
    assert (tape.trained[0].step, tape.held) == (3, [])


def test_the_rewards_of_one_batch_are_one_batch():
    tape = Tape(10)
    texts, tasks = ["ab", "?", "abcd"], [0, 1, 1]
    other = watched(lambda prompts, completions, **columns: [1, 2, None], tape, "other")
    for reward in (watched(brevity, tape, "brevity"), other):
        reward(prompts=["p"] * 3, completions=texts, trainer_state=State(), **{TASK_COLUMN: tasks})
    (batch,) = tape.held
    assert batch.tasks == tasks
    assert batch.total({"brevity": 2.0, "other": 0.5}) == [1.5, 1.0, 0.5]
    assert batch.total({"brevity": 1.0, "other": 0.0}) == [0.5, None, 0.25]
    tape.start()
    assert tape.held == []


def test_the_tape_keeps_the_latest_batches_whole():
    tape = Tape(5)
    reward = watched(brevity, tape, "brevity")
    for _ in range(4):
        said(reward, tape)
    assert [len(batch.completions) for batch in tape.trained] == [3, 3]
    rows = tape.rows({"brevity": 1.0}, after=3)
    assert [row["reward"] for row in rows] == [0.5, None, 0.25] * 2
    assert tape.rows({"brevity": 1.0}, after=4) == []


@pytest.mark.parametrize(
    ("completion", "length"),
    [
        ("four", 4),
        ([{"role": "assistant", "content": "four"}, {"role": "tool", "content": "much longer"}], 4),
        ([{"role": "assistant", "content": None}], 0),
        ({"role": "assistant", "content": "four"}, 4),
        (None, 0),
        (["no message"], 0),
    ],
)
def test_what_the_policy_wrote(completion, length):
    assert written(completion) == length


def test_calls_count_as_written():
    call = {"function": {"name": "f", "arguments": {"x": "y"}}}
    assert written([{"role": "assistant", "content": "", "tool_calls": [call]}]) > 20


def test_gold_scores_held_out_completions_only():
    failures, asked = [], []

    def judge(row):
        asked.append(row)
        return row["final_text"] == "ab"

    tape = Tape(10)
    gold = held_out_only(make_gold(judge), tape, lambda what, error: failures.append(error))
    assert gold.__name__ == GOLD
    assert said(gold, tape) == [None, None, None]
    assert not asked
    assert said(gold, tape, **{TASK_COLUMN: [0, 1, 2]}) == [1.0, 0.0, 0.0]
    assert tape.held[0].scores[GOLD] == [1.0, 0.0, 0.0]
    assert not failures


@pytest.mark.parametrize("awaits", [False, True])
def test_a_gold_that_breaks_gives_no_score(awaits):
    failures = []

    def broken(prompts, completions, **columns):
        raise OSError("no quota")

    async def broken_later(prompts, completions, **columns):
        raise OSError("no quota")

    tape = Tape(10)
    gold = held_out_only(broken_later if awaits else broken, tape, lambda what, error: failures.append(str(error)))
    assert said(gold, tape, **{TASK_COLUMN: [0, 1, 2]}) == [None, None, None]
    assert failures == ["no quota"]


def test_what_gold_can_be():
    assert make_gold(brevity) is brevity
    verifier = make_gold(ExactMatch())
    assert verifier(prompts=["p"], completions=["x"], answer=["x"]) == [1.0]
    for nothing in (7, dict, [brevity]):
        with pytest.raises(ConfigurationError, match="gold="):
            make_gold(nothing)


def test_the_tape_has_what_was_said_and_not_what_the_trainer_flattened():
    """With a simulated user a completion is one text, the user's words and the tools' answers among it."""
    tape = Tape(10)
    talk = [
        {"role": "assistant", "content": "Which?"},
        {"role": "user", "content": "The one I ordered some weeks ago."},
        {"role": "assistant", "content": "Sent."},
    ]
    completions = [[{"role": "assistant", "content": "Which? The one I ordered some weeks ago. Sent."}]]
    for name in ("one", "two"):  # the same batch, whoever is asked
        tape.take(name, ["p"], completions, {"trajectory": [talk], TASK_COLUMN: [0]}, [1.0])
    (batch,) = tape.held
    assert set(batch.scores) == {"one", "two"}
    assert written(batch.completions[0]) == len("Which?Sent.")


def test_a_gold_takes_its_seat_beside_the_judges_of_an_environment():
    """It then sees the rows they see; a wrapped training judge is still one, and a seated gold stays where it is."""

    def gold(row):
        return 1.0

    spec = load_environment(["Where is it?"], tools=[], reward=lambda row: 0.0)
    (reward,) = spec.reward_funcs
    alone = make_gold(gold)
    moved = seated(alone, [watched(reward, Tape(1), "proxy")])
    assert moved.rows is reward.rows
    assert moved.judge is alone.judge
    assert alone.rows is not reward.rows
    assert seated(alone, [brevity]) is alone
    own = spec.as_reward(gold, name="gold")
    assert seated(own, [reward]) is own
    assert seated(brevity, [reward]) is brevity
