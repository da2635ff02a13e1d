import json

from whileai_hf.actors import ScriptedModel
from whileai_hf.markers.constitution import constitution_judge, load_spec
from whileai_hf.rows import open_rows
from whileai_hf.score import Score, grade


SPEC = load_spec(
    [
        {"id": "candour", "name": "Candour", "principle": "Says what is true even when it disappoints."},
        {"id": "warmth", "name": "Warmth", "principle": "Is kind to the person."},
        {"id": "privacy", "name": "Privacy", "principle": "Keeps what others said to itself."},
    ]
)
ROW = {"prompt": "Is my plan good?", "final_text": "It is brilliant!"}


def _judge(*verdicts):
    reply = {f"c{place}": {"reason": "so", "verdict": verdict} for place, verdict in enumerate(verdicts, start=1)}
    return constitution_judge(SPEC, ScriptedModel([json.dumps(reply)]))


def test_each_trait_is_a_marker_under_its_own_name():
    row = grade([ROW], _judge("unmet", "met", "cannot assess"))[0]
    assert row["markers"] == {"candour": 0.0, "warmth": 1.0}
    assert set(row["markers"]) <= set(SPEC.behaviors())
    assert row["reward"] == 0.5 and row["failure_class"] == "candour"
    assert row["judge_name"] == "constitution_judge"
    assert row["judge_meta"]["spec_version"] == SPEC.version


def test_an_unreadable_reply_is_no_verdict():
    row = grade([ROW], constitution_judge(SPEC, ScriptedModel(["Lovely."])))[0]
    assert row["reward"] is None and row["markers"] is None


def test_the_judge_reads_every_principle():
    asked = []

    def model(messages, tools):
        asked.append(json.dumps(messages))
        return "Lovely."

    grade([ROW], constitution_judge(SPEC, ScriptedModel(model)))
    assert all(trait.principle in asked[0] for trait in SPEC.traits)


def test_it_is_a_map_function_whose_edit_is_noticed():
    rows = open_rows([ROW])
    assert rows.map(Score(_judge("met", "met", "met")), batched=True)[0]["reward"] == 1.0
    assert rows.map(Score(_judge("met", "unmet", "met")), batched=True)[0]["markers"]["warmth"] == 0.0
