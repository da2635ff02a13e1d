"""Habits of the code base that a reader relies on and a linter does not check."""

import ast
import re
import subprocess
from pathlib import Path

import pytest


REPO = Path(__file__).parents[2]

# Calls that decode or rebuild a whole Dataset row by row: 300 to 470 microseconds a row, and types get lost.
SLOW_CALLS = {"to_list", "to_pandas", "from_list", "from_generator", "from_pandas"}

# Documentation a stranger can read. Package indexes and anything internal are not for the repository.
PUBLIC_HOSTS = re.compile(
    r"(www\.apache\.org|www\.w3\.org|arxiv\.org|([\w-]+\.)*huggingface\.co|json-schema\.org|github\.com|([\w-]+\.)*example(\.\w+)?"
    r"|[\w.-]+\.invalid|localhost|127\.0\.0\.1)"
)
MACHINE_PATH = re.compile(r"(^|[^A-Za-z0-9_.])/(work|farm|root)/", re.MULTILINE)


def _tracked():
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=REPO, capture_output=True, text=True
    )
    if listing.returncode:
        pytest.skip("not a git checkout")
    for name in listing.stdout.splitlines():
        path = REPO / name
        if path.is_file() and path.suffix not in (".parquet", ".arrow"):
            yield name, path.read_text(encoding="utf-8", errors="replace")


def test_only_rows_reads_decoded_rows(sources):
    """Elsewhere rows are read through `view`: raw Arrow, one column at a time."""
    found = []
    for source in sources:
        place = source.name
        if place.startswith("rows/"):
            continue
        for node in source.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SLOW_CALLS:
                found.append(f"{place}:{node.lineno} calls .{node.func.attr}()")
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found += [f"{place}:{line} walks a Dataset" for line in _dataset_walks(node)]
    assert not found


def _dataset_walks(function):
    arguments = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    datasets = {arg.arg for arg in arguments if arg.annotation and ast.unparse(arg.annotation) == "Dataset"}
    for node in ast.walk(function):
        if isinstance(node, ast.For | ast.comprehension) and isinstance(node.iter, ast.Name):
            if node.iter.id in datasets:
                yield node.iter.lineno
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in datasets:
            named_column = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
            if not named_column:
                yield node.lineno


def test_no_error_is_swallowed(sources):
    broad = []
    for source in sources:
        for node in source.nodes:
            if not isinstance(node, ast.ExceptHandler):
                continue
            catches_all = node.type is None or ast.unparse(node.type) in ("Exception", "BaseException")
            if catches_all and all(isinstance(step, ast.Pass | ast.Continue) for step in node.body):
                broad.append(f"{source.name}:{node.lineno}")
    assert not broad


def test_random_choices_go_through_rng(sources):
    """The generators of the standard library share their state between callers and threads."""
    found = []
    for source in sources:
        for node in source.nodes:
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                names = [node.module] if isinstance(node, ast.ImportFrom) else []
            if source.name != "rows/rng.py" and "random" in names:
                found.append(f"{source.name}:{node.lineno}")
    assert not found


def test_no_machine_paths():
    found = [name for name, text in _tracked() if MACHINE_PATH.search(text)]
    assert not found


def test_no_private_hosts():
    found = [
        f"{name}: {host}"
        for name, text in _tracked()
        if "/labelled/" not in name  # invented conversations, whose hosts are as invented
        for host in re.findall(r"https?://(?:\w+:\w+@)?([\w.-]+)", text)
        if not PUBLIC_HOSTS.fullmatch(host)
    ]
    assert not found


def test_nothing_is_left_open(sources):
    marks = re.compile(r"\b(TODO|FIXME|XXX)\b")
    found = [source.name for source in sources if marks.search(source.text)]
    assert not found


def test_guide_for_engineers_stays_short():
    assert len((REPO / "AGENTS.md").read_text(encoding="utf-8").splitlines()) <= 60
