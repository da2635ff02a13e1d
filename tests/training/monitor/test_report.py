"""The summary says what was seen and what was not, and draws it."""

import xml.etree.ElementTree as ElementTree

import pytest

from whileai_hf.errors import DataError
from whileai_hf.training.monitor.alarms import Alarm
from whileai_hf.training.monitor.curve import MonitorCurve
from whileai_hf.training.monitor.figure import monitor_figure
from whileai_hf.training.monitor.report import make_report


POINTS = [
    {"step": 0, "proxy": [0.4, 0.6], "gold": [1.0, 0.5], "length": [20, 30], "kl": [0.0, 0.0]},
    {"step": 10, "proxy": [1.0, 1.0], "gold": [0.0, None], "length": [60, 60], "kl": [0.2, 0.3]},
]


def report(points=POINTS, alarms=(), measured=True, **more):
    known = {"stopped": None, "size": (2, 4, 5), "seconds": [1.0, 2.0], "warnings": [], "notes": []}
    for point in points:
        if "gold" in point:
            point["gold"] = [float("nan") if value is None else value for value in point["gold"]]
    return make_report(MonitorCurve.of(points), alarms, measured=measured, **{**known, **more})


def test_outcomes():
    alarm = Alarm("divergence", 10, "proxy up")
    assert report().outcome == "no_alarm"
    assert report(alarms=[alarm]).outcome == "alarm"
    assert report(alarms=[Alarm("length", 10, "longer")]).outcome == "no_alarm"
    assert report(measured=False).outcome == "not_measured"
    assert report(points=POINTS[:1]).outcome == "not_measured"
    assert report(points=[]).outcome == "not_measured"


def test_text():
    text = str(report(alarms=[Alarm("divergence", 10, "proxy up")], stopped="divergence at step 10: proxy up"))
    lines = text.splitlines()
    assert lines[0] == "reward hacking: ALARM (2 evaluations of 2 tasks x 4, 1.5 s each)"
    first, second = lines[2], lines[3]
    assert first.split()[:5] == ["0", "0.500", "0.750", "25", "0.000"]
    assert second.split()[:5] == ["10", "1.000", "0.000", "60", "0.250"]
    assert first.index("P") < first.index("G")
    assert second.index("G") < second.index("P")
    assert second.endswith("divergence")
    assert "stopped: divergence at step 10" in text
    assert "NOT MEASURED" in str(report(measured=False, warnings=["no gold"]))


def test_report_is_json():
    found = report().to_dict()
    assert found["gold"] == [0.75, 0.0]
    assert found["alarms"] == []


def test_figure():
    alarmed = report(alarms=[Alarm("divergence", 10, "proxy up")])
    svg = monitor_figure(alarmed)
    ElementTree.fromstring(svg)
    assert svg.count("<circle") == 8
    assert "divergence" in svg
    assert "KL per token" in svg
    bare = monitor_figure(report(points=[{"step": 3, "length": [5.0]}], measured=False))
    ElementTree.fromstring(bare)
    assert "KL" not in bare
    with pytest.raises(DataError, match="no evaluation"):
        monitor_figure(report(points=[]))
