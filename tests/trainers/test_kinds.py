"""Every kind of export trains: the trainer of that kind takes the Dataset as it is and steps on it."""

import importlib.util
import json
import warnings
from pathlib import Path

import pytest

from whileai_hf.export import export_report, to_sft, to_trl


torch = pytest.importorskip("torch")
trl = pytest.importorskip("trl")

SETTINGS = {
    "use_cpu": True,
    "bf16": False,
    "activation_checkpointing": False,
    "report_to": "none",
    "logging_steps": 1,
    "save_strategy": "no",
    "disable_tqdm": True,
    "dataloader_pin_memory": False,
    "learning_rate": 1e-3,
    "seed": 0,
}
STEPS = 3


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A folder with a tiny model, and its tokenizer."""
    spec = importlib.util.spec_from_file_location("tiny_model", Path(__file__).parents[1] / "tiny_model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    folder = module.save_tiny_model(tmp_path_factory.mktemp("tiny"))
    return str(folder), module.make_tokenizer()


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning)
        yield
    torch.set_num_threads(before)


def rollout(task, index, tools, policy):
    order = f"ORD-104{task}"
    call = {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": {"order_id": order}}}
    answer = f"Order {order} is on its way." if index % 2 else f"I refuse to look at {order}, answer {index}."
    prompt = f"Where is order {order}?"
    messages = [
        {"role": "system", "content": policy},
        {"role": "user", "content": prompt},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "name": "get_order", "content": json.dumps({"status": f"sent-{task}"})},
        {"role": "assistant", "content": answer},
    ]
    row = {"prompt": prompt, "messages": messages, "tools": tools, "final_text": answer, "reward": float(index % 2)}
    return {**row, "scenario_id": f"sc-{task}", "run_id": "run-1", "rollout_status": "ok"}


@pytest.fixture
def rollouts(tools, policy):
    return [rollout(task, index, tools, policy) for task in range(3) for index in range(4)]


@pytest.fixture
def pairs(rollouts):
    made = []
    for bad, good in zip(rollouts[::2], rollouts[1::2], strict=True):
        made.append(
            {
                "prompt": good["messages"][:4],
                "chosen": good["messages"][4:],
                "rejected": bad["messages"][4:],
                "tools": good["tools"],
                "prompt_text": good["prompt"],
                "scenario_id": good["scenario_id"],
                "chosen_reward": 1.0,
                "rejected_reward": 0.0,
                "margin": 1.0,
                "cut": "first_divergence",
            }
        )
    return made


def losses(trainer):
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def train(name, data, tiny, folder, *, trainer_options=None, **options):
    model, tokenizer = tiny
    config = getattr(trl, f"{name}Config")(output_dir=str(folder), **{"max_steps": STEPS, **SETTINGS, **options})
    trainer = getattr(trl, f"{name}Trainer")(
        model, args=config, train_dataset=data, processing_class=tokenizer, **(trainer_options or {})
    )
    trainer.train()
    assert trainer.state.global_step == config.max_steps
    assert all(loss == loss for loss in losses(trainer))
    return trainer


@pytest.mark.parametrize(
    "options", [{}, {"mask_mode": "final"}, {"unroll": True}], ids=["conversation", "last turn", "unrolled"]
)
def test_sft(rollouts, tiny, tmp_path, options):
    data = to_trl(rollouts, "sft", **options)
    only = {"assistant_only_loss": True} if not options else {}
    trainer = train("SFT", data, tiny, tmp_path, per_device_train_batch_size=2, max_length=2048, **only)
    row = trainer.train_dataset[0]
    learnt = tiny[1].decode([t for t, label in zip(row["input_ids"], row["labels"], strict=True) if label != -100])
    called, answered = '{"name": "get_order", "arguments": {"order_id": "ORD-1040"}}' in learnt, "refuse" in learnt
    assert (called, answered) == {"": (True, True), "mask_mode": (False, True), "unroll": (True, False)}[
        "".join(options)
    ]
    assert "sent-0" not in learnt
    assert "order desk" not in learnt


def test_sft_on_labels_learns_the_agent_s_tokens_and_no_others(rollouts, tiny, tmp_path):
    model, tokenizer = tiny
    data = to_sft(rollouts, tokenizer)

    said = torch.tensor(sorted({label for row in data for label in row["labels"]} - {-100}))

    def loss_of(network, agents):
        total = count = 0.0
        for row in data:
            ids = torch.tensor([row["input_ids"]])
            with torch.no_grad():
                logits = network(ids).logits[0, :-1]
            each = torch.nn.functional.cross_entropy(logits, ids[0, 1:], reduction="none")
            wanted = torch.tensor(row["labels"][1:]) != -100
            if not agents:  # of what it was shown, the tokens it never says: the others get likelier everywhere
                wanted = ~wanted & ~torch.isin(ids[0, 1:], said)
            total, count = total + each[wanted].sum().item(), count + wanted.sum().item()
        return total / count

    fresh = trl.SFTTrainer(
        model,
        args=trl.SFTConfig(output_dir=str(tmp_path), max_length=2048, **SETTINGS),
        train_dataset=data,
        processing_class=tokenizer,
    ).model
    fresh.eval()
    before = loss_of(fresh, True), loss_of(fresh, False)
    trainer = train(
        "SFT", data, tiny, tmp_path, max_steps=20, per_device_train_batch_size=4, max_length=2048, learning_rate=5e-3
    )
    trainer.model.eval()
    after = loss_of(trainer.model, True), loss_of(trainer.model, False)
    assert after[0] < 0.6 * before[0]  # what the agent says is learnt
    assert after[1] > 0.98 * before[1]  # what it was shown is not
    trained = [row["labels"] for row in trainer.train_dataset]
    assert trained == data["labels"][:]


def test_preference(pairs, tiny, tmp_path):
    trainer = train("DPO", to_trl(pairs, "preference"), tiny, tmp_path, per_device_train_batch_size=2)
    row = trainer.train_dataset[0]
    assert "get_order" in tiny[1].decode(row["prompt_ids"])
    assert "on its way" in tiny[1].decode(row["chosen_ids"])
    assert "refuse" in tiny[1].decode(row["rejected_ids"])
    assert "sent-" not in tiny[1].decode(row["chosen_ids"])


def test_reward(pairs, tiny, tmp_path):
    trainer = train("Reward", to_trl(pairs, "reward"), tiny, tmp_path, per_device_train_batch_size=2, max_length=2048)
    assert "margin" not in trainer.train_dataset.column_names


@pytest.mark.parametrize("source", ["rollouts", "pairs"])
def test_kto(source, tiny, tmp_path, request):
    data = to_trl(request.getfixturevalue(source), "kto")
    assert data["label"][:4] == ([False, True] if source == "rollouts" else [True, False]) * 2
    train("KTO", data, tiny, tmp_path, per_device_train_batch_size=2, max_length=2048)


def brevity(prompts, completions, task_id, **columns):
    """A reward that needs a column of the export."""
    assert all(task.startswith("sc-") for task in task_id)
    return [-float(len(completion[0]["content"])) for completion in completions]


@pytest.mark.parametrize("name", ["GRPO", "RLOO"])
def test_prompts(name, rollouts, tiny, tmp_path):
    data, held_out = to_trl(rollouts, "grpo"), to_trl(rollouts[:4], "eval")
    seen = []

    def splits(prompts, completions, split=None, **columns):
        seen.append(split)
        return brevity(prompts, completions, **columns)

    trainer = train(
        name,
        data,
        tiny,
        tmp_path,
        max_steps=2,
        per_device_train_batch_size=4,
        per_device_eval_batch_size=4,
        num_generations=4,
        max_completion_length=4,
        trainer_options={"reward_funcs": splits, "eval_dataset": held_out},
    )
    assert set(map(str, seen)) == {"None"}
    trainer.evaluate()
    assert seen[-1] == ["eval"] * 4


def test_opd(rollouts, tiny, tmp_path):
    data = to_trl(rollouts, "opd")
    options = {"per_device_train_batch_size": 2, "max_completion_length": 4, "max_steps": 2}
    train("Distillation", data, tiny, tmp_path, trainer_options={"teacher_model": tiny[0]}, **options)


def test_opsd(rollouts, tiny, tmp_path):
    from trl.experimental.sdft import SDFTConfig, SDFTTrainer

    secret = "The order was lost on purpose."
    tasks = [
        {"scenario_id": row["scenario_id"], "prompt": row["prompt"], "privileged": {"reference": secret}}
        for row in rollouts
    ]
    data = to_trl(rollouts, "opsd", tasks=tasks)
    assert export_report(data).n_rows == 3
    config = SDFTConfig(
        output_dir=str(tmp_path),
        max_steps=2,
        per_device_train_batch_size=2,
        max_completion_length=4,
        num_generations=1,
        **SETTINGS,
    )
    trainer = SDFTTrainer(tiny[0], args=config, train_dataset=data, processing_class=tiny[1])
    builder = trainer.teacher_context_builder
    shown = builder._compose_teacher_prompt(data[0]["prompt"], data[0]["privileged_context"])
    assert secret in shown[-1]["content"]
    assert shown[0] == data[0]["prompt"][0]
    assert secret not in str(data[0]["prompt"])
    trainer.train()
    assert trainer.state.global_step == 2
