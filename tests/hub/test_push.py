"""A push is one commit that plain `load_dataset` reads, with a tag, a digest and where the rows came from."""

import datetime
import decimal
import json
import os

import pyarrow.parquet as pq
import pytest
from datasets import (
    Array2D,
    ClassLabel,
    Dataset,
    DatasetDict,
    Features,
    Json,
    LargeList,
    List,
    Value,
    load_dataset,
    load_from_disk,
)
from pushed import canonical_rows, dataset, graded

import whileai_hf as wai
from whileai_hf.errors import ConfigurationError, DataError, HubError, PublishGateError, SourceNotFoundError
from whileai_hf.hub.pulling import pull
from whileai_hf.hub.pushing import PushConfig, push, push_file, push_rows
from whileai_hf.hub.record import RunRecord


def record_of(hub, repo, revision=None):
    return RunRecord.loads(hub.server.files(repo, revision)["run.json"])


def shards(hub, repo, revision=None):
    return sorted(path for path in hub.server.files(repo, revision) if path.endswith(".parquet"))


def test_the_loop_survives_the_hub_and_another_process(hub, tools, policy):
    data = wai.simulate(wai.seeded_agent(tools), tools=tools, system_prompt=policy, budget=96, repeats=4, seed=3)
    scored = wai.grade(data, lambda row: {"reward": float(len(row["final_text"]) % 2), "reason": "length"})
    best, _ = wai.optimize(scored, mode="rl", enforce_band=False)
    done = push(best, "alice/refunds-rl", holdout=0.2, agent="Order desk", license="mit", language=["en"])
    assert (done.repo, done.tag) == ("alice/refunds-rl", "v1") and done.gate.ok
    assert sum(done.splits.values()) == len(best) and set(done.splits) == {"train", "holdout"}
    code = f"""
import json, sys, whileai_hf as wai
from datasets import load_dataset
from whileai_hf.rows import view, dumps
rows = load_dataset("alice/refunds-rl", split="train", revision="{done.tag}")
kept, report = wai.optimize(rows, mode="rl", enforce_band=False)
stream = load_dataset("alice/refunds-rl", split="train", revision="{done.tag}", streaming=True)
opened = wai.pass_at("alice/refunds-rl")
sys.stdout.buffer.write(dumps({{
    "rows": list(view(rows).rows()), "passes": wai.pass_at(rows).to_dict(), "kept": len(kept),
    "sft": len(wai.to_trl(rows, "sft")), "grpo": wai.to_trl(rows, "grpo").column_names,
    "streamed": list(stream), "opened": opened.to_dict()}}))
"""
    there = json.loads(hub.server.run(code).stdout)
    parts = wai.measure.hygiene.split(best, holdout=0.2)
    assert there["rows"] == canonical_rows(parts["train"])
    assert there["streamed"] == there["rows"]
    assert there["passes"] == there["opened"] == wai.pass_at(parts["train"]).to_dict()
    assert there["kept"] == len(wai.optimize(parts["train"], mode="rl", enforce_band=False)[0])
    assert there["sft"] == len(wai.to_trl(parts["train"], "sft"))
    assert there["grpo"] == wai.to_trl(parts["train"], "grpo").column_names
    held = load_dataset("alice/refunds-rl", split="holdout", revision=done.tag)
    assert not set(held["scenario_id"]) & set(parts["train"]["scenario_id"])
    assert hub.server.repo("alice/refunds-rl").private


def test_a_run_is_found_again_and_its_record_says_where_rows_come_from(hub, tools, policy):
    data = wai.simulate(wai.seeded_agent(tools), tools=tools, system_prompt=policy, budget=24, repeats=4)
    scored = wai.grade(data, lambda row: float(len(row["final_text"]) % 2))
    push(scored, "alice/a", gate=False)
    record = record_of(hub, "alice/a")
    assert record.run_ids == [data[0]["run_id"]] and record.spec["sha"] == wai.run_report(data).spec["sha"]
    assert record.spec["system_prompt"] == policy and record.policy_versions == [data[0]["policy_version"]]
    assert record.rows == 24 and record.splits["train"].tasks == len(set(data["scenario_id"]))
    with hub.fresh_cache("elsewhere"):
        rows = pull("alice/a")
        assert wai.run_report(rows).to_dict() == {**wai.run_report(data).to_dict(), "spec": record.spec}
        assert done_at(rows) == hub.server.repo("alice/a").tags["v1"]


def done_at(rows):
    return rows.info.homepage.rsplit("/", 1)[1]


def test_every_push_has_a_tag_and_leaves_nothing_stale(hub):
    first = push(dataset(8, extra_column=1), "alice/a", holdout=0.3, max_shard_size=4000)
    assert len(shards(hub, "alice/a")) > 3
    second = push(dataset(5, say="Later."), "alice/a", parent=first)
    assert (first.tag, second.tag) == ("v1", "v2") and first.digest != second.digest
    assert shards(hub, "alice/a") == ["data/train-00000-of-00001.parquet"]
    rows = load_dataset("alice/a", split="train")
    assert rows.column_names == dataset(1).column_names and rows[0]["final_text"] == "Later. 0"
    assert "holdout" not in load_dataset("alice/a")
    assert load_dataset("alice/a", split="train", revision="v1")[0]["extra_column"] == 1
    assert set(load_dataset("alice/a", revision="v1")) == {"train", "holdout"}
    history = record_of(hub, "alice/a").history
    assert [(entry.tag, entry.digest, entry.parent) for entry in history] == [
        ("v1", first.digest, None),
        ("v2", second.digest, "alice/a@v1"),
    ]
    assert record_of(hub, "alice/a").parent.commit == first.commit


def test_shards_are_one_split_whatever_their_number(hub):
    rows = dataset(30)
    one = push(rows, "alice/one")
    many = push(rows.select(range(len(rows))), "alice/many", max_shard_size=10_000)
    assert one.digest == many.digest and len(shards(hub, "alice/many")) > 5
    assert canonical_rows(pull("alice/many")) == canonical_rows(pull("alice/one")) == canonical_rows(rows)
    paths = shards(hub, "alice/many")
    assert paths[0] == f"data/train-00000-of-{len(paths):05d}.parquet"
    other = push(rows.select([*range(1, len(rows)), 0]), "alice/one")
    assert other.digest != one.digest  # the order is part of it


@pytest.mark.parametrize("pick", ["select", "shuffle", "format", "iterable_rows", "file", "saved"])
def test_every_way_to_hold_rows_is_pushed(hub, tmp_path, pick):
    rows = dataset(12)
    wanted = canonical_rows(rows)
    if pick == "select":
        given, wanted = rows.select(range(3, 40, 2)), wanted[3:40:2]
    elif pick == "shuffle":
        given = rows.shuffle(seed=1)
        wanted = canonical_rows(given)
    elif pick == "format":
        given = rows.with_format("pandas")
    elif pick == "iterable_rows":
        given = graded(12)
    elif pick == "file":
        given = tmp_path / "rows.jsonl"
        given.write_text("".join(json.dumps(row) + "\n" for row in graded(12)))
    else:
        rows.save_to_disk(tmp_path / "saved")
        given = load_from_disk(tmp_path / "saved")
    push(given, "alice/a")
    assert canonical_rows(load_dataset("alice/a", split="train")) == wanted == canonical_rows(pull("alice/a"))


def test_rows_and_files_have_calls_of_their_own(hub, tmp_path):
    assert push_rows(graded(3), "alice/a").splits == {"train": 12}
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in graded(2)))
    assert push_file(file, "alice/b", purpose="eval").splits == {"eval": 8}
    with pytest.raises(SourceNotFoundError, match=r"'alice/b' is no file"):
        push_file("alice/b", "alice/c")
    with pytest.raises(ConfigurationError, match="list of dicts"):
        push_rows("rows.jsonl", "alice/c")


def test_a_bare_name_is_in_the_own_namespace(hub):
    assert push(dataset(3), "mine", private=False).repo == "alice/mine"
    assert push(dataset(3), "acme/ours").repo == "acme/ours"
    assert not hub.server.repo("alice/mine").private
    push(dataset(3), "acme/ours", publish=True)
    assert not hub.server.repo("acme/ours").private


def test_splits_are_pushed_as_they_are_given(hub):
    parts = wai.measure.hygiene.split(dataset(9), holdout=0.4)
    push(parts, "alice/a")
    assert {name: canonical_rows(rows) for name, rows in load_dataset("alice/a").items()} == {
        name: canonical_rows(rows) for name, rows in parts.items()
    }
    shared = push({"train": graded(4), "test": graded(2)}, "alice/b")
    assert "2 tasks are in both 'train' and 'test'" in shared.warnings[-1]
    with pytest.raises(ConfigurationError, match="in splits already"):
        push(parts, "alice/b", holdout=0.2)


def test_splits_with_and_without_tool_calls_share_a_schema(hub, load_case):
    case = load_case("O002")
    push(case["input"], "alice/a", gate=False)
    loaded = load_dataset("alice/a")
    assert loaded["train"].features == loaded["test"].features
    assert canonical_rows(loaded["test"]) == case["input"]["test"]
    mixed = {"train": [{"prompt": "a", "x": 1}], "test": [{"prompt": "a", "x": "one"}]}
    with pytest.raises(DataError, match=r"column 'x' is .* in split 'test'"):
        push(mixed, "alice/b", gate=False)
    push({"train": [{"prompt": "a"}], "test": [{"prompt": "b", "x": "one"}]}, "alice/c", gate=False)
    assert load_dataset("alice/c", split="train")[:] == {"prompt": ["a"], "x": [None]}


@pytest.mark.parametrize("name", ["O005", "O006", "O008"])
def test_rows_of_many_shapes_come_back_as_they_were(hub, load_case, name):
    given = load_case(name)["input"]
    rows = given.get("rows") or [given["row"]] if "row" in given or "rows" in given else None
    if rows is None:
        rows = [{"prompt": f"p{i}", "tools": tools} for i, tools in enumerate(given["tools_by_row"])]
    push(rows, "alice/a", gate=False)
    with hub.fresh_cache("elsewhere"):
        assert canonical_rows(pull("alice/a")) == rows


def test_columns_of_every_type_come_back_as_they_were(hub):
    kinds = {
        "label": (ClassLabel(names=["x", "y"]), 1),
        "bytes": (Value("binary"), b"x"),
        "span": (Value("duration[s]"), datetime.timedelta(seconds=3)),
        "time": (Value("time32[s]"), datetime.time(1, 2)),
        "moment": (Value("timestamp[s]"), datetime.datetime(2020, 1, 1)),
        "nanos": (Value("timestamp[ns, tz=UTC]"), datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)),
        "day": (Value("date64"), datetime.date(2020, 1, 1)),
        "price": (Value("decimal128(5, 2)"), decimal.Decimal("1.25")),
        "grid": (Array2D((2, 2), "float32"), [[0.1, 2], [3, 4]]),
        "pair": (List(Value("float16"), length=2), [1.0, 2.0]),
        "many": (LargeList(Value("int8")), [1, 2]),
        "text": (Value("large_string"), "q"),
        "inner": ({"a": Value("string"), "b": List(Value("int32"))}, {"a": None, "b": [1]}),
        "nothing": (Value("null"), None),
    }
    features = Features({"prompt": Value("string"), **{name: kind for name, (kind, _) in kinds.items()}})
    cells = {name: [value, None, value] for name, (_, value) in kinds.items()}
    rows = Dataset.from_dict({"prompt": ["a", "b", "c"], **cells}, features=features)
    push(rows, "alice/a", gate=False)
    back = pull("alice/a")
    assert back.features == features and back.data.table.equals(rows.data.table)


@pytest.mark.slow
def test_tool_results_of_megabytes_are_pushed_whole(hub, load_case):
    case = load_case("O003")["input"]
    size = case["tool_output_chars_each"]
    rows = [
        {"prompt": f"p{i}", "messages": [{"role": "tool", "content": chr(97 + i % 26) * size}]}
        for i in range(case["rows"])
    ]
    push(rows, "alice/a", gate=False)
    found = [row["messages"][0]["content"] for row in pull("alice/a")]
    assert [(len(text), text[0], text[-1]) for text in found] == [
        (size, chr(97 + i % 26), chr(97 + i % 26)) for i in range(case["rows"])
    ]


def test_huge_cells_are_pushed_whole(hub):
    rows = [{"prompt": f"p{i}", "messages": [{"role": "tool", "content": f"{i}" * 2_000_000}]} for i in range(6)]
    push(rows, "alice/a", gate=False)
    assert [len(row["messages"][0]["content"]) for row in pull("alice/a")] == [2_000_000] * 6


def test_a_column_without_values_is_no_obstacle(hub, load_case):
    rewards = load_case("O001")["input"]["rewards_in_order"]
    rows = [{"prompt": f"p{i}", "reward": reward} for i, reward in enumerate(rewards)]
    assert rewards[:1000] == [None] * 1000 and rewards[-1] is not None
    push(rows, "alice/a", gate=False)
    push(rows[:3], "alice/b", gate=False)
    found = pull("alice/a")
    assert found.features["reward"] == Value("float64") == pull("alice/b").features["reward"]
    assert found["reward"][:] == rewards and canonical_rows(pull("alice/b")) == rows[:3]


def test_markers_that_differ_from_row_to_row_come_back(hub, load_case):
    case = load_case("O004")["input"]
    rows = dataset(2, k=3).map(
        lambda row, index: {"markers": case["markers_in_order"][index]},
        with_indices=True,
        features=Features({**dataset(1).features, "markers": Json()}),
        writer_batch_size=case["writer_batch_size"],
    )
    push(rows, "alice/a", gate=False)
    assert [row["markers"] for row in load_dataset("alice/a", split="train")] == case["markers_in_order"]
    assert canonical_rows(pull("alice/a")) == canonical_rows(rows)


def test_the_gate_refuses_what_teaches_nothing_and_nothing_is_made(hub):
    flat = dataset(4, reward=1.0)
    with pytest.raises(PublishGateError, match="no group") as refused:
        push(flat, "alice/a")
    assert refused.value.report.mode == "rl" and hub.server.repos.get("dataset", "alice/a") is None
    found = push(flat, "alice/a", purpose="eval")
    assert any("no group" in text for text in found.warnings) and found.gate is not None
    assert push(flat, "alice/b", gate=False).gate is None
    with pytest.raises(PublishGateError, match="in the evaluation sets"):
        push(dataset(4), "alice/c", eval_data=dataset(4))


def test_one_configuration_beside_another(hub):
    push(dataset(3), "alice/a")
    with pytest.raises(ConfigurationError, match=r"pushed for 'train'.*config_name='eval'"):
        push(dataset(3, note="x"), "alice/a", purpose="eval")
    second = push(dataset(3, note="x"), "alice/a", purpose="eval", config_name="eval")
    assert second.tag == "v2"
    assert pull("alice/a", config_name="eval")[0]["note"] == "x" and "note" not in pull("alice/a").column_names
    assert load_dataset("alice/a", "eval", split="eval")[0]["note"] == "x"
    assert len(load_dataset("alice/a", split="train")) == 12
    push(dataset(4), "alice/a")
    assert len(pull("alice/a", config_name="eval")) == 12 and len(pull("alice/a")) == 16
    assert shards(hub, "alice/a") == ["data/train-00000-of-00001.parquet", "eval/eval-00000-of-00001.parquet"]
    assert push(dataset(4), "alice/a", purpose="eval", overwrite=True).splits == {"eval": 16}
    assert load_dataset("alice/a").keys() == {"eval"}


def test_other_peoples_content_is_never_overwritten_unasked(hub):
    hub.server.put("alice/a", {"data.csv": b"a,b\n1,2\n", "train.parquet": b"x", "notes/me.md": b"mine"})
    before = hub.server.repo("alice/a").branches["main"]
    with pytest.raises(ConfigurationError, match=r"alice/a holds what this library did not push \(data.csv"):
        push(dataset(3), "alice/a")
    assert hub.server.repo("alice/a").branches["main"] == before
    push(dataset(3), "alice/a", overwrite=True)
    assert set(hub.server.files("alice/a")) >= {"README.md", "run.json", "data/train-00000-of-00001.parquet"}
    assert not {"data.csv", "train.parquet", "notes/me.md"} & set(hub.server.files("alice/a"))
    assert hub.server.files("alice/a", before)["notes/me.md"] == b"mine"
    assert len(load_dataset("alice/a", split="train")) == 12


def test_a_repo_that_is_there_and_empty_is_used(hub):
    hub.api.create_repo("alice/a", repo_type="dataset", private=False)
    push(dataset(3), "alice/a")
    assert not hub.server.repo("alice/a").private


@pytest.mark.parametrize(
    "repo", ["", "a/b/c", "alice/", "alice/with space", "../etc", "alice/a..b", "alice/" + "a" * 200]
)
def test_names_that_are_none(hub, repo):
    with pytest.raises(ConfigurationError, match="cannot be the name of a repo"):
        push(dataset(3), repo)


@pytest.mark.parametrize(
    ("data", "knobs", "error", "words"),
    [
        ([], {}, DataError, "empty"),
        (Dataset.from_dict({"prompt": []}), {}, DataError, "empty"),
        ({}, {}, DataError, "empty"),
        ({"train": []}, {}, DataError, "empty"),
        (graded(1), {"holdout": 0.5}, DataError, "cannot be on two sides"),
        (graded(3), {"holdout": 1.5}, ConfigurationError, "holdout=1.5"),
        (graded(3), {"purpose": "test"}, ConfigurationError, "'train', 'holdout', 'eval'"),
        (graded(3), {"purpose": "eval", "holdout": 0.2}, ConfigurationError, "have a holdout"),
        (graded(3), {"parrent": "x"}, ConfigurationError, "did you mean 'parent'"),
        (graded(3), {"parent": "nonsense"}, ConfigurationError, "namespace/name@v1"),
        (graded(3), {"parent": "alice/nothing@v1"}, SourceNotFoundError, "no such repo"),
        (graded(3), {"config_name": "../x"}, ConfigurationError, "config_name='../x'"),
        (graded(3), {"config_name": "data"}, ConfigurationError, "config_name='data'"),
        (graded(3), {"split": "a/b"}, ConfigurationError, "split='a/b'"),
        (graded(3), {"split": "hold-out"}, ConfigurationError, "split='hold-out'"),
        ({"hold-out": graded(3)}, {}, ConfigurationError, "split='hold-out'"),
        (graded(3), {"language": "en"}, ConfigurationError, "language is one text"),
        (graded(3), {"max_shard_size": "500MB"}, ConfigurationError, "max_shard_size='500MB'"),
        ([{"privileged": {"reference": "x"}}], {}, DataError, "only a judge may see"),
    ],
)
def test_bad_input_is_one_sentence_and_makes_nothing(hub, data, knobs, error, words):
    with pytest.raises(error, match=words) as raised:
        push(data, "alice/a", **knobs)
    assert "\n" not in str(raised.value)
    assert hub.server.repos.get("dataset", "alice/a") is None


def test_run_json_stays_small_whatever_the_gate_lists(hub):
    same = [dict(row, prompt=row["prompt"] + " please" * (row["rollout_index"] % 2)) for row in graded(300)]
    push(same, "alice/a")
    assert len(hub.server.files("alice/a")["run.json"]) < 100_000
    assert len(record_of(hub, "alice/a").gate["pass_at"]["per_task"]) == 50


def test_what_a_person_writes_can_hold_anything(hub):
    push(dataset(3), "alice/a", description="x\ud800 \n---\ntags: [evil]", agent="../Desk\n---", license="mit")
    assert record_of(hub, "alice/a").description == "x\ufffd \n---\ntags: [evil]"
    info = hub.api.dataset_info("alice/a")
    assert "evil" not in info.tags and "license:mit" in info.tags
    assert len(load_dataset("alice/a", split="train")) == 12


def test_config_and_knobs_are_the_same_thing(hub):
    config = PushConfig(description="Refunds.", agent="desk")
    push(dataset(3), "alice/a", config=config, agent="Desk 2")
    record = record_of(hub, "alice/a")
    assert (record.description, record.agent) == ("Refunds.", "Desk 2")


def test_plain_push_to_hub_stays_valid(hub, tools, policy):
    data = wai.simulate(wai.seeded_agent(tools), tools=tools, system_prompt=policy, budget=32, repeats=4)
    scored = wai.grade(data, lambda row: float(len(row["final_text"]) % 2))
    scored.push_to_hub("alice/plain")
    loaded = load_dataset("alice/plain", split="train")
    assert canonical_rows(loaded) == canonical_rows(scored) == canonical_rows(pull("alice/plain"))
    assert wai.pass_at("alice/plain").to_dict() == wai.pass_at(scored).to_dict()
    assert len(wai.to_trl(loaded, "grpo")) == len(wai.to_trl(scored, "grpo"))
    assert loaded["group_status"] == scored["group_status"]
    content = b"".join(hub.server.files("alice/plain").values())
    assert b"privileged" not in content and b"expected_calls" not in content
    with pytest.raises(ConfigurationError, match="did not push"):
        push(scored, "alice/plain")


def test_three_processes_at_once_lose_nothing(hub):
    rows = {name: dataset(3, say=name) for name in ("x", "y", "z")}
    ready, go = os.pipe()
    started = {}
    for name in rows:
        started[name] = os.fork()  # a process with all imports done, so that they meet
        if not started[name]:
            try:
                os.close(go)
                os.read(ready, 1)  # until all are there
                push(rows[name], "alice/a", gate=False)
                os._exit(0)
            finally:
                os._exit(1)
    os.close(ready)
    os.close(go)
    assert [os.waitpid(child, 0)[1] for child in started.values()] == [0, 0, 0]
    assert sorted(hub.server.repo("alice/a").tags) == ["v1", "v2", "v3"]
    said = {tag: load_dataset("alice/a", split="train", revision=tag)[0]["final_text"] for tag in ("v1", "v2", "v3")}
    assert sorted(said.values()) == ["x 0", "y 0", "z 0"]
    assert [entry.tag for entry in record_of(hub, "alice/a").history] == ["v1", "v2", "v3"]
    assert len({entry.digest for entry in record_of(hub, "alice/a").history}) == 3


def test_a_push_that_died_before_its_tag_gets_it_from_the_next(hub):
    hub.server.fail("POST .*/tag/", 403, message="no tags today")
    with pytest.raises(HubError, match="tagging alice/a@v1 failed"):
        push(dataset(3), "alice/a")
    hub.server.faults.clear()
    assert push(dataset(4), "alice/a").tag == "v2"
    assert len(pull("alice/a", revision="v1")) == 12 and len(pull("alice/a", revision="v2")) == 16


def test_a_commit_whose_answer_was_lost_is_not_made_twice(hub, monkeypatch):
    monkeypatch.setattr("whileai_hf.store.repos.asking.pause", lambda seconds: None)
    api_commit = type(hub.api).create_commit

    def lossy(api, *arguments, **knobs):
        api_commit(api, *arguments, **knobs)
        raise ConnectionError("the line went dead")

    monkeypatch.setattr("huggingface_hub.HfApi.create_commit", lossy)
    assert push(dataset(3), "alice/a").tag == "v1"
    assert len(list(hub.server.repo("alice/a").history())) == 2 and set(hub.server.repo("alice/a").tags) == {"v1"}


@pytest.mark.parametrize(
    ("token", "repo", "words"),
    [
        (None, "alice/a", "sign in with `hf auth login`"),
        ("hf_wrong", "alice/a", "sign in with `hf auth login`"),
        ("hf_alice_read", "alice/a", "the token may only read"),
        ("hf_bob", "alice/a", "'alice' is not a namespace of bob"),
    ],
)
def test_who_may_not_push_is_told_in_one_sentence(hub, token, repo, words):
    with hub.signed_in(token), pytest.raises(HubError, match=words) as refused:
        push(dataset(3), repo)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("status", "words"),
    [(403, "may not do it"), (413, "too large"), (429, "too many requests"), (500, "status 500"), (0, "no answer")],
)
def test_what_the_hub_says_no_with_is_one_sentence(hub, monkeypatch, status, words):
    monkeypatch.setattr("whileai_hf.store.repos.asking.pause", lambda seconds: None)
    push(dataset(3), "alice/a")
    before = hub.server.repo("alice/a").branches["main"]
    hub.server.fail("POST .*/commit/main", status, message="made to fail")
    with pytest.raises(HubError, match=words) as refused:
        push(dataset(4), "alice/a")
    assert "\n" not in str(refused.value) and str(refused.value).startswith("committing to alice/a failed")
    assert hub.server.repo("alice/a").branches["main"] == before


def test_a_hub_that_is_busy_for_a_while_is_asked_again(hub, monkeypatch):
    waits = []
    monkeypatch.setattr("whileai_hf.store.repos.asking.pause", waits.append)
    hub.server.fail("POST .*/commit/main", 429, times=1, headers={"Retry-After": "7"})
    hub.server.fail("POST .*/tag/", 503, times=2)
    assert push(dataset(3), "alice/a").tag == "v1"
    assert waits == [7.0, 0.5, 1.0]


def test_a_downed_hub_and_offline_mode_say_so(hub, monkeypatch):
    hub.server.stop()
    with pytest.raises(HubError, match=r"pushing to alice/a failed: http://127.0.0.1:\d+ gave no answer"):
        push(dataset(3), "alice/a")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(HubError, match="offline mode is on"):
        push(dataset(3), "alice/a")


def test_parquet_is_what_other_readers_expect(hub, tmp_path):
    push(dataset(3), "alice/a")
    file = tmp_path / "shard.parquet"
    file.write_bytes(hub.server.files("alice/a")["data/train-00000-of-00001.parquet"])
    assert pq.read_table(file).num_rows == 12
    assert Dataset.from_parquet(str(file)).features["messages"] == List(Json())
    assert DatasetDict(hub=load_dataset("alice/a", split="train"))["hub"].features == Features(dataset(1).features)
