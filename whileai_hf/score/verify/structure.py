"""A verifier of form: is the reply JSON?"""

from __future__ import annotations

import re
from typing import Any, Literal

import orjson

from whileai_hf.errors import ConfigurationError
from whileai_hf.score.verify.base import Verifier


_FENCE = re.compile(r"\A```[\w-]*[ \t]*\n(.*?)\n?[ \t]*```\Z", re.DOTALL)
_KINDS: dict[str, type] = {"object": dict, "array": list}


def unfence(text: str) -> str:
    """The inside of a reply that is one Markdown code block; any other reply as it is, without outer white space."""
    text = text.strip()
    match = _FENCE.match(text)
    return match.group(1) if match else text


def read_json(text: str, fences: bool) -> tuple[Any, str | None]:
    """The document a reply is, and `None`; or nothing and the reason why it is none. Strict: no NaN, no comments."""
    try:
        return orjson.loads(unfence(text) if fences else text), None
    except (orjson.JSONDecodeError, UnicodeEncodeError) as error:
        return None, f"not JSON: {error}"


class JSONValid(Verifier):
    """
    1 when the reply is one JSON document. Needs no gold answer.

    Args:
        fences (`bool`, *optional*, defaults to `True`):
            Accept a document inside one Markdown code block.
        kind (`"object"` or `"array"`, *optional*):
            What the document has to be.
        name (`str`, *optional*):
            Name in the rows.

    Examples:
    ```python
    >>> JSONValid(kind="object")({"final_text": '{"order": 4412}'})["reward"]
    1.0
    >>> JSONValid()({"final_text": "Here it is: {}"})["reward"]
    0.0

    ```
    """

    name = "json_valid"
    needs_gold = False

    def __init__(
        self, *, fences: bool = True, kind: Literal["object", "array"] | None = None, name: str | None = None
    ) -> None:
        super().__init__(name=name)
        if kind is not None and kind not in _KINDS:
            raise ConfigurationError(f"JSONValid(kind={kind!r}) is unknown; expected 'object', 'array' or None")
        self.fences, self.kind = fences, kind

    def check(self, candidate: str, gold: Any) -> Any:
        """Parses the reply strictly: no NaN, no trailing comma, nothing around it."""
        document, reason = read_json(candidate, self.fences)
        if reason is not None:
            return {"reward": 0.0, "reason": reason}
        if self.kind is not None and not isinstance(document, _KINDS[self.kind]):
            return {"reward": 0.0, "reason": f"the document is no {self.kind}"}
        return True
