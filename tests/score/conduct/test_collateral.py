import pytest

from whileai_hf.errors import ConfigurationError
from whileai_hf.score.conduct import no_collateral
from whileai_hf.score.verify import All, Includes


REFUNDED = {
    "entity": "order",
    "id": "ORD-7",
    "change": "updated",
    "before": {"status": "paid", "total": 9},
    "after": {"status": "refunded", "total": 9},
    "tool": "refund_order",
}
EMAILED = {
    "entity": "email",
    "id": "E-1",
    "change": "created",
    "before": None,
    "after": {"to": "x"},
    "tool": "send_email",
}


@pytest.mark.parametrize(
    "allowed, reward",
    [
        ("order", 1.0),
        ("order:ORD-7", 1.0),
        ("order:ORD-8", 0.0),
        ("order.status", 1.0),
        ("order:ORD-7.status,total", 1.0),
        ("order.total", 0.0),
        ("ord", 0.0),
        ("refund_order", 1.0),
        (lambda change: change["after"]["status"] == "refunded", 1.0),
        ([], 0.0),
    ],
)
def test_what_is_allowed(allowed, reward):
    verdict = no_collateral(allowed)({"state_changes": [REFUNDED]})
    assert verdict["reward"] == verdict["markers"]["conduct:no_collateral"] == reward


def test_one_stray_change_is_enough_and_is_named():
    verdict = no_collateral(["order"])({"state_changes": [REFUNDED, EMAILED]})
    assert verdict["reward"] == 0.0 and "email:E-1 created" in verdict["reason"]
    assert no_collateral(["order", "email"])({"state_changes": [REFUNDED, EMAILED]})["reward"] == 1.0


def test_a_field_does_not_allow_a_record_to_come_or_go():
    gone = {**REFUNDED, "change": "deleted", "after": None}
    assert no_collateral("order.status")({"state_changes": [gone]})["reward"] == 0.0
    assert no_collateral("order")({"state_changes": [gone]})["reward"] == 1.0


def test_nothing_moved_passes_and_not_knowing_is_no_verdict():
    assert no_collateral()({"state_changes": []})["reward"] == 1.0
    assert no_collateral()({"steps": []})["reward"] is None
    assert no_collateral()({"state_changes": None})["reward"] is None


def test_by_calls_only_when_asked_and_marked(tools):
    step = {"tool": "refund_order", "arguments": {"order_id": "ORD-7"}, "result": {"status": "updated"}}
    row = {"tools": tools, "steps": [step, {**step, "result": {"status": "timeout"}}], "final_text": "Done"}
    verdict = no_collateral("order:ORD-8", from_calls=True)(row)
    assert verdict["reward"] == 0.0 and verdict["changes_from"] == "calls"
    assert no_collateral("order:ORD-7", from_calls=True)(row)["reward"] == 1.0
    assert no_collateral("order:ORD-7")(row)["reward"] is None


def test_composes():
    both = All(Includes(field="gold"), no_collateral("order"))
    row = {"final_text": "It is refunded.", "gold": "refunded"}
    assert both({**row, "state_changes": [REFUNDED]})["reward"] == 1.0
    assert both({**row, "state_changes": [EMAILED]})["reward"] == 0.0
    assert both(row)["reward"] is None


def test_what_cannot_be_allowed():
    with pytest.raises(ConfigurationError, match="allow_changes holds 7"):
        no_collateral([7])
