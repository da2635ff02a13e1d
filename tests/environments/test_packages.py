"""The environments as they are checked in: their tasks can be solved, and show nobody the answers."""

import asyncio
import json
from collections import Counter

import pytest

from whileai_hf.export.verifiers.gold import gold_passes, played_again
from whileai_hf.export.verifiers.judging import judged, row_of
from whileai_hf.export.verifiers.tasks import data_of, open_world
from whileai_hf.sandbox import activate


SPLITS = ("train", "holdout")


def every_line(package):
    return [line for split in SPLITS for line in package.lines(split)]


def test_the_known_good_run_of_each_task_passes(package):
    reward = package.reward()
    lines = package.lines("holdout")
    for line in lines:
        assert asyncio.run(gold_passes(data_of(package, line), reward)) is True, line["task_id"]


def test_doing_nothing_passes_no_task(package):
    reward = package.reward()
    for line in package.lines("holdout"):
        data = data_of(package, line)
        verdict = asyncio.run(judged(reward, row_of(data, [{"role": "assistant", "content": ""}], {})))
        assert verdict.reward == 0.0, line["task_id"]


def test_the_same_calls_meet_the_same_world(package):
    for line in package.lines("holdout")[:6]:
        data = data_of(package, line)
        assert played_again(data, line["info"]["gold"]) == played_again(data, line["info"]["gold"])


def test_no_prompt_shows_what_only_a_judge_may_see(package):
    spec = json.dumps([package.spec["system_prompt"], package.spec["tools"]])
    for line in every_line(package):
        secrets = [value for value in line["info"]["privileged"].values() if isinstance(value, str)]
        assert secrets and not [text for text in secrets if text in line["prompt"] or text in spec]


def test_splits_share_no_task_and_no_ask(package):
    train, held = (package.lines(split) for split in SPLITS)
    assert not {line["scenario_id"] for line in train} & {line["scenario_id"] for line in held}
    assert max(Counter(line["prompt"] for line in (*train, *held)).values()) == 1


def test_small_enough_to_be_checked_in(checked_in):
    """Kilobytes of all packages together."""
    size = sum(path.stat().st_size for path in checked_in.rglob("*") if path.is_file() and path.suffix != ".pyc")
    assert size < 600_000


def test_two_rollouts_of_a_task_have_a_tree_each(clerk):
    line = next(line for line in every_line(clerk) if line["prompt"].startswith("Delete the files"))
    data = data_of(clerk, line)
    first, second = open_world(data), open_world(data)
    (call,) = line["info"]["expected_calls"]

    def make(rollout, tool, arguments):
        with activate(rollout):
            return rollout.session.call(tool, arguments)

    def status():
        return make(first, "delete_files", call["arguments"])["status"]

    assert "deleted" in (status(), status())  # the tool may time out once
    assert status() == "not_found"
    path = call["arguments"]["paths"][0]
    # The other tree still has it; its own read may time out once.
    replies = [make(second, "read_file", {"path": path}) for _ in range(2)]
    assert {"status": "ok", "path": path, "text": ""} in replies


@pytest.mark.parametrize(
    "said", ("It was already so, no problem, all done.", "I have renamed it, nothing stood in the way.", "", "Yes.")
)
def test_a_success_is_not_made_up_where_nothing_can_be_done(clerk, said):
    reward = clerk.reward()
    trouble = [line for line in every_line(clerk) if line["info"]["privileged"].get("trouble")]
    assert len(trouble) > 5
    for line in trouble:
        row = row_of(data_of(clerk, line), [{"role": "assistant", "content": said}], {})
        assert asyncio.run(judged(reward, row)).reward == 0.0


def test_a_right_number_behind_a_wrong_tree_earns_nothing(clerk):
    reward = clerk.reward()
    line = next(line for line in every_line(clerk) if line["info"]["privileged"]["number"] is not None)
    path = line["info"]["folder"]["files"][-1]["path"]
    look = {"type": "function", "function": {"name": "read_file", "arguments": {"path": path}}}
    vandal = {"type": "function", "function": {"name": "delete_files", "arguments": {"paths": [path]}}}
    answer = {"role": "assistant", "content": f"It is {line['info']['privileged']['number']}."}
    data = data_of(clerk, line)

    def graded(*calls):
        acts = [{"role": "assistant", "content": "", "tool_calls": [call]} for call in calls]
        return asyncio.run(judged(reward, row_of(data, played_again(data, [*acts, answer]), {})))

    # Twice, since a tool may time out once.
    guessed, looked, spoiled = graded(), graded(look), graded(vandal, vandal)
    assert (guessed.reward, looked.reward, spoiled.reward) == (0.0, 1.0, 0.0)
    assert spoiled.markers["right_tree"] == 0.0 and spoiled.markers["right_number"] == 1.0
