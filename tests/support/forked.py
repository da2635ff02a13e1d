"""Programs in a process of their own that starts with everything this one has imported.

To the system a fork is another process: it is killed, it crashes, and what it holds goes with it. What it need not do
is spend seconds of processor time on importing `datasets`, and ten more on TRL. Threads do not come along; those of
the library and of the servers of tests wait for work, and hold no lock, while a test starts a program. What a test
says about the imports of a program it says with `subprocess`.
"""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any


class ForkedPopen(subprocess.Popen):
    """`Popen` of `[python, "-c", code, ...]`, `[python, "-m", module, ...]` or `[python, "file.py", ...]`."""

    def _execute_child(self, args: Sequence[str], *rest: Any) -> None:
        if sys.platform == "darwin":  # a Mac's own libraries do not outlive a fork
            super()._execute_child(args, *rest)
            return
        (_, _, _, _, cwd, env, _, _, _, into, fed, said, out, warned, err, *more) = rest
        self.pid = os.fork()
        if not self.pid:
            for end in (fed, said, warned):
                if end != -1:
                    os.close(end)
            for given, own in ((into, 0), (out, 1), (err, 2)):
                if given != -1:
                    os.dup2(given, own)
            _become(args, cwd, env, own_session=more[5])
        self._child_created = True
        self._close_pipe_fds(into, fed, said, out, warned, err)


def run_forked(command: Sequence[str], **how: Any) -> subprocess.CompletedProcess[str]:
    """`subprocess.run(command, capture_output=True, text=True)`, forked."""
    timeout = how.pop("timeout", 120)
    with ForkedPopen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def _become(args: Sequence[str], cwd: Any, env: Any, own_session: bool) -> None:
    """What is left of this process is the program; it never returns."""
    status = 1
    try:
        if own_session:
            os.setsid()
        if cwd is not None:
            os.chdir(cwd)
        if env is not None:
            os.environ.clear()
            os.environ.update(env)
        sys.stdin, sys.stdout = os.fdopen(0), os.fdopen(1, "w", encoding="utf-8")
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", buffering=1)
        status = _run(list(map(str, args[1:])))
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(status)


def _run(words: list[str]) -> int:
    kind = words[0]
    if kind == "-c":
        sys.argv = ["-c", *words[2:]]
        program = sys.modules["__main__"] = ModuleType("__main__")
        exec(compile(words[1], "<string>", "exec"), program.__dict__)
    elif kind == "-m":
        sys.argv = words[1:]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = words
        sys.path.insert(0, str(Path(kind).parent))
        runpy.run_path(kind, run_name="__main__")
    return 0
