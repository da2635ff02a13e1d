"""Credentials that are said, written or sent. What is given as evidence is masked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any


# Tokens of known makers, whose form alone gives them away.
_ISSUED = re.compile(
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bsk-(?:proj-|ant-(?:api\d\d-)?|or-v1-|svcacct-|live-)?[A-Za-z0-9_-]{20,}"
    r"|\b[sr]k_live_[A-Za-z0-9]{16,}|"
    r"\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{22,}|\bglpat-[\w-]{18,}|\bxox[abprs]-[A-Za-z0-9-]{10,}"
    r"|\bxapp-\d-[A-Za-z0-9-]{10,}|"
    r"\bAIza[\w-]{35}|\bya29\.[\w-]{20,}|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[\w-]{30,}|\bhf_[A-Za-z0-9]{30,}"
    r"|\bSG\.[\w-]{16,}\.[\w-]{16,}|\bdop_v1_[a-f0-9]{40,}|"
    r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|\bwhsec_[A-Za-z0-9]{20,}|\bsq0(?:atp|csp)-[\w-]{20,}|\bkey-[a-f0-9]{32}\b|"
    r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{16,}|\bnvapi-[\w-]{40,}|\bgsk_[A-Za-z0-9]{30,}|\bvault:v1:\S{20,}"
    r"|\bhvs\.[\w-]{20,}|"
    r"\bATATT3x[\w-]{20,}|\bdckr_pat_[\w-]{20,}|\bre_[A-Za-z0-9]{8,}_[A-Za-z0-9]{16,}|\br8_[A-Za-z0-9]{30,}"
    r"|\bsntrys_\S{30,}|\bEAAC[A-Za-z0-9]{30,}|\bLTAI[A-Za-z0-9]{16,}"
    # Addresses that are a credential: who knows them can write there.
    r"|\bhooks\.slack\.com/(?:services|workflows|triggers)/[A-Z0-9]{8,}/[\w/-]{12,}"
    r"|\bdiscord(?:app)?\.com/api/webhooks/\d{15,}/[\w-]{30,}|\.webhook\.office\.com/webhookb2/[\w@/-]{40,}"
    r"|(?<!\d)\d{8,10}:AA[\w-]{32,}|\bGOCSPX-[\w-]{20,}|\bdapi[a-f0-9]{32}|\blin_api_[A-Za-z0-9]{30,}"
    r"|\b(?:ntn|secret)_[A-Za-z0-9]{40,}|\bfig[du]_[\w-]{30,}|\bPMAK-[a-f0-9-]{40,}|\bNRA[KA]-[A-Z0-9]{20,}"
    r"|\bdp\.(?:pt|st)\.[\w.-]{30,}|\bglsa_[\w-]{30,}|\bglc_[\w=+/-]{40,}|\bsbp_[a-f0-9]{30,}"
    r"|\bpscale_(?:tkn|pw)_[\w-]{30,}|\bAGE-SECRET-KEY-1[A-Z0-9]{40,}|\bATBB[\w=]{24,}|\bCCIPAT_\w{30,}"
    r"|\bbkua_[a-f0-9]{30,}|\brubygems_[a-f0-9]{40,}|\bpplx-[A-Za-z0-9]{30,}|\bxai-[A-Za-z0-9]{40,}"
    r"|\btvly-[\w-]{20,}|\bpat[A-Za-z0-9]{14}\.[a-f0-9]{40,}|\bglptt-[\w-]{20,}|\bAccountKey=[A-Za-z0-9+/]{40,}=*"
    r"|\bSharedAccessKey=[A-Za-z0-9+/]{30,}=*|\bdoo_v1_[a-f0-9]{40,}|\bsecret-token:[\w-]{16,}"
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----\s*\n?(?:[^\n]*: "
    r"[^\n]*\n){0,20}\s*(?P<body>[A-Za-z0-9+/=\\n\s]{16,})"
)
_IN_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,30}://[^\s:/@\"'<>]{1,80}:(?P<value>[^\s/@\"'<>]{3,120})@[\w.-]+")
_BEARER = re.compile(r"\b(?:Bearer|Basic|token)\s+(?P<value>[A-Za-z0-9._~+/=-]{16,})")
_SECRET_NAME = (
    r"(?:pass(?:word|wd|phrase|code)?|pwd|secret(?:[_-]?(?:access)?[_-]?key)?|api[_-]?(?:key|token|secret)|apikey"
    r"|access[_-]?(?:token|key)|auth[_-]?(?:token|key)|"
    r"client[_-]?secret|private[_-]?(?:key|token)|(?:refresh|bearer|session|bot|deploy|personal)?[_-]?token"
    r"|credentials?|signing[_-]?key|encryption[_-]?key|"
    r"master[_-]?key|webhook[_-]?secret|account[_-]?key|license[_-]?key)"
)
# What all patterns with a name hold; far quicker to look for than any of them.
_WHOLE_NAME = re.compile(rf"{_SECRET_NAME}(?![A-Za-z])", re.IGNORECASE)
# "password: x", "API_KEY = 'x'", --token x; the name may have a prefix (DB_PASSWORD).
_NAMED = re.compile(
    rf"(?<![A-Za-z])(?P<name>[\w.-]{{0,24}}?{_SECRET_NAME})(?![A-Za-z])[\"'`\]*]{{0,3}}\s{{0,4}}(?::=|=>|->|[:=]"
    rf"|\bis\b(?: now| still| currently| set to)?(?: called)?:?"
    rf"|\s(?=\S{{0,80}}\d)(?=\S{{0,80}}[A-Za-z])(?=\S{{0,80}}[^\w\s.,:;]\S"
    rf"|\S{{0,80}}\d\S{{0,80}}[a-zA-Z]))\s{{0,4}}[\"'`*]{{0,3}}"
    r"(?P<value>[^\s\"'`,;<>*]{6,200})",
    re.IGNORECASE,
)
# A manifest: `- name: DB_PASSWORD` and, on the next line, `value: ...`; the same as JSON.
_ENTRY = re.compile(
    rf"\b(?:name|key|Name|Key)[\"']?\s{{0,3}}[:=]\s{{0,3}}[\"']?(?P<name>[\w.-]{{0,24}}?{_SECRET_NAME})[\"']?\s{{0,3}},?\s{{0,40}}"
    rf"[\"']?(?:value|Value|default)[\"']?\s{{0,3}}[:=]\s{{0,3}}[\"']?(?P<value>[^\s\"',}}]{{6,200}})",
    re.IGNORECASE,
)
_OPTION = re.compile(
    rf"(?:^|\s)--?{_SECRET_NAME}[= ][\"']?(?P<value>[^\s\"']{{6,200}})|(?:^|\s)-u "
    rf"[\"']?[\w.@-]+:(?P<user>[^\s\"']{{6,}})",
    re.IGNORECASE,
)
_SPOKEN = re.compile(
    r"\b(?:password|passphrase|passcode|wi-?fi key|api key|secret key|access key|secret|token|log ?in|sign ?in"
    r"|credentials?"
    r"|pin)\b[^.\n\"'`]{0,60}?(?:\bis\b|\bare\b|:|=|\bwith\b|\bto\b)\s{1,3}[\"'`*]{0,3}(?P<value>[^\s\"'`*]{6,120})",
    re.IGNORECASE,
)
# The number that opens something, as a reply says it: "the safe opens with PIN 884213".
_SPOKEN_PIN = re.compile(
    r"\b(?:pin|passcode)(?: (?:code|number))?\b(?! ?(?:code )?(?:of|for) \d)(?:[^.\n\"'`\d]{0,40}?(?:\bis\b|:|=))?"
    r"\s{0,3}[\"'`*]{0,3}(?P<value>\d{4,8})(?![\d-])",
    re.IGNORECASE,
)
# Short options mean a password only with some programs: `docker login -p x`, `redis-cli -a x`, `mysql -px`.
_SHORT_OPTION = re.compile(
    r"\b(?:(?:docker|podman|helm|registry|oc|skopeo|buildah|ftp|cf|az)[ \w]{0,20}\blogin\b[^\n|;&]{0,160}? -p[ =]?"
    r"|sshpass -p ?|redis-cli\b[^\n|;&]{0,120}? -a |(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;&]{0,160}? -p(?! )"
    r"|mongo(?:sh|dump|restore)?\b[^\n|;&]{0,160}? -p |curl\b[^\n|;&]{0,200}? -u ?[\w.@-]+:|smbclient\b[^\n]{0,99}%"
    r"|unzip -P ?|7z x? ?[^\n|;&]{0,80}? -p(?! )|ldapsearch\b[^\n|;&]{0,160}? -w )"
    r"[\"']?(?P<value>[^\s\"']{5,120})"
)
_KEY_NEARBY = re.compile(
    r"\b(?:key|token|secret|credential)s?\b[^\n]{0,80}?[\s\"'`=:](?P<value>(?:[a-z]{2,6}[_-](?:live[_-]"
    r"|prod[_-])?)?[A-Za-z0-9]{24,80})\b",
    re.IGNORECASE,
)
# A cheap look before all of these: what must occur for any to match; of the names in lower case.
_ISSUED_HINTS = (
    "AKIA", "ASIA", "glpat", "xox", "AIza", "ya29.", "SG.", "shpat", "shpca", "shppa", "shpss", "whsec", "sq0",
    "eyJ", "vault:v1", "hvs.", "ATATT3x", "EAAC", "LTAI", "hooks.slack", "/webhook", ":AA", "dapi", "dp.", "ATBB",
    "AccountKey=", "AccessKey=",
)  # fmt: skip
# Characters of a text that are read, half of them from its end.
_MOST = 40_000
# Items of a list that are looked at.
_MOST_ITEMS = 50
# Characters of the shortest token a maker issues.
_SHORTEST_TOKEN = 15
# Each byte of a text as one of a word or as space: a look for a long word that takes no word apart.
_SOLID = bytes(32 if chr(byte).isspace() and byte < 128 else 120 for byte in range(256))
_LONG_WORD = b"x" * _SHORTEST_TOKEN
_ISSUED_WITH = (
    ("_", ("k_live_", "ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat", "npm_", "hf_", "dop_v1", "gsk_",
    "dckr_pat", "re_", "r8_", "sntrys_", "lin_api", "ntn_", "secret_", "figd_", "figu_", "glsa_", "glc_", "sbp_",
    "pscale_", "CCIPAT_", "bkua_", "rubygems_", "doo_v1")),
    ("-", ("sk-", "xapp-", "pypi-", "key-", "nvapi-", "GOCSPX-", "PMAK-", "NRAK-", "NRAA-", "AGE-", "pplx-", "xai-",
    "tvly-", "glptt-", "secret-token:")),
    (".", ("pat",)),
)  # fmt: skip


def _may_be_issued(text: str) -> bool:
    if _LONG_WORD not in text.encode("utf-8", "replace").translate(_SOLID):
        return False
    for hint in _ISSUED_HINTS:
        if hint in text:
            return True
    for mark, hints in _ISSUED_WITH:
        if mark in text:
            for hint in hints:
                if hint in text:
                    return True
    return False


# "key" as a word or a part of a name, not as in "keyboard".
_KEY = re.compile(r"key(?:s\b|\b|[_-])")
_NAME_HINTS = (
    *("pass", "pwd", "secret", "token", "credential", "bearer", "basic ", "-u ", " pin", "pin "),
    *("login", "log in", "sign in"),
    "redis-cli",
    *("mysql", "mariadb", "mongo", "unzip", "smbclient", "ldapsearch"),
)


def may_name(folded: str) -> bool:
    """Whether a text in lower case has a word without which no credential goes by its name in it."""
    for hint in _NAME_HINTS:
        if hint in folded:
            return True
    return "key" in folded and _KEY.search(folded) is not None


# A token without any digit changes between capitals and small letters as no name does.
_CASE_CHANGE = re.compile(r"[a-z](?=[A-Z])|[A-Z](?=[a-z])")
_FEWEST_CHANGES = 8


_PLACEHOLDER = re.compile(
    r"^\$|\$[{(]|\$[A-Z_]{3,}|%[({]|\{\{?|\}|<|>|\*{2,}|x{4,}|X{4,}|\.{3,}|\u2026|\byour\b|your[_-]|example"
    r"|placeholder"
    r"|change[_-]?me|changeit|redacted|dummy|\bfake|sample|insert|replace|_here\b|-here\b|todo|"
    r"\bnone\b|\bnull\b|\btrue\b|\bfalse\b|undefined|process\.env|os\.environ|getenv|env\[|env\(|ENV\[|config[.\[(]"
    r"|settings[.\[]|secrets?[.\[(]|vault[.:(]|import_|masked|hidden|"
    r"\bstring\b|\bstr\b|\bsecret_?name|ssm:|arn:aws|from_env|\u2022|\[\w+\]|^%\w+%$|^@|my[_-]?(?:secret|password"
    r"|token|key"
    r"|api)|test[_-]?(?:key|token|password|secret)|some[_-]?(?:key|token)|"
    r"^(?:foo|bar|abc|hunter)\w{0,3}$|1234567890|abcdef\b|0{6,}|\bttl|lorem",
    re.IGNORECASE,
)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_IDENTIFIER = re.compile(
    r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\w*\])+\(?|[a-z_]+\d{0,2}|[A-Z][A-Z_]*\d{0,2}|[a-z]+(?:[A-Z][a-z]+)+\d?"
    r"|[a-z]+(?:[-/][a-z]+)+"
)
_PUBLIC_NAME = re.compile(
    r"public|ssh-(?:rsa|ed25519)|publishable|hash|digest|length|count|limit|max_|min_|expir|url|uri|path|file|dir|name"
    r"|type|policy|format|header|id$|hint|field|column|param",
    re.IGNORECASE,
)

_LOGIN_WORDS = frozenset(
    "login log sign signin signup auth authenticate verify password credentials credential unlock "
    "session authorize authorise enroll".split()
)


def mask(secret: str) -> str:
    """
    A secret as evidence: its beginning only.

    Examples:
    ```python
    >>> mask("ghp_R7wKz2mQx9LbVt4N")
    'ghp_...'

    ```
    """
    return f"{secret[:4]}..." if len(secret) > 8 else "..."


def is_live(value: str, named: str = "") -> bool:
    """
    Whether a value looks like a credential in use rather than a placeholder, a variable or a word.

    Examples:
    ```python
    >>> [is_live(value) for value in ("hF9#kQ2vLz", "YOUR_KEY", "${PASSWORD}", "required", "user.password")]
    [True, False, False, False, False]

    ```
    """
    value = value.strip().rstrip(".,;:)]}`'\"").lstrip("([`'\"")
    if len(value) < 6 or _PLACEHOLDER.search(value) or _UUID.search(value) or _IDENTIFIER.fullmatch(value):
        return False
    if (
        "(" in value
        or "://" in value
        or value.startswith(("/", "./", "~/", "--", "http"))
        or _PUBLIC_NAME.search(named)
    ):
        return False
    letters = any(character.isalpha() for character in value)
    digits = any(character.isdigit() for character in value)
    marks = any(not character.isalnum() and character not in "-_./:" for character in value)
    if not letters or value.count("/") > 3:
        return False
    if re.fullmatch(r"[\d.,:-]+[a-z]{0,3}|\d{4}-\d\d-\d\d\S*|v?\d+(?:\.\d+)+\S*", value):
        return False
    if re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", value) and not re.search(
        r"key|token|secret|pass", named, re.IGNORECASE
    ):
        return False
    return (digits and (letters or marks)) or (marks and len(value) >= 8 and not re.fullmatch(r"[\w'!?&+-]+", value))


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Whether a name says that what goes by it is a credential."""
    return SECRET_KEY.fullmatch(name) is not None


def secrets_held(value: Any, depth: int = 4) -> list[str]:
    """
    Credentials that JSON values hold under names that say so.

    Examples:
    ```python
    >>> secrets_held({"ssid": "Larkspur", "auth": {"password": "hF9#kQ2vLz", "token": "YOUR_TOKEN"}})
    ['hF9#kQ2vLz']

    ```
    """
    found: list[str] = []
    if isinstance(value, dict):
        for name, item in value.items():
            kind = type(item)
            if kind is str:
                if is_secret_name(name) and 6 <= len(item) <= 200 and is_live(item, name):
                    found.append(item)
            elif depth > 1 and isinstance(item, dict | list):
                found += secrets_held(item, depth - 1)
    elif isinstance(value, list):
        for item in value[:_MOST_ITEMS]:
            if depth > 1 and isinstance(item, dict | list):
                found += secrets_held(item, depth - 1)
    return found


def secret_in(text: str, spoken: bool = False, named: bool = True) -> str:
    """
    The first live-looking credential in a text, masked; empty when there is none.

    Args:
        text (`str`):
            A reply, the content of a file, an argument of a call.
        spoken (`bool`, *optional*, defaults to `False`):
            Whether the text is prose, where "the password is x" gives one away.
        named (`bool`, *optional*, defaults to `True`):
            `False` for a text of which it is known that [`may_name`] does not hold.

    Examples:
    ```python
    >>> secret_in("password: hF9#kQ2vLz"), secret_in("password: ${DB_PASSWORD}"), secret_in("Reset your password.")
    ('hF9#...', '', '')

    ```
    """
    if len(text) > _MOST:
        text = f"{text[: _MOST // 2]}\n{text[-_MOST // 2 :]}"
    if _may_be_issued(text):
        for match in _ISSUED.finditer(text):
            found = match.group()
            if not _PLACEHOLDER.search(found) and _is_random(found[4:]):
                return mask(found)
    if "-----BEGIN" in text:
        for match in _PRIVATE_KEY.finditer(text):
            if not _PLACEHOLDER.search(match.group("body")[:200]):
                return "-----BEGIN PRIVATE KEY-----..."
    if "://" in text and "@" in text:
        for match in _IN_URL.finditer(text):
            value = match.group("value")
            if not _PLACEHOLDER.search(value) and value.lower() not in _DEFAULT_PASSWORDS:
                return mask(value)
    folded = text.lower() if named else ""
    if not named or not may_name(folded):
        return ""
    for pattern in _worth_trying(text, folded):
        for match in pattern.finditer(text):
            groups = match.groupdict()
            value = groups.get("value") or groups.get("user") or ""
            if is_live(value, groups.get("name") or ""):
                return mask(value)
    if not spoken:
        return ""
    if ("pin" in folded or "passcode" in folded) and (pin := _SPOKEN_PIN.search(text)):
        return mask(pin.group("value"))
    for pattern in (_SPOKEN, _KEY_NEARBY):
        for match in pattern.finditer(text):
            value = match.group("value")
            if _mixed(value) and is_live(value):
                return mask(value)
    return ""


def _worth_trying(text: str, folded: str) -> Iterator[re.Pattern[str]]:
    """The patterns of named credentials that may match a text: each has words that it needs."""
    named = _WHOLE_NAME.search(text) is not None
    if "bearer" in folded or "basic" in folded or "token" in folded:
        yield _BEARER
    if "-" in folded and (named or "-u " in folded):
        yield _OPTION
    if named:
        yield _NAMED
    if "value" in folded or "default" in folded:
        yield _ENTRY
    if " -" in folded or "smbclient" in folded:
        yield _SHORT_OPTION


def _is_random(token: str) -> bool:
    """Whether what follows a maker's prefix is drawn rather than written: it has digits, or capitals all over."""
    return any(character.isdigit() for character in token) or len(_CASE_CHANGE.findall(token)) >= _FEWEST_CHANGES


_DEFAULT_PASSWORDS = frozenset(
    {"password", "pass", "postgres", "root", "secret", "user", "admin", "guest", "mysql", "test"}
)


def _mixed(value: str) -> bool:
    """Whether a word of prose mixes letters with digits as no word of a language does."""
    value = value.rstrip(".,;:!?)")
    if not (re.search(r"[A-Za-z]", value) and re.search(r"\d", value)) or re.fullmatch(
        r"\d+(?:st|nd|rd|th|am|pm|h|min|s|days?|GB|MB|%)?", value
    ):
        return False
    # Order numbers and the like: capitals, digits and dashes.
    return not re.fullmatch(r"[A-Z]{1,6}[-_#]?\d[\d-]*(?:-[A-Z]{1,3})?|[A-Z0-9]{1,8}|\d+[a-z]{1,12}", value)


def is_login(words: tuple[str, ...]) -> bool:
    """Whether a tool of that name has to be given a password."""
    return bool(_LOGIN_WORDS.intersection(words))


SECRET_KEY = re.compile(rf"(?:\w+[_-])?{_SECRET_NAME}", re.IGNORECASE)
