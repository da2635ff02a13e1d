"""Records, recorders and alarms load without a trainer; of the callbacks each needs its own."""

import importlib.util
import subprocess
import sys

import pytest


LIGHT = ("runs", "recorder", "measured", "monitor", "monitor.alarms", "monitor.report", "monitor.wiring")


def test_nothing_else_imports_a_trainer():
    if importlib.util.find_spec("torch") is None:
        pytest.skip("there is nothing here that could be imported")
    program = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n"
        "    importlib.import_module(f'whileai_hf.training.{name}')\n"
        "    heavy = {'torch', 'transformers', 'trl', 'accelerate', 'trackio'} & set(sys.modules)\n"
        "    assert not heavy, (name, heavy)"
    )
    done = subprocess.run([sys.executable, "-c", program, *LIGHT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
