import pytest

from whileai_hf.score.reading import assistant_texts, calls_of, final_text, text_of, user_texts


NESTED = [
    {"role": "user", "content": "Refund A1"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "x", "type": "function", "function": {"name": "get_order", "arguments": '{"order_id": "A1"}'}},
            {"id": "y", "type": "function", "function": {"name": "refund_order", "arguments": {"order_id": "A1"}}},
        ],
    },
    {"role": "tool", "tool_call_id": "y", "content": '{"status": "timeout"}'},
    {"role": "tool", "tool_call_id": "x", "content": "Error: not found"},
    {"role": "assistant", "content": [{"type": "text", "text": "It timed out."}]},
]
FLAT = [
    {"role": "assistant", "content": "", "tool_calls": [{"name": "get_order", "arguments": {"order_id": "A1"}}]},
    {"role": "tool", "name": "get_order", "content": "{}"},
]
BLOCKS = [
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "get_order", "input": {"id": "A1"}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "denied", "is_error": True}]},
]


def test_results_find_their_calls():
    calls = calls_of({"messages": NESTED})
    assert [(call.tool, call.arguments, call.outcome) for call in calls] == [
        ("get_order", {"order_id": "A1"}, "not_found"),
        ("refund_order", {"order_id": "A1"}, "timeout"),
    ]
    assert [call.kind for call in calls] == ["read", "write"]


def test_other_shapes():
    assert [(call.tool, call.outcome) for call in calls_of({"messages": FLAT})] == [("get_order", "empty")]
    assert [(call.tool, call.outcome) for call in calls_of({"messages": BLOCKS})] == [("get_order", "denied")]


def test_steps_come_first_and_odd_ones_are_left_out():
    steps = ["what", None, {"text": "hm"}, {"tool": "get_order", "arguments": "{broken", "result": 1}]
    (call,) = calls_of({"steps": steps, "messages": NESTED})
    assert call.arguments == {"malformed": "{broken"} and call.index == 3


@pytest.mark.parametrize(
    "name, arguments, kind",
    [
        ("get_order", {"order_id": "1"}, "read"),
        ("update_address", {"order_id": "1"}, "write"),
        ("cancel_order", {"order_id": "1"}, "delete"),
        ("bash", {"command": "ls"}, "command"),
        ("str_replace_editor", {"command": "create", "path": "a.py", "file_text": "x"}, "command"),
        ("check_in", {"ref": "X"}, "write"),
        ("think", {"thought": "hm"}, "other"),
        ("frobnicate", {"path": "a.py", "content": "x"}, "write"),
    ],
)
def test_kinds_by_name_and_arguments(name, arguments, kind):
    (call,) = calls_of({"steps": [{"tool": name, "arguments": arguments, "result": {}}]})
    assert call.kind == kind


def test_hints_and_overrides_decide():
    step = {"tool": "sync", "arguments": {}, "result": "ok"}
    hinted = {"name": "sync", "annotations": {"readOnlyHint": False, "destructiveHint": False}}
    assert calls_of({"steps": [step], "tools": [hinted]})[0].kind == "write"
    assert calls_of({"steps": [step]}, kinds={"sync": "delete"})[0].kind == "delete"
    assert calls_of({"steps": [step], "tools": "nonsense"})[0].tool == "sync"


def test_who_said_what():
    row = {"prompt": "Refund A1", "messages": NESTED, "final_text": "It timed out."}
    assert assistant_texts(row) == ["It timed out."] and user_texts(row) == ["Refund A1"]
    steps = {"prompt": "Hi", "steps": [{"text": "One moment."}, {"user": "Ok"}], "final_text": "There."}
    assert assistant_texts(steps) == ["One moment.", "There."] and user_texts(steps) == ["Hi", "Ok"]
    assert final_text({"messages": NESTED}) == "It timed out." and final_text({}) == ""


def test_text_of_anything():
    assert [text_of(value) for value in (None, 7, ["a", {"type": "text", "text": "b"}, {"type": "image"}])] == [
        "",
        "",
        "ab",
    ]
