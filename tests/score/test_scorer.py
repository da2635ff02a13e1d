"""`Score` as a map function: exact types, caching that follows the judge, other processes."""

from __future__ import annotations

import json
import os
import pickle
import socket
import subprocess
import sys
import textwrap
import threading
import uuid
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from datasets import ClassLabel, Dataset, Features, Json, Value, load_from_disk
from datasets.fingerprint import Hasher

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.rows import open_rows, view
from whileai_hf.rows.features import judgment_features
from whileai_hf.score import Score, grade
from whileai_hf.score.verify import ExactMatch


CASES = Path(__file__).parents[2].parent / "shared" / "real" / "cases.jsonl"


def case(case_id: str) -> dict[str, Any]:
    if not CASES.exists():
        pytest.skip("the symptom cases are not on this machine")
    with CASES.open() as lines:
        return next(item for item in map(json.loads, lines) if item["id"] == case_id)


def rollouts(n: int = 6) -> Dataset:
    return open_rows(
        [
            {
                "scenario_id": f"sc-{i}",
                "prompt": f"Where is order {i}?",
                "steps": [{"tool": "get_order", "arguments": {"id": i, "share": 0.7}, "result": {"status": "ok"}}],
                "final_text": f"Order {i} shipped.",
                "rollout_index": i,
                "lineage": {"system_prompt_sha": "abc"},
            }
            for i in range(n)
        ]
    )


def rule(row: dict[str, Any]) -> dict[str, Any]:
    even = row["rollout_index"] % 2 == 0
    return {"reward": int(even), "reason": "rule", "markers": {"even": even}, "seen": row["steps"]}


def plain(dataset: Dataset) -> list[dict[str, Any]]:
    return list(view(dataset).rows())


def test_the_map_chain_and_grade_give_the_same_rows() -> None:
    data = rollouts()
    mapped, graded = data.map(Score(rule), batched=True), grade(data, rule)
    assert mapped.features == graded.features
    assert plain(mapped) == plain(graded)
    assert plain(grade(plain(data), rule)) == plain(graded)


def test_the_judge_sees_the_same_row_whichever_way_it_comes() -> None:
    data = rollouts(2)
    seen: list[Any] = []

    def judge(row: dict[str, Any]) -> int:
        seen.append(json.dumps(row, sort_keys=True))
        return 1

    score = Score(judge, concurrency=1)
    data.map(score, batched=True)
    score(data.with_format("arrow")[:])
    score(data[:])
    data.to_iterable_dataset().map(score, batched=True)
    list(data.to_iterable_dataset().map(score, batched=True))
    grade(data, judge, concurrency=1)
    grade(plain(data), judge, concurrency=1)
    assert len(seen) == 12
    assert len(set(seen)) == 2


def test_every_kind_of_batch_comes_back_as_its_own_kind() -> None:
    data = rollouts(2)
    table = Score(rule)(data.with_format("arrow")[:])
    assert isinstance(table, pa.Table)
    assert isinstance(table.schema.field("markers").type, pa.JsonType)
    plain_batch = Score(rule)(data[:])
    assert isinstance(plain_batch, dict)
    assert plain_batch["reward"] == [1.0, 0.0]
    assert plain_batch["markers"] == [{"even": 1.0}, {"even": 0.0}]


def test_a_judged_dataset_has_the_types_of_the_schema_and_keeps_foreign_ones() -> None:
    features = Features({"prompt": Value("string"), "kind": ClassLabel(names=["a", "b"]), "short": Value("int8")})
    data = Dataset.from_dict({"prompt": ["x", "y"], "kind": [0, 1], "short": [1, 2]}, features=features)
    for judged in (data.map(Score(lambda row: row["kind"]), batched=True), grade(data, lambda row: row["kind"])):
        assert {name: judged.features[name] for name in features} == features
        assert {name: judged.features[name] for name in judgment_features()} == judgment_features()
        assert judged["reward"][:] == [0.0, 1.0]


def test_a_first_batch_without_any_reward_breaks_nothing() -> None:
    rewards = case("O001")["input"]["rewards_in_order"]
    data = Dataset.from_dict({"prompt": [f"p{i}" for i in range(len(rewards))], "n": list(range(len(rewards)))})
    judged = data.map(Score(lambda row: rewards[row["n"]]), batched=True)
    assert judged["reward"][:] == rewards
    assert judged.features["reward"] == Value("float64")
    assert judged.features["judge_meta"] == Json()


def test_markers_that_differ_from_batch_to_batch_survive() -> None:
    given = case("O004")["input"]
    markers = given["markers_in_order"]
    data = Dataset.from_dict({"n": list(range(len(markers)))})
    score = Score(lambda row: {"reward": 1, "markers": markers[row["n"]]})
    size = given["writer_batch_size"]
    judged = data.map(score, batched=True, batch_size=size, writer_batch_size=size)
    assert judged["markers"][:] == markers


def test_markers_are_merged_and_the_judges_win() -> None:
    data = open_rows([{"markers": {"old": 1.0, "both": 1.0}}, {"markers": None}])
    judged = data.map(Score(lambda row: {"reward": 1, "markers": {"both": 0}}), batched=True)
    assert judged["markers"][:] == [{"old": 1.0, "both": 0.0}, {"both": 0.0}]


def test_provenance_rides_on_every_row() -> None:
    row = plain(rollouts(1).map(Score(rule, version="7", name="my rule"), batched=True))[0]
    assert (row["judge_name"], row["judge_status"]) == ("my rule", "ok")
    assert row["judge_meta"]["version"] == "7"
    assert row["lineage"] == {
        "system_prompt_sha": "abc",
        "source": "grade",
        "judge": "my rule",
        "judge_version": "7",
    }


def test_a_second_judgement_replaces_the_first() -> None:
    data = grade(rollouts(2), lambda row: {"reward": 0, "reason": "bad", "failure_class": "x", "k": 1})
    judged = plain(data.map(Score(lambda row: 1), batched=True))
    assert [(r["reward"], r["reason"], r["failure_class"]) for r in judged] == [(1.0, None, None)] * 2
    assert all("k" not in row["judge_meta"] for row in judged)


def test_rows_say_which_edition_of_a_judge_spoke() -> None:
    def edition(value: int) -> Any:
        return grade(rollouts(1), eval(f"lambda row: {value}"))[0]["judge_meta"]["code"]

    assert edition(0) == edition(0) != edition(1)
    counted: list[int] = []

    def counts(row: dict[str, Any]) -> int:
        counted.append(1)
        return len(counted) % 2

    metas = [grade(rollouts(2), counts)["judge_meta"][:] for _ in range(2)]
    assert metas[0] == metas[1]
    assert grade(rollouts(1), ExactMatch(), name="x")[0]["judge_meta"] == {"verifier": "ExactMatch"}


def test_a_judge_that_adds_keys_to_its_row_changes_nothing_else() -> None:
    def judge(row: dict[str, Any]) -> int:
        row["extra"] = 1
        row.pop("prompt")
        return 1

    rows = [{"prompt": "x"}]
    assert "extra" not in grade(rows, judge).column_names
    assert rows == [{"prompt": "x"}]
    assert rollouts(1).map(Score(judge), batched=True)[0]["prompt"] == "Where is order 0?"


def test_privileged_columns_are_seen_but_not_passed_on() -> None:
    data = open_rows([{"final_text": "42", "privileged": {"reference": "42"}, "expected_calls": [{"tool": "f"}]}])
    judged = data.map(Score(ExactMatch()), batched=True)
    assert judged["reward"][:] == [1.0]
    assert not {"privileged", "expected_calls"} & set(judged.column_names)
    kept = data.map(Score(ExactMatch(), keep_privileged=True), batched=True)
    assert kept["privileged"][:] == [{"reference": "42"}]
    assert Score(ExactMatch())(data[:])["privileged"] == [None]
    for keep in (False, True):
        row = next(iter(data.to_iterable_dataset().map(Score(ExactMatch(), keep_privileged=keep), batched=True)))
        assert row["reward"] == 1.0
        assert row["privileged"] == ({"reference": "42"} if keep else None)
        assert bool(row["expected_calls"]) == keep


def test_a_judge_that_changes_nested_values_changes_no_row() -> None:
    def judge(row: dict[str, Any]) -> int:
        count = len(row["tools"]) + len(row["steps"][0]["result"])
        row["tools"].append({"name": "mine"})
        row["steps"][0]["result"]["mine"] = 1
        return count

    rows = [{"steps": [{"tool": "f", "result": {"a": 1}}], "tools": [{"name": "f"}]} for _ in range(3)]
    rows[1]["tools"] = rows[0]["tools"]
    before = json.dumps(rows)
    data = open_rows(rows)
    batch = {name: [row[name] for row in rows] for name in rows[0]}
    judged = [
        plain(grade(rows, judge, concurrency=1)),
        plain(grade(data, judge, concurrency=1)),
        plain(data.map(Score(judge, concurrency=1), batched=True)),
    ]
    out = Score(judge, concurrency=1)(batch)
    assert out["reward"] == [2.0] * 3
    assert json.dumps(rows) == before
    assert [{name: out[name][i] for name in rows[0]} for i in range(3)] == rows
    for result in judged:
        assert [{name: row[name] for name in rows[0]} for row in result] == rows
        assert {row["reward"] for row in result} == {2.0}


def test_columns_limit_what_the_judge_sees() -> None:
    seen: list[set[str]] = []
    score = Score(lambda row: seen.append(set(row)) or 1, columns=["final_text"])
    judged = rollouts(1).map(score, batched=True)
    assert seen == [{"final_text"}]
    assert "steps" in judged.column_names


@pytest.mark.parametrize(
    ("judge", "knobs", "message"),
    [
        (None, {}, "pass judge="),
        (3, {}, "cannot be called"),
        (ExactMatch, {}, "is a class"),
        (rule, {"timeout": 0}, "timeout=0"),
        (rule, {"timeout": True}, "timeout=True"),
        (rule, {"concurrency": 0}, "concurrency=0"),
        (rule, {"concurrency": 2.0}, "concurrency=2.0"),
    ],
)
def test_wrong_arguments_get_one_sentence(judge: Any, knobs: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        Score(judge, **knobs)


def test_without_batched_it_says_so() -> None:
    with pytest.raises(ConfigurationError, match="batched=True"):
        rollouts(1).map(Score(rule))
    with pytest.raises(ConfigurationError, match="batched=True"):
        Score(rule)({"prompt": "one row"})
    with pytest.raises(DataError, match="rows"):
        Score(rule)({"a": [1], "b": [1, 2]})


# What decides about the cache.


def test_how_a_judge_is_run_does_not_change_its_hash_but_what_it_is_does() -> None:
    base = Hasher.hash(Score(rule))
    assert Hasher.hash(Score(rule, timeout=3, concurrency=2)) == base
    others = [
        Score(rule, version="1"),
        Score(rule, version="2"),
        Score(rule, name="x"),
        Score(rule, columns=["steps"]),
    ]
    assert len({base, *map(Hasher.hash, others)}) == 5


class Client:
    """A judge with everything that cannot be hashed or sent away."""

    def __init__(self, folder: Path) -> None:
        self.lock = threading.Lock()
        self.client = socket.socket()
        self.id = uuid.uuid4().hex
        self.log = folder / "calls.txt"

    def judge(self, row: dict[str, Any]) -> int:
        with self.lock, self.log.open("a") as file:
            file.write(f"{row['rollout_index']}\n")
        return 1

    def calls(self) -> int:
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0


def test_with_a_version_an_unpicklable_judge_is_answered_from_the_cache(tmp_path: Path) -> None:
    case("O007")
    rollouts().save_to_disk(tmp_path / "rows")
    for expected in (6, 6):
        judge = Client(tmp_path)
        judged = load_from_disk(tmp_path / "rows").map(Score(judge.judge, version="1"), batched=True)
        assert judged["reward"][:] == [1.0] * 6
        assert judge.calls() == expected
        judge.client.close()
    judge = Client(tmp_path)
    load_from_disk(tmp_path / "rows").map(Score(judge.judge, version="2"), batched=True)
    assert judge.calls() == 12
    judge.client.close()


def test_without_one_it_is_asked_again_and_a_warning_says_how_to_avoid_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rollouts().save_to_disk(tmp_path / "rows")
    judge = Client(tmp_path)
    for expected in (6, 12):
        load_from_disk(tmp_path / "rows").map(Score(judge.judge), batched=True)
        assert judge.calls() == expected
    assert "pass version=" in caplog.text
    with pytest.raises(ConfigurationError, match="cannot be sent to another process"):
        pickle.dumps(Score(judge.judge))
    judge.client.close()


def test_a_plain_judge_is_answered_from_the_cache(tmp_path: Path) -> None:
    rollouts().save_to_disk(tmp_path / "rows")
    log = str(tmp_path / "calls.txt")

    def judge(row: dict[str, Any]) -> int:
        with open(log, "a") as file:
            file.write("x")
        return 1

    for _ in range(2):
        load_from_disk(tmp_path / "rows").map(Score(judge), batched=True)
    assert Path(log).read_text() == "x" * 6


def test_a_closure_travels_to_other_processes() -> None:
    limit = 3
    data = rollouts(8)
    judged = data.map(Score(lambda row: row["rollout_index"] < limit), batched=True, num_proc=2)
    assert judged["reward"][:] == [1.0] * 3 + [0.0] * 5


def test_an_async_judge_works_in_forked_processes_after_the_parent_used_its_loop() -> None:
    async def judge(row: dict[str, Any]) -> int:
        return row["rollout_index"] % 2

    data = rollouts(4)
    grade(data, judge)
    assert data.map(Score(judge), batched=True, num_proc=2)["reward"][:] == [0.0, 1.0, 0.0, 1.0]


def test_plain_pickle_carries_a_score() -> None:
    copy = pickle.loads(pickle.dumps(Score(lambda row: row["n"], version="1", concurrency=2)))
    assert copy({"n": [0, 1]})["reward"] == [0.0, 1.0]
    assert (copy.version, copy.concurrency) == ("1", 2)


def test_editing_the_judges_module_changes_the_verdicts_of_the_next_run(tmp_path: Path) -> None:
    rollouts().save_to_disk(tmp_path / "rows")
    program = textwrap.dedent(
        """
        import sys, my_judges
        from datasets import load_from_disk
        from whileai_hf.score import Score
        judged = load_from_disk(sys.argv[1]).map(Score(my_judges.judge), batched=True)
        print(judged["reward"][:])
        """
    )
    helper = "def passes(text):\n    return 'shipped' in text\n"
    text = helper + "def judge(row):\n    return passes(row['final_text'])\n"
    env = {**os.environ, "PYTHONPATH": f"{tmp_path}:{Path(__file__).parents[2]}", "PYTHONDONTWRITEBYTECODE": "1"}
    outputs = []
    for source in (text, text, text.replace("'shipped' in", "'lost' in")):
        (tmp_path / "my_judges.py").write_text(source)
        command = [sys.executable, "-c", program, str(tmp_path / "rows")]
        done = subprocess.run(command, capture_output=True, text=True, env=env, check=True)
        outputs.append(done.stdout.strip())
    assert outputs == ["[1.0, 1.0, 1.0, 1.0, 1.0, 1.0]"] * 2 + ["[0.0, 0.0, 0.0, 0.0, 0.0, 0.0]"]
    assert len(list((tmp_path / "rows").glob("cache-*.arrow"))) == 2  # the second run was answered from the first
