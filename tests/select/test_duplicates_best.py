import whileai_hf as wai


def test_of_equal_rollouts_the_best_rewarded_one_is_kept_for_sft():
    rows = [{"prompt": "a", "final_text": "yes", "reward": reward} for reward in (0, 1, 1, 1, 1, 1, 1, 1)]
    kept, report = wai.optimize(rows, mode="sft")
    assert kept["reward"][:] == [1.0]
    assert report.n_in == report.n_kept + sum(report.dropped.values())
