"""What is trained on and what is held out never share a task."""

import pytest
from datasets import Dataset, DatasetDict

from whileai_hf.errors import DataError
from whileai_hf.training.launching.material import read_material


def rows(names, repeats=2):
    return [{"scenario_id": name, "prompt": f"Ask {name}", "reward": 1.0} for name in names for _ in range(repeats)]


def tasks(dataset):
    return set(dataset["scenario_id"][:])


def test_a_share_of_the_tasks_is_held_out():
    material = read_material(rows(map(str, range(40))), share=0.25, seed=3)
    assert not tasks(material.train) & tasks(material.held_out)
    assert len(material.train) + len(material.held_out) == 80
    again = read_material(rows(map(str, range(40))), share=0.25, seed=3)
    assert tasks(again.held_out) == tasks(material.held_out)


def test_none_is_held_out_when_none_is_asked_for():
    assert read_material(rows("ab"), share=0.0).held_out is None


@pytest.mark.parametrize("name", ["holdout", "eval", "test", "validation"])
def test_the_split_beside_the_training_rows(name, tmp_path):
    parts = DatasetDict(train=Dataset.from_list(rows("abc")), **{name: Dataset.from_list(rows("de"))})
    parts.save_to_disk(str(tmp_path / "parts"))
    for source in (parts, str(tmp_path / "parts"), tmp_path / "parts"):
        material = read_material(source)
        assert (tasks(material.train), tasks(material.held_out)) == (set("abc"), set("de"))


def test_rows_of_their_own_win_over_the_split():
    parts = DatasetDict(train=Dataset.from_list(rows("abc")), test=Dataset.from_list(rows("de")))
    assert tasks(read_material(parts, rows("xy")).held_out) == set("xy")


def test_a_task_on_both_sides_is_refused():
    with pytest.raises(DataError, match="1 held-out tasks are trained on as well, the first is 'b'"):
        read_material(rows("ab"), rows("bc"))


def test_splits_without_training_rows():
    parts = DatasetDict(one=Dataset.from_list(rows("ab")), two=Dataset.from_list(rows("cd")))
    with pytest.raises(DataError, match="the splits one, two"):
        read_material(parts)
