"""Wrong input is one sentence that names what was given and what to do."""

import pytest
from datasets import Dataset
from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.errors import ConfigurationError, DataError, MissingColumnError, SourceNotFoundError
from whileai_hf.score.checking import check_reward
from whileai_hf.score.checking.levels import level_of
from whileai_hf.score.checking.values import read_rewards


def _row(row):
    return 1.0


def sql_reward(completions, sql, **kwargs):
    return [0.0 for _ in completions]


@pytest.mark.parametrize(
    ("reward", "message"),
    [
        (3, "cannot be called"),
        (dict, "an instance, not a class"),
        ("org/reward-model", "the name of a model"),
        ([], "reward_funcs is empty"),
        (lambda a, b: 1.0, "neither a reward function of a trainer"),
    ],
)
def test_what_is_no_reward(reward, message):
    with pytest.raises(ConfigurationError, match=message):
        check_reward(reward)


def test_missing_column_is_named_with_its_function():
    with pytest.raises(MissingColumnError, match="sql_reward needs the column 'sql'; the generic asks have prompt"):
        check_reward(sql_reward)
    with pytest.raises(MissingColumnError, match="the dataset has prompt, query"):
        check_reward(sql_reward, [{"prompt": "Which users?", "query": "..."}])
    with pytest.raises(MissingColumnError, match="no column 'prompt'"):
        check_reward(_row, [{"question": "?"}])
    with pytest.raises(MissingColumnError, match="gold='result'"):
        check_reward(_row, [{"prompt": "?"}], gold="result")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n": 0}, ConfigurationError, "n=0"),
        ({"weights": [1.0, 2.0]}, ConfigurationError, "2 weights for 1"),
        ({"weights": ["x"]}, ConfigurationError, "weights holds 'x'"),
        ({"weights": [float("nan")]}, ConfigurationError, "weights holds nan"),
        ({"weights": [None]}, ConfigurationError, "weights holds None"),
        ({"weights": 2}, ConfigurationError, "weights=2"),
        ({"threshold": "x"}, ConfigurationError, "threshold='x'"),
        ({"threshold": float("nan")}, ConfigurationError, "threshold=nan"),
        ({"threshold": True}, ConfigurationError, "threshold=True"),
        ({"dataset": [{"prompt": "?", "expected_calls": [{"x": 1}]}]}, DataError, "expected call 0 is {'x': 1}"),
        ({"dataset": [{"prompt": "?", "expected_calls": 5}]}, DataError, "expected a list of calls"),
        (
            {"dataset": [{"prompt": "?", "expected_calls": [{"tool": "t", "arguments": "{"}]}]},
            DataError,
            "correct the column expected_calls",
        ),
        ({"dataset": []}, DataError, "rows are empty"),
        ({"dataset": [{"prompt": None}]}, DataError, "prompt=None"),
        ({"dataset": "no/such/file.jsonl"}, SourceNotFoundError, "no/such/file"),
    ],
)
def test_wrong_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        check_reward(_row, **arguments)


def _required(environments, **kwargs):
    return [environment.reward for environment in environments]


def _optional(completions, environments=None, **kwargs):
    return [environment.reward for environment in environments]


def _zero_without(completions, environments=None, **kwargs):
    return [0.0 for _ in completions] if environments is None else [1.0 for _ in environments]


def _by_keyword(completions, **kwargs):
    return [environment.reward for environment in kwargs["environments"]]


@pytest.mark.parametrize("reward", [_required, _optional, _zero_without, _by_keyword])
def test_what_needs_live_environments_is_said_not_to_be_checked(reward):
    def right(completions, answer, **kwargs):
        return [float(c[-1]["content"] == a) for c, a in zip(completions, answer, strict=True)]

    for rewards in (reward, [reward, right], [right, reward]):
        report = check_reward(rewards)
        assert report.ok
        assert not [item for item in report.findings if item.function == reward.__name__]
        assert any(note.startswith(f"{reward.__name__} needs environments") for note in report.notes)
    assert [item["name"] for item in report.functions] == ["right"]


def test_environments_that_are_not_needed_are_no_excuse():
    def reward(completions, environments=None, **kwargs):
        return [float(len(c[-1]["content"])) for c in completions]

    assert not check_reward(reward).ok


def test_weights_stay_with_their_rewards_when_one_is_not_checked():
    def length(completions, **kwargs):
        return [len(c[-1]["content"]) / 100 for c in completions]

    def right(completions, answer, **kwargs):
        return [float(c[-1]["content"].strip() == a) for c, a in zip(completions, answer, strict=True)]

    assert check_reward([_required, length, right], weights=[5, 0.001, 1]).ok
    assert not check_reward([_required, length, right], weights=[0.001, 5, 1]).ok


def test_rows_of_a_list_may_lack_columns_as_in_a_dataset():
    def reward(completions, answer, **kwargs):
        return [None if a is None else float(c == a) for c, a in zip(completions, answer, strict=True)]

    rows = [{"prompt": "1 + 1?", "answer": "2"}, {"prompt": "Why?"}]
    assert check_reward(reward, rows).to_dict() == check_reward(reward, Dataset.from_list(rows)).to_dict()
    assert check_reward(reward, rows).ok


def test_optional_column_that_is_not_there_is_a_note():
    def reward(completions, hint=None, **kwargs):
        return [0.0 for _ in completions]

    assert any("'hint'" in note for note in check_reward(reward).notes)


@given(st.lists(st.one_of(st.none(), st.booleans(), st.floats(), st.text(), st.integers(), st.binary())))
def test_whatever_comes_back_is_read(values):
    rewards, faults = read_rewards(values, len(values))
    assert len(rewards) == len(values)
    assert all(reward is None or reward - reward == 0 for reward in rewards)
    unread = {
        index
        for index, (value, reward) in enumerate(zip(values, rewards, strict=True))
        if reward is None and value is not None
    }
    assert unread <= {fault.reply for fault in faults}


@given(st.floats(0.01, 100), st.floats(-1, 1), st.floats(0, 0.5))
def test_a_level_lies_between_nothing_and_a_right_reply(top, low, part):
    level = level_of({"empty": [min(low, 0.0)], "answer": [top]}, ["answer"], None)
    assert level.paid(top)
    assert not level.paid(part * top * 0.99)
    assert not level.paid(min(low, 0.0))


def test_odd_gold():
    rows = [
        {"prompt": f"p{n}", "answer": gold} for n, gold in enumerate([["a", "b"], 3.0, True, {"k": 1}, "", "x\x00y"])
    ]
    report = check_reward(lambda row: float(row["final_text"] == "a"), rows)
    assert report.n_tasks == 6
