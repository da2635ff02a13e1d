"""`push`, `push_rows`, `push_file`: rows to a dataset repo, as one commit with one tag."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from datasets import Dataset, concatenate_datasets
from huggingface_hub import HfApi
from huggingface_hub.errors import HFValidationError
from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

from whileai_hf.errors import ConfigurationError, HubError, PublishGateError, SourceNotFoundError
from whileai_hf.hub.accounts import read_account
from whileai_hf.hub.pushing.batches import give_back, lean
from whileai_hf.hub.pushing.cleaning import clean
from whileai_hf.hub.pushing.config import PushConfig, check_config
from whileai_hf.hub.pushing.heads import CARD, heal, next_record, read_before, stale_files, title_of
from whileai_hf.hub.pushing.hiding import Hiding, without_paths
from whileai_hf.hub.pushing.provenance import (
    judges,
    name_of,
    policy_versions,
    read_parent,
    report_of,
    run_ids,
    shortened,
    spec_of,
)
from whileai_hf.hub.pushing.result import PushResult
from whileai_hf.hub.pushing.shards import Written, write_split
from whileai_hf.hub.pushing.splits import name_splits, open_splits, shared_tasks
from whileai_hf.hub.pushing.workplace import workplace
from whileai_hf.hub.record import RUN_FILE, RunRecord, SplitRecord
from whileai_hf.knobs import overlay
from whileai_hf.measure.passes.codes import TASK_COLUMNS, task_codes
from whileai_hf.rows import view
from whileai_hf.rows.contents import digest_of
from whileai_hf.select.publishing import GateReport, publish_gate
from whileai_hf.store.repos import Change, Head, ask, commit_change, hub_api, hub_errors, without_password


# Whose version a record names. Rooms do not import the package they are in.
_ROOT = __name__.split(".")[0]


@lean()
def push(
    data: Any,
    repo: str,
    *,
    purpose: str = "train",
    holdout: float | None = None,
    gate: bool = True,
    config: PushConfig | None = None,
    **knobs: Any,
) -> PushResult:
    """
    Puts rows into a dataset repo: Parquet, a card and `run.json`, as one commit with a tag of its own.

    Nothing only a judge may see, no token and no folder of this machine leaves it; what was taken out is said. The
    rows replace those of the same configuration, and every push before stays what it was under its tag.

    Args:
        data (`Dataset`, `list[dict]`, path, Hub repo id, or a `DatasetDict` of splits):
            The rows.
        repo (`str`):
            "namespace/name", or "name" in the namespace of the account; made when absent.
        purpose (`str`, *optional*, defaults to `"train"`):
            "train", "holdout" or "eval". The gate refuses rows to train on; of others it only says what it found.
        holdout (`float`, *optional*):
            Share of the tasks that go into the split "holdout". A task is on the same side in every push.
        gate (`bool`, *optional*, defaults to `True`):
            Check the rows with [`~whileai_hf.select.publish_gate`] first.
        config ([`PushConfig`], *optional*):
            Further knobs.
        **knobs:
            Fields of [`PushConfig`], laid over `config`.

    Returns:
        [`PushResult`]: The repo, the tag, the commit, the digest and what the gate found.

    Raises:
        [`PublishGateError`]: Rows to train on that are not fit for it.
        [`ConfigurationError`]: A knob or name that cannot be honoured, or a repo that holds something else.
        [`DataError`]: No rows, or rows that cannot be split or written.
        [`HubError`]: The Hub cannot be reached, or said no. The repo is then as it was.
    """
    settings = overlay(PushConfig, config, knobs)
    check_config(settings, purpose, holdout)
    api = hub_api(settings.token)
    name = _own_repo(api, repo)
    parent = read_parent(settings.parent, settings.token)
    splits, scrubbed = _cleaned(open_splits(data), settings)
    report = _gate(splits, purpose, gate, settings)
    give_back()
    splits = name_splits(splits, purpose, holdout, settings)
    with workplace() as folder:
        written = {split: _written(rows, folder / split, settings) for split, rows in splits.items()}
        record = _record(splits, written, settings, report)
        record = dataclasses.replace(record, purpose=purpose, parent=parent, scrubbed=scrubbed)
        give_back()
        return _Place(api, name, settings).commit(record, splits, written, report)


def push_rows(rows: list[dict[str, Any]], repo: str, **knobs: Any) -> PushResult:
    """
    [`push`] for a list of row dicts.

    Args:
        rows (`list[dict]`):
            The rows.
        repo (`str`):
            Dataset repo.
        **knobs:
            As for [`push`].
    """
    if isinstance(rows, str | PathLike | Mapping):
        raise ConfigurationError(f"rows were given as a {type(rows).__name__}; pass a list of dicts, or call push")
    return push(list(rows) if not isinstance(rows, Dataset) else rows, repo, **knobs)


def push_file(path: str | PathLike[str], repo: str, **knobs: Any) -> PushResult:
    """
    [`push`] for a file (JSONL, JSON, Parquet, Arrow) or a folder of those; never taken for a repo id.

    Args:
        path (`str` or `Path`):
            The file.
        repo (`str`):
            Dataset repo.
        **knobs:
            As for [`push`].

    Raises:
        [`SourceNotFoundError`]: There is no such file.
    """
    place = Path(path).expanduser()
    if not str(path).strip() or not place.exists():
        raise SourceNotFoundError(f"{str(path)!r} is no file (looked for {place.absolute()}); check the spelling")
    return push(place, repo, **knobs)


def _own_repo(api: HfApi, repo: str) -> str:
    """The full id of the repo, checked as far as it can be before anything is done."""
    try:
        validate_repo_id(repo)
    except HFValidationError as error:
        raise ConfigurationError(
            f"repo={repo!r} cannot be the name of a repo; write 'namespace/name', of letters, digits, '-', '_' and '.'"
        ) from error
    with hub_errors(f"pushing to {repo}"):
        account = read_account(api)
    name = account.repo(repo)
    namespace = name.split("/")[0]
    if account.role == "read":
        raise HubError(f"pushing to {name} failed: the token may only read; make one that may write, `hf auth login`")
    if namespace not in account.namespaces and namespace not in (account.writes_to or []):
        raise HubError(
            f"pushing to {name} failed: {namespace!r} is not a namespace of {account.name}, which may write to "
            f"{', '.join(account.namespaces)}"
        )
    return name


def _cleaned(splits: dict[str, Dataset], settings: PushConfig) -> tuple[dict[str, Dataset], list[str]]:
    found: dict[str, Dataset] = {}
    scrubbed: dict[str, None] = {}
    for name, rows in splits.items():
        found[name], said = clean(rows, settings.token)
        scrubbed.update(dict.fromkeys(f"{name}: {text}" if name else text for text in said))
    return found, list(scrubbed)


def _gate(splits: dict[str, Dataset], purpose: str, wanted: bool, settings: PushConfig) -> GateReport | None:
    if not wanted:
        return None
    rows = next(iter(splits.values())) if len(splits) == 1 else splits.get("train")
    if rows is None:
        rows = concatenate_datasets(list(splits.values()))
    report = publish_gate(
        rows,
        mode=settings.mode,
        endorsed=settings.endorsed,
        strict_hacks=settings.strict_hacks,
        evals=settings.eval_data,
        strict=False,
    )
    if report.refusals and purpose == "train":
        raise PublishGateError(f"the rows are not fit to be published: {'; '.join(report.refusals)}", report)
    return report


def _record(
    splits: Mapping[str, Dataset], written: Mapping[str, Written], settings: PushConfig, gate: GateReport | None
) -> RunRecord:
    """What is known about a push before its repo is looked at."""
    hiding = Hiding(settings.token)
    run = report_of(next(iter(splits.values())), hiding)
    spec = spec_of(run)
    return RunRecord(
        tag="",
        purpose="",
        splits={split: _split_record(splits[split], found, split, settings) for split, found in written.items()},
        digest=digest_of(*(f"{split}:{found.digest}" for split, found in written.items())),
        version=str(sys.modules[_ROOT].__version__),
        mode=settings.mode or (None if gate is None else gate.mode),
        agent=hiding.value(settings.agent) or name_of(spec),
        config_name=settings.config_name,
        spec=spec,
        policy_versions=policy_versions(splits),
        judges=judges(splits, hiding),
        run_ids=run_ids(splits),
        report=run,
        gate=None if gate is None else without_paths(hiding.value(shortened(gate.to_dict()))),
        description=hiding.value(settings.description),
        license=hiding.value(settings.license),
        language=hiding.value(list(settings.language)),
    )


def _written(rows: Dataset, folder: Path, settings: PushConfig) -> Written:
    folder.mkdir()
    written = write_split(rows, folder, settings.max_shard_size)
    give_back()
    return written


def _split_record(rows: Dataset, written: Written, split: str, settings: PushConfig) -> SplitRecord:
    named = [name for name in TASK_COLUMNS if name in rows.column_names]
    tasks = len(task_codes(view(rows.select_columns(named))).keys) if named else 0
    return SplitRecord(written.rows, tasks, written.digest, written.paths(settings.config_name, split))


@dataclasses.dataclass(frozen=True)
class _Place:
    """Where a push goes."""

    api: HfApi
    repo: str
    settings: PushConfig

    def commit(
        self,
        record: RunRecord,
        splits: Mapping[str, Dataset],
        written: Mapping[str, Written],
        gate: GateReport | None,
    ) -> PushResult:
        """Commits the push on whatever the repo holds by then."""
        from whileai_hf.hub.cards import build_card  # draws figures; the refusals above need none

        final = record

        def build(head: Head) -> Change:
            nonlocal final
            before = read_before(self.repo, head, self.settings, record.purpose)
            heal(self.api, self.repo, before)
            final = next_record(record, before)
            card = build_card(splits, final, repo=self.repo, previous=before.card)
            give_back()
            files: dict[str, bytes | Path] = {
                path: file
                for split, found in written.items()
                for path, file in zip(final.splits[split].files, found.files, strict=True)
            }
            files |= {CARD: card.readme.encode(), RUN_FILE: final.dumps(), **card.files}
            return Change(title_of(final), files, stale_files(final, before, files), final.tag)

        ask(
            lambda: self.api.create_repo(self.repo, repo_type="dataset", private=self.settings.private, exist_ok=True),
            f"making {self.repo}",
        )
        sha = commit_change(self.api, self.repo, build)
        if self.settings.publish:
            ask(
                lambda: self.api.update_repo_settings(self.repo, repo_type="dataset", private=False),
                f"publishing {self.repo}",
            )
        return PushResult(
            repo=self.repo,
            tag=final.tag,
            commit=sha,
            digest=final.digest,
            url=f"{without_password(self.api.endpoint)}/datasets/{self.repo}/tree/{final.tag}",
            splits={name: split.rows for name, split in final.splits.items()},
            gate=gate,
            scrubbed=final.scrubbed,
            warnings=[*([] if gate is None else [*gate.refusals, *gate.warnings]), *shared_tasks(splits)],
        )
