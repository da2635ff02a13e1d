"""Stand-ins for objects of the other process.

A test compares what the candidate returns with what it expects. Were `==` answered by a returned object, an object
that equals everything would pass every test. So an object never learns a plain value it is compared with: `==` with
one is False, `<` is a TypeError, and what arithmetic with a plain value makes (`result - 3`) can no longer be turned
into a number. Two objects of the candidate compare and add up as their class says.

Nor may an object pass for text or a collection by answering `startswith` or `equals`. What the candidate returns is
not asked by a method in [`QUESTIONS`] about a plain value, and never learns that value. An object that a test made
itself, by calling a class with a capital letter, has the methods of its class: whoever calls `Trie()` wants its
`startswith`. Any other method is the program's own (`build([1, 2]).contains(2)`): it is called, and it is believed.
"""

from __future__ import annotations

from whileai_hf.score.verify.code.guest.operations import ARITHMETIC, COMPARISONS, CONVERSIONS, OTHERS, UNARY
from whileai_hf.score.verify.code.guest.peer import Peer, Stand, known_exception


TYPE_CHECKING = False  # as in `typing`, whose import would be a sixth of the time a sandbox takes to start
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any

_OWN = frozenset({"_peer", "_place", "_name", "_made", "_told"})
_DESCRIBING = frozenset({"__annotations__", "__defaults__", "__doc__", "__members__", "__qualname__", "__wrapped__"})


QUESTIONS = frozenset(
    "startswith endswith count index find rindex rfind issubset issuperset isdisjoint isalnum isalpha isascii "
    "isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper is_integer "
    "equal equals eq ne almost_equal almost_equals isclose is_close allclose match matches fullmatch".split()
)
"""Methods of text, numbers and collections that tell whether a value is the right one, and usual names of such."""


class RemoteObject(Stand):
    """An object of the other process; attributes, items, calls and operators go there."""

    def __init__(self, peer: Peer, place: int, name: str, made: bool = False, told: bool = False) -> None:
        own = {"_peer": peer, "_place": place, "_name": name, "_made": made, "_told": told}
        vars(self).update(own)

    def __getattr__(self, name: str) -> Any:
        if name in _OWN or (name.startswith("__") and name not in _DESCRIBING):
            raise AttributeError(name)  # what copy, pickle and numpy probe for
        value = self._peer.request("get", self._place, name)
        if self._made and isinstance(value, RemoteClass):
            return known_as(name, value)
        if name in QUESTIONS and not self._made and self._peer.picky and isinstance(value, RemoteObject):
            return _question(name, value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _OWN:
            vars(self)[name] = value
        else:
            self._peer.request("set", self._place, name, [value])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._peer.request("call", self._place, "", args, kwargs)

    def _operate(self, name: str, *args: Any) -> Any:
        return self._peer.request("operate", self._place, name, args)

    def __eq__(self, other: object) -> bool:
        if other is self:
            return True
        return isinstance(other, RemoteObject) and self._operate("__eq__", other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return self._place

    def __contains__(self, item: Any) -> bool:
        if self._made or isinstance(item, RemoteObject):
            return self._operate("__contains__", item) is True
        return any(item == mine for mine in iter(self))

    def __iter__(self) -> Any:
        return self._operate("__iter__")


def known_as(name: str, value: Any) -> Any:
    """What a test finds under a name; a class with a capital letter makes objects with methods of their own."""
    if isinstance(value, RemoteClass) and name.lstrip("_")[:1].isupper():
        value._made = True
    return value


def _question(name: str, method: RemoteObject) -> Callable[..., Any]:
    def ask(*args: Any, **kwargs: Any) -> Any:
        given = [*args, *kwargs.values()]
        if (name.startswith("is") and not given) or not all(isinstance(value, RemoteObject) for value in given):
            raise TypeError(f"{name} asks an object of the candidate whether it is what the test expects")
        return method(*args, **kwargs)

    return ask


def _arithmetic(name: str) -> Callable[[Any, Any], Any]:
    def method(self: RemoteObject, other: Any) -> Any:
        result = self._operate(name, other)
        told = self._told or not isinstance(other, RemoteObject) or other._told
        if told and isinstance(result, RemoteObject):
            result._told = True
        elif told:
            raise TypeError(f"{self._name}.{name} answers a number of the test with a plain value")
        return result

    return method


def _comparison(name: str) -> Callable[[Any, Any], Any]:
    def method(self: RemoteObject, other: Any) -> Any:
        return self._operate(name, other) if isinstance(other, RemoteObject) else NotImplemented

    return method


def _conversion(name: str) -> Callable[..., Any]:
    def method(self: RemoteObject, *args: Any) -> Any:
        if self._told:
            raise TypeError(f"{self._name} has seen a number of the test and cannot be turned into one")
        return self._operate(name, *args)

    return method


def _plain(name: str) -> Callable[..., Any]:
    if name == "__exit__":  # the exception stays on this side
        return lambda self, *_: self._operate(name)
    return lambda self, *args: self._operate(name, *args)


for _name in ARITHMETIC:
    setattr(RemoteObject, _name, _arithmetic(_name))
for _name in COMPARISONS:
    setattr(RemoteObject, _name, _comparison(_name))
for _name in CONVERSIONS:
    if _name not in ("__bool__", "__len__"):
        setattr(RemoteObject, _name, _conversion(_name))
for _name in (*UNARY, *(set(OTHERS) - {"__call__", "__iter__", "__next__"}), "__len__", "__bool__"):
    setattr(RemoteObject, _name, _plain(_name))


class RemoteIterator(RemoteObject):
    """An iterator or generator of the other process."""

    def __iter__(self) -> RemoteIterator:
        return self

    def __next__(self) -> Any:
        return self._operate("__next__")


class RemoteFunction(RemoteObject):
    """A function of the other process."""

    @property
    def __name__(self) -> str:
        return str(self._name)


class RemoteClass(RemoteFunction):
    """A class of the other process: called, asked for attributes, and good for `isinstance`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        made = super().__call__(*args, **kwargs)
        if isinstance(made, RemoteObject) and self._made:
            made._made = True
        return made

    def __instancecheck__(self, value: Any) -> bool:
        return isinstance(value, RemoteObject) and self._peer.request("instance", self._place, "", [value]) is True


Stand.kinds.update({RemoteObject, RemoteIterator, RemoteFunction, RemoteClass})


def _awaiting(peer: Peer, place: int) -> Coroutine[Any, Any, Any]:
    async def outcome() -> Any:
        return peer.request("await", place)

    return outcome()


def stand_in(peer: Peer, ref: dict[str, Any]) -> Any:
    """The stand-in for what a reference of the other side names."""
    kind, place, name = ref["kind"], int(ref["ref"]), str(ref["name"])
    if kind == "exception":  # a class of this process, so that `except` and `pytest.raises` know it
        return type(name, (known_exception(ref["bases"][1:]),), {})
    if kind == "coroutine":
        return _awaiting(peer, place)
    if kind == "class":
        return RemoteClass(peer, place, name)
    if kind == "function":
        return RemoteFunction(peer, place, name)
    return (RemoteIterator if kind == "iterator" else RemoteObject)(peer, place, name)
