"""Several completions of one prompt."""

import pytest

from whileai_hf.select import optimize


def rollout(prompt, reward, text, **more):
    return {"prompt": prompt, "final_text": text, "reward": reward, **more}


def test_among_equal_rewards_the_most_unlike_one_is_next():
    texts = ["the order is lost", "the order is lost now", "we refunded 40 dollars to you", "the order is lost today"]
    rows = [rollout("a", 1, text) for text in texts]
    kept, report = optimize(rows, mode="sft", k=2)
    assert sorted(kept["final_text"]) == sorted([texts[0], texts[2]])
    assert report.dropped["not_selected"] == 2


def test_tools_tell_completions_apart_where_words_do_not():
    def steps(*names):
        return [{"tool": name, "arguments": {}, "result": {}} for name in names]

    rows = [rollout("a", 1, "done", steps=steps(*names)) for names in (["x"], ["x", "x"], ["y", "z"])]
    kept, _ = optimize(rows, mode="sft", k=2)
    assert [len(cell) for cell in kept["steps"]] == [1, 2] and kept["steps"][1][0]["tool"] == "y"


def test_unlikeness_never_beats_a_reward():
    rows = [rollout("a", 1.0, "one two"), rollout("a", 1.0, "one two three"), rollout("a", 0.9, "nothing alike here")]
    kept, _ = optimize(rows, mode="sft", k=2, min_reward=0.5)
    assert kept["reward"][:] == [1.0, 1.0]


def test_prompts_with_fewer_good_completions_keep_those_they_have():
    rows = [rollout("a", 1, f"reply {i}") for i in range(5)] + [rollout("b", i, f"reply {i}") for i in range(2)]
    kept, _ = optimize(rows, mode="sft", k=3)
    assert kept["prompt"][:] == ["a", "a", "a", "b"]


@pytest.mark.parametrize("select", ["random_per_prompt", "random_k_overall", "top_k_overall"])
def test_controls_keep_as_many(select):
    rows = [rollout(f"p{p}", int(i < p % 4), f"reply {i}") for p in range(20) for i in range(6)]
    best, _ = optimize(rows, mode="sft", k=3)
    kept, report = optimize(rows, mode="sft", k=3, select=select)
    assert len(kept) == len(best) == 5 * (1 + 2 + 3)
    assert report.n_in == report.n_kept + sum(report.dropped.values())
    if select == "random_per_prompt":
        assert sorted(kept["prompt"]) == sorted(best["prompt"])
