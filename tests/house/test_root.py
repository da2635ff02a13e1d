"""The lazy root: what it costs, what it names, and that no import can shadow a name."""

import importlib
import pkgutil
import re
import resource
import subprocess
import sys
from pathlib import Path
from types import ModuleType

from guests import homeless, module_of

import whileai_hf as wai


HEAVY = ("datasets", "numpy", "torch", "transformers", "trl", "pyarrow", "huggingface_hub")
MOST_NAMES = 45
IMPORT_SECONDS = 0.060
HELP_SECONDS = 0.300
MODULES_BY_NAME = {"verify"}


def _run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def _children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _fastest(code: str, times: int = 7) -> float:
    """CPU seconds of the fastest of several runs; wall time would measure what else the machine is doing."""
    found = []
    for _ in range(times):
        before = _children_seconds()
        _run(code)
        found.append(_children_seconds() - before)
    return min(found)


def test_import_is_light():
    loaded = _run(f"import whileai_hf, sys; print([m for m in {HEAVY} if m in sys.modules])")
    assert loaded.strip() == "[]"


def test_import_is_fast():
    assert _fastest("import whileai_hf") - _fastest("pass") < IMPORT_SECONDS


def test_help_is_light_and_fast():
    code = (
        "import sys, whileai_hf.cli as c\n"
        "try: c.main(['simulate', '--help'])\n"
        "except SystemExit: pass\n"
        f"print([m for m in {HEAVY} if m in sys.modules], file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert result.stderr.strip() == "[]"
    assert _fastest("import whileai_hf.cli as c\ntry: c.main(['--help'])\nexcept SystemExit: pass", 5) < HELP_SECONDS


def test_every_name_loads():
    assert len(wai.__all__) <= MOST_NAMES
    assert set(wai.__all__) == {*wai._EXPORTS, "__version__"}
    for name in wai.__all__:
        assert getattr(wai, name) is getattr(wai, name)
    assert set(wai.__all__) <= set(dir(wai))
    assert not set(wai._ALSO) & {*wai._EXPORTS, *wai._ROOMS}
    for name in wai._ALSO:
        assert getattr(wai, name) is getattr(wai, name)


def test_type_checkers_see_the_same_names():
    source = Path(wai.__file__).read_text(encoding="utf-8")
    block = source[source.index("if TYPE_CHECKING:") : source.index("__version__ =")]
    assert {*wai._EXPORTS, *wai._ALSO} <= set(re.findall(r"\w+", block))
    rooms = block[block.index("(") : block.index(")\n    from")]
    assert set(wai._ROOMS) <= set(re.findall(r"\w+", rooms))


def test_rooms_are_attributes():
    code = "import whileai_hf as wai\nfor r in wai._ROOMS: assert getattr(wai, r).__name__ == 'whileai_hf.' + r"
    _run(code)


def test_unknown_name_is_an_attribute_error():
    assert not hasattr(wai, "simulat")


def test_functions_stay_functions():
    """A module of the same name must not take a function's place, in whatever order things are imported."""
    absent = set(map(module_of, homeless()))
    for module in pkgutil.walk_packages(wai.__path__, "whileai_hf."):
        if not module.name.endswith("__main__") and module.name not in absent:
            importlib.import_module(module.name)
    for name in (*wai.__all__, *wai._ALSO):
        value = getattr(wai, name)
        assert isinstance(value, ModuleType) == (name in MODULES_BY_NAME), name
    for room in wai._ROOMS:
        front = getattr(wai, room)
        shadowed = [
            name
            for name in getattr(front, "__all__", ())
            if isinstance(getattr(front, name), ModuleType) and name not in MODULES_BY_NAME
        ]
        assert not shadowed, room
