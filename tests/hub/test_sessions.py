"""Session traces: the viewer's format to the letter, and no way for them to get in the way of the data."""

import json

import datasets
import pytest
from datasets import Dataset, load_dataset
from datasets.packaged_modules.json.json import has_agent_traces_markers

import whileai_hf as wai
from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.hub.cards import build_card
from whileai_hf.hub.record import RunRecord, SplitRecord
from whileai_hf.hub.sessions import export_session_traces
from whileai_hf.hub.sessions.transcript import transcript
from whileai_hf.rows import view
from whileai_hf.rows.features import known_features


def read(folder):
    return {path.name: [json.loads(line) for line in path.read_bytes().splitlines()] for path in folder.iterdir()}


@pytest.fixture(scope="module")
def graded():
    tools = [{"name": "get_order", "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}}}]
    data = wai.simulate(
        wai.seeded_agent(tools), tools=tools, mode="rl", situations=6, repeats=2, repeat_policy="fixed"
    )
    return wai.grade(data, judge=lambda row: row["rollout_index"] % 2)


def test_format(graded, tmp_path):
    report = export_session_traces(graded, tmp_path / "traces")
    files = read(tmp_path / "traces")
    assert report.n_files == len(files) == len(graded) == 12 and report.n_skipped == 0
    rows = {(row["scenario_id"], row["rollout_index"]): row for row in view(graded).rows()}
    ids = set()
    for name, (session, *lines) in files.items():
        assert session["type"] == "session" and session["harness"] == "whileai-hf" and name == session["id"] + ".jsonl"
        ids.add(session["id"])
        told = session["metadata"]
        row = rows[told["scenario_id"], told["rollout_index"]]
        assert told["reward"] == row["reward"] and told["run_id"] == row["run_id"]
        assert {line["type"] for line in lines} == {"message"}
        messages = [line["message"] for line in lines]
        assert [(m["role"], m["content"]) for m in messages] == [(m["role"], m["content"]) for m in row["messages"]]
        for message, original in zip(messages, row["messages"], strict=True):
            assert set(message) <= {"role", "content", "reasoningContent", "toolCalls", "toolCallId", "model"}
            assert ("model" in message) == (message["role"] == "assistant")
            for call, first in zip(message.get("toolCalls", []), original.get("tool_calls", []), strict=True):
                assert call["id"] == first["id"] and call["function"]["name"] == first["function"]["name"]
                assert json.loads(call["function"]["arguments"]) == first["function"]["arguments"]
        calls = [call["id"] for message in messages for call in message.get("toolCalls", [])]
        assert [message["toolCallId"] for message in messages if message["role"] == "tool"] == calls
    assert len(ids) == 12 and report.n_tool_calls > 0


def test_again_is_the_same(graded, tmp_path):
    first, second = (read(tmp_path / name) for name in ("a", "b") if export_session_traces(graded, tmp_path / name))
    assert first == second
    export_session_traces(graded, tmp_path / "a")
    assert read(tmp_path / "a") == first


def _repo(folder, graded, card):
    (folder / "data").mkdir(parents=True)
    graded.to_parquet(folder / "data" / "train-00000-of-00001.parquet")
    export_session_traces(graded, folder / "traces")
    if card:
        record = RunRecord("v1", "train", {"train": SplitRecord(len(graded), 6, "a", [])}, "a")
        (folder / "README.md").write_text(build_card({"train": graded}, record).readme)


@pytest.mark.parametrize("card", [True, False])
@pytest.mark.parametrize("streaming", [True, False])
def test_traces_beside_parquet_do_not_hijack_it(graded, tmp_path, monkeypatch, card, streaming):
    monkeypatch.setattr(datasets.config, "TORCH_AVAILABLE", False)  # streaming would spend seconds on importing it
    _repo(tmp_path / "repo", graded, card)
    loaded = load_dataset(
        str(tmp_path / "repo"), split="train", streaming=streaming, cache_dir=str(tmp_path / "cache")
    )
    rows = list(loaded) if streaming else list(view(loaded).rows())
    assert [row["scenario_id"] for row in rows] == graded["scenario_id"]
    assert loaded.features == graded.features


def test_traces_beside_parquet_on_the_hub(graded, tmp_path, hub):
    _repo(tmp_path / "repo", graded, card=True)
    hub.api.create_repo("alice/refunds", repo_type="dataset")
    hub.api.upload_folder(repo_id="alice/refunds", repo_type="dataset", folder_path=tmp_path / "repo")
    loaded = load_dataset("alice/refunds", split="train")
    assert loaded["scenario_id"] == graded["scenario_id"] and loaded.features == graded.features


def test_no_set_of_our_columns_is_taken_for_a_trace(graded):
    features = known_features()
    assert not has_agent_traces_markers(features) and not has_agent_traces_markers(graded.features)


def test_our_rows_as_jsonl_are_rows(graded, tmp_path):
    lines = [json.dumps(row) for row in view(graded).rows()]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    loaded = load_dataset(
        "json", data_files=str(tmp_path / "rows.jsonl"), split="train", cache_dir=str(tmp_path / "c")
    )
    assert loaded["scenario_id"] == graded["scenario_id"]


def test_no_token_no_folder_and_no_quoted_answer_gets_out(tmp_path, monkeypatch):
    token, answer = "hf_" + "q" * 34, "It was the third parcel of that week."
    monkeypatch.setenv("HOME", "/home/annika-7")
    row = {
        "prompt": f"{token} is mine",
        "privileged": {"facts": [answer]},
        "messages": [
            {"role": "user", "content": f"{token} is mine"},
            {"role": "tool", "content": json.dumps({"vector": [0.1234567], "file": "/home/annika-7/x"})},
            {"role": "assistant", "content": "Noted."},
        ],
        "reason": f"should have said: {answer}",
        "error": f"no such file: /home/annika-7/rows {token}",
    }
    export_session_traces([row], tmp_path / "traces")
    written = "".join(file.read_text() for file in (tmp_path / "traces").iterdir())
    assert "Noted." in written and "should have said" in written
    assert not [hidden for hidden in (token, answer, "annika", "1234567", "vector", "privileged") if hidden in written]


def test_nothing_privileged_gets_out(tmp_path):
    secret = {"reference": "ANSWER-KEY"}
    row = {
        "task_id": 1,
        "prompt": "hi",
        "privileged": secret,
        "expected_calls": [{"tool": "ANSWER-KEY"}],
        "vector": [42.5],
        "messages": [
            {"role": "user", "content": "hi"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": {"x": 1, "privileged": secret}}}],
            },
            {"role": "tool", "tool_call_id": "c", "content": json.dumps({"ok": 1, "privileged": secret})},
            {"role": "assistant", "content": [{"type": "image_url", "privileged": secret}]},
        ],
        "scenario_dimensions": {"tool": "f", "privileged": secret},
        "final_text": "done",
    }
    steps = {
        "task_id": 2,
        "prompt": "hi",
        "final_text": "done",
        "steps": [{"tool": "f", "arguments": "not {json", "result": {"privileged": secret, "ok": 1}}],
    }
    export_session_traces([row, steps], tmp_path)
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir()).decode()
    assert (
        "ANSWER-KEY" not in written
        and "42.5" not in written
        and "privileged" not in written
        and "not {json" in written
    )


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("transformers:/home/me/models/tiny#ab12", "transformers:tiny#ab12"),
        ("/home/me/models/tiny", "tiny"),
        ("C:\\models\\tiny", "tiny"),
        ("hf:Qwen/Qwen3-4B", "hf:Qwen/Qwen3-4B"),
        ("vllm:m@http://example.com/v1", "vllm:m@http://example.com/v1"),
        ("my.module:agent#5e", "my.module:agent#5e"),
    ],
)
def test_models_are_named_without_folders(tmp_path, given, shown):
    export_session_traces([{"prompt": "a", "final_text": "b", "model_version": given}], tmp_path)
    (lines,) = read(tmp_path).values()
    assert lines[-1]["message"]["model"] == shown


def test_rows_of_other_stacks():
    steps = [{"text": "Let me look."}, {"tool": "f", "arguments": {"a": 1}, "result": {"b": 2}}, {"user": "And?"}]
    told = transcript({"prompt": "hi", "steps": steps, "final_text": "done"})
    assert [message["role"] for message in told] == ["user", "assistant", "tool", "user", "assistant"]
    assert told[1]["toolCalls"][0]["id"] == told[2]["toolCallId"] and told[1]["content"] == "Let me look."
    # Calls and results without ids, two at once; a result nobody asked for.
    calls = [{"function": {"name": "f", "arguments": "{}"}}, {"function": {"name": "g", "arguments": None}}]
    messages = [
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "content": {"n": 1}},
        {"role": "tool", "content": "2"},
        {"role": "tool", "content": "3"},
    ]
    told = transcript({"messages": messages})
    ids = [call["id"] for call in told[0]["toolCalls"]]
    assert [message.get("toolCallId") for message in told[1:]] == [*ids, None] and len(set(ids)) == 2
    # Reasoning is a field of its own; calls that cannot be read are shown as text.
    told = transcript({"messages": [{"role": "assistant", "content": "x", "reasoning_content": "think"}]})
    assert told == [{"role": "assistant", "content": "x", "reasoningContent": "think"}]
    told = transcript(
        {
            "messages": [
                {"role": "assistant", "content": "x", "tool_calls": [{"function": {"name": "f", "arguments": "{"}}]}
            ]
        }
    )
    assert told[0]["content"].startswith("x\n") and '"name":"f"' in told[0]["content"]


@pytest.mark.parametrize("status", ["error", "invalid"])
def test_failed_rollouts_are_shown(status, tmp_path):
    row = {
        "prompt": "hi",
        "messages": [{"role": "user", "content": "hi"}],
        "rollout_status": status,
        "error": "boom",
        "final_text": "",
    }
    export_session_traces([row], tmp_path)
    (lines,) = read(tmp_path).values()
    assert lines[0]["metadata"]["error"] == "boom" and lines[1]["message"]["role"] == "user"


@pytest.mark.parametrize(
    "odd", [None, 7, "text", {}, [None], [7, "x"], [{"role": 3}], [{"role": "user", "content": "\ud800"}]]
)
def test_odd_conversations(odd, tmp_path):
    rows = [{"messages": odd, "steps": odd, "prompt": odd, "final_text": odd}, {"prompt": "ok", "final_text": "x"}]
    report = export_session_traces(rows, tmp_path)
    assert report.n_files + report.n_skipped == 2 and report.n_files >= 1
    for lines in read(tmp_path).values():
        assert lines[0]["type"] == "session"


def test_hostile_names_stay_in_the_folder(tmp_path):
    rows = [{"scenario_id": "../../etc/x", "prompt": "a" * 10_000, "final_text": "b", "rollout_index": 0}] * 2
    report = export_session_traces(rows, tmp_path / "traces")
    assert report.n_files == 2 and len(list((tmp_path / "traces").iterdir())) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["traces"]
    assert all(len(lines[0]["name"]) <= 80 for lines in read(tmp_path / "traces").values())


def test_a_folder_of_its_own(graded, tmp_path):
    (tmp_path / "train.parquet").write_bytes(b"")
    with pytest.raises(ConfigurationError, match=r"holds other files \(train.parquet\).*traces"):
        export_session_traces(graded, tmp_path)
    with pytest.raises(ConfigurationError, match="is a file"):
        export_session_traces(graded, tmp_path / "train.parquet")
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "rows.jsonl").write_text('{"prompt": "x"}')
    with pytest.raises(ConfigurationError, match=r"rows\.jsonl"):
        export_session_traces(graded, tmp_path / "rows")
    with pytest.raises(DataError, match="none of the 1 rows holds a conversation"):
        export_session_traces(Dataset.from_list([{"task_id": 1}]), tmp_path / "new")
