"""The wordings the checks look for, read from text files: one alternative of a regular expression a line.

Rules are data: a wording is added by adding a line. A file is made of sections. `[words]` are the words one of which
is in every sentence some rule matches, so that most sentences need no rule at all. A section in capitals is a group
other lines use as `{NAME}`; any other section is a rule, its lines are its alternatives. A line that starts with a
space goes on from the one before; a line that starts with "# " is a remark.

Rules are matched against sentences as `replies.canonical` writes them: lower case, straight quotes, no contractions.
No rule may repeat a group without a limit, so that matching takes time linear in the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from pathlib import Path

from whileai_hf.errors import ConfigurationError


_GROUP = re.compile(r"\{([A-Z_]+)\}")


@cache
def _sections(name: str) -> dict[str, list[str]]:
    """The sections of a file, in order."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in (Path(__file__).parent / "rules" / f"{name}.txt").read_text("utf-8").splitlines():
        if re.fullmatch(r"\[\w+\]", line):
            lines = found.setdefault(line[1:-1], [])
        elif line.startswith(" "):
            lines[-1] += line.lstrip(" ")
        elif line and not line.startswith("# "):
            lines.append(line)
    return found


def _expanded(name: str, section: str) -> str:
    """The alternatives of a section, with its groups put in."""
    sections = _sections(name)
    if section not in sections:
        raise ConfigurationError(f"rules/{name}.txt has no section [{section}]; it has {', '.join(sections)}")
    return "|".join(
        _GROUP.sub(lambda group: f"(?:{_expanded(name, group.group(1))})", line) for line in sections[section]
    )


class Rule:
    """A rule that is compiled when it is first asked, because compiling all of them takes half a second."""

    def __init__(self, name: str, section: str, flags: int) -> None:
        self._made_of = (name, section, flags)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The rule, compiled."""
        name, section, flags = self._made_of
        return re.compile(_expanded(name, section), flags)

    @cached_property
    def search(self) -> Callable[[str], re.Match[str] | None]:
        """`re.Pattern.search`."""
        return self.pattern.search

    @cached_property
    def match(self) -> Callable[[str], re.Match[str] | None]:
        """`re.Pattern.match`."""
        return self.pattern.match

    @cached_property
    def finditer(self) -> Callable[[str], Iterator[re.Match[str]]]:
        """`re.Pattern.finditer`."""
        return self.pattern.finditer

    @cached_property
    def split(self) -> Callable[..., list[str]]:
        """`re.Pattern.split`."""
        return self.pattern.split

    @cached_property
    def sub(self) -> Callable[[Callable[[re.Match[str]], str], str], str]:
        """`re.Pattern.sub`."""
        return self.pattern.sub


def rule(name: str, section: str, *, any_case: bool = False) -> Rule:
    """
    A rule.

    Args:
        name (`str`):
            The file, without its ending.
        section (`str`):
            The section.
        any_case (`bool`, *optional*, defaults to `False`):
            Match capitals too, for text that is not in lower case.

    Examples:
    ```python
    >>> bool(rule("apology", "sorry").search("so sorry"))
    True

    ```
    """
    return Rule(name, section, re.IGNORECASE if any_case else 0)


def words(name: str, section: str = "words") -> frozenset[str]:
    """The words of a section; of `[words]`, one is in every sentence that a rule of the file matches."""
    return frozenset(" ".join(_sections(name)[section]).split())
