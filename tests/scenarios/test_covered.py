"""Coverage: what is counted, of what, and what is left out."""

import itertools

from whileai_hf.scenarios import coverage, draw_tasks


def dims(spec, n, **knobs):
    return [row["scenario_dimensions"] for row in itertools.islice(draw_tasks(spec, **knobs), n)]


def test_nothing_covers_nothing(shop):
    report = coverage(shop, [])
    assert (report.rows, report.cells, report.pairs_covered, report.strength) == (0, 0, 0, 0)
    assert report.pairs_total > 600 and report.share == 0


def test_one_task_covers_a_pair_for_each_two_axes(shop):
    report = coverage(shop, dims(shop, 1))
    assert report.pairs_covered == 15 and [entry["covered"] for entry in report.by_axes] == [1] * 15


def test_the_total_counts_only_what_can_occur(shop):
    totals = {tuple(entry["axes"]): entry["total"] for entry in coverage(shop, []).by_axes}
    # Three tools and multi_tool have records; search_products and unrelated do not.
    assert totals["tool", "world_state"] == 4 * 6 + 2
    # Reads lose no writes, and nothing goes wrong off topic.
    assert totals["tool", "tool_condition"] == 3 * 9 + 2 * 7 + 1
    # Eight stances in which a right agent calls something.
    assert totals["stance", "tool_condition"] == 8 * 9 + 2


def test_coverage_grows_to_all_pairs(shop):
    found = dims(shop, 600)
    shares = [coverage(shop, found[:n]).share for n in (10, 50, 116, 200, 600)]
    assert shares == sorted(shares) and shares[2] > 0.65 and shares[3] > 0.85 and shares[4] == 1.0
    report = coverage(shop, found)
    assert report.strength == 2 and "strength 2" in str(report) and report["share"] == 1.0
    assert sum(entry["total"] for entry in report.by_axes) == report.pairs_total


def test_own_asks_are_counted_and_left_out_of_the_pairs(shop):
    report = coverage(shop, dims(shop, 20, seeds=["hello", "order?"]))
    assert report.rows == 20 and "2 tasks lie outside the grid" in report.notes[0]
    assert report.pairs_covered <= coverage(shop, dims(shop, 18)).pairs_covered + 15
