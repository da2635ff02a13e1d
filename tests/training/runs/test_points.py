"""Points: one a step, whatever was logged in which order, and nothing lost."""

import json
import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.errors import ConfigurationError
from whileai_hf.training.runs import training_run
from whileai_hf.training.runs.points import gather, point_line


NAMES = st.sampled_from(["loss", "lr", "eval_loss", "reward"])
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
EVENTS = st.lists(st.tuples(st.integers(0, 6), st.dictionaries(NAMES, NUMBERS, min_size=1)), max_size=30)


@given(EVENTS)
def test_one_point_a_step_holds_the_latest_value_of_every_name(events):
    expected = {}
    for step, values in events:
        expected.setdefault(step, {}).update(values)
    points = gather([point_line(step, values, 0.0) for step, values in events]).points
    assert [point["step"] for point in points] == sorted(expected)
    for point in points:
        assert {name: v for name, v in point.items() if name not in ("step", "time")} == expected[point["step"]]


@given(EVENTS, st.integers(0, 6), EVENTS)
def test_behind_a_mark_only_what_came_before_the_step_or_after_the_mark_counts(early, mark, late):
    lines = [point_line(step, values, 0.0) for step, values in early]
    lines.append(json.dumps({"rewind": mark}).encode())
    lines += [point_line(step, values, 0.0) for step, values in late]
    kept = [(step, values) for step, values in early if step <= mark]
    assert gather(lines).points == gather([point_line(step, values, 0.0) for step, values in kept + late]).points


@given(NUMBERS)
def test_a_number_comes_back_to_the_last_bit(number):
    assert json.loads(point_line(0, {"loss": number}, 0.0))["loss"] == number


def test_values_of_every_kind():
    with training_run("kinds") as run:
        run.log(
            np.int64(3),
            a=np.float32(0.5),
            b=np.int32(7),
            c=True,
            d="warm-up \ud800",
            e=None,
            f=math.nan,
            g=-math.inf,
            h=np.array(2.5),
            i=1 << 80,
            j=Decimal("0.25"),
            k=1e-12,
        )
    assert run.series == [
        {
            "step": 3,
            "a": 0.5,
            "b": 7,
            "c": True,
            "d": "warm-up \ufffd",
            "f": None,
            "g": None,
            "h": 2.5,
            "i": float(1 << 80),
            "j": 0.25,
            "k": 1e-12,
        }
    ]


def test_tensors():
    torch = pytest.importorskip("torch")
    with training_run("tensors") as run:
        run.log(1, loss=torch.tensor(0.5), n=torch.tensor(3), nan=torch.tensor(float("nan")))
        with pytest.raises(ConfigurationError, match="several is a Tensor"):
            run.log(2, several=torch.zeros(2))
    assert run.series == [{"step": 1, "loss": 0.5, "n": 3, "nan": None}]


def test_a_step_with_nothing_to_say_is_no_point():
    with training_run("silence") as run:
        run.log(1, loss=None)
        run.log(2)
    assert run.series == []


@pytest.mark.parametrize("step", [-1, 1.5, "3", None, True, math.nan])
def test_a_step_is_a_whole_number(step):
    with training_run("steps") as run, pytest.raises(ConfigurationError, match="whole number"):
        run.log(step, loss=1.0)


@pytest.mark.parametrize("value", [[1.0], {"a": 1}, np.zeros(3), b"x", object()])
def test_a_value_is_one_number_or_one_text(value):
    with training_run("values") as run, pytest.raises(ConfigurationError, match="loss is a"):
        run.log(1, loss=value)
    assert run.series == []


def test_names_a_point_has_itself():
    with training_run("names") as run, pytest.raises(ConfigurationError, match="'time'"):
        run.log(1, time=3.0)


def test_a_dataset_of_the_points():
    with training_run("table") as run:
        run.log(2, loss=1)
        run.log(1, loss=0.5, phase="warm")
        run.log(2, eval_loss=math.nan)
    table = run.dataset()
    assert table["step"] == [1, 2]
    assert table["loss"] == [0.5, 1.0]
    assert table["phase"] == ["warm", None]
    assert table["eval_loss"] == [None, None]
    assert str(table.features["loss"].dtype) == "float64"
