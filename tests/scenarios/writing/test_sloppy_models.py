"""The writer with models that do not do as they are told."""

import json
import threading
import time

import pytest

from whileai_hf.errors import ModelError, ModelStopError
from whileai_hf.scenarios.writing import ModelWriter


def messages(answer):
    return {entry["id"]: entry["message"] for entry in json.loads(answer)["messages"]}


def rewritten(well_behaved, change, once=True):
    """A model whose first answers are spoilt by `change`; what it mends is right when `once`."""

    def how(model, entries, seed, kind):
        found = messages(well_behaved(model, entries, seed, kind))
        if kind == "repair" and once:
            return json.dumps(found)
        return json.dumps({key: change(key, text, entries[key]) for key, text in found.items()})

    return how


def template_of(drawn, out):
    return [before["prompt"] for before, after in zip(drawn, out, strict=True) if after == before]


def test_fences_and_prose_are_read(stand_in, well_behaved, written):
    def fenced(model, entries, seed, kind):
        return "Sure! Here you go:\n```json\n" + well_behaved(model, entries, seed, kind) + "\n```\nAnything else?"

    _, out, _ = written(stand_in(fenced), 32)
    _, plain, _ = written(stand_in(), 32)
    assert out == plain


def test_missing_entries_are_asked_for_once(stand_in, well_behaved, written):
    def forgetful(model, entries, seed, kind):
        found = messages(well_behaved(model, entries, seed, kind))
        # Every second entry is left out, and number 8 always.
        kept = {key: text for key, text in found.items() if len(entries) < 8 or int(key) % 2}
        kept.pop("8", None)
        return json.dumps(kept)

    model = stand_in(forgetful)
    _, out, report = written(model, 32)
    assert report["asked_again"] == 16 and report["reasons"]["missing"] == 4 and report["written"] >= 27
    assert [list(entries) for entries in model.entries if len(entries) == 4] == [["2", "4", "6", "8"]] * 4
    assert [row["writer_model"] for row in out[7::8]] == ["template"] * 4


def test_a_cut_answer_keeps_what_is_whole(stand_in, well_behaved, written):
    def cut(model, entries, seed, kind):
        whole = well_behaved(model, entries, seed, kind)
        return whole[: len(whole) // 2] if len(entries) == 8 else whole

    _, _, report = written(stand_in(cut), 32)
    assert report["written"] >= 30 and 12 <= report["asked_again"] <= 20


def test_wrong_ids_belong_to_nothing(stand_in, well_behaved, written):
    def shifted(model, entries, seed, kind):
        return json.dumps({"messages": [{"id": f"x{key}", "message": "hello"} for key in entries]})

    drawn, out, report = written(stand_in(shifted), 16)
    assert out == drawn and report["reasons"] == {"missing": 16} and report["calls"] == 4
    assert report["first_wave_failed"] is True and "16 of 16" in report["generator_fallback"]
    assert "no message" in report["generator_fallback"]


def test_messages_of_other_situations_lack_the_values(stand_in, well_behaved, written):
    def turned(model, entries, seed, kind):
        found = messages(well_behaved(model, entries, seed, kind))
        return json.dumps(dict(zip(found, [*list(found.values())[1:], found[next(iter(found))]], strict=True)))

    _, _, report = written(stand_in(turned), 64)
    assert report["reasons"]["missing_value"] > 30


@pytest.mark.parametrize(
    ("reason", "change"),
    [
        (
            "leak",
            lambda key, text, entry: text + " Behind the scenes an earlier attempt is on record as half finished.",
        ),
        ("policy", lambda key, text, entry: text + " Do not change an address after the order has shipped, they say."),
        ("tool_name", lambda key, text, entry: text + " use get_order for it"),
        ("not_the_person", lambda key, text, entry: "How can I help you? " + text),
        ("made_up_value", lambda key, text, entry: text + f" like with ORD-99{key}{key}"),
        ("markup", lambda key, text, entry: "# Message\n" + text),
        ("empty", lambda key, text, entry: ""),
    ],
)
def test_a_fault_is_repaired_or_falls_back(stand_in, well_behaved, written, reason, change):
    model = stand_in(rewritten(well_behaved, change))
    _, _, report = written(model, 16)
    assert report["written"] >= 15 and report["repaired"] >= 13
    assert model.kinds.count("repair") == 2
    repairs = [entry for entries in model.entries for entry in entries.values() if "wrong" in entry]
    assert all(entry["message"] is not None and entry["wrong"] and entry["situation"] for entry in repairs)
    drawn, out, report = written(stand_in(rewritten(well_behaved, change, once=False)), 16)
    assert report["reasons"].get(reason, 0) >= 13 and report["fallback"] >= 13
    assert len(template_of(drawn, out)) == report["fallback"]


def test_a_leak_is_that_of_the_situation(stand_in, well_behaved, written, shop_tasks):
    secret = {row["scenario_id"]: row["privileged"]["hidden_state"] for row in shop_tasks(16)}
    told = iter(secret.values())
    leaky = rewritten(well_behaved, lambda key, text, entry: f"{text} {next(told)}", once=True)
    _, out, report = written(stand_in(leaky), 16, concurrency=1)
    assert report["repaired"] >= 15
    for row in out:
        assert secret[row["scenario_id"]].split(";")[-1].strip(" .") not in row["prompt"]


def test_copies_in_a_wave_and_across_waves(stand_in, written):
    def parrot(model, entries, seed, kind):
        vague = "I would like somebody to look at that thing from the other day and sort it out for me please"
        facts = {
            key: ", ".join(str(fact["value"]) for fact in entry.get("situation", entry).get("facts", ()))
            for key, entry in entries.items()
        }
        return json.dumps({key: f"{vague} {said}".strip() for key, said in facts.items()})

    drawn, out, report = written(stand_in(parrot), 48)
    assert report["written"] == 1 and report["reasons"]["copy"] > 20
    assert len({row["prompt"] for row in out}) == 48
    assert len(template_of(drawn, out)) == 47


def test_a_copy_in_a_wave_is_written_again(stand_in, well_behaved, written):
    """The second of two alike is sent back with what is wrong, and both are written in the end."""
    vague = "could somebody please have a look at the thing from the other day and tell me what is going on with it"

    def twice(model, entries, seed, kind):
        found = messages(well_behaved(model, entries, seed, kind))
        alike = [key for key, entry in entries.items() if kind == "write" and "facts" not in entry]
        return json.dumps(found | {key: vague for key in alike if "note" not in entries[key]})

    model = stand_in(twice)
    _, out, report = written(model, 64, batch=64)
    assert sum(row["prompt"] == vague for row in out) == 1 and "copy" not in report["reasons"]
    repairs = [entry for entries in model.entries for entry in entries.values() if entry.get("message") == vague]
    assert len(repairs) == report["repaired"] > 3
    assert all("another message of the list" in entry["wrong"][0] for entry in repairs)


def test_a_refusing_model(stand_in, written):
    drawn, out, report = written(stand_in(lambda *_: "I'm sorry, but I can't help with that."), 16)
    assert out == drawn and report["reasons"] == {"missing": 16} and report["fallback"] == 16
    assert {row["writer_model"] for row in out} == {"template"} and {row["arm"] for row in out} == {"structured"}


@pytest.mark.parametrize("garbage", [None, "", "\x00\ufffd{[", "[" * 3000, '{"messages": 3}', "null"])
def test_garbage(stand_in, written, garbage):
    drawn, out, report = written(stand_in(lambda *_: garbage), 8)
    assert out == drawn and report["reasons"] == {"missing": 8}


def test_a_message_of_an_unreadable_kind(stand_in, written):
    drawn, out, report = written(stand_in(lambda *_: {"role": "assistant", "content": {"messages": []}}), 8)
    assert out == drawn and report["reasons"] == {"model_error": 8} and "cannot be read" in report["errors"][0]


def test_a_hopeless_model_is_not_asked_for_ever(stand_in, shop, shop_tasks):
    model = stand_in(lambda *_: "no")
    writer, tasks = ModelWriter(shop, model), shop_tasks(128)
    assert writer.write(tasks[:64]) == tasks[:64]
    calls = writer.report()["calls"]
    assert writer.write(tasks[64:]) == tasks[64:]
    assert writer.report()["calls"] == calls and writer.report()["reasons"] == {"given_up": 64, "missing": 64}


def test_a_bad_start_is_no_verdict(stand_in, well_behaved, shop, shop_tasks):
    answers = iter(["no", "no"])
    slow_to_start = stand_in(lambda *asked: next(answers, None) or well_behaved(*asked))
    writer, tasks = ModelWriter(shop, slow_to_start), shop_tasks(64)
    assert writer.write(tasks[:8]) == tasks[:8]
    writer.write(tasks[8:])
    report = writer.report()
    assert report["written"] >= 55 and report["first_wave_failed"] is True
    assert " of 64" in report["generator_fallback"] and "The first wave" in report["generator_fallback"]


def test_a_failed_call_costs_its_wave(stand_in, well_behaved, written):
    def flaky(model, entries, seed, kind):
        if len(model.kinds) == 2:
            raise ModelError("the endpoint answered 500 five times.")
        return well_behaved(model, entries, seed, kind)

    _, out, report = written(stand_in(flaky), 32, concurrency=1)
    assert report["reasons"]["model_error"] == 8 and report["written"] >= 23
    assert [row["writer_model"] for row in out[8:16]] == ["template"] * 8
    assert report["errors"] == ["the endpoint answered 500 five times."] and report["first_wave_failed"] is False
    assert "8 of them calls to the model failed" in report["generator_fallback"]


def test_a_failed_repair_keeps_what_was_right(stand_in, well_behaved, written):
    def half(model, entries, seed, kind):
        if kind == "repair":
            raise ModelError("gone.")
        found = messages(well_behaved(model, entries, seed, kind))
        return json.dumps({key: text if int(key) % 2 else "" for key, text in found.items()})

    _, out, report = written(stand_in(half), 32)
    assert report["written"] == 16 and report["reasons"] == {"empty": 16}
    assert [row["writer_model"] for row in out[:4]] == ["stand-in", "template"] * 2


def test_a_spent_quota_ends_the_run(stand_in, well_behaved, shop, shop_tasks):
    def spent(model, entries, seed, kind):
        if len(model.kinds) == 3:
            raise ModelStopError("the allowance is spent.", "quota_spent")
        return well_behaved(model, entries, seed, kind)

    writer = ModelWriter(shop, stand_in(spent), concurrency=1)
    with pytest.raises(ModelStopError) as stopped:
        writer.write(shop_tasks(64))
    assert stopped.value.reason == "quota_spent" and writer.report()["calls"] <= 4


def test_a_mistake_in_the_model_is_not_hidden(stand_in, shop, shop_tasks):
    with pytest.raises(KeyError):
        ModelWriter(shop, stand_in(lambda model, entries, *_: {}["x"])).write(shop_tasks(8))


def test_time_is_up(stand_in, well_behaved, shop, shop_tasks):
    """The first waves are quick, the others would take for ever: their prompts are the template's."""
    quick = set()

    def delay(seed):
        quick.add(seed)
        return 0 if len(quick) <= 2 else 30

    writer, tasks = ModelWriter(shop, stand_in(delay=delay), concurrency=2), shop_tasks(64)
    start = time.monotonic()
    out = writer.write(tasks, deadline=start + 0.3)
    assert time.monotonic() - start < 2
    report = writer.report()
    assert report["abandoned"] == 6 and report["reasons"]["abandoned"] == 48 and report["written"] >= 15
    assert [row["writer_model"] for row in out[16:]] == ["template"] * 48
    assert "time was up" in report["generator_fallback"]
    # Time stays up: no further call is made.
    writer.deadline = start
    assert writer.write(shop_tasks(72)[64:]) == shop_tasks(72)[64:] and writer.report()["calls"] == report["calls"]
    assert writer.invent(3) == [] and writer.paraphrase(tasks[0], 2) == []


def test_what_was_right_before_time_was_up_counts(stand_in, well_behaved, shop, shop_tasks):
    def half(model, entries, seed, kind):
        found = messages(well_behaved(model, entries, seed, kind))
        return json.dumps({key: text for key, text in found.items() if int(key) < 5})

    asked = []

    def delay(seed):
        asked.append(seed)
        return 0 if len(asked) == 1 else 30

    writer = ModelWriter(shop, stand_in(half, delay=delay))
    writer.write(shop_tasks(8), deadline=time.monotonic() + 0.2)
    assert writer.report()["written"] == 4 and writer.report()["reasons"] == {"abandoned": 4}


def test_a_deadline_drawn_nearer_while_waiting(stand_in, shop, shop_tasks):
    now = [0.0]
    writer = ModelWriter(shop, stand_in(delay=lambda seed: 30), deadline=1000.0, clock=lambda: now[0])
    threading.Timer(0.2, lambda: setattr(writer, "deadline", -1.0)).start()
    start = time.monotonic()
    assert writer.write(shop_tasks(8)) == shop_tasks(8)
    assert time.monotonic() - start < 3 and writer.report()["abandoned"] == 1


def test_the_clock_is_the_one_that_is_given(stand_in, shop, shop_tasks):
    writer = ModelWriter(shop, stand_in(), deadline=10.0, clock=lambda: 11.0)
    assert writer.write(shop_tasks(8)) == shop_tasks(8) and writer.report()["calls"] == 0
