"""What rows hold, ours and other people's, on the Hub and off it."""

import json

import pytest
from datasets import Dataset, DatasetDict

import whileai_hf as wai
from whileai_hf.errors import ConfigurationError, DataError, HubError, SourceNotFoundError
from whileai_hf.hub.profiling import preview, profile


ALPACA = [
    {"instruction": "Give three tips.", "input": "", "output": "1. Eat. 2. Sleep. 3. Walk.", "text": "Below is ..."},
    {"instruction": "Add the numbers.", "input": "2, 3", "output": "5", "text": "Below is ..."},
    {"instruction": "Add the numbers.", "input": "4, 5", "output": "9", "text": "Below is ..."},
    {"instruction": "Add the numbers.", "input": "2, 3", "output": "Five.", "text": "Below is ..."},
]


def call(tool, status="ok"):
    return {"tool": tool, "arguments": {"order_id": "A1"}, "result": {"status": status}}


@pytest.fixture(scope="module")
def graded():
    """Five tasks with four rollouts each: passes 4, 3, 2, 0, and one task with a single verdict."""
    verdicts = {"a": [1, 1, 1, 1], "b": [1, 1, 1, 0], "c": [1, 0, 1, 0], "d": [0, 0, 0, 0], "e": [1, None, None, None]}
    tools = [
        {"type": "function", "function": {"name": name}} for name in ("get_order", "refund_order", "cancel_order")
    ]
    return [
        {
            "run_id": "run-1",
            "scenario_id": f"sc-{task}",
            "prompt": f"Where is order {task}?",
            "messages": [{"role": "user", "content": "?"}],
            "tools": tools,
            "steps": [call("get_order")] + [call("refund_order", "timeout")] * (index % 2),
            "final_text": "On its way." * (index + 1),
            "rollout_index": index,
            "reward": None if reward is None else float(reward),
            "judge_status": "missing_reward" if reward is None else "ok",
        }
        for task, given in verdicts.items()
        for index, reward in enumerate(given)
    ]


def test_the_numbers_are_those_of_the_functions_that_measure(graded):
    found = profile(graded)
    assert found.passes.to_dict() == wai.pass_at(graded).to_dict()
    assert found.signal.to_dict() == wai.group_signal(graded).to_dict()
    assert (found.pass_rate, found.ci95) == (found.passes.pass_at_1, found.passes.ci95)
    assert found.threshold == 1.0 and found.cannot == []


def test_support_mixed_tasks_and_every_task(graded):
    found = profile(graded)
    assert found.support == {
        "n_tasks": 5,
        "n_scored": 17,
        "repeats": {"min": 4, "median": 4.0, "max": 4},
        "solved": 4,
        "never_solved": 1,
        "thin": 1,
    }
    assert found.mixed == {"mixed": 2, "all_pass": 1, "all_fail": 1, "single": 1}
    # What has most to teach first.
    assert [(one.task, one.n_passed, one.n_scored) for one in found.per_task[:2]] == [("sc-c", 2, 4), ("sc-b", 3, 4)]
    rates = {one.task: one.pass_rate for one in found.per_task}
    assert rates == found.passes.per_task
    assert found.per_task[0].prompt == "Where is order c?" and found.per_task[0].mean_reward == 0.5


def test_tool_use_counts_calls_failures_and_what_is_never_called(graded):
    used = profile(graded).tool_use
    assert (used.share, used.n_rows, used.never_called) == (1.0, 20, ["cancel_order"])
    assert [(one.tool, one.calls, one.rows, one.failed) for one in used.tools] == [
        ("get_order", 20, 20, 0),
        ("refund_order", 10, 10, 10),
    ]
    assert used.failed_share == pytest.approx(10 / 30)
    assert used.calls_per_row == {"mean": 1.5, "median": 1.5, "max": 2}


def test_a_profile_is_the_same_however_the_rows_come(graded, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in graded))
    rows = wai.open_rows(graded)
    first = profile(graded).to_dict()
    for source in (rows, str(path), path, DatasetDict({"train": rows}), rows.shuffle(seed=1).sort("scenario_id")):
        found = profile(source).to_dict()
        assert {**found, "source": "", "columns": "", "per_task": ""} == {
            **first,
            "source": "",
            "columns": "",
            "per_task": "",
        }
        assert sorted(map(str, found["per_task"])) == sorted(map(str, first["per_task"]))
    assert profile(str(path)).source == str(path)


@pytest.mark.parametrize("make", [list, Dataset.from_list], ids=["list", "Dataset"])
def test_alpaca_gives_what_can_be_said_and_names_what_cannot(make):
    found = profile(make(ALPACA))
    assert found.roles == {"prompt": "instruction + input", "reply": "output"}
    assert found.columns == ["instruction", "input", "output", "text"]
    # Two rows ask the same: the input is part of the ask.
    assert found.support["n_tasks"] == 3 and found.support["repeats"]["max"] == 2
    assert (found.passes, found.signal, found.mixed, found.tool_use, found.per_task) == (None, None, None, None, [])
    assert set(found.lengths) == {"prompt", "reply"}
    said = "\n".join(found.cannot)
    assert "pass rate: no row has a reward" in said and "tool use: the rows have neither steps nor messages" in said
    assert str(found).count("cannot say: ") == len(found.cannot) == 2


def test_conversations_in_the_other_spelling_with_calls_in_them():
    talk = [
        {"from": "human", "value": "Where is order A1?"},
        {"from": "gpt", "value": "It is on its way."},
    ]
    found = profile([{"conversations": talk}, {"conversations": talk[:1]}, {"conversations": None}])
    assert found.roles == {"messages": "conversations"}
    assert found.lengths["reply"]["median"] == len("It is on its way.")
    assert found.support["n_tasks"] == 2 and found.tool_use.share == 0.0
    messages = [
        {"role": "user", "content": "Where?"},
        {"role": "assistant", "tool_calls": [{"function": {"name": "get_order", "arguments": '{"id": 1}'}}]},
        {"role": "assistant", "content": "Here."},
    ]
    assert profile([{"messages": messages}]).tool_use.tools[0].tool == "get_order"


def test_a_verdict_under_another_name_is_read_when_it_is_named():
    rows = [{"question": f"q{i // 4}", "answer": "#### 3", "correct": i % 4 > 1} for i in range(24)]
    without = profile(rows)
    assert without.passes is None and "(numbers stand in correct)" in without.cannot[0]
    found = profile(rows, reward="correct")
    assert found.pass_rate == 0.5 and found.mixed["mixed"] == 6 and found.roles["reference"] == "answer"
    with pytest.raises(
        ConfigurationError, match="reward='right' is no column; the rows have question, answer, correct"
    ):
        profile(rows, reward="right")
    with pytest.raises(ConfigurationError):
        profile(rows, reward="question")


def test_scores_of_others_are_no_verdict_until_somebody_says_so():
    rows = [
        {"prompt": f"p{i}", "chosen": "a", "rejected": "b", "score_chosen": 4, "score_rejected": i} for i in range(4)
    ]
    found = profile(rows)
    assert found.passes is None and "(numbers stand in score_chosen, score_rejected)" in found.cannot[0]
    assert found.roles == {"prompt": "prompt", "reply": "chosen", "rejected": "rejected"}
    assert profile(rows, reward="score_rejected", threshold=2).pass_rate == 0.5


def test_a_completions_table_of_trl_is_read_as_one():
    rows = [
        {"step": 1, "prompt": f"p{i // 4}", "completion": f"c{i}", "right": float(i % 2), "advantage": i % 2 - 0.5}
        for i in range(16)
    ]
    found = profile(rows)
    assert found.pass_rate == 0.5 and found.mixed["mixed"] == 4 and "reply" in found.lengths


def test_rewards_that_are_a_scale_have_no_pass_rate_until_one_is_named():
    rows = [{"prompt": f"p{i // 3}", "reward": 0.1 + 0.017 * i} for i in range(30)]
    found = profile(rows)
    assert (found.passes, found.threshold, found.mixed) == (None, None, None)
    assert found.support["solved"] is None and "pass threshold=" in found.cannot[0]
    assert found.per_task[0].pass_rate is None and found.per_task[0].mean_reward == pytest.approx(0.117)
    assert profile(rows, threshold=0.3).passes.n_scored == 30
    with pytest.raises(ConfigurationError, match="threshold"):
        profile(rows, threshold="high")


def test_rows_that_name_no_task_are_still_described():
    found = profile([{"text": "once upon a time"}, {"text": None}])
    assert found.support is None and "nothing names the task" in found.cannot[0] and found.n_rows == 2
    assert "2 rows" in str(found)


@pytest.mark.parametrize(
    "row",
    [
        {"prompt": None, "reward": None},
        {"prompt": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}], "reward": 1},
        {"prompt": "\ud800 lone", "messages": "text", "steps": "none", "tools": [None, 3, {"function": 7}]},
        {"instruction": 3, "input": ["a"], "output": {"b": 1}},
        {"question": "x" * 1_000_000, "final_text": ""},
        {"conversations": [None, "hi", {"from": None, "value": None}, {"value": "x"}, 3]},
        {"prompt": "\u6211\u7684\u8ba2\u5355", "steps": [None, {"tool": 3}, {"tool": "f", "arguments": "{"}]},
    ],
)
def test_odd_rows_are_described_and_not_fallen_over(row):
    assert profile([row, row]).n_rows == 2
    assert str(preview([row]))


def test_what_only_a_judge_may_see_is_named(graded):
    found = profile([{**row, "privileged": {"reference": "x"}, "expected_calls": []} for row in graded])
    assert found.privileged == ["expected_calls", "privileged"] and "do not publish" in str(found)


def test_any_split_of_the_hub_is_profiled(hub):
    other = [{**row, "output": "7"} for row in ALPACA[:2]]
    DatasetDict({"train": Dataset.from_list(ALPACA), "test": Dataset.from_list(other)}).push_to_hub("alice/alpaca")
    Dataset.from_list(ALPACA[:1]).push_to_hub("alice/alpaca", config_name="small")
    sha = hub.api.dataset_info("alice/alpaca").sha
    with hub.signed_in("hf_bob"):  # whose it is does not matter
        found = profile("alice/alpaca")
        assert (found.n_rows, found.source, found.commit) == (4, "alice/alpaca (train)", sha)
        assert profile("alice/alpaca", split="test").lengths["reply"]["median"] == 1
        assert profile("alice/alpaca", split="train", config="small").n_rows == 1
    with pytest.raises(SourceNotFoundError, match=r"has no split 'dev'; it has train, test"):
        profile("alice/alpaca", split="dev")
    with pytest.raises(SourceNotFoundError):
        profile("alice/nothing")


def test_a_path_with_a_mistake_in_it_is_told_as_one(hub, monkeypatch):
    for look in (profile, preview):
        with pytest.raises(
            SourceNotFoundError, match=r"'data/rowz.jsonl' is no existing path \(looked for .*no such repo"
        ):
            look("data/rowz.jsonl")
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        with pytest.raises(HubError, match=r"'data/rowz.jsonl' is no existing path .*offline"):
            look("data/rowz.jsonl")
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)


def test_a_revision_is_the_one_that_is_profiled(hub):
    Dataset.from_list(ALPACA).push_to_hub("alice/alpaca")
    hub.api.create_tag("alice/alpaca", tag="one", repo_type="dataset")
    Dataset.from_list(ALPACA[:1]).push_to_hub("alice/alpaca")
    assert (profile("alice/alpaca", revision="one").n_rows, profile("alice/alpaca").n_rows) == (4, 1)
    with pytest.raises(SourceNotFoundError, match="one"):
        profile("alice/alpaca", revision="two")


def test_arguments_of_repos_are_refused_for_rows():
    for given in ({"split": "train"}, {"config": "x"}, {"revision": "v1"}):
        with pytest.raises(ConfigurationError, match="no repo on the Hub"):
            profile(ALPACA, **given)
    with pytest.raises(DataError, match="the splits a, b"):
        profile(DatasetDict({"a": Dataset.from_list(ALPACA), "b": Dataset.from_list(ALPACA)}))
    with pytest.raises(SourceNotFoundError):
        profile("no such thing at all")


def test_a_preview_shows_the_first_rows_and_fetches_no_more(hub):
    rows = [{"prompt": f"ask {i}", "blob": f"{i}" * 3000, "reward": float(i % 2)} for i in range(400)]
    Dataset.from_list(rows).push_to_hub("alice/plain")
    found = preview("alice/plain", n=2)
    assert [row["prompt"] for row in found.rows] == ["ask 0", "ask 1"]
    assert found.columns == {"prompt": "string", "blob": "string", "reward": "float64"}
    assert found.splits == {"train": 400} and found.n_rows == 400 and found.record is None
    text = str(found)
    assert "(3000 characters)" in text and len(text) < 2000
    with pytest.raises(SourceNotFoundError, match="no split 'x'"):
        preview("alice/plain", split="x")


def test_a_preview_of_files_that_are_no_parquet(hub):
    lines = "".join(json.dumps(row) + "\n" for row in ALPACA).encode()
    hub.server.put("alice/lines", {"train.jsonl": lines, "test.jsonl": lines})
    found = preview("alice/lines", n=2)
    assert found.rows == ALPACA[:2] and found.splits == {"train": None, "test": None} and found.n_rows is None


def test_a_preview_says_what_rows_share_once():
    rows = [{"prompt": "Where is it?", "persona": "plain", "error": None, "steps": [], "reward": r} for r in (0, 1, 1)]
    text = str(preview(rows))
    assert text.count("Where is it?") == text.count("plain") == 1 and text.count("reward: ") == 3
    assert "error:" not in text and "steps:" not in text.partition("the same in each row:")[2]
    assert max(map(len, str(preview([{f"column_{i}": i for i in range(90)}])).splitlines()[1:13])) < 120
    assert "the same" not in str(preview(rows, n=1)) and "Where is it?" in str(preview(rows, n=1))


def test_a_preview_of_rows_at_hand():
    found = preview(ALPACA, n=1)
    assert (found.rows, found.n_rows, found.commit) == ([ALPACA[0]], 4, None)
    assert preview(Dataset.from_list(ALPACA)).columns["output"] == "string"
    for n in (0, True, 1.5, 10_000):
        with pytest.raises(ConfigurationError, match="n="):
            preview(ALPACA, n=n)
