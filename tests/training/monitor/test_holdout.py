"""What a holdout may be, and that training must not have seen it."""

import pytest
from datasets import Dataset

from whileai_hf.errors import ConfigurationError, WhileaiError
from whileai_hf.training.monitor.config import MonitorConfig, check_stop_on
from whileai_hf.training.monitor.holdout import check_alike, check_apart, make_holdout, same_rows
from whileai_hf.training.monitor.tape import TASK_COLUMN


def rows(ids, **more):
    return [{"prompt": [{"role": "user", "content": ""}], "order_id": each, **more} for each in ids]


@pytest.mark.parametrize(
    "holdout",
    [
        ["one", "two", "three"],
        rows("abc"),
        Dataset.from_list(rows("abc")),
        [{"prompt": "one", "scenario_id": each} for each in ("x", "y", "z")],
    ],
)
def test_every_task_has_its_number(holdout):
    made, n_tasks = make_holdout(holdout)
    assert made[TASK_COLUMN][:] == [0, 1, 2]
    assert n_tasks == 3
    assert made["prompt"][0] == holdout[0]["prompt"] if isinstance(holdout[0], dict) else "one"


def test_phrasings_of_one_task_are_one_task():
    made, n_tasks = make_holdout([{"prompt": p, "scenario_id": s} for p, s in [("a", "x"), ("b", "y"), ("c", "x")]])
    assert made[TASK_COLUMN][:] == [0, 1, 0]
    assert n_tasks == 2


@pytest.mark.parametrize("holdout", [None, [], [{"order_id": "a"}], 7, [7], "no/such/place.jsonl"])
def test_what_is_no_holdout(holdout):
    with pytest.raises(WhileaiError):
        make_holdout(holdout)


def test_shared_tasks_are_refused():
    holdout, _ = make_holdout(rows("abc", split="holdout"))
    check_apart(holdout, Dataset.from_list(rows("def", split="train")))
    with pytest.raises(ConfigurationError, match="1 held-out tasks are in the training set"):
        check_apart(holdout, Dataset.from_list(rows("cde", split="train")))
    by_id, _ = make_holdout([{"prompt": "other words", "task_id": "t1"}])
    with pytest.raises(ConfigurationError, match="allow_overlap"):
        check_apart(by_id, Dataset.from_list([{"prompt": "some words", "task_id": "t1"}]))
    check_apart(holdout, None)


def test_tasks_are_shared_whatever_else_one_side_says_of_them():
    train = Dataset.from_list([{"prompt": "Where is a?", "answer": "there"}, {"prompt": "Where is b?", "answer": "x"}])
    prompts, _ = make_holdout(["Where is a?", "Where is c?"])
    with pytest.raises(ConfigurationError, match=r"1 held-out tasks.*Where is a"):
        check_apart(prompts, train)
    more, _ = make_holdout([{"prompt": "Where is b?", "task_id": "b"}])
    with pytest.raises(ConfigurationError, match="1 held-out tasks"):
        check_apart(more, train)
    check_apart(make_holdout(["Where is c?"])[0], train)
    # One prompt, another task: what both say of it differs.
    check_apart(make_holdout([{"prompt": "Where is a?", "answer": "here"}])[0], train)


def test_texts_are_not_held_out_from_messages():
    talk = Dataset.from_list([{"prompt": [{"role": "user", "content": "Where is a?"}]}])
    texts, _ = make_holdout(["Where is a?"])
    with pytest.raises(ConfigurationError, match=r"holdout are text and those of the training set messages"):
        check_alike(texts, talk)
    check_alike(make_holdout(talk)[0], talk)
    check_alike(texts, Dataset.from_dict({"prompt": ["Where is b?"]}))
    check_alike(texts, None)
    check_alike(texts, Dataset.from_dict({"prompt": []}))


def test_same_rows():
    holdout, _ = make_holdout(rows("abc"))
    assert same_rows(Dataset.from_list(rows("abc")), holdout)
    assert not same_rows(Dataset.from_list(rows("acb")), holdout)
    assert not same_rows({"first": holdout}, holdout)


@pytest.mark.parametrize(
    "wrong",
    [
        {"delta": 0},
        {"delta": float("nan")},
        {"alpha": 0.7},
        {"window": 0},
        {"window": 2.0},
        {"lag": 8},
        {"kl_budget": -1},
        {"strict": 1},
        {"batch": 0},
        {"follow": "half"},
    ],
)
def test_wrong_knobs(wrong):
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        MonitorConfig(**wrong)


def test_stop_on():
    assert check_stop_on(None) == set()
    assert check_stop_on("any") == {"divergence", "length", "drift", "feature"}
    assert check_stop_on(["length", "drift"]) == {"length", "drift"}
    for wrong in ("never", ["length", 3], 5):
        with pytest.raises(ConfigurationError, match="stop_on"):
            check_stop_on(wrong)
