import asyncio
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from datasets import concatenate_datasets

import whileai_hf as wai
from whileai_hf.errors import AgentError, ConfigurationError, DataError, SpecError
from whileai_hf.rows import canonical, view


TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {"type": "object", "properties": properties, "required": list(properties)},
        },
    }
    for name, description, properties in [
        ("get_order", "Look up an order by id. Returns status and total.", {"order_id": {"type": "string"}}),
        ("cancel_order", "Cancel an order.", {"order_id": {"type": "string"}}),
        ("search_products", "Search the catalog.", {"query": {"type": "string"}}),
    ]
]
POLICY = "1. Look an order up before you cancel it.\n2. Say so when a lookup fails. Do not guess."


def quiet(message):
    return {"steps": [], "final_text": f"You said: {message}"}


def rows_of(dataset):
    return [canonical(row) for row in view(dataset).rows()]


def simulate(agent=None, **knobs):
    return wai.simulate(agent or wai.seeded_agent(TOOLS), tools=TOOLS, system_prompt=POLICY, **{"budget": 40, **knobs})


@pytest.fixture(scope="module")
def data():
    return simulate(budget=60)


# ---------------------------------------------------------------- what a row holds


def test_explore_gives_a_new_situation_every_row(data):
    assert len(data) == 60
    assert len(set(data["prompt"])) == len(set(data["scenario_id"])) == 60


def test_every_row_is_a_whole_conversation_under_the_schema(data):
    assert wai.validate(data) == 60
    for row in rows_of(data):
        roles = [message["role"] for message in row["messages"]]
        assert roles[:2] == ["system", "user"] and roles[-1] == "assistant"
        assert row["messages"][1]["content"] == row["prompt"]
        assert row["messages"][-1]["content"] == row["final_text"]
        calls = [call for message in row["messages"] for call in message.get("tool_calls", [])]
        assert [call["function"]["name"] for call in calls] == [s["tool"] for s in row["steps"] if "tool" in s]
        answers = [message["tool_call_id"] for message in row["messages"] if message["role"] == "tool"]
        assert answers == [call["id"] for call in calls]
        assert row["tools"] == TOOLS


def test_the_faults_that_fired_are_the_ones_that_were_scheduled(data):
    fired = 0
    for row in rows_of(data):
        for fault in row["faults_fired"]:
            assert row["faults"][fault["tool"]]["kind"] == fault["kind"]
            fired += 1
    assert fired > 0
    assert not any(simulate(fault_rate=0)["faults_fired"])


def test_the_answer_key_does_not_ride_on_rollouts(data, tmp_path):
    # An honest agent: the seeded one leaks on purpose.
    honest = simulate(wai.seeded_agent(TOOLS, rate=0.0), budget=60)
    assert "privileged" not in honest.column_names and "expected_calls" not in honest.column_names
    tasks = wai.situations(tools=TOOLS, system_prompt=POLICY, n=60)
    secrets = {text for row in view(tasks).rows(["privileged"]) for text in row["privileged"].values()}
    assert len(secrets) > 60
    honest.to_parquet(tmp_path / "rows.parquet")
    honest.to_json(tmp_path / "rows.jsonl")
    parquet = pq.read_table(tmp_path / "rows.parquet")
    cells = [str(value) for column in parquet.columns for value in column.to_pylist()]
    written = (tmp_path / "rows.jsonl").read_text() + "\n".join(cells)
    assert not [secret for secret in secrets if secret in written or json.dumps(secret)[1:-1] in written]
    description = honest.info.description
    assert not [secret for secret in secrets if secret in description]


def test_a_judge_sees_the_answer_key_of_the_run():
    seen = []
    graded = wai.grade(simulate(budget=10), judge=lambda row: seen.append(row["privileged"]["reference"]) or 1)
    assert len(set(seen)) == 10
    assert "privileged" not in graded.column_names


# ---------------------------------------------------------------- determinism


@pytest.mark.parametrize("mode", ["explore", "rl"])
def test_same_seed_same_rows_at_any_concurrency(mode):
    runs = [rows_of(simulate(mode=mode, budget=64, concurrency=concurrency)) for concurrency in (1, 8, 64)]
    assert runs[0] == runs[1] == runs[2]
    assert rows_of(simulate(mode=mode, budget=64, seed=1)) != runs[0]


def test_same_rows_in_another_process(tmp_path):
    path = tmp_path / "rows.jsonl"
    code = (
        "import sys, whileai_hf as wai; sys.path.insert(0, sys.argv[1])\n"
        "from test_simulate import TOOLS, POLICY\n"
        "wai.simulate(wai.seeded_agent(TOOLS), tools=TOOLS, system_prompt=POLICY, budget=40, output=sys.argv[2])"
    )
    subprocess.run([sys.executable, "-c", code, str(Path(__file__).parent), str(path)], check=True)
    assert rows_of(wai.open_rows(path)) == [dict(row.items()) for row in rows_of(simulate())]


def test_a_longer_run_begins_with_the_shorter_one():
    short, long = rows_of(simulate(budget=20)), rows_of(simulate(budget=40))
    assert [row["prompt"] for row in long[:20]] == [row["prompt"] for row in short]


def test_sync_and_async_agents_give_the_same_rows():
    async def quiet_async(message):
        await asyncio.sleep(0)
        return quiet(message)

    columns = ["prompt", "final_text", "messages"]
    sync, asynchronous = simulate(quiet), simulate(quiet_async)
    assert list(view(sync).rows(columns)) == list(view(asynchronous).rows(columns))


# ---------------------------------------------------------------- modes and budgets


def test_rl_repeats_every_prompt_and_leaves_no_partial_group(caplog):
    data = simulate(mode="rl", repeats=4, repeat_policy="fixed", budget=42)
    report = wai.run_report(data)
    assert len(data) == 40 and report.shortfall == 2
    assert report.search["groups"]["complete"] == 10 and report.search["groups"]["partial"] == 0
    assert "40 rows instead of 42" in caplog.text
    assert data["rollout_index"][:8] == [0, 1, 2, 3, 0, 1, 2, 3]
    assert len(set(data["prompt"][:4])) == 1


def test_situations_times_phrasings_times_repeats():
    data = simulate(budget=None, mode="sft", situations=5, phrasings=3, repeats=2)
    assert len(data) == 30
    assert len(set(data["scenario_id"])) == 5 and len(set(data["prompt"])) == 15
    assert wai.run_report(data).stopped_because == "situations_exhausted"


def test_your_own_asks_come_first_and_are_never_dropped():
    asks = [f"Where is my parcel number {n}?" for n in range(30)]
    assert simulate(seeds=asks, budget=40)["prompt"][:30] == asks


def test_a_chat_agent_plays_a_tool_loop_in_the_world():
    model = wai.ScriptedModel([{"tool_calls": [{"name": "get_order", "arguments": {"order_id": "A-77"}}]}, "Done."])
    data = simulate(model, budget=5)
    assert {len(row["steps"]) for row in rows_of(data)} == {1}
    assert set(data["final_text"]) == {"Done."}


# ---------------------------------------------------------------- failing agents


def test_a_raising_agent_is_counted_and_made_good(caplog):
    def flaky(message):
        if len(message) % 2:
            raise RuntimeError("endpoint is down")
        return quiet(message)

    data = simulate(flaky)
    report = wai.run_report(data)
    assert len(data) == 40 and all(len(prompt) % 2 == 0 for prompt in data["prompt"])
    assert report.search["agent_errors"] > 0
    assert report.search["first_agent_error"] == "RuntimeError: endpoint is down"
    assert "rollouts were lost" in caplog.text
    assert rows_of(simulate(flaky, concurrency=1)) == rows_of(data)


@pytest.mark.parametrize(("budget", "calls"), [(4, 16), (20, 40)])
def test_an_agent_that_always_fails_is_called_off(budget, calls):
    called = []

    def dead(message):
        called.append(message)
        raise ConnectionError("no route")

    data = simulate(dead, budget=budget, concurrency=1)
    assert len(data) == 0
    assert wai.run_report(data).stopped_because == "agent_failed"
    assert len(called) == calls == max(16, 2 * budget)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "None"),
        ("just text", "str"),
        ({"steps": [{"arguments": {}}], "final_text": "x"}, "tool"),
        ({"steps": "none", "final_text": "x"}, "steps"),
        ({"steps": []}, "final_text"),
    ],
)
def test_the_wrong_shape_is_named(answer, message):
    report = wai.run_report(simulate(lambda _: answer, budget=1))
    assert message in report.search["first_agent_error"]
    assert report.stopped_because == "agent_failed"


# ---------------------------------------------------------------- map functions


def good_judge(row):
    return {"reward": len(row["final_text"]) % 2, "markers": {"n": float(len(row["steps"]))}}


def test_the_chain_of_maps_gives_the_same_rows_as_the_two_calls():
    tasks = wai.situations(tools=TOOLS, system_prompt=POLICY, n=30, seed=3)
    agent = wai.seeded_agent(TOOLS)
    play = wai.Rollout(agent, tools=TOOLS, system_prompt=POLICY)
    chain = tasks.map(play, batched=True, batch_size=7).map(wai.Score(good_judge), batched=True, batch_size=11)
    calls = wai.grade(wai.simulate(agent, tools=TOOLS, system_prompt=POLICY, tasks=tasks), judge=good_judge)
    assert rows_of(chain) == rows_of(calls)
    assert chain.features == calls.features


def test_k_rollouts_per_task_and_failures_as_rows():
    def picky(message):
        if "cancel" in message.lower():
            raise ValueError("I do not cancel")
        return quiet(message)

    tasks = wai.situations(tools=TOOLS, system_prompt=POLICY, n=20)
    rows = tasks.map(wai.Rollout(picky, tools=TOOLS, system_prompt=POLICY, k=2), batched=True)
    assert len(rows) == 40
    failed = rows.filter(lambda row: row["rollout_status"] == "error")
    assert 0 < len(failed) < 40
    assert set(failed["error"]) == {"ValueError: I do not cancel"}


def test_num_proc_gives_the_same_rows():
    tasks = wai.situations(tools=TOOLS, system_prompt=POLICY, n=16)
    play = wai.Rollout(wai.seeded_agent(TOOLS), tools=TOOLS, system_prompt=POLICY)
    assert rows_of(tasks.map(play, batched=True, num_proc=2)) == rows_of(tasks.map(play, batched=True))


def test_privileged_is_kept_only_when_asked_for():
    tasks = wai.situations(tools=TOOLS, system_prompt=POLICY, n=4)
    keep = wai.Rollout(quiet, tools=TOOLS, system_prompt=POLICY, keep_privileged=True)
    assert tasks.map(keep, batched=True)["privileged"] == tasks["privileged"]
    drop = wai.Rollout(quiet, tools=TOOLS, system_prompt=POLICY)
    assert "privileged" not in tasks.map(drop, batched=True).column_names


def test_columns_of_your_own_are_carried():
    tasks = [{"prompt": "What is 6 times 7?", "answer": "42", "level": 3}, {"prompt": "And 2 + 2?", "answer": "4"}]
    data = wai.simulate(quiet, tools=TOOLS, tasks=tasks)
    assert data["answer"][:] == ["42", "4"] and data["level"][:] == [3, None]


# ---------------------------------------------------------------- pinned tasks


def test_an_earlier_run_is_replayed_task_for_task():
    base = simulate(mode="rl", repeats=4, repeat_policy="fixed", budget=24)
    again = wai.simulate(quiet, tools=TOOLS, system_prompt=POLICY, tasks=base, mode="rl", repeat_policy="fixed")
    assert again["scenario_id"][:] == base["scenario_id"][:] and again["prompt"][:] == base["prompt"][:]
    assert view(again).column("faults") == view(base).column("faults")
    assert wai.run_report(again).k == 4 and wai.run_report(again).stopped_because == "tasks_done"
    same = wai.simulate(
        wai.seeded_agent(TOOLS), tools=TOOLS, system_prompt=POLICY, tasks=base, mode="rl", repeat_policy="fixed"
    )
    ignore = {"run_id"}
    assert [{k: v for k, v in row.items() if k not in ignore} for row in rows_of(same)] == [
        {k: v for k, v in row.items() if k not in ignore} for row in rows_of(base)
    ]


def test_tasks_without_a_prompt_are_named():
    with pytest.raises(DataError, match="no column 'prompt'"):
        wai.simulate(quiet, tools=TOOLS, tasks=[{"question": "x"}])
    with pytest.raises(DataError, match="task 1 has the prompt ''"):
        wai.simulate(quiet, tools=TOOLS, tasks=[{"prompt": "x"}, {"prompt": ""}])


# ---------------------------------------------------------------- the report


def test_the_report_is_found_after_any_transformation(data):
    expected = wai.run_report(data).to_dict()
    assert expected["n_rows"] == 60 and expected["coverage"]["pairs_covered"] > 0
    for other in (
        data.select([3]),
        data.filter(lambda row: True),
        data.map(lambda row: {"x": 1}),
        wai.grade(data, judge=good_judge),
    ):
        assert wai.run_report(other).to_dict() == expected
    bare = wai.open_rows(rows_of(data))
    assert wai.run_report(bare).to_dict() == expected  # by run_id, from the run store


def test_several_runs_and_unknown_runs_are_said_to_be_so(data):
    both = concatenate_datasets([data, simulate(seed=5)])
    with pytest.raises(DataError, match="2 runs"):
        wai.run_report(both)
    with pytest.raises(DataError, match="no report found for run run-elsewhere"):
        wai.run_report(wai.open_rows([{"prompt": "a", "run_id": "run-elsewhere"}]))


def test_printing_a_report_says_what_happened(data):
    text = str(wai.run_report(data))
    assert "60 rows of 60" in text and "axis pairs covered" in text and "faults: scheduled" in text


def test_the_output_file_holds_the_rows(tmp_path):
    data = simulate(output=str(tmp_path / "out" / "rows.jsonl"))
    assert rows_of(wai.open_rows(tmp_path / "out" / "rows.jsonl")) == rows_of(data)


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"budget": 0}, "budget=0"),
        ({"budget": -3}, "budget=-3"),
        ({"mode": "rl", "repeats": 8, "budget": 4}, "repeats=8 is larger than budget=4"),
        ({"repats": 4}, "unknown knob 'repats'; did you mean 'repeats'"),
        ({"mode": "explor"}, "mode='explor' is not one of"),
        ({"fault_rate": 2}, "fault_rate=2"),
        ({"seeds": "one string"}, "seeds must be a list"),
        ({"concurrency": 0}, "concurrency=0"),
        ({"simulator": True}, "simulator=True names no model"),
        ({"execute": "x"}, "execute='x' is not callable"),
        ({"reproducible": "no"}, "reproducible='no' is neither true nor false"),
        ({"sampling": "hot"}, "sampling='hot' is not a dict"),
        ({"config": {"budget": 2}}, "config is a dict"),
    ],
)
def test_knobs_that_cannot_be_honoured(knobs, message):
    with pytest.raises(ConfigurationError, match=message):
        simulate(quiet, **knobs)


def test_agents_and_specs_that_are_none():
    with pytest.raises(ConfigurationError, match="is no known form; use one of hf:<model>"):
        wai.simulate("gpt", tools=TOOLS)
    with pytest.raises(ConfigurationError, match="grader="):
        simulate(quiet, grader="good")
    with pytest.raises(SpecError, match="no tools and no prompt"):
        wai.simulate(quiet)
    with pytest.raises(SpecError):
        wai.simulate(quiet, tools=["get_order"])


def test_agent_errors_are_our_errors():
    assert issubclass(AgentError, wai.WhileaiError)


def test_an_unknown_report_field_names_the_known_ones(data):
    with pytest.raises(KeyError, match="has no field 'rows'; it has run_id"):
        wai.run_report(data)["rows"]


# ---------------------------------------------------------------- what must not mix or leak


class Model:
    """Two models behind one class are two agents."""

    def __init__(self, name):
        self.name = name

    def __call__(self, message):
        return {"steps": [], "final_text": self.name}


def test_runs_of_two_agents_of_one_class_stay_apart_in_other_processes():
    runs = {name: simulate(Model(name), budget=8) for name in ("base", "tuned")}
    assert len({run["run_id"][0] for run in runs.values()}) == 2
    for name, run in runs.items():
        assert set(pickle.loads(pickle.dumps(run))["final_text"]) == {name}
        assert set(run.map(lambda row: {"x": row["final_text"]}, num_proc=2)["x"]) == {name}


def test_two_task_sets_of_one_agent_keep_their_rows_and_reports():
    tasks = wai.situations(tools=TOOLS, system_prompt=POLICY, n=20)
    runs = [
        wai.simulate(quiet, tools=TOOLS, system_prompt=POLICY, tasks=tasks.select(part))
        for part in (range(12), range(12, 20))
    ]
    for run, size in zip(runs, (12, 8), strict=True):
        assert len(run.map(lambda row: {"x": 1}, num_proc=2)) == size
        assert wai.run_report(rows_of(run)).n_rows == size


def test_streams_carry_no_answer_key():
    stream = wai.situations(tools=TOOLS, system_prompt=POLICY, n=4).to_iterable_dataset()
    for row in stream.map(wai.Rollout(quiet, tools=TOOLS, system_prompt=POLICY), batched=True):
        assert row["final_text"].startswith("You said")
        assert row["privileged"] is None and row["expected_calls"] is None


@pytest.mark.parametrize("failure", [SystemExit, asyncio.CancelledError, RecursionError])
def test_an_agent_that_exits_or_cancels_loses_its_rollout_and_not_the_run(failure):
    def agent(message):
        if len(message) % 2:
            raise failure("stop")
        return quiet(message)

    async def agent_async(message):
        return agent(message)

    for either in (agent, agent_async):
        data = simulate(either, budget=10)
        assert len(data) == 10 and wai.run_report(data).search["agent_errors"] > 0


def test_a_budget_too_small_for_your_own_asks_is_said(caplog):
    data = simulate(quiet, seeds=["one", "two", "three"], budget=2)
    assert len(data) == 2 and "too small for your 3 example asks" in caplog.text


def test_tasks_of_other_stacks_fit_or_are_named():
    tasks = [{"prompt": "a", "world_state": {"db": 1}, "x": 1}, {"prompt": "b", "x": "s"}]
    data = wai.simulate(quiet, tools=TOOLS, tasks=tasks)
    assert data["world_state"][:] == ['{"db":1}', None] and data["x"][:] == ["1", "s"]
    with pytest.raises(DataError, match="task 1 has seed='abc'; expected a whole number"):
        wai.simulate(quiet, tools=TOOLS, tasks=[{"prompt": "a"}, {"prompt": "b", "seed": "abc"}])


def test_a_rollout_map_that_is_not_batched_says_so():
    tasks = wai.situations(tools=TOOLS, system_prompt=POLICY, n=2)
    with pytest.raises(ConfigurationError, match="batched=True"):
        tasks.map(wai.Rollout(quiet, tools=TOOLS))
    with pytest.raises(DataError, match="batched=True"):
        wai.Rollout(quiet, tools=TOOLS)({"prompt": "Hi"})
    with pytest.raises(DataError, match="task 0 has the prompt None"):
        wai.Rollout(quiet, tools=TOOLS)({"prompt": [None]})


def test_a_reserved_key_of_the_wrong_type_loses_the_rollout():
    report = wai.run_report(simulate(lambda message: {"steps": [], "final_text": "x", "seeded": 5}, budget=1))
    assert "seeded=5" in report.search["first_agent_error"]
