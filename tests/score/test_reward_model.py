"""A reward model as a judge: what it is shown, batches, thresholds, versions, and what is refused."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import pickle
import shutil
import sys
from pathlib import Path

import pytest

from whileai_hf.errors import ConfigurationError
from whileai_hf.score import fingerprint, grade
from whileai_hf.score.reward_models import reward_model
from whileai_hf.score.reward_models.rendering import tokens_of
from whileai_hf.score.verify.reward import as_reward


torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("trl")

CALL = {"id": "call_0", "type": "function", "function": {"name": "get_order", "arguments": {"order_id": "ORD-1042"}}}
MESSAGES = [
    {"role": "system", "content": "You help with orders."},
    {"role": "user", "content": "Where is order ORD-1042?"},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_0", "name": "get_order", "content": '{"status": "ok"}'},
    {"role": "assistant", "content": "It is on its way."},
]
ROWS = [{"prompt": "Where is it? " * count, "final_text": "On its way. " * (12 - count)} for count in (1, 9, 4, 2, 7)]


def _load_tiny_model():
    # The tests are no package, so a helper beside them is loaded by its path.
    spec = importlib.util.spec_from_file_location("tiny_model", Path(__file__).parents[1] / "tiny_model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tiny = _load_tiny_model()


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Matrices this small are slower on several threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def _save(folder, labels=1, seed=0, template=True, **config):
    tokenizer = tiny.make_tokenizer()
    if not template:
        tokenizer.chat_template = None
    base = tiny.make_model(tokenizer, hidden=32, seed=seed).config
    base.num_labels = labels
    base.update(config)
    torch.manual_seed(seed)
    model = transformers.Qwen3ForSequenceClassification(base)
    torch.nn.init.normal_(model.score.weight, std=2.0)  # scores far enough apart to tell rows from each other
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return _save(tmp_path_factory.mktemp("reward") / "run" / "final")


@pytest.fixture(scope="module")
def judge(folder):
    return reward_model(folder)


def _scores(judge, rows):
    async def judged():
        return await asyncio.gather(*[judge(row) for row in rows])

    return [verdict.get("rm_score") for verdict in asyncio.run(judged())]


def test_score_is_that_of_the_model(judge, folder):
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    chat = [{"role": "user", "content": "Where is it?"}, {"role": "assistant", "content": "On its way."}]
    ids = tokenizer.apply_chat_template(chat, tokenize=True, return_dict=True, return_tensors="pt")
    with torch.no_grad():
        expected = model(**ids).logits.item()
    assert _scores(judge, [{"messages": chat}])[0] == pytest.approx(expected, abs=1e-5)
    assert _scores(judge, [{"prompt": "Where is it?", "final_text": "On its way."}])[0] == pytest.approx(
        expected, abs=1e-5
    )


def test_score_does_not_depend_on_the_neighbours(judge, folder):
    together = _scores(judge, ROWS)
    alone = [_scores(judge, [row])[0] for row in ROWS]
    one_at_a_time = _scores(reward_model(folder, batch_size=1), ROWS)
    assert together == pytest.approx(alone, abs=1e-4)
    assert together == pytest.approx(one_at_a_time, abs=1e-4)
    assert max(together) - min(together) > 0.01
    assert _scores(judge, ROWS) == together


def test_rows_are_scored_in_batches(folder, monkeypatch):
    from whileai_hf.score.reward_models.judge import _Scorer

    sizes = []
    scores = _Scorer._scores
    monkeypatch.setattr(_Scorer, "_scores", lambda self, rows: sizes.append(len(rows)) or scores(self, rows))
    judge = reward_model(folder, batch_size=4)
    grade([{"prompt": str(n), "final_text": "yes"} for n in range(16)], judge, concurrency=judge.concurrency)
    assert sum(sizes) == 16
    assert max(sizes) == 4
    assert len(sizes) <= 8


@pytest.mark.parametrize("tools", [None, [{"type": "function", "function": {"name": "get_order", "parameters": {}}}]])
def test_tokens_are_those_of_the_trainer(judge, folder, tools):
    from trl.data_utils import _tokenize

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    expected = _tokenize(tokenizer, MESSAGES, tools=tools)["input_ids"]
    assert tokens_of({"messages": MESSAGES, "tools": tools}, tokenizer) == expected


def test_tokenizer_without_a_chat_template(tmp_path):
    plain = reward_model(_save(tmp_path, template=False))
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    expected = tokenizer("Where?Here.<|im_end|>")["input_ids"]
    assert tokens_of({"prompt": "Where?", "final_text": "Here."}, tokenizer) == expected
    verdict = asyncio.run(plain({"messages": MESSAGES}))
    assert verdict["reward"] is None
    assert "takes only one ask and one reply" in verdict["reason"]


def test_threshold(folder, tmp_path):
    scores = _scores(reward_model(folder), ROWS)
    middle = sorted(scores)[2]
    graded = grade(ROWS, reward_model(folder, threshold=middle))
    assert list(graded["reward"]) == [float(score >= middle) for score in scores]
    assert [meta["rm_score"] for meta in graded["judge_meta"]] == pytest.approx(scores, abs=1e-4)
    assert reward_model(folder).name == "reward_model"

    stored = reward_model(_save(tmp_path / "stored", reward_threshold=0.25))
    assert (stored.threshold, stored.provenance()["threshold_from"]) == (0.25, "model")
    assert reward_model(tmp_path / "stored", threshold=0.5).provenance()["threshold_from"] == "given"
    default = reward_model(folder).provenance()
    assert (default["threshold"], default["threshold_from"]) == (0.0, "default")


def test_version_names_the_weights(judge, folder, tmp_path):
    copy = tmp_path / "run" / "final"
    shutil.copytree(folder, copy)
    assert judge.provenance()["model"] == "run/final"
    assert reward_model(copy).provenance() == judge.provenance()
    assert fingerprint(reward_model(copy)) == fingerprint(reward_model(copy))
    before = fingerprint(reward_model(copy))
    _save(copy, seed=1)
    other = reward_model(copy)
    assert other.provenance()["version"] != judge.provenance()["version"]
    assert fingerprint(other) != before


def test_too_long_is_no_verdict(judge):
    rows = [{"prompt": "word " * 5000, "final_text": "yes"}, ROWS[0]]
    graded = grade(rows, judge)
    assert graded[0]["reward"] is None
    assert graded[0]["judge_status"] == "missing_reward"
    assert "takes 2048; it is not scored on a part of it" in graded[0]["reason"]
    assert graded[1]["reward"] is not None


@pytest.mark.parametrize(
    "row",
    [
        {"prompt": "a", "final_text": ""},
        {"prompt": "a", "final_text": None},
        {"prompt": "a"},
        {},
        {"messages": [{"role": "user", "content": "a"}]},
        {"messages": ["a"]},
        {"messages": "a"},
        {"messages": [{"content": "a"}]},
        {"messages": [{"role": "assistant", "content": "a", "tool_calls": ["x"]}]},
    ],
)
def test_rows_without_a_reply_get_no_verdict(judge, row):
    verdict = asyncio.run(judge(row))
    assert verdict["reward"] is None
    assert verdict["reason"]


@pytest.mark.parametrize(
    "text", ["\x00", "\ud800 half", "日本語 🙂", [{"type": "text", "text": "in a block"}], "a" * 3000]
)
def test_odd_texts(judge, text):
    verdict = asyncio.run(judge({"prompt": text, "final_text": text}))
    assert verdict["reward"] in (0.0, 1.0, None)
    assert ("rm_score" in verdict) or "tokens long" in verdict["reason"]


def test_as_reward(judge):
    reward = as_reward(judge)
    prompts = [[{"role": "user", "content": row["prompt"]}] for row in ROWS]
    completions = [[{"role": "assistant", "content": row["final_text"]}] for row in ROWS]
    given = asyncio.run(reward(prompts=prompts, completions=completions))
    assert given == [float(score >= 0) for score in _scores(judge, ROWS)]


def test_travels_to_other_processes(judge):
    again = pickle.loads(pickle.dumps(judge))
    assert _scores(again, ROWS) == pytest.approx(_scores(judge, ROWS), abs=1e-6)
    assert again.provenance() == judge.provenance()


def test_last_checkpoint_of_a_run(folder, tmp_path):
    for step in (9, 10):
        shutil.copytree(folder, tmp_path / f"checkpoint-{step}")
    assert reward_model(tmp_path).provenance()["model"].endswith("checkpoint-10")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigurationError, match="neither a model"):
        reward_model(tmp_path / "empty")


def test_what_is_no_reward_model(folder, tmp_path):
    with pytest.raises(ConfigurationError, match="has 2 outputs"):
        reward_model(_save(tmp_path / "two", labels=2))
    tiny.save_tiny_model(tmp_path / "causal")
    with pytest.raises(ConfigurationError, match=r"score\.weight"):
        reward_model(tmp_path / "causal")
    with pytest.raises(ConfigurationError, match="does not load as a reward model"):
        reward_model("nobody/no-such-reward-model")
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    (broken / "model.safetensors").write_bytes(b"x")
    with pytest.raises(ConfigurationError, match="does not load"):
        reward_model(broken)
    for knobs in ({"batch_size": 0}, {"batch_size": True}, {"threshold": float("nan")}, {"threshold": "high"}):
        with pytest.raises(ConfigurationError):
            reward_model(folder, **knobs)


def test_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # where no folder is called like the model
    for missing in ("torch", "transformers"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, missing, None)
            with pytest.raises(ConfigurationError, match=r"pip install 'whileai-hf\[transformers\]'"):
                reward_model("x")


@pytest.mark.parametrize("model", [None, 5, "", b"x", ["a"]])
def test_what_names_no_model(model):
    with pytest.raises(ConfigurationError, match="names no model"):
        reward_model(model)


def _train(folder, tmp_path, **knobs):
    from datasets import Dataset
    from trl import RewardConfig, RewardTrainer

    ask = [{"role": "user", "content": "Where is order ORD-1042?"}]
    pairs = Dataset.from_list(
        [
            {
                "prompt": ask,
                "chosen": [{"role": "assistant", "content": f"Order {n} is on its way."}],
                "rejected": [{"role": "assistant", "content": f"I could not find {n}. I could not find that order."}],
            }
            for n in range(16)
        ]
    )
    config = RewardConfig(
        output_dir=str(tmp_path / "run"),
        max_steps=12,
        per_device_train_batch_size=8,
        learning_rate=1e-2,
        report_to=[],
        save_strategy="no",
        use_cpu=True,
        disable_tqdm=True,
        bf16=False,
        center_rewards_coefficient=0.1,
    )
    trainer = RewardTrainer(model=str(folder), args=config, train_dataset=pairs, **knobs)
    trainer.train()
    trainer.save_model(str(tmp_path / "run"))
    return tmp_path / "run", ask


@pytest.mark.parametrize("adapter", [False, True])
def test_a_model_that_trl_trained(tmp_path, adapter):
    knobs = {}
    if adapter:
        peft = pytest.importorskip("peft")
        knobs["peft_config"] = peft.LoraConfig(task_type="SEQ_CLS", r=4, target_modules=["q_proj", "v_proj"])
    run, ask = _train(
        tiny.save_tiny_model(tmp_path / "base") if not adapter else _save(tmp_path / "base"), tmp_path, **knobs
    )
    assert (run / "adapter_config.json").is_file() is adapter
    judge = reward_model(run)
    good = {"messages": [*ask, {"role": "assistant", "content": "Order 99 is on its way."}]}
    bad = {"messages": [*ask, {"role": "assistant", "content": "I could not find 99. I could not find that order."}]}
    first, second = _scores(judge, [good, bad])
    assert first > second
    assert json.dumps(judge.provenance())
