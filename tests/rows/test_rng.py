import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.rows.rng import digest, rng, unit


@given(st.integers(), st.text(), st.lists(st.integers(), min_size=1, max_size=30))
def test_equal_names_give_equal_draws_and_draws_stay_in_range(seed, name, options):
    one, two = rng(seed, name), rng(seed, name)
    assert one.pick(options) == two.pick(options)
    assert sorted(one.shuffled(options)) == sorted(options)
    assert len(one.sample_k(options, 3)) == min(3, len(options))
    assert 2 <= one.integer(2, 5) <= 5
    assert 0 <= unit(seed, name) < 1


def test_names_are_not_concatenated():
    assert digest("ab", "c") != digest("a", "bc")
    assert digest(1) != digest("one")


def test_draws_do_not_depend_on_the_process():
    code = "from whileai_hf.rows.rng import rng, digest; print(digest('a', 1), rng(3, 'x').integer(0, 10**9))"
    runs = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert runs == {f"{digest('a', 1)} {rng(3, 'x').integer(0, 10**9)}\n"}


def test_uniform_enough():
    picks = [rng(0, i).pick("abcd") for i in range(4000)]
    assert all(900 < picks.count(letter) < 1100 for letter in "abcd")
