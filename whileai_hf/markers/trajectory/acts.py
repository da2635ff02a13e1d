"""What a tool call would do to files and machines: the commands it runs, the code it executes, the files it changes.

Agents edit files in many ways: a tool with a path and a content, `str_replace`, patches, a heredoc, `sed -i`, a line
of Python. All of them come out here as edits with what stood there before, as far as the call says, and what stands
there then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from whileai_hf.markers.trajectory.edits import Edit
from whileai_hf.markers.trajectory.patches import patch_edits
from whileai_hf.markers.trajectory.shell import Command, Script, read_script, read_words
from whileai_hf.markers.trajectory.writes import code_edits, command_edits
from whileai_hf.sandbox.naming import words_of
from whileai_hf.score.reading.calls import Call


# Characters of one argument that are read.
_MOST = 40_000
_PATHS = (
    "path", "file_path", "filepath", "file", "filename", "file_name", "target_file", "relative_path", "notebook_path",
    "relative_workspace_path", "absolute_path", "target", "uri", "destination", "dest", "TargetFile", "AbsolutePath",
)  # fmt: skip
_WHOLE = (
    "content", "contents", "file_text", "text", "new_content", "code", "body", "data", "new_source", "code_edit",
    "cell",
    "source", "file_content", "CodeContent", "value",
)  # fmt: skip
_OLD = ("old_str", "old_string", "old_text", "oldText", "old", "search", "original", "find", "before", "old_code",
        "TargetContent", "from")  # fmt: skip
_NEW = ("new_str", "new_string", "new_text", "newText", "new", "replace", "replacement", "updated", "after",
    "new_code",
        "insert_text", "insert_line_text", "ReplacementContent", "to")  # fmt: skip
_LISTS = ("edits", "changes", "replacements", "operations", "ReplacementChunks", "files")
_PATCHES = ("patch", "diff", "patch_text", "unified_diff", "input", "changes", "content")
_COMMANDS = (
    "command",
    "cmd",
    "script",
    "commands",
    "shell_command",
    "command_line",
    "CommandLine",
    "bash",
    "malformed",
)
_CODE_KEYS = ("code", "source", "cell", "script", "program", "python", "input")
_EDITOR = frozenset(
    {"view", "create", "str_replace", "insert", "undo_edit", "edit", "write", "append", "delete", "rename"}
)
_CODE_WORDS = frozenset(
    {"python", "ipython", "jupyter", "notebook", "interpreter", "code", "repl", "node", "javascript"}
)
_MOVES = (("source", "destination"), ("src", "dst"), ("old_path", "new_path"), ("from_path", "to_path"),
          ("src", "dest"), ("from", "to"))  # fmt: skip
_PATCH_START = re.compile(
    r"\s*(?:\*\*\* (?:Begin Patch|(?:Update|Add|Delete) File: )|diff --git |--- [^\n]+\n\+\+\+ |@@ "
    r"|<{5,} ?SEARCH|-{5,} ?SEARCH)"
)
# Lines of a patch without a header.
_BARE_LINES = re.compile(r"\s*[+-](?![+-])")
_PATH_LIKE = re.compile(r"[\w.@~/\\-]+\.\w{1,12}$|.*/|\w+file$", re.IGNORECASE)


class Acts(NamedTuple):
    """What one call does: shell commands, other code, edits of files."""

    commands: list[Command]
    code: list[str]
    edits: list[Edit]


def _first(arguments: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    for name in names:
        value = arguments.get(name)
        if isinstance(value, str):
            return value[:_MOST]
    return None


def _joined(value: Any) -> str | None:
    """Text of a value that may be given as lines."""
    if isinstance(value, str):
        return value[:_MOST]
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return "\n".join(value)[:_MOST]
    return None


def _editing(arguments: Mapping[str, Any]) -> bool:
    """Whether the command is one of an editor, as in `{"command": "str_replace", "path": ...}`."""
    command = arguments.get("command")
    return isinstance(command, str) and command in _EDITOR


def _scripts(call: Call) -> Iterator[Script]:
    editor = _editing(call.arguments)
    found = False
    for name in _COMMANDS:
        value = call.arguments.get(name)
        if name == "command" and editor:
            continue
        if name in ("script", "commands", "malformed") and call.kind != "command":
            continue
        if isinstance(value, str):
            found = True
            yield read_script(value)
        elif isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            found = True
            # One command as words, or several as lines.
            separate = name == "commands" or all(" " in item for item in value)
            if separate:
                yield read_script("\n".join(value))
            else:
                yield read_words(value)
    if not found and call.kind == "command" and not editor:
        for value in call.arguments.values():
            if isinstance(value, str):
                yield read_script(value)
    program = call.arguments.get("args")
    if call.tool.lower() in ("git", "npm", "docker", "kubectl", "curl", "terraform", "make", "pytest", "cargo", "go"):
        words = program if isinstance(program, list) else None
        if words and all(isinstance(word, str) for word in words):
            yield read_words([call.tool.lower(), *words])
        elif isinstance(program, str):
            yield read_script(f"{call.tool.lower()} {program}")


def _edit(path: str, arguments: Mapping[str, Any], how: str) -> Edit | None:
    """The edit that one set of arguments describes."""
    new = _first(arguments, _NEW)
    old = _first(arguments, _OLD)
    whole = next((text for name in _WHOLE if (text := _joined(arguments.get(name))) is not None), None)
    if how == "delete":
        return Edit(path, "", "", "delete")
    if how in ("insert", "append"):
        return Edit(path, "", new or whole or "", "append")
    if old is not None and (new is not None or whole is not None or how == "str_replace"):
        return Edit(path, old, new if new is not None else whole or "", "modify")
    if whole is not None:
        return Edit(path, "", whole, "create")
    if new is not None:
        return Edit(path, "", new, "modify")
    return None


def _tool_edits(call: Call) -> Iterator[Edit]:
    arguments = call.arguments
    how = arguments["command"] if _editing(arguments) else ""
    if how in ("view", "undo_edit"):
        return
    path = _first(arguments, _PATHS) or ""
    if call.kind == "delete" and _PATH_LIKE.match(path):
        yield Edit(path, "", "", "delete")
        return
    words = words_of(call.tool)
    if {"move", "rename"}.intersection(words):
        for one, other in _MOVES:
            source, target = arguments.get(one), arguments.get(other)
            if isinstance(source, str) and isinstance(target, str) and _PATH_LIKE.match(source):
                yield Edit(source, "", "", "move", target)
                return
    for name in _PATCHES:
        text = arguments.get(name)
        bare = bool(path) and name in ("patch", "diff")
        if isinstance(text, str) and (_PATCH_START.match(text) or (bare and _BARE_LINES.match(text))):
            yield from patch_edits(text[:_MOST], path)
            return
    for name in _LISTS:
        entries = arguments.get(name)
        if isinstance(entries, list) and entries and all(isinstance(entry, Mapping) for entry in entries):
            for entry in entries:
                edit = _edit(_first(entry, _PATHS) or path, entry, how)
                if edit is not None:
                    yield edit
            return
    if call.kind != "read" and (path or how):
        edit = _edit(path, arguments, how)
        if edit is not None and (_PATH_LIKE.match(path) or how):
            yield edit


def acts_of(call: Call) -> Acts:
    """
    What a call does.

    Args:
        call ([`Call`]):
            A tool call.

    Returns:
        [`Acts`]: Empty lists for a call that touches neither files nor machines.
    """
    acts = Acts([], [], [])
    for script in _scripts(call):
        acts.commands.extend(script.commands)
        acts.code.extend(script.code)
    if _CODE_WORDS.intersection(words_of(call.tool)) and not any(name in call.arguments for name in _PATHS):
        code = _first(call.arguments, _CODE_KEYS)
        if code is not None and not (acts.commands and call.kind == "command" and "command" in call.arguments):
            acts.commands.clear()
            acts.code.append(code)
            # Notebooks run shell lines that begin with "!".
            for line in re.findall(r"^\s*[!%](?:sh |bash )?(.+)$", code, re.MULTILINE):
                acts.commands.extend(read_script(line).commands)
    acts.edits.extend(_tool_edits(call))
    acts.edits.extend(command_edits(acts.commands))
    for code in acts.code:
        acts.edits.extend(code_edits(code))
    return acts
