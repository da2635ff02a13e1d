"""What in a text of tests is a test: read from the syntax, before anything runs."""

from __future__ import annotations

import ast


TYPE_CHECKING = False  # as in `typing`, whose import would be a sixth of the time a sandbox takes to start
if TYPE_CHECKING:
    import types
    from typing import Any

_TEST_FILE = "tests.py"
_BLOCKS = (ast.For, ast.While, ast.With, ast.Try, ast.If, ast.AsyncFor, ast.AsyncWith)
_RUNNERS = frozenset({"unittest", "pytest"})


class Step:
    """A statement of the tests, and whether it is a test or prepares one."""

    def __init__(self, code: types.CodeType, test: bool) -> None:
        self.code, self.test = code, test


class Plan:
    """What to do: the steps in order, then the functions and the methods of the classes; and what the tests use."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.steps: list[Step] = []
        self.functions: list[str] = []
        self.classes: dict[str, list[str]] = {}
        self.names: set[str] = set()
        self.imports: list[str] = []


def broken(what: str) -> dict[str, Any]:
    """The result of tests that cannot be run."""
    return {"broken": what}


def _asserts(node: ast.AST) -> bool:
    return any(isinstance(inner, ast.Assert | ast.Raise) or _is_assertion(inner) for inner in ast.walk(node))


def _is_assertion(node: ast.AST) -> bool:
    """A call such as `self.assertEqual(...)`, `numpy.testing.assert_allclose(...)` or `pytest.raises(...)`."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    name = node.func.id if isinstance(node.func, ast.Name) else name
    return name.startswith("assert") or name in ("fail", "raises", "assertRaises")


def _required(function: ast.FunctionDef | ast.AsyncFunctionDef, bound: int) -> int:
    arguments = function.args
    positional = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults) - bound
    return max(positional, 0) + sum(default is None for default in arguments.kw_defaults)


def _callable(function: ast.FunctionDef | ast.AsyncFunctionDef, bound: int = 0) -> bool:
    if not function.name.startswith("test"):
        return False
    if _required(function, bound):
        raise ValueError(f"{function.name} takes arguments; fixtures and parameters of pytest are not supported")
    return True


def _called(node: ast.stmt) -> str | None:
    """The name a statement calls, when it is nothing but a call."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name):
        return node.value.func.id
    return None


def _starts_runner(node: ast.stmt) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    function = call.func if isinstance(call, ast.Call) else None
    owner = function.value if isinstance(function, ast.Attribute) and function.attr == "main" else None
    return isinstance(owner, ast.Name) and owner.id in _RUNNERS


def _is_test(node: ast.stmt, own: set[str]) -> bool:
    if isinstance(node, ast.Assert):
        return True
    return (isinstance(node, _BLOCKS) and _asserts(node)) or _called(node) in own or _is_bare_assertion(node)


def _is_bare_assertion(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and _is_assertion(node.value)


def plan_of(sources: list[str], entry: str | None = None) -> Plan:
    """
    Reads texts of tests.

    Args:
        sources (`list[str]`):
            Python source; the statements of all texts run one after the other in one namespace.
        entry (`str`, *optional*):
            The candidate's function, for tests that define `check(candidate)` and never call it.

    Raises:
        SyntaxError: When a text is no Python.
        ValueError: When nothing in it is a test, or a test cannot be called.

    Examples:
    ```python
    >>> plan_of(["import math", "assert f(1) == 2", "assert f(2) == 3"]).total
    2

    ```
    """
    nodes = [node for source in sources for node in ast.parse(source, _TEST_FILE).body]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    own = {function.name for function in functions}
    called = {name for name in map(_called, nodes) if name}
    if "check" in own and "check" not in called and not any(name.startswith("test") for name in own):
        if not entry:
            raise ValueError("the tests define check(candidate) and do not say which function is the candidate")
        nodes += ast.parse(f"check({entry})", _TEST_FILE).body
    steps = [
        Step(compile(ast.Module([node], []), _TEST_FILE, "exec"), _is_test(node, own))
        for node in nodes
        if not _starts_runner(node)
    ]
    classes = {node.name: _methods(node) for node in nodes if isinstance(node, ast.ClassDef) and _methods(node)}
    collected = [node.name for node in functions if node.name not in called and _callable(node)]
    total = sum(step.test for step in steps) + len(collected) + sum(map(len, classes.values()))
    if not total or not any(map(_asserts, nodes)):
        raise ValueError("nothing in the tests can fail: no assert and no test function")
    walked = [inner for node in nodes for inner in ast.walk(node)]
    plan = Plan(total)
    plan.steps, plan.classes, plan.functions, plan.imports = steps, classes, collected, _imports(nodes)
    plan.names = {inner.id for inner in walked if isinstance(inner, ast.Name)}
    return plan


def _methods(node: ast.ClassDef) -> list[str]:
    is_case = any("TestCase" in ast.unparse(base) for base in node.bases)
    if not is_case and not node.name.startswith("Test"):
        return []
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return sorted(inner.name for inner in node.body if isinstance(inner, kinds) and _callable(inner, bound=1))


def _imports(nodes: list[ast.stmt]) -> list[str]:
    roots: list[str] = []
    for node in nodes:
        if isinstance(node, ast.Import):
            roots += [alias.name.partition(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            roots.append(node.module.partition(".")[0])
    return roots
