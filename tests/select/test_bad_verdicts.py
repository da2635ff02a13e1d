"""Verdicts, stamps and switches that are not what they should be: what was found is said, and what to do about it."""

import math

import pytest

import whileai_hf as wai
from whileai_hf.errors import ConfigurationError
from whileai_hf.measure.hacks import hack_scan
from whileai_hf.rows import open_rows
from whileai_hf.select import curriculum, next_round, optimize, publish_gate


def rows_of(rewards, **more):
    return [
        {"scenario_id": task, "prompt": f"ask {task}", "final_text": f"reply {i}", "reward": reward, **more}
        for task, given in rewards.items()
        for i, reward in enumerate(given)
    ]


@pytest.mark.parametrize("as_source", [list, open_rows])
def test_rewards_that_are_text_are_named(as_source):
    rows = as_source(rows_of({"a": ["1", "0.5", "1", "0"]}))
    said = "4 of 4 rewards are no numbers, such as '1' (str)"
    kept, report = optimize(rows)
    assert len(kept) == 0 and report.warnings[0].startswith(said) and "float(" in report.warnings[0]
    assert curriculum(rows).warnings[0].startswith(said)
    assert publish_gate(rows, mode="rl", strict=False).refusals[0].startswith(said)
    assert publish_gate(rows, mode="sft", strict=False).warnings[0].startswith(said)


@pytest.mark.parametrize("spelled", [[1, 0, None, 1], [True, False, None, True], [1.0, 0.0, math.nan, 1.0]])
def test_one_verdict_however_it_is_spelled(spelled):
    expected = optimize(rows_of({"a": [1.0, 0.0, None, 1.0]}))
    for source in (rows_of({"a": spelled}), open_rows(rows_of({"a": spelled}))):
        kept, report = optimize(source)
        assert kept["final_text"][:] == expected[0]["final_text"][:] == ["reply 0", "reply 1", "reply 3"]
        assert report.to_dict() == expected[1].to_dict()
        assert kept["calibration"][:] == expected[0]["calibration"][:]


@pytest.mark.parametrize("n", [10**400, 2**63, math.inf, math.nan, -1, "8", None, True], ids="{!r:.20}".format)
def test_a_stamp_nobody_counted_is_measured_anew(n):
    rows = rows_of({"a": [1, 0, 1, 0]}, calibration={"n": n, "pass_rate": 0.1, "mean_reward": 10**400})
    assert wai.calibrate(rows)["calibration"][0]["n"] == 4
    assert curriculum(rows).rates == {"a": 0.5}
    assert optimize(rows)[0]["calibration"][0]["pass_rate"] == 0.5


def test_a_stamp_with_a_mean_no_double_holds_keeps_its_pass_rate():
    rows = rows_of({"a": [1, 0]}, calibration={"n": 8, "pass_rate": 0.25, "mean_reward": 10**400})
    assert curriculum(rows).rates == {"a": 0.25}


@pytest.mark.parametrize("as_source", [list, open_rows])
def test_what_rows_were_given_before_a_penalty_survives(as_source):
    rows = rows_of({"a": [1, 0, 1, 0]})
    rows[1]["reward_before_penalty"] = 0.75  # penalized elsewhere, for another reason
    rows[2]["finish_reason"] = "length"
    kept, _ = optimize(as_source(rows), truncated="penalize")
    assert kept["reward"][:] == [1, 0, 0, 0]
    assert kept["reward_before_penalty"][:] == [None, 0.75, 1, None]


def test_messages_about_knobs_speak_of_knobs_there_are():
    rows = rows_of({"a": [1, 0]})
    with pytest.raises(ConfigurationError, match="band=None is not a pair") as caught:
        next_round(rows, band=None)
    assert "enforce_band" not in str(caught.value)
    with pytest.raises(ConfigurationError, match="enforce_band=False"):
        optimize(rows, band=None)
    with pytest.raises(ConfigurationError, match="did you mean 'enforce_band'"):
        optimize(rows, enforce_bnd=False)
    for name in ("strict_hacks", "strict"):
        with pytest.raises(ConfigurationError, match=f"{name}='x' is neither true nor false"):
            publish_gate(rows, endorsed=["tool:"], **{name: "x"})


def test_numbers_of_tokens_no_double_holds():
    rows = rows_of({"a": [1, 0], "b": [0, 1]}, logprob=-1.0, n_tokens=10**400)
    rows[0]["token_logprobs"] = [-(10**400), -1.0]
    rows[1]["token_logprobs"] = [math.inf, -math.inf]
    assert hack_scan(rows).n_scored == 4
