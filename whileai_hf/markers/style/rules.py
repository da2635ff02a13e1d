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
from whileai_hf.markers.style.needles import NEEDLES, bits_of


_GROUP = re.compile(r"\{([A-Z_]+)\}")
_NONE: list[re.Pattern[str]] = []
_EACH = re.compile(r"\{\+([A-Z_]+)\}")


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


def alternatives(name: str, section: str) -> list[str]:
    """The alternatives of a rule, each its groups put in; a line with `{+GROUP}` is one for each line of the group."""
    sections = _sections(name)
    if section not in sections:
        raise ConfigurationError(f"rules/{name}.txt has no section [{section}]; it has {', '.join(sections)}")
    lines: list[str] = []
    for line in sections[section]:
        each = _EACH.search(line)
        if each:
            lines += [line.replace(each.group(), f"(?:{told})") for told in sections[each.group(1)]]
        else:
            lines.append(line)
    return [_GROUP.sub(lambda group: f"(?:{_expanded(name, group.group(1))})", line) for line in lines]


class Rule:
    """
    A rule: alternatives, of which only those are tried whose words are in the text.

    A regular expression tries every alternative at every character. Here the words of a text, each looked up once,
    say which alternatives can match at all, mostly none; only those are ever compiled. What is found is what the
    alternatives as one expression would find.
    """

    def __init__(self, name: str, sections: tuple[str, ...], flags: int) -> None:
        self._made_of = (name, sections, flags)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The rule as one regular expression."""
        return re.compile("|".join(self._lines), self._made_of[2])

    @cached_property
    def _lines(self) -> list[str]:
        name, sections, _ = self._made_of
        return [line for section in sections for line in alternatives(name, section)]

    @cached_property
    def _compiled(self) -> list[re.Pattern[str] | None]:
        return [None] * len(self._lines)

    @cached_property
    def _place(self) -> tuple[int, dict[int, int], list[int]]:
        """The bits of the alternatives, which alternative a bit is of, and the alternatives that are always tried."""
        name, sections, flags = self._made_of
        bits = [bit for section in sections for bit in NEEDLES.bits(name, section, len(alternatives(name, section)))]
        if flags:
            bits = [-1] * len(bits)
        needed = {bit: at for at, bit in enumerate(bits) if bit >= 0}
        return sum(1 << bit for bit in needed), needed, [at for at, bit in enumerate(bits) if bit < 0]

    def _live(self, text: str) -> list[re.Pattern[str]]:
        """The alternatives that can match in a text, in order."""
        mask, of_bit, always = self._place
        live = bits_of(text) & mask
        if not live:
            if not always:
                return _NONE
            wanted = always
        else:
            wanted = always.copy()
            while live:
                lowest = live & -live
                live ^= lowest
                wanted.append(of_bit[lowest.bit_length() - 1])
            if len(wanted) > 1:
                wanted.sort()
        compiled = self._compiled
        found = []
        for at in wanted:
            pattern = compiled[at]
            if pattern is None:
                pattern = compiled[at] = re.compile(self._lines[at], self._made_of[2])
            found.append(pattern)
        return found

    def search(self, text: str, start: int = 0) -> re.Match[str] | None:
        """The first match in a text, as `re.Pattern.search` finds it."""
        best = None
        for pattern in self._live(text):
            match = pattern.search(text, start)
            if match is not None and (best is None or match.start() < best.start()):
                best = match
                if match.start() == start:
                    break
        return best

    def match(self, text: str) -> re.Match[str] | None:
        """The match at the start of a text, as `re.Pattern.match` finds it."""
        for pattern in self._live(text):
            if match := pattern.match(text):
                return match
        return None

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """The matches in a text, as `re.Pattern.finditer` finds them."""
        live = self._live(text)
        if len(live) == 1:
            yield from live[0].finditer(text)
            return
        match = self.search(text) if live else None
        while match is not None:
            yield match
            match = self.search(text, match.end() + (match.end() == match.start()))

    @cached_property
    def split(self) -> Callable[..., list[str]]:
        """`re.Pattern.split`."""
        return self.pattern.split

    @cached_property
    def sub(self) -> Callable[[Callable[[re.Match[str]], str], str], str]:
        """`re.Pattern.sub`."""
        return self.pattern.sub


def rule(name: str, *sections: str, any_case: bool = False) -> Rule:
    """
    A rule.

    Args:
        name (`str`):
            The file, without its ending.
        *sections (`str`):
            The sections whose alternatives it is made of.
        any_case (`bool`, *optional*, defaults to `False`):
            Match capitals too, for text that is not in lower case.

    Examples:
    ```python
    >>> bool(rule("apology", "sorry").search("so sorry"))
    True

    ```
    """
    return Rule(name, sections, re.IGNORECASE if any_case else 0)


def words(name: str, section: str = "words") -> frozenset[str]:
    """The words of a section; of `[words]`, one is in every sentence that a rule of the file matches."""
    return frozenset(" ".join(_sections(name)[section]).split())
