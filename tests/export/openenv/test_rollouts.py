"""A rollout that is played from elsewhere: what counts is what the world saw."""

import dataclasses

import pytest

from whileai_hf.errors import ConfigurationError, DataError
from whileai_hf.export.openenv.rollouts import ServedRollout, TaskShelf


def gold_of(line):
    return line["info"]["gold"]


def calls_in(message):
    return [call["function"] for call in message.get("tool_calls") or ()]


def played(package, line, said):
    """The rollout after the calls in what is said were made one by one."""
    rollout = ServedRollout(package, line, package.reward())
    for message in said:
        for call in calls_in(message):
            rollout.call(call["name"], call["arguments"])
    return rollout


def acting(package):
    """A task whose known good run changes something, and that run."""
    lines = package.lines("train")
    line = next(line for line in lines if sum(len(calls_in(message)) for message in gold_of(line)) > 1)
    return line, gold_of(line)


def test_what_passed_before_passes_here(package):
    for line in package.lines("holdout"):
        graded = played(package, line, gold_of(line)).transcript(gold_of(line))
        assert (graded.reward, graded.truncated) == (1.0, False), line["task_id"]


def test_an_answer_alone_will_do(package):
    line, said = acting(package)
    assert played(package, line, said).reply(said[-1]["content"]).reward == 1.0
    assert played(package, line, []).reply(said[-1]["content"]).reward == 0.0


def test_results_that_a_client_tells_are_not_believed(clerk):
    line, said = acting(clerk)
    told = []
    for message in said:
        told.append(message)
        told += [{"role": "tool", "content": '{"status": "not_found"}'} for _ in calls_in(message)]
    assert played(clerk, line, said).transcript(told).reward == 1.0


def test_calls_cannot_be_left_out(package):
    line, said = acting(package)
    rollout = played(package, line, said)
    with pytest.raises(DataError, match="lacks"):
        rollout.transcript(said[-1:])


def test_calls_cannot_be_changed(package):
    line, said = acting(package)
    rollout = played(package, line, said)
    other = {"name": "delete_everything", "arguments": {}}
    first = {**said[0], "tool_calls": [{"id": "call_0", "type": "function", "function": other}]}
    with pytest.raises(DataError, match="delete_everything"):
        rollout.transcript([first, *said[1:]])


def test_calls_that_were_never_made_did_not_happen(package):
    line, said = acting(package)
    graded = played(package, line, []).transcript(said)
    assert (graded.reward, graded.truncated) == (0.0, True)


def test_what_was_cut_off_is_worth_nothing(package):
    line, said = acting(package)
    graded = played(package, line, said[:-1]).transcript(said[:-1])
    assert (graded.reward, graded.truncated) == (0.0, True)


def test_turns_beyond_the_cap_are_worth_nothing(clerk):
    line, said = acting(clerk)
    short = dataclasses.replace(clerk, spec={**clerk.spec, "max_turns": len(said) - 1})
    assert played(short, line, said).transcript(said).truncated
    exact = dataclasses.replace(clerk, spec={**clerk.spec, "max_turns": len(said)})
    assert played(exact, line, said).transcript(said).reward == 1.0


def test_a_judge_that_fails_is_no_zero(clerk):
    line, _ = acting(clerk)

    def broken(row):
        raise RuntimeError("no judge today")

    rollout = ServedRollout(clerk, line, broken)
    assert rollout.reply("Done.").reward is None


@pytest.mark.parametrize("arguments", ('{"path": ', "[]", '"x"'))
def test_arguments_nobody_can_read_are_no_call(clerk, arguments):
    line = clerk.lines("train")[0]
    call = {"id": "c", "type": "function", "function": {"name": "read_file", "arguments": arguments}}
    said = [{"role": "assistant", "content": "", "tool_calls": [call]}, {"role": "assistant", "content": "Done."}]
    graded = ServedRollout(clerk, line, clerk.reward()).transcript(said)
    assert (graded.reward, graded.truncated) == (0.0, False)


def test_tasks_are_found(package):
    shelf = TaskShelf(package)
    lines = package.lines("holdout")
    assert shelf.take("holdout", task_id=lines[3]["task_id"]) == lines[3]
    assert shelf.take("holdout", prompt=lines[2]["prompt"]) == lines[2]
    assert shelf.take("holdout", number=len(lines) + 1) == lines[1]
    with pytest.raises(DataError, match="no task"):
        shelf.take("train", task_id=lines[0]["task_id"])
    with pytest.raises(DataError, match="split"):
        shelf.take("test")


def test_an_environment_with_a_user_is_refused(clerk):
    with pytest.raises(ConfigurationError, match="speaks again"):
        TaskShelf(dataclasses.replace(clerk, spec={**clerk.spec, "user_model": "template"}))


def test_without_openenv_the_extra_is_named(clerk, monkeypatch):
    import sys

    from whileai_hf.export.openenv import OpenEnvSessions, openenv_app
    from whileai_hf.export.openenv.server import wire_types

    for name in [name for name in sys.modules if name.partition(".")[0] == "openenv"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "openenv", None)
    wire_types.cache_clear()
    with pytest.raises(ConfigurationError, match=r"whileai-hf\[openenv\]"):
        openenv_app(clerk)
    with pytest.raises(ConfigurationError, match=r"whileai-hf\[openenv\]"):
        OpenEnvSessions("http://127.0.0.1:1").create()
    with pytest.raises(ConfigurationError, match="address"):
        OpenEnvSessions("127.0.0.1")
