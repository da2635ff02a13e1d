"""A reply as sentences in one spelling, without what it only shows: quotations, code, cited lines and drafted letters.

The checks of this package read sentences in lower case, with straight quotes and contractions written out ("I'm" and
"im" are both "i am"), so that one rule covers every register.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

from whileai_hf.markers.style.drafts import without_drafts
from whileai_hf.score.reading.words import TYPOGRAPHIC


# Stand in the text where something was shown: a whole block of it, or a few words within a sentence.
BLOCK = "\ufffc"
QUOTED = "\u00a7"

# Both ends of a reply are read when it is longer, in characters: openers, closers and refusals stand there.
_MOST = 40_000

# A longer sentence is a list or a text without full stops, in characters; read in parts it costs linear time.
_LONGEST = 600

_STRAIGHT = str.maketrans(
    {
        **TYPOGRAPHIC,
        "\u2032": "'",
        "\u00a0": " ",
        QUOTED: None,
        BLOCK: None,
    }
)
# Invisible, and inside a word enough to hide it.
_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufe0f\ufeff\u00ad\x00"))
_CURLY_SINGLE = re.compile(r"\u2018[^\u2018\u2019\n]{1,300}(?:\u2019\w[^\u2018\u2019\n]{0,300}){0,8}\u2019(?!\w)")
_FENCE = re.compile(r"(?:```|~~~)[^`~]*(?:[`~](?!``|~~)[^`~]*)*(?:```|~~~|\Z)")
_INLINE = re.compile(r"`[^`\n]{0,400}`")
_MARKUP = re.compile(
    r"<(pre|code|blockquote|q|email|letter|draft|quote)\b[^<>]{0,80}>.{0,2000}?</\1>", re.DOTALL | re.I
)
_CITED = re.compile(r"^[ \t]*>[^\n]*(?:\n[ \t]*>[^\n]*)*", re.MULTILINE)
_DOUBLE = re.compile(r'(?<![\w"])"(?=[^\s"])[^"]{1,3000}"(?!\w)')
# A single quote opens after a space and closes before one: "it's the customers' choice" holds no quotation.
_SINGLE = re.compile(r"(?<![\w'])'(?=\w)[^'\n]{1,300}(?:'\w[^'\n]{0,300}){0,8}'(?!\w)")
_EMOJI = re.compile("[\u2190-\u21ff\u2300-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]+")
# What Markdown puts around words. An underscore between letters is part of a name.
_EMPHASIS = re.compile(r"\*+|(?<!\w)_+|_+(?!\w)|^[ \t]*#{1,6}[ \t]+", re.MULTILINE)
# A title is shown, not said: *Sorry We Missed You*, the *Apology*; capitals tell it from a word that is stressed.
_ITALIC = re.compile(r"(?<![*\w])\*(?=[A-Z])([^*\n]{2,80})\*(?![*\w])(?! (?:for|about|that|to|if)\b)")
_SMALL_WORD = frozenset("a an and as at but by de for from in is la le nor of on or the to van von with".split())
# "Sorry Seems to Be the Hardest Word": what follows is written as in no sentence.
_TITLE = re.compile(
    r"\b(?:Sorry|Apolog(?:y|ies|ize|ise)|Forgive|Excuse|Pardon|Regrets?|Perhaps|Maybe|Probably|Possibly|Absolutely"
    r"|Great"
    r"|Certainly|Brilliant|Genius|Amazing|Excellent|I Think|I Guess|I Believe)(?:(?<=Sorry),)?(?: (?:the|of|a|to|in"
    r"|and))? "
    r"(?:We|Me|Not|The|Is|Be|Seems?|My|Your|Our|To|Wrong|Now|Its?|Are|Was|Tomorrow|Again|Never|Love|Her|Him|He|She"
    r"|They|This|That|Baby|Expectations|Grace|Next|Stars|Fabulous|Minds?|Bar|Place|Gatsby|Escape)\b"
    r"(?: (?:[A-Z][\w']*|the|of|a|to|be|in|and|for|on|at))*"
)
# One of these begins every such title: a cheap look before it is sought.
_TITLE_STARTS = (
    *("Sorry", "Apolog", "Forgive", "Excuse", "Pardon", "Regret", "Perhaps", "Maybe", "Probably", "Possibly", "Great"),
    *("Absolutely", "Certainly", "Brilliant", "Genius", "Amazing", "Excellent", "I Think", "I Guess", "I Believe"),
)
_LINK = re.compile(r"\[([^\[\]\n]{1,200})\]\([^()\s]{1,400}\)")
# One class of characters comes first, which lets the matcher skip all others.
# The point of an initial ends no sentence: "Anna K. until".
_END = re.compile(r"[.!?\n|](?!(?<=\b[A-Z]\.) [a-z])(?:(?<=[\n|])|[)\]]?\s+)")
_MARKER = re.compile(r"^(?:[-+\u2022>]\s*|\d{1,2}[.)]\s+|[:;,.)(\]\[]+\s*)+")

_NOT = "do does did would could should have has had is are was were must need ca wo sha might".split()
_LONG = {
    **{f"{verb}n't": f"{verb} not" for verb in _NOT},
    **{f"{verb}nt": f"{verb} not" for verb in _NOT if verb not in ("wo", "ca", "sha", "were")},
    **{f"{who}'re": f"{who} are" for who in ("you", "we", "they", "those", "these", "there")},
    **{f"{who}'ve": f"{who} have" for who in ("i", "you", "we", "they")},
    **{f"{who}'ll": f"{who} will" for who in ("i", "you", "we", "they", "it", "that", "there", "he", "she")},
    **{f"{who}'d": f"{who} would" for who in ("i", "you", "we", "they", "it", "that", "he", "she")},
    **{
        f"{who}'s": f"{who} is"
        for who in ("it", "that", "this", "what", "here", "there", "who", "he", "she", "how", "where", "everything")
    },
    **{f"{who}ve": f"{who} have" for who in ("i", "you", "they", "we")},
    "ca n't": "cannot",
    "can't": "cannot",
    "cant": "cannot",
    "won't": "will not",
    "wont": "will not",
    "shan't": "shall not",
    "ain't": "is not",
    "i'm": "i am",
    "im": "i am",
    "ima": "i will",
    "i'ma": "i will",
    "youre": "you are",
    "ur": "your",
    "theyre": "they are",
    "thats": "that is",
    "theres": "there is",
    "heres": "here is",
    "whats": "what is",
    "youll": "you will",
    "pls": "please",
    "plz": "please",
    "thx": "thanks",
    "thankyou": "thank you",
    "lemme": "let me",
    "gonna": "going to",
    "wanna": "want to",
    "u": "you",
    "alot": "a lot",
}
_SHORT = re.compile(
    r"\b(?:can not|id(?= (?:be|love|say|guess|think|like to help|like to apolog))|"
    r"ill(?= (?:look|check|get|be|do|have a))|"
    + "|".join(sorted(map(re.escape, _LONG), key=len, reverse=True))
    + r")\b(?!['-]\w)"
)
_SPACES = re.compile(r"\s+")


def _longer(match: re.Match[str]) -> str:
    word = match.group()
    return _LONG.get(word) or {"can not": "cannot", "id": "i would", "ill": "i will"}[word]


def _ends(match: re.Match[str]) -> str:
    """An emoji ends a sentence where the next one starts with a capital, and is nothing elsewhere."""
    rest = match.string[match.end() : match.end() + 3].lstrip()
    before = match.string[: match.start()].rstrip()[-1:]
    return ". " if before.isalnum() and (not rest or rest[0].isupper()) else " "


def _title(match: re.Match[str]) -> str:
    """A mark for words in italics that are written as a title, the words themselves for others."""
    words = match.group(1).split()
    titled = all(word[0].isupper() or not word[0].isalpha() or word in _SMALL_WORD for word in words)
    return QUOTED if titled and words[0] != "I" else match.group()


def visible(text: str) -> str:
    """
    A text without invisible characters, wide and styled letters made plain ones.

    Examples:
    ```python
    >>> visible("so\u200brry"), visible("\uff33orry")
    ('sorry', 'Sorry')

    ```
    """
    if text.isascii():
        return text.replace("\x00", "") if "\x00" in text else text
    return unicodedata.normalize("NFKC", text).translate(_INVISIBLE)


def own_text(text: str, *, asked_for_text: bool = False) -> str:
    """
    A reply without what it only shows.

    Args:
        text (`str`):
            The reply.
        asked_for_text (`bool`, *optional*, defaults to `False`):
            The user asked for a letter or message to be written, so a reply that is one is a draft.

    Returns:
        `str`: In its own case; blocks and quotations are each replaced by a mark.

    Examples:
    ```python
    >>> own_text("The note says \u201cso sorry\u201d, see `note.txt`.")
    'The note says \u00a7, see \u00a7.'

    ```
    """
    if len(text) > _MOST:
        text = f"{text[: _MOST // 2]}\n{text[-_MOST // 2 :]}"
    if not text.isascii():
        text = _CURLY_SINGLE.sub(QUOTED, text).translate(_STRAIGHT)
    if "```" in text or "~~~" in text:
        text = _FENCE.sub(f"\n{BLOCK}\n", text)
    if "`" in text:
        text = _INLINE.sub(QUOTED, text)
    if ">" in text:
        text = _CITED.sub(BLOCK, text)
        if "<" in text:
            text = _MARKUP.sub(f"\n{BLOCK}\n", text)
    if '"' in text:
        text = _DOUBLE.sub(QUOTED, text)
    if "'" in text:
        text = _SINGLE.sub(QUOTED, text)
    if not text.isascii():
        text = _EMOJI.sub(_ends, text)
    if "*" in text:
        text = _ITALIC.sub(_title, text)
    for start in _TITLE_STARTS:
        if start in text:
            text = _TITLE.sub(QUOTED, text)
            break
    if "*" in text or "_" in text or "#" in text:
        text = _EMPHASIS.sub("", text)
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    return without_drafts(text, BLOCK, asked_for_text)


def canonical(sentence: str) -> str:
    """
    A sentence in the spelling the rules are written in.

    Examples:
    ```python
    >>> canonical("- I'm  sure it can't be")
    'i am sure it cannot be'

    ```
    """
    lower = _SPACES.sub(" ", _MARKER.sub("", sentence)).strip().lower()
    return _SHORT.sub(_longer, lower)


def _parts(sentence: str) -> list[str]:
    """A sentence, in parts where it is too long to be one."""
    parts = []
    while len(sentence) > _LONGEST:
        cut = sentence.rfind(" ", 1, _LONGEST)
        cut = cut if cut > 0 else _LONGEST
        parts.append(sentence[:cut])
        sentence = sentence[cut:].lstrip()
    return [*parts, sentence] if sentence else parts


def sentences(text: str, *, asked_for_text: bool = False) -> list[str]:
    """
    The sentences a reply says itself, as written.

    Args:
        text (`str`):
            The reply.
        asked_for_text (`bool`, *optional*, defaults to `False`):
            See [`own_text`].

    Examples:
    ```python
    >>> sentences("Certainly! I can't find ORD-4.2 yet.")
    ['Certainly!', "I can't find ORD-4.2 yet."]

    ```
    """
    own = own_text(text, asked_for_text=asked_for_text)
    starts = [0, *(end.end() for end in _END.finditer(own)), len(own)]
    pieces = (own[start:end].strip(" \t\r\n|") for start, end in pairwise(starts))
    return [part for piece in pieces if piece for part in _parts(piece)]
