"""What a path says about a file: a test, documentation, something that is made anew by every build."""

from __future__ import annotations

import re
from functools import lru_cache


_CODE = frozenset(
    "py pyi js jsx ts tsx mjs cjs mts cts go rs rb java kt kts scala swift cs fs vb php c cc cpp cxx h hpp m mm ex "
    "exs erl "
    "dart lua pl pm r jl hs ml clj cljs groovy sh bats bash ps1 vue svelte sol zig nim feature robot sql".split()
)
_TEST_NAME = re.compile(
    r"^(?:test_[\w.-]*|tests|test|conftest|[\w-]+_tests?|[\w-]+_spec|[\w.-]+[._-](?:spec|test|tests|e2e|cy)"
    r"|spec_helper|"
    r"test_helper|test[-_]utils?)\.[a-z]{1,6}$"
    r"|^[\w-]*[a-z\d](?:Test|Tests|TestCase|IT|Spec|Specs)\.(?:java|kt|kts|scala|groovy|cs|fs|vb|swift|php|js|ts|hs|m"
    r"|mm)$"
    r"|^Test[A-Z]\w*\.(?:java|kt|cs|scala|php)$"
)
_TEST_FOLDERS = frozenset(
    {"test", "tests", "__tests__", "spec", "specs", "e2e", "testing", "unittests", "androidtest"}
)
_DATA_FOLDERS = frozenset(
    {"fixtures", "data", "testdata", "test_data", "resources", "golden", "snapshots", "__snapshots__"}
)
_DOCUMENTS = re.compile(
    r"(?:\.(?:md|mdx|rst|txt|adoc|html?|csv|log)$)|(?:^|/)(?:docs?|README|CHANGELOG)(?:/|$)", re.IGNORECASE
)
_SCRIPTS = re.compile(
    r"\.(?:sh|bash|zsh|ya?ml|mk|bat|ps1|cmd)$|(?:^|/)(?:Makefile|GNUmakefile|Dockerfile[\w.-]*|Justfile|package\.json"
    r"|tox\.ini|"
    r"Jenkinsfile|Procfile|\.husky/\S*|pre-commit|Vagrantfile|Containerfile)$",
    re.IGNORECASE,
)
# Folders and files that a build, a test run or an installation makes again.
_ARTEFACTS = frozenset(
    "node_modules dist build target out output bin obj __pycache__ .pytest_cache .mypy_cache .ruff_cache .cache cache "
    "caches .tox .nox venv .venv coverage htmlcov .coverage .next .nuxt .svelte-kit .parcel-cache .turbo .gradle "
    ".terraform "
    ".eggs wheels site _site public/build tmp temp .tmp .temp deriveddata pods .dart_tool .angular storybook-static "
    ".serverless .aws-sam cmake-build-debug cmake-build-release .ipynb_checkpoints .hypothesis .nyc_output "
    "bower_components vendor/cache .sass-cache .eslintcache .stylelintcache .vite .output __generated__ logs".split()
)
_ARTEFACT_NAME = re.compile(
    r"(?:.*\.(?:pyc|pyo|o|obj|class|egg-info|whl|tmp|temp|swp|swo|bak~|log|gcda|gcno|tsbuildinfo|dist-info|lock\.tmp)"
    r"|\.?coverage[\w.]*|\*~|cmake-build-\w+|.*[-_.](?:cache|tmp|temp)|(?:cache|tmp|temp|build|dist)[-_.]\w.*"
    r"|core\.\d+"
    r"|npm-debug\S*|\.ds_store|thumbs\.db)$"
)
_TEMPORARY = re.compile(r"(?:/private)?/(?:var/)?tmp/.|/dev/shm/.|\$\{?(?:TMP|TEMP|tmp|temp)|\$\(mktemp|/var/cache/.")


def _clean(path: str) -> str:
    return path.strip().strip("'\"").replace("\\", "/")


@lru_cache(maxsize=4096)
def is_test(path: str) -> bool:
    """
    Whether a path is that of a test file, or of a folder of tests.

    Examples:
    ```python
    >>> [is_test(path) for path in ("tests/test_a.py", "src/a.spec.ts", "a/a_test.go", "tests/", "OrderTest.java")]
    [True, True, True, True, True]
    >>> [is_test(path) for path in ("contest.py", "latest.txt", "attestation.md", "tests/data/a.json")]
    [False, False, False, False]

    ```
    """
    path = _clean(path)
    parts = [part for part in path.split("/") if part not in ("", ".", "..", "*")]
    if not parts or _TEMPORARY.match(path):
        return False
    name = parts[-1]
    ending = name.rsplit(".", 1)[-1].lower() if "." in name.strip(".") else ""
    folders = {part.lower() for part in parts[:-1]}
    if not ending or "*" in name:
        # A folder, or everything in it.
        return name.lower() in _TEST_FOLDERS or bool(folders & _TEST_FOLDERS and not folders & _DATA_FOLDERS)
    if ending not in _CODE:
        return False
    if folders & _DATA_FOLDERS and ending in ("sql", "sh"):
        return False
    return bool(_TEST_NAME.search(name)) or bool(folders & _TEST_FOLDERS)


@lru_cache(maxsize=4096)
def is_document(path: str) -> bool:
    """Whether a path is that of something to be read by people."""
    return bool(_DOCUMENTS.search(_clean(path)))


@lru_cache(maxsize=4096)
def is_shell_script(path: str) -> bool:
    """Whether shell commands stand in the file: scripts, Makefiles, Dockerfiles, CI workflows."""
    return bool(_SCRIPTS.search(_clean(path)))


@lru_cache(maxsize=4096)
def is_artefact(path: str) -> bool:
    """
    Whether a path is temporary or made again by the next build.

    Examples:
    ```python
    >>> [is_artefact(path) for path in ("node_modules", "./dist/", "/tmp/x", "src/__pycache__", "*.pyc", "$TMPDIR/x")]
    [True, True, True, True, True, True]
    >>> [is_artefact(path) for path in ("data/customers", "/", "/tmp", "src", "~", ".")]
    [False, False, False, False, False, False]

    ```
    """
    path = _clean(path)
    if _TEMPORARY.match(path):
        return ".." not in path
    parts = [part.lower() for part in path.split("/") if part not in ("", ".", "*", "**")]
    if not parts or parts[-1] == ".." or path.startswith(("/etc", "/usr", "/bin", "/lib", "/var/lib", "/home/*")):
        return False
    if len(parts) == 1 and path.startswith("/"):
        return False
    return any(part in _ARTEFACTS or _ARTEFACT_NAME.match(part) for part in parts)
