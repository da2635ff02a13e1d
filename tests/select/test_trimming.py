"""Single gates: each drops what it says, in the rows' order, and leaves the stamps of the rows as given."""

import pytest

from whileai_hf.errors import ConfigurationError
from whileai_hf.rows import open_rows
from whileai_hf.select import filter_rl_rows, trim_out_of_band, trim_unanimous_groups


def rollout(task, i, reward, **more):
    return {"scenario_id": task, "prompt": f"ask {task}", "final_text": f"reply {i}", "reward": reward, **more}


GROUPS = {"b": [1, 1], "a": [1, 0], "c": [0, 1, None], "d": [1], "e": [0.5, 0.5], "f": [1] * 9 + [0]}
ROWS = [
    rollout(task, i, r, number=10 * n + i) for n, (task, rs) in enumerate(GROUPS.items()) for i, r in enumerate(rs)
]


@pytest.mark.parametrize("as_source", [list, open_rows])
def test_unanimous(as_source):
    kept, report = trim_unanimous_groups(as_source(ROWS))
    assert list(dict.fromkeys(kept["scenario_id"])) == ["a", "c", "f"]
    assert kept["number"][:] == sorted(kept["number"])
    assert {gate: n for gate, n in report.dropped.items() if n} == {"ungraded": 1, "unanimous": 4, "single": 1}
    assert report.n_in == report.n_kept + sum(report.dropped.values())


def test_out_of_band():
    kept, report = trim_out_of_band(ROWS)
    assert list(dict.fromkeys(kept["scenario_id"])) == ["a", "c", "e"]
    assert report.band_dropped == {"too_easy": 3, "too_hard": 0}
    assert any("as few as 2" in warning for warning in report.warnings)
    assert list(dict.fromkeys(trim_out_of_band(ROWS, band=(0.5, 0.95))[0]["scenario_id"])) == ["a", "c", "e", "f"]
    with pytest.raises(ConfigurationError, match="band"):
        trim_out_of_band(ROWS, band=(1, 0))


def test_junk():
    rows = [*ROWS, {**ROWS[2], "number": 99}, rollout("a", 7, 1, finish_reason="length", number=98)]
    kept, report = filter_rl_rows(rows)
    assert {gate: n for gate, n in report.dropped.items() if n} == {"ungraded": 1, "duplicate": 1, "truncated": 1}
    assert 98 in filter_rl_rows(rows, truncated="keep")[0]["number"]
    assert kept["calibration"][kept["number"].index(10)]["n"] == 4  # as given


def test_in_a_row_they_keep_the_first_stamp():
    rows = [*ROWS, rollout("a", 7, 1, finish_reason="length", number=98)]
    kept = trim_out_of_band(trim_unanimous_groups(filter_rl_rows(rows)[0])[0])[0]
    assert kept["calibration"][0]["n"] == 3 and kept["scenario_id"][0] == "a"


def test_training_on_an_evaluation_is_warned_of():
    rows = [{**row, "lineage": {"source": "eval"}} for row in ROWS]
    for trim in (filter_rl_rows, trim_out_of_band, trim_unanimous_groups):
        kept, report = trim(rows)
        assert report.eval_sourced == len(kept) and any("evaluation" in warning for warning in report.warnings)


def test_filtering_changes_no_reward():
    with pytest.raises(ConfigurationError, match="changes rewards"):
        filter_rl_rows([{"prompt": "a", "final_text": "b", "reward": 1}], truncated="penalize")
