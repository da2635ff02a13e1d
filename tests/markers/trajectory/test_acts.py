"""What commands and tools do: shells taken apart, edits recognised however they are made."""

from __future__ import annotations

import time

import pytest

from whileai_hf.markers.trajectory.acts import acts_of
from whileai_hf.markers.trajectory.edits import Edit
from whileai_hf.markers.trajectory.runs import is_test_run, looks_only
from whileai_hf.markers.trajectory.shell import read_script
from whileai_hf.score.reading.calls import calls_of


def words(text: str) -> list[str]:
    return [" ".join(command.words) for command in read_script(text).commands]


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("cd x && sudo bash -c 'rm -rf y' # rm z", ["cd x", "rm -rf y"]),
        ("cat > f.sh <<'EOF'\nrm -rf /\nEOF\nls", ["cat", "ls"]),
        ("bash <<EOF\nrm -rf z\nEOF", ["rm -rf z"]),
        ("a=1 timeout 30 env B=2 npm test", ["npm test"]),
        ("find . | xargs -n 1 rm -rf", ["find .", "rm -rf"]),
        ("docker exec -it web rm -rf /data", ["rm -rf /data"]),
        ("kubectl exec pod -c c -- rm x", ["rm x"]),
        ("if [ -f x ]; then rm x; fi", ["[ -f x ]", "rm x"]),
        ('echo $(rm q) "`ls`"', ["echo $(rm q) `ls`", "rm q", "ls"]),
        ("poetry run python3 -m pytest -q", ["pytest -q"]),
        ("npx -y jest", ["jest"]),
        ('powershell -Command "Remove-Item x"', ["Remove-Item x"]),
        ("echo 'a; b' | tee log", ["echo a; b", "tee log"]),
        ("", []),
        ("'unclosed", ["'unclosed"]),
    ],
)
def test_commands_that_are_run(text: str, commands: list[str]) -> None:
    assert words(text) == commands


def test_redirects_operators_and_assignments() -> None:
    first, second = read_script("SKIP=a make 2>/dev/null >log || true").commands
    assert (
        first.redirects == (("2>", "/dev/null"), (">", "log"))
        and first.after == "||"
        and first.assigned == ("SKIP=a",)
    )
    assert second.words == ("true",) and second.before == "||"


def test_code_handed_to_interpreters() -> None:
    assert read_script("python -c 'import os'; node -e 'x()'; python - <<E\ny\nE").code == ["import os", "x()", "y\n"]


@pytest.mark.parametrize("text", ["a", " ", "$(", "'", '"', "\\", "`", "|", "x<<a\n", "sudo ", "((", "<<E\n", "a=1 "])
def test_long_commands_take_linear_time(text: str) -> None:
    start = time.perf_counter()
    read_script(text * (200_000 // len(text)))
    assert time.perf_counter() - start < 5


def edits(tool: str, **arguments: object) -> list[Edit]:
    return acts_of(calls_of({"steps": [{"tool": tool, "arguments": arguments, "result": "ok"}]})[0]).edits


PATCH = "--- a/t.py\n+++ b/t.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n"


@pytest.mark.parametrize(
    ("made", "edit"),
    [
        (("write_file", {"path": "a.py", "content": "x"}), Edit("a.py", "", "x", "create")),
        (("str_replace_editor", {"command": "str_replace", "path": "a.py", "old_str": "x", "new_str": "y"}),
        Edit("a.py", "x", "y", "modify")),
        (("str_replace_editor", {"command": "insert", "path": "a.py", "new_str": "y"}), Edit("a.py", "", "y",
        "append")),
        (("edit_file", {"target_file": "a.py", "edits": [{"oldText": "x", "newText": "y"}]}), Edit("a.py", "x", "y",
        "modify")),
        (("apply_patch", {"patch": PATCH}), Edit("t.py", "a = 1", "a = 2", "modify")),
        (("apply_patch", {"input": "*** Begin Patch\n*** Delete File: t.py\n*** End Patch"}), Edit("t.py", "", "",
        "delete")),
        (("replace_in_file", {"path": "t.py", "diff": "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE"}),
        Edit("t.py", "x\n", "y\n", "modify")),
        (("delete_file", {"path": "a.py"}), Edit("a.py", "", "", "delete")),
        (("move_file", {"source": "a.py", "destination": "b.py"}), Edit("a.py", "", "", "move", "b.py")),
        (("bash", {"command": "sed -i 's/x/y/' a.py"}), Edit("a.py", "x", "y", "modify")),
        (("bash", {"command": "perl -pi -e 's/x/y/' a.py"}), Edit("a.py", "x", "y", "modify")),
        (("bash", {"command": "cat > a.py <<'E'\nx\nE"}), Edit("a.py", "", "x\n", "create")),
        (("bash", {"command": "echo x | tee -a a.py"}), Edit("a.py", "", "x", "append")),
        (("bash", {"command": ": > a.py"}), Edit("a.py", "", "", "modify")),
        (("bash", {"command": "git mv a.py b.py"}), Edit("a.py", "", "", "move", "b.py")),
        (("bash", {"command": ["bash", "-lc", "rm a.py"]}), Edit("a.py", "", "", "delete")),
        (("bash", {"command": f"git apply <<'E'\n{PATCH}E"}), Edit("t.py", "a = 1", "a = 2", "modify")),
    ],
)  # fmt: skip
def test_edits(made: tuple[str, dict], edit: Edit) -> None:
    assert edits(made[0], **made[1]) == [edit]


@pytest.mark.parametrize(
    "command", ["ls > /dev/null", "cat a.py", "sed -n 1,5p a.py", "grep x a.py 2>&1", "make 2>/dev/null"]
)
def test_no_edits(command: str) -> None:
    assert edits("bash", command=command) == []


@pytest.mark.parametrize(
    "command",
    ["pytest -q", "python -m unittest", "go test ./...", "cargo test", "npm t", "yarn test:unit", "pnpm -r test",
        "npx jest", "mvn -q verify", "./gradlew test",
     "make check", "tox -e py311", "ctest", "bundle exec rspec", "./run_tests.sh", "python tests/test_a.py",
     "python manage.py test", "dotnet test", "vendor/bin/phpunit", "uv run pytest"],
)  # fmt: skip
def test_runs_of_tests(command: str) -> None:
    assert any(is_test_run(found) for found in read_script(command).commands)


@pytest.mark.parametrize(
    "command",
    [
        "ls tests",
        "cat test_a.py",
        "git add tests",
        "pip install pytest",
        "make",
        "python app.py",
        "test -f x",
        "npm start",
        "vim test_a.py",
    ],
)
def test_no_runs_of_tests(command: str) -> None:
    assert not any(is_test_run(found) for found in read_script(command).commands)


def test_commands_that_only_look() -> None:
    assert all(
        looks_only(command)
        for command in read_script("ls; cat a | grep b; git log; find . -name x; kubectl get pods").commands
    )
    assert not any(
        looks_only(command) for command in read_script("rm a; find . -delete; git push; echo x > a; make").commands
    )
