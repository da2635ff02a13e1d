"""A constitution (a model spec) as an object: traits with a principle each, and a version that follows the text.

It is a living document: an edit of a principle is another version, and rows say which one they were made for, so that
adherence can be compared from one version, or one model, to the next.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import yaml
from datasets import Dataset

from whileai_hf.errors import SourceNotFoundError, SpecError
from whileai_hf.rows import add_columns, dumps, loads, open_rows, view
from whileai_hf.rows.rng import digest
from whileai_hf.rows.view import Source


# Digits of a version: enough that no two edits of one document share it.
_VERSION_DIGITS = 12
_ID = re.compile(r"[\w.:-]+")
_SHAPE = '{"source": ..., "traits": [{"id", "name", "principle", "authority"}, ...]}'


@dataclass(frozen=True)
class Trait:
    """
    One behaviour the document asks for.

    Args:
        id (`str`):
            Its name in markers and reports.
        name (`str`):
            Its name for people.
        principle (`str`):
            What it asks for, as the judge reads it.
        authority (`str`, *optional*):
            Who may overrule it, in the document's own words.
    """

    id: str
    name: str
    principle: str
    authority: str | None = None


@dataclass(frozen=True)
class Spec:
    """
    A constitution; read one with [`load_spec`].

    Args:
        traits (`tuple[Trait]`):
            What it asks for, in its order.
        source (`str`, *optional*):
            Where the text comes from.
    """

    traits: tuple[Trait, ...]
    source: str | None = None

    @property
    def version(self) -> str:
        """A hash of everything a judge reads: any edit of a trait changes it, another source does not."""
        content = [[trait.id, trait.name, trait.principle, trait.authority] for trait in self.traits]
        return digest(dumps(content).decode(), length=_VERSION_DIGITS)

    def behaviors(self) -> list[str]:
        """The ids of the traits, which are also the names of their markers."""
        return [trait.id for trait in self.traits]

    def trait(self, name: str) -> Trait:
        """The trait with this id."""
        for trait in self.traits:
            if trait.id == name:
                return trait
        raise SpecError(f"the spec has no trait {name!r}; its traits are {', '.join(self.behaviors())}")


def load_spec(source: str | PathLike[str] | Mapping[str, Any] | Sequence[Mapping[str, Any]] | Spec) -> Spec:
    """
    Reads a constitution.

    Args:
        source (`str` or `Path` or `dict` or `list[dict]`):
            A JSON or YAML file, or what it holds: `{"source", "traits": [{"id", "name", "principle", "authority"}]}`,
            or the traits alone. `id` is made from `name` where it is left out, `name` from `id`.

    Returns:
        [`Spec`]: Its `version` is a hash of the content.

    Raises:
        [`SpecError`]: No traits, a trait without a principle, or two with one id.
        [`SourceNotFoundError`]: No such file.

    Examples:
    ```python
    >>> spec = load_spec([{"id": "candour", "principle": "Say what is true even when it disappoints."}])
    >>> spec.behaviors(), len(spec.version)
    (['candour'], 12)

    ```
    """
    if isinstance(source, Spec):
        return source
    where = "the spec"
    content: Any = source
    if isinstance(source, str | PathLike):
        where, content = str(source), _read(Path(source))
    origin = content.get("source") if isinstance(content, Mapping) else None
    given = content.get("traits") if isinstance(content, Mapping) else content
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        raise SpecError(f"{where} has no traits; expected {_SHAPE}")
    traits = tuple(_trait(item, index, where) for index, item in enumerate(given))
    names = [trait.id for trait in traits]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SpecError(f"{where} has two traits with the id {twice[0]!r}; give every trait an id of its own")
    return Spec(traits, None if origin is None else str(origin))


def _read(path: Path) -> Any:
    if not path.is_file():
        raise SourceNotFoundError(
            f"there is no file {str(path)!r}; pass the path of a JSON or YAML file, or its content"
        )
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise SpecError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from error
    try:
        return loads(text) if path.suffix == ".json" else yaml.safe_load(text)
    except (ValueError, yaml.YAMLError) as error:
        reason = str(error).splitlines()[0]
        raise SpecError(
            f"{path} is no {'JSON' if path.suffix == '.json' else 'YAML'}: {reason}; fix the file"
        ) from error


def _trait(item: Any, index: int, where: str) -> Trait:
    if not isinstance(item, Mapping):
        raise SpecError(f"trait {index} of {where} is a {type(item).__name__}; expected {_SHAPE}")
    texts = {key: item.get(key) for key in ("id", "name", "principle", "authority")}
    for key, value in texts.items():
        if value is not None and not isinstance(value, str):
            raise SpecError(f"{key} of trait {index} of {where} is a {type(value).__name__}; write it as text")
    principle = (texts["principle"] or "").strip()
    if not principle:
        raise SpecError(f"trait {index} of {where} has no principle; say what it asks for")
    name = (texts["name"] or texts["id"] or "").strip()
    identifier = (texts["id"] or "_".join(re.findall(r"\w+", name.casefold()))).strip()
    if not _ID.fullmatch(identifier):
        raise SpecError(f"trait {index} of {where} has the id {identifier!r}; use letters, digits and _ . : -")
    return Trait(identifier, name, principle, texts["authority"])


def stamp_spec(data: Source, spec: Spec | str | PathLike[str] | Mapping[str, Any]) -> Dataset:
    """
    Rows that say which version of a constitution they were made or judged for.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rows.
        spec ([`Spec`], or what [`load_spec`] reads):
            The constitution.

    Returns:
        `datasets.Dataset`: The rows with `lineage["spec_version"]` and `lineage["spec_source"]`.

    Examples:
    ```python
    >>> spec = load_spec([{"id": "candour", "principle": "Say what is true."}])
    >>> stamp_spec([{"prompt": "Hi"}], spec)[0]["lineage"]["spec_version"] == spec.version
    True

    ```
    """
    known = load_spec(spec)
    stamp = {"spec_version": known.version, "spec_source": known.source}
    rows = view(data)
    lineage = [{**(old if isinstance(old, dict) else {}), **stamp} for old in rows.column("lineage")]
    dataset = data if isinstance(data, Dataset) else open_rows(data)
    return add_columns(dataset, {"lineage": lineage})
