"""What a program may try to pass tests it does not solve: read them, end them, patch them, fake their result."""

import os

import pytest

from whileai_hf.score.verify.code import CodeExec


ADD = "assert add(1, 2) == 3\nassert add(2, 2) == 4"

EQUAL = """
class Equal:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    def __le__(self, other): return True
    def __gt__(self, other): return True
    def __ge__(self, other): return True
    def __hash__(self): return hash(3)
    def __sub__(self, other): return 0
    def __rsub__(self, other): return 0
    def __abs__(self): return 0
    def __contains__(self, other): return True
    def __bool__(self): return True
    def __float__(self): return 0.0
    def __round__(self, digits=0): return 0
    def __instancecheck__(self, other): return True
"""


def _kind(base, method="def __eq__(self, other): return True\n    __hash__ = None"):
    return f"class Equal({base}):\n    {method}\ndef add(a, b): return Equal()"


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(EQUAL + "def add(a, b): return Equal()", id="equal object"),
        pytest.param(EQUAL + "add = Equal", id="equal class"),
        pytest.param(EQUAL.replace("class Equal", "class add") + "    def __init__(*_): pass", id="class so named"),
        pytest.param(_kind("int"), id="equal int"),
        pytest.param(_kind("str"), id="equal str", marks=pytest.mark.slow),
        pytest.param(_kind("tuple"), id="equal tuple", marks=pytest.mark.slow),
        pytest.param(
            "from unittest.mock import ANY, MagicMock\ndef add(a, b): return ANY",
            id="mock any",
            marks=pytest.mark.slow,
        ),
        pytest.param("from unittest.mock import MagicMock\nadd = MagicMock()", id="magic mock"),
        pytest.param("import sys; sys.exit(0)", id="exit"),
        pytest.param("import os; os._exit(0)", id="hard exit"),
        pytest.param("def add(a, b):\n    import sys\n    sys.exit(0)", id="exit when called"),
        pytest.param("def add(a, b):\n    import os\n    os._exit(0)", id="hard exit when called"),
        pytest.param("def add(a, b): raise SystemExit(0)", id="raise exit", marks=pytest.mark.slow),
        pytest.param(
            "import atexit, os\natexit.register(os._exit, 0)\ndef add(a, b): raise KeyboardInterrupt", id="hook"
        ),
        pytest.param("def add(a, b): raise StopIteration", id="stop iteration", marks=pytest.mark.slow),
        pytest.param("def add(a, b): raise GeneratorExit", id="generator exit"),
        pytest.param("print('ok', 'passed', '2 passed', '{\"passed\": 2, \"total\": 2}')", id="prints success"),
        pytest.param(
            "import os, json\nd = json.dumps({'passed': 2, 'total': 2, 'reason': None}).encode()\n"
            "m = len(d).to_bytes(8, 'big') + d\n"
            "for fd in range(64):\n    try: os.write(fd, m)\n    except OSError: pass\n",
            id="writes the result to every descriptor",
        ),
        pytest.param(
            "import os, json\ndef add(a, b):\n    d = json.dumps({'passed': 2, 'total': 2}).encode()\n"
            "    for fd in range(64):\n        try: os.write(fd, len(d).to_bytes(8, 'big') + d)\n"
            "        except OSError: pass\n",
            id="writes it when called",
        ),
        pytest.param(
            "import builtins, sys\nbuiltins.AssertionError = type('E', (BaseException,), {})\n"
            "builtins.exec = builtins.compile = lambda *a: None\nbuiltins.len = lambda x: 3\n"
            "sys.excepthook = lambda *a: None\nsys.exit = lambda *a: None\ndef add(a, b): return None",
            id="patches built-ins",
        ),
        pytest.param(
            "import ctypes\ndef add(a, b):\n    return 0\n"
            "class Any(int): pass\ntry:\n    ctypes.pythonapi\nexcept Exception: pass",
            id="ctypes",
        ),
        pytest.param(
            "import os, signal\ndef add(a, b):\n    os.kill(os.getppid(), signal.SIGKILL)\n    return 0",
            id="kills its parent",
        ),
        pytest.param("import sys\nsys.setrecursionlimit(10**6)\ndef add(a, b): return add(a, b)", id="recursion"),
        pytest.param("def add(a, b):\n    x = []\n    x.append(x)\n    return x", id="endless value"),
        pytest.param(
            "def add(a, b):\n    x = []\n    for _ in range(100_000): x = [x]\n    return x", id="deep value"
        ),
    ],
)
def test_does_not_pass(program, quick):
    verdict = quick(program, ADD, timeout=1)
    assert verdict["reward"] == 0.0, verdict


@pytest.mark.parametrize("isolation", ["process", "bubblewrap"], indirect=True)
def test_killing_whatever_can_be_killed(run, isolation):
    if isolation == "process" and os.geteuid() != 0:
        pytest.skip("a plain process can kill other processes of its user, this one among them")
    program = """
import os
def add(a, b):
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in (1, os.getpid()):
            try:
                os.kill(int(name), 9)
            except OSError:
                pass
    return 0
"""
    assert run(program, ADD)["reward"] == 0.0


@pytest.mark.parametrize("arithmetic", ["return 0\n", "return self\n"])
def test_no_operator_lets_an_object_pass_for_a_number(arithmetic, quick):
    tests = [
        "assert abs(f() - 3) < 1e-6",
        "assert -1e-6 < f() - 3 < 1e-6",
        "assert f() <= 3 and f() >= 3",
        "import math\nassert math.isclose(f(), 3)",
        "assert f() in (3,)",
        "assert f() in {3}",
        "assert 3 in f()",
        "assert round(f() - 3) == 0",
        "assert not f() != 3",
        "assert [f()] == [3]",
        "assert {'x': f()} == {'x': 3}",
        "assert isinstance(f(), int)",
        "assert f() is True",
        "assert str(f()) == '3'",
        "import unittest\nclass A(unittest.TestCase):\n    def test(self): self.assertAlmostEqual(f(), 3)",
        "import unittest\nclass B(unittest.TestCase):\n    def test(self): self.assertEqual(f(), 3)",
        "import unittest\nclass C(unittest.TestCase):\n    def test(self): self.assertIn(3, f())",
    ]
    verdict = quick(EQUAL.replace("return 0\n", arithmetic) + "def f(): return Equal()", tests, partial=True)
    assert (verdict["tests_passed"], verdict["tests_total"]) == (0, len(tests)), verdict


def test_skipping_a_test_is_no_way_to_pass_it(quick):
    tests = "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(f(), 3)"
    assert quick("import unittest\ndef f(): raise unittest.SkipTest('x')", tests)["reward"] == 0.0
    assert quick("import unittest\nraise unittest.SkipTest('x')", tests)["reward"] == 0.0


SECRET = "secret_expectation_7361"


@pytest.mark.parametrize(
    "body",
    [
        "import sys, gc\nreturn any(isinstance(o, (str, bytes)) and S in str(o) for o in gc.get_objects())",
        "import sys\nf = sys._getframe()\nseen = ''\n"
        "while f:\n    seen += repr(f.f_globals) + repr({k: v for k, v in f.f_locals.items() if k != 'S'})\n"
        "    f = f.f_back\nreturn S in seen",
        "import sys\nreturn S in ' '.join(sys.argv) + open('/proc/self/cmdline').read()",
        "import os\nreturn S in repr(dict(os.environ))",
        "import os\nfound = ''\nfor root, _, names in os.walk('.'):\n"
        "    for n in names: found += open(os.path.join(root, n), errors='replace').read()\nreturn S in found",
        "import os\nfound = b''\nfor fd in range(64):\n    try:\n        os.set_blocking(fd, False)\n"
        "        found += os.read(fd, 10**6)\n    except OSError: pass\nreturn S.encode() in found",
        "import sys\nreturn S in repr({k: vars(m) for k, m in sys.modules.items() if k != __name__})",
        "import inspect\nreturn any(S in str(f) for f in inspect.stack())",
        # Never spells the secret out, which would be found in this program's own memory.
        "for line in open('/proc/self/maps'):\n    a, perms = line.split()[:2]\n    if 'r' not in perms:\n"
        "        continue\n    lo, hi = (int(x, 16) for x in a.split('-'))\n"
        "    try:\n        m = open('/proc/self/mem', 'rb'); m.seek(lo); data = m.read(hi - lo)\n"
        "    except (OSError, ValueError, OverflowError): continue\n    at = data.find(b'secret_')\n"
        "    while at >= 0:\n        if data[at + 7:at + 18][::-1] == b'noitatcepxe': return True\n"
        "        at = data.find(b'secret_', at + 1)\nreturn False",
    ],
)
def test_the_tests_cannot_be_read(body, quick):
    lines = ["S = '1637_noitatcepxe_terces'[::-1]", *body.splitlines()]
    if "maps" in body:
        del lines[0]
    program = "def look():\n" + "\n".join("    " + line for line in lines)
    verdict = quick(program, f"expected = '{SECRET}'\nassert look() is False, expected", timeout=20)
    assert verdict["reward"] == 1.0, verdict


OTHERS = """
import glob, os
def look():
    needle = ("secret_" + "expectation" + "_7361").encode()
    for path in glob.glob("/proc/[0-9]*"):
        if path == f"/proc/{os.getpid()}" or os.stat(path).st_uid != os.getuid():
            continue
        for name in ("mem", "environ", "cmdline", "fd/0", "fd/3", "fd/4", "fd/5"):
            try:
                with open(f"{path}/{name}", "rb") as file:
                    if name != "mem":
                        os.set_blocking(file.fileno(), False)
                        if needle in (file.read(10**6) or b""):
                            return "found in " + name
                        continue
                    for line in open(f"{path}/maps"):
                        low, high = (int(x, 16) for x in line.split()[0].split("-"))
                        file.seek(low)
                        if needle in file.read(high - low):
                            return "found in memory"
            except (OSError, ValueError, OverflowError):
                continue
    return None
"""


@pytest.mark.parametrize("isolation", ["process", "bubblewrap"], indirect=True)
def test_the_process_with_the_tests_cannot_be_looked_into(run, isolation):
    if isolation == "process" and os.geteuid() != 0:
        pytest.skip("a plain process can look into other processes of its user, this one among them")
    tests = f"expected = '{SECRET}'\nassert look() is None, expected"
    assert run(OTHERS, tests, timeout=20)["reward"] == 1.0


def test_a_function_of_the_tests_shows_nothing_behind_it(quick):
    program = """
def f(callback):
    seen = []
    for name in "__globals__ __code__ __closure__ __self__ __class__ __dict__ gi_frame __wrapped__".split():
        try:
            seen.append(repr(getattr(callback, name)))
        except Exception:
            pass
    return callback(2), any("secret" in s for s in seen)
"""
    tests = f"secret = '{SECRET}'\ndef double(x):\n    return x * 2 if secret else 0\nassert f(double) == (4, False)"
    assert quick(program, tests)["reward"] == 1.0


def test_a_generator_of_the_tests_shows_nothing_behind_it(quick):
    program = """
def f(items):
    for name in ("gi_frame", "gi_code"):
        try:
            getattr(items, name)
            return "seen"
        except TypeError:
            pass
    return sum(items)
"""
    assert quick(program, "assert f(x for x in [1, 2]) == 3")["reward"] == 1.0


def test_printing_the_expected_output_without_solving(quick):
    pairs = [{"input": "1 2", "output": "3"}, {"input": "5 5", "output": "10"}]
    assert quick("print(3)", pairs)["reward"] == 0.0
    assert quick("print(3)", pairs, partial=True)["reward"] == 0.5
    assert quick("print(sum(map(int, input().split())))", pairs)["reward"] == 1.0


def test_expected_outputs_never_enter_the_sandbox(quick):
    program = """
import gc, glob, os
needle = "1637_noitatcepxe_terces"[::-1]
rest = [o for o in gc.get_objects() if isinstance(o, (str, dict, list)) and o is not globals()]
found = any(needle in str(o) for o in rest)
for path in glob.glob("*"):
    found = found or needle in open(path).read()
print(needle if found else "nothing")
"""
    verdict = quick(program, [{"input": "", "output": SECRET}], timeout=20)
    assert verdict["reason"] == "test 1 of 1 failed: another output than expected"


def test_reasons_do_not_quote_the_tests():
    judge = CodeExec(f"assert f('{SECRET}') == 'other', 'message {SECRET}'", isolation="process")
    for program in ("def f(x): return x", "def f(x): raise ValueError(x)", "def f(x): return g(x)", "f ="):
        verdict = judge({"final_text": program})
        assert verdict["reward"] == 0.0
        assert SECRET not in str(verdict)


def test_writing_to_its_own_files_carries_nothing_over(quick):
    """A program that remembers inputs between runs learns inputs only."""
    program = """
import os
line = input()
seen = open("seen").read() if os.path.exists("seen") else ""
open("seen", "a").write(line)
print(seen)
"""
    pairs = [{"input": "a", "output": ""}, {"input": "b", "output": "b"}]
    assert quick(program, pairs)["reward"] == 0.0
