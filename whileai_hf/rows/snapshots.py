"""Rows of a dataset repo at one commit, as a Dataset that is mapped from disk.

A repo this library pushed says in `run.json` which files a split is made of and what its rows hash to; they are read
from that commit and checked. Any other repo is read by `load_dataset`, and refused when that serves another commit,
which it does without a word when the Hub does not answer.
"""

from __future__ import annotations

import dataclasses
import os
import re
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import datasets
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from datasets import Dataset, DatasetDict, DatasetInfo, Features, NamedSplit, concatenate_datasets, load_dataset
from datasets.exceptions import DataFilesNotFoundError, DatasetGenerationError, DatasetNotFoundError

from whileai_hf.errors import DataError, SourceNotFoundError
from whileai_hf.rows.contents import ContentDigest
from whileai_hf.store.repos import (
    Located,
    UnreachableError,
    fetch,
    fetch_file,
    hub_api,
    hub_errors,
    locate,
    remember,
    without_password,
)


RUN_FILE = "run.json"
_SCHEMA = "whileai-hf/run-"
DEFAULT_CONFIG = "default"
# Rows decoded from Parquet at a time: some megabytes.
_BATCH = 1000
# What a split and a digest look like.
_NAME, _DIGEST = re.compile(r"\w+(?:\.\w+)*"), re.compile(r"[0-9a-f]+")
_UNREADABLE = "of a file that cannot be read"
# Characters of other libraries' errors that are quoted.
_QUOTED = 300


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """
    Rows of a repo, and which commit they are of.

    Args:
        dataset (`datasets.Dataset`):
            The rows.
        located ([`~whileai_hf.store.repos.Located`]):
            The repo and the commit.
        split (`str`):
            The split they are.
        run (`dict`, *optional*):
            What `run.json` holds, when it is about these rows.
    """

    dataset: Dataset
    located: Located
    split: str
    run: dict[str, Any] | None = None


def read_repo(
    repo: str,
    *,
    revision: str | None = None,
    split: str | None = None,
    config_name: str | None = None,
    token: str | bool | None = None,
) -> Snapshot:
    """
    Rows of a dataset repo at one commit. A warning says so when the Hub did not answer and a copy is used.

    Args:
        repo (`str`):
            Dataset repo, "namespace/name".
        revision (`str`, *optional*):
            Tag, branch or commit; the newest commit when left out.
        split (`str`, *optional*):
            The split; the only one, or "train", when left out.
        config_name (`str`, *optional*):
            The configuration; "default" when left out.
        token (`str` or `bool`, *optional*):
            Token; the one of `hf auth login` when left out.

    Returns:
        [`Snapshot`]: The rows and where they are from.

    Raises:
        [`SourceNotFoundError`]: No such repo, revision, configuration or split.
        [`HubError`]: No answer or no access, and no copy of that commit.
        [`DataError`]: The files are not those of the push.
    """
    located = locate(repo, revision, token)
    run = _read_run(located, token)
    if run is not None:
        _check_tag(located, run)
    pushed = None if run is None else _splits(run, config_name or DEFAULT_CONFIG)
    if run is None or pushed is None:
        snapshot = _read_foreign(located, split, config_name, token)
    else:
        snapshot = _read_pushed(located, run, pushed, split, config_name or DEFAULT_CONFIG, token)
    if located.note is None:
        remember(located)
    else:
        warnings.warn(located.note, stacklevel=3)
    return snapshot


def _read_run(located: Located, token: str | bool | None) -> dict[str, Any] | None:
    found: Any = None
    for again in (False, True):  # the copy here may be half a file; without it nothing is checked
        path = fetch_file(located, RUN_FILE, token, again=again)
        if path is None:
            return None
        try:
            found = orjson.loads(path.read_bytes())
            break
        except orjson.JSONDecodeError:
            continue  # in the end: somebody else's file of that name
    ours = isinstance(found, dict) and str(found.get("schema")).startswith(_SCHEMA)
    return found if ours and _are_splits(found.get("splits")) else None


def _are_splits(splits: Any) -> bool:
    """Whether this is how a push notes its splits: names and digests become names of files here."""
    return isinstance(splits, dict) and all(
        _NAME.fullmatch(name)
        and isinstance(entry, dict)
        and isinstance(entry.get("rows"), int)
        and _DIGEST.fullmatch(str(entry.get("digest")))
        and isinstance(entry.get("files"), list)
        and all(isinstance(path, str) for path in entry["files"])
        for name, entry in splits.items()
    )


def _check_tag(located: Located, run: Mapping[str, Any]) -> None:
    """Refuses the tag of one push that was moved to another."""
    history = run.get("history")
    pushes = [entry.get("tag") for entry in history if isinstance(entry, dict)] if isinstance(history, list) else []
    if located.revision in pushes and located.revision != run.get("tag"):
        raise DataError(
            f"the tag {located.revision} of {located.repo} names the push {run.get('tag')} now: somebody moved it; "
            "pass the commit of the push you mean as revision"
        )


def _splits(run: Mapping[str, Any], config_name: str) -> dict[str, dict[str, Any]] | None:
    """The splits of a configuration as `run.json` has them; `None` for a configuration it says nothing about."""
    if config_name == run.get("config_name", DEFAULT_CONFIG):
        return dict(run["splits"])
    others = run.get("others")
    other = others.get(config_name) if isinstance(others, dict) else None
    return dict(other["splits"]) if isinstance(other, dict) and _are_splits(other.get("splits")) else None


def pick_split(names: list[str], split: str | None, where: str) -> str:
    """The split to read of those there are."""
    if split is None:
        if len(names) == 1:
            return names[0]
        if "train" in names:
            return "train"
        raise DataError(f"{where} has the splits {', '.join(names)}; pass split= with one of them")
    if split not in names:
        raise SourceNotFoundError(f"{where} has no split {split!r}; it has {', '.join(names)}")
    return split


def _read_pushed(
    located: Located,
    run: dict[str, Any],
    pushed: dict[str, dict[str, Any]],
    split: str | None,
    config_name: str,
    token: str | bool | None,
) -> Snapshot:
    name = pick_split(list(pushed), split, str(located))
    entry = pushed[name]
    info = DatasetInfo(description=_description(run, config_name), homepage=_address(located))
    copy = _copy_path(located, config_name, name, entry["digest"])
    if not _is_whole(copy, entry["rows"]):
        missing, digest = _copied(located, entry, copy, token)
        if digest is not None and not _is_the_push(located, run, token):
            missing = ["changed"]
        elif digest is not None:
            if located.note is None:  # what is here may be half a file; what the Hub has is not
                missing, digest = _copied(located, entry, copy, token, again=True)
            if digest is not None:
                raise DataError(
                    f"the rows of {located}, split {name!r}, are not those that were pushed as {run.get('tag')} "
                    f"(digest {digest} instead of {entry['digest']}); the files were changed or damaged: pull another "
                    "tag, or push again"
                )
        if missing:
            return _changed_since(located, run, split, config_name, token)
    dataset = Dataset.from_file(str(copy), info=info, split=NamedSplit(name))
    return Snapshot(dataset, located, name, run)


def _is_whole(copy: Path, rows: int) -> bool:
    """Whether a copy made before is there with all its rows; one on a disk that was full may not be."""
    if not copy.exists():
        return False
    try:
        return len(Dataset.from_file(str(copy))) == rows
    except (pa.ArrowException, OSError, ValueError):
        return False


def _copied(
    located: Located, entry: Mapping[str, Any], copy: Path, token: str | bool | None, again: bool = False
) -> tuple[list[str], str | None]:
    """Makes the copy of a split; returns the files that are missing, and the digest where it is not the push's."""
    files = fetch(located, entry["files"], token, again=again)
    missing = [path for path in entry["files"] if path not in files]
    return missing, None if missing else _convert([files[path] for path in entry["files"]], copy, entry["digest"])


def _changed_since(
    located: Located, run: Mapping[str, Any], split: str | None, config_name: str, token: str | bool | None
) -> Snapshot:
    """The rows of a repo that something else wrote to after the last push."""
    warnings.warn(
        f"{located} was written to after the push {run.get('tag')}: these are the newer rows, of which run.json says "
        f"nothing; pass revision={run.get('tag')!r} for those of the push",
        stacklevel=4,
    )
    return _read_foreign(located, split, config_name, token)


def _is_the_push(located: Located, run: Mapping[str, Any], token: str | bool | None) -> bool:
    """Whether the commit is the push itself, not a later one of somebody else."""
    if located.note is not None or located.revision == run.get("tag"):
        return True
    with hub_errors(f"listing the tags of {located.repo}"):
        refs = hub_api(token).list_repo_refs(located.repo, repo_type="dataset")
    return any(ref.name == run.get("tag") and ref.target_commit == located.sha for ref in refs.tags)


def _description(run: Mapping[str, Any], config_name: str) -> str:
    # As a run leaves it on the Dataset it makes, so that the same function finds it again.
    report = run.get("report") if config_name == run.get("config_name", DEFAULT_CONFIG) else None
    if not isinstance(report, dict) or "run_id" not in report:
        return ""
    return orjson.dumps({"run_id": report["run_id"], **report}).decode()


def _address(located: Located) -> str:
    return f"{without_password(hub_api().endpoint)}/datasets/{located.repo}/tree/{located.sha}"


def _copy_path(located: Located, config_name: str, split: str, digest: str) -> Path:
    folder = Path(datasets.config.HF_DATASETS_CACHE) / "whileai_hf" / located.repo.replace("/", "--") / located.sha
    # The digest in the name: a copy is only ever put there after its rows were found to hash to it.
    return folder / f"{config_name}-{split}-{digest}.arrow"


def _convert(files: list[Path], copy: Path, digest: str) -> str | None:
    """Writes Parquet files as one Arrow file; returns the digest of their rows when it is not the one expected."""
    try:
        copy.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=copy.parent, prefix=copy.name)
    except OSError as error:
        raise _no_place(copy, error) from error
    found = ContentDigest()
    try:
        schema = _schema(files[0])
        with os.fdopen(handle, "wb") as sink, pa.ipc.new_stream(sink, schema) as writer:
            for file in files:
                for batch in pq.ParquetFile(file).iter_batches(_BATCH):
                    table = pa.Table.from_batches([batch]).cast(schema)
                    found.update(table)
                    writer.write_table(table)
        if found.hexdigest() != digest:
            return found.hexdigest()
        os.replace(temporary, copy)
    except OSError as error:
        if error.errno is not None:  # Arrow's own, of a file that makes no sense, have no number
            raise _no_place(copy, error) from error
        return _UNREADABLE
    except (pa.ArrowException, ValueError, KeyError, TypeError):
        return _UNREADABLE
    finally:
        Path(temporary).unlink(missing_ok=True)
    return None


def _no_place(copy: Path, error: OSError) -> DataError:
    return DataError(
        f"the rows cannot be kept in {copy.parent} ({error.strerror}); mend that folder, or set HF_DATASETS_CACHE"
    )


def _schema(file: Path) -> pa.Schema:
    """The schema the rows were pushed with; Parquet knows neither seconds of a day nor dates in milliseconds."""
    stored = pq.read_schema(file)
    said = orjson.loads((stored.metadata or {}).get(b"huggingface", b"null"))
    if said is None:
        return Features.from_arrow_schema(stored).arrow_schema
    return Features.from_dict(said["info"]["features"]).arrow_schema


def _read_foreign(located: Located, split: str | None, config_name: str | None, token: str | bool | None) -> Snapshot:
    parts = _prepared(located, config_name)
    if parts is None:
        parts = _loaded(located, config_name, token)
    name = pick_split(list(parts), split, str(located))
    dataset = parts[name]
    dataset.info.homepage = _address(located)
    return Snapshot(dataset, located, name)


def _prepared(located: Located, config_name: str | None) -> dict[str, Dataset] | None:
    """What `datasets` made of this very commit before, on this machine."""
    repo = located.repo.replace("/", "___")
    places = {
        info.parents[2].name: info.parent
        for info in Path(datasets.config.HF_DATASETS_CACHE).glob(f"{repo}/*/*/{located.sha}/dataset_info.json")
    }
    place = places.get(config_name or DEFAULT_CONFIG)
    if place is None and config_name is None and len(places) == 1 and located.note is not None:
        place = next(iter(places.values()))
    if place is None:
        return None
    info = DatasetInfo.from_directory(str(place))
    found: dict[str, Dataset] = {}
    for name in info.splits or ():
        files = sorted(place.glob(f"*-{name}.arrow")) or sorted(place.glob(f"*-{name}-*-of-*.arrow"))
        if not files:
            return None
        parts = [Dataset.from_file(str(file), info=info.copy(), split=NamedSplit(name)) for file in files]
        found[name] = parts[0] if len(parts) == 1 else concatenate_datasets(parts)
    return found or None


def _loaded(located: Located, config_name: str | None, token: str | bool | None) -> DatasetDict:
    config = None if config_name == DEFAULT_CONFIG else config_name
    if located.note is not None:
        raise UnreachableError(f"{located.note}, but its rows are not")
    try:
        with hub_errors(f"reading {located}"):
            loaded: DatasetDict = load_dataset(located.repo, config, revision=located.sha, token=token)
    except (DatasetNotFoundError, DataFilesNotFoundError) as error:
        raise SourceNotFoundError(
            f"{located} holds no rows that can be loaded; it needs Parquet, JSONL or CSV files"
        ) from error
    except (ValueError, DatasetGenerationError) as error:
        raise DataError(f"{located} cannot be loaded: {' '.join(str(error).split())[:_QUOTED]}") from error
    files = [Path(file["filename"]) for part in loaded.values() for file in part.cache_files]
    other = [file for file in files if located.sha not in file.parts]
    if other:
        raise UnreachableError(
            f"reading {located} failed: the Hub gave no answer, and what is on this machine is another commit"
        )
    return loaded
