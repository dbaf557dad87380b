"""The one place that holds keys read on this machine: records of facts carry a token such as "<key-1>" instead.

A vault lives as long as one run and is never written anywhere. Who needs the real key (the request that tries it, the
redactor that hides it) asks the vault.
"""

from __future__ import annotations

import re
from itertools import islice

_TOKEN = re.compile(r"<key-\d+>")


class Vault:
    """Secrets and their tokens. The same secret always gets the same token, so two equal keys are seen to be equal."""

    def __init__(self) -> None:
        self._secrets: dict[str, str] = {}
        self._tokens: dict[str, str] = {}

    @property
    def count(self) -> int:
        """How many secrets are known. (Not `len`: an empty vault must not be false, it is still the vault.)"""
        return len(self._tokens)

    def put(self, secret: str) -> str:
        """The token that stands for `secret`; "" and what already is a token come back as they are."""
        if not secret or _TOKEN.fullmatch(secret):
            return secret
        token = self._tokens.get(secret)
        if token is None:
            token = f"<key-{len(self._tokens) + 1}>"
            self._tokens[secret] = token
            self._secrets[token] = secret
        return token

    def get(self, token: str) -> str:
        """The secret behind a token; any other text (a key that was never hidden) comes back as it is."""
        return self._secrets.get(token, token)

    def secrets(self, most: int | None = None) -> tuple[str, ...]:
        """Every secret (or the first `most`), in the order of their tokens: what the redactor must hide."""
        return tuple(islice(self._tokens, most))
