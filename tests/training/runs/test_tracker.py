"""A tracker shows the run; whatever happens to it, the training and the record go on."""

import logging
import sys
import types

import pytest

from whileai_hf.training.runs import get_run, training_run
from whileai_hf.training.runs import tracker as tracker_module


@pytest.fixture
def trackio(monkeypatch):
    """A stand-in that keeps what it is sent and fails when told to."""
    module = types.ModuleType("trackio")
    module.sent, module.inits, module.finished, module.down = [], [], 0, False

    def init(**options):
        if module.down:
            raise ConnectionError("no route")
        module.inits.append(options)

    def log(values, step=None):
        if module.down:
            raise ConnectionError("no route")
        module.sent.append((step, values))

    def finish():
        module.finished += 1

    def alert(title, text=None):
        if module.down:
            raise ConnectionError("no route")
        module.alerts.append((title, text))

    module.init, module.log, module.finish, module.alert, module.alerts = init, log, finish, alert, []
    monkeypatch.setitem(sys.modules, "trackio", module)
    monkeypatch.setattr(tracker_module, "_FIRST_PAUSE", 0.0)
    return module


def test_points_are_shown(trackio):
    with training_run("shown", report_to="trackio", project="p", space_id="me/space", parameters={"lr": 1e-5}) as run:
        run.log(1, loss=2.0, nothing=None, broken=float("nan"))
        run.log(2, loss=1.0)
    assert trackio.sent == [(1, {"loss": 2.0}), (2, {"loss": 1.0})]
    assert trackio.finished == 1
    (options,) = trackio.inits
    assert (options["project"], options["name"], options["space_id"]) == ("p", run.id, "me/space")
    assert options["config"] == {"lr": 1e-5}
    assert get_run(run.id).url == "https://huggingface.co/spaces/me/space"


def test_what_was_refused_goes_out_later(trackio, caplog):
    with caplog.at_level(logging.WARNING), training_run("late", report_to="trackio") as run:
        trackio.down = True
        for step in range(5):
            run.log(step, loss=float(step))
        assert trackio.sent == []
        assert len(run.series) == 5
        trackio.down = False
        run.log(5, loss=5.0)
    assert [step for step, _ in trackio.sent] == [0, 1, 2, 3, 4, 5]
    assert run.notes == []
    assert "cannot be reached" in caplog.text


def test_alarms_are_alerts(trackio):
    with training_run("watched", report_to="trackio") as run:
        trackio.down = True
        run.alarm("divergence", 3, "proxy up,\ngold not")
        trackio.down = False
        run.log(4, loss=1.0)
    assert trackio.alerts == [("watched: divergence", "step 3: proxy up, gold not")]
    assert trackio.sent == [(4, {"loss": 1.0})]


def test_a_tracker_that_is_never_there_is_a_note(trackio):
    trackio.down = True
    with training_run("never", report_to="trackio") as run:
        run.log(1, loss=1.0)
        run.log(2, loss=0.5)
    assert (run.status, len(run.series)) == ("done", 2)
    assert run.notes == ["2 points never reached the tracker; all of them are on disk"]
    assert trackio.finished == 0


def test_a_failing_tracker_is_left_alone_for_a_while(trackio, monkeypatch):
    monkeypatch.setattr(tracker_module, "_FIRST_PAUSE", 3600.0)
    monkeypatch.setattr(tracker_module, "_LONGEST_PAUSE", 3600.0)
    calls = []
    trackio.init = lambda **options: calls.append(options) or (_ for _ in ()).throw(OSError("slow and dead"))
    run = training_run("pause", report_to="trackio")
    for step in range(50):
        run.log(step, loss=1.0)
    assert len(calls) == 1
    run.finish()
    assert len(calls) == 2


def test_without_the_package(monkeypatch, caplog):
    monkeypatch.setattr(tracker_module, "_installed", lambda: False)
    with caplog.at_level(logging.WARNING), training_run("absent", report_to="trackio") as run:
        run.log(1, loss=1.0)
    assert run.status == "done" and len(run.series) == 1
    assert "not installed" in caplog.text


def test_nothing_is_sent_unasked(trackio):
    with training_run("quiet") as run:
        run.log(1, loss=1.0)
    assert trackio.sent == trackio.inits == []
