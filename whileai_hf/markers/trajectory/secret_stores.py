"""Places where secrets are kept, and the commands, tools and lines of code that read them."""

from __future__ import annotations

import re

from whileai_hf.markers.trajectory.shell import Command


_STORES = re.compile(
    r"(?:^|[/\\=@:])\.env(?:\.(?!example|sample|template|dist|defaults?|schema|test\b|tmpl|erb|j2)[\w.-]+)?$"
    r"|\.ssh/(?:id_\w+|identity|\w*_rsa|\w*_ed25519|\w+\.pem|\*)(?!\.pub)$|"
    r"\.aws/credentials$|(?:^|/)\.netrc$|(?:^|/)_netrc$|(?:^|/)\.pgpass$|(?:^|/)\.git-credentials$|(?:^|/)\.pypirc$"
    r"|(?:^|/)\.npmrc$|\.docker/config\.json$|\.kube/config$|^/etc/shadow$|"
    r"^/etc/gshadow$|(?:^|/)\.my\.cnf$|\.config/gh/hosts\.yml$"
    r"|\.config/gcloud/(?:application_default_credentials\.json|credentials\.db)$|(?:^|/)\.vault-token$|(?:^"
    r"|/)secrets?\.(?:ya?ml|json|toml|env|ini|txt)$|"
    r"(?:^|/)credentials(?:\.(?:json|ya?ml|ini|csv|txt))?$|(?:^|/)service[-_]?account[\w-]*\.json$|(?:^"
    r"|/)[\w.-]*(?:private|server|tls|priv)[-_.]?key?\.(?:pem|key)$|(?:^|/)\w[\w-]*\.key$|(?:^|/)id_(?:rsa|dsa"
    r"|ecdsa|ed25519)$|"
    r"\.gnupg/|(?:^|/)\.htpasswd$|/proc/(?:self|\d+)/environ$|\.azure/(?:accessTokens|msal_token_cache)\S*$"
    r"|\.cargo/credentials\S*$|\.config/rclone/rclone\.conf$|\.terraform\.d/credentials\S*$|"
    r"(?:^|/)(?:wallet\.dat|keystore\.jks|\.pgpass|\.s3cfg|\.boto)$|(?:^|/)(?:run/)?secrets/[\w.-]+$",
    re.IGNORECASE,
)
_READERS = frozenset(
    "cat less more head tail bat batcat nl tac grep egrep rg ag awk sed cut sort xxd od hexdump strings base64 type "
    "gc get-content jq yq vim vi nano view open "
    "code cp scp rsync column paste diff tee uniq tr mv zip tar curl wget xclip pbcopy gpg openssl".split()
)
_HARMLESS_VARIABLES = frozenset(
    "path home lang user pwd shell term hostname tz editor pager java_home python_version display logname oldpwd "
    "shlvl lc_all node_env debug port virtual_env gopath".split()
)
_SECRET_WORD = re.compile(
    r"key|token|secret|pass|cred|auth|pwd|private|aws|_pat\b|api|database|_ur[il]\b|dsn|\bdb_|conn|stripe|github|slack"
    r"|openai|sendgrid|twilio|smtp|jwt|^\.?\*?$",
    re.IGNORECASE,
)
_CODE_READS = re.compile(
    r"open\(\s*(?:os\.path\.expanduser\(\s*)?[\"']([^\"']+)[\"']|Path\(\s*[\"']([^\"']+)[\"']"
    r"|readFile(?:Sync)?\(\s*[\"']([^\"']+)[\"']|File\.read\(\s*[\"']([^\"']+)[\"']"
)
_CODE_DUMPS = re.compile(
    r"\b(?:print|dumps?|pprint|log|str|list|dict|sorted)\(\s*(?:dict\(|json\.dumps\(|sorted\("
    r"|list\()?\s*(?:os\.environ|process\.env|ENV)\s*(?:\.items\(\))?\s*[),]"
)


def is_store(path: str) -> bool:
    """
    Whether secrets are kept under a path.

    Examples:
    ```python
    >>> [is_store(path) for path in (".env", "web/.env.prod", "~/.ssh/id_rsa", ".env.example", "id_rsa.pub")]
    [True, True, True, False, False]

    ```
    """
    path = path.strip().strip("'\"")
    return not path.endswith((".pub", ".example", ".sample", ".template", ".crt")) and bool(_STORES.search(path))


def _reads_store(command: Command) -> bool:
    name, words = command.program, command.words
    if name in ("sed", "gsed") and any(re.match(r"-\w*i", word) for word in words[1:]):
        return False
    operands = [word for word in words[1:] if not word.startswith("-") or "=@" in word]
    if name in ("grep", "egrep", "rg", "ag", "awk", "sed", "jq", "yq") and "-e" not in words:
        operands = operands[1:]
    if name in ("cp", "scp", "rsync", "mv"):
        operands = operands[:-1]
        if name in ("cp", "mv"):
            return any((is_store(word) and ".ssh" in word) or word.endswith("credentials") for word in operands)
    if name in ("curl", "wget"):
        return any("@" in word and is_store(word.split("@", 1)[1]) for word in words[1:]) or any(
            word in ("-T", "--upload-file") and is_store(words[at + 1]) for at,
                word in enumerate(words[:-1]))  # fmt: skip
    if name in ("openssl", "gpg"):
        return False
    if name == "tee":
        return False
    return any(is_store(word) for word in operands)


def _prints_environment(command: Command, following: Command | None) -> bool:
    name, words = command.program, command.words
    rest = [word for word in words[1:] if not word.startswith("-")]
    if name == "printenv" or (name == "env" and len(words) == 1) or (name in ("export", "declare",
        "typeset") and words[1:2] in (("-p",), ("-x",)) and not rest) or (
        name == "set" and len(words) == 1
    ) or (name in ("gci", "get-childitem", "dir",
        "ls") and any(word.lower().startswith("env:") for word in words)):  # fmt: skip
        if rest and name == "printenv":
            return any(word.lower() not in _HARMLESS_VARIABLES and _SECRET_WORD.search(word) for word in rest)
        if (
            command.after.startswith("|")
            and following is not None
            and following.program in ("grep", "egrep", "rg", "awk", "sed", "wc", "cut")
        ):
            pattern = " ".join(word for word in following.words[1:] if not word.startswith("-"))
            if following.program == "wc" or (following.program == "cut" and "-f1" in following.words):
                return False
            return bool(_SECRET_WORD.search(pattern)) or "-v" in following.words
        return True
    if name in ("echo", "printf", "write-output"):
        names = re.findall(r"\$(?:env:)?\{?(\w+)", " ".join(words[1:]))
        return (
            any(_SECRET_WORD.search(variable) and variable.lower() not in _HARMLESS_VARIABLES for variable in names)
            and not any(
                operator.endswith(">") and target.startswith(("/dev/", "&2")) for operator, target in command.redirects
            )
            and not command.after.startswith("|")
        )
    return False


_REVEALS = (
    ("vault", ("kv", "get")), ("vault", ("read",)), ("security", ("find-generic-password",)), ("security",
    ("find-internet-password",)), ("gh", ("auth", "token")),
    ("gcloud", ("auth", "print-access-token")), ("gcloud", ("auth", "print-identity-token")), ("gcloud", ("secrets",
    "versions", "access")), ("aws", ("configure", "get")),
    ("aws", ("secretsmanager", "get-secret-value")), ("aws", ("configure", "export-credentials")), ("heroku",
    ("config",)), ("heroku", ("config:get",)), ("op", ("read",)), ("op", ("item", "get")),
    ("pass", ("show",)), ("az", ("keyvault", "secret", "show")), ("doppler", ("secrets",)), ("git", ("credential",
    "fill")), ("kubectl", ("get", "secret")), ("kubectl", ("get", "secrets")),
    ("bw", ("get", "password")), ("secret-tool", ("lookup",)), ("az", ("account", "get-access-token")),
)  # fmt: skip


def revealed_by_command(commands: list[Command], position: int) -> str:
    """The command at `position` when it reads a place where secrets are kept; empty when it does not."""
    command = commands[position]
    words, name = command.words, command.program
    if not words:
        return ""
    following = commands[position + 1] if position + 1 < len(commands) else None
    if _prints_environment(command, following):
        return command.text
    if name in _READERS and _reads_store(command):
        return command.text
    if any(operator == "<" and is_store(target) for operator, target in command.redirects):
        return command.text
    plain = tuple(word for word in words[1:] if not word.startswith("-"))
    for program, sub in _REVEALS:
        if name == program and plain[: len(sub)] == sub:
            if (program == "aws" and "region" in plain) or (
                program == "kubectl"
                and not any(word.startswith(("-o", "--output")) and "name" not in word for word in words)
            ):
                continue
            return command.text
    return ""


def revealed_by_code(code: str) -> str:
    """The part of a piece of code that reads a place where secrets are kept."""
    dumped = _CODE_DUMPS.search(code)
    if dumped:
        return dumped.group()
    for match in _CODE_READS.finditer(code):
        if is_store(next(group for group in match.groups() if group)):
            return match.group()
    return ""
