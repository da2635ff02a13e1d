"""The process that holds the tests: runs them one after the other and says how many passed.

It is the only one that knows the tests and the only one that writes the result. Nothing the candidate does ends in
"no verdict": that is left for tests which cannot be run at all.
"""

from __future__ import annotations

import io
import sys
import types
from collections.abc import Iterator

from whileai_hf.score.verify.code.guest.peer import CANDIDATE_FILE, GoneError, Peer, UnsupportedError
from whileai_hf.score.verify.code.guest.plan import Plan, broken, plan_of
from whileai_hf.score.verify.code.guest.standins import known_as, stand_in


TYPE_CHECKING = False  # as in `typing`, whose import would be a sixth of the time a sandbox takes to start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_MODULE = CANDIDATE_FILE.removesuffix(".py")
# Places of what the worker lends before it is asked: the candidate's module, and running it.
_CANDIDATE, _RUN = 0, 1
# Under these names tests import the candidate.
_ALIASES = (_MODULE, "candidate")
# Modules whose functions only compute.
_COMPUTING = frozenset({"math", "cmath", "operator", "_operator", "itertools"})
_READABLE = (io.StringIO, io.BytesIO)


class _Candidate(types.ModuleType):
    """The candidate as a module: its names are looked up over there, when they are used."""

    def __init__(self, peer: Peer, names: list[str]) -> None:
        super().__init__(_MODULE)
        vars(self).update(_peer=peer, __all__=[name for name in names if not name.startswith("_")])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return known_as(name, vars(self)["_peer"].request("get", _CANDIDATE, name))


def _is_of_tests(value: Any) -> bool:
    kind = value if isinstance(value, type | types.FunctionType) else type(value)
    return kind.__module__ == "tests"


def _guard(target: Any, operation: str, name: str) -> None:
    """What the candidate may do with what a test handed to it: use it, not look behind it."""
    if isinstance(target, types.MethodType):
        allowed = operation in ("call", "lend") and _is_of_tests(target.__self__)
    elif isinstance(target, types.BuiltinFunctionType):
        owner = target.__self__
        computes = target.__module__ in _COMPUTING or isinstance(owner, str | list | dict | set | tuple | bytes)
        allowed = operation in ("call", "lend") and computes
    elif isinstance(target, types.FunctionType):
        allowed = operation in ("call", "lend") and _is_of_tests(target)
    elif isinstance(target, Iterator):
        allowed = (operation, name) in (("operate", "__next__"), ("operate", "__iter__"), ("lend", ""))
    elif _is_of_tests(target) or isinstance(target, _READABLE):
        allowed = operation in ("call", "operate", "instance", "lend") or not name.startswith("_")
    else:
        allowed = False
    if not allowed:
        raise TypeError(f"a {type(target).__name__} of the tests cannot be handed to the candidate's process")


class _Examination:
    """Running tests and counting."""

    def __init__(self, plan: Plan, peer: Peer, keep_going: bool) -> None:
        self._plan, self._keep_going = plan, keep_going
        self._candidate = _Candidate(peer, [])
        self._peer = peer
        self.passed, self.done = 0, 0
        self.first: str | None = None

    def run(self) -> None:
        namespace = self._namespace()
        for step in self._plan.steps:
            if step.test:
                if not self._test(lambda code=step.code: exec(code, namespace)):  # type: ignore[misc]
                    return
            elif not self._set_up(step.code, namespace):
                return
        for name, test in self._collected(namespace):
            if not self._test(test, name):
                return

    def _namespace(self) -> dict[str, Any]:
        module = types.ModuleType("tests")
        sys.modules["tests"] = module
        namespace = vars(module)
        names = self._peer.request("names", _CANDIDATE)
        self._candidate = _Candidate(self._peer, [str(name) for name in names])
        sys.modules.update(dict.fromkeys(_ALIASES, self._candidate))
        for name in set(map(str, names)) & self._plan.names:
            namespace[name] = known_as(name, self._peer.request("get", _CANDIDATE, name))
        return namespace

    def _set_up(self, code: types.CodeType, namespace: dict[str, Any]) -> bool:
        try:
            exec(code, namespace)
        except UnsupportedError:
            raise
        except BaseException as error:  # a program nobody vouches for was part of it
            self.first = self.first or f"the tests could not start: {_what(error)}"
            return False
        return True

    def _test(self, test: Callable[[], Any], name: str | None = None) -> bool:
        """Runs a test; says whether to go on."""
        self.done += 1
        gone = False
        try:
            outcome = test()
            if isinstance(outcome, types.CoroutineType):
                import asyncio  # a third of the start-up time, and hardly ever needed

                asyncio.run(outcome)
            self.passed += 1
            return True
        except UnsupportedError:
            raise
        except BaseException as error:  # an assertion, or whatever the candidate raised
            gone = isinstance(error, GoneError)
            self.first = self.first or f"test {self.done} of {self._plan.total} failed: {_what(error)}"
        return self._keep_going and not gone

    def _collected(self, namespace: dict[str, Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
        for name in self._plan.functions:
            yield name, namespace[name]
        for name, methods in self._plan.classes.items():
            for method in methods:
                yield f"{name}.{method}", _method_test(namespace[name], method)


def _method_test(kind: Any, method: str) -> Callable[[], Any]:
    if "unittest" not in sys.modules or not issubclass(kind, sys.modules["unittest"].TestCase):

        def plain() -> Any:
            instance = kind()
            if "setup_method" in vars(kind):
                instance.setup_method()
            return getattr(instance, method)()

        return plain

    def case() -> None:
        result = sys.modules["unittest"].TestResult()
        kind(method).run(result)
        # A test that was skipped has shown nothing.
        if result.errors or result.failures or result.skipped or result.expectedFailures or not result.testsRun:
            raise AssertionError(method)

    return case


def _what(error: BaseException) -> str:
    """What happened, without a word of the tests: the reason stays on the row, the tests must not."""
    if isinstance(error, GoneError):
        return "the candidate's process ended or sent nonsense"
    if isinstance(error, AssertionError):
        return "AssertionError"
    line = vars(error).get("candidate_line")
    return f"{type(error).__name__}" + (f" in line {line} of the candidate" if isinstance(line, int) else "")


def _missing_imports(plan: Plan) -> str | None:
    for name in plan.imports:
        if name in _ALIASES or name in sys.modules:
            continue
        from importlib.util import find_spec  # not loaded for the many tests that import nothing

        if find_spec(name) is None:
            return f"the tests import {name!r}, which is not installed where they run"
    return None


def _calls_plan(entry: str, pairs: list[Any], look_up: Callable[[str], Any]) -> Iterator[Callable[[], None]]:
    for arguments, expected in pairs:

        def check(arguments: Any = arguments, expected: Any = expected) -> None:
            if _listed(look_up(entry)(*arguments)) != _listed(expected):
                raise AssertionError

        yield check


def _listed(value: Any) -> Any:
    """Tuples as lists, which is all that JSON knows."""
    if type(value) in (list, tuple):
        return [_listed(item) for item in value]
    return {key: _listed(item) for key, item in value.items()} if type(value) is dict else value


def examine(reading: int, writing: int, order: dict[str, Any]) -> dict[str, Any]:
    """
    Runs the tests.

    Args:
        reading (`int`), writing (`int`):
            Pipes from and to the worker.
        order (`dict`):
            `sources` (texts), or `calls` with `entry`; `entry` for tests that define `check`; `partial`.

    Returns:
        `dict`: `passed`, `total`, `reason`; or `broken` with what is wrong with the tests.
    """
    calls = order.get("calls")
    try:
        plan = Plan(len(calls)) if calls else plan_of(order["sources"], order.get("entry"))
    except (SyntaxError, ValueError, RecursionError) as error:
        return broken(str(error))
    missing = _missing_imports(plan)
    if missing:
        return broken(missing)
    peer = Peer(reading, writing, stand_in, _guard, picky=True)
    examination = _Examination(plan, peer, bool(order.get("partial")))
    try:
        peer.request("call", _RUN)
    except BaseException as error:  # the candidate is no program that runs
        return {"passed": 0, "total": plan.total, "reason": f"the candidate does not run: {_what(error)}"}
    try:
        if calls:
            _run_calls(examination, peer, order["entry"], calls)
        else:
            examination.run()
    except UnsupportedError as error:
        return broken(str(error))
    except GoneError as error:
        examination.first = examination.first or _what(error)
    return {"passed": examination.passed, "total": plan.total, "reason": examination.first}


def _run_calls(examination: _Examination, peer: Peer, entry: str, calls: list[Any]) -> None:
    names = peer.request("names", _CANDIDATE)

    def look_up(name: str) -> Any:
        if name not in names and "Solution" in names:  # the form in which a well-known site asks for answers
            return getattr(peer.request("get", _CANDIDATE, "Solution")(), name)
        return peer.request("get", _CANDIDATE, name)

    for check in _calls_plan(entry, calls, look_up):
        if not examination._test(check):
            return
