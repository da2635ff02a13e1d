"""Who is signed in, what their token may do, and which namespaces are theirs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from huggingface_hub import HfApi
from huggingface_hub.errors import OIDCError

from whileai_hf.errors import ConfigurationError, HubError


# What a token with its own list of permissions needs to change a repo.
_WRITE = "repo.write"


@dataclasses.dataclass(frozen=True)
class Account:
    """
    The account behind a token.

    Args:
        name (`str`):
            Its name, which is its namespace.
        organisations (`list[str]`):
            Organisations it is a member of.
        role (`str`, *optional*):
            What the token may do: `read`, `write` or `fineGrained`; `None` for a token that does not say.
        writes_to (`list[str]`, *optional*):
            Namespaces the token may write to; `None` where the Hub does not say.
    """

    name: str
    organisations: list[str]
    role: str | None
    writes_to: list[str] | None

    @property
    def namespaces(self) -> list[str]:
        """Its own namespace, then those of its organisations."""
        return [self.name, *self.organisations]

    def own(self, namespace: str | None) -> str:
        """
        A namespace that belongs to the account, its own when none is named.

        Raises:
            [`ConfigurationError`]: It is somebody else's.
        """
        if namespace is None:
            return self.name
        if namespace not in self.namespaces:
            raise ConfigurationError(
                f"{namespace!r} is not a namespace of {self.name}; it has {', '.join(self.namespaces)}"
            )
        return namespace

    def repo(self, name: str) -> str:
        """
        The full id of a repo of the account: a bare name is in its own namespace.

        Raises:
            [`ConfigurationError`]: It is no text, or empty.
        """
        if not isinstance(name, str) or not name.strip():
            raise ConfigurationError(f"a repo is named 'namespace/name'; got {name!r:.80}")
        return name if "/" in name else f"{self.name}/{name}"


def read_account(api: HfApi) -> Account:
    """
    Asks the Hub whose token this is.

    Raises:
        [`HubError`]: What is set as the token cannot be one, or none can be had.
    """
    try:
        return account_from(api.whoami())
    except UnicodeEncodeError:
        # Not chained: that error holds the token.
        raise HubError("the token holds a character that no token has; sign in anew with `hf auth login`") from None
    except OIDCError as error:
        raise HubError(f"HF_OIDC_RESOURCE is set, and no token could be had for it ({error}); unset it") from error


def account_from(said: Mapping[str, Any]) -> Account:
    """
    An account from what the Hub says about a token.

    Examples:
    ```python
    >>> token = {"role": "read", "displayName": "laptop"}
    >>> found = account_from({"name": "ada", "orgs": [{"name": "acme"}], "auth": {"accessToken": token}})
    >>> found.name, found.namespaces, found.role, found.writes_to
    ('ada', ['ada', 'acme'], 'read', [])

    ```
    """
    listed = [org for org in said.get("orgs") or () if isinstance(org, Mapping) and isinstance(org.get("name"), str)]
    auth = said.get("auth")
    token = auth.get("accessToken") if isinstance(auth, Mapping) else None
    token = token if isinstance(token, Mapping) else {}
    role = token.get("role")
    names = [org["name"] for org in listed]
    found = Account(str(said.get("name")), names, role if isinstance(role, str) else None, None)
    # A token that may write does so only where its owner may.
    reads = {org["name"] for org in listed if org.get("roleInOrg") == "read"}
    return dataclasses.replace(found, writes_to=_writes_to(found, token, reads))


def _writes_to(account: Account, token: Mapping[str, Any], reads: set[str]) -> list[str] | None:
    if account.role == "write":
        return [name for name in account.namespaces if name not in reads]
    if account.role == "read":
        return []
    fine = token.get("fineGrained")
    if not isinstance(fine, Mapping):
        return None
    found = []
    for scope in fine.get("scoped") or ():
        entity = scope.get("entity") if isinstance(scope, Mapping) else None
        name = entity.get("name") if isinstance(entity, Mapping) else None
        if isinstance(name, str) and _WRITE in (scope.get("permissions") or ()):
            found.append(name)
    return list(dict.fromkeys(found))
