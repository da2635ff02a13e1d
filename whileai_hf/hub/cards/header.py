"""The front matter of a card: what the Hub, `load_dataset` and the catalog read without opening a file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import yaml

from whileai_hf.hub.cards.markdown import one_line
from whileai_hf.hub.cards.numbers import SplitNumbers, count_tasks
from whileai_hf.rows.rng import digest


if TYPE_CHECKING:
    from whileai_hf.hub.record import RunRecord

LIBRARY_TAG = "whileai-hf"
_AGENT_TAG, _PURPOSE_TAG = "whileai-agent-", "whileai-purpose-"
# Keys that say something about the rows of this push: never kept from an older card.
_OWN_KEYS = ("configs", "dataset_info", "tags", "task_categories", "size_categories", "pretty_name", "whileai")
_FRONT_MATTER = re.compile(r"\A\s*---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_WORDS = re.compile(r"[a-z0-9]+")
# Longest readable part of an agent's tag, in characters.
_SLUG_LENGTH = 40
# Characters of the description that a catalog lists.
_DESCRIPTION = 300
# What the Hub calls sizes: up to so many rows.
_SIZES = (
    (10**3, "n<1K"),
    (10**4, "1K<n<10K"),
    (10**5, "10K<n<100K"),
    (10**6, "100K<n<1M"),
    (10**7, "1M<n<10M"),
)


def agent_slug(name: str) -> str:
    """
    An agent's name as part of a tag: names that differ in more than case and punctuation differ.

    Examples:
    ```python
    >>> agent_slug("Order Desk"), agent_slug("order-desk")
    ('order-desk', 'order-desk')
    >>> agent_slug("\u8ba2\u5355") != agent_slug("\u9000\u6b3e")
    True

    ```
    """
    lowered = one_line(name, 4 * _SLUG_LENGTH).lower()
    readable = "-".join(_WORDS.findall(lowered))
    cut = readable[:_SLUG_LENGTH].strip("-")
    if cut == readable and lowered.isascii() and readable:
        return cut
    return "-".join(filter(None, [cut, digest("agent", name, length=6)]))


def agent_tag(name: str) -> str:
    """The tag of everything on the Hub that belongs to an agent."""
    return _AGENT_TAG + agent_slug(name)


def purpose_tag(purpose: str) -> str:
    """The tag of data sets with a purpose (`train`, `holdout`, `eval`)."""
    return _PURPOSE_TAG + purpose


def is_own_tag(tag: object) -> bool:
    """Whether a tag was set by a push and is replaced by the next."""
    return isinstance(tag, str) and tag.startswith((LIBRARY_TAG, _AGENT_TAG, _PURPOSE_TAG))


def front_matter(readme: str | None) -> dict[str, Any]:
    """The YAML of a card; empty where it has none, or none that can be read."""
    found = _FRONT_MATTER.match(readme or "")
    if found is None:
        return {}
    try:
        read = yaml.safe_load(found.group(1))
    except yaml.YAMLError:
        return {}
    return read if isinstance(read, dict) else {}


def size_category(n_rows: int) -> str:
    """What the Hub calls this many rows."""
    return next((name for limit, name in _SIZES if n_rows < limit), "10M<n<100M")


def header(record: RunRecord, splits: Sequence[SplitNumbers], previous: str | None = None) -> dict[str, Any]:
    """
    The front matter of a push.

    Args:
        record ([`~whileai_hf.hub.record.RunRecord`]):
            The push.
        splits (`Sequence[SplitNumbers]`):
            Its splits.
        previous (`str`, *optional*):
            The card it replaces: what a person wrote there (license, languages, their own tags) stays, and so do the
            configurations this push does not touch.
    """
    before = front_matter(previous)
    data: dict[str, Any] = {key: value for key, value in before.items() if key not in _OWN_KEYS}
    if record.license is not None:
        data["license"] = record.license
    if record.language:
        data["language"] = list(record.language)
    tags = [LIBRARY_TAG, *([agent_tag(record.agent)] if record.agent else []), purpose_tag(record.purpose)]
    theirs = [tag for tag in _list(before.get("tags")) if isinstance(tag, str) and not is_own_tag(tag)]
    data["tags"] = list(dict.fromkeys([*tags, *theirs]))
    data["task_categories"] = _categories(record, splits)
    data["size_categories"] = [size_category(sum(split.n_rows for split in splits))]
    data["configs"] = _configs(record, splits, before)
    data["whileai"] = _summary(record, splits)
    return data


def write_header(data: Mapping[str, Any]) -> str:
    """Front matter as text, with its fences."""
    return f"---\n{yaml.safe_dump(dict(data), sort_keys=False, allow_unicode=True, width=1000)}---\n"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _categories(record: RunRecord, splits: Sequence[SplitNumbers]) -> list[str]:
    graded = any(split.passes is not None for split in splits)
    return ["text-generation", *(["reinforcement-learning"] if record.mode == "rl" and graded else [])]


def _configs(record: RunRecord, splits: Iterable[SplitNumbers], before: Mapping[str, Any]) -> list[dict[str, Any]]:
    name = record.config_name
    folder = "data" if name == "default" else name
    files = [{"split": split.name, "path": f"{folder}/{split.name}-*"} for split in splits if split.n_rows]
    kept = [
        config
        for config in _list(before.get("configs"))
        if isinstance(config, dict) and config.get("config_name") not in (name, None)
    ]
    # The first is what `load_dataset` takes when nobody names one.
    everything = [{"config_name": name, "data_files": files}, *kept]
    return sorted(everything, key=lambda config: config["config_name"] != "default")


def _parent(record: RunRecord) -> dict[str, str] | None:
    if record.parent is None:
        return None
    told = {"repo": record.parent.repo, "tag": record.parent.tag, "commit": record.parent.commit}
    return {name: value for name, value in told.items() if value is not None}


def _summary(record: RunRecord, splits: Sequence[SplitNumbers]) -> dict[str, Any]:
    return {
        "agent": one_line(record.agent) if record.agent else None,
        "description": one_line(record.description, _DESCRIPTION) if record.description.strip() else None,
        "purpose": record.purpose,
        "mode": record.mode,
        "tag": record.tag,
        "digest": record.digest,
        "rows": sum(split.n_rows for split in splits),
        "tasks": count_tasks(splits),
        "parent": _parent(record),
        "spec": (record.spec or {}).get("sha"),
        "run": list(record.run_ids),
        "numbers": {
            split.name: {
                "pass_at_1": split.passes.pass_at_1,
                "ci95": None if split.passes.ci95 is None else list(split.passes.ci95),
                "k": split.passes.k,
            }
            for split in splits
            if split.passes is not None
        },
    }
