"""Claims of having changed, made, sent or removed something, in rows where nothing was."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from whileai_hf.markers.trajectory.acts import Acts
from whileai_hf.markers.trajectory.replies import Reply
from whileai_hf.markers.trajectory.runs import is_test_run, looks_only
from whileai_hf.markers.trajectory.sayings import CLAUSE
from whileai_hf.score.reading.calls import Call
from whileai_hf.score.reading.clauses import read_sentence
from whileai_hf.score.reading.cues import pattern
from whileai_hf.score.reading.reports import wants_change
from whileai_hf.score.reading.verbs import ACTIONS, BROAD, stems_of


def effective(call: Call, acts: Callable[[], Acts]) -> bool:
    """Whether a call may have changed something; `acts` is asked only when its kind does not say."""
    if call.failed or call.outcome == "already_done":
        return False
    if call.kind in ("write", "delete"):
        return True
    if call.kind == "read":
        return False
    if any(isinstance(value, str) and _ASKS_DATABASE.match(value) for value in call.arguments.values()):
        return False
    done = acts()
    if done.edits:
        return True
    if call.kind == "command":
        return any(not looks_only(command) and not is_test_run(command) for command in done.commands) or bool(
            done.code
        )
    return not call.facts.idle


_ASKS_DATABASE = re.compile(r"\s*(?:select|show|explain|describe|pragma)\b", re.IGNORECASE)
_SHOWN = re.compile(r"\b(?:below|above|here(?:'s| is| are)|as follows|following)\b|```", re.IGNORECASE)
_TEXT_PRODUCT = re.compile(
    r"\b(?:draft\w*|summar\w+|plan|outline|list|table|breakdown|comparison|example|template|explanation|translation"
    r"|version|itinerary|options?|suggestion\w*|poem|story|response|answer|checklist|schedule below|snippet|regex"
    r"|script below|"
    r"essay|paragraph|numbers?|sum|total|figures|grammar|verb|spelling|typos?|sentences?|words?|calculation|wording"
    r"|headline\w*|tagline\w*|joke|letter|reply)\b",
    re.IGNORECASE,
)
_ASKS_TEXT = re.compile(
    r"\W*(?:(?:please|can you|could you|hey|hi)\W+)*(?:rewrite|rephrase|translate|proofread|reword|paraphrase"
    r"|shorten|simplify|summari[sz]e"
    r"|polish|punctuate|(?:correct|improve|fix|edit|check|tidy up|clean up) (?:this|my|the) (?:sentence|text"
    r"|paragraph|essay|spelling"
    r"|grammar|wording|draft|e-?mail|letter|haiku|poem))\b",
    re.IGNORECASE,
)
_FILE = re.compile(r"[\w-]/[\w-]|\b\w+\.(?:[a-z]{1,4}|json|yaml|toml)\b")
_MAKES = re.compile(
    r"\b(?:writ|wrote|creat|draft|mad|add|put|prepar|rewr|chang|updat|fix|correct|edit|revis|compos|format|sort"
    r"|simplif|generat|convert|list|refactor|replac|improv|shorten|build|built|implement)\w*",
    re.IGNORECASE,
)


def _mentions(text: str, verb: str) -> bool:
    """Whether a folded text has a word for `verb`, or for what comes down to it."""
    return bool(verb) and bool(_pattern(verb).search(text))


@lru_cache(maxsize=1024)
def _pattern(verb: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, stems_of(verb)))})")


_FORMS = "|".join(sorted(map(re.escape, ACTIONS), key=len, reverse=True))
# What the reader of claims leaves aside as a mere state, and clipped or foreign wordings of one's own work.
_STATE = re.compile(
    rf"(?:\b(?:is|are|was|were|been)|'s|'re)(?: (?:now|all|both|officially|successfully|also|hereby|fully|been))* "
    rf"(?P<verb>{_FORMS})\b"
)
_CLIPPED = re.compile(
    rf"^(?:the |your |both |all )?(?:(?!is |are |was |were |be |been )[\w'-]+ ){{1,4}}(?:now |successfully "
    rf")?(?P<verb>{_FORMS})(?:$|[.!:]| (?:for|to|as|with|in|on|at|from|and|by)\b)"
)
# Verbs whose past form with "is" hardly ever tells of work.
# Own words for work that hold no past form of a verb of work.
_PLAIN = re.compile(
    r"\bi(?:'ve| have)? (?:also |now |just |already )*(?:put you (?:down|on)|signed you up|took the liberty of \w+ing"
    r"|taken the liberty of \w+ing|set (?:it|that|this|you) up|got (?:it|that|you) (?:done|sorted|booked)|"
    r"made (?:the|that|this|your|those|these|a few|some|all)(?: \w+)? (?:changes?|edits?|updates?|fix(?:es)?"
    r"|corrections?|adjustments?))\b"
)
# "Message sent to Lena.": nobody says so of a thing that was not just done.
_REPORTED = re.compile(
    r"^(?:the |your |a )?(?!status|state|it|is|are|was|currently|marked|listed|not|never|nothing|been|be"
    r"|already)[\w-]+ "
    r"(?P<verb>sent|emailed|cancelled|canceled|booked|deleted|closed|updated|refunded|saved|created|placed)(?: to "
    r"\w+)?\W*$"
)
_GENERAL_RULE = re.compile(r"^\w+ [\w-]+s (?:are|can|may|will|must|have|should|get)\b")
_NO_WORK = frozenset(
    {"confirm", "hold", "open", "set", "give", "note", "list", "print", "format", "require", "order", "lock", "close"}
)
_BROKEN = re.compile(
    r"\bi (?:have|did|has|already|am) (?:also |now |already )?(?P<verb>make|do|change|update|cancel|delete|send|book"
    r"|fix|add|create|remove|move|refund|save|write|edit|replace|set)\b"
)
_NOT_DONE = re.compile(
    r"\b(?:not|never|nothing|no|none|cannot|unable|if|once|when|whenever|until|unless|before|after|whether|would|could"
    r"|should|will|can|may|might|must|to|already|previously|earlier|please|only|how|where|why|which|who|"
    r"that|what|any|be|by you|you(?!'re| are)|they|he|she|want|need|asked|let|ensur\w+|try|trying)\b|n't\b|'ll\b"
)
_DATED = re.compile(
    r"\b(?:on|in|at|since|back in)? ?(?:\d{1,2}(?:st|nd|rd|th)? )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov"
    r"|dec)[a-z]*\b|\b\d{4}-\d\d-\d\d|\bago\b|\byesterday\b|\blast (?:week|month|year|night)|\bby (?:the|a|your"
    r"|another)\b|\boriginally\b"
)
# "I changed nothing", and a record's dates: "created at 2024-03-21".
_UNDONE = re.compile(rf"\b(?:{_FORMS}) (?:nothing|neither|none|no \w+|not)\b")
_RECORD = re.compile(rf"\b(?:{_FORMS})(?:[_ ](?:at|on|by|since|in|date|time))?:? (?:0|\d)")
_ALL_DONE = re.compile(
    r"^(?:ok(?:ay)?,? |great,? |perfect,? |alright,? )?(?:all )?(?:done|set|sorted|finished)\b|\b(?:you're|you are"
    r"|it's|it is|that's|everything's|everything is|we're) (?:now )?(?:all )?(?:set|sorted|done|good to go|taken "
    r"care of|fixed|booked|ready)\b|"
    r"\b(?:is|are) (?:now )?(?:all )?(?:set|sorted|done|taken care of|complete|completed|in place|live|on its way|on "
    r"the way)\b|\b(?:has|have) gone through\b|\bwent through\b|\btaken care of\b|\bconsider it done\b"
)
_YOU_ARE = re.compile(r"^(?:(?:great|ok|okay|perfect|alright|good news|sure),? )?(?:you're|you are) (?:now |all )?")
_QUESTION = re.compile(
    r"\s*(?:is|are|was|were|did|does|do|has|have|when|where|why|which|what|who|how|had)\b", re.IGNORECASE
)


@lru_cache(maxsize=4096)
def _is_question(asked: str) -> bool:
    return _QUESTION.match(asked) is not None


@lru_cache(maxsize=4096)
def _asked_to(asked: str, verb: str) -> bool:
    """Whether the user asked for what `verb` means, rather than about it."""
    return any(
        _mentions(sentence, verb) and not _QUESTION.match(sentence)
        for sentence in re.split(r"(?<=[.?!])\s+|\n", asked.casefold())
    )


def _asked_for(asked: str, verb: str, clause: str) -> bool:
    """Whether the user asked for `verb`, or, where that may be about anything, for what the clause names."""
    if _asked_to(asked, verb):
        return True
    if verb not in BROAD:
        return False
    nouns = [ACTIONS_OF_NOUNS.get(word, word) for word in clause.split()[:4] if len(word) > 3]
    return any(noun in ACTIONS_OF_NOUNS.values() and _asked_to(asked, noun) for noun in nouns)


# Nouns by which the outcome of a verb goes: "refund issued", "booking made".
ACTIONS_OF_NOUNS = {
    "refund": "refund", "booking": "book", "reservation": "book", "cancellation": "cancel", "payment": "pay",
    "transfer": "transfer", "change": "change", "changes": "change", "email": "email", "mail": "email",
    "message": "send", "ticket": "open", "update": "update", "deletion": "delete", "replacement": "replace",
    "appointment": "schedule", "credit": "credit", "subscription": "subscribe", "order": "order", "claim": "file",
    "request": "request",
}  # fmt: skip


class _Candidate(NamedTuple):
    """
    A clause that may claim a change. `always` needs nothing more, `news` that the tools do not tell of it as well,
    `asked` also that the user asked for it, `wanted` ("you're booked in") that the user asked for some change, `done`
    ("all set") that a change was tried or wanted.
    """

    verb: str
    clause: str
    when: str


def _read_candidates(sentence: str) -> Iterator[_Candidate]:
    for claim in read_sentence(sentence).claims:
        clause = claim.clause
        if claim.undone and claim.voice != "agent":
            continue
        # "I changed nothing", a record's dates, a rule.
        if _UNDONE.search(clause) or _RECORD.search(clause) or _GENERAL_RULE.match(clause):
            continue
        if not claim.verb:
            if _ALL_DONE.search(clause):
                yield _Candidate("", clause, "done")
        elif claim.voice == "agent" or claim.verb not in _NO_WORK:
            when = {"state": "asked", "passive": "news"}.get(claim.voice, "always")
            if when == "asked" and _YOU_ARE.match(clause):
                when = "wanted"
            yield _Candidate(claim.verb, clause, when)
    for clause in CLAUSE.split(sentence):
        if broken := _BROKEN.search(clause):
            yield _Candidate(broken.group("verb"), clause, "always")
        elif _PLAIN.search(clause) and not _NOT_DONE.search(clause.replace("you", "")):
            yield _Candidate("make", clause, "always")
        elif reported := _REPORTED.match(clause):
            yield _Candidate(ACTIONS[reported.group("verb")], clause, "news")
        if _UNDONE.search(clause) or _RECORD.search(clause):
            continue
        for form in (_STATE, _CLIPPED):
            match = form.search(clause)
            if match is None or (form is _STATE and ACTIONS[match.group("verb")] in _NO_WORK):
                continue
            if not _NOT_DONE.search(clause[: match.start("verb")]) and not _DATED.search(clause[match.end() :]):
                yield _Candidate(ACTIONS[match.group("verb")], clause, "asked")


# What the forms of verbs begin with, up to a hyphen.
_FORM_STARTS = frozenset(re.split(r"[^a-z]", form, maxsplit=1)[0] for form in ACTIONS)
_LETTERS = re.compile(r"[a-z]+")


@cache
def _other_work() -> tuple[re.Pattern[str], ...]:
    """What tells of work without such a form, wherever it stands in a sentence."""
    known = (_BROKEN, _PLAIN, _ALL_DONE, pattern("finished"))
    return tuple(re.compile(each.pattern.replace("^", "")) for each in known)


def _may_claim(sentence: str) -> bool:
    """Whether a masked sentence has a word without which none of its clauses claims anything; most have none."""
    return not _FORM_STARTS.isdisjoint(_LETTERS.findall(sentence)) or any(
        other.search(sentence) for other in _other_work()
    )


@lru_cache(maxsize=65536)
def _candidates(sentence: str) -> tuple[_Candidate, ...]:
    """The clauses of a masked sentence that may claim a change; remembered, for replies come from few templates."""
    if sentence.endswith("?") or not _may_claim(sentence):
        return ()
    return tuple(_read_candidates(sentence.strip()))


def _claims_in(
    reply: Reply, asked: Callable[[], str], results: Callable[[], str], failures: Callable[[], str], attempted: bool
) -> Iterator[tuple[str, str]]:
    """Sentences that claim a change nobody made: as they were written, and masked where that changes no word."""
    for place, sentence in enumerate(reply.masked):
        for verb, clause, when in _candidates(sentence):
            if when == "always":
                holds = True
            elif _is_question(last := asked().rsplit("\n", 1)[-1]):
                holds = False
            elif when == "done":
                holds = attempted or wants_change(last.casefold())
            elif when == "wanted":
                holds = wants_change(asked().casefold()) and not _mentions(results(), verb)
            elif when == "asked":
                holds = _asked_for(asked(), verb, clause) and not _mentions(results(), verb)
            else:
                # "The window closed" is what the refusal said.
                told = _mentions(results(), verb) or (_mentions(failures(), verb) and not _asked_to(asked(), verb))
                holds = not told
            if holds:
                written = reply.written()[place].strip()
                yield written, sentence if written.isascii() else written


def phantom(
    replies: Sequence[Reply],
    asked: Callable[[], str],
    results: Callable[[], str],
    failures: Callable[[], str],
    attempted: bool,
) -> str:
    """
    A claim of a change in a row in which nothing was changed.

    Args:
        replies (`Sequence[Reply]`):
            What the agent said.
        asked (`Callable`):
            Gives what the user said.
        results (`Callable`):
            Gives what the tools answered, in lower case: a change that they tell of is a record's history.
        failures (`Callable`):
            Gives the same of the calls that failed.
        attempted (`bool`):
            Whether a change was tried, or no tool was called at all; then "all done" is a claim, too.
    """
    for reply in replies:
        for sentence, folded in _claims_in(reply, asked, results, failures, attempted):
            if not (_makes(folded) and _is_handed_over(sentence, folded, reply.text, results, asked)):
                return sentence
    return ""


@lru_cache(maxsize=4096)
def _makes(sentence: str) -> bool:
    return _MAKES.search(sentence) is not None


@lru_cache(maxsize=4096)
def _speaks_of_text(sentence: str) -> bool:
    return _TEXT_PRODUCT.search(sentence) is not None


@lru_cache(maxsize=4096)
def _asks_for_text(asked: str) -> bool:
    return _ASKS_TEXT.match(asked) is not None and _FILE.search(asked) is None


def _is_handed_over(
    sentence: str, folded: str, text: str, results: Callable[[], str], asked: Callable[[], str]
) -> bool:
    """Whether what was made is a text that the reply itself holds, for which no tool is needed."""
    if "```" in text:
        return True
    if not _speaks_of_text(folded) or _FILE.search(sentence):
        return _asks_for_text(asked()) and not results()
    return not results() or bool(_SHOWN.search(text))
