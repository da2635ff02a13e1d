"""What is checked in is what the sources give, and no policy without a clue is rewarded for it."""

import pytest


IGNORANT = ("null", "echo", "refuse", "every-tool")


def files_of(folder):
    paths = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def test_the_sources_give_what_is_checked_in(generated, checked_in):
    folder, _ = generated
    made, kept = files_of(folder), files_of(checked_in / folder.name)
    assert sorted(made) == sorted(kept)
    changed = [name for name in made if made[name] != kept[name]]
    assert not changed, f"run python environments/generate.py {folder.name}"


def test_no_ignorant_policy_comes_near_the_careful_one(generated):
    _, made = generated
    baselines = made["baselines"]
    lowest = baselines["careful"].ci95[0]
    for policy in (*IGNORANT, "eager"):
        assert baselines[policy].ci95[1] < lowest, policy
    assert baselines["careful"].pass_at_1 == 1.0
    assert baselines["null"].pass_at_1 == baselines["echo"].pass_at_1 == 0.0
    # A policy that learns to refuse, or to call everything, must be far from done.
    assert max(baselines[policy].pass_at_1 for policy in IGNORANT) < 1 / 3


def test_the_baselines_are_measured_on_every_task(generated):
    _, made = generated
    report = made["report"]
    assert {passed.n_unjudged for passed in made["baselines"].values()} == {0}
    assert {passed.n_tasks for passed in made["baselines"].values()} == {report.n_train + report.n_holdout}
    assert report.n_holdout >= 15 and report.n_train >= 40


def test_the_command_line_knows_its_names(generator, capsys):
    with pytest.raises(SystemExit):
        generator.main(["order-desk", "no-such"])
    assert "there is no 'no-such'" in capsys.readouterr().err


@pytest.mark.parametrize("policy", ("careful", "eager"))
def test_policies_read_the_conversation_alone(generator, policy):
    """Outside any rollout, with nothing but the ask, they say the same as inside of one."""
    for source in generator.SOURCES.values():
        act = generator.policies(source)[policy]
        ask = [{"role": "system", "content": source.system_prompt}]
        for task in source.tasks()[:20]:
            made = act([*ask, {"role": "user", "content": task["prompt"]}], source.tools)
            assert made["role"] == "assistant" and (made["content"] or made.get("tool_calls"))
