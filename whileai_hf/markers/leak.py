"""Replies that quote what only the judge may know.

The hidden state and the reference of a task live beside the rows, not on them. An agent that has not seen them can
neither quote them nor a long run of their words; where one does, the environment leaks and its rewards measure that.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any

from whileai_hf.markers.rates import Share
from whileai_hf.rows import Report, RowView, view
from whileai_hf.rows.identity import task_keys
from whileai_hf.rows.view import Source
from whileai_hf.score.privileged import find_secrets
from whileai_hf.score.reading.calls import calls_of
from whileai_hf.score.reading.texts import assistant_texts, system_texts, user_texts
from whileai_hf.score.reading.words import straight


# Consecutive words of a privileged sentence that nobody writes by chance.
RUN = 8
# Characters of a shorter secret that must be quoted; below that it could be any answer.
SHORTEST = 12
_WORD = re.compile(r"[^\W_]+(?:[-_.'][^\W_]+)*")
_COLUMNS = ("prompt", "steps", "messages", "final_text", "tools", "privileged", "scenario_id", "task_id")
# Characters of a quotation shown.
_SHOWN = 120


def _words(text: str) -> list[str]:
    return _WORD.findall(straight(text).casefold())


def _texts_in(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """The texts in a JSON value, each with the key it stands under."""
    if isinstance(value, str):
        yield name, value
    elif depth < 40 and isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts_in(item, str(key), depth + 1)
    elif depth < 40 and isinstance(value, list | tuple):
        for item in value:
            yield from _texts_in(item, name, depth + 1)


def _runs(secret: str) -> list[str]:
    """The word sequences of a secret of which quoting one is a leak; none when it is too short to tell."""
    words = _words(secret)
    if len(words) > RUN:
        return [" ".join(words[at : at + RUN]) for at in range(len(words) - RUN + 1)]
    whole = " ".join(words)
    return [whole] if len(whole) >= SHORTEST else []


@dataclasses.dataclass(frozen=True)
class LeakReport(Report):
    """
    How many rows quote privileged context, of those that could be checked.

    `leaks` lists them: `{"task", "rollout", "field", "quote", "index"}`, the field of the privileged context and what
    of it was quoted.
    """

    n_rows: int
    n_checked: int
    n_leaks: int
    share: Share
    leaks: list[dict[str, Any]]
    warnings: list[str]
    notes: list[str]

    def __str__(self) -> str:
        if not self.n_checked:
            return "\n".join([f"checked 0 of {self.n_rows} rows: nothing to check", *self.notes])
        counts = f"{self.n_leaks} quoted privileged context ({self.share.rate:.0%})"
        head = f"checked {self.n_checked} of {self.n_rows} rows: {counts}"
        lines = [
            f"  {leak['task']} r{leak['rollout']}: {leak['field']} = {leak['quote']!r}" for leak in self.leaks[:10]
        ]
        more = [f"  and {self.n_leaks - 10} more"] if self.n_leaks > 10 else []
        return "\n".join([head, *lines, *more, *self.notes])


def _said(row: Mapping[str, Any]) -> str:
    texts = assistant_texts(row)
    for call in calls_of(row):
        texts += [text for _, text in _texts_in(call.arguments)]
    return _joined(texts)


def _shown(row: Mapping[str, Any]) -> str:
    texts = [*user_texts(row), *system_texts(row)]
    for call in calls_of(row):
        texts += [text for _, text in _texts_in(call.result)]
    return _joined(texts)


def _joined(texts: list[str]) -> str:
    # Texts do not run into each other.
    return " \n ".join(["", *(" ".join(_words(text)) for text in texts), ""])


def quoted(row: Mapping[str, Any], privileged: Any) -> tuple[str, str] | None:
    """
    What a row's agent quotes of its privileged context.

    Args:
        row (`dict`):
            A rollout.
        privileged (`dict` or `str`):
            The privileged context of its task.

    Returns:
        `tuple[str, str]`, *optional*: The field and the sentence; `None` when nothing is quoted that the agent could
        not have seen.

    Examples:
    ```python
    >>> secret = {"hidden_state": "The parcel was returned to the depot by the second courier on Monday."}
    >>> quoted({"final_text": "It was returned to the depot by the second courier on Monday."}, secret)[0]
    'hidden_state'
    >>> quoted({"final_text": "It is at the depot."}, secret)

    ```
    """
    said = shown = ""
    for name, secret in _texts_in(privileged, "privileged"):
        for run in _runs(secret):
            said = said or _said(row)
            if f" {run} " not in said:
                continue
            shown = shown or _shown(row)
            if f" {run} " not in shown:
                return name, secret
    return None


def _privileged(rows: RowView, tasks: Source | None) -> list[Any]:
    """The privileged context of each row, from where grading would take it, else from the row itself."""
    own = rows.column("privileged")
    found = find_secrets(rows, tasks)
    return [(extra or {}).get("privileged") or mine for extra, mine in zip(found, own, strict=True)]


def leak_report(data: Source, *, tasks: Source | None = None) -> LeakReport:
    """
    Counts rows whose agent quotes privileged context: the hidden state or the reference of its task.

    A quotation is a whole sentence of it, or at least eight consecutive words, in the agent's own text or in the
    arguments of its calls; what also occurs in the prompt, the user's turns, the system prompt or a tool result is no
    leak. Secrets of fewer than 12 characters cannot be told from an answer and are not checked.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rollouts.
        tasks (`datasets.Dataset` or `list[dict]` or path or Hub repo id, *optional*):
            The tasks, as `situations` returned them; by default the local store of the rows' runs is asked.

    Returns:
        [`LeakReport`]: It says how many rows could be checked. With none, there was nothing to leak, which is not the
        same as no leak.

    Raises:
        [`~whileai_hf.errors.MissingColumnError`]: `tasks` has no privileged column.

    Examples:
    ```python
    >>> from whileai_hf.markers.leak import leak_report
    >>> rows = [{"final_text": "It is lost.", "privileged": {"reference": "says that it is lost"}}]
    >>> print(leak_report(rows))
    checked 1 of 1 rows: 0 quoted privileged context (0%)
    >>> print(leak_report([{"prompt": "Where is it?", "final_text": "Here."}]))
    checked 0 of 1 rows: nothing to check
    No row has privileged context: pass tasks=, or check rows of a run made on this machine.

    ```
    """
    rows = view(data)
    contexts = _privileged(rows, tasks)
    keys, places = task_keys(rows), rows.column("rollout_index")
    columns = [name for name in _COLUMNS if name in rows.columns]
    checked, leaks = 0, []
    present = sum(bool(context) for context in contexts)
    if present:
        for index, (row, context) in enumerate(zip(rows.rows(columns), contexts, strict=True)):
            if not context or not any(_runs(secret) for _, secret in _texts_in(context)):
                continue
            checked += 1
            found = quoted(row, context)
            if found is not None:
                place = places[index] if places[index] is not None else index
                leaks.append(
                    {
                        "task": keys[index],
                        "rollout": place,
                        "field": found[0],
                        "quote": found[1][:_SHOWN],
                        "index": index,
                    }
                )
    notes = []
    if not present:
        notes.append("No row has privileged context: pass tasks=, or check rows of a run made on this machine.")
    elif checked < len(rows):
        notes.append(f"{len(rows) - checked} rows have no privileged context, or too little of it to check.")
    share = Share.of(len(leaks), checked)
    return LeakReport(len(rows), checked, len(leaks), share, leaks, [], notes)
