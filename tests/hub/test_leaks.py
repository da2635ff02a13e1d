"""Nothing only a judge may see, no token and no folder of this machine is in any byte of a push."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import ClassLabel, Dataset, Features, Image, Json, List, Value, load_dataset
from pushed import canonical_rows, dataset, graded

import whileai_hf as wai
from whileai_hf.errors import DataError
from whileai_hf.hub.pulling import pull
from whileai_hf.hub.pushing import push
from whileai_hf.hub.pushing.hiding import LOCAL, WITHHELD
from whileai_hf.rows.columns import dataset_from_table
from whileai_hf.store import read_privileged


ANSWER = "The refund of ORD-1 was paid on Monday already."
HIDDEN = {"privileged": {"reference": ANSWER}, "expected_calls": [{"tool": "refund", "arguments": {"note": ANSWER}}]}


def said(hub, repo, tmp_path):
    """Every byte of a repo as text, Parquet decompressed."""
    found = []
    for path, content in hub.server.files(repo).items():
        if path.endswith(".parquet"):
            file = tmp_path / path.replace("/", "-")
            file.write_bytes(content)
            table = pq.read_table(file)
            found += [json.dumps(table.to_pylist(), default=str, ensure_ascii=False), str(table.schema)]
        else:
            found.append(content.decode())
    return "\n".join(found)


def nested():
    """Rows that hold the answer in every place it could hide."""
    rows = graded(4)
    for row in rows:
        row |= HIDDEN | {"vector": [0.25, 0.5]}
        row["metadata"] = {"task": {"deep": [HIDDEN, {"kept": 1, "vector": [0.25]}]}}
        row["steps"][0]["result"] = json.dumps({"ok": True, **HIDDEN})
        row["messages"][2]["content"] = json.dumps({"ok": True, **HIDDEN})
        row["messages"][1]["tool_calls"][0]["function"]["arguments"] = json.dumps({"n": 1, **HIDDEN})
        row["dump"] = json.dumps({"row": {"inner": json.dumps(HIDDEN)}, "kept": 2})
    return rows


def test_no_answer_hides_at_any_depth(hub, tmp_path):
    done = push(nested(), "alice/a", holdout=0.3)
    text = said(hub, "alice/a", tmp_path)
    assert ANSWER not in text
    rows = list(pull("alice/a"))
    assert "privileged" not in rows[0] and "vector" not in rows[0]
    assert rows[0]["metadata"] == {"task": {"deep": [{}, {"kept": 1}]}}
    assert json.loads(rows[0]["messages"][2]["content"]) == {"ok": True}
    assert json.loads(rows[0]["dump"])["kept"] == 2
    assert {line.split(" ")[0] for line in done.scrubbed} == {
        "privileged", "expected_calls", "vector", "metadata", "steps", "messages", "dump",
    }  # fmt: skip
    assert done.scrubbed == json.loads(hub.server.files("alice/a")["run.json"])["scrubbed"]


def test_structs_lose_their_hidden_fields(hub, tmp_path):
    inner = {"a": Value("string"), "privileged": {"reference": Value("string")}}
    features = Features({"prompt": Value("string"), "extra": inner, "many": List(inner)})
    block = {"a": "x", "privileged": {"reference": ANSWER}}
    rows = Dataset.from_list([{"prompt": "p", "extra": block, "many": [block]}] * 3, features=features)
    push(rows, "alice/a", gate=False)
    assert ANSWER not in said(hub, "alice/a", tmp_path)
    assert load_dataset("alice/a", split="train")[0] == {"prompt": "p", "extra": {"a": "x"}, "many": [{"a": "x"}]}


def test_only_rows_with_something_to_hide_are_touched(hub):
    rows = graded(6)
    rows[5]["metadata"] = {"privileged": {"reference": ANSWER}, "kept": [1, {"x": None}]}
    wanted = [dict(row, metadata=None) for row in rows]
    wanted[5]["metadata"] = {"kept": [1, {"x": None}]}
    assert push(rows, "alice/a").scrubbed == ["metadata (1 rows)"]
    assert canonical_rows(pull("alice/a")) == canonical_rows(wanted)


def test_words_that_only_look_hidden_stay(hub):
    rows = graded(3, say='A "privileged" customer wants the vector file; expected_calls: none.')
    assert push(rows, "alice/a").scrubbed == []
    assert canonical_rows(pull("alice/a")) == canonical_rows(dataset(3, say=rows[0]["steps"][1]["text"]))


def test_a_judge_that_quotes_the_answer_does_not_give_it_away(hub, tmp_path, tools, policy):
    data = wai.simulate(wai.seeded_agent(tools), tools=tools, system_prompt=policy, budget=24, repeats=4)
    known = read_privileged(data[0]["run_id"])
    answers = {key: extra["privileged"]["reference"] for key, extra in known.items()}

    def judge(row):
        answer = answers[row["scenario_id"], row["prompt"]]
        return {"reward": float(len(row["final_text"]) % 2), "reason": f"should have been: {answer} (it was not)"}

    scored = wai.grade(data, judge)
    done = push(scored, "alice/a", gate=False)
    text = said(hub, "alice/a", tmp_path)
    assert not [answer for answer in answers.values() if answer in text]
    assert not [e["privileged"]["hidden_state"] for e in known.values() if e["privileged"]["hidden_state"] in text]
    assert pull("alice/a")[0]["reason"] == f"should have been: {WITHHELD} (it was not)"
    assert done.scrubbed == ["reason (24 rows)"]


def test_a_judge_that_quotes_the_answer_of_its_own_row_does_not_either(hub, tmp_path):
    fact = "It was the third parcel of that week."
    rows = graded(2)
    for row in rows:
        row |= {"privileged": {"facts": [{"text": fact}], "reference": ANSWER}, "reason": f"{fact} Hence: {ANSWER}"}
    push(rows, "alice/a")
    text = said(hub, "alice/a", tmp_path)
    assert ANSWER not in text and fact not in text
    assert pull("alice/a")[0]["reason"] == f"{WITHHELD} Hence: {WITHHELD}"


def test_embeddings_leave_json_text(hub, tmp_path):
    block = {"vector": [0.1234567, 1e-9], "id": 7}
    texts = [
        json.dumps(block),
        json.dumps({"id": 7, "vector": []}, indent=2),
        json.dumps({"vector": [0.1234567]}),
        json.dumps({"page": json.dumps([block, {"id": 8, **block}])}),
    ]
    push([{"prompt": f"p{i}", "dump": text} for i, text in enumerate(texts)], "alice/a", gate=False)
    assert "vector" not in said(hub, "alice/a", tmp_path) and "1234567" not in said(hub, "alice/a", tmp_path)
    found = [json.loads(row["dump"]) for row in pull("alice/a")]
    assert found[:3] == [{"id": 7}, {"id": 7}, {}] and json.loads(found[3]["page"]) == [{"id": 7}, {"id": 7}]
    code = 'm = {"vector": [1, 2]}  # what an agent wrote'
    push([{"prompt": "p", "dump": code}], "alice/b", gate=False)
    assert pull("alice/b")[0]["dump"] == code


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "binary", "large_binary"])
def test_every_kind_of_text_is_looked_through(hub, tmp_path, monkeypatch, kind):
    secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEX"
    monkeypatch.setenv("CLOUD_SECRET_KEY", secret)
    tokens = ["hf_" + "q" * 34, "hf_oauth_eyJhbGciOiJFZERTQSJ9.eyJzY29wZSI6W10.c2lnbmF0dXJl"]
    text = f"a{tokens[0]}_b {tokens[1]} {secret} {tmp_path}/rows"
    monkeypatch.chdir(tmp_path)
    value = text.encode() if "binary" in kind else text
    features = Features({"prompt": Value("string"), "log": Value(kind)})
    push(Dataset.from_dict({"prompt": ["p", "q"], "log": [value, None]}, features=features), "alice/a", gate=False)
    found = said(hub, "alice/a", tmp_path)
    assert not [hidden for hidden in (*tokens, secret, str(tmp_path)) if hidden in found]
    wanted = f"a{WITHHELD}_b {WITHHELD} {WITHHELD} {LOCAL}/rows"
    assert pull("alice/a")["log"][:] == [wanted.encode() if "binary" in kind else wanted, None]
    assert pull("alice/a").features == features


def test_names_that_give_something_away_are_refused(hub, monkeypatch):
    monkeypatch.setenv("HOME", "/home/annika-7")
    with pytest.raises(DataError, match=r"the column '\[local\]/score' holds a token or a path"):
        push([{"prompt": "p", "/home/annika-7/score": 1}], "alice/a", gate=False)
    features = Features({"prompt": Value("string"), "label": ClassLabel(names=["hf_" + "q" * 34])})
    with pytest.raises(DataError, match="labels of 'label'"):
        push(Dataset.from_dict({"prompt": ["p"], "label": [0]}, features=features), "alice/a", gate=False)
    assert hub.server.repos.get("dataset", "alice/a") is None


def test_rows_stay_in_their_place_when_a_column_goes(hub):
    rows = [{"prompt": f"p{i}", "privileged": "x" * 4000, "reason": "y" * (i % 7)} for i in range(9000)]
    for number in (0, 4500, 8999):
        rows[number]["reason"] = "hf_" + "q" * 34
    assert push(rows, "alice/a", gate=False).scrubbed == ["privileged (the column)", "reason (3 rows)"]
    found = pull("alice/a")["reason"][:]
    assert found == [WITHHELD if i in (0, 4500, 8999) else "y" * (i % 7) for i in range(9000)]


def test_no_token_and_no_folder_of_this_machine(hub, tmp_path, monkeypatch):
    token = "hf_" + "q" * 34
    home, secret = "/home/annika-7", "s3cr3t-0123456789"
    monkeypatch.setenv("HOME", home)
    monkeypatch.setenv("DESK_API_KEY", secret)
    rows = graded(4)
    for row in rows:
        row["metadata"] = {"source": f"{home}/traces/a.jsonl", "command": f"curl -H 'Bearer {token}' {tmp_path}/x"}
        row["error"] = f"FileNotFoundError: {Path.cwd()}/rows.jsonl"
        row["messages"][2]["content"] = f"key={secret} at {home}/notes.txt, and /home/annika-77/other"
        row["reason"] = "hf_alice"
    push(rows, "alice/a", description=f"From {home}/traces with {token}", agent="Desk")
    text = said(hub, "alice/a", tmp_path)
    for hidden in (token, secret, f"{home}/", str(Path.cwd()), str(tmp_path), "hf_alice"):
        assert hidden not in text
    row = pull("alice/a")[0]
    assert row["metadata"]["source"] == f"{LOCAL}/traces/a.jsonl"
    assert row["messages"][2]["content"] == f"key={WITHHELD} at {LOCAL}/notes.txt, and /home/annika-77/other"


def test_the_report_of_a_run_names_no_path(hub, tmp_path, tools, policy):
    journal = tmp_path / "runs" / "journal.jsonl"
    spec = {"tools": tools, "system_prompt": policy, "budget": 8, "repeats": 4}
    wai.simulate(wai.seeded_agent(tools), output=journal, **spec)
    data = wai.simulate(wai.seeded_agent(tools), resume=journal, **spec)
    assert str(tmp_path) in json.dumps(wai.run_report(data).to_dict())
    push(wai.grade(data, lambda row: 1.0), "alice/a", gate=False)
    report = json.loads(hub.server.files("alice/a")["run.json"])["report"]
    assert report["run_id"] == data[0]["run_id"]
    assert str(tmp_path) not in said(hub, "alice/a", tmp_path)


@pytest.mark.parametrize("column", ["prompt", "final_text"])
def test_lone_parts_of_a_path_in_what_was_said_stay(hub, column, monkeypatch):
    monkeypatch.setenv("HOME", "/srv")
    rows = graded(2)
    for row in rows:
        row[column] = f"{row[column]} in /srv/app and /tmp/x"
    push(rows, "alice/a")
    assert pull("alice/a")[0][column].endswith("in /srv/app and /tmp/x")


def test_files_go_as_bytes_not_as_paths(hub, tmp_path):
    (tmp_path / "shot.png").write_bytes(b"a picture")
    features = Features({"prompt": Value("string"), "shot": Image(decode=False)})
    cells = {"prompt": ["p"], "shot": [{"bytes": None, "path": str(tmp_path / "shot.png")}]}
    rows = dataset_from_table(pa.table(cells, features.arrow_schema), features)
    push(rows, "alice/a", gate=False)
    assert pull("alice/a")[0]["shot"] == {"bytes": b"a picture", "path": "shot.png"}
    assert str(tmp_path) not in said(hub, "alice/a", tmp_path)
    (tmp_path / "shot.png").unlink()
    with pytest.raises(DataError, match="not there"):
        push(rows.select([0]), "alice/a", gate=False)


def test_features_survive_cleaning(hub):
    rows = graded(3)
    rows[0]["metadata"] = HIDDEN
    push(rows, "alice/a")
    assert pull("alice/a").features["metadata"] == Json()
    assert pull("alice/a").features["messages"] == List(Json())
