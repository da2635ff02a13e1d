"""What another model thinks of the tokens a policy generated: the reference of a KL, the old policy of a ratio."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset, List, Value

from whileai_hf.errors import ConfigurationError, MissingColumnError
from whileai_hf.measure.knobs import check_column
from whileai_hf.measure.logprobs.columns import FloatArray
from whileai_hf.measure.logprobs.local import LocalReference
from whileai_hf.measure.logprobs.served import ServedReference
from whileai_hf.measure.logprobs.turns import policy_turns, row_tools
from whileai_hf.rows import RowView, add_columns, open_rows, view
from whileai_hf.rows.view import Source


_logger = logging.getLogger("whileai_hf")
# Rows whose tokens are held at a time.
_BLOCK = 256
_READ = ("messages", "prompt", "final_text", "tools", "finish_reason")
_LOCAL = "transformers:"
# Token log probabilities of a row, or why there are none.
Scored = tuple[FloatArray | None, str | None]


def _scorer(model: Any, tokenizer: Any, batch_size: int, api_key: str | None) -> LocalReference | ServedReference:
    if isinstance(model, bool) or model is None:
        raise ConfigurationError(
            f"model is {model!r}; pass transformers:<repo or path>, a loaded model with tokenizer=, or a vLLM server "
            "as vllm:<model>@<url>"
        )
    if not isinstance(model, str):
        return LocalReference(model, tokenizer, batch_size)
    if model.startswith(_LOCAL) or Path(model).is_dir():
        return LocalReference(model.removeprefix(_LOCAL), tokenizer, batch_size)
    return ServedReference(model, batch_size, api_key)


def reference_logprobs(
    data: Source,
    model: Any,
    *,
    tokenizer: Any = None,
    batch_size: int = 8,
    api_key: str | None = None,
    ref: str = "ref_logprob",
) -> Dataset:
    """
    The log probability of every policy turn under a reference model.

    Each message of the policy is rendered with the reference's chat template behind the conversation before it, and
    its tokens are scored at temperature 1, the token that ends the message among them. Where the tokenizers agree
    these are the tokens the policy generated, and `ref_n_tokens` equals `n_tokens`.

    Args:
        data (`datasets.Dataset` or `list[dict]` or path or Hub repo id):
            Rollouts with `messages`, or with `prompt` and `final_text`; they are not changed.
        model (`str` or `PreTrainedModel`):
            `transformers:<repo or path>` or a folder (loaded in this process), a loaded model, or a vLLM server as
            `vllm:<model>@<url>`. Other servers do not score given text.
        tokenizer (`PreTrainedTokenizerBase`, *optional*):
            Of a loaded model; otherwise instead of the model's own.
        batch_size (`int`, *optional*, defaults to `8`):
            Most turns scored together.
        api_key (`str`, *optional*):
            Key of the server.
        ref (`str`, *optional*, defaults to `"ref_logprob"`):
            Column of the sums; the others are named after it.

    Returns:
        `datasets.Dataset`: The rows with `ref_logprob` (sum over the row's turns), `ref_n_tokens`,
        `ref_token_logprobs`, `ref_model` and `ref_error`: why a row has none, `None` where it has.

    Raises:
        [`ConfigurationError`]: Nothing loads under the name, it has no chat template, or the server is no vLLM.
        [`MissingColumnError`]: The rows hold no conversation.
        [`ModelStopError`]: The server will answer no further call.
    """
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise ConfigurationError(f"batch_size is {batch_size!r}; make it 1 or more")
    check_column("ref", ref)
    rows = open_rows(data)
    seen = view(rows)
    if not seen.has("messages") and not (seen.has("prompt") and seen.has("final_text")):
        raise MissingColumnError(
            f"the rows have neither messages nor prompt and final_text (columns: {', '.join(seen.columns)}), so there "
            "is nothing a reference could score"
        )
    scorer = _scorer(model, tokenizer, batch_size, api_key)
    made = _score_rows(seen, scorer)
    failed = sum(error is not None for _, error in made)
    if failed:
        _logger.warning("%d of %d rows could not be scored under %s; see ref_error", failed, len(made), scorer.name)
    return _with_scores(rows, made, scorer.name, ref)


def _with_scores(rows: Dataset, made: Sequence[Scored], name: str, ref: str) -> Dataset:
    stem = ref.removesuffix("_logprob")
    tokens, text = List(Value("float64")), Value("string")
    columns: list[tuple[str, list[Any], Any]] = [
        (ref, [None if values is None else float(values.sum()) for values, _ in made], Value("float64")),
        (f"{stem}_n_tokens", [None if values is None else int(values.size) for values, _ in made], Value("int64")),
        (f"{stem}_token_logprobs", [None if values is None else values.tolist() for values, _ in made], tokens),
        (f"{stem}_model", [name] * len(made), text),
        (f"{stem}_error", [error for _, error in made], text),
    ]
    cells = {column: values for column, values, _ in columns}
    return add_columns(rows, cells, {column: feature for column, _, feature in columns})


def _score_rows(seen: RowView, scorer: LocalReference | ServedReference) -> list[Scored]:
    """For every row its token log probabilities, or why there are none."""
    made: list[Scored] = []
    block: list[dict[str, Any]] = []
    for row in seen.rows([name for name in _READ if seen.has(name)]):
        block.append(row)
        if len(block) == _BLOCK:
            made += _score_block(block, scorer)
            block = []
    return made + _score_block(block, scorer)


def _score_block(block: Sequence[dict[str, Any]], scorer: LocalReference | ServedReference) -> list[Scored]:
    turns = [policy_turns(row) for row in block]
    passages = scorer.passages(
        [(turn, row_tools(row)) for row, said in zip(block, turns, strict=True) for turn in said]
    )
    scores = iter(scorer.score([passage for passage in passages if not isinstance(passage, str)]))
    values = iter([passage if isinstance(passage, str) else next(scores) for passage in passages])
    return [_together([next(values) for _ in said]) for said in turns]


def _together(turns: Sequence[FloatArray | str]) -> Scored:
    """One row out of its turns; a sum over some of them would pass for the whole."""
    arrays = [values for values in turns if not isinstance(values, str)]
    if len(arrays) < len(turns):
        return None, next(reason for reason in turns if isinstance(reason, str))
    together = np.concatenate(arrays) if arrays else np.empty(0)
    return (together, None) if together.size else (None, "the row holds no token of the policy")
