"""Whether rows still come from the policy that is about to be updated, and what can be done with those that do not."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from whileai_hf.measure.logprobs.columns import read_logprobs, token_lists
from whileai_hf.measure.logprobs.coverage import CAPTURE
from whileai_hf.measure.passes.codes import Codes, FetchedView, column_codes
from whileai_hf.measure.passes.origin import inner_codes
from whileai_hf.rows import Report, view
from whileai_hf.rows.view import Source


_READ = ("policy_version", "model_version", "logprob", "n_tokens", "token_logprobs", "steps", "sampling")
# How a model is reached, which is no part of which model it is.
_SCHEMES = ("hf:", "vllm:", "openai:", "ollama:", "transformers:")


@dataclasses.dataclass(frozen=True)
class StalenessReport(Report):
    """
    What [`staleness_report`] returns.

    Args:
        n_rows (`int`):
            Rows given.
        base_model (`str`, *optional*):
            The model about to be updated.
        policy_versions (`dict[str, int]`):
            Rows by the version of the policy that sampled them.
        models (`dict[str, int]`):
            Rows by model.
        temperatures (`dict[str, int]`):
            Rows by sampling temperature.
        n_unknown (`int`):
            Rows that do not say which model sampled them.
        n_stale (`int`, *optional*):
            Rows sampled by another model than `base_model`; `None` without one.
        stale_share (`float`, *optional*):
            Their share of the rows that say.
        n_stale_usable (`int`, *optional*):
            Stale rows that name their policy's version and carry its log probabilities: the importance ratio can be
            formed.
        logprob_coverage (`float`):
            Share of all rows with a log probability.
        token_logprob_coverage (`float`):
            Share with one for every token.
        notes (`list[str]`):
            What a reader has to know about the numbers.
        warnings (`list[str]`):
            What speaks against an update from these rows.
    """

    n_rows: int
    base_model: str | None
    policy_versions: dict[str, int]
    models: dict[str, int]
    temperatures: dict[str, int]
    n_unknown: int
    n_stale: int | None
    stale_share: float | None
    n_stale_usable: int | None
    logprob_coverage: float
    token_logprob_coverage: float
    notes: list[str]
    warnings: list[str]

    def __str__(self) -> str:
        stale = (
            "no base_model given" if self.n_stale is None else f"{self.n_stale} stale, {self.n_stale_usable} usable"
        )
        lines = [
            f"staleness: {self.n_rows} rows of {len(self.policy_versions)} policy versions and {len(self.models)} "
            f"models ({stale}); log probabilities on {100 * self.logprob_coverage:.0f} %"
        ]
        lines += [f"  warning: {warning}" for warning in self.warnings]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


def same_model(name: Any, other: str) -> bool:
    """
    Whether two names mean one model, whatever it is served by.

    Examples:
    ```python
    >>> same_model("vllm:Qwen/Qwen3-4B@http://127.0.0.1:8000/v1", "Qwen/Qwen3-4B")
    True

    ```
    """
    return isinstance(name, str) and _bare(name) == _bare(other)


def _bare(name: str) -> str:
    scheme = next((scheme for scheme in _SCHEMES if name.startswith(scheme)), "")
    bare = name.removeprefix(scheme)
    if scheme == "vllm:":
        bare = bare.partition("@http")[0]
    return bare.partition(":")[0] if scheme == "hf:" else bare


def _counts(codes: Codes) -> dict[str, int]:
    counts = np.bincount(codes.index, minlength=len(codes.keys)).tolist()
    return {str(key): count for key, count in zip(codes.keys, counts, strict=True) if key is not None and count}


def staleness_report(data: Source, *, base_model: str | None = None) -> StalenessReport:
    """
    The off-policy check of stored rollouts.

    Rows sampled by an older policy can be used only when they carry that policy's version and log probabilities.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rollouts.
        base_model (`str`, *optional*):
            The model about to be updated; rows whose `model_version` is another one are stale. How it is served
            (`vllm:`, `hf:`) does not matter.

    Returns:
        [`StalenessReport`]: Counts, and what they mean for an update.

    Examples:
    ```python
    >>> from whileai_hf.measure.logprobs import staleness_report
    >>> rows = [{"model_version": "hf:Qwen/Qwen3-4B"}, {"model_version": "Qwen/Qwen3-1.7B"}]
    >>> found = staleness_report(rows, base_model="Qwen/Qwen3-4B")
    >>> found.n_stale, found.n_stale_usable
    (1, 0)

    ```
    """
    rows = FetchedView(view(data), _READ)
    known = read_logprobs(rows).known
    listed = np.array([values is not None for values in token_lists(rows, "token_logprobs")], dtype=bool)
    versions, models = column_codes(rows, "policy_version"), column_codes(rows, "model_version")
    named = np.array([key is not None for key in models.keys], dtype=bool)[models.index]
    versioned = np.array([key is not None for key in versions.keys], dtype=bool)[versions.index]
    n_stale = share = usable = None
    if base_model is not None:
        other = np.array([key is not None and not same_model(key, base_model) for key in models.keys], dtype=bool)
        stale = other[models.index]
        n_stale = int(np.count_nonzero(stale))
        share = n_stale / int(np.count_nonzero(named)) if named.any() else None
        usable = int(np.count_nonzero(stale & versioned & known))
    unknown = int(np.count_nonzero(~named))
    counts = _counts(versions)
    return StalenessReport(
        n_rows=len(rows),
        base_model=base_model,
        policy_versions=counts,
        models=_counts(models),
        temperatures=_counts(inner_codes(rows, "sampling", "temperature")),
        n_unknown=unknown,
        n_stale=n_stale,
        stale_share=share,
        n_stale_usable=usable,
        logprob_coverage=float(known.mean()),
        token_logprob_coverage=float(listed.mean()),
        notes=[f"{unknown} of {len(rows)} rows do not say which model sampled them (model_version)"]
        if unknown
        else [],
        warnings=_warnings(len(counts), n_stale, usable, float(known.mean())),
    )


def _warnings(versions: int, stale: int | None, usable: int | None, coverage: float) -> list[str]:
    found = []
    if versions > 1:
        found.append(f"rows come from {versions} policy versions; an on-policy update wants one")
    if stale and usable is not None and usable < stale:
        found.append(
            f"{stale - usable} of {stale} stale rows lack the sampler's version or log probabilities, so no "
            "importance ratio can be formed: leave them out or sample them again"
        )
    if coverage < 1:
        found.append(f"{100 * (1 - coverage):.0f} % of the rows have no log probability; {CAPTURE}")
    return found
