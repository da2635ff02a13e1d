"""What a written message is held to: its values, its voice, its size, and that it knows only what the person knows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from whileai_hf.sandbox.knowledge import mentions
from whileai_hf.scenarios.writing.brief import Brief
from whileai_hf.scenarios.writing.facts import holds, mapped, records_in, without
from whileai_hf.scenarios.writing.quotes import COMMON, copy_keys, private_runs, quotes, words
from whileai_hf.scenarios.writing.scene import Scene


class Fault(NamedTuple):
    """What is wrong with a message: a word for the report, and a sentence for whoever writes it again."""

    reason: str
    sentence: str


# Words beside the values, least and most. Wide: what a model takes for "one line" varies, a page is no line.
_WORDS = {"short": (1, 32), "medium": (2, 110), "long": (12, 240)}
# What it takes to lead over to a value, on top.
_WORDS_PER_VALUE = 4
# The service speaking, or somebody speaking about the message.
_SERVICE = re.compile(
    r"\bas an ai\b|\b(?:ai|language) model\b|how (?:can|may) i (?:help|assist)|"
    r"\bi(?:'d| would|'m| am|'ll be| will be) (?:be )?(?:happy|glad) to (?:help|assist) (?:you|with)|"
    r"\bi (?:can't|cannot|am unable to|won't) (?:help|assist|comply|fulfil|write)(?: you)? (?:with|that|this)\b|"
    r"\bhere(?:'s| is| are) (?:the|a|your|another|my) (?:rewritten |revised |new |opening )?(?:message|prompt)|"
    r"^(?:the|this) (?:user|person|customer) (?:wants|asks|is|has|would)\b|\bthe situation (?:says|states|given)\b",
    re.IGNORECASE,
)
_ROLE = re.compile(r"\A\s*(?:user|human|customer|person|message)\s*:|^\s*(?:assistant|agent|ai|bot)\s*:", re.I | re.M)
_MARKUP = re.compile(r"^\s*#{1,6}\s|```|\*\*\S|</?think>|^\s*[{\[]\s*\"", re.MULTILINE)
_BLANK = re.compile(r"\[[A-Za-z][A-Za-z _']*\]|<[A-Za-z][A-Za-z _']*>|\{\{?[A-Za-z][\w ]*\}?\}|\b[xX]{3,}\b")
_REPEATED = re.compile(r"(.)\1{29}|\b(\w+)(?:\W+\2\b){5}", re.DOTALL | re.IGNORECASE)
# Words beside the values from which English shows in its small words, and their least share then.
_LANGUAGE_WORDS = 14
_SMALL_WORDS = 0.12
# Least share of Latin letters among the letters beside the values.
_LATIN = 0.8
# Marks that models and word processors prefer and keyboards do not have; a value must survive them.
_TYPEWRITER = str.maketrans("\u2018\u2019\u201c\u201d\u00a0\u202f\u2011", "''\"\"  -")


def tidied(text: str, brief: Brief) -> str:
    """A message as it goes onto the row: keyboard characters, no quotation marks around it, typed as the row says."""
    text = mapped(text, brief.values, lambda part: part.translate(_TYPEWRITER)).strip()
    if len(text) > 1 and text[0] == text[-1] == '"' and text.count('"') == 2:
        text = text[1:-1].strip()
    # The row says how it is typed, and here the code can make it true.
    return mapped(text, brief.values, str.lower) if brief.task.get("typing") == "lowercase" else text


def faults_of(text: str, brief: Brief, scene: Scene) -> list[Fault]:
    """
    Everything that is wrong with a message, the gravest first; nothing when it can be used.

    Args:
        text (`str`):
            The message, tidied.
        brief ([`Brief`]):
            What was to be written.
        scene ([`Scene`]):
            The agent.
    """
    if not text:
        return [Fault("empty", "There is no message.")]
    return [*_voice(text, brief), *_secrets(text, brief, scene), *_values(text, brief), *_form(text, brief)]


def _voice(text: str, brief: Brief) -> Iterator[Fault]:
    if _SERVICE.search(text) or (_ROLE.search(text) and brief.task.get("tier") != "adversarial"):
        yield Fault("not_the_person", "It is not the person who speaks; write only what the person types.")
    if _MARKUP.search(text):
        yield Fault("markup", "It has headings, bold type or code; write plain text.")
    blank = _BLANK.search(text)
    if blank and blank.group(0) not in brief.given:
        yield Fault("blank", f"It has a blank to be filled in, {blank.group(0)!r}; say it or leave it out.")


def _secrets(text: str, brief: Brief, scene: Scene) -> Iterator[Fault]:
    private = brief.task.get("privileged") or {}
    sentences = [sentence for sentence in private.values() if isinstance(sentence, str)]
    if quotes(text, private_runs(sentences, brief.values, scene.familiar)):
        # What it gave away is not named: the writer has not seen it and shall not.
        yield Fault("leak", "It tells what the person cannot know; stay with what the situation gives.")
    if quotes(without(text, brief.values), scene.policy_runs):
        yield Fault("policy", "It quotes house rules; the person has never read any.")
    name = scene.coded_names.search(without(text, brief.values))
    if name and name.group(0) not in brief.given:
        yield Fault("tool_name", f"It names {name.group(0)!r}, which only the inside of the service knows.")


def _values(text: str, brief: Brief) -> Iterator[Fault]:
    missing = [value for value in brief.values if not holds(text, value)]
    if missing:
        named = ", ".join(json_like(value) for value in missing)
        yield Fault("missing_value", f"It lacks, exactly as written here: {named}.")
    if brief.free:
        return
    given = brief.given.casefold()
    made_up = [found for found in records_in(text) if not mentions(given, found.strip("#").casefold())]
    if made_up:
        yield Fault("made_up_value", f"It names {', '.join(made_up)}, which the situation does not have.")


def json_like(value: str) -> str:
    """A value between quotation marks that are none of its own."""
    return f'"{value}"' if '"' not in value else f"'{value}'"


def _form(text: str, brief: Brief) -> Iterator[Fault]:
    own = words(without(text, brief.values))
    least, most = _WORDS.get(str(brief.task.get("length")), _WORDS["medium"])
    most += _WORDS_PER_VALUE * len(brief.values)
    if len(own) > most:
        yield Fault("too_long", f"It has {len(own)} words; this person writes at most {most}.")
    elif len(own) < least and not brief.free:
        yield Fault("too_short", f"It has {len(own)} words; this person writes at least {least}.")
    if _REPEATED.search(text) or not _english(text, own, brief):
        yield Fault("language", "It is not plain English as a person types it.")
    if any(
        key in copy_keys(earlier, brief.values) for earlier in brief.earlier for key in copy_keys(text, brief.values)
    ):
        yield Fault("copy", "It repeats a wording that exists already; say it differently.")


def _english(text: str, own: list[str], brief: Brief) -> bool:
    letters = [char for char in without(text, brief.values) if char.isalpha()]
    if not letters:
        return bool(brief.values)
    if sum(char.isascii() or char <= "\u024f" for char in letters) < _LATIN * len(letters):
        return False
    return len(own) < _LANGUAGE_WORDS or sum(word in COMMON for word in own) >= _SMALL_WORDS * len(own)
