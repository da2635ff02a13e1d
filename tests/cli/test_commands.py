import json
from pathlib import Path

import pytest
from datasets import Dataset, load_from_disk


def _jsonl(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_simulate_writes_what_it_says(run, workdir):
    status, out, err = run("simulate", "--spec", "desk", "--budget", "12", "--output", "rows.jsonl")
    assert status == 0, err
    rows = _jsonl(workdir / "rows.jsonl")
    assert len(rows) == 12
    assert "12 rows" in out
    assert "privileged" not in rows[0]


def test_simulate_plays_my_agent_in_a_working_directory_module(run, workdir):
    flags = ["--spec", "desk", "--budget", "3", "--output", "r.jsonl", "--json"]
    status, out, err = run("simulate", "--agent", "cli_user_code:agent", *flags)
    assert status == 0, err
    assert json.loads(out)["n_rows"] == 3
    assert {row["final_text"] for row in _jsonl(workdir / "r.jsonl")} == {"Order shipped."}


def test_simulate_yaml_and_flags_give_the_same_rows(run, workdir):
    (workdir / "run.yaml").write_text("spec: desk\nmode: rl\nsituations: 2\nrepeats: 3\nseed: 5\noutput: a.jsonl\n")
    assert run("simulate", "--config", "run.yaml")[0] == 0
    flags = ["--spec", "desk", "--mode", "rl", "--situations", "2", "--repeats", "3", "--seed", "5"]
    assert run("simulate", *flags, "--output", "b.jsonl")[0] == 0
    assert _jsonl(workdir / "a.jsonl") == _jsonl(workdir / "b.jsonl")
    assert len(_jsonl(workdir / "a.jsonl")) == 6


def test_grade_with_a_judge(run, workdir, graded):
    status, _, err = run("grade", str(graded), "--judge", "cli_user_code.py:judge", "--output", "out.jsonl")
    assert status == 0, err
    for row in _jsonl(workdir / "out.jsonl"):
        assert row["reward"] == len(row["prompt"]) % 2


@pytest.mark.parametrize(("name", "mean"), [("regex:answer [01]", 0.5), ("json_valid", 0.0)])
def test_grade_with_a_verifier(run, graded, name, mean):
    status, out, err = run("grade", str(graded), "--verify", name, "--json")
    assert status == 0, err
    assert json.loads(out)["mean_reward"] == mean
    assert json.loads(out)["judged"] == 40


def test_measure_prints_and_gates_on_the_lower_end(run, graded):
    status, out, _ = run("measure", str(graded), "--json")
    report = json.loads(out)
    assert status == 0
    assert report["pass_at_1"] == 0.5
    low = report["ci95"][0]
    assert run("measure", str(graded), "--fail-under", str(low - 0.01))[0] == 0
    # The estimate is above the gate, its interval is not: that is a failure.
    status, _, err = run("measure", str(graded), "--fail-under", str(low + 0.01))
    assert low + 0.01 < 0.5
    assert status == 1
    assert "failed" in err


def test_gate_without_an_interval_fails(run, workdir, graded):
    few = workdir / "few.jsonl"
    few.write_text("\n".join(graded.read_text().splitlines()[:8]))
    status, _, err = run("measure", str(few), "--fail-under", "0.1")
    assert status == 1
    assert "no pass@1 interval" in err


def test_select_keeps_the_groups_with_a_signal(run, workdir, graded):
    status, out, err = run("select", str(graded), "--mode", "rl", "--output", "kept", "--json")
    assert status == 0, err
    kept = load_from_disk(str(workdir / "kept"))
    assert len(set(kept["scenario_id"])) == 6
    assert isinstance(json.loads(out), dict)


@pytest.mark.parametrize(("format", "column"), [("sft", "messages"), ("grpo", "prompt")])
def test_export_writes_the_training_file(run, workdir, graded, format, column):
    status, out, err = run("export", str(graded), "--format", format, "--output", "train.parquet")
    assert status == 0, err
    data = Dataset.from_parquet(str(workdir / "train.parquet"))
    assert column in data.column_names
    assert f"{format}: {len(data)} rows from 40 rollouts" in out


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["simulate"], "needs --spec"),
        (["simulate", "--spec", "nowhere"], "no spec at nowhere"),
        (["simulate", "--spec", "desk", "--agent", "no_such_module:x"], "no such module"),
        (["simulate", "--spec", "desk", "--agent", "cli_user_code:nothing"], "has no 'nothing'"),
        (["simulate", "--spec", "desk", "--agent", "cli_user_code:not_callable"], "not callable"),
        (["simulate", "--spec", "desk", "--agent", "agent"], "expected MODULE:ATTR"),
        (["simulate", "--spec", "desk", "--budget", "0"], "budget=0"),
        (["measure", "no/such/file.jsonl"], "no/such/file.jsonl"),
        (["grade", "graded.jsonl", "--judge", "a:b", "--verify", "numeric"], "name two judges"),
        (["grade", "graded.jsonl", "--use-privileged"], "use_privileged"),
        (["grade", "graded.jsonl", "--judge", "nowhere.py:judge"], "no such file"),
        (["grade", "graded.jsonl", "--judge", "json.py:judge"], "another module is called 'json'"),
        (["grade", "graded.jsonl", "--verify", "exact"], "expected one of"),
        (["select", "graded.jsonl", "--output", "rows.xlsx"], ".parquet"),
    ],
)
def test_wrong_input_is_one_line_and_status_2(run, workdir, graded, argv, message):
    (workdir / "json.py").touch()
    status, _, err = run(*argv)
    assert status == 2
    assert message in err
    assert "Traceback" not in err
    assert len(err.strip().splitlines()) == 1


def test_unknown_command_is_argparse_s_error(run):
    status, _, err = run("simulte")
    assert status == 2
    assert "simulate" in err


def test_nothing_left_is_a_failure_and_the_old_file_is_not_passed_off_as_the_result(tmp_path, capsys):
    from whileai_hf.cli import main

    rows = tmp_path / "graded.jsonl"
    rows.write_text('{"prompt": "a", "final_text": "x", "reward": 1, "steps": []}\n')
    assert main(["select", str(rows), "--mode", "rl", "--output", str(tmp_path / "old.jsonl")]) == 1
    assert "was not written" in capsys.readouterr().err
    assert main(["measure", str(rows), "--fail-under", "80"]) == 2
    assert "from 0 to 1" in capsys.readouterr().err


def test_grading_without_a_judge_grades_the_floor(run, graded):
    status, out, err = run("grade", "graded.jsonl")
    assert status == 0, err
    assert "judged by conduct_grade" in out and "only the conduct floor" in out


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("def judge(:\n", "is no Python: invalid syntax (cli_broken.py, line 1)"),
        ("x = 1\nraise RuntimeError('boom\\nand more')\n", "RuntimeError: boom and more (cli_broken.py, line 2)"),
        ("import sys\nsys.exit(0)\n", "SystemExit: 0 (cli_broken.py, line 2)"),
        ("import no_such_package_7361\n", "needs a module that is not installed: No module named 'no_such"),
    ],
)
def test_a_module_that_does_not_load_is_one_line_and_no_failed_gate(run, workdir, graded, monkeypatch, code, says):
    (workdir / "cli_broken.py").write_text(code)
    for name in ("cli_broken:judge", "cli_broken.py:judge"):
        status, _, err = run("grade", str(graded), "--judge", name)
        assert status == 2
        assert says in err
        assert len(err.strip().splitlines()) == 1
    status, _, err = run("check-reward", "cli_broken:judge")
    assert (status, len(err.strip().splitlines())) == (2, 1)


def test_an_output_that_cannot_be_written_is_refused_before_the_work(run, workdir, graded):
    (workdir / "file").write_text("kept")
    (workdir / "cli_counting.py").write_text("import pathlib\ndef judge(row):\n    pathlib.Path('asked').touch()\n")
    for place in ("file/out.jsonl", "file", "desk/../file/x/out.parquet", f"{'x' * 300}.jsonl", "/proc/x/out.jsonl"):
        status, _, err = run("grade", str(graded), "--judge", "cli_counting:judge", "--output", place)
        assert status == 2, place
        assert err.startswith(f"whileai-hf: --output {place}")
        assert len(err.strip().splitlines()) == 1
    assert not (workdir / "asked").exists()
    assert (workdir / "file").read_text() == "kept"
    assert run("simulate", "--spec", "desk", "--budget", "2", "--output", "file/out.jsonl")[0] == 2
    assert run("demo", "--output", "file")[0] == 2


def test_trying_an_output_leaves_nothing_behind(workdir):
    from whileai_hf.cli.files import check_output

    (workdir / "there.jsonl").write_text("kept")
    before = sorted(workdir.rglob("*"))
    for place in ("new.jsonl", "a/b/new.parquet", "folder", "there.jsonl", "desk"):
        check_output(place)
    assert sorted(workdir.rglob("*")) == before
    assert (workdir / "there.jsonl").read_text() == "kept"


def test_rows_survive_a_disk_that_is_full_at_the_end(run, graded, monkeypatch):
    from whileai_hf.cli import commands

    def full(rows, path, write=commands.write_rows):
        if path == "out.jsonl":
            raise OSError(28, "No space left on device")
        return write(rows, path)

    monkeypatch.setattr(commands, "write_rows", full)
    status, _, err = run("grade", str(graded), "--verify", "json_valid", "--output", "out.jsonl")
    assert status == 2
    assert "No space left on device" in err
    assert len(_jsonl(Path(err.strip().rpartition(" ")[2]))) == 40


def test_yaml_in_another_encoding_is_one_line(run, workdir):
    (workdir / "run.yaml").write_bytes(b"spec: \xff\xfe")
    status, _, err = run("simulate", "--config", "run.yaml")
    assert (status, "byte 6 is not UTF-8" in err) == (2, True)
