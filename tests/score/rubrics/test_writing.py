"""Rubrics written by a model."""

import json

import pytest
from openai_server import Reply, Server

from whileai_hf.actors import ScriptedModel
from whileai_hf.errors import ConfigurationError, MissingColumnError, ModelStopError
from whileai_hf.rows import to_dataset
from whileai_hf.score.rubrics import attach_rubric, read_rubric, rubric_of, write_rubrics
from whileai_hf.score.rubrics.written import read_written


TASKS = [
    {"scenario_id": "sc-1", "prompt": "Refund A1.", "phrasing": 0, "privileged": {"reference": "Look A1 up first."}},
    {
        "scenario_id": "sc-1",
        "prompt": "A1 back please",
        "phrasing": 1,
        "privileged": {"reference": "Look A1 up first."},
    },
    {"scenario_id": "sc-2", "prompt": "Where is A2?", "phrasing": 0, "privileged": None},
]


def writer(replies, asked=None):
    def script(messages, tools):
        said = json.loads(messages[-1]["content"])
        if asked is not None:
            asked.append((messages[0]["content"], said))
        return next(reply for prompt, reply in replies.items() if prompt in said["prompt"])

    return ScriptedModel(script)


def reply_for(name, **more):
    return json.dumps({"criteria": [{"name": name, "text": f"Handles {name}.", "weight": 2, **more}]})


@pytest.mark.parametrize("form", [lambda rows: rows, to_dataset])
def test_one_call_a_task(form):
    asked = []
    model = writer({"A1": reply_for("refund"), "A2": reply_for("where")}, asked)
    tasks, report = write_rubrics(form(TASKS), model, domain="refunds of a shop", n=3)
    assert [rubric_of(row).names for row in tasks] == [("refund",), ("refund",), ("where",)]
    assert tasks[0]["privileged"]["reference"] == "Look A1 up first."
    assert (report.n_rows, report.n_tasks, report.written, report.calls, report.missing) == (3, 2, 2, 2, 0)
    assert len(asked) == 2
    assert "refunds of a shop" in asked[0][0] and "at most 3 criteria" in asked[0][0]
    first = next(said for _, said in asked if "A1" in said["prompt"])
    assert first == {"prompt": "Refund A1.", "reference": "Look A1 up first."}


def test_replies_that_cannot_be_read_leave_their_task_without():
    tasks, report = write_rubrics(TASKS, writer({"A1": "I would rather not.", "A2": reply_for("where")}))
    assert [rubric_of(row) is None for row in tasks] == [True, True, False]
    assert tasks[0]["privileged"] == TASKS[0]["privileged"]
    assert report.missing == 1
    assert report.reasons == {"the model's answer holds no list of criteria": 1}
    assert report.warnings and "no list of criteria" in str(report)


def test_tasks_that_have_one_keep_it():
    given = attach_rubric(TASKS, {"sc-1": ["Is polite."]})
    model = writer({"A1": reply_for("new"), "A2": reply_for("where")})
    kept, report = write_rubrics(given, model)
    assert (report.kept, report.written, report.calls) == (1, 1, 1)
    assert rubric_of(kept[0]).names == ("is_polite",)
    anew, report = write_rubrics(given, model, overwrite=True)
    assert (report.kept, report.written) == (0, 2)
    assert rubric_of(anew[0]).names == ("new",)


def test_a_blank_prompt_is_no_call():
    _, report = write_rubrics([{"prompt": "  "}, {"prompt": None}, TASKS[2]], writer({"A2": reply_for("where")}))
    assert report.calls == 1
    assert report.reasons == {"the task has no prompt": 2}


def test_rollouts_are_told_where_rubrics_belong():
    rows, report = write_rubrics(
        [{"prompt": "Refund A1.", "steps": [], "final_text": "x"}], writer({"A1": reply_for("r")})
    )
    assert any("tasks=tasks" in note for note in report.notes)
    assert rubric_of(rows[0]).names == ("r",)


def test_the_same_whatever_the_order_and_the_concurrency(tmp_path):
    def behave(request, n):
        return Reply(reply_for(f"seed_{request['seed']}"))

    many = [{"scenario_id": f"sc-{at}", "prompt": f"Ask {at}."} for at in range(12)]
    with Server(behave) as server:
        one, report = write_rubrics(many, f"vllm:writer@{server.url}", concurrency=1, cache=str(tmp_path / "c.jsonl"))
        other, _ = write_rubrics(many[::-1], f"vllm:writer@{server.url}", concurrency=12)
        calls = server.calls
        write_rubrics(many, f"vllm:writer@{server.url}", cache=str(tmp_path / "c.jsonl"))
        assert server.calls == calls
    assert one["privileged"] == other["privileged"][::-1]
    assert len({str(cell) for cell in one["privileged"]}) == 12
    assert report.usage["output_tokens"] > 0


def test_one_failed_call_costs_its_task_and_a_dead_model_the_run():
    def behave(request, n):
        return Reply.error(400, "bad request") if "A1" in request["messages"][-1]["content"] else Reply(reply_for("x"))

    with Server(behave) as server:
        tasks, report = write_rubrics(TASKS, f"vllm:writer@{server.url}")
    assert [rubric_of(row) is None for row in tasks] == [True, True, False]
    assert any(reason.startswith("the call failed") for reason in report.reasons)
    with Server([Reply.unauthorized()]) as server, pytest.raises(ModelStopError):
        write_rubrics(TASKS, f"vllm:writer@{server.url}")


@pytest.mark.parametrize("knobs", [{"n": 0}, {"n": 65}, {"n": True}, {"n": "5"}, {"concurrency": 0}])
def test_knobs(knobs):
    with pytest.raises(ConfigurationError, match="pass a whole number"):
        write_rubrics(TASKS, writer({}), **knobs)


def test_without_prompts():
    with pytest.raises(MissingColumnError, match="prompt"):
        write_rubrics([{"question": "x"}], writer({}))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('{"rubric": [{"title": "a", "description": "Does a."}]}', ("a",)),
        ('{"criteria": ["Does a.", "Does b."]}', ("does_a", "does_b")),
        ('{"a": "Does a.", "b": "Does b."}', ("a", "b")),
        ("- **a** (weight 2): Does a.\n- Does b.", ("a", "does_b")),
        ('[{"name": "a", "text": "Does a."}, {"name": "a", "text": "Does b."}]', ("a", "does_b")),
        (
            '[{"name": "a", "text": "Does a.", "weight": "high"}, {"name": "bad", "text": "Is rude.", "weight": -3}]',
            ("a",),
        ),
        (json.dumps([f"Point {at}." for at in range(9)]), ("point_0", "point_1", "point_2", "point_3")),
    ],
)
def test_arrangements(text, names):
    assert read_written(text, 4).names == names


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "No.",
        "<think>- a",
        '{"criteria": [',
        '{"criteria": []}',
        "[]",
        "3",
        '{"criteria": [{"name": "x"}, 3]}',
        '[{"name": "x", "text": "y", "weight": -1}]',
    ],
)
def test_what_is_no_rubric(text):
    with pytest.raises(ConfigurationError):
        read_written(text, 4)


def test_weights_reach_the_rubric():
    assert read_written(reply_for("a", weight=3), 4).criteria[0].weight == 3.0
    assert read_rubric(read_written(reply_for("a"), 4)).criteria[0].weight == 2.0
