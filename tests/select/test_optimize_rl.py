"""Selection of groups: every gate, the order of what is left, and that every row is accounted for."""

import copy
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import whileai_hf as wai
from whileai_hf.errors import ConfigurationError, DataError, MissingColumnError
from whileai_hf.measure.hygiene import dedupe_groups
from whileai_hf.rows import open_rows, view
from whileai_hf.rows.schema import calibration_of
from whileai_hf.select import SelectionConfig, optimize
from whileai_hf.stats import wilson


def rollout(task, i, reward, **more):
    return {
        "scenario_id": task,
        "prompt": f"ask {task}",
        "steps": [{"tool": "get_order", "arguments": {"order_id": f"{task}-{i}"}, "result": {"status": "ok"}}],
        "final_text": f"reply {i}",
        "reward": reward,
        **more,
    }


def rows_of(groups, **more):
    return [rollout(task, i, r, **more) for task, rewards in groups.items() for i, r in enumerate(rewards)]


def kept_tasks(data):
    return list(dict.fromkeys(data["scenario_id"]))


def test_root_gives_the_function():
    assert wai.optimize is optimize


@pytest.mark.parametrize("as_source", [list, open_rows, lambda rows: open_rows(rows).select(range(len(rows)))])
def test_gates(as_source):
    groups = {
        "mixed": [1, 0, 1, 0],
        "all pass": [1, 1, 1],
        "all fail": [0, 0, 0],
        "all half": [0.5, 0.5],
        "easy": [1] * 9 + [0],
        "hard": [0] * 9 + [1],
        "ungraded": [None, None],
        "one left": [1, None],
    }
    kept, report = optimize(as_source(rows_of(groups)), mode="rl")
    assert kept_tasks(kept) == ["mixed"]
    dropped = {gate: n for gate, n in report.dropped.items() if n}
    assert dropped == {"ungraded": 3, "unanimous": 8, "single": 1, "out_of_band": 20}
    assert {gate: n for gate, n in report.dropped_groups.items() if n} == {
        "ungraded": 1,
        "unanimous": 3,
        "single": 1,
        "out_of_band": 2,
    }
    assert report.band_dropped == report["band_dropped"] == {"too_easy": 1, "too_hard": 1}
    assert (report.n_in, report.n_kept, report.n_groups_in, report.n_groups_kept) == (36, 4, 8, 1)
    text = str(report)
    assert "kept 4 of 36 rows, 1 of 8 groups" in text
    assert "band: 1 groups too easy, 1 too hard" in text


def test_unanimity_is_exact():
    kept, _ = optimize(rows_of({"a": [0.3, 0.1 + 0.2, 1.0]}), band=(0.0, 1.0))
    assert len(kept) == 3
    kept, report = optimize(rows_of({"a": [0.3, 0.3]}), band=(0.0, 1.0))
    assert report.dropped["unanimous"] == 2


def test_two_phrasings_are_two_groups():
    rows = [rollout("t", i, i % 2, prompt=f"phrasing {i // 2}") for i in range(4)]
    rows += [rollout("t", i, 1, prompt="solved") for i in range(2)]
    kept, report = optimize(rows)
    assert report.n_groups_in == 3
    assert kept["prompt"][:] == ["phrasing 0"] * 2 + ["phrasing 1"] * 2


@pytest.mark.parametrize("as_source", [list, open_rows])
def test_duplicates(as_source):
    call = {"tool": "get_order", "arguments": {"a": 1, "b": 2}, "result": {"status": "ok"}}
    turned = {"tool": "get_order", "arguments": {"b": 2, "a": 1}, "result": {"status": "ok"}, "logprob": -1.5}
    other = {"tool": "get_order", "arguments": {"a": 1, "b": 2}, "result": {"status": "timeout"}}
    rows = [
        rollout("t", 0, 1, steps=[call], final_text="Done."),
        rollout("t", 1, 0, steps=[call], final_text="Failed."),
        rollout("t", 2, 1, steps=[turned], final_text="  done. "),  # a copy of the first
        rollout("t", 3, 1, steps=[other], final_text="Done."),
        rollout("t", 4, 0, steps=[call, call], final_text="Done."),
        rollout("u", 5, 1, steps=[call], final_text="Done."),  # another group
        rollout("u", 6, 0, steps=[call], final_text="No."),
        rollout("t", 7, 1, steps=[turned, {"text": "thinking"}], final_text="Done."),  # says more: other tokens
    ]
    kept, report = optimize(as_source(rows))
    assert report.dropped["duplicate"] == dedupe_groups(rows)[1].n_dropped == 1
    assert len(kept) == 7
    assert report.hygiene_warnings == []
    rows[2]["reward"] = 0
    _, report = optimize(as_source(rows))
    assert "contradicts itself" in report.hygiene_warnings[0]


def test_duplicates_may_leave_nothing_to_compare():
    same = {"steps": [], "final_text": "I cannot do that."}
    rows = [rollout("t", i, i % 2, **same) for i in range(4)]
    kept, report = optimize(rows)
    assert len(kept) == 0
    assert (report.dropped["duplicate"], report.dropped["single"]) == (3, 1)
    assert any("nothing is left" in warning for warning in report.warnings)
    assert kept.column_names == [*rows[0], "calibration", "n0", "n1", "reward_mean", "reward_std"]
    assert kept.features == optimize(rows_of({"t": [1, 0]}))[0].features


def test_truncated():
    rows = rows_of({"a": [1, 0, 1, 0]})
    rows[0]["finish_reason"] = "length"
    kept, report = optimize(rows)
    assert (len(kept), report.dropped["truncated"]) == (3, 1)
    kept, report = optimize(rows, truncated="keep")
    assert (len(kept), report.dropped["truncated"]) == (4, 0)


@pytest.mark.parametrize("as_source", [list, open_rows])
def test_unusable(as_source):
    rows = rows_of({"a": [1, 0, 1, 0, 1, 0]})
    rows[0] |= {"prompt": " "}
    rows[1] |= {"final_text": "", "steps": []}
    rows[2] |= {"final_text": None, "steps": [{"user": "hello?"}]}
    rows[3] |= {"final_text": ""}  # it called a tool
    kept, report = optimize(as_source(rows), band=(0.0, 1.0))
    assert report.dropped["unusable"] == 3
    assert len(kept) == 3


def test_messages_are_content_too():
    rows = [
        {
            "prompt": "a",
            "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": f"{i}"}],
            "reward": i,
        }
        for i in range(2)
    ]
    rows.append({"prompt": "a", "messages": [{"role": "user", "content": "a"}], "reward": 1})
    rows.append({**rows[0]})
    for source in (rows, open_rows(rows)):
        kept, report = optimize(source, band=(0.1, 0.9))
        assert kept["reward"][:] == [0, 1]
        assert (report.dropped["unusable"], report.dropped["duplicate"]) == (1, 1)


def test_difficulty_is_that_of_the_rows_given():
    """Truncated and duplicate rollouts count for the pass rate although they are dropped."""
    rows = rows_of({"a": [1] * 8 + [0, 0], "b": [1, 0]}, policy_version="p")
    for row in rows[:6]:
        row["finish_reason"] = "length"
    kept, _ = optimize(rows)
    stamps = dict(zip(kept["scenario_id"], kept["calibration"], strict=True))
    assert kept_tasks(kept) == ["b", "a"]  # 0.5 before 0.8
    assert stamps["a"] == {
        "task_id": "a",
        "n": 10,
        "passes": 8,
        "pass_rate": 0.8,
        "mean_reward": 0.8,
        "n_probe": None,
        "pass_rate_ci95": pytest.approx(list(wilson(8, 10)), abs=1e-7),
        "policy_version": "p",
    }
    assert calibration_of({"calibration": stamps["a"]}).pass_rate == 0.8
    at_a = [i for i, task in enumerate(kept["scenario_id"]) if task == "a"]
    assert [kept["n1"][at_a[0]], kept["n0"][at_a[0]]] == [2, 2]


def test_group_columns():
    kept, report = optimize(rows_of({"a": [1.0, 0.5, 0.25, 0.0]}))
    assert (kept["n1"][0], kept["n0"][0]) == (2, 2)
    assert kept["reward_mean"][0] == pytest.approx(0.4375)
    assert kept["reward_std"][0] == pytest.approx(np.std([1.0, 0.5, 0.25, 0.0]))
    assert any("split at 0.5" in note for note in report.notes)


def test_several_policies_are_no_policy():
    rows = rows_of({"a": [1, 0]})
    rows[0]["policy_version"], rows[1]["policy_version"] = "p1", "p2"
    kept, _ = optimize(rows)
    assert kept["calibration"][0]["policy_version"] is None


def test_band():
    groups = {f"{c}": [1] * c + [0] * (10 - c) for c in range(11)}
    assert kept_tasks(optimize(rows_of(groups))[0]) == ["2", "3", "4", "5", "6", "7", "8"]
    assert kept_tasks(optimize(rows_of(groups), band=(0.3, 0.7))[0]) == ["3", "4", "5", "6", "7"]
    kept, report = optimize(rows_of(groups), enforce_band=False)
    assert kept_tasks(kept) == ["2", "3", "4", "5", "6", "7", "8", "1", "9"]  # ranked last, not dropped
    assert report.band_dropped == {"too_easy": 0, "too_hard": 0}


@pytest.mark.parametrize(("k", "warned"), [(4, True), (15, True), (16, False)])
def test_a_band_from_few_rollouts_is_a_guess(k, warned):
    _, report = optimize(rows_of({"a": [i % 2 for i in range(k)], "b": [0, 0]}))
    assert any("fewer" in w or "under 16" in w for w in report.warnings) == warned


def test_turns_over_faults_and_pass_rates():
    quarter, half, three = [1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]
    timeout = {"faults": {"get_order": {"kind": "timeout", "ran": "no", "seen": "error", "at": 1, "lasts": 1}}}
    rows = rows_of({"a": half, "b": half, "c": quarter, "d": three, "e": quarter})
    rows += rows_of({"f": half, "g": quarter}, **timeout)
    for source in (rows, open_rows(rows)):
        kept, _ = optimize(source)
        assert kept_tasks(kept) == ["c", "g", "a", "f", "d", "e", "b"]
        groups = kept["scenario_id"][:]
        assert [group for i, group in enumerate(groups) if i == 0 or groups[i - 1] != group] == kept_tasks(kept)


def test_target_takes_whole_groups():
    rows = rows_of({f"t{i}": [1, 0, 1, 0] for i in range(10)})
    kept, report = optimize(rows, target=10)
    assert (len(kept), report.dropped["over_target"], report.dropped_groups["over_target"]) == (8, 32, 8)
    assert len(optimize(rows, target=1)[0]) == 4  # at least one
    assert len(optimize(rows, target=40)[0]) == 40


def test_nothing_of_the_input_changes():
    rows = rows_of({"a": [1, 0], "b": [1, 1]}, my_column={"x": [1]}, tags=["u", "v"])
    before = copy.deepcopy(rows)
    kept, _ = optimize(rows)
    assert rows == before
    assert kept["my_column"][0] == {"x": [1]}
    assert kept["tags"][0] == ["u", "v"]
    dataset = open_rows(rows)
    columns, fingerprint = dataset.column_names, dataset._fingerprint
    optimize(dataset)
    assert (dataset.column_names, dataset._fingerprint) == (columns, fingerprint)


def test_lists_and_datasets_agree():
    random = np.random.default_rng(0)
    rows = rows_of({f"t{i}": random.integers(0, 2, 6).tolist() for i in range(60)}, policy_version="p")
    dataset = open_rows(rows)
    from_list, report = optimize(rows, target=100)
    from_dataset, same = optimize(dataset, target=100)
    assert report == same
    assert list(view(from_list).rows()) == list(view(from_dataset).rows())
    order = random.permutation(len(rows)).tolist()
    from_shuffled, _ = optimize(dataset.select(order))
    assert list(view(from_shuffled).rows()) == list(view(optimize([rows[i] for i in order])[0]).rows())


def test_a_selection_can_be_saved_and_selected_again(tmp_path):
    kept, _ = optimize(open_rows(rows_of({"a": [1, 0, 1], "b": [1, 1], "c": [0, 1]})))
    kept.to_parquet(tmp_path / "kept.parquet")
    again, report = optimize(tmp_path / "kept.parquet")
    assert report.n_kept == len(kept)
    assert again["calibration"][:] == kept["calibration"][:]


def test_training_on_an_evaluation_is_warned_of():
    rows = rows_of({"a": [1, 0], "b": [1, 0]})
    for row in rows[:2]:
        row["lineage"] = {"source": "eval"}
    for source in (rows, open_rows(rows)):
        _, report = optimize(source)
        assert report.eval_sourced == 2
        assert any("evaluation" in warning for warning in report.warnings)
    assert optimize(rows[2:])[1].eval_sourced == 0


def test_smaller_groups_are_said():
    rows = rows_of({f"t{i}": [1, 0, 1, 0] for i in range(3)})
    assert optimize(rows)[1].hygiene_warnings == []
    rows[0]["finish_reason"] = "length"
    assert "pass^k" in optimize(rows)[1].hygiene_warnings[0]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 4),
            st.integers(0, 1),
            st.sampled_from([0, 1, 0.5, None]),
            st.sampled_from(["", "yes", "no", "maybe"]),
            st.sampled_from(["stop", "length"]),
        ),
        min_size=1,
        max_size=40,
    ),
    st.sampled_from(["rl", "sft"]),
    st.sampled_from(["top_per_prompt", "top_k_overall", "random_per_prompt", "random_k_overall"]),
    st.none() | st.integers(1, 12),
    st.booleans(),
)
def test_every_row_is_accounted_for(drawn, mode, select, target, enforce):
    rows = [
        rollout(f"t{task}", 0, reward, prompt=f"p{phrasing}", final_text=text, finish_reason=finish, number=i)
        for i, (task, phrasing, reward, text, finish) in enumerate(drawn)
    ]
    kept, report = optimize(rows, mode=mode, select=select, target=target, enforce_band=enforce)
    assert report.n_in == len(rows) == report.n_kept + sum(report.dropped.values())
    assert report.n_groups_in == report.n_groups_kept + sum(report.dropped_groups.values())
    assert len(kept) == report.n_kept
    numbers = kept["number"][:]
    assert len(set(numbers)) == len(numbers)
    assert all(rows[i]["reward"] is not None for i in numbers)
    if mode == "rl":
        groups = {}
        for i in numbers:
            groups.setdefault((rows[i]["scenario_id"], rows[i]["prompt"]), []).append(rows[i]["reward"])
        assert all(len(set(rewards)) > 1 for rewards in groups.values())
    elif target is not None:
        assert report.n_kept <= target
    json.dumps(report.to_dict())


@pytest.mark.parametrize(
    ("knobs", "said"),
    [
        ({"mode": "dpo"}, "'rl', 'sft'"),
        ({"select": "best"}, "'top_per_prompt', 'top_k_overall'"),
        ({"truncated": "penalise"}, "'drop', 'keep'"),
        ({"band": (0.8, 0.2)}, "0 <= low < high <= 1"),
        ({"band": (-0.1, 0.5)}, "0 <= low < high <= 1"),
        ({"band": (0.5, 1.5)}, "0 <= low < high <= 1"),
        ({"band": 0.5}, "pair of pass rates"),
        ({"band": None}, "enforce_band=False"),
        ({"target": 0}, "1 or more"),
        ({"target": 1.5}, "1 or more"),
        ({"min_reward": float("nan")}, "finite"),
        ({"trucated": "drop"}, "did you mean 'truncated'"),
    ],
)
def test_impossible_knobs(knobs, said):
    with pytest.raises(ConfigurationError, match=said):
        optimize(rows_of({"a": [1, 0]}), **knobs)


def test_config_object():
    rows = rows_of({f"t{i}": [1, 0, 1, 0] for i in range(10)})
    config = SelectionConfig(target=8)
    assert len(optimize(rows, config=config)[0]) == 8
    assert len(optimize(rows, config=config, target=20)[0]) == 20


def test_rows_that_cannot_be_selected():
    with pytest.raises(MissingColumnError, match="grade the rows first"):
        optimize([{"prompt": "a", "final_text": "b"}])
    with pytest.raises(MissingColumnError, match="'prompt'"):
        optimize([{"task_id": 1, "final_text": "b", "reward": 1}])
    with pytest.raises(MissingColumnError, match="'final_text' or 'steps' or 'messages'"):
        optimize([{"prompt": "a", "reward": 1}])
    with pytest.raises(DataError, match="empty"):
        optimize([])
