"""The writer with a model that does as it is told: what rows say, what the model sees, what decides the words."""

import asyncio
import json
import re
from itertools import islice

import pytest

from whileai_hf.actors import loop
from whileai_hf.errors import ConfigurationError
from whileai_hf.rows import rng
from whileai_hf.scenarios import draw_tasks
from whileai_hf.scenarios.writing import ModelWriter
from whileai_hf.scenarios.writing.facts import holds, values_of
from whileai_hf.scenarios.writing.quotes import policy_runs, quotes


SAME = (
    "scenario_id",
    "scenario_dimensions",
    "expected_calls",
    "privileged",
    "faults",
    "world_state",
    "phrasing",
    "tier",
)


def test_tasks_come_back_with_the_models_words(stand_in, written):
    drawn, out, report = written(stand_in(name="pen"), 96)
    assert [{key: row[key] for key in SAME} for row in out] == [{key: row[key] for key in SAME} for row in drawn]
    wrote = [row for row in out if row["writer_model"] == "pen"]
    assert len(wrote) >= 94 and {row["arm"] for row in wrote} == {"model_guided"}
    for row in wrote:
        assert all(holds(row["prompt"], value) for value in values_of(row["expected_calls"])), row["prompt"]
    for before, after in zip(drawn, out, strict=True):
        assert (after["prompt"] != before["prompt"]) == (after["writer_model"] == "pen")
        assert after == before or after["writer_model"] == "pen"
    assert report["written"] == len(wrote) and report["written"] + report["fallback"] == 96
    assert report["generator_fallback"] is None and report["first_wave_failed"] is False
    assert report["calls"] >= 12 and report["usage"]["input_tokens"] == 100 * report["calls"]


def test_the_drawn_rows_are_not_changed(stand_in, shop, shop_tasks):
    tasks = shop_tasks(16)
    before = json.dumps(tasks)
    ModelWriter(shop, stand_in()).write(tasks)
    assert json.dumps(tasks) == before


def test_the_model_never_sees_the_policy_or_the_answer_key(stand_in, shop, written):
    model = stand_in()
    drawn, _, _ = written(model, 200)
    seen = "\n".join(message["content"] for call in model.seen for message in call)
    runs = policy_runs(shop.system_prompt, [tool.description for tool in shop.tools])
    assert runs and not quotes(seen, runs)
    assert not any(clause in seen for clause in shop.clauses)
    for row in drawn:
        assert not any(sentence in seen for sentence in row["privileged"].values())
    assert not any(name in seen for name in shop.names)
    for kind in ("false_success", "permission_denied", "rate_limited"):
        assert kind not in seen


def test_what_a_situation_tells(stand_in, written):
    model = stand_in()
    drawn, _, _ = written(model, 128)
    told = [entry for entries in model.entries for entry in entries.values() if "wrong" not in entry][:128]
    for row, entry in zip(drawn, told, strict=True):
        stance = row["scenario_dimensions"]["stance"]
        values = [fact["value"] for fact in entry.get("facts", ())]
        assert bool(values) == bool(row["expected_calls"])
        assert ("note" in entry) == (not row["expected_calls"] and stance != "ambiguous")
        if stance == "ambiguous":
            assert not re.search(r"\d", json.dumps({**entry, "id": ""}))
        assert not {row["persona"], row["tone"]} & {"impatient", "frustrated"} or entry.get("person")
        # A person is told by what happens around them: the label itself would be acted out.
        assert not any(label in json.dumps(entry["person"]) for label in ("impatient", "frustrated", "polite")
                       if "person" in entry)  # fmt: skip


def test_the_words_depend_on_the_order_of_the_tasks_alone(stand_in, shop, shop_tasks):
    tasks = shop_tasks(96, phrasings=2)
    uneven = {"delay": lambda seed: rng(seed, "delay").random() * 0.01}
    results = [
        ModelWriter(shop, stand_in(**settings), concurrency=concurrency).write(tasks)
        for settings, concurrency in (({}, 1), (uneven, 4), (uneven, 64))
    ]
    assert results[0] == results[1] == results[2]
    other = ModelWriter(shop, stand_in(), seed=1).write(tasks)
    assert sum(a["prompt"] != b["prompt"] for a, b in zip(results[0], other, strict=True)) > 80


def test_every_call_has_a_seed_of_its_own(stand_in, written):
    model = stand_in()
    written(model, 64)
    assert len(set(model.seeds)) == len(model.seeds) and all(0 <= seed < 2**31 for seed in model.seeds)


def test_concurrency_bounds_the_calls_in_flight(stand_in, written):
    model = stand_in(delay=lambda seed: 0.005)
    written(model, 96, concurrency=3)
    assert model.most == 3


def test_a_second_wording_knows_the_first(stand_in, written):
    model = stand_in()
    drawn, out, _ = written(model, 24, phrasings=3, batch=4)
    assert [row["phrasing"] for row in out] == [row["phrasing"] for row in drawn] == [0, 1, 2] * 8
    by_situation = {}
    for row in out:
        by_situation.setdefault(row["scenario_id"], []).append(row["prompt"])
    assert all(len(set(prompts)) == 3 for prompts in by_situation.values())
    shown = [entry["earlier"] for entries in model.entries for entry in entries.values() if "earlier" in entry]
    assert {len(earlier) for earlier in shown} == {1, 2}
    assert all(any(set(earlier) <= set(prompts) for prompts in by_situation.values()) for earlier in shown)


def test_a_second_wording_in_a_later_window_knows_the_first(stand_in, shop, shop_tasks):
    model = stand_in()
    writer = ModelWriter(shop, model)
    first, *rest = writer.write(shop_tasks(2, phrasings=2)[:1])
    writer.write(shop_tasks(2, phrasings=2)[1:])
    assert not rest and model.entries[-1]["1"]["earlier"] == [first["prompt"]]


def test_asks_of_the_owner_stay(stand_in, shop, shop_tasks):
    model = stand_in()
    writer = ModelWriter(shop, model)
    tasks = shop_tasks(10, seeds=["Where is ORD-1?", "hi"])
    pinned = tasks[9] | {"writer_model": "pinned"}
    out = writer.write([*tasks[:9], pinned])
    assert out[:2] == tasks[:2] and out[9] == pinned
    assert writer.report()["kept"] == 3 and sum(map(len, model.entries)) == 7


def test_other_arms_keep_their_name(stand_in, shop, shop_tasks):
    tasks = [row | {"arm": "failure_mutation"} for row in shop_tasks(8)]
    assert {row["arm"] for row in ModelWriter(shop, stand_in()).write(tasks)} == {"failure_mutation"}


def test_nothing_to_write(stand_in, shop):
    writer = ModelWriter(shop, stand_in())
    assert writer.write([]) == [] and writer.report()["waves"] == 0
    assert writer.report()["first_wave_failed"] is None and writer.report()["generator_fallback"] is None


@pytest.mark.parametrize("settings", [{"batch": 0}, {"concurrency": 0}, {"batch": True}, {"concurrency": 1.5}])
def test_bad_settings(stand_in, shop, settings):
    with pytest.raises(ConfigurationError, match=next(iter(settings))):
        ModelWriter(shop, stand_in(), **settings)


def test_a_model_that_is_none(shop):
    with pytest.raises(ConfigurationError, match="as_model"):
        ModelWriter(shop, "vllm:some-model")


def test_write_inside_a_running_loop(stand_in, shop, shop_tasks):
    """A notebook has a loop of its own; the writer waits on another one."""
    tasks = shop_tasks(8)

    async def notebook():
        return ModelWriter(shop, stand_in()).write(tasks)

    assert asyncio.run(notebook()) == ModelWriter(shop, stand_in()).write(tasks)


def test_a_loop_that_was_given_up_takes_nothing_with_it(stand_in, shop, shop_tasks):
    writer = ModelWriter(shop, stand_in(delay=lambda seed: 0.002), concurrency=1)
    assert {row["writer_model"] for row in writer.write(shop_tasks(16))} == {"stand-in"}
    loop._background.discard(loop.background_loop())
    assert {row["writer_model"] for row in writer.write(shop_tasks(32)[16:])} == {"stand-in"}


def test_paraphrases_of_an_owners_ask(stand_in, shop, shop_tasks):
    ask = shop_tasks(1, seeds=["Where is my order ORD-4412? It cost $12.50."])[0]
    model = stand_in()
    writer = ModelWriter(shop, model, batch=2)
    out = writer.paraphrase(ask, 5)
    assert len(out) == 5 and [row["phrasing"] for row in out] == [1, 2, 3, 4, 5]
    assert len({row["prompt"] for row in [ask, *out]}) == 6
    assert {row["scenario_id"] for row in out} == {ask["scenario_id"]}
    assert {(row["arm"], row["writer_model"]) for row in out} == {("model_guided", "stand-in")}
    assert all(holds(row["prompt"], "ORD-4412") and holds(row["prompt"], "12.50") for row in out)
    assert all(entry["earlier"] == [ask["prompt"]] for entries in model.entries for entry in entries.values())
    assert writer.report()["paraphrased"] == 5


def test_paraphrases_that_say_the_same_are_left_out(stand_in, shop, shop_tasks):
    ask = shop_tasks(1, seeds=["Where is my order ORD-4412? It cost $12.50."])[0]

    def echo(model, entries, seed, kind):
        said = {key: entry.get("situation", entry)["note"] for key, entry in entries.items()}
        return json.dumps(said)

    assert ModelWriter(shop, stand_in(echo)).paraphrase(ask, 3) == []


def test_invented_asks(stand_in, shop):
    model = stand_in()
    rows = ModelWriter(shop, model).invent(12, avoid=["Where is my parcel?"])
    assert len(rows) == 12 and len({row["prompt"] for row in rows}) == len({row["scenario_id"] for row in rows}) == 12
    drawn = next(islice(draw_tasks(shop), 1))
    for row in rows:
        assert set(row) == set(drawn)
        assert row["arm"] == "open_ended" and row["writer_model"] == "stand-in" and row["expected_calls"] == []
        assert row["tier"] == row["scenario_dimensions"]["stance"]
    assert len({row["tier"] for row in rows}) > 1
    assert model.questions[0]["already there"] == ["Where is my parcel?"]
    assert len({entry["angle"] for entries in model.entries[:2] for entry in entries.values()}) == 12


def test_invented_asks_are_unlike_what_is_there(stand_in, shop):
    there = "Where is my parcel, it should have been here on Monday?"

    def parrot(model, entries, seed, kind):
        return json.dumps(
            {key: f"where is my parcel? it should have been here on monday {'!' * int(key)}" for key in entries}
        )

    writer = ModelWriter(shop, stand_in(parrot))
    assert writer.invent(4, avoid=[there]) == []
    assert len(writer.invent(4)) == 1
    assert writer.report()["rejected"]["copy"] >= 4 and writer.report()["invented"] == 1


def test_invented_asks_that_speak_as_the_service_are_left_out(stand_in, shop):
    def service(model, entries, seed, kind):
        said = {key: f"Hello number {key}, how can I help you with {'abcdefghijkl'[int(key)]}?" for key in entries}
        return json.dumps(
            said | {"1": "can somebody look at refund_order for me", "2": "is there a shop in town too?"}
        )

    writer = ModelWriter(shop, stand_in(service))
    assert [row["prompt"] for row in writer.invent(5)] == ["is there a shop in town too?"]
    assert writer.report()["rejected"]["not_the_person"] > 0 and writer.report()["rejected"]["tool_name"] > 0
