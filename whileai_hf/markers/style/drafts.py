"""Letters and messages a reply hands over: their words are meant for somebody else, so they are not the agent's.

A draft is told by what stands around it: a line that announces it and ends in a colon, a subject line, a rule of
dashes; it ends with a sign-off or where the reply turns to its reader again.
"""

from __future__ import annotations

import re

from whileai_hf.markers.style.rules import rule, words


# "Here is the e-mail:" at the end of a line; "Draft: We are sorry ..." on one; "The sign reads: Sorry, closed."
_ANNOUNCED, _LABEL, _READS = (rule("drafts", name, any_case=True) for name in ("announced", "label", "reads"))
_SUBJECT, _SALUTATION, _SIGN_OFF = (
    rule("drafts", name, any_case=True) for name in ("subject", "salutation", "sign_off")
)
# The reply speaks to its reader again.
_BACK = rule("drafts", "back", any_case=True)
_RULE = re.compile(r"^[ \t]*(?:-{3,}|={3,}|_{3,}|\*{3,})[ \t]*$")
# The last word before a colon that can announce somebody's words.
_BEFORE_COLON = words("drafts")
# Characters before a colon that hold that word.
_WORD_BEFORE = 16
# Words on a line under a sign-off that can be a name or a position.
_NAME = 5
_NAMED = re.compile(r"[A-Z][\w'-]{1,20}(?: [A-Z][\w'.-]{0,20}){0,2}\s*$")
# Stands after a colon that announces somebody's words.
_CUT = "\x00"
# What stands for a block or a quotation that was taken out before.
_SHOWN = ("\u00a7", "\ufffc")


def _after_sign_off(lines: list[str], index: int) -> int:
    """The line after a sign-off at `index`: a name, and perhaps a position, stand under it."""
    after = index + 1
    while after < len(lines) and not lines[after].strip():
        after += 1
    while (
        after < len(lines)
        and lines[after].strip()
        and len(lines[after].split()) <= _NAME
        and not _BACK.match(lines[after])
    ):
        after += 1
    return after


def _end(lines: list[str], start: int, ruled: bool) -> int:
    """The line after the draft that starts at `start`: at a rule, a sign-off, or where the reply speaks again."""
    if ruled:
        return next((index + 1 for index in range(start, len(lines)) if _RULE.match(lines[index])), len(lines))
    for index in range(start, len(lines)):
        if _SIGN_OFF.match(lines[index]):
            return _after_sign_off(lines, index)
    # A greeting and a name under the last paragraph hold a whole letter between them.
    first = next((line for line in lines[start:] if line.strip()), "")
    if _SALUTATION.match(first) and _NAMED.match(next((line for line in reversed(lines) if line.strip()), "")):
        return len(lines)
    for index in range(start + 1, len(lines)):
        if not lines[index - 1].strip() and _BACK.match(lines[index]):
            return index
    return len(lines)


def _may_announce(text: str) -> bool:
    """Whether some colon can announce a draft; a look at the word before it, which is cheaper than the rules are."""
    at = text.find(":")
    while at >= 0:
        before = text[max(0, at - _WORD_BEFORE) : at].rstrip().lower()
        word = before[max(before.rfind(" "), before.rfind("\n")) + 1 :]
        if word in _BEFORE_COLON or before.endswith(")") or not text[at + 1 : at + 3].strip(" \t\n"):
            return True
        at = text.find(":", at + 1)
    return "option" in text or "Option" in text or "ersion" in text


def without_drafts(text: str, mark: str, asked: bool) -> str:
    """
    A reply without the letters it hands over.

    Args:
        text (`str`):
            The reply.
        mark (`str`):
            Takes the place of a draft.
        asked (`bool`):
            The user asked for one: then a salutation starts a draft without any announcement.

    Examples:
    ```python
    >>> without_drafts("Here is the e-mail:\\n\\nHi Al,\\n\\nSorry!\\n\\nBest,\\nBo\\n\\nShall I send it?", "#", False)
    'Here is the e-mail:\\n#\\n\\nShall I send it?'

    ```
    """
    if not asked and not _may_announce(text):
        return text
    lines = _READS.sub(lambda found: found.group() + _CUT, text).split("\n")
    kept: list[str] = []
    index = 0
    while index < len(lines):
        line = lines[index]
        head, cut, _ = line.partition(_CUT)
        if _SUBJECT.match(line) or (asked and _SALUTATION.match(line)):
            kept.append(mark)
            index = _end(lines, index, False)
            continue
        index += 1
        if cut or _LABEL.match(line):
            kept.append(head + mark if cut else mark)
            continue
        kept.append(line)
        if line.rstrip().endswith(":") and _ANNOUNCED.search(line):
            first = next((at for at in range(index, len(lines)) if lines[at].strip()), len(lines))
            if first < len(lines) and lines[first].strip() not in _SHOWN:
                ruled = bool(_RULE.match(lines[first]))
                kept.append(mark)
                index = _end(lines, first + ruled, ruled)
    return "\n".join(kept)
