"""Shell text taken apart into the commands it would run, so that what is run differs from what is only mentioned.

`echo "rm -rf /"`, `grep -rn 'git push --force'` and a heredoc into a file mention a command; `sudo bash -c "rm -rf x"`
and `xargs rm` run one. Quoting, heredocs, substitutions, pipes and the usual wrappers are read; expansion, arithmetic
and control flow are not: nothing here is executed, and what cannot be read is taken as words.
"""

from __future__ import annotations

import re
from typing import NamedTuple


# Characters of one command text that are read; what follows is somebody's data.
_MOST = 40_000
# Nested command texts (`bash -c`, `$(...)`) followed.
_DEEPEST = 4

_PIECE = re.compile(
    r"(?P<space>(?:[ \t\r]|\\\r?\n)+)|(?P<newline>\n)|(?P<comment>\#[^\n]*)|(?P<here><<<|<<-?)"
    r"|(?P<redirect>(?:\d|&)?>(?:>|\||&\d|&-|&)?|\d?<(?!<))"
    r"|(?P<operator>\|\||&&|;;|\|&|[|;&()])|(?P<single>'[^']*')|(?P<double>\"(?:[^\"\\]|\\.)*\")"
    r"|(?P<escaped>\\.)|(?P<substitution>\$\()|(?P<backtick>`[^`]*`)|(?P<bare>[^\s;&|()<>'\"\\`$\#]+|.)",
    re.DOTALL,
)
_INNER = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_KEYWORDS = frozenset(
    {"if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "fi", "done", "esac", "time"}
)
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "ash", "fish"})
_POWERSHELLS = frozenset({"powershell", "pwsh"})
# Programs that run the words after them, and those of their options that take a value.
_WRAPPERS = {
    "sudo": "-u -g -h -p -C -r -t -U -D --user --group", "doas": "-u -C", "nice": "-n --adjustment", "nohup": "",
    "exec": "-a", "command": "", "builtin": "", "stdbuf": "-i -o -e", "setsid": "", "ionice": "-c -n -p",
    "chronic": "",
    "time": "-f -o", "watch": "-n -d", "xargs": "-n -I -P -L -d -s -a -E --max-args --max-procs --delimiter --replace",
    "parallel": "-j --jobs", "unbuffer": "", "caffeinate": "", "npx": "-p --package", "bunx": "", "pnpx": "",
    "cross-env": "", "dotenv": "-e -f", "direnv": "", "chroot": "", "flock": "-w",
}  # fmt: skip
_RUNNERS = {
    "poetry": "run", "uv": "run", "pipenv": "run", "pdm": "run", "hatch": "run", "rye": "run", "bundle": "exec",
    "conda": "run", "pixi": "run", "mamba": "run", "rtx": "exec", "mise": "exec", "fly": "ssh", "doppler": "run",
}  # fmt: skip
_PLACED = {"timeout": 1, "chroot": 1, "flock": 1}
_PYTHON = re.compile(r"(?:python|pypy|py)[\d.]*$")


class Command(NamedTuple):
    """
    One command that is run.

    `words` are without quotes and wrappers, `redirects` pairs of operator and target, `before` and `after` the
    operators around it, `body` what is fed to it from a heredoc, `assigned` its `NAME=value` prefixes, `text` how it
    stands in the source.
    """

    words: tuple[str, ...]
    redirects: tuple[tuple[str, str], ...] = ()
    before: str = ""
    after: str = ""
    body: str = ""
    assigned: tuple[str, ...] = ()
    text: str = ""

    @property
    def program(self) -> str:
        """The program's name without its folder."""
        return program_name(self.words[0]) if self.words else ""


class Script(NamedTuple):
    """What a shell text runs: commands, and programs in other languages handed to their interpreters."""

    commands: list[Command]
    code: list[str]


def program_name(word: str) -> str:
    """
    A program's name without its folder.

    Examples:
    ```python
    >>> program_name("/usr/bin/rm"), program_name("C:\\\\tools\\\\git.exe")
    ('rm', 'git')

    ```
    """
    return word.replace("\\", "/").rsplit("/", 1)[-1].lower().removesuffix(".exe")


class _Splitter:
    """Splits one text at its operators; substitutions are collected for a later look."""

    def __init__(self, text: str) -> None:
        self.text = text[:_MOST]
        self.found: list[Command] = []
        self.inner: list[str] = []
        self._words: list[str] = []
        self._word: list[str] | None = None
        self._redirects: list[tuple[str, str]] = []
        self._waiting = ""  # a redirect or heredoc operator whose target is the next word
        self._heredocs: list[tuple[str, bool]] = []
        self._body = ""
        self._before = ""
        self._start = 0
        self._open_ended = False
        self._unfinished: list[int] = []  # commands of this line whose heredoc is still to come

    def run(self) -> None:
        position, text = 0, self.text
        while position < len(text):
            match = _PIECE.match(text, position)
            if match is None:  # cannot happen: the last alternative takes anything
                break
            kind, piece = match.lastgroup or "bare", match.group()
            end = match.end()
            if kind == "comment" and self._word is not None:
                kind = "bare"
                piece, end = piece[0], position + 1
            if kind == "substitution":
                end = self._substitution(position)
            elif kind in ("space", "comment"):
                self._end_word()
            elif kind == "newline":
                self._end_command("\n", position)
                end = self._read_heredocs(end)
                self._start = end
            elif kind == "operator":
                self._end_command(piece, position)
                self._start = end
            elif kind in ("redirect", "here"):
                self._operator(kind, piece)
            else:
                self._add(kind, piece)
            position = end
        self._end_command("", len(text))

    def _add(self, kind: str, piece: str) -> None:
        if self._word is None:
            self._word = []
        if kind in ("single", "double"):
            inside = piece[1:-1]
            if kind == "double":
                self.inner += [one or other for one, other in _INNER.findall(inside)]
                inside = re.sub(r"\\([\"\\$`\n])", r"\1", inside) if "\\" in inside else inside
            self._word.append(inside)
        elif kind == "backtick":
            self.inner.append(piece[1:-1])
            self._word.append(piece)
        else:
            self._word.append(piece[1:] if kind == "escaped" else piece)

    def _substitution(self, position: int) -> int:
        """Where the substitution that opens here ends; its content is collected."""
        depth, at = 0, position + 1
        if not self._open_ended:
            for at in range(position + 1, len(self.text)):
                character = self.text[at]
                if character == "(":
                    depth += 1
                elif character == ")":
                    depth -= 1
                    if depth == 0:
                        self.inner.append(self.text[position + 2 : at])
                        self._add("bare", self.text[position : at + 1])
                        return at + 1
            self._open_ended = True  # no later one closes either
        self._add("bare", "$(")
        return position + 2

    def _operator(self, kind: str, piece: str) -> None:
        # A digit before ">" belongs to the operator only when it stands alone.
        if self._word is not None:
            self._end_word()
        if (kind == "redirect" and piece[-1].isdigit()) or piece.endswith("&-"):
            cut = piece.index(">") + 1
            self._redirects.append((piece[:cut], piece[cut:]))
            return
        self._waiting = piece

    def _end_word(self) -> None:
        if self._word is None:
            return
        word, self._word = "".join(self._word), None
        if not self._waiting:
            self._words.append(word)
        elif self._waiting == "<<<":
            self._body = word
        elif self._waiting.startswith("<<"):
            self._heredocs.append((word, self._waiting == "<<-"))
        else:
            self._redirects.append((self._waiting, word))
        self._waiting = ""

    def _end_command(self, operator: str, end: int) -> None:
        self._end_word()
        self._waiting = ""
        if self._words or self._redirects:
            if self._heredocs:
                self._unfinished.append(len(self.found))
            text = self.text[self._start : end].strip()
            self.found.append(
                Command(tuple(self._words), tuple(self._redirects), self._before, operator, self._body, (), text)
            )
            self._before = operator
        elif operator not in ("\n", "") or self._before == "":
            self._before = operator
        self._words, self._redirects, self._body = [], [], ""

    def _read_heredocs(self, position: int) -> int:
        for number, (delimiter, indented) in enumerate(self._heredocs):
            pattern = rf"^{chr(92)}t*{re.escape(delimiter)}[ \t]*$" if indented else rf"^{re.escape(delimiter)}[ \t]*$"
            match = re.compile(pattern, re.MULTILINE).search(self.text, position)
            body = self.text[position : match.start() if match else len(self.text)]
            position = match.end() if match else len(self.text)
            if number < len(self._unfinished):
                at = self._unfinished[number]
                command = self.found[at]
                self.found[at] = command._replace(body=body, text=f"{command.text}\n{body[:200]}")
        if self._heredocs:
            position += position < len(self.text) and self.text[position] == "\n"
        self._heredocs, self._unfinished = [], []
        return position


def _skip_options(words: list[str], valued: str) -> list[str]:
    taking = valued.split()
    while words and words[0].startswith("-"):
        if words[0] == "--":
            return words[1:]
        takes = words[0] in taking
        words = words[2:] if takes else words[1:]
    return words


def _after_c(words: list[str]) -> str | None:
    """The command text of `bash -lc TEXT`; `None` when there is none."""
    for position, word in enumerate(words[1:], 1):
        if re.fullmatch(r"-[a-z]*c|--command", word) and position + 1 < len(words):
            return words[position + 1]
        if not word.startswith(("-", "+")) and words[position - 1] not in ("-o", "-euo", "-eo", "+o"):
            return None
    return None


def _inner_text(words: list[str], body: str) -> str | None:
    """The shell text that a shell, `eval`, `ssh` or `su` is given; `None` for any other program."""
    name = program_name(words[0])
    if name in _SHELLS:
        told = _after_c(words)
        return told if told is not None else (body or None)
    if name in _POWERSHELLS:
        for position, word in enumerate(words[1:], 1):
            if word.lower() in ("-command", "-c", "/c"):
                return " ".join(words[position + 1 :])
        return None
    if name == "cmd" and len(words) > 2 and words[1].lower() in ("/c", "/k"):
        return " ".join(words[2:])
    if name == "eval":
        return " ".join(words[1:])
    if name == "su":
        return _after_c([words[0], *[word for word in words[1:] if word.startswith("-")], *words[-1:]])
    if name == "ssh":
        rest = _skip_options(words[1:], "-i -p -l -o -F -J -L -R -D -b -c -e -m -W")
        return " ".join(rest[1:]) or body or None
    return None


def _unwrapped(words: list[str]) -> tuple[list[str], list[str]]:
    """Words without wrappers, and the assignments in front of them."""
    assigned: list[str] = []
    for _ in range(12):
        while words and (words[0] in _KEYWORDS or _ASSIGNMENT.match(words[0])):
            if "=" in words[0]:
                assigned.append(words[0])
            words = words[1:]
        if not words:
            break
        name = program_name(words[0])
        if name == "env" and len(words) > 1:
            rest = _skip_options(words[1:], "-u --unset -C --chdir -S")
            if not any(not _ASSIGNMENT.match(word) for word in rest):
                assigned += rest
                return ["env"], assigned
            words = rest
        elif name in _PLACED:
            words = _skip_options(words[1:], _WRAPPERS.get(name, "-s -k --signal --kill-after"))[1:]
        elif name == "command" and words[1:2] and words[1] in ("-v", "-V"):
            break
        elif name in _WRAPPERS and len(words) > 1:
            words = _skip_options(words[1:], _WRAPPERS[name])
        elif name in _RUNNERS and len(words) > 2 and words[1] == _RUNNERS[name]:
            words = _skip_options(words[2:], "-n -p --name --with --python --extra --env")
        elif name in ("docker", "podman", "docker-compose", "kubectl", "oc", "nerdctl") and "exec" in words[1:3]:
            rest = words[words.index("exec") + 1 :]
            if "--" in rest:
                words = rest[rest.index("--") + 1 :]
            else:
                words = _skip_options(rest, "-u -e -w --user --env --workdir -n -c --container --namespace")[1:]
        else:
            break
    return words, assigned


def _interpreted(words: list[str], body: str) -> tuple[list[str], str | None]:
    """`python -m X` as `X`; and the program text that an interpreter is handed."""
    name = program_name(words[0])
    if _PYTHON.match(name):
        rest = words[1:]
        while rest and re.fullmatch(r"-[A-Za-bd-ln-zBEOSWu]+|-W\w+|-X\w*", rest[0]) and rest[0] not in ("-c", "-m"):
            rest = rest[2:] if rest[0] in ("-W", "-X") else rest[1:]
        if len(rest) > 1 and rest[0] == "-m":
            return rest[1:], None
        if len(rest) > 1 and rest[0] == "-c":
            return [words[0], "-c"], rest[1]
        if body and (not rest or rest[0] == "-"):
            return [words[0], "-"], body
    evaluates = name in ("node", "deno", "bun", "ruby", "perl", "php") and words[1:2] in (["-e"], ["--eval"], ["eval"])
    if len(words) > 2 and (evaluates or (name == "php" and words[1] == "-r")):
        return words[:2], words[2]
    return words, None


def read_script(text: str, depth: int = 0) -> Script:
    """
    The commands a shell text runs, outermost first, each followed by what it runs in turn.

    Args:
        text (`str`):
            Shell text. Of more than 40,000 characters the first are read.

    Examples:
    ```python
    >>> [command.words for command in read_script("cd x && sudo bash -c 'rm -rf y' # rm z").commands]
    [('cd', 'x'), ('rm', '-rf', 'y')]
    >>> [command.words for command in read_script('echo "rm -rf y" | tee log').commands]
    [('echo', 'rm -rf y'), ('tee', 'log')]

    ```
    """
    splitter = _Splitter(text)
    splitter.run()
    script = Script([], [])
    for command in splitter.found:
        _read_command(command, depth, script)
    if depth < _DEEPEST:
        for inner in splitter.inner:
            nested = read_script(inner, depth + 1)
            script.commands.extend(nested.commands)
            script.code.extend(nested.code)
    return script


def read_words(words: list[str]) -> Script:
    """The commands run by a call that is given as a list of words: `["bash", "-lc", "make"]`."""
    script = Script([], [])
    _read_command(Command(tuple(words), text=" ".join(words)), 0, script)
    return script


def _read_command(command: Command, depth: int, script: Script) -> None:
    words, assigned = _unwrapped(list(command.words))
    if not words:
        if assigned or command.redirects:
            script.commands.append(command._replace(words=(), assigned=tuple(assigned)))
        return
    if words[0] == "for" or words[0] == "case":
        return
    inner = _inner_text(words, command.body) if depth < _DEEPEST else None
    if inner is not None:
        if program_name(words[0]) == "ssh":
            script.commands.append(command._replace(words=tuple(words[:-1]), redirects=(), assigned=tuple(assigned)))
        nested = read_script(inner, depth + 1)
        commands = nested.commands
        if commands:
            # What follows the wrapper follows what it runs: `bash -c "make" || true`.
            commands[-1] = commands[-1]._replace(
                after=command.after, redirects=commands[-1].redirects + command.redirects
            )
            commands[0] = commands[0]._replace(before=command.before, assigned=commands[0].assigned + tuple(assigned))
        script.commands.extend(commands)
        script.code.extend(nested.code)
        return
    words, code = _interpreted(words, command.body)
    if code is not None:
        script.code.append(code)
    script.commands.append(command._replace(words=tuple(words), assigned=tuple(assigned)))
