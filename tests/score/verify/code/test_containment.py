"""What a hostile or broken program may not do to the machine."""

import os
import pickle
import sys
import tempfile
import time
from pathlib import Path

import pytest

from whileai_hf.errors import ConfigurationError, JudgeError
from whileai_hf.score.verify.code import CodeExec, Limits, LocalRunner, read_suite
from whileai_hf.score.verify.code import command as commands


linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def _probe(body):
    """A program whose function `probe` runs the body and returns what it returns."""
    return "def probe():\n" + "\n".join("    " + line for line in body.strip().splitlines())


def _all_ended(mark):
    """Whether no process bears the mark; the kernel needs a moment to clear a killed machine away."""
    deadline = time.monotonic() + 3
    while left := _processes_named(mark):
        if time.monotonic() > deadline:
            return not left
        time.sleep(0.02)
    return True


def _processes_named(mark):
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if mark.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


@pytest.mark.parametrize("isolation", ["process", "bubblewrap"], indirect=True)
def test_infinite_loop(run):
    begun = time.monotonic()
    verdict = run("while True: pass", "assert f()", timeout=0.5)
    assert verdict["reward"] == 0.0
    assert verdict["timed_out"]
    assert time.monotonic() - begun < 10


def test_sleeping_is_no_way_around_the_time_limit(run):
    verdict = run("import time\ndef f(): time.sleep(60)", "assert f()", timeout=0.3)
    assert verdict["reward"] == 0.0
    assert "0.3 s" in verdict["reason"]


def test_infinite_loop_of_a_program(run):
    verdict = run("while True: pass", [{"input": "", "output": ""}] * 3, timeout=0.3, partial=True)
    assert (verdict["reward"], verdict["tests_total"], verdict["timed_out"]) == (0.0, 3, True)


BOMB = """
import os, time
def bomb():
    count = 0
    for _ in range(300):
        try:
            pid = os.fork()
        except BlockingIOError:
            break
        if pid == 0:
            time.sleep(100)
            os._exit(0)
        count += 1
    return count
"""


@linux
@pytest.mark.parametrize("isolation", ["process", "bubblewrap"], indirect=True)
def test_number_of_processes_is_limited(run):
    """300 at most, so that a failure of this test harms nobody."""
    assert run(BOMB, "made = bomb()\nassert 20 < made < 64", timeout=20)["reward"] == 1.0


@linux
def test_fork_bomb_ends_with_the_run(run):
    """It multiplies as long as it may; the depth bounds it should the limit fail."""
    bomb = """
import os, time
def grow(depth):
    for _ in range(2):
        try:
            if depth and os.fork() == 0:
                grow(depth - 1)
        except OSError:
            pass
    time.sleep(0.01)
    if depth:
        grow(depth - 1)
grow(7)
while True:
    pass
"""
    begun = time.monotonic()
    assert run(bomb, "assert True", timeout=0.5)["reward"] == 0.0
    assert time.monotonic() - begun < 15


@linux
@pytest.mark.parametrize("isolation", ["process", "bubblewrap"], indirect=True)
def test_what_it_started_ends_with_it(run):
    mark = f"whileai-test-{os.getpid()}-{time.monotonic_ns()}"
    program = f"""
import subprocess, sys
quiet = subprocess.DEVNULL
def start():
    subprocess.Popen(
        [sys.executable, "-S", "-c", "import time; time.sleep(60)", "{mark}"],
        start_new_session=True, stdin=quiet, stdout=quiet, stderr=quiet,
    )
    return True
"""
    assert run(program, "assert start()")["reward"] == 1.0
    assert _all_ended(mark)
    assert run(f"{program}\nstart()\nwhile True: pass", "assert start()", timeout=0.5)["reward"] == 0.0
    assert _all_ended(mark)


@linux
@pytest.mark.parametrize("isolation", ["process", "bubblewrap"], indirect=True)
def test_two_gigabytes_of_memory(run):
    program = "def f():\n    block = bytearray(2 * 1024**3)\n    return len(block)"
    verdict = run(program, "assert f() > 0", timeout=20)
    assert verdict["reward"] == 0.0
    assert "MemoryError" in verdict["reason"]


@linux
def test_memory_that_creeps_up(run):
    verdict = run("x = []\nwhile True: x.append(bytearray(10**7))", "assert True", timeout=20, memory_mb=256)
    assert verdict["reward"] == 0.0
    assert "MemoryError" in verdict["reason"]


def test_writing_outside_of_the_working_directory(bubblewrapped, tmp_path):
    target = tmp_path / "written.txt"
    body = f"""
places = [{str(target)!r}, "/tmp/whileai-written", "/usr/whileai-written", "/guest/x", "/whileai-written", "/dev/x"]
done = []
for place in places:
    try:
        open(place, "w").write("x")
        done.append(place)
    except OSError:
        pass
open("inside.txt", "w").write("x")
return done
"""
    judge = CodeExec("assert probe() == []", isolation="bubblewrap")
    assert judge({"final_text": _probe(body)})["reward"] == 1.0
    assert not target.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="without root and bubblewrap, what this user may write can be written")
def test_as_root_a_process_cannot_write_what_is_roots(tmp_path):
    target = tmp_path / "kept.txt"
    target.write_text("kept")
    target.chmod(0o644)
    body = f"open({str(target)!r}, 'w')"
    judge = CodeExec("try:\n    probe()\nexcept PermissionError:\n    raise SystemExit", isolation="process")
    assert "SystemExit" in judge({"final_text": _probe(body)})["reason"]
    assert target.read_text() == "kept"


@pytest.mark.parametrize("isolation", ["process", "bubblewrap"], indirect=True)
def test_working_directory_goes(run, monkeypatch):
    with tempfile.TemporaryDirectory() as place:  # not `tmp_path`, which only its owner may enter
        os.chmod(place, 0o755)
        monkeypatch.setattr(tempfile, "tempdir", place)
        body = """
import os
open("x", "w").write("y")
os.mkdir("d")
open("d/z", "w")
os.chmod("d", 0)
return os.listdir()
"""
        assert run(_probe(body), "assert sorted(probe()) == ['d', 'x']")["reward"] == 1.0
        assert os.listdir(place) == []


@pytest.mark.parametrize("isolation", ["process", "bubblewrap"], indirect=True)
def test_environment_is_empty(run, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    body = "import os\nreturn sorted(os.environ)"
    tests = "names = probe()\nassert 'PATH' in names and not [n for n in names if 'HF' in n or 'PYTEST' in n], names"
    assert run(_probe(body), tests)["reward"] == 1.0


@linux
def test_environment_of_other_processes(bubblewrapped, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    body = """
import glob
found = []
for path in glob.glob("/proc/[0-9]*/environ"):
    try:
        found.append("hf_secret" in open(path, errors="replace").read())
    except OSError:
        pass
return any(found)
"""
    assert CodeExec("assert probe() is False", isolation="bubblewrap")({"final_text": _probe(body)})["reward"] == 1.0


SOCKET = """
import socket
listener = socket.socket()
listener.settimeout(1)
try:
    listener.connect(("127.0.0.1", {port}))
    return True
except OSError:
    return False
"""


@pytest.fixture
def port():
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_no_network_with_bubblewrap(bubblewrapped, port):
    judge = CodeExec("assert probe() is False", isolation="bubblewrap")
    assert judge({"final_text": _probe(SOCKET.format(port=port))})["reward"] == 1.0


def test_a_plain_process_has_the_network_and_says_so(port):
    judge = CodeExec("assert probe() is True", isolation="process")
    assert judge({"final_text": _probe(SOCKET.format(port=port))})["reward"] == 1.0
    assert "Without bubblewrap the program can use the network" in CodeExec.__doc__


def test_files_of_the_machine_are_invisible_with_bubblewrap(bubblewrapped, tmp_path):
    (tmp_path / "secret").write_text("x")
    places = ["/etc/passwd", "/home", str(tmp_path / "secret"), __file__]
    body = f"import os\nreturn [place for place in {places!r} if os.path.exists(place)]"
    assert CodeExec("assert probe() == []", isolation="bubblewrap")({"final_text": _probe(body)})["reward"] == 1.0


def test_huge_output_of_a_program(run):
    program = "while True: print('x' * 1000)"
    verdict = run(program, [{"input": "", "output": "x"}], timeout=20)
    assert verdict["reward"] == 0.0
    assert "ended with" in verdict["reason"] or "printed more" in verdict["reason"]


def test_output_beyond_what_is_read(run):
    verdict = run("print('x' * 3_000_000)", [{"input": "", "output": "x"}])
    assert "printed more than 1000000 bytes" in verdict["reason"]


def test_huge_output_of_a_function(run):
    program = "def f():\n    for _ in range(200_000): print('x' * 1000)\n    return 1"
    assert run(program, "assert f() == 1", timeout=20)["reward"] == 1.0


def test_huge_value(run):
    verdict = run("def f(): return 'x' * 40_000_000", "assert len(f()) == 1", timeout=20)
    assert verdict["reward"] == 0.0


@linux
def test_files_have_a_largest_size(run):
    body = """
try:
    with open("big", "wb") as file:
        for _ in range(100):
            file.write(bytes(1024 * 1024))
except OSError:
    return True
return False
"""
    assert run(_probe(body), "assert probe()", timeout=20)["reward"] == 1.0


@pytest.mark.parametrize("code", [0, pytest.param(1, marks=pytest.mark.slow), 7])
def test_exit_codes(run, code):
    program = f"import sys\nprint('done')\nsys.exit({code})"
    assert run(program, [{"input": "", "output": "done"}])["reward"] == float(code == 0)
    assert run(program, [{"input": "", "output": "done", "exit_code": 7}])["reward"] == float(code == 7)


@pytest.mark.parametrize(
    "ending", ["raise ValueError", "exit(3)", "import os; os._exit(2)", "import os; os.kill(os.getpid(), 9)"]
)
def test_a_program_that_ends_badly_fails_although_it_printed_the_answer(run, ending):
    assert run(f"print(3, flush=True)\n{ending}", [{"input": "1 2", "output": "3"}])["reward"] == 0.0


def test_sandbox_that_does_not_start_is_no_verdict(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(JudgeError, match="nothing was judged"):
        CodeExec("assert f()", isolation="process")({"final_text": "f = 1"})


def test_sandbox_without_its_limits_is_no_verdict():
    impossible = Limits(memory_mb=2)
    with pytest.raises(JudgeError, match="MemoryError"):
        LocalRunner("process")("f = 1", read_suite("assert f"), impossible)


def test_root_needs_bubblewrap(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(commands, "bubblewrap_works", lambda: "bwrap is not installed")
    with pytest.raises(ConfigurationError, match="not run as root without bubblewrap"):
        CodeExec("assert f()")
    with pytest.raises(ConfigurationError, match="isolation='bubblewrap' cannot be had"):
        CodeExec("assert f()", isolation="bubblewrap")
    CodeExec("assert f()", isolation="process")
    CodeExec("assert f()", runner=lambda code, tests, limits: None)


def test_others_fall_back_to_a_process(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(commands, "bubblewrap_works", lambda: "bwrap is not installed")
    assert commands.resolve("auto") == "process"
    with pytest.raises(ConfigurationError, match="isolation='docker' is unknown"):
        commands.resolve("docker")


def test_travels_to_other_processes():
    judge = CodeExec("assert f() == 1", isolation="process", timeout=9)
    again = pickle.loads(pickle.dumps(judge))
    assert again({"final_text": "def f(): return 1"})["reward"] == 1.0
    assert again.limits.timeout == 9
