"""Whether a shell command failed, by what it printed: version control, packagers, compilers and test runs say so.

Only commands are read this way; the same words in a tool's answer may be what a record or a file holds.
"""

from __future__ import annotations

import re
from typing import Any


# What programs print when they did not do it, at the beginning of a line, and how test runs add up.
_COMMAND_BAD = re.compile(
    r"^\s*(?:npm ERR!|(?:\w+: )?(?:error|fatal)(?:\[\w+\])?:|! \[?|CONFLICT \(|Automatic merge failed|FAILED\b|FAIL\b"
    r"|\w*Error: |E: |ERROR\b|make: \*\*\*|BUILD FAILED|Build failed|\S{1,40}: (?:cannot|permission denied|No "
    r"such file)"
    r"|Could not\b|\S{1,60}: error[ :]|Permission denied|\u2716|\u2717|panic: |Segmentation fault|Killed$)"
    r"|(?<![\d.,])[1-9]\d{0,5} (?:tests? )?(?:failed|failing|failures?|errors?)\b|\b(?:failures|errors|failed): "
    r"?[1-9]",
    re.MULTILINE,
)
# Commands whose output is what they show, not how they went.
_SHOWS = re.compile(
    r"\s*(?:sudo )?(?:cat|grep|egrep|rg|ag|head|tail|less|more|echo|ls|find|sed -n|awk|wc|journalctl|printf"
    r"|strings|diff"
    r"|git (?:log|show|diff|blame|grep|status|stash list)|kubectl (?:logs|describe|get)|docker (?:compose )?logs)\b"
)


def command_failed(command: Any, output: str) -> bool:
    """
    Whether what a shell command printed says that it did not do its work; what it only shows does not count.

    Examples:
    ```python
    >>> command_failed("git push", "error: failed to push some refs"), command_failed("tail app.log", "error: 7")
    (True, False)
    >>> command_failed("pytest -q", "2 failed, 9 passed"), command_failed("pytest -q", "0 failed, 9 passed")
    (True, False)

    ```
    """
    last = re.split(r"&&|;|\n", command.strip(" ;\n"))[-1] if isinstance(command, str) else ""
    if _SHOWS.match(last) or "|| true" in last:
        return False
    return _COMMAND_BAD.search(output[-4_000:] if len(output) > 4_000 else output) is not None
