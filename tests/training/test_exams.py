"""Who judges the held-out rollouts of a training program."""

import pytest


JUDGES = """
from whileai_hf.score.verify import Numeric
from whileai_hf.score.verify.reward import as_reward

JUDGE = Numeric()
REWARD = JUDGE.as_reward()

def batches(prompts, completions, **columns):
    return [0.0] * len(completions)
"""
TASKS = [{"task_id": f"t{n}", "prompt": f"What is {n} + {n}?", "answer": str(2 * n), "tools": []} for n in range(8)]
ONLY_BATCHES = "judged by the floor of grade(): the reward is made for batches only"


@pytest.fixture
def exam(tiny, settings, store, tmp_path, monkeypatch):
    trl = pytest.importorskip("trl")
    from whileai_hf.rows import to_dataset
    from whileai_hf.training.launching import ProgramArguments, TrainingProgram

    (tmp_path / "held_out_judges.py").write_text(JUDGES)
    monkeypatch.syspath_prepend(tmp_path)
    to_dataset(TASKS).save_to_disk(str(tmp_path / "tasks"))

    def make(**flags):
        arguments = ProgramArguments(data=str(tmp_path / "tasks"), holdout_share=0.5, **flags)
        config = trl.GRPOConfig(output_dir=str(tmp_path / "out"), **settings)
        with TrainingProgram("grpo", arguments, trl.ModelConfig(model_name_or_path=tiny[0]), config) as program:
            return program._make_exam(), program.run.notes

    return make


def test_a_judge_inside_as_reward_judges_them(exam):
    import held_out_judges

    for flags in ({"reward": "held_out_judges:REWARD"}, {"gold": "held_out_judges:REWARD"}):
        made, notes = exam(**flags)
        assert made.judge is held_out_judges.JUDGE
        assert not [note for note in notes if ONLY_BATCHES in note]
    assert exam(reward="held_out_judges:JUDGE")[0].judge is held_out_judges.JUDGE


def test_a_reward_function_of_the_trainer_s_shape_cannot(exam):
    made, notes = exam(reward="held_out_judges:batches")
    assert made.judge is None
    assert any(ONLY_BATCHES in note for note in notes)
