"""What calling a tool does to the world, and which record it does it to.

Annotations decide first (MCP's `readOnlyHint`, `destructiveHint`), then the verb of the name, then the description's.
Names are all a world has to tell that `get_order`, `refund_order` and `update_address` are about the same order: the
record is named after the parameter that identifies it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from whileai_hf.sandbox.naming import is_plural, singular, word_set, words_of
from whileai_hf.sandbox.shapes import shown_examples
from whileai_hf.spec import Tool, parameter_schemas, resolve_ref


Effect = Literal["read", "create", "update", "delete", "other"]

READ_VERBS = word_set(
    "get read list search find fetch lookup look show view check query describe retrieve browse count "
    "verify estimate track display scan inspect download head tail ls cat grep return see access "
    "compare preview quote"
)
CREATE_VERBS = word_set(
    "create add book send post make place insert new register submit upload write schedule reserve invite "
    "commit issue generate draft publish mkdir touch copy duplicate clone transfer buy purchase reply "
    "forward notify"
)
UPDATE_VERBS = word_set(
    "update edit modify change set refund reschedule rename move assign unassign approve reject reset "
    "toggle mark append share unshare checkout enable disable lock unlock pay apply extend upgrade "
    "downgrade close reopen resolve confirm activate deactivate suspend resume archive unarchive pin "
    "unpin return exchange ship merge escalate replace renew stage unstage rotate flag redeem charge "
    "complete finish start stop pause patch put sell join subscribe release withdraw deposit hold waive "
    "verify link unlink"
) - {"verify", "start", "return"}
DELETE_VERBS = word_set("delete remove cancel drop clear purge revoke unsubscribe discard destroy terminate rm void")
OTHER_VERBS = word_set("think echo calculate compute convert simulate trigger evaluate translate ping wait")
# Nouns that make a name without a verb a question: `git_log`, `order_status`.
_READ_NOUNS = word_set("log status diff info details history tree balance summary inbox feed")
# Deleting verbs after which the record is still there, marked.
SOFT_DELETES = frozenset({"cancel", "revoke", "void", "terminate", "unsubscribe"})
# Verbs that set what the arguments say; every other updating verb leaves its participle as the record's status.
SETTING_VERBS = word_set(
    "update edit modify change set reschedule rename move append share assign toggle reset mark add put "
    "patch replace stage checkout apply upgrade downgrade link start write"
)

_PREPOSITIONS = word_set("by in to from for with as of at on into per all")
_FILLERS = word_set(
    "details detail info information status data record list current new all the direct unread sent "
    "received full multiple text sizes"
)
# What a container holds when the container is what the name says.
_CONTENTS = {
    "inbox": "message", "outbox": "message", "log": "commit", "history": "event", "feed": "post", "graph": "node",
    "catalog": "product", "calendar": "event", "tree": "entry", "directory": "entry", "dir": "entry",
    "folder": "entry",
}  # fmt: skip
# First words of names that say whose tools they are.
_NAMESPACES = frozenset({"git", "github", "gitlab", "slack", "gmail", "jira", "notion", "mcp"})
_ID_ENDINGS = frozenset({"id", "uuid", "guid", "identifier", "sku"})
_CODE_ENDINGS = frozenset({"number", "code", "key", "ref", "reference"})
# "<word> number" and "<word> code" that identify nothing.
_NOT_IDS = word_set(
    "phone country zip postal currency language page line status error area dial api color source "
    "verification house promo discount access secret idempotency deduplication"
)
# Parameters whose whole name is the record they identify, and the record's name.
_WHOLE = {
    "user": "user", "username": "user", "recipient": "user", "customer": "customer", "account": "account",
    "member": "user", "channel": "channel", "url": "page", "uri": "page", "path": "file", "filepath": "file",
    "source": "file", "revision": "commit", "sha": "commit", "ticket": "ticket", "order": "order",
    "branch": "branch", "paths": "file", "urls": "page",
}  # fmt: skip
_ID_OF = re.compile(r"^(?:the |an? )?(?:unique )?(?:id|identifier)\b", re.IGNORECASE)
_FOLDERS = ("directory", "folder", "dir", "tree")


@dataclass(frozen=True)
class IdParameter:
    """A parameter that says which record a call is about: its name, the record's entity, whether it is a list."""

    name: str
    entity: str
    many: bool
    required: bool
    kind: str


def _described_verb(description: str) -> str:
    match = re.match(r"[^A-Za-z]*([A-Za-z]+)", description)
    word = match.group(1).lower() if match else ""
    for stem in (word, word.removesuffix("s"), word.removesuffix("es")):
        if _effect_of_verb(stem) is not None:
            return stem
    return ""


def _effect_of_verb(verb: str) -> Effect | None:
    tables: tuple[tuple[frozenset[str], Effect], ...] = (
        (READ_VERBS, "read"),
        (CREATE_VERBS, "create"),
        (UPDATE_VERBS, "update"),
        (DELETE_VERBS, "delete"),
        (OTHER_VERBS, "other"),
    )
    return next((effect for verbs, effect in tables if verb in verbs), None)


@lru_cache(maxsize=4096)
def verb_of(name: str, description: str = "") -> str:
    """
    The verb of a tool, from its name or the first word of its description; empty when there is none.

    Examples:
    ```python
    >>> verb_of("git_create_branch"), verb_of("order_status"), verb_of("stock", "Returns the stock of an item.")
    ('create', 'status', 'return')

    ```
    """
    words = words_of(name)
    for position, word in enumerate(words):
        if word == "open":
            return "create" if {"ticket", "case", "account", "issue", "dispute"}.intersection(words) else "view"
        # "order", "issue", "book" and "return" are nouns behind another word.
        if _effect_of_verb(word) is not None and not (
            position and word in ("issue", "book", "return", "new", "commit")
        ):
            return word
    if words and (words[-1] in _READ_NOUNS or (len(words) > 1 and words[-1] == "commit")):
        return words[-1]
    return _described_verb(description)


def tool_effect(tool: Tool) -> Effect:
    """
    What a call of `tool` does.

    Args:
        tool ([`~whileai_hf.spec.Tool`]):
            The tool.

    Returns:
        `str`: `"read"`, `"create"`, `"update"`, `"delete"`, or `"other"` for a tool that touches no record.

    Examples:
    ```python
    >>> from whileai_hf.spec import Tool
    >>> [tool_effect(Tool(name)) for name in ("get_order", "send_email", "refund_order", "cancel_order", "think")]
    ['read', 'create', 'update', 'delete', 'other']
    >>> tool_effect(Tool("git_diff", annotations={"readOnlyHint": True}))
    'read'

    ```
    """
    verb = verb_of(tool.name, tool.description)
    words = words_of(tool.name)
    told = _effect_of_verb(verb) or ("read" if verb in _READ_NOUNS else "create" if verb == "commit" else "other")
    read_only = tool.annotations.get("readOnlyHint")
    if read_only is True:
        return "other" if told == "other" else "read"
    if verb == "transfer" and {"human", "agent", "agents", "operator"}.intersection(words):
        return "other"
    if verb in ("add", "invite") and re.search(r"\b(?:to|into) (?:an? |the |given |existing )*\w", tool.description):
        told = "update" if verb == "add" else told
    if read_only is False and told in ("read", "other"):
        return "update" if tool.annotations.get("destructiveHint", True) else "create"
    return told


def noun_of(tool: Tool) -> str:
    """What the name says the tool is about, singular: `get_unread_emails` is about an email."""
    noun = name_noun(tool)
    return _CONTENTS.get(noun, singular(noun))


def name_noun(tool: Tool) -> str:
    """The noun of the name as it is written, plural or not; empty when the name has none."""
    words = list(words_of(tool.name))
    verb = verb_of(tool.name, tool.description)
    position = words.index(verb) if verb in words else -1
    if words[position + 1 :] == [] and (verb in _CONTENTS or verb == "commit"):
        return verb
    phrase: list[str] = []
    for word in words[position + 1 :] or [word for word in words[:position] if word not in _NAMESPACES]:
        if word in _PREPOSITIONS and phrase:
            break
        phrase.append(word)
    kept = [word for word in phrase if word not in _FILLERS and word not in _PREPOSITIONS]
    return kept[-1] if kept else ""


def owner_of(tool: Tool) -> str:
    """The record a parameter called just `id`, `name`, `status` or `path` of this tool belongs to."""
    words = words_of(tool.name)
    if any(word in _FOLDERS for word in words) or {"search", "list"}.intersection(words):
        return "directory" if "path" in tool.parameters.get("properties", {}) else noun_of(tool)
    return noun_of(tool)


def _identifies(name: str, schema: dict[str, Any], tool: Tool, many: bool) -> tuple[str, str] | None:
    """(entity, kind) of the record a parameter identifies, or `None`. Kinds: code, path, url, name."""
    words = words_of(name)
    if not words or schema.get("enum") or schema.get("type") == "boolean":
        return None
    description = str(schema.get("description") or "")
    last = singular(words[-1]) if many else words[-1]
    effect = tool_effect(tool)
    whole = "_".join(words)
    if last in _ID_ENDINGS:
        return (words[-2] if len(words) > 1 else noun_of(tool) or "record"), "code"
    if last in _CODE_ENDINGS and len(words) > 1 and words[-2] not in _NOT_IDS:
        return words[-2], "code"
    if last == "path":
        return ("repository" if {"repo", "repository"}.intersection(words) else "file"), "path"
    if whole in ("source", "destination") and (
        shown_examples(description) or verb_of(tool.name) not in ("move", "copy")
    ):
        return None
    if whole in _WHOLE:
        entity = _WHOLE[whole]
        kind = {"file": "path", "page": "url"}.get(entity, "name")
        return entity, kind
    if last == "name" and words[:-1] == ("branch",):
        return "branch", "name"
    if many and last == "name" and effect in ("read", "delete", "update"):
        return noun_of(tool) or "record", "name"
    if _ID_OF.match(description):
        return (words[-1] if last != "name" else noun_of(tool)), "code"
    return None


def identifying(tool: Tool) -> tuple[IdParameter, ...]:
    """The parameters that say which record a call is about, the main one first."""
    found: list[tuple[int, int, IdParameter]] = []
    required = set(tool.parameters.get("required") or ())
    words = frozenset(singular(word) for word in words_of(tool.name))
    reads = tool_effect(tool) == "read"
    for position, (name, schema) in enumerate(parameter_schemas(tool).items()):
        filled = schema
        for union in ("anyOf", "oneOf"):
            options = [resolve_ref(option, tool.parameters) for option in schema.get(union) or ()]
            filled = next((option for option in options if option.get("type") != "null"), filled)
        kind = filled.get("type")
        many = kind == "array"
        if many and resolve_ref(filled.get("items", {}), tool.parameters).get("type") not in ("string", "integer"):
            continue
        if kind == "object":
            continue
        told = _identifies(name, {**filled, "description": schema.get("description", "")}, tool, many)
        if told is not None:
            # Required before optional, the record in the tool's own name before the others.
            rank = 2 * (name not in required) + (told[0] not in words)
            # What is read out of a repository says more than which one.
            rank += told[0] == "repository" and reads
            found.append((rank, position, IdParameter(name, told[0], many, name in required, told[1])))
    return tuple(item for _, _, item in sorted(found, key=lambda entry: entry[:2]))


def id_parameters(tool: Tool) -> list[str]:
    """
    Names of the parameters that identify a record, the main one first.

    Args:
        tool ([`~whileai_hf.spec.Tool`]):
            The tool.

    Returns:
        `list[str]`: Parameter names; empty for a tool that is not about one record.

    Examples:
    ```python
    >>> from whileai_hf.spec import Tool
    >>> id_parameters(Tool("refund_order", parameters={"type": "object", "properties": {
    ...     "amount": {"type": "number"}, "order_id": {"type": "string"}}}))
    ['order_id']

    ```
    """
    return [item.name for item in identifying(tool)]


def entity_of(tool: Tool) -> str:
    """
    The record a tool is about, by which all tools of one agent agree on it.

    Examples:
    ```python
    >>> from whileai_hf.spec import Tool
    >>> entity_of(Tool("update_address", parameters={"type": "object", "properties": {"order_id": {}}}))
    'order'
    >>> entity_of(Tool("search_products"))
    'product'

    ```
    """
    ids = identifying(tool)
    if names_new_record(tool):
        return ids[0].entity
    # A creating tool makes what its name says; the ids it takes are what the new record belongs to.
    if not ids or (tool_effect(tool) == "create" and noun_of(tool)):
        return noun_of(tool) or "record"
    return ids[0].entity


def names_new_record(tool: Tool) -> bool:
    """Whether a creating tool is told the id of what it makes: `write_file(path)`, `create_branch(branch_name)`."""
    ids = identifying(tool)
    if not ids or tool_effect(tool) != "create":
        return False
    return ids[0].entity == noun_of(tool) or ids[0].entity in ("file", "page")


def lists_contents(tool: Tool) -> bool:
    """Whether a reading tool answers with several records rather than with one."""
    if tool_effect(tool) != "read":
        return False
    noun, ids = name_noun(tool), identifying(tool)
    if not ids:
        verb = verb_of(tool.name, tool.description)
        return is_plural(noun) or noun in _CONTENTS or verb in ("search", "list", "find", "browse", "query", "log")
    if ids[0].many:
        return False
    verb = verb_of(tool.name, tool.description)
    if verb in ("list", "search", "log") or noun in _CONTENTS:
        return True
    return is_plural(noun) and singular(noun) != ids[0].entity
