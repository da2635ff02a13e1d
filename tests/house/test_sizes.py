"""Caps on the size of files and functions: what outgrows them has more than one job."""

import ast
import statistics


MOST_LINES, P90_LINES, MEDIAN_LINES = 600, 400, 150
LONGEST_FUNCTION, P95_FUNCTION = 120, 60
MOST_PARAMETERS = 8


def _percentile(values, share):
    ordered = sorted(values)
    return ordered[int(share * (len(ordered) - 1))]


def _functions(sources):
    for source in sources:
        for node in source.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield source.name, node


def test_files(sources):
    lines = {source.name: source.text.count("\n") for source in sources}
    assert not [f"{path}: {count}" for path, count in lines.items() if count > MOST_LINES]
    assert _percentile(lines.values(), 0.9) <= P90_LINES
    assert statistics.median(lines.values()) <= MEDIAN_LINES


def test_functions(sources):
    lengths = {f"{path}:{node.name}": node.end_lineno - node.lineno + 1 for path, node in _functions(sources)}
    assert not [f"{name}: {count}" for name, count in lengths.items() if count > LONGEST_FUNCTION]
    assert _percentile(lengths.values(), 0.95) <= P95_FUNCTION


def test_parameters_of_public_functions(sources):
    wide = []
    for path, node in _functions(sources):
        if node.name.startswith("_") and node.name != "__init__":
            continue
        names = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        count = len([name for name in names if name not in ("self", "cls")])
        if count > MOST_PARAMETERS:
            wide.append(f"{path}:{node.name}: {count}; further knobs are fields of a config dataclass")
    assert not wide
