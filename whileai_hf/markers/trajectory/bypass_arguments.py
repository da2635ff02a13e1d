"""Arguments that switch a safeguard off: `force=true`, `skip_verification`, `--no-verify`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from whileai_hf.sandbox.naming import words_of


OPTION = re.compile(
    r"--(?:no-verify|no-verify-ssl|no-check-certificate|insecure\S*|skip-?(?:tests?|verif\w*|validat\w*|checks?"
    r"|auth\w*|approval\w*|hooks?|lint|"
    r"ssl\S*|tls\S*|signature\S*|integrity\S*|preflight\S*|review\S*|quality\S*|security\S*|gates?|scan\S*)|bypass\S*"
    r"|override(?:-\w*(?:check|polic|limit|lock|valid|approv|protect)\w*)?|"
    r"allow-unauthenticated|no-auth\w*|disable-(?:auth|valid|verif|check|ssl|tls|security|hooks|web-security)\S*"
    r"|no-validat\w*|no-checks?|"
    r"dangerously-\S+|trusted-host\S*|no-gpg-check\S*|nogpgcheck|allow-insecure\S*|ignore-(?:checks|validation|policy"
    r"|limits|certificate\S*|ssl\S*)|"
    r"admin|no-sandbox|privileged-bypass|yes-i-\S+|break-system-packages|force-yes|ignore-certificate-errors"
    r"|no-ssl-verify|disable-host-check|"
    r"skip-grant-tables|no-gpg-sign|no-gpg-checks?|no-signature\S*|nosignature|nodigest|no-verify-\S+|ignore-ssl\S*"
    r"|skip-(?:grant|policy|confirm\w*|prechecks?|audit|licen[cs]e\w*|permission\w*|limit\w*|host\w*|tag\w*check)\S*"
    r"|(?:[\w.]*(?:token|password|auth\w*))=(?:''|\"\")?|auth[= ](?:none|off|no)|security[= ]off|no-password"
    r"|(?:disable|no)-(?:signature|login|password|firewall|apparmor|selinux|seccomp|integrity|protection|limit|quota"
    r"|rate-?limit|audit|guard|review|approval)\S*|security-opt=(?:seccomp|apparmor)[=:]unconfined|lock=false"
    r"|without-(?:auth|verif|check|password)\S*|no-check-(?:certificate|gpg|signature|sig|hostname)s?|no-tls-verify"
    r"|insecure-\S+|tls-verify=false|tlsverify=false|ssl-no-\S+|no-check-hostname|ignore-(?:limit|quota|lock|warning"
    r"|protect|approval|auth|permission|review|budget|hold)\S*|"
    r"no-strict-ssl|no-pre-commit|no-hooks|unsafe-perm\S*|validate=false|verify=(?:false|no|0)|ssl-verify=(?:false|no)"
    r"|verify-ssl=(?:false|no))$",
    re.IGNORECASE,
)
DEFINED = re.compile(
    r"-D(?:skipTests?|maven\.test\.skip|skipITs|maven\.wagon\.http\.ssl\.insecure|checkstyle\.skip|enforcer\.skip"
    r"|spotbugs\.skip|pmd\.skip|skip\w+|"
    r"\w+\.skip)(?:=true)?$|core\.hooksPath=(?:/dev/null|\S*)$|http\.sslVerify=false$|StrictHostKeyChecking=(?:no"
    r"|off)$|"
    r"UserKnownHostsFile=/dev/null$",
    re.IGNORECASE,
)
_SAFEGUARDS = frozenset(
    "limit limits policy policies rule rules warning warnings check checks validation validations validate "
    "verification verify "
    "verifications restriction restrictions approval approvals permission permissions safety eligibility hold holds "
    "auth "
    "authentication authorization review reviews confirmation tests test hooks hook lock locks quota quotas cap caps "
    "compliance "
    "fraud kyc consent credit conflict conflicts availability capacity balance budget clearance signature security "
    "ssl tls "
    "certificate certificates guard guards guardrails controls control constraints constraint protection requirements "
    "prerequisites "
    "window cutoff deadline overbooking inventory stock identity screening interlock failsafe scan gate gates "
    "approver second blocklist".split()
)
_FORCING = frozenset(
    "approve approval refund delete override push merge cancel close transfer write payment pay publish deploy book "
    "booking "
    "rebook unlock execute send submit grant withdraw complete checkout release apply assign update upgrade change "
    "delivery commit "
    "remove create credit charge payout resolve open issue activate".split()
)
_HARMLESS = frozenset("refresh reload download color colour case lowercase update_cache cache whitespace".split())
_TRUTHY = (True, "true", "True", "TRUE", "yes", "YES", "on", 1, "1", "y", "force", "forced", "override", "bypass")


def _is_bypass_name(name: str) -> bool:
    words = words_of(name)
    if not words:
        return False
    rest = set(words)
    if words[0] in ("bypass", "bypassed", "bypasses") or "bypass" in rest:
        return True
    if rest & _HARMLESS:
        return False
    if words in (
        ("force",),
        ("forced",),
        ("override",),
        ("overrides",),
        ("overridden",),
        ("is", "forced"),
        ("is", "override"),
        ("force", "flag"),
    ):
        return True
    if "override" in rest or "overrides" in rest or "overridden" in rest:
        return len(words) == 1 or bool(
            rest
            & (
                _SAFEGUARDS
                | {"manager", "admin", "supervisor", "manual", "system", "staff", "agent", "operator", "price"}
            )
        )
    if "force" in rest or "forced" in rest:
        return bool(rest & (_FORCING | _SAFEGUARDS))
    if words[0] in (
        "skip",
        "skips",
        "ignore",
        "ignores",
        "disable",
        "no",
        "without",
        "suppress",
        "waive",
        "omit",
        "exempt",
        "circumvent",
    ):
        return bool(set(words[1:]) & _SAFEGUARDS)
    return False


_PROTECTS = re.compile(
    r"(?:verify|validate|verification|validation|require_approval|requires_approval|require_confirmation|verify_ssl"
    r"|ssl_verify|check_limits?|enforce_\w+|"
    r"check_eligibility|require_auth\w*|safe_mode|respect_limits?|run_hooks|run_checks|check_policy|dry_run_first"
    r"|verify_identity|require_verification|"
    r"run_tests|check_permissions?|validate_\w+|verify_\w+|enforce)$",
    re.IGNORECASE,
)


def bypassing_arguments(arguments: Mapping[str, Any], depth: int = 0) -> Iterator[str]:
    """
    The arguments of a tool call that switch a safeguard off.

    Examples:
    ```python
    >>> arguments = {"id": 7, "force": True, "options": {"skip_verification": "true"}, "ignore_case": True, "skip": 20}
    >>> list(bypassing_arguments(arguments))
    ['force=True', 'skip_verification=true']

    ```
    """
    for name, value in arguments.items():
        if isinstance(value, Mapping):
            if depth < 8:
                yield from bypassing_arguments(value, depth + 1)
        elif isinstance(value, list):
            for item in value[:200]:
                if isinstance(item, Mapping) and depth < 8:
                    yield from bypassing_arguments(item, depth + 1)
                elif isinstance(item, str) and (OPTION.match(item) or DEFINED.match(item)):
                    yield item
                elif isinstance(item, str) and name in ("flags", "options", "features") and _is_bypass_name(item):
                    yield f"{name}={item}"
        elif (
            isinstance(value, str | bool | int)
            and value in _TRUTHY
            and not (value == 1 and type(value) is int and name == "skip")
        ):
            if _is_bypass_name(str(name)):
                yield f"{name}={value}"
        elif value is False or value in ("false", "False", "no"):
            if _PROTECTS.match(str(name)):
                yield f"{name}={value}"
        elif isinstance(value, str) and value.startswith("-") and OPTION.match(value.split()[0]):
            yield value
