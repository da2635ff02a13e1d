import pytest

import whileai_hf as wai
from whileai_hf.errors import ConfigurationError


def test_of_equal_rollouts_the_best_rewarded_one_is_kept_for_sft():
    rows = [{"prompt": "a", "final_text": "yes", "reward": reward} for reward in (0, 1, 1, 1, 1, 1, 1, 1)]
    kept, report = wai.optimize(rows, mode="sft")
    assert kept["reward"][:] == [1.0]
    assert report.n_in == report.n_kept + sum(report.dropped.values())


def test_a_switch_is_true_or_false():
    with pytest.raises(ConfigurationError, match="enforce_band='false' is neither"):
        wai.optimize([{"prompt": "a", "final_text": "x", "reward": 1}], enforce_band="false")
