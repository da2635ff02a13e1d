"""What a callable does, as a hash: the answer to "may the result of an earlier run be used again?".

`datasets` hashes importable functions by name, so that an edited judge would be answered from the cache of the old
one. Here a function is hashed by its compiled code, defaults, closure and the globals it reads, and so on through
everything that is not an installed package; packages count by name and version. The code is that which runs, not that
which stands on disk: a module edited but not yet reloaded still counts as the old one, which it still is.

Not seen: what a function reaches by strings (`getattr`, `importlib`), and files or services it asks at run time.
Where that matters, a `version` says what the code cannot.
"""

from __future__ import annotations

import copyreg
import dis
import functools
import importlib.util
import logging
import sys
import sysconfig
import threading
import types
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any


class UnhashableError(TypeError):
    """Something in the callable's state has no stable content: a socket, an open file, a client."""


# Objects that hold no behaviour of their own: they are hashed as "one of these".
_INERT: tuple[type, ...] = (
    type(threading.Lock()),
    type(threading.RLock()),
    threading.local,
    logging.Logger,
    logging.LoggerAdapter,
)
_SCALARS = (type(None), bool, int, float, complex, str, bytes)
_LIBRARY_ROOTS = tuple(
    {str(Path(sysconfig.get_path(name)).resolve()) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
)
# Class attributes that describe the class to tools and change nothing about what it does.
_CLASS_NOISE = frozenset(
    {"__dict__", "__weakref__", "__module__", "__doc__", "__annotations__", "_abc_impl", "__firstlineno__"}
)


@functools.cache
def _is_library_file(path: str | None) -> bool:
    if not path or path.startswith("<frozen"):
        return True
    if path.startswith("<"):  # typed in: <stdin>, <ipython-input-...>, exec
        return False
    resolved = Path(path).resolve()
    return any(part in {"site-packages", "dist-packages"} for part in resolved.parts) or any(
        resolved.is_relative_to(root) for root in _LIBRARY_ROOTS
    )


def _is_library_module(name: str | None) -> bool:
    module = sys.modules.get(name or "")
    if module is None or name == "__main__":
        return False
    return _is_library_file(getattr(module, "__file__", None))


def _library_name(module: str | None, qualname: str) -> bytes:
    top = sys.modules.get((module or "").partition(".")[0])
    version = vars(top).get("__version__", "") if top is not None else ""
    return _join(b"library", str(module), qualname, str(version))


def _join(kind: bytes, *parts: bytes | str) -> bytes:
    """Digest of a kind and its parts, each with its length so that neighbours cannot run together."""
    state = blake2b(kind, digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "big") + data)
    return state.digest()


class _Hasher:
    """One walk through an object graph; every object is hashed once."""

    def __init__(self) -> None:
        self._known: dict[int, bytes] = {}
        self._alive: list[Any] = []  # keeps temporary states alive, so that their ids are not given out again

    def hash(self, value: Any) -> bytes:
        if isinstance(value, _SCALARS) and type(value) in _SCALARS:
            return _join(b"scalar", type(value).__name__, repr(value))
        known = self._known.get(id(value))
        if known is not None:
            return known
        self._alive.append(value)
        self._known[id(value)] = b"on the way"  # a cycle comes back to this
        result = self._known[id(value)] = self._fresh(value)
        return result

    def _fresh(self, value: Any) -> bytes:
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, types.MethodType):
            return _join(b"method", self.hash(value.__func__), self.hash(value.__self__))
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, types.CodeType):
            return self._code(value)
        if isinstance(value, types.ModuleType):
            return self._module(value, ())
        if isinstance(value, functools.partial):
            return _join(b"partial", self.hash(value.func), self._items(value.args), self.hash(value.keywords))
        if isinstance(value, functools._lru_cache_wrapper):
            return self.hash(value.__wrapped__)
        if isinstance(value, types.BuiltinFunctionType):
            owner = value.__self__
            named = owner is None or isinstance(owner, types.ModuleType)
            return _join(b"builtin", str(value.__module__), value.__qualname__, b"" if named else self.hash(owner))
        if isinstance(value, _INERT):
            return _join(b"inert", type(value).__qualname__)
        return self._container(value)

    def _container(self, value: Any) -> bytes:
        if type(value) in (list, tuple):
            return _join(b"sequence", type(value).__name__, self._items(value))
        if type(value) in (dict, types.MappingProxyType):
            return self._mapping(value)
        if type(value) in (set, frozenset):
            return _join(b"set", *sorted(self.hash(item) for item in value))
        if isinstance(value, staticmethod | classmethod):
            return _join(b"static", type(value).__name__, self.hash(value.__func__))
        if isinstance(value, property):
            return _join(b"property", *(self.hash(part) for part in (value.fget, value.fset, value.fdel)))
        if isinstance(value, functools.cached_property):
            return _join(b"cached", self.hash(value.func))
        if isinstance(value, types.CellType):
            return self._cell(value)
        return self._object(value)

    def _items(self, values: Iterable[Any]) -> bytes:
        return _join(b"items", *(self.hash(value) for value in values))

    def _mapping(self, value: Mapping[Any, Any]) -> bytes:
        return _join(b"mapping", *sorted(_join(b"pair", self.hash(k), self.hash(v)) for k, v in value.items()))

    def _cell(self, cell: types.CellType) -> bytes:
        try:
            return self.hash(cell.cell_contents)
        except ValueError:
            return _join(b"empty cell")

    def _code(self, code: types.CodeType) -> bytes:
        names = (*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars)
        flags = f"{code.co_flags} {code.co_argcount} {code.co_posonlyargcount} {code.co_kwonlyargcount}"
        return _join(b"code", code.co_code, flags, self._items(code.co_consts), *names)

    def _function(self, function: types.FunctionType) -> bytes:
        own = [
            self.hash(function.__defaults__),
            self.hash(function.__kwdefaults__),
            self._items(function.__closure__ or ()),
        ]
        if _is_library_file(function.__code__.co_filename):
            # A decorator from a package: its name says what it does, its closure holds the function it wraps.
            return _join(b"function", _library_name(function.__module__, function.__qualname__), *own)
        return _join(b"function", self.hash(function.__code__), *own, *self._reads(function))

    def _reads(self, function: types.FunctionType) -> list[bytes]:
        """What the function, and those inside it, take from their module."""
        names = _names(function.__code__)
        found = []
        for name in sorted(names):
            if name in function.__globals__:
                value = function.__globals__[name]
                is_module = isinstance(value, types.ModuleType)
                found.append(_join(b"global", name, self._module(value, names) if is_module else self.hash(value)))
        package = function.__globals__.get("__package__") or ""
        found.extend(_imported(name, package) for name in sorted(_imports(function.__code__)))
        return found

    def _module(self, module: types.ModuleType, names: Iterable[str]) -> bytes:
        if _is_library_module(module.__name__):
            return _library_name(module.__name__, "")
        read = sorted(name for name in names if name in vars(module))
        return _join(b"module", module.__name__, *(self.hash(vars(module)[name]) for name in read))

    def _class(self, cls: type) -> bytes:
        if _is_library_module(cls.__module__):
            return _library_name(cls.__module__, cls.__qualname__)
        parts = [_join(b"base", self.hash(base)) for base in cls.__bases__]
        for name, value in sorted(vars(cls).items()):
            is_slot = isinstance(value, types.MemberDescriptorType | types.GetSetDescriptorType)
            is_data = name.startswith("__") and not callable(value) and not isinstance(value, classmethod)
            if name in _CLASS_NOISE or is_slot or is_data:
                continue
            parts.append(_join(b"attribute", name, self.hash(value)))
        return _join(b"class", cls.__qualname__, *parts)

    def _object(self, value: Any) -> bytes:
        """Anything else by what pickle would keep of it."""
        reduce = copyreg.dispatch_table.get(type(value))
        try:
            reduced = reduce(value) if reduce else value.__reduce_ex__(4)
        except Exception as error:  # a reducer is foreign code: whatever it raises means "cannot be taken apart"
            raise UnhashableError(f"a {type(value).__module__}.{type(value).__qualname__} object") from error
        if isinstance(reduced, str):
            return _join(b"name", _library_name(type(value).__module__, reduced))
        parts = [self.hash(part) for part in reduced[:3]]
        parts.extend(self._items(part) if part is not None else b"" for part in reduced[3:5])
        return _join(b"object", *parts)


def _codes(code: types.CodeType) -> Iterable[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _names(code: types.CodeType) -> set[str]:
    return {name for part in _codes(code) for name in part.co_names}


def _imports(code: types.CodeType) -> set[str]:
    steps = (step for part in _codes(code) for step in dis.get_instructions(part))
    return {step.argval for step in steps if step.opname == "IMPORT_NAME"}


def _imported(name: str, package: str) -> bytes:
    """A module imported inside a function, by the bytes of its file: it may not be loaded yet."""
    for candidate in (name, f"{package}.{name}" if package else ""):
        try:
            spec = importlib.util.find_spec(candidate) if candidate else None
        except (ImportError, ValueError, AttributeError):
            spec = None
        if spec is None or spec.origin is None:
            continue
        if _is_library_file(spec.origin) or not Path(spec.origin).is_file():
            return _library_name(candidate, "")
        return _join(b"file", candidate, Path(spec.origin).read_bytes())
    return _join(b"import", name)


def fingerprint(value: Any) -> str:
    """
    Hash of what a callable (or any object) is made of, equal across processes.

    Args:
        value (`Any`):
            A function, a method, a partial, an object with state.

    Returns:
        `str`: 32 hexadecimal characters.

    Raises:
        [`UnhashableError`]: Part of its state has no stable content; the message names the type.

    Examples:
    ```python
    >>> def judge(row, limit=3):
    ...     return len(row["steps"]) <= limit
    >>> first = fingerprint(judge)
    >>> judge.__defaults__ = (5,)
    >>> fingerprint(judge) == first
    False

    ```
    """
    try:
        return _Hasher().hash(value).hex()
    except RecursionError as error:
        raise UnhashableError(f"a {type(value).__qualname__} nested too deep") from error


def code_digest(judge: Any) -> str | None:
    """
    Hash of the code a callable runs first, without its state: it says on a row which edition of a judge spoke.

    Args:
        judge (`Callable`):
            A function, a method, a partial, an object with `__call__`.

    Returns:
        `str` or `None`: 32 hexadecimal characters; `None` for what is not written in Python.

    Examples:
    ```python
    >>> seen = []
    >>> def judge(row):
    ...     seen.append(row)
    ...     return 1
    >>> first = code_digest(judge)
    >>> judge({}), code_digest(judge) == first
    (1, True)

    ```
    """
    if isinstance(judge, functools.partial):
        return code_digest(judge.func)
    if isinstance(judge, types.MethodType):
        return code_digest(judge.__func__)
    if isinstance(judge, types.FunctionType):
        return _Hasher().hash(judge.__code__).hex()
    call = vars(type(judge)).get("__call__")
    return code_digest(call) if isinstance(call, types.FunctionType) else None
