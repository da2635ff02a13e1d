"""What the README shows is run: its Python blocks as one program beside a Hub on loopback, its commands one by one."""

import re
import shlex
import subprocess
import sys

from hub import HubServer


def _blocks(text, language):
    """`(line, code)` of every fenced block of a language."""
    for match in re.finditer(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield text[: match.start()].count("\n") + 1, match.group(1)


def test_python_blocks(repo, tmp_path):
    text = (repo / "README.md").read_text(encoding="utf-8")
    program = [""] * text.count("\n")
    for line, code in _blocks(text, "python"):
        for offset, code_line in enumerate(code.splitlines()):
            program[line + offset] = code_line  # on the README's own line, so that a traceback points there
    assert any(program)
    script = tmp_path / "readme.py"
    script.write_text("\n".join(program), encoding="utf-8")
    with HubServer(tmp_path / "hub") as server:
        environment = server.env(home=tmp_path / "home")
        result = subprocess.run(
            [sys.executable, str(script)], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
    assert result.returncode == 0, result.stderr[-3000:]


def test_commands(repo, tmp_path):
    text = (repo / "README.md").read_text(encoding="utf-8")
    lines = [line for _, code in _blocks(text, "console") for line in code.splitlines()]
    commands = [line.removeprefix("$ ") for line in lines if line.startswith("$ whileai-hf ")]
    assert commands
    program = [sys.executable, "-c", "import sys; from whileai_hf.cli import main; sys.exit(main())"]
    for command in commands:
        words = shlex.split(command, comments=True)[1:]
        result = subprocess.run([*program, *words], cwd=tmp_path, capture_output=True, text=True)
        assert result.returncode == 0, f"{command}\n{result.stderr[-3000:]}"
