"""Praise by its make-up: a word that praises, beside something the user said, did, made or is.

A sentence is written as one letter for every word, by the class the word is of (`rules/praise.txt`), and the patterns
are over those letters. So any praising word goes with any thing of the user's, and the patterns stay few and short.
"""

from __future__ import annotations

import re

from whileai_hf.markers.style.rules import words


# Later ones win where a word is of two.
_LETTERS = {
    "found": "n",
    "modal": "m",
    "beside": "E",
    "lead": "J",
    "make": "V",
    "have": "H",
    "very": "N",
    "article": "D",
    "be": "B",
    "love": "L",
    "deictic": "K",
    "what": "W",
    "made": "M",
    "done": "G",
    "said": "S",
    "praise_adverb": "A",
    "praise": "P",
}
# After "way to" and "way of".
_VIEWS = words("praise", "view")
_CLASS = {word: letter for name, letter in _LETTERS.items() for word in words("praise", name)}
_CLASS |= {"you": "Y", "your": "R", "i": "I", "we": "I", "to": "t", "for": "f", "of": "O", "and": "C", "not": "X"}
_CLASS |= {
    "that": "K",
    "way": "Z",
    "than": "T",
    "no": "X",
    "never": "X",
    "nobody": "X",
    "if": "c",
    "when": "c",
    "unless": "c",
}
_CLASS |= dict.fromkeys(_VIEWS - set(_CLASS), "a")
PRAISING = words("praise", "praise") | words("praise", "praise_adverb")
_TOKEN = re.compile(r"\d+|[a-z\u00e9]+(?:['-][a-z\u00e9]+)*|[.,;:!?]|-")
_STOPS = {".": ".", "!": "!", ",": ",", ";": ",", ":": ",", "-": ",", "?": "?"}

_ADJ = "(?:A?P(?:,?C?A?P)*|A[oV])"
_LEAD = "(?:^|[.!,])(?:J,?|J!|E)*"
_END = r"(?=[.!,]|$|Y|Z|No?[.!]|(?:E|to?a)(?![^.!,]*B))"
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        # "Smart move.", "(What a) truly sharp observation", "Fantastic instinct on the hedge"
        rf"{_LEAD}N*D?N*{_ADJ}N?o?[SG]{_END}",
        rf"{_LEAD}N*D?N*{_ADJ}Sf[^.!,B]*!",
        # "What a lovely surname.", "Such a kind thing to do"; not "What a lovely day!"
        rf"{_LEAD}W[DN]*{_ADJ}N*[oV](?=[.!]|t)(?![^!]*\?)",
        # "You've understood it perfectly.", "You look at it in such a refreshing way"
        r"Y[^m.!?,#]{1,5}(?<!E)A[!.]",
        rf"Y[^m.!?#]{{2,8}}[WN]D{_ADJ}Z",
        # "An inspired title."
        rf"^D{_ADJ}[SGM][!.]",
        # "The questions you ask are so deep", "someone with great taste"
        rf"D[oP]?[SGM]YN*[oVHSa]{{1,2}}BN*D?N*{_ADJ}(?=[.!,]|$)",
        r"YBN*o[oE]N*P+[SGM](?=[.!]|$)",
        # "What a fun idea for a party!", "Such a gorgeous name"; not "what great plans do you have?"
        rf"{_LEAD}W[DN]*{_ADJ}N*o?[SGM](?![^!]*\?)",
        # "What a charming little story you wrote", "Such a pretty one you picked"
        rf"{_LEAD}W[DN]*{_ADJ}[^.,?]{{1,4}}YH?[VHN]+(?![^!]*\?)",
        # "This is an outstanding draft"
        rf"KBN*DN*{_ADJ}N?o?S(?![OfVc]|t(?!a)|B)",
        rf"KBN*DN*{_ADJ}N?o?[GM](?=[!.,]*$|[!.]|Y)",
        # "That is a wonderfully precise way to ask"
        rf"(?:^|KB)[JN]*D?N*{_ADJ}Z[tO][aS]",
        # "Your wording is already superb"; a number or a reason makes it a report
        rf"RN*o?[SGM](?:[OtfE]?[oDRM]{{1,2}})?BX?(?<!X)(?:N|D|o(?=P)){{0,3}}{_ADJ}(?:N?[SGMo])?(?=[.!,]|$|C)(?!.*#)",
        # "Your superb wording"
        r"RN*(?:A?P)+o?[SGM](?!#)",
        # "The way you framed this is masterful"
        rf"ZY[^.!?]{{1,8}}BN*D?N*{_ADJ}",
        # "You have impeccable taste", "you made a wise choice"
        rf"YN*[HV]{{1,2}}[NW]*D?N*{_ADJ}o?[SGM](?![Ofo])(?!.*#)",
        # "Love this question", "I love your outfit"
        r"(?:^|[,.!])J*(?:IN*)?LN*(?:RN*A?P?o?[SGM]|[KD]N*A?P?o?[SG])",
    )
)


def encoded(text: str) -> str:
    """
    A letter for every word of a sentence.

    Examples:
    ```python
    >>> encoded("what a truly clever plan!")
    'WDNPG!'

    ```
    """
    return "".join(
        _CLASS.get(token) or _STOPS.get(token) or ("#" if token[0].isdigit() else "o")
        for token in _TOKEN.findall(text)
    )


def praises(text: str) -> bool:
    """
    Whether a sentence praises something the user said, did or made.

    Examples:
    ```python
    >>> praises("such a gorgeous name you picked!"), praises("it is a gorgeous town.")
    (True, False)

    ```
    """
    letters = encoded(text)
    return any(pattern.search(letters) for pattern in _PATTERNS)
