import pytest

from whileai_hf.score.reading import failed, outcome_of


CASES = [
    ({"status": "ok", "data": {"id": 1}}, "ok"),
    ({"status": "created", "data": {"id": 1}}, "ok"),
    ({"status": "not_found", "error": "no order"}, "not_found"),
    ({"status": "already_done", "error": "was refunded"}, "already_done"),
    ({"status": "permission_denied"}, "denied"),
    ({"status": "timeout"}, "timeout"),
    ({"status": "rate_limited"}, "rate_limited"),
    ({"status": "invalid_arguments", "error": "x"}, "invalid"),
    ({"status": "ok", "data": '{"total": 12.'}, "malformed"),
    ({"status": "ok", "data": {"n": 1}, "as_of": "3 days ago"}, "stale"),
    ({"status": "ok", "data": {"n": 1}, "as_of": "2026-05-01"}, "ok"),
    ({"status": "pending", "message": "accepted", "data": {"id": 1}}, "pending"),
    ({"status": "ok", "data": []}, "empty"),
    ({"status": "ok", "data": {"notes": []}}, "empty"),
    # the state of a record is not the outcome of a call
    ({"order": 7, "status": "pending", "total": 3}, "ok"),
    ({"payment": "p", "status": "failed", "amount": 5}, "ok"),
    # other people's tools
    ({"error": "429 too many requests"}, "rate_limited"),
    ({"success": False, "message": "card declined"}, "error"),
    ({"isError": True, "content": [{"type": "text", "text": "access denied"}]}, "denied"),
    ({"content": [{"type": "text", "text": "Error: user not found"}]}, "not_found"),
    ({"status_code": 404}, "not_found"),
    ({"statusCode": 503, "message": "try later"}, "error"),
    ({"exit_code": 0, "stdout": "fine"}, "ok"),
    ({"exit_code": 2, "stdout": ""}, "error"),
    ("Error: user not found", "not_found"),
    ("Error: gift card balance is not enough", "error"),
    ("ValueError: bad date", "error"),
    ("Traceback (most recent call last):\n  File", "error"),
    ("line\nline\n[exit code 1]", "error"),
    ("done\nProcess exited with code 0", "ok"),
    ("bash: foo: command not found", "not_found"),
    ("make: *** [all] Error 2\nCommand failed", "error"),
    ("HTTP 503 Service Unavailable", "error"),
    ("No results found", "empty"),
    ("", "empty"),
    (None, "empty"),
    ([], "empty"),
    ('[{"id": 1}]', "ok"),
    ('{"id": 1, "na', "malformed"),
    ("Transfer successful", "ok"),
    # what was read may speak of errors
    ("The log of Monday.\n" + "all fine\n" * 60 + "Error: disk\n" + "all fine\n" * 60, "ok"),
    ("The parcel was shipped on Monday; an earlier one was not found by the customer.", "ok"),
    (17, "ok"),
]


@pytest.mark.parametrize("result, outcome", CASES)
def test_outcomes(result, outcome):
    assert outcome_of(result) == outcome


def test_which_are_failures():
    bad = {"denied", "timeout", "rate_limited", "invalid", "error", "not_found", "malformed"}
    every = {outcome for _, outcome in CASES}
    assert {outcome for outcome in every if failed(outcome)} == bad


@pytest.mark.parametrize(
    "odd", ["\ud800", "\x00", {"status": None}, {"error": {"code": 1}}, [{"type": "text"}], {1: 2}]
)
def test_odd_results_do_not_break_it(odd):
    assert isinstance(outcome_of(odd), str)
