"""How the Hub says no: a status, a sentence, and the code its clients read from a header."""

from __future__ import annotations

from typing import Any


class Refusal(Exception):
    """An error reply. `code` goes into `X-Error-Code`, `extra` into the JSON body."""

    def __init__(
        self,
        status: int,
        message: str,
        code: str | None = None,
        headers: dict[str, str] | None = None,
        extra: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = {"X-Error-Message": message, **({"X-Error-Code": code} if code else {}), **(headers or {})}
        self.extra = extra or {}
