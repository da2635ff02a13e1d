"""One repo of ours as the Hub lists it: what its tags and the `whileai` key of its card say, without a download."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from huggingface_hub import DatasetInfo, HfApi, ModelInfo
from huggingface_hub.utils import (  # type: ignore[attr-defined]
    build_hf_headers,
    get_session,
    hf_raise_for_status,
)

from whileai_hf.errors import ConfigurationError
from whileai_hf.hub.cards.header import LIBRARY_TAG, agent_tag, purpose_tag
from whileai_hf.rows import Report
from whileai_hf.store.repos import without_password


# Purpose of a repo that describes an agent and holds no rows.
AGENT = "agent"
# The key of the card's YAML under which a push says what it is.
KEY = "whileai"

Kind = Literal["dataset", "model"]
# Seconds to wait for a sign of life.
_PATIENCE = 10.0
_AGENT_TAG = agent_tag("x").removesuffix("x")
# What a list has to say of each repo; storage and visibility are told on request only.
_EXPAND: list[Any] = ["cardData", "createdAt", "lastModified", "private", "sha", "tags", "usedStorage"]


@dataclasses.dataclass(frozen=True)
class Entry(Report):
    """
    A repo of ours. What its card does not say is `None`.

    Args:
        repo (`str`):
            Its id.
        kind (`str`):
            `dataset` or `model`.
        private (`bool`, *optional*):
            Whether only its owner sees it.
        purpose (`str`, *optional*):
            `train`, `holdout`, `eval`, or `agent` for the record of an agent.
        agent (`str`, *optional*):
            The agent it belongs to.
        mode (`str`, *optional*):
            How the rows were simulated.
        rows (`int`, *optional*):
            Rows of the newest push.
        tasks (`int`, *optional*):
            Their tasks.
        tag (`str`, *optional*):
            Tag of the newest push.
        digest (`str`, *optional*):
            Its content digest.
        numbers (`dict[str, dict]`):
            Split to its pass rate: `pass_at_1`, `ci95` and `k`; empty where nothing is graded.
        parent (`str`, *optional*):
            The push it was made from, as `repo@tag`.
        spec (`str`, *optional*):
            Version of the agent's tools and system prompt.
        storage (`int`, *optional*):
            Bytes, all versions together.
        updated (`str`, *optional*):
            When it last changed, as the Hub says.
        commit (`str`, *optional*):
            Its newest commit.
        description (`str`, *optional*):
            What its owner says about it.
        url (`str`):
            Its page.
    """

    repo: str
    kind: Kind
    private: bool | None
    purpose: str | None
    agent: str | None
    mode: str | None
    rows: int | None
    tasks: int | None
    tag: str | None
    digest: str | None
    numbers: dict[str, dict[str, Any]]
    parent: str | None
    spec: str | None
    storage: int | None
    updated: str | None
    commit: str | None
    description: str | None
    url: str

    def __str__(self) -> str:
        size = "rows unknown" if self.rows is None else f"{self.rows:,} rows"
        holds_rows = self.kind == "dataset" and self.purpose != AGENT
        parts = [self.repo, self.purpose or self.kind, size if holds_rows else None, self.tag]
        parts += [*self._rates(), size_of(self.storage), None if self.agent is None else f"agent {self.agent}"]
        if self.private is not None:
            parts.append("private" if self.private else "public")
        return "  ".join(part for part in parts if part)

    def _rates(self) -> list[str]:
        """The pass rate of each graded split, the only one without its name."""
        alone = len(self.numbers) == 1
        return [
            ("" if alone else f"{split} ") + f"pass@1 {numbers['pass_at_1']:.2f}{_spread(numbers['ci95'])}"
            for split, numbers in self.numbers.items()
        ]


def size_of(storage: int | None) -> str | None:
    """
    Bytes as a person reads them.

    Examples:
    ```python
    >>> size_of(1_250_000), size_of(12), size_of(None)
    ('1.2 MB', '12 B', None)

    ```
    """
    if storage is None:
        return None
    size, units = float(storage), ["B", "kB", "MB", "GB", "TB"]
    while size >= 1000 and len(units) > 1:
        size, _ = size / 1000, units.pop(0)
    return f"{size:.0f} {units[0]}" if units[0] == "B" else f"{size:.1f} {units[0]}"


def is_ours(tags: Iterable[str] | None) -> bool:
    """Whether tags are those of a repo of ours."""
    return LIBRARY_TAG in (tags or ())


def check_answers(api: HfApi) -> None:
    """
    Asks the Hub for next to nothing, once.

    The client asks for a list again and again, for most of a minute, before it says that there is no answer.
    """
    headers = build_hf_headers(token=False, library_name="whileai-hf")
    asked: dict[str, str | int] = {"filter": LIBRARY_TAG, "limit": 1}
    hf_raise_for_status(
        get_session().get(f"{api.endpoint}/api/datasets", params=asked, headers=headers, timeout=_PATIENCE)
    )


def list_entries(api: HfApi, kind: Kind, *, author: str | None = None, tags: Sequence[str] = ()) -> Iterator[Entry]:
    """
    Repos of ours that the account may see, those that changed last first, asked for page by page.

    Args:
        api (`huggingface_hub.HfApi`):
            The client.
        kind (`str`):
            `dataset` or `model`.
        author (`str`, *optional*):
            Whose repos.
        tags (`Sequence[str]`, *optional*, defaults to `()`):
            Tags they have besides ours.
    """
    asked: dict[str, Any] = {"filter": [LIBRARY_TAG, *tags], "author": author, "expand": _EXPAND}
    asked["sort"] = "last_modified"
    found: Iterable[DatasetInfo | ModelInfo]
    found = api.list_datasets(**asked) if kind == "dataset" else api.list_models(**asked)
    # Whoever deletes does not take the Hub's filter at its word: what lacks the tags is left out here as well.
    return (entry_of(info, kind, api.endpoint) for info in found if {LIBRARY_TAG, *tags} <= set(info.tags or ()))


def ours(api: HfApi, repo: str, verb: str) -> Entry:
    """
    A data set of ours, asked for by its id.

    Args:
        api (`huggingface_hub.HfApi`):
            The client.
        repo (`str`):
            Its id.
        verb (`str`):
            What is to be done with it, for the error.

    Raises:
        [`ConfigurationError`]: It was not pushed by this library.
    """
    info = api.dataset_info(repo)
    if not is_ours(info.tags):
        raise ConfigurationError(
            f"{repo} does not carry the tag {LIBRARY_TAG}: it was not pushed by this library and is not {verb} by it; "
            "use huggingface_hub for it"
        )
    return entry_of(info, "dataset", api.endpoint)


def entry_of(info: DatasetInfo | ModelInfo, kind: Kind, endpoint: str) -> Entry:
    """An [`Entry`] of what the Hub says about a repo."""
    card: Mapping[str, Any] = {} if info.card_data is None else info.card_data.to_dict()  # type: ignore[no-untyped-call]
    updated = None if info.last_modified is None else info.last_modified.isoformat()
    shown = without_password(endpoint)
    where = f"{shown}/datasets" if kind == "dataset" else shown
    described = entry_from(info.id, kind, card, list(info.tags or ()))
    return dataclasses.replace(
        described,
        private=info.private,
        storage=info.used_storage,
        updated=updated,
        commit=info.sha,
        url=f"{where}/{info.id}",
    )


def entry_from(repo: str, kind: Kind, card: Mapping[str, Any], tags: Sequence[str]) -> Entry:
    """
    An [`Entry`] of a card's YAML alone, as it lies in a cache.

    Args:
        repo (`str`):
            Id of the repo.
        kind (`str`):
            `dataset` or `model`.
        card (`Mapping`):
            The YAML; anything in it may be missing or of another type, since owners edit cards.
        tags (`Sequence[str]`):
            The repo's tags.
    """
    said = card.get(KEY)
    key: Mapping[str, Any] = said if isinstance(said, Mapping) else {}
    return Entry(
        repo=repo,
        kind=kind,
        private=None,
        purpose=_text(key.get("purpose")) or _tagged(tags, purpose_tag("")),
        agent=_text(key.get("agent")) or _tagged(tags, _AGENT_TAG),
        mode=_text(key.get("mode")),
        rows=_count(key.get("rows")),
        tasks=_count(key.get("tasks")),
        tag=_text(key.get("tag")),
        digest=_text(key.get("digest")),
        numbers=_numbers(key.get("numbers")),
        parent=_parent(key.get("parent")),
        spec=_spec(key.get("spec")),
        storage=None,
        updated=None,
        commit=None,
        description=_text(key.get("description")) or _text(card.get("description")),
        url="",
    )


def _tagged(tags: Sequence[str], prefix: str) -> str | None:
    return next((tag.removeprefix(prefix) for tag in tags if tag.startswith(prefix) and tag != prefix), None)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _count(value: Any) -> int | None:
    """A number of rows: an int, or a mapping of splits to ints, added up."""
    if isinstance(value, Mapping):
        parts = [_count(part) for part in value.values()]
        return None if not parts or None in parts else sum(part for part in parts if part is not None)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _numbers(value: Any) -> dict[str, dict[str, Any]]:
    """Numbers that a card gives, those that are some."""
    found: dict[str, dict[str, Any]] = {}
    for split, numbers in value.items() if isinstance(value, Mapping) else ():
        rate = numbers.get("pass_at_1") if isinstance(numbers, Mapping) else None
        if isinstance(split, str) and isinstance(rate, int | float) and not isinstance(rate, bool):
            ends = numbers.get("ci95")
            told = isinstance(ends, list) and len(ends) == 2 and all(isinstance(end, int | float) for end in ends)
            found[split] = {"pass_at_1": rate, "ci95": ends if told else None, "k": _count(numbers.get("k"))}
    return found


def _spread(ends: list[float] | None) -> str:
    return "" if ends is None else f" [{ends[0]:.2f}, {ends[1]:.2f}]"


def _parent(value: Any) -> str | None:
    if isinstance(value, Mapping):
        repo, tag = _text(value.get("repo")), _text(value.get("tag"))
        return repo if tag is None or repo is None else f"{repo}@{tag}"
    return _text(value)


def _spec(value: Any) -> str | None:
    return _text(value.get("sha")) if isinstance(value, Mapping) else _text(value)
