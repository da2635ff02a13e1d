"""A conversation as `input_ids` and `labels`, with loss on the agent's own tokens and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain, pairwise

from whileai_hf.errors import ConfigurationError
from whileai_hf.export.reasons import Reason
from whileai_hf.export.shaping import Shaped
from whileai_hf.export.template import Rendered, Template, Turn
from whileai_hf.export.toolset import ToolSet
from whileai_hf.rows import canonical


# The label the loss leaves out.
IGNORED = -100
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


def encode_pieces(template: Template, pieces: list[str]) -> list[list[int]]:
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
        `list[list[int]]`: Ids by piece.

    Raises:
        [`ConfigurationError`]: The tokenizer has no boundary at the edge of a piece.
    """
    *apart, whole = _ids(template, [*pieces, "".join(pieces)])
    joined = list(chain.from_iterable(apart))
    if joined == whole or _decode(template, joined) == _decode(template, whole):
        return apart
    lengths = [len(ids) for ids in _ids(template, list(accumulate(pieces)))]
    for ids in _ids(template, list(accumulate(pieces))):
        if whole[: len(ids)] != ids:
            raise ConfigurationError(
                "the tokenizer joins the agent's words with those before them into one token, so no labels are exact; "
                "use a byte-level or BPE tokenizer, or a template that ends the prompt with a special token"
            )
    return [whole[start:end] for start, end in pairwise([0, *lengths])]


def turns_of(rendered: Rendered, index: int) -> list[Turn]:
    """
    The agent's turns of a rendered conversation.

    Raises:
        [`ConfigurationError`]: The template is not prefix-preserving.
    """
    if rendered.turns is None:
        raise ConfigurationError(
            f"row {index}: the chat template writes earlier turns differently once the conversation goes on, so the "
            "agent's tokens have no fixed place; set tokenizer.chat_template to "
            "trl.chat_template_utils.get_training_chat_template(tokenizer), or pass unroll=True"
        )
    return rendered.turns


def tokenise(
    shaped: Shaped, mask: Sequence[int], offered: ToolSet, template: Template, index: int
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
        index (`int`):
            Position of the row, for the error.

    Returns:
        `tuple[list[int], list[int]]` or [`Reason`]: `input_ids` and `labels`, of the same length.

    Raises:
        [`ConfigurationError`]: The template is not prefix-preserving.
    """
    rendered = shaped.rendered
    if rendered is None or rendered.turns is None:
        rendered = template.render(shaped.messages, offered.schemas, first=list(mask).index(1))
    if rendered is None:
        return Reason.TEMPLATE_REFUSES
    turns = [turn for turn in turns_of(rendered, index) if mask[turn.message]]
    pieces, trained = _pieces(rendered.text, turns)
    input_ids: list[int] = []
    labels: list[int] = []
    for ids, has_loss in zip(encode_pieces(template, pieces), trained, strict=True):
        input_ids += ids
        labels += ids if has_loss else [IGNORED] * len(ids)
    return input_ids, labels
