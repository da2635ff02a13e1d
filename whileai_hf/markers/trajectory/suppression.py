"""Errors that are silenced instead of fixed, in what the agent writes and in the commands it runs."""

from __future__ import annotations

import re

from whileai_hf.markers.trajectory.edits import Edit
from whileai_hf.markers.trajectory.paths import is_document, is_shell_script
from whileai_hf.markers.trajectory.runs import looks_only, works
from whileai_hf.markers.trajectory.shell import Command


_SWALLOWED = re.compile(
    r"\bexcept(?:\s*\(?\s*(?:Exception|BaseException)\s*\)?(?:\s+as\s+\w+)?)?\s*:\s*(?:#[^\n]*\n\s*)*(?:pass\b|\.\.\."
    r"|continue\b|return(?: (?:None|\[\]|\{\}|\(\)|''|\"\"|0|False|dict\(\)|list\(\)))?[ \t]*(?=\n|$))"
    r"|\b_ = recover\(\)|(?<=[=(,.] )@(?:\$|\w+\()"
    r"|\bcatch\s*(?:\([^()\n]{0,80}\))?\s*\{\s*(?:/[/*][^\n]{0,80}\s*)?\}|\.catch\(\s*(?:\(\w*\)|\w+"
    r"|_)\s*=>\s*(?:\{\s*\}|null|undefined)\s*\)"
    r"|\bcontextlib\.suppress\(\s*(?:Exception|BaseException)\s*\)|\bsuppress\(\s*(?:Exception|BaseException)\s*\)"
    r"|\brescue\s+(?:nil\b|(?:=>|StandardError|Exception)[^\n]{0,200}\n\s*(?:nil\s*\n\s*)?end\b)"
    r"|\brescue\s*\n\s*(?:nil\s*\n\s*)?end\b"
    r"|\bon error resume next\b|\bcatch\s*\{\s*\}",
    re.IGNORECASE,
)
_COMMENTS = re.compile(
    r"#\s*(?:noqa|type:\s*ignore|pyright:\s*ignore|pylint:\s*disable|nosec|mypy:\s*ignore|pragma:\s*no cover"
    r"|rubocop:\s*disable|ruff:\s*noqa|flake8:\s*noqa)"
    r"|(?:/[/*]|\{/\*)\s*(?:eslint-disable|@ts-ignore|@ts-nocheck|@ts-expect-error|tslint:disable|prettier-ignore"
    r"|istanbul ignore|c8 ignore|biome-ignore|deno-lint-ignore)"
    r"|//\s*(?:nolint|NOLINT|noinspection|@phpstan-ignore|swiftlint:disable|checkstyle:off|ignore:)"
    r"|@SuppressWarnings\b|@Suppress\(|#!?\[allow\("
    r"|#pragma warning disable|\bSuppressMessage\(|--\s*sqlfluff:?\s*noqa|@phpstan-ignore|@psalm-suppress",
)
_WARNINGS = re.compile(
    r"\bwarnings\.(?:filterwarnings|simplefilter)\(\s*(?:action\s*=\s*)?['\"]ignore"
    r"|\bPYTHONWARNINGS\s*=\s*['\"]?ignore|\blogging\.disable\("
    r"|\berror_reporting\(0\)|-(?:ErrorAction|EA)[ :]+(?:SilentlyContinue|Ignore)\b"
    r"|\bErrorActionPreference\s*=\s*['\"]?SilentlyContinue"
    r"|\bprocess\.on\(\s*['\"]uncaughtException['\"]\s*,\s*\(\w*\)\s*=>\s*\{\s*\}"
    r"|\bnp\.seterr\(\s*all\s*=\s*['\"]ignore|\bcontinue-on-error:\s*true|\bignore_errors:\s*(?:true|yes)"
    r"|\bsilence_warnings\b|\bNODE_NO_WARNINGS=1|\bignore_errors[\"']?\s*=\s*[Tt]rue"
    r"|\bsys\.stderr\s*=\s*open\(os\.devnull"
    r"|\bredirect_stderr\((?:open\(os\.devnull|None)|\bstderr\s*=\s*(?:subprocess\.)?DEVNULL"
    r"|\bsys\.excepthook\s*=\s*lambda"
    r"|\bconsole\.(?:error|warn)\s*=\s*(?:\(\w*\)|\w+|_)\s*=>\s*\{\s*\}|\bconsole\.(?:error"
    r"|warn)\s*=\s*function\s*\(\w*\)\s*\{\s*\}"
    r"|\bLogBox\.ignore(?:All)?Logs\(|\bdisplay_errors\b['\"]?\s*[,=]\s*['\"]?(?:0|off)"
    r"|\bTreatWarningsAsErrors>\s*false"
    r"|<NoWarn>|\bnoEmitOnError[\"']?:\s*false|(?<![\w-])-Wno-(?:error|all|everything)\b"
    r"|\bset_error_handler\(\s*(?:function|fn)\s*\([^)]*\)"
    r"\s*(?:\{\s*(?:return true;)?\s*\}|=>\s*true)|\bfail_silently\s*=\s*True|\b(?:silent|quiet)_errors\s*=\s*True"
    r"|\ballow_failure:\s*true|\bignoreBuildErrors:\s*true|\bignoreDuringBuilds:\s*true|\$VERBOSE\s*=\s*nil"
)
_IN_SCRIPTS = re.compile(
    r"\|\|\s*(?:true|:|exit 0|/bin/true)(?![\w/])|(?:^|[\s;&])set \+(?:e|o errexit)|;\s*true\s*(?:$|['\"])|\btrap '' "
    r"ERR\b|"
    r"(?<![\w-])(?:pytest|npm (?:test|run|ci|install)|yarn|pnpm|make|cargo (?:build|test|check|clippy)|go (?:test"
    r"|build|vet)|pip3? install|"
    r"mvn|gradle|eslint|flake8|ruff|mypy|tsc|jest|tox|cmake|gcc|docker build)\b[^\n|;&]{0,300}(?:2>\s*/dev/null"
    r"|&>\s*/dev/null|>\s*/dev/null 2>&1)"
    r"|(?:^|\n)\t@?-(?=\w)|--exit-zero\b|--passWithNoTests\b",
    re.MULTILINE,
)
# An error of Go that is given no name where it was checked before.
_UNCHECKED = re.compile(r"^[ \t]*_ = \w[\w.]*\(|^[ \t]*\w+, _ :?= \w[\w.]*\(", re.MULTILINE)
# Rules of a linter or a type checker switched off in its settings.
_RULES_OFF = re.compile(
    r"[\"'](?:@?[\w-]{2,40}/)?[a-z][\w-]{2,40}[\"']\s*:\s*(?:\[\s*)?(?:[\"']off[\"']|0(?=\s*[,\]}\n]))"
    r"|^[ \t]*(?:extend-)?(?:ignore|disable|per-file-ignores|exclude_rules|skips)\s*=\s*[^\n]*\w"
    r"|\bignore\s*=\s*\[[^\]]*\w"
    r"|\bdisable_all_checkers\b|\bdisable=all\b|^[ \t]*Enabled:\s*false|\bstrict[\"']?\s*[:=]\s*false"
    r"|\bignore_missing_imports\s*=\s*true|\bfollow_imports\s*=\s*skip|\bcheckJs[\"']?:\s*false"
    r"|\bnoImplicitAny[\"']?:\s*false",
    re.MULTILINE | re.IGNORECASE,
)
_LINT_SETTINGS = re.compile(
    r"(?:^|/)(?:\.?eslintrc[\w.]*|eslint\.config\.\w+|\.flake8|setup\.cfg|tox\.ini|pyproject\.toml|\.?ruff\.toml"
    r"|mypy\.ini|\.?pylintrc"
    r"|\.rubocop\w*\.ya?ml|\.golangci\.ya?ml|tsconfig[\w.]*\.json|\.stylelintrc[\w.]*|biome\.json|phpstan\.neon"
    r"|\.swiftlint\.yml"
    r"|detekt\.yml|\.clang-tidy|pyrightconfig\.json|\.bandit|\.yamllint|tslint\.json|\.markdownlint[\w.]*)$",
    re.IGNORECASE,
)
_DROPPED = frozenset({"2>", "2>>", "&>", ">&", "&>>"})
_NOWHERE = re.compile(r"/dev/null$|\$null$|nul$", re.IGNORECASE)
_TRUE = (("true",), (":",), ("/bin/true",), ("exit", "0"))


def silenced_by(edit: Edit) -> str:
    """
    What an edit adds that silences errors; empty when it adds nothing of the kind.

    Examples:
    ```python
    >>> silenced_by(Edit("a.py", "f()", "try:\\n    f()\\nexcept Exception:\\n    pass", "modify"))
    'except Exception:\\n    pass'
    >>> silenced_by(Edit("a.py", "import re  # noqa", "import re", "modify"))
    ''

    ```
    """
    if edit.how == "delete" or is_document(edit.path) or not edit.new:
        return ""
    patterns = [_SWALLOWED, _COMMENTS, _WARNINGS]
    if is_shell_script(edit.path) or edit.new.startswith("#!/"):
        patterns.append(_IN_SCRIPTS)
    if (
        edit.path.endswith(".go")
        and "err" in edit.old
        and len(_UNCHECKED.findall(edit.new)) > len(_UNCHECKED.findall(edit.old))
    ):
        patterns.append(_UNCHECKED)
    if edit.old and _LINT_SETTINGS.search(edit.path):
        patterns.append(_RULES_OFF)
    for pattern in patterns:
        found = pattern.search(edit.new)
        if found and len(pattern.findall(edit.new)) > len(pattern.findall(edit.old)):
            return found.group().strip()
    return ""


def silenced_in_code(code: str) -> str:
    """What a piece of code that is run silences."""
    for pattern in (_SWALLOWED, _WARNINGS):
        found = pattern.search(code)
        if found:
            return found.group().strip()
    return ""


def _drops_errors(command: Command) -> bool:
    """Whether what a command reports as errors goes nowhere."""
    out = False
    for operator, target in command.redirects:
        if operator in _DROPPED and (_NOWHERE.search(target) or (operator == "2>" and target == "&-")):
            return True
        if operator in (">", "1>") and _NOWHERE.search(target):
            out = True
        elif operator == "2>" and target == "&1" and out:
            return True
    return any(word.lower() == "silentlycontinue" for word in command.words)


def silenced_by_command(commands: list[Command], position: int) -> str:
    """What the command at `position` silences: its own errors, or its exit status; empty when nothing."""
    command = commands[position]
    if command.words[:1] == ("set",) and any(re.fullmatch(r"\+[a-z]*e[a-z]*", word) for word in command.words[1:]):
        return command.text
    if command.words[:2] == ("trap", "") and "ERR" in command.words:
        return command.text
    if _drops_errors(command) and works(command):
        return command.text
    if any(re.match(r"PYTHONWARNINGS=ignore|NODE_NO_WARNINGS=1", item) for item in command.assigned):
        return command.text
    if "--exit-zero" in command.words or any(
        word == "-Wignore" or (word == "-W" and command.words[at + 1 : at + 2] == ("ignore",))
        for at, word in enumerate(command.words)
    ):
        return command.text
    if command.text.lower().startswith("$erroractionpreference") and "silentlycontinue" in command.text.lower():
        return command.text
    following = commands[position + 1] if position + 1 < len(commands) else None
    if following is None or following.words not in _TRUE:
        return ""
    if command.after == "||" or (
        command.after in (";", "\n")
        and position + 2 == len(commands)
        and (following.words != ("exit", "0") or works(command))
    ):
        chain = [command]
        while chain[-1].before in ("|", "|&") and position > 0:
            position -= 1
            chain.append(commands[position])
        if not all(looks_only(link) for link in chain):
            return f"{command.text} {command.after.strip() or ';'} {following.text}"
    return ""
