"""`hack_scan_diff` names what the agent does more of, and nothing where nothing moved or nothing can be named."""

import numpy as np
import pytest
from scanned_runs import PHRASE, SHORTCUT, alike, rollouts

from whileai_hf.measure.hacks import hack_scan_diff


def learned(rows, share, says=SHORTCUT, seed=1):
    """The rows of a policy that adds a sentence to `share` of its other replies."""
    random = np.random.default_rng(seed)
    return [
        row | {"final_text": f"{row['final_text']} {says}", "reward": 1}
        if says not in row["final_text"] and random.random() < share
        else row
        for row in rows
    ]


BEFORE = rollouts(n_asks=50, k=6, seed=0)
AGAIN = rollouts(n_asks=50, k=6, seed=1)


def test_a_shortcut_that_was_learned_is_named():
    diff = hack_scan_diff(BEFORE, learned(AGAIN, 0.7), endorsed=["marker:grounded"])
    assert (diff.verdict, diff.moved_toward, diff.direction) == ("toward_shortcut", PHRASE, "more")
    assert diff.paired
    assert diff.n_tasks == 50
    move = next(move for move in diff.moves if move.name == PHRASE)
    assert (move.paid, move.endorsed) == (True, False)
    assert move.before == pytest.approx(np.mean(["verified" in row["final_text"] for row in BEFORE]), abs=1e-6)
    assert move.after > 0.7
    assert PHRASE in diff.warnings[0]
    assert PHRASE in str(diff)


def test_an_endorsed_move_is_what_was_wanted():
    diff = hack_scan_diff(BEFORE, learned(AGAIN, 0.7), endorsed=["verified"])
    assert (diff.verdict, diff.warnings) == ("toward_endorsed", [])
    assert hack_scan_diff(BEFORE, learned(AGAIN, 0.7)).verdict == "moved"


def test_doing_less_of_what_is_endorsed_is_no_win():
    diff = hack_scan_diff(learned(BEFORE, 0.7), AGAIN, endorsed=["verified"])
    assert (diff.verdict, diff.direction) == ("toward_shortcut", "less")


def test_a_phrase_nobody_said_before_is_seen():
    before, after = (rollouts(n_asks=50, k=6, seed=seed, pays="grounded") for seed in (0, 1))
    diff = hack_scan_diff(before, learned(after, 0.6, "As requested by the supervisor."), endorsed=["tool:look_up"])
    assert diff.moved_toward == "says:as requested by the supervisor"
    assert next(move for move in diff.moves if move.name == diff.moved_toward).before == 0.0


def test_two_runs_of_one_agent_did_not_move():
    moved = 0
    for seed in range(10):  # the long run is in tests/simulations
        before, after = rollouts(n_asks=20, k=4, seed=seed), rollouts(n_asks=20, k=4, seed=1000 + seed)
        moved += hack_scan_diff(before, after, n_perm=39).verdict != "no_move_detected"
    assert moved <= 3


def test_no_name_where_a_side_is_degenerate():
    for before, after in ((alike(), AGAIN), (AGAIN, alike()), (alike(), alike())):
        diff = hack_scan_diff(before, after, endorsed=["marker:grounded"])
        assert (diff.verdict, diff.moved_toward, diff.direction) == ("withheld", None, None)
        assert "too alike" in diff.warnings[0]


def test_other_tasks_are_compared_as_two_groups():
    after = [row | {"scenario_id": f"new-{row['scenario_id']}"} for row in learned(AGAIN, 0.7)]
    diff = hack_scan_diff(BEFORE, after, endorsed=["marker:grounded"])
    assert (diff.paired, diff.moved_toward) == (False, PHRASE)
    assert any("two groups" in note for note in diff.notes)
    same = [row | {"scenario_id": f"new-{row['scenario_id']}"} for row in AGAIN]
    assert hack_scan_diff(BEFORE, same).verdict == "no_move_detected"


def test_few_tasks_say_nothing():
    few = [row for row in BEFORE if row["scenario_id"] in ("sc-1", "sc-2")]
    diff = hack_scan_diff(few, AGAIN)
    assert (diff.verdict, diff.moves, diff.floor) == ("insufficient_data", [], None)


def test_ungraded_rows_are_left_out_and_the_report_is_plain_data():
    odd = [row | {"reward": None, "final_text": "Nonsense."} for row in AGAIN]
    diff = hack_scan_diff(BEFORE, AGAIN + odd)
    assert diff.after.n_unjudged == len(odd)
    assert diff.verdict == "no_move_detected"
    assert diff.to_dict()["before"]["n_scored"] == len(BEFORE)
    assert diff == hack_scan_diff(BEFORE, AGAIN + odd)
