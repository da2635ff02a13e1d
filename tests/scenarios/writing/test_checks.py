"""What a message is held to, and that what people really write passes."""

import itertools
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whileai_hf.scenarios import draw_tasks
from whileai_hf.scenarios.writing.brief import Brief, brief_of
from whileai_hf.scenarios.writing.checks import faults_of, tidied
from whileai_hf.scenarios.writing.facts import holds, mapped, marked_in, outside, records_in, values_of
from whileai_hf.scenarios.writing.quotes import policy_runs, quotes
from whileai_hf.scenarios.writing.scene import Scene
from whileai_hf.spec import AgentSpec


@pytest.fixture(scope="module")
def scene(shop):
    return Scene(shop)


@pytest.fixture(scope="module")
def refund(shop_tasks):
    """A plain ask for a refund by somebody who writes two or three sentences."""
    task = next(row for row in shop_tasks(64) if [call["tool"] for call in row["expected_calls"]] == ["refund_order"])
    return task | {
        "expected_calls": [{"tool": "refund_order", "arguments": {"order_id": "ORD-7312", "amount": 45.5}}],
        "privileged": {
            "hidden_state": "Behind the scenes order ORD-7312 is on file twice, and the two copies differ.",
            "reference": "refund_order answers for order ORD-7312 and the reply confirms the change.",
        },
        "length": "medium",
        "typing": "standard",
    }


@pytest.fixture
def faults(scene, refund):
    def found(text, **changed):
        brief = brief_of(refund | changed, scene, 0)
        return [fault.reason for fault in faults_of(tidied(text, brief), brief, scene)]

    return found


FINE = "Morning, could you refund ORD-7312 for me? It came to $45.50... sorry, it says 45.5 on the slip."


def test_a_message_that_holds_up(faults):
    assert faults("Can you give me the $45.5 back for ORD-7312, it arrived broken.") == []
    assert faults(FINE) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("   \n", "empty"),
        ("Can you give me the money back for ORD-7312, it arrived broken.", "missing_value"),
        ("Can you give me $45.50 back for ORD-7312, it arrived broken.", "missing_value"),
        ("Can you give me $45.5 back for ord-7312, it arrived broken.", "missing_value"),
        ("Can you give me $45.5 back for ORD-73120, it arrived broken.", "missing_value"),
        ("Give me $45.5 back for ORD-7312, the one I bought with ORD-9921.", "made_up_value"),
        ("Give me $45.5 back for ORD-7312, write to sam@example.com about it.", "made_up_value"),
        ("Give me $45.5 back for ORD-7312, I suspect that it is on file twice.", "leak"),
        ("Never refund more than 100 dollars without a supervisor, so $45.5 on ORD-7312 is fine.", "policy"),
        ("Please run refund_order with $45.5 for ORD-7312, thank you.", "tool_name"),
        ("Please set order_id to ORD-7312 and pay me back 45.5, thank you.", "tool_name"),
        ("User: Please refund ORD-7312, it was 45.5 in all.", "not_the_person"),
        ("Thanks for writing in about ORD-7312 and 45.5, how can I help you today?", "not_the_person"),
        ("I'm happy to help you with ORD-7312 and the 45.5.", "not_the_person"),
        ("Here is the message: refund ORD-7312, 45.5 please.", "not_the_person"),
        ("As an AI I have no orders, but refund ORD-7312 for 45.5.", "not_the_person"),
        ("The user wants 45.5 back for ORD-7312.", "not_the_person"),
        ("# Refund\nPlease refund ORD-7312, it was 45.5 in all.", "markup"),
        ("Please **refund** ORD-7312, it was 45.5 in all.", "markup"),
        ("Please refund ORD-7312, it was 45.5. Best, [your name]", "blank"),
        ("Please refund ORD-7312, it was 45.5. " + "I waited and waited and hoped for it. " * 30, "too_long"),
        ("ORD-7312 45.5", "too_short"),
        ("Bitte erstatten Sie mir die Bestellung ORD-7312 zurück, denn der Betrag von 45.5 wurde doppelt abgebucht "
         "und niemand antwortet", "language"),
        ("请退款 ORD-7312 金额 45.5 谢谢你们的帮助", "language"),
        ("please please please please please please please refund ORD-7312 45.5", "language"),
    ],
)  # fmt: skip
def test_faults(faults, text, reason):
    assert reason in faults(text), text


def test_a_vague_ask_names_no_record(faults):
    vague = {"expected_calls": []}
    vague["scenario_dimensions"] = {"tool": "refund_order", "stance": "ambiguous", "tool_condition": "success"}
    assert faults("I want the money back for the other one, you know which.", **vague) == []
    assert faults("I want the money back for ORD-7312, you know which.", **vague) == ["made_up_value"]


def test_a_repeated_wording_is_a_copy(scene, refund):
    brief = brief_of(refund | {"phrasing": 1}, scene, 0, [FINE])
    assert brief.told["earlier"] == [FINE]
    assert [fault.reason for fault in faults_of(FINE.upper().replace("ORD", "ORD"), brief, scene)][-1] == "copy"
    assert faults_of("45.5 came off my card for ORD-7312 and I would like it back please", brief, scene) == []


def test_a_lowercase_typist_has_no_capitals_but_in_the_facts(scene, refund):
    brief = brief_of(refund | {"typing": "lowercase"}, scene, 0)
    assert (
        tidied("\u201cCan you refund ORD-7312? It\u2019s 45.5.\u201d", brief) == "can you refund ORD-7312? it's 45.5."
    )


def test_faults_tell_the_model_what_to_mend_and_nothing_it_must_not_know(scene, refund):
    brief = brief_of(refund, scene, 0)
    said = " ".join(
        fault.sentence
        for text in ("It is on file twice", "Never refund more than 100 dollars without a supervisor", "refund please")
        for fault in faults_of(text, brief, scene)
    )
    assert '"ORD-7312", "45.5"' in said
    assert "file twice" not in said and "supervisor" not in said


def test_what_a_person_comes_for_is_told_in_plain_words():
    tools = [
        {"name": "find_item", "description": "Find an item. Use before buy_item."},
        {"name": "buy_item", "description": "Buy what find_item gave."},
        {"name": "list_boxes", "description": "List what is there."},
        {"name": "list_bags", "description": "List what is there."},
    ]
    scene = Scene(AgentSpec.from_tools(tools, "You are a store assistant.\n- Buy nothing over ten dollars, ever."))
    wants = [scene.wants(phrase) for phrase in map(scene._maker.writer.phrases.get, ("find_item", "buy_item"))]
    assert wants[0] == "Find an item" and "find_item" not in wants[1] and "buy" in wants[1]
    boxes, bags = (scene.wants(scene._maker.writer.phrases[name]) for name in ("list_boxes", "list_bags"))
    assert boxes != bags
    assert scene.service.startswith("Field: store.") and "ten dollars" not in scene.service
    assert not scene.coded_names.search(scene.service)


def test_words_a_tool_shares_with_the_policy_may_be_said():
    shared = "Change the delivery address of an order before it ships."
    runs = policy_runs(f"Be kind. {shared} Never give out the code of the back door.", [shared])
    assert not quotes("please change the delivery address of an order before it ships", runs)
    assert quotes("they said never give out the code of the back door", runs)


# What a template typed with slips or a talkative person in a few words leaves behind is not the writer's measure.
EXPECTED = {"too_long", "missing_value"}


@pytest.mark.parametrize("name", ["agentdojo_slack", "mcp_filesystem", "mcp_memory", "tau_airline"])
def test_drawn_prompts_pass(real, name):
    spec = real(name)
    scene, counts = Scene(spec), Counter()
    for row in itertools.islice(draw_tasks(spec), 100):
        brief = brief_of(row, scene, 0)
        counts.update({fault.reason for fault in faults_of(tidied(row["prompt"], brief), brief, scene)})
    assert set(counts) <= EXPECTED and sum(counts.values()) < 0.1 * 100, counts


def test_what_real_users_wrote_passes(real, shared):
    spec = real("tau_airline")
    scene = Scene(spec)
    brief = Brief({"length": "long", "tier": "ordinary"}, {}, (), "", free=True)
    lines = (shared / "real" / "trajectories" / "tau2_format_airline.jsonl").read_text("utf-8").splitlines()
    said = [
        m["content"] for line in lines for m in json.loads(line)["messages"] if m["role"] == "user" and m["content"]
    ]
    said = [text for text in said if "###" not in text]
    wrong = [(text, faults) for text in said if (faults := faults_of(tidied(text, brief), brief, scene))]
    assert len(said) > 60 and not wrong


def test_values_of_calls_at_any_depth():
    calls = [{"tool": "a", "arguments": {"x": [{"y": "Mia"}, {"y": 3}], "z": True, "n": None, "e": ""}}]
    assert values_of(calls) == ("Mia", "3")


@pytest.mark.parametrize(
    ("text", "value", "there"),
    [
        ("it is 12.", "12", True),
        ("it is $12, no more", "12", True),
        ("it is 12.5", "12", False),
        ("it is 1,012", "12", False),
        ("it is 112", "12", False),
        ("room 12b", "12", False),
        ("Ann's order", "Ann", True),
        ("Anna's order", "Ann", False),
        ("see /docs/a.md.", "/docs/a.md", True),
        ("user mia_li_7 here", "mia_li", False),
    ],
)
def test_a_value_is_a_word_of_its_own(text, value, there):
    assert holds(text, value) is there


def test_records_and_marks():
    text = (
        'Look for "desk lamp", ask a.b@example.com or see /srv/x.txt by 2024-05-01T10:00 about ORD-7 for $19.90, asap.'
    )
    assert records_in(text) == ["a.b@example.com", "/srv/x.txt", "ORD-7"]
    assert set(marked_in(text)) == {
        "a.b@example.com", "/srv/x.txt", "ORD-7", "desk lamp", "2024-05-01T10:00", "19.90"
    }  # fmt: skip
    assert all(holds(text, value) for value in marked_in(text))
    assert records_in("In ten minutes, at 10:30 on 2024-05-01, two tickets for $1200") == []


@given(st.text(max_size=60), st.lists(st.text(min_size=1, max_size=8), max_size=4))
def test_values_are_cut_out_and_nothing_else_is_lost(text, values):
    assert mapped(text, values, lambda part: part) == text
    kept = [part for part in outside(text, values) if part]
    assert all(part in text for part in kept)
    assert mapped(text, values, lambda part: "") == mapped(mapped(text, values, lambda part: ""), [], str)
