"""Quality: reward first, then how the rollout went."""

from hypothesis import given, settings
from hypothesis import strategies as st

from whileai_hf.rows import open_rows
from whileai_hf.select import rank


def call(tool="get", status="ok", **arguments):
    return {"tool": tool, "arguments": arguments, "result": {"status": status}}


def test_how_a_rollout_went_tells_equal_rewards_apart():
    rows = [
        {"final_text": "ok", "steps": [call(id=1), call(id=2)], "reward": 1},
        {"final_text": "ok", "steps": [call(id=1), call(id=1)], "reward": 1},
        {"final_text": "ok", "steps": [call(status="invalid_arguments")], "reward": 1},
        {"final_text": "ok", "steps": [call(status="timeout")], "reward": 1},
        {"final_text": "", "steps": [], "reward": 1},
        {"final_text": "ok", "finish_reason": "length", "reward": 1},
        {"final_text": "ok", "steps": [], "reward": None},
        {"final_text": "ok", "steps": [], "reward": 0},
    ]
    for source in (rows, open_rows(rows)):
        ranked = rank(source)
        quality = ranked["quality"][:]
        assert ranked["reward"][:] == [row["reward"] for row in rows]
        assert quality[0] == quality[3] > quality[1] > quality[2]
        assert quality[4] == quality[5] == quality[2]
        assert quality[6] is None
        assert quality[7] < 0.5 <= quality[2]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([0, 1, -1, 0.5, 0.51, None]),
            st.sampled_from(["", "x"]),
            st.lists(st.sampled_from(["ok", "unknown_tool", "timeout"]), max_size=4),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_a_higher_reward_has_the_higher_quality(drawn):
    rows = [{"final_text": t, "steps": [call(status=s) for s in steps], "reward": r} for r, t, steps in drawn]
    found = [(row["reward"], quality) for row, quality in zip(rows, rank(rows)["quality"], strict=True)]
    for reward, quality in found:
        assert (quality is None) == (reward is None)
        assert quality is None or 0 <= quality <= 1
    graded = [pair for pair in found if pair[0] is not None]
    assert all(one[1] < other[1] for one in graded for other in graded if one[0] < other[0])
