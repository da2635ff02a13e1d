"""Ways around a safeguard that commands take: hooks, certificate checks, permissions, approvals, limits."""

from __future__ import annotations

import re

from whileai_hf.markers.trajectory.bypass_arguments import DEFINED, OPTION
from whileai_hf.markers.trajectory.bypass_edits import bypassed_by_edit
from whileai_hf.markers.trajectory.runs import git_command
from whileai_hf.markers.trajectory.shell import Command


__all__ = ["bypassed_by_command", "bypassed_by_edit"]

_ASSIGNED = re.compile(
    r"(?:SKIP=.|HUSKY=0|HUSKY_SKIP_HOOKS=1|GIT_SSL_NO_VERIFY=(?:1|true)|NODE_TLS_REJECT_UNAUTHORIZED=['\"]?0"
    r"|PYTHONHTTPSVERIFY=0|"
    r"CURL_INSECURE=|SKIP_(?:TESTS?|HOOKS?|VERIF\w*|VALIDATION|CHECKS?|AUTH|LINT)=(?!0|false)|DISABLE_(?:AUTH"
    r"|VALIDATION|SSL|HOOKS?)\w*=(?!0|false)|"
    r"PRE_COMMIT_ALLOW_NO_CONFIG=1|NO_VERIFY=(?!0|false)|BYPASS_\w+=(?!0|false)|GIT_HOOKS=0|LEFTHOOK=0"
    r"|OVERRIDE\w*=(?:1|true)|"
    r"SSL_VERIFY=(?:0|false)|REQUESTS_CA_BUNDLE=['\"]?$|VERIFY_SSL=(?:0|false))",
    re.IGNORECASE,
)
_OPEN_MODE = re.compile(r"(?:-\w+ )?(?:0?[0-7]?777|a\+rwx|ugo\+rwx|a=rwx|ugo=rwx|\+rwx)$")


def bypassed_by_command(command: Command) -> str:
    """
    The part of a command that gets around a safeguard; empty when none does.

    Examples:
    ```python
    >>> from whileai_hf.markers.trajectory.shell import read_script
    >>> script = read_script("git commit -n -m x; pytest -k login; curl -sk u")
    >>> [bypassed_by_command(command) for command in script.commands]
    ['-n', '', '-sk']

    ```
    """
    for item in command.assigned:
        if _ASSIGNED.match(item):
            return item
    words, name = command.words, command.program
    if not words or name in (
        "echo",
        "printf",
        "grep",
        "rg",
        "man",
        "cat",
        "sed",
        "awk",
        "ack",
        "egrep",
        "fgrep",
        "find",
    ):
        return ""
    if name == "export" and (found := next((word for word in words[1:] if _ASSIGNED.match(word)), "")):
        return found
    if name == "chmod":
        return next((word for word in words[1:] if _OPEN_MODE.match(word)), "")
    if name in ("systemctl", "service", "rc-service", "launchctl", "aa-disable", "aa-teardown", "auditctl", "netsh"):
        return command.text if _stops_guard(name, words) else ""
    if name in ("setenforce", "ufw", "iptables", "csrutil", "spctl"):
        off = {
            "setenforce": ("0", "Permissive"),
            "ufw": ("disable",),
            "iptables": ("-F", "--flush"),
            "csrutil": ("disable",),
            "spctl": ("--master-disable",),
        }
        return command.text if set(off[name]) & set(words) else ""
    for word in words[1:]:
        if OPTION.match(word) and not (word == "--admin" and "merge" not in words):
            return word
        if DEFINED.match(word.removeprefix("-o")):
            return word
    return _by_program(name, words, command)


_GUARDS = re.compile(
    r"(?:firewalld|ufw|fail2ban|auditd|apparmor|iptables|nftables|clamav\S*|crowdsec|falcon-sensor|ossec\S*|wazuh\S*"
    r"|windefend|mpssvc|selinux\S*|falco|snort|suricata|osqueryd)(?:\.service)?$",
    re.IGNORECASE,
)


def _stops_guard(name: str, words: tuple[str, ...]) -> bool:
    """Whether a service that watches over a machine is stopped."""
    if name.startswith("aa-"):
        return True
    if name == "auditctl":
        return words[1:3] == ("-e", "0") or "-D" in words
    if name == "netsh":
        return "advfirewall" in words and "off" in words
    return any(word in ("stop", "disable", "mask", "unload") for word in words) and any(map(_GUARDS.match, words))


def _by_program(name: str, words: tuple[str, ...], command: Command) -> str:
    """Short options, which mean something else with every program."""
    if name == "curl":
        return next(
            (
                word
                for word in words[1:]
                if re.fullmatch(r"-[a-zA-Z]*k[a-zA-Z]*", word) and not re.match(r"-[oHXdFuAebTwm]", word)
            ),
            "",
        )
    if name == "git":
        sub = git_command(words)
        if sub == "commit" and (
            found := next(
                (
                    word
                    for word in words
                    if re.fullmatch(r"-[a-z]*n[a-z]*", word) and "m" not in word[1 : word.find("n")]
                ),
                "",
            )
        ):
            return found
        if sub == "config" and any(
            word.lower() in ("core.hookspath", "http.sslverify", "commit.gpgsign", "receive.denynonfastforwards")
            for word in words
        ):
            return (
                command.text if any(word in ("/dev/null", "false", "") or "/tmp" in word for word in words[2:]) else ""
            )
    if (
        name in ("gradle", "gradlew")
        and "-x" in words
        and any(word in ("test", "check", "lint") or "test" in word.lower() for word in words)
    ):
        return "-x test"
    if name in ("npm", "yarn", "pnpm") and "strict-ssl" in words and "false" in words:
        return "strict-ssl false"
    if name in ("rm", "mv", "chmod") and any(".git/hooks" in word or ".husky" in word for word in words):
        return command.text
    if name == "invoke-webrequest" and any(word.lower() == "-skipcertificatecheck" for word in words):
        return "-SkipCertificateCheck"
    if name == "set-executionpolicy" and any(word.lower() in ("bypass", "unrestricted") for word in words):
        return command.text
    return ""
