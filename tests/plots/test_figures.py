"""Figures are well-formed, hold what they were given in proportion, and are the same for the same numbers."""

import math
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.errors import ConfigurationError
from whileai_hf.plots import Effect, bars, forest, histogram, reliability
from whileai_hf.plots.axes import round_ticks
from whileai_hf.plots.canvas import ACCENT, GRID, MUTED, WARN


SVG = "{http://www.w3.org/2000/svg}"


def parts(svg, tag):
    return list(ElementTree.fromstring(svg).iter(SVG + tag))


def texts(svg):
    return [part.text for part in parts(svg, "text")]


def filled(svg, colour):
    return [part for part in parts(svg, "rect") if part.get("fill") == colour]


def test_columns_are_as_high_as_their_counts():
    svg = histogram([0.05] * 2 + [0.55] * 4 + [1.0], band=None)
    columns = filled(svg, ACCENT)
    heights = [float(part.get("height")) for part in columns]
    assert heights[1] == pytest.approx(2 * heights[0], abs=0.1)
    assert heights[0] == pytest.approx(2 * heights[2], abs=0.1)
    places = [float(part.get("x")) for part in columns]
    assert places[1] - places[0] == pytest.approx(5 * (places[2] - places[1]) / 4, abs=0.1)


def test_rates_on_an_edge_count_above_it():
    third = histogram([3 / 10, 0.1 + 0.2], band=None)  # 0.30000000000000004 and 0.3 are one rate
    assert len(filled(third, ACCENT)) == 1


def test_the_band_says_how_many_are_in_it():
    assert "3 of 5 tasks between 0.2 and 0.8" in texts(histogram([0.0, 0.2, 0.5, 0.8, 1.0]))
    assert "0 of 0 tasks between 0.2 and 0.8" in texts(histogram([]))


@pytest.mark.parametrize("bad", [[1.2], [-0.1], [math.nan], [math.inf]])
def test_what_is_no_pass_rate(bad):
    with pytest.raises(ConfigurationError, match="rate 0"):
        histogram(bad)


@pytest.mark.parametrize("band", [(0.8, 0.2), (0.5, 0.5), (-1, 1)])
def test_what_is_no_band(band):
    with pytest.raises(ConfigurationError, match="band"):
        histogram([0.5], band=band)


def test_curves_start_together_and_part():
    svg = reliability({j: {"pass_at": 1 - 0.5**j, "pass_pow": 0.5**j} for j in (1, 2, 4, 8)})
    curves = [part for part in parts(svg, "polyline") if part.get("stroke") in (ACCENT, WARN)]
    starts = {part.get("points").split()[0] for part in curves}
    assert len(curves) == 2
    assert len(starts) == 1
    assert "pass@8 1.00" in texts(svg)
    assert "pass^8 0.00" in texts(svg)


def test_a_curve_that_was_not_measured():
    with pytest.raises(ConfigurationError, match="not measured"):
        reliability({})


def test_only_intervals_without_zero_are_coloured():
    svg = forest(
        [
            Effect("up", 0.1, (0.02, 0.18), "moved"),
            Effect("down", -0.1, (-0.2, -0.01)),
            Effect("unsure", 0.1, (-0.01, 0.2)),
            Effect("bare", 0.3, None),
        ]
    )
    assert [part.get("fill") for part in parts(svg, "circle")] == [ACCENT, WARN, MUTED, MUTED]
    assert "+0.100 moved" in texts(svg)
    places = [float(part.get("cx")) for part in parts(svg, "circle")]
    assert places[3] - places[0] == pytest.approx(places[0] - places[1], abs=0.1)


@pytest.mark.parametrize("interval", [(0.2, 0.1), (0.1,), (0.1, 0.2, 0.3), (), "ab", 0.1])
def test_what_is_no_interval(interval):
    with pytest.raises(ConfigurationError, match="pass_at_1"):
        forest([Effect("pass_at_1", 0.15, interval)])


def test_an_interval_may_be_a_point_or_leave_out_the_difference():
    svg = forest([Effect("a", 0.1, (0.1, 0.1)), Effect("b", 0.1, [0.2, 0.3])])  # a list, as JSON gives it
    assert [part.get("fill") for part in parts(svg, "circle")] == [ACCENT, ACCENT]


def test_bars_below_the_floor_are_grey_and_flagged_ones_stand_out():
    svg = bars({"bad": 0.6, "good": 0.4, "noise": 0.05, "against": -0.3}, floor=0.1, flagged=["bad"])
    by_colour = {colour: filled(svg, colour) for colour in (WARN, ACCENT, GRID)}
    assert [len(found) for found in by_colour.values()] == [1, 2, 1]
    bad, good = float(by_colour[WARN][0].get("width")), float(by_colour[ACCENT][0].get("width"))
    assert bad == pytest.approx(1.5 * good, abs=0.1)
    assert sum(part.get("stroke-dasharray") is not None for part in parts(svg, "polyline")) == 2


@pytest.mark.parametrize(
    "draw",
    [
        lambda: bars({}),
        lambda: forest([]),
        lambda: bars({"a": math.nan}),
        lambda: bars({"a": "x"}),
        lambda: bars({"a": None}),
        lambda: bars({1: 1.0}),
        lambda: bars([1, 2]),
        lambda: bars({"a": 1.0}, floor=math.nan),
        lambda: bars({"a": 1.0}, floor=-0.1),
        lambda: histogram([None]),
        lambda: histogram("abc"),
        lambda: histogram([0.5], bins="x"),
        lambda: histogram([0.5], band=(1,)),
        lambda: histogram([0.5], band=(0.2, math.nan)),
        lambda: histogram([0.5], band="ab"),
        lambda: forest([Effect("a", None, None)]),
        lambda: forest([Effect("a", math.nan, None)]),
        lambda: forest([Effect("a", 0.1, (0.0, math.inf))]),
        lambda: reliability({1: {}}),
        lambda: reliability({1: {"pass_at": math.nan, "pass_pow": 0.5}}),
        lambda: reliability({1: 0.5}),
        lambda: reliability([0.5]),
    ],
)
def test_nothing_to_draw(draw):
    with pytest.raises(ConfigurationError):
        draw()


@given(st.text(max_size=60), st.floats(-1e6, 1e6))
def test_any_name_is_well_formed_and_kept(name, value):
    svg = bars({name: value}, title=name)
    assert ElementTree.fromstring(svg).get("role") == "img"
    assert svg == bars({name: value}, title=name)


def test_a_value_next_to_nothing():
    assert "0.00" in texts(bars({"a": 5e-324}))


def test_markup_in_a_name_is_text():
    assert "<script>&\"'" in texts(bars({"<script>&\"'": 1.0}))


@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1e6), st.integers(2, 12))
def test_ticks_lie_inside_and_are_few(low, width, most):
    ticks = round_ticks(low, low + width, most)
    assert len(ticks) <= max(2, most)
    assert all(low - width * 1e-6 <= tick <= low + width * (1 + 1e-6) for tick in ticks)
