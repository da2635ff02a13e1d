"""Edits of files made by shell commands and by lines of code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from whileai_hf.markers.trajectory.edits import Edit
from whileai_hf.markers.trajectory.patches import patch_edits
from whileai_hf.markers.trajectory.runs import git_command
from whileai_hf.markers.trajectory.shell import Command


_NOWHERE = re.compile(r"/dev/|&|nul$|\$null$", re.IGNORECASE)
_PRINTERS = frozenset({"echo", "printf", "write-output", "write-host"})
_DELETERS = frozenset({"rm", "unlink", "del", "erase", "trash", "trash-put", "remove-item", "rmdir", "shred", "ri"})
_MOVERS = frozenset({"mv", "ren", "rename", "move", "move-item", "rename-item"})
# "s/old/new/flags" with any separator; the parts may hold escaped separators.
_SUBSTITUTE = re.compile(r"(?:[\d,$]*|/[^/]*/ ?)?s(?P<mark>[^\w\s\\])(?P<rest>.*)", re.DOTALL)
_LINE_DELETE = re.compile(r"(?:/(?P<pattern>(?:[^/\\]|\\.)*)/[I]?|[\d,$]+)(?:,[^d]{0,40})?d$")
_LINE_INSERT = re.compile(r"(?:/(?:[^/\\]|\\.)*/|[\d$]+)?\s*[iac]\\?\s*(?P<text>.+)", re.DOTALL)
_WRITING_CODE = re.compile(
    r"open\([^)\n]{0,200}['\"][wa]b?\+?['\"]|write_text\(|write_bytes\(|writeFile(?:Sync)?\(|appendFile(?:Sync)?\("
    r"|File\.write"
)
_DELETING_CODE = re.compile(
    r"os\.(?:remove|unlink|rename|replace)\(|\.unlink\(|rmtree\(|shutil\.move\(|unlinkSync\(|rmSync\(|\.rename\("
)
_QUOTED = re.compile(r"['\"]([^'\"\n]{1,200})['\"]")


def _plain(expression: str) -> str:
    """A pattern of sed as the text it most likely stands for."""
    return re.sub(r"\\([^\w\s])", r"\1", expression.replace("\\n", "\n").replace("\\t", "\t"))


def _sed_parts(expression: str) -> tuple[str, str] | None:
    """What a sed or perl expression replaces by what; `None` when it is not understood."""
    deleted = _LINE_DELETE.match(expression)
    if deleted:
        return _plain(deleted.group("pattern") or ""), ""
    match = _SUBSTITUTE.match(expression)
    if match:
        parts = re.split(rf"(?<!\\){re.escape(match.group('mark'))}", match.group("rest"))
        if len(parts) >= 2:
            return _plain(parts[0]), _plain(parts[1])
    inserted = _LINE_INSERT.match(expression)
    return ("", _plain(inserted.group("text"))) if inserted else None


def _in_place(command: Command) -> Iterator[Edit]:
    """`sed -i`, `perl -pi -e` and their kin."""
    words = command.words[1:]
    if not any(re.match(r"-\w*i|--in-place", word) for word in words):
        return
    expressions: list[str] = []
    files: list[str] = []
    taken = False
    for position, word in enumerate(words):
        if taken:
            expressions.append(word)
            taken = False
        elif word in ("-e", "--expression") or re.fullmatch(r"-[pin0-9.a]*e", word):
            taken = True
        elif word.startswith("--expression="):
            expressions.append(word.split("=", 1)[1])
        elif word.startswith("-") or (word == "" and position):
            continue
        elif not expressions and not any(
            "e" in other for other in words[:position] if re.fullmatch(r"-\w+", other) and other != "-i"
        ):
            expressions.append(word)
        else:
            files.append(word)
    parts = [
        found for expression in expressions for piece in expression.split("; ") if (found := _sed_parts(piece.strip()))
    ]
    old, new = "\n".join(part[0] for part in parts), "\n".join(part[1] for part in parts)
    for file in files:
        yield Edit(file, old, new, "modify")


def _printed(command: Command, earlier: Command | None) -> str:
    """What a command writes to its output, as far as the text says."""
    if command.body:
        return command.body
    if command.program in _PRINTERS:
        return " ".join(word for word in command.words[1:] if not re.fullmatch(r"-[neE]+", word)).replace("\\n", "\n")
    if earlier is not None and command.before == "|":
        return _printed(earlier, None)
    return ""


def _operands(command: Command) -> list[str]:
    return [word for word in command.words[1:] if not word.startswith("-")]


def _brought_back(command: Command) -> Iterator[Edit]:
    """Files that `git checkout` or `git restore` sets to another version."""
    sub = git_command(command.words)
    if sub not in ("checkout", "restore"):
        return
    words = command.words[command.words.index(sub) + 1 :]
    if "--staged" in words and "--worktree" not in words:
        return
    if "--" in words:
        files = words[words.index("--") + 1 :]
    else:
        valued = ("-s", "--source", "-b", "-B", "--orphan")
        files = tuple(
            word for at, word in enumerate(words) if not word.startswith("-") and not (at and words[at - 1] in valued)
        )
        # Without the dashes the first name may be a branch.
        files = files if sub == "restore" else tuple(word for word in files if re.search(r"\.\w{1,5}$", word))
    for file in files:
        yield Edit(file, "", "", "modify")


def _of_command(command: Command, earlier: Command | None) -> Iterator[Edit]:
    name = command.program
    content = _printed(command, earlier)
    for operator, target in command.redirects:
        if operator in (">", ">|", ">>", "1>", "1>>") and target and not _NOWHERE.match(target):
            emptied = not content and name in ("", ":", "true", "echo", "printf")
            how = "append" if ">>" in operator else "modify" if emptied else "create"
            yield Edit(target, "", content, how)
    if name == "git" and len(command.words) > 2 and command.words[1] in ("rm", "mv"):
        command = command._replace(words=command.words[1:])
        name = command.program
    if name == "git":
        yield from _brought_back(command)
    elif name in ("sed", "gsed", "perl", "ruby"):
        yield from _in_place(command)
    elif name == "tee" or name in ("set-content", "add-content", "out-file"):
        how = "append" if "-a" in command.words or name == "add-content" else "create"
        for file in _operands(command)[: 1 if name != "tee" else None]:
            yield Edit(file, "", content or " ".join(_operands(command)[1:]), how)
    elif name in _DELETERS:
        for file in _operands(command):
            yield Edit(file, "", "", "delete")
    elif name in _MOVERS:
        operands = _operands(command)
        for file in operands[:-1]:
            yield Edit(file, "", "", "move", operands[-1])
    elif name == "cp" and len(_operands(command)) > 1:
        yield Edit(_operands(command)[-1], "", "", "create")
    elif name == "truncate":
        operands = [word for word in _operands(command) if not re.fullmatch(r"\d+[KMG]?", word)]
        for file in operands:
            yield Edit(file, "", "", "modify")


_UPDATES = re.compile(
    r"--(?:update-?snapshots?|snapshot-update|update-?golden\w*|force-regen|inline-snapshot=(?:fix|update|create,fix)"
    r"|updateSnapshot|test-update-golden|bless)(?:=\S*)?$|-update$",
    re.IGNORECASE,
)
_UPDATING = re.compile(
    r"(?:UPDATE_(?:SNAPSHOTS?|EXPECT|GOLDENS?|GOLD|FIXTURES)|INSTA_UPDATE|BLESS|SNAPSHOT_UPDATE|REGEN\w*)=(?!0|no|false)."
)
_SHORT_UPDATE = frozenset({"jest", "vitest", "ava", "mocha", "react-scripts", "bun"})


def _accepts_output(command: Command) -> bool:
    """Whether a test run takes whatever came out for what is expected: `jest -u`."""
    words, name = command.words, command.program
    if any(map(_UPDATING.match, command.assigned)) or (name == "cargo" and words[1:3] == ("insta", "accept")):
        return True
    if not words:
        return False
    short = name in _SHORT_UPDATE or (name in ("npm", "yarn", "pnpm") and "test" in " ".join(words[1:4]))
    if short and any(word in ("-u", "--update") for word in words[1:]):
        return True
    tests = short or name in ("pytest", "go", "playwright", "cargo", "py.test", "tox", "make", "dotnet", "flutter")
    return tests and any(map(_UPDATES.match, words[1:]))


def command_edits(commands: list[Command]) -> Iterator[Edit]:
    """
    The edits that shell commands make.

    Examples:
    ```python
    >>> from whileai_hf.markers.trajectory.shell import read_script
    >>> [edit[:4] for edit in command_edits(read_script("sed -i 's/a == 3/a == 4/' t.py && rm -f x").commands)]
    [('t.py', 'a == 3', 'a == 4', 'modify'), ('x', '', '', 'delete')]

    ```
    """
    earlier: Command | None = None
    for command in commands:
        if command.program in ("patch", "apply_patch", "applypatch") or command.words[:2] == ("git", "apply"):
            text = command.body or (command.words[1] if len(command.words) > 1 and "\n" in command.words[1] else "")
            yield from patch_edits(text)
        elif command.program in ("str_replace_editor", "edit_tool") and len(command.words) > 2:
            yield from _editor_command(command)
        else:
            yield from _of_command(command, earlier)
            if _accepts_output(command):
                yield Edit("tests/*", "", "", "modify")
        earlier = command


def _editor_command(command: Command) -> Iterator[Edit]:
    """`str_replace_editor create PATH --file_text TEXT`, as some agents type it."""
    options = dict(zip(command.words[3:-1:1], command.words[4::1], strict=False))
    how, path = command.words[1], command.words[2]
    if how == "create":
        yield Edit(path, "", options.get("--file_text", ""), "create")
    elif how in ("str_replace", "insert"):
        yield Edit(
            path, options.get("--old_str", ""), options.get("--new_str", ""), "modify" if how != "insert" else "append"
        )


def code_edits(code: str) -> Iterator[Edit]:
    """
    The edits that a piece of Python or JavaScript makes: every file it names while it writes, or deletes and moves.

    Examples:
    ```python
    >>> [edit.path for edit in code_edits("open('tests/test_a.py', 'w').write('')")]
    ['tests/test_a.py']

    ```
    """
    writes, deletes = _WRITING_CODE.search(code), _DELETING_CODE.search(code)
    if not writes and not deletes:
        return
    for path in dict.fromkeys(_QUOTED.findall(code)):
        if re.fullmatch(r"[\w./~*-]+", path) and ("/" in path or re.search(r"\.\w{1,5}$", path)):
            yield Edit(path, "", code, "modify" if writes else "delete")
