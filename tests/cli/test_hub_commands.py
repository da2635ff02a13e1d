"""The commands that speak to the Hub, against a server on loopback."""

import io
import json
import subprocess
import sys
import time

import datasets
import pytest
from hub import HubServer, catalog_routes, pointed_at
from hub.catalog_cards import card

from whileai_hf.cli.hub import _NO_KNOBS
from whileai_hf.cli.parser import build_parser, parse
from whileai_hf.hub.pushing import PushConfig


@pytest.fixture
def hub(tmp_path, monkeypatch):
    datasets.disable_progress_bars()
    catalog_routes.install(monkeypatch)
    with HubServer(tmp_path / "server") as server, pointed_at(server, tmp_path / "home") as found:
        yield found
    assert not server.unknown


@pytest.fixture
def pushed(hub, run, graded):
    """The ten tasks of `graded`, pushed by the command."""
    status, out, err = run("push", str(graded), "alice/desk", "--agent", "Order Desk", "--no-gate")
    assert status == 0, err
    assert "pushed alice/desk@v1" in out
    return hub


def answer(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def names(hub):
    return {repo.name for repo in hub.server.repos.all("dataset")}


def test_rows_go_to_the_hub_and_come_back(pushed, run, workdir):
    status, out, err = run("pull", "alice/desk", "--revision", "v1", "--output", "back.jsonl")
    assert status == 0, err
    assert "40 rows, back.jsonl" in out
    back = [json.loads(line) for line in (workdir / "back.jsonl").read_text().splitlines()]
    first = [json.loads(line) for line in (workdir / "graded.jsonl").read_text().splitlines()]
    assert [(row["prompt"], row["reward"]) for row in back] == [(row["prompt"], row["reward"]) for row in first]
    assert json.loads(run("pull", "alice/desk", "--json")[1])["rows"] == 40
    status, out, _ = run("measure", "alice/desk", "--json")
    assert status == 0 and json.loads(out)["pass_at_1"] == 0.5


def test_a_holdout_is_pushed_and_pulled_by_its_split(hub, run, graded):
    status, out, err = run("push", str(graded), "desk", "--holdout", "0.3", "--no-gate", "--json")
    assert status == 0, err
    splits = json.loads(out)["splits"]
    assert sum(splits.values()) == 40 and splits["holdout"] > 0
    assert json.loads(run("pull", "alice/desk", "--split", "holdout", "--json")[1])["rows"] == splits["holdout"]


def test_a_push_the_gate_refuses_exits_1_and_leaves_nothing(hub, run, graded, workdir):
    lines = [json.loads(line) for line in graded.read_text().splitlines()]
    flat = workdir / "flat.jsonl"
    flat.write_text("".join(json.dumps({**line, "reward": 1.0}) + "\n" for line in lines))
    status, out, err = run("push", str(flat), "alice/flat", "--mode", "rl")
    assert status == 1 and out == "" and err.startswith("whileai-hf: ") and names(hub) == set()


def test_lists_say_what_there_is(pushed, run):
    pushed.server.put("bob/public", card(agent="Bobs Desk", rows=7))
    status, out, _ = run("datasets")
    assert status == 0 and "1 data set of alice" in out and "alice/desk" in out and "40 rows" in out
    assert json.loads(run("datasets", "--purpose", "eval", "--json")[1])["entries"] == []
    status, out, _ = run("catalog")
    assert status == 0 and "bob/public" in out and "alice/desk" not in out
    assert [one["repo"] for one in json.loads(run("catalog", "--agent", "bobs desk", "--json")[1])["entries"]] == [
        "bob/public"
    ]
    assert run("datasets", "--namespace", "bob")[0] == 2


def test_profile_and_preview_of_the_hub_and_of_a_file(pushed, run, graded):
    on_hub = json.loads(run("profile", "alice/desk", "--split", "train", "--json")[1])
    local = json.loads(run("profile", str(graded), "--json")[1])
    for key in ("passes", "support", "mixed", "tool_use"):
        assert on_hub[key] == local[key]
    status, out, _ = run("profile", str(graded))
    assert status == 0 and "pass@1 0.50" in out and "6 mixed" in out
    status, out, _ = run("preview", "alice/desk", "--n", "1")
    assert status == 0 and out.count("row ") == 1 and "ORD-1040" in out


def test_publish_and_unpublish(pushed, run):
    assert run("publish", "alice/desk", "--description", "Orders")[0] == 0
    assert not pushed.server.repo("alice/desk").private
    assert run("unpublish", "desk")[0] == 0
    assert pushed.server.repo("alice/desk").private
    status, out, err = run("publish", "bob/x")
    assert status == 2 and out == "" and "bob" in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("typed", "goes"), [("y\n", True), ("YES\n", True), ("n\n", False), ("\n", False), ("", False)]
)
def test_purge_lists_and_asks_and_no_answer_is_no(pushed, run, monkeypatch, typed, goes):
    answer(monkeypatch, typed)
    status, out, err = run("purge", "--agent", "order desk")
    assert "alice/desk" in err and "[y/N]" in err
    assert (status, "alice/desk" in names(pushed)) == ((0, False) if goes else (1, True))
    assert ("deleted 1" in out) is goes


def test_purge_dry_run_and_yes_do_not_ask(pushed, run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)  # whoever reads it fails
    status, out, err = run("purge", "--agent", "Order Desk", "--dry-run")
    assert (status, err) == (0, "") and "would delete 1 data set (40 rows)" in out and "alice/desk" in names(pushed)
    listed = json.loads(run("purge", "--agent", "Order Desk", "--dry-run", "--json")[1])
    assert listed["dry_run"] is True and [one["repo"] for one in listed["datasets"]] == ["alice/desk"]
    status, out, err = run("purge", "--agent", "Order Desk", "--yes", "--json")
    assert (status, err) == (0, "") and json.loads(out)["deleted"] == ["alice/desk"] and names(pushed) == set()
    status, out, _ = run("purge", "--agent", "Order Desk")
    assert status == 0 and "nothing to delete" in out


def test_purge_of_empty_sets_of_one_set_and_of_nothing_named(pushed, run, monkeypatch):
    pushed.server.put("alice/small", card(rows=2))
    pushed.server.put("alice/none", card(rows=0))
    assert "alice/small" not in run("purge", "--empty", "--dry-run")[1]
    assert "alice/small" in run("purge", "--empty", "--max-rows", "2", "--dry-run")[1]
    assert run("purge", "--empty", "--max-rows", "2", "--yes")[0] == 0
    assert names(pushed) == {"alice/desk"}
    assert run("purge", "--dataset", "alice/desk", "--yes")[0] == 0 and names(pushed) == set()
    status, _, err = run("purge", "--yes")
    assert status == 2 and "never deletes all there is" in err
    assert run("purge", "--empty", "--agent", "x")[0] == 2


def test_purge_that_leaves_something_exits_1(pushed, run):
    pushed.server.fail("DELETE /api/repos", 403)
    status, out, _ = run("purge", "--agent", "Order Desk", "--yes")
    assert status == 1 and "1 are left" in out and "alice/desk" in names(pushed)


def test_status_exits_by_whether_somebody_is_signed_in(hub, run):
    status, out, err = run("status")
    assert (status, err) == (0, "") and "signed in as alice" in out and "hf_alice" not in out
    with hub.signed_in(None):
        status, out, err = run("status")
    assert (status, err) == (1, "") and out.startswith("not signed in\n") and "hf auth login" in out
    hub.server.stop()
    status, out, err = run("status", "--json")
    assert (status, err) == (1, "") and json.loads(out)["reachable"] is False and "hf_alice" not in out


def test_signed_out_is_one_line_for_every_command(pushed, run):
    with pushed.signed_in(None):
        for argv in (["datasets"], ["publish", "alice/desk"], ["purge", "--agent", "x", "--dry-run"]):
            status, out, err = run(*argv)
            assert status == 2 and out == "" and err.startswith("whileai-hf: ") and err.count("\n") == 1, argv
            assert "hf auth login" in err
        assert run("catalog")[0] == 0  # public


def test_every_flag_of_push_is_a_knob_with_its_default():
    args = parse(build_parser(), ["push", "rows.jsonl", "me/x"])
    knobs = {name: value for name, value in vars(args).items() if name not in _NO_KNOBS}
    assert PushConfig(**knobs) == PushConfig()
    # A token on the command line would stand in the shell's history; shards are nobody's daily business.
    assert set(PushConfig.__dataclass_fields__) - set(knobs) == {"token", "max_shard_size"}


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom whileai_hf.cli import main\n"
        "try:\n    main(['purge', '--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'datasets', 'numpy', 'pyarrow', 'torch', 'httpx2', 'huggingface_hub.hf_api'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    started = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "--dry-run" in done.stdout and time.perf_counter() - started < 30
