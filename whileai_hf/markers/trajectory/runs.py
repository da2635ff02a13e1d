"""Commands told apart: those that only look, those that test or build, and what came of a test run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from whileai_hf.markers.trajectory.shell import Command
from whileai_hf.sandbox.naming import words_of
from whileai_hf.score.reading.calls import Call


_LOOKING = frozenset(
    "ls cat head tail grep egrep fgrep rg ag ack find fd wc pwd echo printf which whereis type file stat du df tree "
    "ps less "
    "more diff cmp jq yq sort uniq cut awk test [ [[ true false date whoami id uname hostname env printenv history "
    "man help "
    "nl tac column basename dirname realpath readlink md5sum sha256sum sha1sum cksum strings xxd od hexdump lsof "
    "netstat ss "
    "free uptime top dir get-content get-childitem select-string where gc gci cd pushd popd sleep seq tr : bat batcat "
    "sqlite3-read locate getent command hash dig nslookup ping lsblk findmnt tput clear test-path gofmt-l".split()
)
_GIT_LOOKING = frozenset(
    "status log diff show blame branch remote rev-parse ls-files describe shortlog grep config reflog fetch "
    "cat-file".split()
)
_RUNNERS = frozenset(
    "pytest py.test unittest nose nose2 nosetests tox nox jest vitest mocha ava tap karma cypress playwright rspec "
    "minitest phpunit "
    "ctest testem qunit jasmine cucumber behave robot lettuce trial gotestsum ginkgo bats busted prove shellspec pest "
    "stestr testthat green ward hspec kyua catch2 xctest".split()
)
_BUILDERS = frozenset(
    "make gmake cmake ninja gcc g++ clang clang++ cc javac tsc rustc webpack vite rollup esbuild parcel mkdocs "
    "sphinx-build "
    "hugo jekyll bazel buck meson scons ant msbuild xcodebuild swiftc ghc latexmk pdflatex nx turbo lerna bundle "
    "pyinstaller pip-compile docker-build jest protoc kubectl-apply".split()
)
_LINTERS = frozenset(
    "flake8 ruff mypy pyright pylint black isort eslint prettier tslint stylelint rubocop shellcheck golangci-lint "
    "clippy "
    "hadolint yamllint ansible-lint bandit pre-commit pyflakes pycodestyle checkstyle phpstan psalm ktlint swiftlint "
    "biome "
    "oxlint markdownlint sqlfluff vulture pydocstyle autopep8 standard xo".split()
)
_INSTALLERS = frozenset(
    "pip pip3 npm yarn pnpm bun poetry uv pipenv conda mamba apt apt-get brew gem cargo go composer dotnet nuget mvn "
    "mvnw gradle gradlew sbt lein mix stack cabal dnf yum apk pacman bundle rake tox nox".split()
)
_MANAGERS = frozenset({"npm", "yarn", "pnpm", "bun", "deno", "rush", "lerna", "nx", "turbo"})
_TEST_WORD = re.compile(
    r"(?:^|[:_./-])(?:tests?|specs?|e2e|unit|check|ci|jest|vitest|mocha|pytest|verify|coverage)(?:$|[:_./-])"
)
_TEST_SCRIPT = re.compile(
    r"(?:^|/)(?:run[-_]?)?(?:all[-_]?)?(?:tests?|specs?|check|ci)(?:[-_]\w+)?(?:\.(?:sh|py|js|ts|rb|pl|php|ps1|bat"
    r"|mjs))?$|(?:^|/)test_\w+\.py$|_test\.\w+$|\.(?:test|spec)\.\w+$"
)
_BUILD_WORD = re.compile(
    r"(?:^|[:_./-])(?:build|compile|package|bundle|dist|assemble|publish|typecheck|type-check|tsc|prepare|release)(?:$"
    r"|[:_./-])"
)
_TEST_TOOL = frozenset(
    "test tests testing pytest suite ci unittest unittests jest rspec spec specs check checks verify".split()
)
_BUILD_TOOL = frozenset("build compile builds pipeline workflow ci package lint typecheck".split())
_INTERPRETERS = re.compile(
    r"(?:python|pypy|node|ruby|php|perl|java|Rscript|ts-node|tsx|deno|bun|julia|swift|dart|lua)[\d.]*$"
)

_FAILED_RUN = re.compile(
    r"(?<![\w.-])(?!0+\b)\d{1,6} (?:tests? )?(?:failed|failures?|failing|errors?|broken|examples?, [1-9]\d* "
    r"failures?)\b|\bFAILED\b(?! ?[:=]? ?0)|"
    r"\bFAIL\b(?!ED)(?!URES?: 0)|\b(?:failures|errors|failed)[\"']?\s*[=:]\s*(?!0+\b)\d+|\bBUILD FAIL(?:URE|ED)\b"
    r"|\bnpm ERR!|\bTraceback \(most recent|"
    r"\bAssertionError\b|\bpanicked at\b|(?m:^not ok \d)|\berror(?:\[E\d+\])?: |\berror TS\d+|\b(?:compilation|build"
    r"|tests?|linking) failed\b|"
    r"\bfatal error\b|\bSegmentation fault\b|\bCommand failed\b|\bcommand not found\b|(?m:^E  )|\bundefined "
    r"reference\b|\bERROR:|\bno tests (?:ran|found)\b"
)
_PASSED_RUN = re.compile(
    r"\b\d+ (?:passed|passing|tests? passed|examples?, 0 failures)\b|\bOK\b|\bok\b|\bPASS(?:ED)?\b|\bBUILD SUCCESS"
    r"|\b0 fail|\bAll tests passed|\bsucce"
)


def _git(words: tuple[str, ...]) -> str:
    """The subcommand of a git command."""
    skip = False
    for word in words[1:]:
        if skip:
            skip = False
        elif word in ("-c", "-C", "--git-dir", "--work-tree"):
            skip = True
        elif not word.startswith("-"):
            return word
    return ""


git_command = _git


def looks_only(command: Command) -> bool:
    """
    Whether a command only reads and prints.

    Examples:
    ```python
    >>> from whileai_hf.markers.trajectory.shell import read_script
    >>> [looks_only(command) for command in read_script("ls -l; git log; sed -i s/a/b/ a; echo x > a").commands]
    [True, True, False, False]

    ```
    """
    if any(
        operator.lstrip("1") in (">", ">>", ">|") and not target.startswith(("/dev/", "&"))
        for operator, target in command.redirects
    ):
        return False
    name = command.program
    if name == "":
        return True
    if name == "find":
        return not {"-delete", "-exec", "-execdir", "-ok"}.intersection(command.words)
    if name in _LOOKING:
        return True
    if name == "git":
        return _git(command.words) in _GIT_LOOKING
    if name in ("sed", "gsed"):
        return not any(re.match(r"-\w*i|--in-place", word) for word in command.words[1:])
    if name in ("kubectl", "docker", "terraform", "gh", "systemctl", "pip", "npm", "brew", "cargo", "go", "aws"):
        return bool({"get", "describe", "logs", "ps", "images", "list", "show", "view", "status", "plan", "inspect",
            "freeze",
                     "outdated", "top", "version", "--version", "doc",
                     "ls"}.intersection(command.words[1:4]))  # fmt: skip
    return any(word in ("--version", "-V", "--help") for word in command.words[1:]) or command.words[1:] == ("-v",)


def is_test_run(command: Command) -> bool:
    """
    Whether a command runs tests.

    Examples:
    ```python
    >>> from whileai_hf.markers.trajectory.shell import read_script
    >>> [is_test_run(command) for command in read_script("npm run test:a; python test_a.py; make; ls tests").commands]
    [True, True, False, False]

    ```
    """
    words = command.words
    name = command.program
    if not words or "--version" in words:
        return False
    if name in _RUNNERS or _TEST_SCRIPT.search(words[0]):
        return name != "test" or "/" in words[0]
    rest = [word for word in words[1:] if not word.startswith("-")]
    first = rest[0] if rest else ""
    if name in _MANAGERS:
        if first in ("run", "run-script", "exec", "--filter") or first.startswith("--"):
            return any(_TEST_WORD.search(word) for word in rest[1:2])
        return first in ("t", "tst") or any(_TEST_WORD.search(word) for word in rest[:3])
    if name in ("go", "cargo", "swift", "dotnet", "mix", "flutter", "dart", "stack", "cabal", "sbt", "lein", "zig",
        "bazel", "buck",
                "rails", "rake", "artisan", "forge", "hatch", "deno", "elm-test", "meson", "xcodebuild", "composer",
                "pre-commit",
                "nextest", "just", "task", "invoke", "inv", "dune", "gleam", "earthly"):  # fmt: skip
        return any(_TEST_WORD.search(word) or word.startswith(("test", "nextest")) for word in rest[:3])
    if name in ("mvn", "mvnw", "gradle", "gradlew", "ant"):
        return any(re.search(r"(?:^|:)(?:\w*[tT]est\w*|verify|check|build|install|package)$", word) for word in rest)
    if name in ("make", "gmake", "ninja"):
        return any(_TEST_WORD.search(word) for word in rest)
    if _INTERPRETERS.match(name):
        return any(_TEST_SCRIPT.search(word) for word in rest[:1]) or (
            first.endswith(("manage.py", "setup.py", "artisan")) and "test" in rest
        )
    if name == "coverage":
        return "pytest" in rest or "unittest" in rest or any(_TEST_SCRIPT.search(word) for word in rest)
    return False


def is_build(command: Command) -> bool:
    """Whether a command builds or compiles something, or checks types or style."""
    words = command.words
    name = command.program
    if name in _BUILDERS or name in _LINTERS:
        return True
    if name in _MANAGERS or name in _INSTALLERS or name in ("docker", "swift", "just", "python", "flutter"):
        return any(
            _BUILD_WORD.search(word) or word in ("check", "clippy", "vet", "lint", "install") for word in words[1:4]
        )
    return bool(_BUILD_WORD.search(words[0])) if words else False


def works(command: Command) -> bool:
    """Whether a command builds, tests, installs, lints or runs something whose errors matter."""
    if not command.words or looks_only(command):
        return False
    name = command.program
    if is_test_run(command) or is_build(command) or name in _INSTALLERS or name in _LINTERS:
        return True
    return (bool(_INTERPRETERS.match(name)) and len(command.words) > 1) or name in (
        "alembic",
        "psql",
        "terraform",
        "ansible-playbook",
        "helm",
        "docker-compose",
    )


def _text(result: Any) -> str:
    kind = type(result)
    if kind is str:
        return result  # type: ignore[no-any-return]
    if kind is dict or isinstance(result, Mapping):
        return "\n".join(
            [
                value
                if isinstance(value, str)
                else f"{name}: {_text(value) if isinstance(value, dict | list) else value}"
                for name, value in result.items()
            ]
        )
    if isinstance(result, list):
        return "\n".join([_text(item) for item in result])
    return "" if result is None else str(result)


result_text = _text


def run_failed(call: Call) -> bool:
    """Whether a test run or a build failed, by its exit status and by what it printed."""
    if call.failed:
        return True
    text = _text(call.result)
    text = text if len(text) <= 40_000 else text[:20_000] + text[-20_000:]
    return bool(_FAILED_RUN.search(text)) and not (
        re.search(r"\bexit_?code: 0\b", text)
        and _PASSED_RUN.search(text[-400:])
        and not re.search(r"\b[1-9]\d* fail", text)
    )


def tool_runs(call: Call) -> tuple[bool, bool]:
    """Whether a tool by its name runs or reports tests, and whether it builds."""
    words = set(words_of(call.tool))
    return bool(words & _TEST_TOOL), bool(words & _BUILD_TOOL)
