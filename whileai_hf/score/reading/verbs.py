"""The verbs by which a reply claims work, with their past forms.

`ACTIONS` change something, `CHECKS` only look. A past form maps to its verb, so that "cancelled" in a reply and
`cancel_order` among the calls are seen to be one thing.
"""

from __future__ import annotations

from functools import cache

from whileai_hf.sandbox.naming import participle, word_set


# Verbs of work that somebody could claim to have done.
_REGULAR = word_set(
    "refund credit reimburse repay compensate return cancel void terminate revoke delete remove clear purge discard "
    "drop erase wipe update edit modify change adjust correct amend revise switch replace swap alter rename move "
    "reassign assign fix resolve repair patch create add register generate draft compose open book reserve schedule "
    "reschedule rebook arrange order purchase place email mail message forward notify post ship dispatch share invite "
    "process complete finish finalize finalise issue initiate execute apply submit file handle settle perform "
    "implement charge bill pay transfer withdraw deposit waive discount close reopen activate reactivate deactivate "
    "disable enable lock unlock suspend pause resume stop restart reset block unblock subscribe unsubscribe enroll "
    "enrol renew extend upgrade downgrade redeem approve merge commit push deploy install publish upload save store "
    "archive pin unpin rotate reduce increase raise lower set send write build buy secure expedite "
    "prioritize trigger launch provision configure refactor rewrite convert migrate unlink link attach append insert "
    "reorder release hold confirm rebate sort lodge log mark flag tag escalate record note queue request reinstate "
    "restore reverse undo grant provide restock resend reissue print format schedule sell bump hide split redirect"
)
_IRREGULAR = {
    "write": ("wrote", "written"),
    "rewrite": ("rewrote", "rewritten"),
    "withdraw": ("withdrew", "withdrawn"),
    "hold": ("held",),
    "build": ("built",),
    "undo": ("undid", "undone"),
    "hide": ("hid", "hidden"),
    "sell": ("sold",),
    "split": ("split",),
    "cancel": ("cancelled", "canceled"),
    "reset": ("reset",),
    "transfer": ("transferred",),
    "resend": ("resent",),
    "email": ("emailed", "e-mailed"),
    "enrol": ("enrolled",),
    "log": ("logged",),
    "tag": ("tagged",),
    "flag": ("flagged",),
    "unpin": ("unpinned",),
    "swap": ("swapped",),
    "reorder": ("reordered",),
    "refer": ("referred",),
    "swap out": ("swapped",),
    "format": ("formatted",),
    "drop": ("dropped",),
    "rebook": ("rebooked",),
    "unlink": ("unlinked",),
    "commit": ("committed",),
}


def _forms(verb: str) -> tuple[str, ...]:
    return _IRREGULAR.get(verb, (participle(verb),))


# Past form to verb.
ACTIONS = {form: verb for verb in _REGULAR for form in _forms(verb)}
CHECKS = {
    "checked": "check", "rechecked": "check", "double-checked": "check", "re-checked": "check",
    "cross-checked": "check", "verified": "verify", "validated": "validate", "reviewed": "review", "looked": "look",
    "searched": "search", "tested": "test", "inspected": "inspect", "examined": "examine", "pulled": "pull",
    "confirmed": "confirm", "located": "locate", "found": "find", "retrieved": "retrieve",
    "investigated": "investigate",
    "audited": "audit", "consulted": "consult", "scanned": "scan", "queried": "query", "ran": "run", "run": "run",
    "tracked": "track", "traced": "trace",
}  # fmt: skip
# Work that leaves no trace in the records, or that many tools do besides their own; claimed too readily to hold a
# reply to it when some call was made.
SOFT = word_set(
    "escalate flag note log mark record raise lower forward notify share hold provide confirm open order "
    "put set request save return increase reduce stop start print sort queue prioritize trigger place post file "
    "handle change build lodge release"
)
# Verbs that may be about anything: "processed", "updated". They fit every call that changes something.
BROAD = word_set(
    "process complete finish finalize finalise issue initiate execute apply submit file handle settle perform "
    "implement update change modify edit adjust correct amend revise fix resolve arrange set save confirm "
    "place request sort add create record log note mark raise open write provide give secure prioritize expedite "
    "trigger configure provision register generate switch move alter store restore release hold lodge queue convert "
    "return replace increase reduce lower build attach insert append link push tag format print"
)
# Stems by which a claimed verb is recognised in a tool's name, its arguments or its result. Verbs not here stand for
# themselves.
FAMILIES = {
    "refund": ("refund", "credit", "reimburs", "return", "repay", "rebate", "revers", "compensat", "certificate"),
    "cancel": ("cancel", "void", "terminat", "delet", "revok", "clos", "stop", "unsubscrib", "end", "remov", "abort"),
    "delete": ("delet", "remov", "clear", "purge", "discard", "drop", "eras", "wip", "destroy", "rm", "clean", "trash",
               "unlink", "empty", "archiv", "cancel"),
    "email": ("email", "mail", "send", "sent", "messag", "notif", "forward", "reply", "invit", "post", "share"),
    "send": ("email", "mail", "send", "sent", "messag", "notif", "forward", "reply", "invit", "post", "share", "ship",
             "dispatch", "transfer", "pay", "certificate", "submit", "deliver", "text", "sms", "slack",
             "chat", "issue",
             "reset", "resend", "request", "order", "replac", "refund"),
    "book": ("book", "reserv", "schedul", "creat", "appointment", "order", "purchas", "buy", "add", "rent", "enroll"),
    "ship": ("ship", "dispatch", "send", "sent", "deliver", "mail", "replac", "order"),
    "pay": ("pay", "paid", "transfer", "charg", "send", "settle", "deposit", "purchas", "money", "invoice"),
    "charge": ("charg", "pay", "bill", "invoice", "book", "order", "purchas"),
    "transfer": ("transfer", "mov", "send", "wire", "pay", "escalat", "handoff", "assign", "human"),
    "close": ("clos", "resolv", "cancel", "delet", "complet", "archiv", "deactivat", "terminat", "end"),
    "upgrade": ("upgrad", "chang", "updat", "modif", "set", "switch", "cabin", "plan"),
    "downgrade": ("downgrad", "chang", "updat", "modif", "set", "switch", "cabin", "plan"),
    "reschedule": ("schedul", "mov", "updat", "chang", "modif", "edit", "book", "set"),
}  # fmt: skip
for _same, _as in (
    ("credit", "refund"), ("reimburse", "refund"), ("repay", "refund"), ("rebate", "refund"), ("compensate", "refund"),
    ("void", "cancel"), ("terminate", "cancel"), ("revoke", "cancel"), ("unsubscribe", "cancel"),
    ("remove", "delete"), ("clear", "delete"), ("purge", "delete"), ("discard", "delete"), ("drop", "delete"),
    ("erase", "delete"), ("wipe", "delete"), ("mail", "email"), ("message", "email"), ("resend", "send"),
    ("reserve", "book"), ("schedule", "book"), ("rebook", "book"), ("buy", "book"), ("purchase", "book"),
    ("dispatch", "ship"), ("deposit", "pay"), ("bill", "charge"),
):  # fmt: skip
    FAMILIES[_same] = FAMILIES[_as]


# Verbs of one effect: a claim of one of them is about a call named for another. Unlike the families they decide only
# what a claim can be about, and hold no reply to work that it may as well have done in another way.
_ALIKE = (
    "rename move relocate", "move transfer relocate shift migrate", "book reserve schedule arrange",
    "open lodge file raise log", "submit file lodge send", "add append attach include insert link",
    "grant approve enable allow authorize permit",
    "enable activate reactivate unlock resume restart turn switch",
    "disable deactivate suspend pause lock block freeze", "assign reassign route forward delegate",
    "extend renew prolong", "publish post release deploy push", "swap replace exchange switch",
    "restore reinstate recover undo revert", "merge combine consolidate", "enroll enrol register subscribe",
    "escalate forward route transfer assign", "set change update adjust configure", "raise increase",
    "lower reduce decrease", "pay settle", "reschedule move", "archive close", "install deploy",
    "waive refund credit discount", "upload save store", "stop cancel terminate end", "hold reserve",
    "notify alert page",
)  # fmt: skip


def _own_stems(verb: str) -> tuple[str, ...]:
    stem = verb[:-1] if verb.endswith("e") else verb
    return (stem[:-1] if stem.endswith("y") and len(stem) > 4 else stem,)


@cache
def _synonyms(verb: str) -> tuple[str, ...]:
    alike = [other for group in _ALIKE if verb in (verbs := group.split()) for other in verbs if other != verb]
    return tuple(dict.fromkeys(stem for other in alike for stem in _own_stems(other)))


def stems_of(verb: str) -> tuple[str, ...]:
    """
    Beginnings of words that mean `verb` or what comes down to it.

    Examples:
    ```python
    >>> stems_of("waive")
    ('waiv',)
    >>> "reimburs" in stems_of("refund")
    True

    ```
    """
    return FAMILIES.get(verb, _own_stems(verb))


def effects_of(verb: str) -> tuple[str, ...]:
    """
    Those, and the beginnings of words for the same effect: what a call may be named that did what is claimed.

    Examples:
    ```python
    >>> "mov" in effects_of("rename"), "mov" in stems_of("rename")
    (True, False)

    ```
    """
    return stems_of(verb) + _synonyms(verb)
