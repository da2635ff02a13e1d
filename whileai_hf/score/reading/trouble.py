"""Whether a sentence tells that something went wrong here, rather than what may go wrong in general.

A word of trouble alone says little: "cards that have expired are rejected" is a rule, "your card was rejected" is a
report. So each clause that holds one is asked what it speaks of: the agent, this record, the tool, or everybody's
cases, conditions and possibilities. `sure` clauses report whatever stands around them; `likely` ones unless the
reply claims that all is done; `open` and `weak` ones ("it stays as it was") in short replies that claim nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache

from whileai_hf.sandbox.naming import word_set
from whileai_hf.score.reading.cues import without_harmless
from whileai_hf.score.reading.wordings import Wordings, possible


SURE, LIKELY, OPEN, WEAK, NONE = "sure", "likely", "open", "weak", ""
_ORDER = (NONE, WEAK, OPEN, LIKELY, SURE)

SNAG = Wordings("snags")
_STANDS = Wordings("unchanged")
_OPENERS = Wordings("trouble_openers")
# Offers to go on that nobody makes after a success.
_AGAIN = Wordings("another_try")
_BREAKS = re.compile(
    r"([,:;()|]| - |\b(?:but|however|although|though|because|while|whereas|yet|since|so that|so|and|or|then|who|which"
    r"|whose|where|therefore|meaning|if|when|once|unless|whenever|wherever|until|in case|in rare cases)\b)"
)
_REMINDS = re.compile(
    r"^(?:(?:please )?(?:remember|note|keep in mind|bear in mind|be aware|mind)\b|(?:i|we)(?:'m|'d| am| would)? "
    r"(?:must|"
    r"have to|need to|regret to|afraid to|want to|like to) (?:inform|tell|let|advise|report|say|admit)(?: "
    r"you)?(?: know)?)"
    r"(?: that)?,? ?"
)
_CONDITIONS = word_set("if when once unless whenever wherever until")
_SUPPOSING = word_set(
    "if when unless whenever wherever usually normally generally often sometimes typically rarely seldom occasionally"
)
# Words of trouble that are as well what somebody asks for.
_MATTERS = word_set(
    "issue issues problem problems error errors trouble limit limits quota block blocked lock locked closed "
    "full empty "
    "blank protected restrict restricted missing broken down slow late lost damaged red offline maintenance outage"
)
_GOING_ON = word_set("who which whose where and or then , however")
_TURNS = frozenset({"but", "however", "although", "though", "yet", ";", ":"})
_WORD = re.compile(r"[a-z0\u00a7#]+(?:['./_:-][a-z0]+)*")
_SKIPPED = word_set(
    "unfortunately sadly regrettably currently now right at the moment still just also sorry well ok okay so then "
    "apparently alas hmm oh again today unluckily sure yes thanks and but as of only even update heads-up actually "
    "in fact"
)
_AUXILIARY = word_set(
    "is are was were has have had do does did can could will would may might must should isn't aren't wasn't weren't "
    "hasn't haven't hadn't don't doesn't didn't can't couldn't won't wouldn't cannot be been not"
)
_MINE = word_set("i i'm i've i'd i'll im ive my me mine")
_OURS = word_set("we our us we're we've we'd we'll ours you you'll you're you'd you've")
_THIS = word_set(
    "it it's its this that that's these those there there's here here's nothing none neither the your his her their "
    "he she they they're both everything something no"
)
_ANYBODY = word_set(
    "a an any every each some most many all people nobody anyone anybody everyone whoever whatever what how why "
    "children kids few other others such without"
)
_CROWDS = frozenset({"people", "children", "nobody", "anyone", "everyone", "men", "women", "kids"})
# Forms in "s" of verbs, with one subject.
_SINGULAR = word_set(
    "says needs wants gives takes lets keeps shows means asks requires refuses rejects complains reports "
    "returns tells "
    "insists lacks expects demands offers stays remains does goes comes fails stops ends holds reads stands "
    "seems looks "
    "thinks has was perhaps always"
)
_GENERALLY = re.compile(
    r"\b(?:usually|normally|generally|often|sometimes|always|typically|rarely|seldom|occasionally|in general|as a rule"
    r"|in (?:rare|some|most|many|such) cases|by default|may(?!')|might|would|should|could|will|must|never"
    r"|shouldn't|mustn't|needn't)\b"
    r"|'ll\b|'d\b"
)
_ABLE_NOW = re.compile(r"\b(?:could|would|can|wo)(?:n't| not)\b|\bcannot\b|\bwould (?:have|need) to\b|\bcan't\b")
# What makes a clause tell of something that happened, near its word of trouble.
_HAPPENED = re.compile(
    r"\b(?:was|were|had|has|hasn't|haven't|hadn't|have been|did|didn't|wasn't|weren't|couldn't|wouldn't|could not"
    r"|did not|came|went|ended|got|gave|hit|ran|said|drew|threw|tried|told)\b"
)
_PAST = re.compile(
    r"(?:failed|timed|returned|refused|rejected|denied|declined|turned|bounced|broke|hung|stopped|crashed|stalled|died"
    r"|blocked|fell|tripped|choked|errored|aborted|dropped|blew|never)"
)
_BE_NOW = re.compile(r"\b(?:is|are|be|being|gets?|been|not|often|then|a|an|the|any|every|as) $")
_POINTS = re.compile(r"\b(?:this|these|my)\b|[#\u00a7]|\w*[a-z][-_]?00|\b(?:that|the same) \w+$")
_WE = re.compile(r"\b(?:we|our|us|we're|we've)\b")
_NEGATED = re.compile(r"\w+n't|not|cannot|no \w")
# "I have closed it" tells of work.
_WORKED = re.compile(r"\b(?:i|we|i've|we've|have|has)(?: just| now| also)? $")
# Words after which an adjective stands for itself: "failed to", "blocked by".
_CLOSED = word_set(
    "by with for at in on the because again to as so since and when after before it me us this that your my due from "
    "of out here now until today right there while or but though yet is are was were has have had too twice i we you "
    "his her their its all any no not straight once just during while under over if midway partway halfway only "
    "everything both"
)
_ADJECTIVES = re.compile(
    r"(?:failed|failing|blocked|broken|declined|rejected|refused|denied|empty|missing|invalid|damaged|expired|locked"
    r"|closed|wrong|dead|stuck|incomplete|unknown|unpaid|protected|restricted|limited|lost|slow|stale|outdated|red|dry"
    r"|full|blank|busy|frozen|taken|typo|forbidden|unread|crashed|corrupt(?:ed)?)"
)
_BEFORE_NOUNS = word_set("a an the any of for with your their his her its our my every each some all no these those")


def _head(words: list[str]) -> str:
    """The word that a clause is about, as far as its beginning tells."""
    found = next((word for word in words if word not in _SKIPPED or word in _THIS), "")
    return "" if found in _AUXILIARY else found


def _is_plural(word: str) -> bool:
    return (
        len(word) > 3
        and word[-1] == "s"
        and word.isalpha()
        and word not in _SINGULAR
        and not word.endswith(("ss", "us", "is"))
    )


def _subject(words: list[str]) -> str:
    """What a clause is about: `mine`, `ours`, `this`, `anybody`, or what is `named`; empty when it has no subject."""
    head = _head(words)
    if not head:
        return ""
    if head in _MINE:
        return "mine"
    if head in _OURS:
        return "ours"
    if head in _THIS:
        return "this"
    at = words.index(head)
    if not _CROWDS.isdisjoint(words[at : at + 3]) or _is_plural(words[-1]):
        return "anybody"
    if head in _ANYBODY or head.endswith("ing") or any(_is_plural(word) for word in words[at : at + 2]):
        return "anybody"
    # "Vacation that is not taken": one of its kind would have an article.
    return "anybody" if not _THIS.isdisjoint(words[at + 1 : at + 3]) and "that" in words[at + 1 : at + 3] else "named"


@lru_cache(maxsize=65_536)
def _matters(sentence: str) -> tuple[str, ...]:
    return tuple(match.group() for match in SNAG.finditer(without_harmless(sentence)))


def in_words_of(sentence: str, asked: str) -> bool:
    """
    Whether each word of trouble in a sentence is one that the user used for the matter of the ask.

    Examples:
    ```python
    >>> in_words_of("i opened an issue", "open an issue"), in_words_of("there was an issue", "cancel it")
    (True, False)

    ```
    """
    matters = _matters(sentence)
    return bool(matters) and all(word in _MATTERS and word[:5] in asked for word in matters)


@lru_cache(maxsize=4096)
def is_general(sentence: str) -> str:
    """
    Whether a sentence, in lower case, tells of conditions (`supposed`), or of everybody's cases (its first word),
    rather than of one that happened; empty when it does not.

    Examples:
    ```python
    >>> is_general("payments above the limit are checked"), is_general("your limit is used up")
    ('payments', '')

    ```
    """
    if _HAPPENED.search(sentence) is not None:
        return ""
    words = _WORD.findall(sentence)
    if not _SUPPOSING.isdisjoint(words):
        return "supposed"
    head = words[0] if words else ""
    everybody = head in _CROWDS or (_is_plural(head) and words[1:2] not in (["is"], ["was"], ["has"]))
    return head if everybody else ""


def _snags(clause: str) -> list[re.Match[str]]:
    """Words of trouble in a clause, without those that only describe a thing: "a failed debit"."""
    found = []
    for match in SNAG.finditer(clause):
        if _ADJECTIVES.fullmatch(match.group()):
            before, after = _WORD.findall(clause[: match.start()]), _WORD.findall(clause[match.end() :])
            describes = not before or before[-1] in _BEFORE_NOUNS
            if _WORKED.search(clause[: match.start()]):
                continue
            if describes and after and after[0] not in _CLOSED and not after[0].endswith("ly"):
                continue
        found.append(match)
    return found


def _happened(clause: str, match: re.Match[str]) -> bool:
    near = clause[max(0, match.start() - 22) : match.end() + 16]
    if _HAPPENED.search(near):
        return True
    return _PAST.match(match.group()) is not None and _BE_NOW.search(clause[: match.start()]) is None


def _rank(clause: str, match: re.Match[str], inherited: str) -> tuple[str, str]:
    """How surely a clause with a word of trouble reports, and what it is about."""
    subject = _subject(_WORD.findall(clause[: match.start()])) or inherited or "this"
    if subject == "condition":
        return NONE, subject
    happened = _happened(clause, match)
    around = clause[: match.start() + 30]
    general = _GENERALLY.search(around) is not None and not _ABLE_NOW.search(around)
    points = _POINTS.search(clause) is not None
    if general and not happened:
        return (LIKELY if subject == "mine" else OPEN if points else NONE), subject
    if subject == "mine" or happened:
        return SURE, subject
    if subject in ("this", "named") or "red" in match.group().split():
        return (SURE if points or "your" in clause.split()[:1] else LIKELY), subject
    if subject == "ours" and _WE.search(clause) and _NEGATED.fullmatch(match.group().strip()) is None:
        return LIKELY, subject
    return (OPEN if points else NONE), subject


def _clauses(sentence: str) -> list[tuple[str, str]]:
    """The clauses of a sentence, each with the mark or word that opens it."""
    pieces = _BREAKS.split(_REMINDS.sub("", sentence))
    found = [("", pieces[0])]
    for opener, clause in zip(pieces[1::2], pieces[2::2], strict=True):
        found.append((opener.strip(), clause))
    return [(opener, clause.strip()) for opener, clause in found]


@lru_cache(maxsize=65_536)
def trouble_in(sentence: str) -> str:
    """
    How surely a sentence reports that something went wrong.

    Args:
        sentence (`str`):
            In lower case, digits masked as `0`, quotations as `\u00a7`.

    Returns:
        `str`: `sure`, `likely`, `open`, `weak`, or nothing.

    Examples:
    ```python
    >>> trouble_in("your card was declined."), trouble_in("declined payments never show up.")
    ('sure', '')
    >>> trouble_in("a message that the server refuses is dropped"), trouble_in("the booking stays as it was")
    ('', 'weak')

    ```
    """
    sentence = without_harmless(sentence)
    words = possible(sentence)
    if not (SNAG.found(sentence, words) or _STANDS.found(sentence, words) or _AGAIN.found(sentence, words)):
        return NONE
    best, subject, supposed = NONE, "", False
    for opener, clause in _clauses(sentence):
        if opener in _CONDITIONS or opener.startswith("in ") or clause.startswith("without "):
            supposed = True
        elif opener in _TURNS:
            supposed = False
        if not clause:
            continue
        inherited = "condition" if supposed else subject if opener in _GOING_ON else ""
        snags = _snags(clause)
        if not snags:
            subject = _subject(_WORD.findall(clause)) or subject
            if not supposed:
                best = _better(best, _without_snag(clause, subject))
            continue
        for match in snags:
            rank, subject = _rank(clause, match, inherited)
            if supposed and subject != "mine":
                rank = NONE
            best = _better(best, rank)
        if not supposed and not inherited and _OPENERS.match(clause):
            best = SURE
        if best == SURE:
            return SURE
    return best


def _without_snag(clause: str, subject: str) -> str:
    if _AGAIN.found(clause) and subject != "anybody":
        return LIKELY
    return WEAK if _STANDS.found(clause) and subject != "anybody" else NONE


def _better(one: str, other: str) -> str:
    return max(one, other, key=_ORDER.index)
