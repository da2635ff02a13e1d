"""The card of an adapter."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whileai_hf.hub.cards.building import Card, fill
from whileai_hf.hub.cards.header import LIBRARY_TAG, agent_tag, front_matter, is_own_tag, write_header
from whileai_hf.hub.cards.markdown import code, one_line, paragraphs, table
from whileai_hf.hub.models.config import AdapterConfig
from whileai_hf.hub.models.evaluation import Holdout
from whileai_hf.hub.models.folder import AdapterFolder
from whileai_hf.hub.models.sections import (
    delta_figure,
    delta_section,
    holdout_section,
    limits_section,
    training_section,
    use_section,
)


_TEMPLATE = Path(__file__).with_name("model.md")
_FIGURE = "figures/delta.svg"
# Keys that say something about this push: never kept from an older card.
_OWN_KEYS = (
    "base_model",
    "base_model_relation",
    "datasets",
    "library_name",
    "pipeline_tag",
    "tags",
    "model-index",
    "whileai",
)


@dataclasses.dataclass(frozen=True)
class DataRef:
    """
    A push of a data set.

    Args:
        repo (`str`):
            Dataset repo.
        tag (`str`, *optional*):
            Its tag.
        commit (`str`, *optional*):
            Its commit.
    """

    repo: str
    tag: str | None = None
    commit: str | None = None

    def __str__(self) -> str:
        return self.repo if self.tag is None else f"{self.repo}@{self.tag}"


@dataclasses.dataclass(frozen=True)
class AdapterFacts:
    """
    All that a card tells.

    Args:
        repo (`str`):
            Where it goes.
        adapter ([`AdapterFolder`]):
            The adapter.
        data ([`DataRef`], *optional*):
            What it was trained on.
        holdout ([`Holdout`], *optional*):
            Its held-out evaluation.
        delta (`dict`, *optional*):
            The delta report.
        run (`dict`):
            What the run says about itself; empty without one.
        config ([`AdapterConfig`]):
            The knobs.
    """

    repo: str
    adapter: AdapterFolder
    data: DataRef | None
    holdout: Holdout | None
    delta: dict[str, Any] | None
    run: Mapping[str, Any]
    config: AdapterConfig


def model_card(facts: AdapterFacts, tag: str, previous: str | None = None) -> Card:
    """
    The card of an adapter.

    Args:
        facts ([`AdapterFacts`]):
            What it tells.
        tag (`str`):
            Tag of the push.
        previous (`str`, *optional*):
            The card it replaces: what a person wrote into its front matter stays.

    Returns:
        [`Card`]: Its text and its figures.
    """
    svg = delta_figure(facts.delta)
    base, kind = facts.adapter.base_model, facts.adapter.kind
    whose = f" for {code(facts.config.agent)}" if facts.config.agent else ""
    body = fill(
        _TEMPLATE.read_text(encoding="utf-8"),
        {
            "title": code(facts.repo.rpartition("/")[2]),
            "lead": f"A {kind} adapter{whose} of {code(base)}. This is push {code(tag)}.",
            "description": paragraphs(facts.config.description),
            "facts": _facts(facts, tag),
            "holdout": holdout_section(facts.holdout),
            "delta": delta_section(facts.delta, _FIGURE if svg else None),
            "use": use_section(facts.repo, base),
            "training": training_section(facts.run),
            "limits": limits_section(facts.holdout),
        },
    )
    return Card(write_header(_header(facts, tag, previous)) + body, {_FIGURE: svg.encode()} if svg else {})


def _facts(facts: AdapterFacts, tag: str) -> str:
    lines = [
        ("Base model", code(facts.adapter.base_model)),
        ("Agent", code(facts.config.agent) if facts.config.agent else ""),
        ("Trained on", _data(facts.data)),
        ("Tag", code(tag)),
    ]
    return table(["", ""], [[f"**{name}**", value] for name, value in lines if value])


def _data(data: DataRef | None) -> str:
    if data is None:
        return "not recorded"
    where = f"https://huggingface.co/datasets/{data.repo}" + (f"/tree/{data.tag}" if data.tag else "")
    return f"[{code(data)}]({where})"


def _header(facts: AdapterFacts, tag: str, previous: str | None) -> dict[str, Any]:
    before = front_matter(previous)
    data: dict[str, Any] = {key: value for key, value in before.items() if key not in _OWN_KEYS}
    if facts.config.license is not None:
        data["license"] = facts.config.license
    if facts.config.language:
        data["language"] = list(facts.config.language)
    data |= {"base_model": facts.adapter.base_model, "base_model_relation": "adapter", "library_name": "peft"}
    data["pipeline_tag"] = "text-generation"
    if facts.data is not None:
        data["datasets"] = [facts.data.repo]
    agent = facts.config.agent
    kept = before.get("tags") if isinstance(before.get("tags"), list) else []
    theirs = [one for one in kept or [] if isinstance(one, str) and not is_own_tag(one)]
    tags = [LIBRARY_TAG, *([agent_tag(agent)] if agent else []), facts.adapter.kind.lower()]
    data["tags"] = list(dict.fromkeys([*tags, *theirs]))
    data["whileai"] = _summary(facts, tag)
    return data


def _summary(facts: AdapterFacts, tag: str) -> dict[str, Any]:
    told, holdout, description = facts.data, facts.holdout, facts.config.description
    parent = None if told is None else {"repo": told.repo, "tag": told.tag, "commit": told.commit}
    return {
        "agent": one_line(facts.config.agent) if facts.config.agent else None,
        "description": one_line(description, 300) if description.strip() else None,
        "tag": tag,
        "base_model": facts.adapter.base_model,
        "parent": None if parent is None else {name: value for name, value in parent.items() if value is not None},
        "run": facts.run.get("id"),
        "verdict": None if holdout is None else holdout.verdict,
        "word": None if holdout is None else holdout.word,
        "numbers": {} if holdout is None else {"holdout": _number(holdout)},
    }


def _number(holdout: Holdout) -> dict[str, Any]:
    after = holdout.after
    return {holdout.metric: after.value, "ci95": None if after.ci95 is None else list(after.ci95), "k": after.k}
