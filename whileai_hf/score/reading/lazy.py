"""Attributes worked out when somebody asks for them, once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar


T = TypeVar("T")


class lazy(Generic[T]):
    """
    A method without arguments whose answer is kept as an attribute of that name.

    `functools.cached_property` takes a lock up to Python 3.11, which costs more than most of what is kept here.

    Examples:
    ```python
    >>> class Row:
    ...     @lazy
    ...     def cells(self):
    ...         print("worked out")
    ...         return 7
    >>> row = Row()
    >>> row.cells + row.cells
    worked out
    14

    ```
    """

    def __init__(self, work: Callable[[Any], T]) -> None:
        self._work = work
        self._name = work.__name__
        self.__doc__ = work.__doc__

    def __get__(self, instance: Any, owner: type) -> T:
        value = self._work(instance)
        setattr(instance, self._name, value)  # not into `__dict__`, which would have to be made for it
        return value
