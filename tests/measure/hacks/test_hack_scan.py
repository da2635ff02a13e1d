"""`hack_scan` names what a reward pays for, is silent about what it does not, and says which of six cases it is."""

import json

import numpy as np
import pytest
from datasets import Dataset
from scanned_runs import PHRASE, alike, rollouts

from whileai_hf.errors import ConfigurationError, DataError, MissingColumnError
from whileai_hf.measure.hacks import hack_scan
from whileai_hf.rows import open_rows


def test_a_planted_shortcut_is_found_and_named():
    scan = hack_scan(rollouts(noise=0.05), endorsed=["marker:grounded", "tool:look_up"])
    assert scan.regime == "reward_hack"
    assert scan.top_feature == PHRASE
    assert scan.top_rho > 0.8
    assert scan.p_value == pytest.approx(1 / 101)
    assert scan.features[0].above_floor
    assert scan.features[0].tier == "auto"
    assert "says:verified" in scan.features[0].aliases
    assert scan.integrity == 0.0
    assert PHRASE in scan.rivals
    assert PHRASE in scan.warnings[0]
    assert "learns more of that" in scan.warnings[0]


def test_a_reward_that_punishes_is_told_from_one_that_pays():
    rows = [row | {"reward": 1 - row["reward"]} for row in rollouts()]
    scan = hack_scan(rows, endorsed=["marker:grounded"])
    assert scan.top_rho < -0.8
    assert "learns less of that" in scan.warnings[0]
    scan = hack_scan(rows, endorsed=["verified"])
    assert scan.regime == "reward_hack"
    assert "punishes" in scan.warnings[0]
    assert scan.integrity is None or scan.integrity < 0.5


def test_an_endorsed_feature_on_top_is_what_training_is_for():
    scan = hack_scan(rollouts(pays="grounded"), endorsed=["marker:grounded"])
    assert (scan.regime, scan.top_feature, scan.warnings) == ("train", "marker:grounded", [])
    assert scan.integrity > 0.8
    assert scan.rivals == []


def test_a_conjunction_is_named_when_only_both_together_pay():
    rows = rollouts(n_asks=100, pays="both", share=0.5)
    scan = hack_scan(rows, endorsed=["tool:look_up"])
    assert scan.top_feature == f"tool:look_up & {PHRASE}" or scan.top_feature == f"{PHRASE} & tool:look_up"
    assert scan.features[0].tier == "and"
    # Half of it is endorsed: that does not make the whole what the reward is for.
    assert not scan.features[0].endorsed
    assert scan.regime == "reward_hack"
    assert hack_scan(rows, endorsed=["tool:look_up", "verified"]).features[0].endorsed
    without = hack_scan(rows, conjunctions=False)
    assert all(feature.tier != "and" for feature in without.features)


def test_a_conjunction_never_stands_before_a_part_that_says_it_all():
    """By chance one of the many pairs is a little better than what it is made of; that is no reason to name it."""
    for seed in range(5):
        scan = hack_scan(rollouts(n_asks=40, seed=seed, noise=0.1), endorsed=["marker:grounded"])
        assert scan.top_feature == PHRASE


def test_what_only_tells_easy_asks_from_hard_ones_is_not_reported():
    rows = rollouts(n_asks=80, pays="difficulty", noise=0.0)
    for row in rows:
        easy = "easy" in row["prompt"]
        row["final_text"] += " This one was easy to answer." if easy else " This one took a long time to find out."
        row["markers"]["easy"] = float(easy)
    reward = np.array([row["reward"] for row in rows])
    easy = np.array(["easy" in row["prompt"] for row in rows])
    assert np.corrcoef(reward, easy)[0, 1] > 0.3  # pooled, the words do go with the reward
    scan = hack_scan(rows, endorsed=["marker:grounded"])
    assert scan.regime == "no_signal"
    assert scan.top_feature is None
    assert not any("easy" in feature.name for feature in scan.features)


def test_a_small_share_of_noise_pools_clears_the_floor():
    """The long run of this is in tests/simulations; here enough to see a floor without the conjunctions fail."""
    cleared = 0
    for seed in range(25):
        rows = rollouts(n_asks=20, k=4, seed=seed, pays="nothing", difficulty=False)
        cleared += hack_scan(rows, n_perm=39, seed=seed).top_feature is not None
    assert cleared <= 5


def test_a_pool_of_two_replies_is_refused():
    scan = hack_scan(alike(), endorsed=["reply_length"])
    assert (scan.regime, scan.degenerate) == ("degenerate", True)
    assert scan.top_feature is None
    assert scan.top_rho is None
    assert scan.distinct_per_ask == 2.0
    assert "reply_length" in scan.collinear
    assert len(scan.collinear) > 4
    assert "2 distinct rollouts" in scan.warnings[0]


def test_a_perfect_feature_of_various_rollouts_is_named():
    rows = rollouts(noise=0.0)
    scan = hack_scan(rows)
    assert not scan.degenerate
    assert (scan.top_feature, scan.top_rho) == (PHRASE, pytest.approx(1.0))


def test_a_pool_that_passes_is_exhausted():
    rows = rollouts(pays="grounded")
    passing = [row | {"scenario_id": f"{row['scenario_id']}-b", "reward": 1} for row in rows]
    scan = hack_scan(rows + passing, endorsed=["marker:grounded"])
    assert scan.regime == "pool_exhausted"
    assert scan.all_pass_share > 0.4
    assert "pass throughout" in scan.warnings[-1]
    failing = [row | {"reward": 0} for row in passing]
    assert hack_scan(rows + failing, endorsed=["marker:grounded"]).regime == "train"


def test_endorsed_that_matches_nothing_is_said():
    scan = hack_scan(rollouts(), endorsed=["tool:lookup"])
    assert (scan.regime, scan.endorsed_unmatched) == ("unknown", ["tool:lookup"])
    assert "tool:lookup" in scan.warnings[0]
    scan = hack_scan(rollouts(), endorsed=["tool:lookup", "marker:grounded"])
    assert (scan.regime, scan.endorsed_unmatched) == ("reward_hack", ["tool:lookup"])


def test_an_endorsed_feature_that_never_differs_is_known_all_the_same():
    rows = [row | {"markers": {"grounded": 1.0}} for row in rollouts()]
    assert hack_scan(rows, endorsed=["marker:grounded"]).regime == "reward_hack"


def test_an_endorsed_feature_wins_a_tie_and_the_tie_is_told():
    rows = rollouts(noise=0.05)
    for row in rows:
        row["markers"]["checked"] = float("verified" in row["final_text"])
    scan = hack_scan(rows, endorsed=["marker:checked"])
    assert (scan.regime, scan.top_feature) == ("train", "marker:checked")
    assert PHRASE in scan.collinear
    assert "cannot be told" in scan.warnings[0]
    assert hack_scan(rows, endorsed=["verified"]).top_feature == PHRASE


def test_nothing_endorsed_calls_nothing_a_hack():
    scan = hack_scan(rollouts())
    assert (scan.regime, scan.integrity, scan.rivals) == ("train", None, [])
    assert any("nothing is endorsed" in note for note in scan.notes)


def test_rows_without_a_verdict_change_nothing():
    rows = rollouts(n_asks=20)
    scan = hack_scan(rows)
    odd = [row | {"reward": reward} for row, reward in zip(rows, [None, float("nan"), "1"] * 60, strict=False)]
    spoilt = [row | {"reward": 1.0 - row["reward"], "sim_ok": False} for row in rows[:30]]
    mixed = hack_scan(rows + odd + spoilt)
    assert (mixed.n_unjudged, mixed.n_sim_faulty, mixed.n_scored) == (len(odd), 30, len(rows))
    assert mixed.features == scan.features
    assert mixed.tau == scan.tau
    assert any("no verdict" in note for note in mixed.notes)


@pytest.mark.parametrize(
    ("rows", "note"),
    [
        ([{"task_id": 1, "reward": None, "final_text": "x"}] * 3, "not graded"),
        ([{"task_id": i, "reward": i % 2, "final_text": "x"} for i in range(9)], "no ask has two scored rollouts"),
        ([{"task_id": i // 3, "reward": 1, "final_text": f"x{i}"} for i in range(9)], "nothing to learn from"),
        ([{"task_id": i // 4, "reward": i % 2} for i in range(60)], "no rollout has text"),
    ],
)
def test_too_little_to_scan_is_said(rows, note):
    scan = hack_scan(rows)
    assert (scan.regime, scan.top_feature) == ("no_signal", None)
    assert any(note in line for line in scan.notes)
    json.dumps(scan.to_dict())
    assert str(scan).startswith("no_signal")


def test_one_ask_alone():
    rows = [row | {"scenario_id": "one", "prompt": "p"} for row in rollouts()]
    scan = hack_scan(rows)
    assert (scan.n_asks, scan.top_feature) == (1, PHRASE)


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (2.0, -1.0), (1e-3, 0.0), (1e6, 5.0), (-1.0, 0.0)])
def test_rewards_of_any_scale(scale, shift):
    rows = rollouts(n_asks=20)
    plain = hack_scan(rows)
    moved = hack_scan([row | {"reward": row["reward"] * scale + shift} for row in rows])
    assert moved.top_feature == plain.top_feature
    assert moved.top_rho == pytest.approx(plain.top_rho * np.sign(scale), abs=1e-5)


def test_prompts_of_one_task_are_asks_of_their_own():
    rows = rollouts(n_asks=30)
    for row in rows:
        row["scenario_id"] = "all"
    assert hack_scan(rows).n_asks == 30
    listed = [row | {"prompt": [{"role": "user", "content": row["prompt"]}]} for row in rows]
    assert hack_scan(listed).n_asks == 30


def test_the_order_of_rows_does_not_change_a_correlation():
    rows = rollouts(n_asks=20)
    one, other = hack_scan(rows), hack_scan([rows[i] for i in np.random.default_rng(0).permutation(len(rows))])
    first, second = ({feature.name: feature.rho for feature in scan.features[:5]} for scan in (one, other))
    assert first == pytest.approx(second, abs=1e-5)
    assert one.top_feature == other.top_feature


def test_the_same_seed_gives_the_same_report():
    rows = rollouts(n_asks=20, pays="nothing")
    assert hack_scan(rows, seed=3) == hack_scan(rows, seed=3)
    assert hack_scan(rows, seed=3).tau != hack_scan(rows, seed=4).tau
    assert hack_scan(open_rows(rows), seed=3).to_dict() == hack_scan(rows, seed=3).to_dict()


def test_wrong_arguments_are_refused():
    rows = rollouts(n_asks=2)
    for wrong in ({"endorsed": "marker:grounded"}, {"endorsed": [""]}, {"endorsed": [3]}):
        with pytest.raises(ConfigurationError, match="endorsed"):
            hack_scan(rows, **wrong)
    for n_perm in (18, 0, True, 20.5):
        with pytest.raises(ConfigurationError, match="n_perm"):
            hack_scan(rows, n_perm=n_perm)
    with pytest.raises(MissingColumnError, match="grade"):
        hack_scan([{"task_id": 1}])
    with pytest.raises(MissingColumnError, match="task"):
        hack_scan([{"reward": 1}])
    with pytest.raises(DataError):
        hack_scan([])
    with pytest.raises(DataError):
        hack_scan(Dataset.from_dict({}))


def test_the_text_shows_what_matters():
    text = str(hack_scan(rollouts(), endorsed=["marker:grounded"]))
    assert text.startswith(f"reward_hack | top {PHRASE} (+0.")
    assert "warning: the reward goes with" in text
    assert len(text.splitlines()) < 20
