"""A judge's reply without what is no verdict: its reasoning section, its mark-up, the scale it restates."""

from __future__ import annotations

import re


# Sections in which reasoning models think aloud. A verdict in there was a thought.
_OPENING = re.compile(r"<(think|thinking|reasoning|analysis|scratchpad|reflection)>", re.IGNORECASE)
_CLOSING = re.compile(r"</(think|thinking|reasoning|analysis|scratchpad|reflection)>", re.IGNORECASE)
# Emphasis and code marks of Markdown. Brackets stay: they mark verdicts.
_MARKS = re.compile(r"[*`]{1,6}|(?<!\w)_{1,3}|_{1,3}(?!\w)|^\s{0,3}[#>]{1,6}", re.MULTILINE)
# Answers in tags or in a box mean the same as a labelled or bracketed one.
_TAG = re.compile(r"<(score|rating|grade|verdict|answer|judge?ment|result|decision|winner|choice)>", re.IGNORECASE)
_END_TAG = re.compile(
    r"</(?:score|rating|grade|verdict|answer|judge?ment|result|decision|winner|choice)>", re.IGNORECASE
)
_BOX = re.compile(r"\\boxed\{([^{}\n]{1,40})\}")
_CURLY = str.maketrans(
    {
        "\u201c": '"',
        "\u201d": '"',
        "\u2018": "'",
        "\u2019": "'",
        "\uff1a": ":",
        "\uff1d": "=",
        "\uff0f": "/",
        "\uff05": "%",
        "\u00a0": " ",
    }
)
_TO = r" ?(?:to|and|-|\u2013|\u2014) ?"
_NUMBER = r"-?\d{1,6}(?:\.\d{1,6})?"
# "on a scale of 1 to 10", "(1-10)", "(out of 10)", "between 1 and 10", "a 1-5 scale": what was asked, not an answer.
_RESTATED = re.compile(
    rf"\b(?:on (?:a|an|the|our|this|your) )?scale(?: (?:of|from|between))? ?:? ?{_NUMBER}{_TO}{_NUMBER}"
    rf"|\b(?:from|between) {_NUMBER}{_TO}{_NUMBER}"
    rf"|\({_NUMBER} ?(?:to|-|\u2013|\u2014) ?{_NUMBER}(?: scale)?\)"
    rf"|\[{_NUMBER} ?(?:to|-|\u2013|\u2014|,) ?{_NUMBER}\]"
    rf"|\((?:out of|max(?:imum)?|of) {_NUMBER}\)"
    rf"|\b{_NUMBER} ?(?:to|-|\u2013|\u2014) ?{_NUMBER} scale\b",
    re.IGNORECASE,
)


def without_reasoning(text: str) -> str:
    """
    The reply after the reasoning; one that never left its reasoning is empty.

    Examples:
    ```python
    >>> without_reasoning("<think>Perhaps 3.</think>Score: 7"), without_reasoning("<think>Perhaps 3.")
    ('Score: 7', '')

    ```
    """
    kept: list[str] = []
    position = 0
    while (opening := _OPENING.search(text, position)) is not None:
        kept.append(text[position : opening.start()])
        closing = _CLOSING.search(text, opening.end())
        if closing is None:
            return "".join(kept)
        position = closing.end()
    rest = text[position:]
    # Templates that open the section themselves leave only its end in the reply.
    strays = [stray.end() for stray in _CLOSING.finditer(rest)]
    if strays:
        return rest[strays[-1] :]
    return "".join((*kept, rest))


def plain(text: str) -> str:
    """
    Prose ready for matching: straight quotes, no emphasis, no restated scale, lines kept.

    Examples:
    ```python
    >>> plain("**Rating** (1-10): `7`")
    'Rating : 7'

    ```
    """
    text = _END_TAG.sub("\n", _TAG.sub(r"\n\1: ", _BOX.sub(r"[[\1]]", text.translate(_CURLY))))
    text = _MARKS.sub("", text)
    lines = (" ".join(line.split()) for line in text.splitlines())
    return _RESTATED.sub("", "\n".join(line for line in lines if line)).replace("  ", " ").strip()
