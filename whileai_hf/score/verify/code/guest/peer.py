"""Two processes that use each other's objects: plain values are copied, everything else stays where it is.

Calls go over a pair of pipes, one at a time; while one side waits for an answer it serves what the other asks in
between, so that a test can hand its own function to the candidate. Arguments that the callee changed in place are
changed in place on the caller's side too. Identity (`is`) of copied values is lost.
"""

from __future__ import annotations

import _thread
import builtins
import collections
import functools
import sys
import types
from collections.abc import Iterator

from whileai_hf.score.verify.code.guest.codec import decode, encode, refresh
from whileai_hf.score.verify.code.guest.frames import receive, send
from whileai_hf.score.verify.code.guest.operations import OPERATIONS


TYPE_CHECKING = False  # as in `typing`, whose import would be a sixth of the time a sandbox takes to start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar

    Guard = Callable[[Any, str, str], None]
    Build = Callable[["Peer", dict[str, Any]], Any]

CANDIDATE_FILE = "solution.py"
"""The file name in tracebacks of the candidate."""

_MUTABLE = (list, dict, set, bytearray, collections.deque)
_FUNCTIONS = (
    types.FunctionType,
    types.MethodType,
    types.BuiltinFunctionType,
    types.MethodWrapperType,
    functools.partial,
    functools._lru_cache_wrapper,
)
# Built-ins are the same on both sides and go by their names; those that reach code, files or frames do not go at all.
_KEPT = frozenset(
    "eval exec compile open input breakpoint exit quit help globals locals vars getattr setattr delattr type super "
    "memoryview copyright credits license".split()
)
_BUILT_INS: dict[str, Any] = {
    name: value for name, value in vars(builtins).items() if callable(value) and name[0] != "_" and name not in _KEPT
}
_BUILT_IN_NAMES = {id(value): name for name, value in _BUILT_INS.items()}
# Built-in types whose subclasses are handed over as the plain value they hold.
_BASES = (int, float, str, bytes, list, tuple, dict, set, frozenset)
# Characters kept of the message of an exception that can only be told as text.
_TEXT = 300


class GoneError(BaseException):
    """The other side has ended or talks nonsense; not an `Exception`, so that no test takes it for one of its own."""


class UnsupportedError(BaseException):
    """A test hands over something that cannot leave its process: the fault of neither test nor candidate."""


class Peer:
    """
    One end of the connection.

    Args:
        reading (`int`), writing (`int`):
            File descriptors of the pipes.
        build (`Callable`):
            Makes the stand-in of an object that lives on the other side.
        guard (`Callable`):
            Raises TypeError unless the other side may do `(object, operation, name)`.
        picky (`bool`):
            Whether the other side is not to be trusted: only that is lent which `guard` lets it use, and its objects
            are not asked what a test is there to find out.
    """

    def __init__(self, reading: int, writing: int, build: Build, guard: Guard, picky: bool) -> None:
        self._reading, self._writing = reading, writing
        self._build, self._guard, self.picky = build, guard, picky
        self._lent: list[Any] = []
        self._places: dict[int, int] = {}
        self._borrowed: dict[int, Any] = {}
        self._lock = _thread.RLock()  # `threading` takes ten times as long to import

    def lend(self, value: Any) -> dict[str, Any]:
        """A reference to an object that stays here."""
        if type(value) in Stand.kinds:  # it came from there
            return {"ref": value._place, "back": True}
        built_in = _BUILT_IN_NAMES.get(id(value))
        if built_in is not None:
            return {"ref": built_in, "kind": "builtin"}
        back = self._exception_place(value)
        if back is not None:
            return {"ref": back, "back": True}
        kind = _kind(value)
        if self.picky and kind != "exception":
            try:
                self._guard(value, "lend", "")
            except TypeError as error:
                raise UnsupportedError(str(error)) from None
        if id(value) not in self._places:
            self._places[id(value)] = len(self._lent)
            self._lent.append(value)
        named = value if isinstance(value, type) else type(value)
        name = value.__name__ if isinstance(value, types.FunctionType) else named.__name__
        ref = {"ref": self._places[id(value)], "kind": kind, "name": str(name)}
        if kind == "exception":
            ref["bases"] = _lineage(value)
        return ref

    def _exception_place(self, value: Any) -> int | None:
        if isinstance(value, type) and issubclass(value, BaseException):
            return next((place for place, known in self._borrowed.items() if known is value), None)
        return None

    def _other(self, value: Any) -> Any:
        for base in _BASES if type(value) not in Stand.kinds and not _is_member(value) else ():
            if isinstance(value, base):
                return self.encode(_plain(base, value))
        return self.lend(value)

    def encode(self, value: Any) -> Any:
        """A value for the other side."""
        return encode(value, self._other)

    def _resolve(self, ref: dict[str, Any]) -> Any:
        place = ref["ref"]
        if ref.get("back"):
            return self._lent[place]
        if ref.get("kind") == "builtin":
            return _BUILT_INS[place]
        if place not in self._borrowed or ref.get("kind") == "coroutine":
            self._borrowed[place] = self._build(self, ref)
        return self._borrowed[place]

    def decode(self, data: Any) -> Any:
        """
        A value of the other side.

        Raises:
            GoneError: When it is none.
        """
        try:
            return decode(data, self._resolve)
        except Exception as error:  # whatever is wrong with it, it is wrong with the sender
            raise GoneError(f"sent something that is no value ({type(error).__name__})") from error

    def request(self, operation: str, place: int, name: str = "", args: Any = (), kwargs: Any = None) -> Any:
        """
        Has the other side do something with an object that lives there.

        Raises:
            GoneError: When the other side has ended.
        """
        with self._lock:
            arguments = [*args, *(kwargs or {}).values()]
            message = {
                "do": operation,
                "on": place,
                "name": name,
                "args": [self.encode(value) for value in arguments],
                "keys": list(kwargs or {}),
            }
            try:
                send(self._writing, message)
                while "do" in (reply := self._receive()):
                    self._serve(reply)
            except (EOFError, OSError, ValueError, RecursionError) as error:
                raise GoneError(str(error) or type(error).__name__) from error
            for index, data in reply.get("changed", ()):
                refresh(arguments[index], self.decode(data))
            if "raised" in reply:
                raise self._exception(reply["raised"])
            return self.decode(reply.get("value"))

    def _receive(self) -> dict[str, Any]:
        message = receive(self._reading)
        if not isinstance(message, dict):
            raise ValueError("a message that is no mapping")
        return message

    def serve(self) -> None:
        """Answers until the other side has ended."""
        while True:
            try:
                message = self._receive()
            except EOFError:
                return
            self._serve(message)

    def _serve(self, message: dict[str, Any]) -> None:
        arguments: list[Any] = []
        before: dict[int, Any] = {}
        answer: dict[str, Any]
        try:
            target = self._lent[message["on"]]
            arguments = [self.decode(data) for data in message["args"]]
            before = {index: self.encode(arg) for index, arg in enumerate(arguments) if isinstance(arg, _MUTABLE)}
            split = len(arguments) - len(message["keys"])
            kwargs = dict(zip(message["keys"], arguments[split:], strict=True))
            self._guard(target, message["do"], message["name"])
            answer = {"value": self._answer(target, message, arguments[:split], kwargs)}
        except GoneError:
            raise
        except BaseException as error:  # it belongs to whoever asked
            answer = {"raised": self._told(error)}
        after = {index: self.encode(arguments[index]) for index in before}
        changed = [[index, data] for index, data in after.items() if data != before[index]]
        send(self._writing, {**answer, "changed": changed} if changed else answer)

    def _answer(self, target: Any, message: dict[str, Any], args: list[Any], kwargs: dict[str, Any]) -> Any:
        operation, name = message["do"], message["name"]
        if operation == "call":
            made = target(*args, **kwargs)
            # What a class makes is used as an object, also where the class derives from a built-in type.
            return self.lend(made) if isinstance(target, type) and type(made) is target else self.encode(made)
        if operation == "await":
            import asyncio  # a third of the start-up time, and hardly ever needed

            return self.encode(asyncio.run(target))
        if operation == "get":
            return self.encode(getattr(target, name))
        if operation == "set":
            return setattr(target, name, args[0])
        if operation == "instance":
            return isinstance(args[0], target)
        if operation == "names":
            return [key for key in vars(target) if not (key.startswith("__") and key.endswith("__"))]
        return self.encode(OPERATIONS[name](target, *args))

    def _told(self, error: BaseException) -> dict[str, Any]:
        own = type(error).__module__ in (CANDIDATE_FILE.removesuffix(".py"), "tests")
        state = vars(error) if own else {}
        line, step = None, error.__traceback__
        while step is not None:
            line = step.tb_lineno if step.tb_frame.f_code.co_filename == CANDIDATE_FILE else line
            step = step.tb_next
        try:
            args = [self.encode(arg) for arg in error.args]
            kept = [[str(key), self.encode(value)] for key, value in state.items()]
        except UnsupportedError:
            args, kept = [str(error)[:_TEXT]], []
        ref = self.lend(type(error)) if own else {"bases": _lineage(type(error))}
        return {"class": ref, "args": args, "state": kept, "line": line}

    def _exception(self, told: dict[str, Any]) -> BaseException:
        try:
            ref, args = told["class"], [self.decode(arg) for arg in told["args"]]
            kind = self._resolve(ref) if "ref" in ref else known_exception(ref["bases"])
            error = _raised(kind, args, own="ref" in ref)
            vars(error).update({key: self.decode(value) for key, value in told["state"]})
            error.candidate_line = told["line"]  # type: ignore[attr-defined]
        except (KeyError, TypeError, ValueError, LookupError) as wrong:
            raise GoneError("sent something that is no exception") from wrong
        return error


class Stand:
    """Base of the stand-ins; `kinds` holds their classes."""

    kinds: ClassVar[set[type]] = set()
    _place: int


def _raised(kind: type[BaseException], args: list[Any], own: bool) -> BaseException:
    if own:  # its constructor ran over there
        error = kind.__new__(kind, *args)
        error.args = tuple(args)
        return error
    try:
        return kind(*args)
    except Exception:  # its constructor takes something else than what it keeps in `args`
        base = next(base for base in kind.__mro__ if base.__module__ == "builtins")
        message = " ".join(str(arg) for arg in args)[:_TEXT]
        return base(message) if issubclass(base, Exception) and base is not UnicodeError else Exception(message)


def _kind(value: Any) -> str:
    if isinstance(value, type):
        return "exception" if issubclass(value, BaseException) else "class"
    if isinstance(value, types.CoroutineType):
        return "coroutine"
    if isinstance(value, types.ModuleType):
        return "module"
    if isinstance(value, Iterator):
        return "iterator"
    return "function" if isinstance(value, _FUNCTIONS) else "object"


def _is_member(value: Any) -> bool:
    enum = sys.modules.get("enum")
    return enum is not None and isinstance(value, enum.Enum)


def _plain(base: type, value: Any) -> Any:
    """The built-in value inside of an instance of a subclass, whatever the subclass overrides."""
    if base is dict:
        return dict(dict.items(value))
    if base in (list, tuple, set, frozenset):
        return base(base.__iter__(value))
    if base is int:
        return int.__index__(value)
    if base is float:
        return float.__add__(value, 0.0) if value else 0.0
    return base.__getitem__(value, slice(None)) if base is bytes else str.__str__(value)


def _lineage(kind: type[BaseException]) -> list[str]:
    return [f"{base.__module__}.{base.__qualname__}" for base in kind.__mro__ if base is not object]


def known_exception(names: list[str]) -> type[BaseException]:
    """The first exception class of a lineage that is loaded here."""
    for name in names:
        module, _, attribute = str(name).rpartition(".")
        if module.partition(".")[0] in _JUDGING:  # a candidate that skips or excuses its own test
            continue
        found = vars(sys.modules[module]).get(attribute) if module in sys.modules else None
        if isinstance(found, type) and issubclass(found, BaseException) and not issubclass(found, _OURS):
            return found
    return builtins.Exception


_OURS = (GoneError, UnsupportedError)
_JUDGING = frozenset({"unittest", "pytest", "_pytest"})
