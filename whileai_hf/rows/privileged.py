"""What only a judge may see: under which names it stands, and how it is taken out of text that is JSON.

A task knows more than its prompt says: what the world hides and what a right run does. That block lives on the task
Dataset and in the local run store. Rows and their cells are cleaned by `scrubbing`.
"""

from __future__ import annotations

import json
import re


PRIVILEGED_KEYS = frozenset({"privileged", "expected_calls"})
# Dropped like the block itself: `vector` is a raw embedding, large and of no use to a trainer.
HIDDEN_KEYS = PRIVILEGED_KEYS | {"vector"}

# What JSON text consists of, numbers and words aside.
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],]', re.DOTALL)
_SPACE = re.compile(r"\s*")
# A block or a sentence can give something away. `"privileged": true` is a setting of somebody's container.
_TELLING = re.compile(r'\s*:\s*[{\["]')
_JSON_OPENINGS = ("{", "[", '"')


def scrub_text(text: str) -> str:
    """
    A text that is JSON, without privileged keys; the rest of it to the last byte, and any other text as it is.

    Args:
        text (`str`):
            Such as the result of a tool. JSON text inside its strings is looked into as well.

    Returns:
        `str`: The text without keys that hold a privileged object, list or string.

    Examples:
    ```python
    >>> scrub_text('{"id": "A1",  "privileged": {"reference": "42"}}'), scrub_text("privileged: yes")
    ('{"id": "A1"}', 'privileged: yes')

    ```
    """
    if not may_hide(text) or not text.lstrip().startswith(_JSON_OPENINGS):
        return text
    try:
        json.loads(text)
    except (ValueError, RecursionError):  # no JSON, or nested deeper than anybody reads it
        return text
    made, done = [], 0
    for start, end, instead in sorted(_edits(text)):
        if end > done:
            made += [text[done:start], instead]  # empty where the edit before reaches beyond this start
            done = end
    return "".join([*made, text[done:]])


def may_hide(text: str) -> bool:
    """
    Whether a privileged key can be in a text: a look at a hundred characters takes a tenth of a microsecond.

    Examples:
    ```python
    >>> may_hide("on its way"), may_hide("a privileged few")
    (False, True)

    ```
    """
    return "privileged" in text or "expected_calls" in text


def _edits(text: str) -> list[tuple[int, int, str]]:
    """What has to be replaced in valid JSON text: begin, end, by what."""
    edits: list[tuple[int, int, str]] = []
    opened: list[str] = []
    commas: list[int] = []  # for each bracket that is open, where the comma before the current member stands
    leaving, level, key_next = -1, 0, False
    for token in _TOKEN.finditer(text):
        sign, place = token[0], token.start()
        if sign in ("{", "["):
            opened.append(sign)
            commas.append(-1)
            key_next = sign == "{"
        elif sign[0] != '"':
            if leaving >= 0 and level == len(opened):  # the member that goes ends here
                if sign == ",":
                    edits.append((leaving, _SPACE.match(text, place + 1).end(), ""))  # type: ignore[union-attr]
                else:
                    start = leaving if commas[-1] < 0 else commas[-1]
                    edits.append((start, _last_sign(text, place), ""))
                leaving = -1
            elif sign == ",":
                commas[-1] = place
            if sign != ",":
                opened.pop()
                commas.pop()
            key_next = sign == "," and opened[-1] == "{"
        elif key_next:
            key_next = False
            if leaving < 0 and sign[1:-1] in PRIVILEGED_KEYS and _TELLING.match(text, token.end()):
                leaving, level = place, len(opened)
        elif leaving < 0 and may_hide(sign):
            inside = json.loads(sign)
            clean = scrub_text(inside)
            if clean != inside:
                edits.append((place, token.end(), json.dumps(clean, ensure_ascii=sign.isascii())))
    return edits


def _last_sign(text: str, end: int) -> int:
    """The end of a text without the space before `end`."""
    while text[end - 1].isspace():
        end -= 1
    return end
