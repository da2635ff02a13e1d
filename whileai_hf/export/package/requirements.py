"""What an exported environment needs beside the library: requirements as pip reads them.

They are checked before anything is written, by their form alone: no package index is asked. A requirement by URL is
refused: an index takes no package that has one, and neither does the build backend of the package.
"""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Sequence
from typing import Any

from whileai_hf.errors import ConfigurationError
from whileai_hf.knobs import nearest


LIBRARY = "whileai-hf"
# What the classes behind every package need.
_OWN = ("verifiers>=0.4,<0.5", LIBRARY)

# Spaces and digits are taken possessively: a long run of them must not be tried in every split of it.
_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
# PEP 440, in the order of its parts: epoch, release, pre-release, post-release, development release, local version.
_EPOCH = r"v?(?:\d++!)?"
_LATER = (
    r"(?:[-_.]?(?:alpha|beta|preview|pre|rc|a|b|c)[-_.]?\d*+)?"
    r"(?:-\d++|[-_.]?(?:post|rev|r)[-_.]?\d*+)?(?:[-_.]?dev[-_.]?\d*+)?"
)
_VERSION = rf"{_EPOCH}\d++(?:\.\d++)*+{_LATER}"
_LOCAL = r"(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?"
_CLAUSE = (
    rf"(?:(?:==|!=)[ \t]*+{_EPOCH}\d++(?:\.\d++)*+\.\*|(?:==|!=)[ \t]*+{_VERSION}{_LOCAL}"
    rf"|(?:<=|>=|<|>)[ \t]*+{_VERSION}|~=[ \t]*+{_EPOCH}\d++(?:\.\d++)++{_LATER})"
)
_CLAUSES = rf"{_CLAUSE}(?:[ \t]*+,[ \t]*+{_CLAUSE})*"
_VARIABLE = (
    r"(?:python_version|python_full_version|os_name|sys_platform|platform_release|platform_system|platform_version"
    r"|platform_machine|platform_python_implementation|implementation_name|implementation_version|extra)"
)
_TEXT = r"""(?:'[ !#-&(-~]*'|"[ !#-&(-~]*")"""  # printable ASCII without quotes
_OPERATOR = r"(?:[ \t]*+(?:===|==|!=|<=|>=|<|>|~=)[ \t]*+|[ \t]++(?:not[ \t]++)?in[ \t]++)"
_COMPARISON = rf"(?:{_VARIABLE}{_OPERATOR}{_TEXT}|{_TEXT}{_OPERATOR}{_VARIABLE})"
_MARKER = rf"{_COMPARISON}(?:[ \t]++(?:and|or)[ \t]++{_COMPARISON})*"
_REQUIREMENT = re.compile(
    rf"(?P<name>{_NAME})[ \t]*+(?:\[[ \t]*+(?P<extras>{_NAME}(?:[ \t]*+,[ \t]*+{_NAME})*)?[ \t]*+\])?[ \t]*+"
    rf"(?:{_CLAUSES}|\([ \t]*+{_CLAUSES}[ \t]*+\))?[ \t]*+(?:;[ \t]*+{_MARKER})?",
    re.IGNORECASE | re.ASCII,
)


def check_requires(given: Any) -> tuple[str, ...]:
    """
    Requirements in the form pip takes.

    Args:
        given (`Sequence[str]`):
            `"name"`, `"name[extra]"`, `"name>=1,<2"`, each with a marker or without (PEP 508, without URLs and without
            parentheses in markers).

    Returns:
        `tuple[str, ...]`: The same, each once.

    Raises:
        [`ConfigurationError`]: No list of texts, a text of another form, or an extra that this library does not have.

    Examples:
    ```python
    >>> check_requires(["whileai-hf[math]", " sympy>=1.12 "])
    ('whileai-hf[math]', 'sympy>=1.12')

    ```
    """
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ConfigurationError(f"requires={given!r:.60} is no list; pass requires=['whileai-hf[math]']")
    return tuple(dict.fromkeys(_checked(each) for each in given))


def _checked(given: Any) -> str:
    text = given.strip() if isinstance(given, str) else ""
    found = _REQUIREMENT.fullmatch(text)
    if found is None:
        raise ConfigurationError(
            f"requires has {given!r:.80}, which is no requirement that pip takes from an index; write name, "
            "name[extra] or name>=1.2, such as 'whileai-hf[math]'"
        )
    if _normal(found["name"]) == LIBRARY:
        _check_extras(text, found["extras"])
    return text


def _check_extras(requirement: str, named: str | None) -> None:
    """An extra that a package lacks is a warning of pip's that nobody reads, and then an import that fails."""
    try:
        known = importlib.metadata.metadata(LIBRARY).get_all("Provides-Extra") or []
    except importlib.metadata.PackageNotFoundError:  # run from a checkout that is not installed
        return
    for extra in (part.strip() for part in (named or "").split(",")):
        if extra and _normal(extra) not in map(_normal, known):
            raise ConfigurationError(
                f"requires has {requirement!r:.80}, and {LIBRARY} has no extra {extra!r}; {nearest(extra, known)}"
            )


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def dependencies(requires: Sequence[str]) -> list[str]:
    """
    Everything a package depends on.

    Args:
        requires (`Sequence[str]`):
            From [`check_requires`]; one that names the library stands in place of the bare name.

    Examples:
    ```python
    >>> dependencies(["whileai-hf[math]"])
    ['verifiers>=0.4,<0.5', 'whileai-hf[math]']

    ```
    """
    named = [each for each in requires if _is_library(each) and ";" not in each]
    own = [each for each in _OWN if each != LIBRARY or not named]
    return [*own, *(each for each in requires if each not in own)]


def _is_library(requirement: str) -> bool:
    found = _REQUIREMENT.fullmatch(requirement)
    return found is not None and _normal(found["name"]) == LIBRARY
