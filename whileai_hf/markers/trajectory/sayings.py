"""A reply as sentences and clauses, without what it only shows: code blocks, quotations, cited lines."""

from __future__ import annotations

import re

from whileai_hf.score.reading.words import straight


_FENCE = re.compile(r"(?:```|~~~).*?(?:```|~~~|\Z)", re.DOTALL)
_INLINE = re.compile(r"`[^`\n]{0,400}`")
_CITED = re.compile(r"^[ \t]*>[^\n]*$", re.MULTILINE)
_DOUBLE = re.compile(r'"[^"\n]{1,400}"')
_SPLIT = re.compile(r"(?<=[.!?])[\"')\]]*\s+|\n+|;\s+")
CLAUSE = re.compile(
    r",\s+(?:and |but |so |while |although |though |because |since |yet )?|\s(?:and|but|so|while|although|though"
    r"|because|yet|however)\s|\s[-]\s|:\s|\(|\)"
)


def sentences_of(text: str) -> list[str]:
    """Sentences, folded; code blocks, quotations and cited lines left out, inline code kept."""
    text = straight(text[:20_000]).casefold()
    if "```" in text or "~~~" in text:
        text = _FENCE.sub(" ", text)
    text = _CITED.sub(" ", text)
    text = _INLINE.sub(lambda match: match.group().strip("`").replace("...", "").rstrip(".!?"), _DOUBLE.sub(" ", text))
    return [sentence for sentence in _SPLIT.split(text) if sentence]


def clauses_of(text: str) -> list[tuple[str, str]]:
    """Sentences with their clauses."""
    return [(sentence, clause) for sentence in sentences_of(text) for clause in CLAUSE.split(sentence) if clause]
