"""`push_adapter`: a trained adapter to a model repo, in one commit with its card and its result."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, Unpack, runtime_checkable

from whileai_hf.errors import ConfigurationError
from whileai_hf.hub.cards.header import LIBRARY_TAG, front_matter
from whileai_hf.hub.models.card import AdapterFacts, DataRef, model_card
from whileai_hf.hub.models.config import AdapterConfig, AdapterKnobs
from whileai_hf.hub.models.evaluation import read_delta, read_holdout, with_delta
from whileai_hf.hub.models.folder import read_adapter
from whileai_hf.hub.models.results import FOLDER, result_file
from whileai_hf.knobs import overlay
from whileai_hf.measure.compare import DeltaReport
from whileai_hf.measure.passes import PassAt
from whileai_hf.rows import Report
from whileai_hf.store.repos import Change, Head, commit_change, hub_api, hub_errors, locate, without_password


_CARD = "README.md"
_TAG = re.compile(r"v(\d+)")
_DATA = re.compile(r"([\w.-]+/[\w.-]+)(?:@([\w./-]+))?")
# What the data of a run has to look like to be a push: its name alone may be that of a local folder.
_PINNED = re.compile(r"[\w.-]+/[\w.-]+@v\d+")
# Files a new repo is made with.
_BLANK = (".gitattributes", _CARD)
# What an earlier push of an adapter left, and the next replaces.
_OURS = ("adapter_", "figures/", f"{FOLDER}/")


@runtime_checkable
class Trained(Protocol):
    """A finished training run, as far as a push looks at it."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def adapter(self) -> str | None:
        """Where its weights are."""

    @property
    def holdout_summary(self) -> Mapping[str, Any] | None:
        """Its held-out evaluation."""

    def to_dict(self) -> dict[str, Any]:
        """All else it says about itself: `name`, `base_model`, `dataset`, `delta`, `trainer`, `config`, `alarms`."""


@runtime_checkable
class Pushed(Protocol):
    """A push of a data set, as `push` returns it."""

    @property
    def repo(self) -> str:
        """The dataset repo."""

    @property
    def tag(self) -> str | None:
        """The tag of the push."""


@dataclasses.dataclass(frozen=True)
class AdapterPush(Report):
    """
    What [`push_adapter`] did.

    Args:
        repo (`str`):
            The model repo.
        tag (`str`):
            Tag of this push.
        commit (`str`):
            Its commit.
        url (`str`):
            Its page.
        base_model (`str`):
            The model it adapts.
        data (`str`, *optional*):
            What it was trained on, `repo@tag`.
        files (`list[str]`):
            Files of the commit.
        left_out (`list[str]`):
            Files of the folder that were not pushed: they do not belong to an adapter, or hold what is nobody's
            business.
        warnings (`list[str]`):
            What a reader of the card will miss.
    """

    repo: str
    tag: str
    commit: str
    url: str
    base_model: str
    data: str | None
    files: list[str]
    left_out: list[str]
    warnings: list[str]

    def __str__(self) -> str:
        lines = [f"{self.repo}@{self.tag}: {len(self.files)} files, adapter of {self.base_model}", self.url]
        return "\n".join([*lines, *(f"warning: {text}" for text in self.warnings)])


def push_adapter(
    source: Trained | str | os.PathLike[str],
    repo: str,
    *,
    base_model: str | None = None,
    data: Pushed | str | None = None,
    holdout: Mapping[str, Any] | PassAt | None = None,
    delta: DeltaReport | Mapping[str, Any] | None = None,
    config: AdapterConfig | None = None,
    **knobs: Unpack[AdapterKnobs],
) -> AdapterPush:
    """
    Pushes an adapter to a model repo: one commit with its weights, a card and the result, and one tag.

    The card says whether training worked: the held-out numbers before and after, what else changed, and which push of
    which data it was trained on. What nobody measured is said to be not measured. Optimizer states, pickled arguments
    and paths of this machine stay behind.

    Args:
        source ([`TrainingRun`], `str` or `PathLike`):
            A finished run, which brings its adapter, data, held-out evaluation and delta report along; or the folder
            an adapter was saved to.
        repo (`str`):
            Model repo, "namespace/name"; made when absent.
        base_model (`str`, *optional*):
            The model it adapts; left out, what the adapter or the run says. Needed where that is a local folder.
        data (`PushResult` or `str`, *optional*):
            What it was trained on: what `push` returned, or `"namespace/name@v3"`.
        holdout (`Mapping` or [`~whileai_hf.measure.passes.PassAt`], *optional*):
            `{"before", "after"}`: numbers or `pass_at` reports; or the adapter's `pass_at` report alone.
        delta ([`~whileai_hf.measure.compare.DeltaReport`] or `Mapping`, *optional*):
            What [`delta_report`] says about before and after.
        config ([`AdapterConfig`], *optional*):
            Further knobs as one object.
        **knobs:
            Fields of [`AdapterConfig`] as keywords.

    Returns:
        [`AdapterPush`]: Repo, tag, commit and files.

    Raises:
        [`DataError`]: The folder holds no adapter.
        [`ConfigurationError`]: A base model that is none on the Hub, or a repo that holds something else.
        [`HubError`]: The Hub said no, or nothing.
    """
    knob = overlay(AdapterConfig, config, knobs)
    told = source.to_dict() if isinstance(source, Trained) else {}
    adapter = read_adapter(_place(source), base_model or _hub_name(told.get("base_model")))
    summary = source.holdout_summary if isinstance(source, Trained) else None
    changes = read_delta(delta if delta is not None else told.get("delta"))
    facts = AdapterFacts(
        repo=repo,
        adapter=adapter,
        data=_data(data if data is not None else _pinned(told.get("dataset")), knob.token),
        holdout=with_delta(read_holdout(holdout if holdout is not None else summary), changes),
        delta=changes,
        run=told,
        config=knob,
    )
    held_out = _data(knob.eval_data, knob.token) or facts.data
    api = hub_api(knob.token)
    with hub_errors(f"making {repo}"):
        made = api.create_repo(repo, repo_type="model", private=knob.private, exist_ok=True)
    facts = dataclasses.replace(facts, repo=made.repo_id)  # a bare name is in the account's own namespace
    pushed: dict[str, Any] = {}

    def build(head: Head) -> Change:
        previous = _previous(api, facts.repo, head, knob)
        tag = _next_tag(head)
        card = model_card(facts, tag, previous)
        files: dict[str, bytes | Path] = {**adapter.files, **card.files, _CARD: card.readme.encode()}
        if facts.holdout is not None and held_out is not None:
            path, content = result_file(facts.holdout, held_out.repo, held_out.commit)
            files[path] = content
        stale = [path for path in head.files if path.startswith(_OURS)]
        pushed.update(tag=tag, files=sorted(files))
        return Change(f"Adapter {tag}", files, stale, tag)

    commit = commit_change(api, facts.repo, build, kind="model")
    return AdapterPush(
        repo=facts.repo,
        commit=commit,
        url=without_password(str(made)),
        base_model=adapter.base_model,
        data=None if facts.data is None else str(facts.data),
        left_out=adapter.left_out,
        warnings=_warnings(facts, held_out),
        **pushed,
    )


def _place(source: Trained | str | os.PathLike[str]) -> str | os.PathLike[str]:
    if not isinstance(source, Trained):
        if not isinstance(source, str | os.PathLike):
            raise ConfigurationError(f"an adapter was given as a {type(source).__name__}; pass a run or a folder")
        return source
    if source.adapter is None:
        raise ConfigurationError(
            f"the run {source.id} names no adapter; pass its folder, or say it with run.finish(adapter=folder)"
        )
    return source.adapter


def _hub_name(name: Any) -> str | None:
    """A run's base model where it is one of the Hub; else the adapter has to say it."""
    return name if isinstance(name, str) and _DATA.fullmatch(name) and not Path(name).exists() else None


def _pinned(name: Any) -> str | None:
    return name if isinstance(name, str) and _PINNED.fullmatch(name) else None


def _data(given: Pushed | str | None, token: str | None) -> DataRef | None:
    if given is None:
        return None
    if isinstance(given, str):
        found = _DATA.fullmatch(given)
        if found is None:
            raise ConfigurationError(
                f"data={given!r:.80} is no push; pass 'namespace/name@tag', or what push returned"
            )
        repo, tag = found.groups()
    elif isinstance(given, Pushed):
        repo, tag = given.repo, given.tag
    else:
        raise ConfigurationError(f"data is a {type(given).__name__}; pass 'namespace/name@tag', or what push returned")
    return DataRef(repo, tag, locate(repo, tag, token).sha)


def _previous(api: Any, repo: str, head: Head, knob: AdapterConfig) -> str | None:
    """The card a push replaces; refuses a repo that holds something else."""
    readme = None
    if _CARD in head.files:
        with hub_errors(f"reading the card of {repo}"):
            readme = Path(api.hf_hub_download(repo, _CARD, revision=head.sha)).read_text("utf-8", errors="replace")
    tags = front_matter(readme).get("tags")
    ours = isinstance(tags, list) and LIBRARY_TAG in tags
    others = [path for path in head.files if path not in _BLANK]
    if others and not ours and not knob.overwrite:
        raise ConfigurationError(
            f"{repo} holds something that was not pushed from here ({', '.join(others[:3])}); pick another name, or "
            "pass overwrite=True to add the adapter to it"
        )
    return readme


def _next_tag(head: Head) -> str:
    numbers = [int(found.group(1)) for tag in head.tags if (found := _TAG.fullmatch(tag))]
    return f"v{max(numbers, default=0) + 1}"


def _warnings(facts: AdapterFacts, held_out: DataRef | None) -> list[str]:
    found = []
    if facts.holdout is None:
        found.append("no held-out evaluation: the card says NOT MEASURED; pass holdout={'before': ..., 'after': ...}")
    elif held_out is None:
        found.append("no .eval_results: pass data= or eval_data= to say where the held-out tasks are")
    if facts.data is None:
        found.append("the card does not say what it was trained on; pass data='namespace/name@tag'")
    return found
