"""A conversation as `input_ids` and `labels`, with loss on the agent's own tokens and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain, pairwise

from whileai_hf.errors import ConfigurationError
from whileai_hf.export.reasons import Reason
from whileai_hf.export.shaping import Shaped
from whileai_hf.export.tally import LeftOut
from whileai_hf.export.template import Template, Turn
from whileai_hf.export.toolset import ToolSet
from whileai_hf.rows import canonical


# The label the loss leaves out.
IGNORED = -100
# What helps where no row at all has labels.
_ADVICE = {
    Reason.NOT_PREFIX_PRESERVING: (
        "the agent's tokens have no fixed place; set tokenizer.chat_template to "
        "trl.chat_template_utils.get_training_chat_template(tokenizer), or pass unroll=True"
    ),
    Reason.JOINED_TOKENS: (
        "no labels are exact; use a byte-level or BPE tokenizer, or a template that ends the prompt with a special "
        "token"
    ),
}
# Tokenizers without a limit of their own say this many or more.
_NO_LIMIT = 10**9


def model_limit(template: Template) -> int | None:
    """Tokens the tokenizer says its model takes, `None` when it does not say."""
    limit = template.tokenizer.model_max_length
    return int(limit) if isinstance(limit, int | float) and limit < _NO_LIMIT else None


def _pieces(text: str, turns: Sequence[Turn]) -> tuple[list[str], list[bool]]:
    """The text cut at the edges of the turns, and which pieces are turns."""
    edges = sorted({0, len(text), *chain.from_iterable((turn.start, turn.end) for turn in turns)})
    starts = {turn.start for turn in turns}
    spans = list(pairwise(edges))
    return [text[start:end] for start, end in spans], [start in starts for start, _ in spans]


def _ids(template: Template, texts: list[str]) -> list[list[int]]:
    # A lone surrogate is no text to a tokenizer; a file would hold the same replacement character.
    texts = [text if text.isascii() else canonical(text) for text in texts]
    return list(template.tokenizer(texts, add_special_tokens=False)["input_ids"])


def _decode(template: Template, ids: list[int]) -> str:
    return str(template.tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False))


def encode_pieces(template: Template, pieces: list[str]) -> list[list[int]] | None:
    """
    Token ids of each piece of a text.

    Pieces are encoded one by one, as they are when the model samples: a prompt, then what it adds. Where that gives
    other text than the whole does (tokenizers that put a space before every text), the whole is cut instead.

    Args:
        template ([`Template`]):
            For its tokenizer.
        pieces (`list[str]`):
            The text in order.

    Returns:
        `list[list[int]]`: Ids by piece, or `None` when the tokenizer has no boundary at the edge of a piece.
    """
    *apart, whole = _ids(template, [*pieces, "".join(pieces)])
    joined = list(chain.from_iterable(apart))
    if joined == whole or _decode(template, joined) == _decode(template, whole):
        return apart
    openings = _ids(template, list(accumulate(pieces)))
    if any(whole[: len(ids)] != ids for ids in openings):
        return None
    return [whole[start:end] for start, end in pairwise([0, *map(len, openings)])]


def tokenise(
    shaped: Shaped, mask: Sequence[int], offered: ToolSet, template: Template
) -> tuple[list[int], list[int]] | Reason:
    """
    Ids and labels of one conversation.

    Args:
        shaped ([`Shaped`]):
            The conversation, with its text where that is known.
        mask (`Sequence[int]`):
            1 for the messages with loss.
        offered (`ToolSet`):
            The row's tools.
        template ([`Template`]):
            The tokenizer's.

    Returns:
        `tuple[list[int], list[int]]` or [`Reason`]: `input_ids` and `labels`, of the same length; a reason where the
        agent's tokens have no place of their own.
    """
    rendered = shaped.rendered
    if rendered is None or rendered.turns is None:
        rendered = template.render(shaped.messages, offered.schemas, first=list(mask).index(1))
    if rendered is None:
        return Reason.TEMPLATE_REFUSES
    if rendered.turns is None:
        return Reason.NOT_PREFIX_PRESERVING
    pieces, trained = _pieces(rendered.text, [turn for turn in rendered.turns if mask[turn.message]])
    encoded = encode_pieces(template, pieces)
    if encoded is None:
        return Reason.JOINED_TOKENS
    input_ids: list[int] = []
    labels: list[int] = []
    for ids, has_loss in zip(encoded, trained, strict=True):
        input_ids += ids
        labels += ids if has_loss else [IGNORED] * len(ids)
    return input_ids, labels


def check_some_tokenised(left_out: LeftOut) -> None:
    """
    Explains an export without rows by its template or tokenizer, where rows were left out because of it.

    Args:
        left_out (`LeftOut`):
            What was left out of an export that made no row.

    Raises:
        [`ConfigurationError`]: No row has labels with this template; the message says which to use.
    """
    for reason, advice in _ADVICE.items():
        if left_out.counts[reason.value]:
            raise ConfigurationError(f"row {left_out.first[reason.value]}: {reason.words}, so {advice}")
