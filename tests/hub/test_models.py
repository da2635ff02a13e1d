"""Adapters on the Hub: what is pushed and what stays, the card, the result file, and repos that are not ours."""

import json
import pickle
import re

import numpy as np
import pytest
import yaml
from huggingface_hub import ModelCard, parse_eval_result_entries
from markdown_it import MarkdownIt
from safetensors.numpy import save_file

from whileai_hf.errors import ConfigurationError, DataError, HubError, SourceNotFoundError
from whileai_hf.hub.models import push_adapter
from whileai_hf.hub.models.evaluation import read_delta, read_holdout, with_delta
from whileai_hf.hub.models.folder import read_adapter
from whileai_hf.hub.models.results import result_file
from whileai_hf.hub.models.sections import delta_figure, delta_section
from whileai_hf.measure.compare import delta_report
from whileai_hf.measure.passes import pass_at
from whileai_hf.training.runs import training_run


HOME = "/home/somebody/secret-project"
REPO = "alice/refund-lora"


@pytest.fixture
def adapter(tmp_path):
    """A checkpoint as a trainer leaves it, with everything that must not travel."""
    folder = tmp_path / "checkpoint-20"
    folder.mkdir()
    save_file({"a.lora_A.weight": np.ones((2, 4), np.float32)}, folder / "adapter_model.safetensors")
    config = {"peft_type": "LORA", "r": 2, "base_model_name_or_path": "Qwen/Qwen3-0.6B", "task_type": "CAUSAL_LM"}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    tokenizer = {"tokenizer_class": "Qwen2Tokenizer", "name_or_path": f"{HOME}/base", "eos_token": "</s>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    (folder / "tokenizer.json").write_text("{}")
    (folder / "training_args.bin").write_bytes(pickle.dumps({"output_dir": HOME, "hub_token": "hf_abcdefgh"}))
    (folder / "optimizer.pt").write_bytes(b"x" * 100)
    (folder / "README.md").write_text(f"base_model: {HOME}")
    (folder / "checkpoint-10").mkdir()
    (folder / "checkpoint-10" / "adapter_model.safetensors").write_bytes(b"old")
    return folder


def _rows(passing):
    return [
        {"task_id": task, "reward": float(index < passing), "rollout_index": index}
        for task in range(20)
        for index in range(4)
    ]


BEFORE, AFTER = _rows(1), _rows(3)


@pytest.fixture
def data(hub):
    """A data set with a tag."""
    hub.api.create_repo("alice/refunds-rl", repo_type="dataset")
    sha = hub.api.upload_file(
        path_or_fileobj=b"x", path_in_repo="data/x", repo_id="alice/refunds-rl", repo_type="dataset"
    ).oid
    hub.api.create_tag("alice/refunds-rl", tag="v3", repo_type="dataset")
    return sha


def _download(hub, name, **more):
    with open(hub.api.hf_hub_download(REPO, name, **more), encoding="utf-8") as file:
        return file.read()


def _section(readme, heading):
    return re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", readme, re.MULTILINE | re.DOTALL).group(1)


def test_a_folder(hub, adapter, data):
    report = delta_report(BEFORE, AFTER)
    holdout = {"before": pass_at(BEFORE), "after": pass_at(AFTER)}
    more = {"agent": "Order desk", "license": "mit", "description": "Learns to refund."}
    pushed = push_adapter(adapter, REPO, data="alice/refunds-rl@v3", holdout=holdout, delta=report, **more)
    assert pushed.repo == REPO and pushed.tag == "v1" and pushed.data == "alice/refunds-rl@v3" and not pushed.warnings
    files = set(hub.api.list_repo_files(REPO, revision="v1"))
    assert (
        files - {".gitattributes"}
        == set(pushed.files)
        == {
            "README.md",
            "adapter_config.json",
            "adapter_model.safetensors",
            "tokenizer.json",
            "tokenizer_config.json",
            "figures/delta.svg",
            ".eval_results/alice--refunds-rl.yaml",
        }
    )
    assert "training_args.bin" in pushed.left_out and "checkpoint-10/adapter_model.safetensors" in pushed.left_out
    assert hub.api.model_info(REPO).private and hub.api.model_info(REPO).sha == pushed.commit

    readme = _download(hub, "README.md")
    told = ModelCard(readme).data.to_dict()
    assert told["base_model"] == "Qwen/Qwen3-0.6B" and told["library_name"] == "peft" and told["license"] == "mit"
    assert told["datasets"] == ["alice/refunds-rl"] and told["tags"] == [
        "whileai-hf",
        "whileai-agent-order-desk",
        "lora",
    ]
    assert told["whileai"]["parent"] == {"repo": "alice/refunds-rl", "tag": "v3", "commit": data}
    after = pass_at(AFTER)
    assert told["whileai"]["numbers"] == {"holdout": {"pass_at_1": after.pass_at_1, "ci95": list(after.ci95), "k": 4}}
    worked = _section(readme, "Did training work?")
    low, high = after.ci95
    assert f"| After | {after.pass_at_1:.3f} | [{low:.3f}, {high:.3f}] | 20 | 4 |" in worked
    assert "Change +0.500, 95% interval [" in worked and f"`{report.verdict}`" in worked
    changed = _section(readme, "What changed")
    main = report.metrics["pass_at_1"]
    assert f"| `pass_at_1` | target | {main.before:.3f} | {main.after:.3f} | {main.delta:+.3f} |" in changed
    assert f"`{report.verdict}`" in changed and "figures/delta.svg" in changed

    entries = parse_eval_result_entries(yaml.safe_load(_download(hub, ".eval_results/alice--refunds-rl.yaml")))
    assert [(one.dataset_id, one.task_id, one.value, one.dataset_revision) for one in entries] == [
        ("alice/refunds-rl", "pass_at_1", after.pass_at_1, data)
    ]
    assert "20 held-out tasks" in entries[0].notes and "before training 0.25" in entries[0].notes


def test_a_run(hub, adapter, data):
    settings = {"learning_rate": 1e-5, "output_dir": HOME, "hub_token": "hf_abcdefgh", "optim": "adamw"}
    with training_run("refund-v2", dataset="alice/refunds-rl@v3", base_model="Qwen/Qwen3-0.6B", trainer="trl") as run:
        run.change(config=settings)
        run.alarm("length", 7, "completions grow | while gold does not")
        run.delta(BEFORE, AFTER)
        run.finish(adapter=str(adapter))
    pushed = push_adapter(run, REPO)
    assert pushed.data == "alice/refunds-rl@v3" and not pushed.warnings
    readme = _download(hub, "README.md")
    assert "**Better.**" in readme and "`moved_unreplicated`" in _section(readme, "What changed")
    trained = _section(readme, "How it was trained")
    assert "`refund-v2`" in trained and "`learning_rate` `1e-05`" in trained and "`adamw`" in trained
    assert "**alarm** `length` at step `7`" in trained
    told = ModelCard(readme).data.to_dict()["whileai"]
    assert told["run"] == run.id and told["word"] == "Better" and told["verdict"] == "moved_unreplicated"


def test_nothing_of_this_machine_gets_out(hub, adapter, tmp_path):
    run = training_run("r")
    run.change(config={"output_dir": HOME, "model_path": HOME, "key": "hf_abcdefgh", "other": HOME})
    run.finish(adapter=str(adapter))
    push_adapter(run, REPO)
    for name in hub.api.list_repo_files(REPO):
        with open(hub.api.hf_hub_download(REPO, name), "rb") as file:
            content = file.read()
        for secret in (HOME, str(tmp_path), "hf_abcdefgh", "hf_alice"):
            assert secret.encode() not in content, name
    assert json.loads(_download(hub, "tokenizer_config.json")) == {
        "tokenizer_class": "Qwen2Tokenizer",
        "eos_token": "</s>",
    }


def test_a_local_base_model_has_to_be_named(hub, adapter):
    config = json.loads((adapter / "adapter_config.json").read_text())
    (adapter / "adapter_config.json").write_text(json.dumps({**config, "base_model_name_or_path": f"{HOME}/base"}))
    with pytest.raises(ConfigurationError, match=r"folder of this machine \(base\); pass base_model="):
        push_adapter(adapter, REPO)
    assert not list(hub.api.list_models(author="alice"))
    push_adapter(adapter, REPO, base_model="Qwen/Qwen3-0.6B")
    assert json.loads(_download(hub, "adapter_config.json"))["base_model_name_or_path"] == "Qwen/Qwen3-0.6B"
    with pytest.raises(ConfigurationError, match="is no model repo"):
        push_adapter(adapter, REPO, base_model=f"{HOME}/base")


def test_not_measured_is_said(hub, adapter):
    pushed = push_adapter(adapter, "refund-lora")
    assert pushed.repo == REPO and len(pushed.warnings) == 2
    readme = _download(hub, "README.md")
    assert "**NOT MEASURED.**" in _section(readme, "Did training work?")
    assert "not recorded" in _section(readme, "How it was trained") and "## What changed" not in readme
    told = ModelCard(readme).data.to_dict()
    assert told["whileai"]["numbers"] == {} and "datasets" not in told
    assert not [name for name in hub.api.list_repo_files(REPO) if name.startswith(".eval_results")]


def test_again_replaces_what_was_ours(hub, adapter, data):
    push_adapter(
        adapter,
        REPO,
        data="alice/refunds-rl@v3",
        holdout={"before": 0.4, "after": 0.6},
        delta=delta_report(BEFORE, AFTER),
    )
    card = ModelCard.load(REPO)
    card.data.license = "apache-2.0"
    card.data.tags.append("mine")
    card.push_to_hub(REPO)
    hub.api.upload_file(path_or_fileobj=b"mine", path_in_repo="notes.txt", repo_id=REPO)
    pushed = push_adapter(adapter, REPO)
    assert pushed.tag == "v2"
    files = hub.api.list_repo_files(REPO)
    assert "notes.txt" in files and not [name for name in files if name.startswith((".eval_results", "figures"))]
    told = ModelCard.load(REPO).data.to_dict()
    assert told["license"] == "apache-2.0" and "mine" in told["tags"] and "datasets" not in told
    assert "figures/delta.svg" in hub.api.list_repo_files(REPO, revision="v1")


def test_a_foreign_repo_is_left_alone(hub, adapter):
    hub.api.create_repo(REPO)
    hub.api.upload_file(path_or_fileobj=b"weights", path_in_repo="model.safetensors", repo_id=REPO)
    with pytest.raises(ConfigurationError, match=r"not pushed from here \(model.safetensors\).*overwrite=True"):
        push_adapter(adapter, REPO)
    push_adapter(adapter, REPO, overwrite=True)
    assert "model.safetensors" in hub.api.list_repo_files(REPO)


def test_refusals_of_the_hub(hub, adapter, data):
    with pytest.raises(SourceNotFoundError, match="its tags are v3"):
        push_adapter(adapter, REPO, data="alice/refunds-rl@v9")
    with pytest.raises(SourceNotFoundError, match="no such repo"):
        push_adapter(adapter, REPO, data="alice/nothing@v1")
    assert not list(hub.api.list_models(author="alice"))
    with pytest.raises(HubError):
        push_adapter(adapter, "bob/refund-lora")
    with hub.signed_in("hf_alice_read"), pytest.raises(HubError, match="token may only read"):
        push_adapter(adapter, REPO)
    with pytest.raises(ConfigurationError, match="namespace/name"):
        push_adapter(adapter, "a/b/c")


def test_another_push_at_the_same_time(hub, adapter):
    push_adapter(adapter, REPO)
    hub.server.fail("POST .*/commit/", 412, times=1)
    assert push_adapter(adapter, REPO).tag == "v2"


@pytest.mark.parametrize(
    ("spoil", "error", "says"),
    [
        (lambda folder: (folder / "adapter_config.json").unlink(), DataError, "so it is no adapter"),
        (lambda folder: (folder / "adapter_config.json").write_text("{"), DataError, "is not JSON"),
        (lambda folder: (folder / "adapter_config.json").write_text("[]"), DataError, "holds a list"),
        (
            lambda folder: (folder / "adapter_model.safetensors").rename(folder / "adapter_model.bin"),
            DataError,
            "safetensors",
        ),
    ],
)
def test_folders_that_hold_no_adapter(adapter, spoil, error, says):
    spoil(adapter)
    with pytest.raises(error, match=says):
        read_adapter(adapter)


@pytest.mark.parametrize(
    ("source", "error", "says"),
    [
        ("no/such/folder", SourceNotFoundError, "is no folder"),
        ("s3://bucket/adapter", ConfigurationError, "download it"),
        (7, ConfigurationError, "pass a run or a folder"),
    ],
)
def test_sources_that_are_none(source, error, says):
    with pytest.raises(error, match=says):
        push_adapter(source, REPO)


def test_a_run_without_an_adapter():
    run = training_run("r")
    with pytest.raises(ConfigurationError, match="names no adapter"):
        push_adapter(run, REPO)
    run.finish()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"before": 0.4}, "no number for the adapter"),
        ({"before": 0.4, "after": 58}, "58% is 0.58"),
        ({"before": 0.4, "after": float("nan")}, "finite number"),
        ({"before": "x", "after": 0.5}, "finite number"),
        ([0.4, 0.6], "holdout is a list"),
        ({}, "no number"),
    ],
)
def test_holdouts_that_are_none(given, says):
    with pytest.raises(ConfigurationError, match=says):
        read_holdout(given)


def test_holdouts():
    assert read_holdout(None) is None
    plain = read_holdout({"before": 0.4, "after": 0.6})
    assert plain.delta == pytest.approx(0.2) and plain.ci95 is None and plain.after.ci95 is None
    alone = read_holdout(pass_at(AFTER))
    assert alone.before is None and alone.delta is None and alone.after.n_tasks == 20
    loss = read_holdout({"metric": "loss", "before": 2.5, "after": 2.1})
    path, content = result_file(loss, "me/x", None)
    assert path == ".eval_results/me--x.yaml"
    (entry,) = parse_eval_result_entries(yaml.safe_load(content))
    assert (entry.task_id, entry.value, entry.dataset_revision) == ("loss", 2.1, None)


def test_the_delta_report_tells_of_the_change():
    report = delta_report(BEFORE, AFTER)
    told = read_delta(report)
    alone = with_delta(None, told)
    main = report.metrics["pass_at_1"]
    assert (alone.before.value, alone.after.value, alone.after.n_tasks) == (main.before, main.after, 20)
    assert alone.verdict == report.verdict and alone.ci95 == pytest.approx(main.ci95)
    both = with_delta(read_holdout({"before": 0.2, "after": pass_at(AFTER)}), told)
    assert both.before.value == 0.2 and both.delta == main.delta and both.after.ci95 == pass_at(AFTER).ci95
    other = read_holdout({"metric": "loss", "before": 2.0, "after": 1.0})
    assert with_delta(other, told) == other and with_delta(None, None) is None
    few = delta_report(BEFORE[:4], AFTER[:4])
    assert with_delta(None, read_delta(few)).verdict == "insufficient_data"


def test_a_delta_report_as_json():
    report = delta_report(BEFORE, AFTER).to_dict()
    odd = {
        "metrics": {"x": {"before": "?", "delta": True, "ci95": [1]}, "y": 7},
        "verdict": "moved",
        "notes": [1, "n"],
    }
    assert read_delta(json.loads(json.dumps(report)))["metrics"]["pass_at_1"]["delta"] == 0.5
    told = read_delta(odd)
    assert told["metrics"]["x"]["before"] is None and told["metrics"]["x"]["ci95"] is None and told["notes"] == ["n"]
    assert "| `x` |" in delta_section(told, None) and delta_figure(told) is None


@pytest.mark.parametrize(
    "knobs", [{"data": "no repo"}, {"data": 7}, {"delta": {"x": 1}}, {"agent": " "}, {"agnet": "x"}]
)
def test_arguments_that_are_none(adapter, knobs):
    with pytest.raises(ConfigurationError):
        push_adapter(adapter, REPO, **knobs)


def test_other_peoples_text_stays_text(hub, adapter):
    nasty = "x\n---\n`a` | <script>alert(1)</script>\n# head\n[l](javascript:x)"
    delta = {**delta_report(BEFORE, AFTER).to_dict(), "warnings": [nasty], "regressed": [nasty]}
    run = training_run(nasty, trainer=nasty)
    run.change(config={"learning_rate": nasty})
    run.alarm(nasty, 1, nasty)
    run.finish(adapter=str(adapter), reason=nasty)
    holdout = {"before": 0.1, "after": 0.2, "word": nasty, "verdict": nasty, "notes": [nasty]}
    push_adapter(run, REPO, agent=nasty, description=nasty, delta=delta, holdout=holdout)
    readme = _download(hub, "README.md")
    assert ModelCard(readme).data.to_dict()["whileai"]["agent"].startswith("x --- ")
    shown = MarkdownIt("gfm-like", {"linkify": False}).render(readme.split("\n---\n", 1)[1])
    assert not re.search(r"<script|href=\"javascript|<h\d>head", shown) and "alert(1)" in shown


def test_text_files_of_an_adapter_hold_no_token_and_no_folder(hub, adapter, monkeypatch):
    token = "hf_" + "q" * 34
    monkeypatch.setenv("HOME", "/home/annika-7")
    said = json.loads((adapter / "adapter_config.json").read_text())
    (adapter / "adapter_config.json").write_text(json.dumps({**said, "auto_mapping": {"x": "/home/annika-7/lib"}}))
    (adapter / "tokenizer_config.json").write_text(json.dumps({"init_kwargs": {"auth": token}}))
    (adapter / "chat_template.jinja").write_text("{# /home/annika-7/t " + token + " #}{{ messages }}")
    push_adapter(adapter, "alice/m")
    files = hub.server.files("alice/m", kind="model")
    text = b"".join(files.values()).decode("utf-8", "replace")
    assert token not in text and "annika" not in text
    assert files["chat_template.jinja"].endswith(b"#}{{ messages }}")
