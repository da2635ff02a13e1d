"""The hash of a judge changes when what it does changes, and only then."""

from __future__ import annotations

import functools
import importlib
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from whileai_hf.score import fingerprint
from whileai_hf.score.hashing import UnhashableError
from whileai_hf.score.verify import Includes, Regex


def _module(folder: Path, name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(folder))
    importlib.invalidate_caches()
    sys.modules.pop(name, None)
    return importlib.import_module(name)


def _reload(module: Any, text: str) -> Any:
    path = Path(module.__file__)
    path.write_text(text)
    for cached in path.parent.glob("__pycache__/*"):
        cached.unlink()
    return importlib.reload(module)


BODY = "LIMIT = 3\ndef helper(x):\n    return x <= LIMIT\ndef judge(row):\n    return helper(row['n'])\n"


@pytest.mark.parametrize(
    "edited",
    [
        BODY.replace("helper(row['n'])", "not helper(row['n'])"),
        BODY.replace("x <= LIMIT", "x < LIMIT"),
        BODY.replace("LIMIT = 3", "LIMIT = 4"),
        BODY.replace("def judge(row)", "def judge(row, strict=True)"),
    ],
    ids=["judge", "helper", "constant", "default"],
)
def test_an_edit_changes_the_hash_after_a_reload(edited: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = _module(tmp_path, "judges_a", BODY, monkeypatch)
    before = fingerprint(module.judge)
    assert fingerprint(module.judge) == before
    assert fingerprint(_reload(module, "# a comment\n\n" + BODY).judge) == before
    assert fingerprint(_reload(module, edited).judge) != before


def test_until_the_reload_the_old_code_runs_and_keeps_its_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = _module(tmp_path, "judges_b", BODY, monkeypatch)
    before = fingerprint(module.judge)
    Path(module.__file__).write_text(BODY.replace("<=", ">"))
    assert fingerprint(module.judge) == before


def test_code_imported_from_another_module_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    helper = _module(tmp_path, "helper_c", "def check(x):\n    return x > 1\n", monkeypatch)
    judges = [
        "import helper_c\ndef judge(row):\n    return helper_c.check(row['n'])\n",
        "from helper_c import check\ndef judge(row):\n    return check(row['n'])\n",
        "def judge(row):\n    from helper_c import check\n    return check(row['n'])\n",
    ]
    modules = [_module(tmp_path, f"judges_c{i}", text, monkeypatch) for i, text in enumerate(judges)]
    before = [fingerprint(module.judge) for module in modules]
    _reload(helper, "def check(x):\n    return x > 2\n")
    after = [fingerprint(importlib.reload(module).judge) for module in modules]
    assert all(a != b for a, b in zip(after, before, strict=True))


def test_closures_defaults_partials_and_state_count() -> None:
    def make(limit: int) -> Any:
        return lambda row: row["n"] > limit

    class Judge:
        def __init__(self, limit: int) -> None:
            self.limit = limit

        def __call__(self, row: dict[str, Any]) -> bool:
            return row["n"] > self.limit

    def scaled(row: dict[str, Any], by: int) -> int:
        return row["n"] * by

    for build in (make, Judge, lambda n: Judge(n).__call__, lambda n: functools.partial(scaled, by=n)):
        assert fingerprint(build(1)) == fingerprint(build(1))
        assert fingerprint(build(1)) != fingerprint(build(2))


def test_a_method_of_another_class_body_counts() -> None:
    def build(flag: bool) -> Any:
        class Judge:
            def helper(self, n: int) -> bool:
                return n > 1 if flag else n < 1

            def __call__(self, row: dict[str, Any]) -> bool:
                return self.helper(row["n"])

        return Judge()

    assert fingerprint(build(True)) != fingerprint(build(False))


def test_order_of_sets_and_dicts_does_not_count() -> None:
    assert fingerprint({"a": {1, 2}, "b": 1}) == fingerprint({"b": 1, "a": {2, 1}})
    assert fingerprint([1, 2]) != fingerprint([2, 1])
    assert len({fingerprint(value) for value in (1, 1.0, True, "1", b"1", None)}) == 6


def test_cycles_and_locks_are_no_obstacle_but_sockets_are() -> None:
    import socket

    loop: list[Any] = [1]
    loop.append(loop)
    assert fingerprint(loop) == fingerprint(loop)
    assert fingerprint([threading.Lock(), threading.Condition()]) == fingerprint(
        [threading.Lock(), threading.Condition()]
    )
    with socket.socket() as connection, pytest.raises(UnhashableError, match="socket"):
        fingerprint(connection)


def test_verifiers_are_told_apart_by_their_options() -> None:
    judges = [Includes(all=["a"]), Includes(all=["b"]), Regex("a"), Regex("a", case=True)]
    assert len({fingerprint(judge) for judge in judges}) == 4
    assert fingerprint(Includes(all=["a"])) == fingerprint(Includes(all=["a"]))


def test_it_is_the_same_in_every_process(tmp_path: Path) -> None:
    (tmp_path / "judges_d.py").write_text(
        BODY
        + "WORDS = {'a', 'b', 'c'}\ndef other(row):\n    return row['x'] in WORDS and row['y'] in {'p', 'q', 'r'}\n"
    )
    program = (
        "import json, judges_d as j; from whileai_hf.score import fingerprint as f; "
        "print(json.dumps([f(j.judge), f(j.other)]))"
    )
    seen = set()
    for seed in ("1", "2"):
        env = {"PYTHONHASHSEED": seed, "PYTHONPATH": f"{tmp_path}:{Path(__file__).parents[2]}"}
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=env, check=True)
        seen.add(tuple(json.loads(done.stdout)))
    assert len(seen) == 1
