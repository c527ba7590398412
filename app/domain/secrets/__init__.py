"""Recognises secrets in text: keys, tokens, passwords, and the numbers of cards and people.

The rules of vendors' tokens are those of gitleaks, carried as data, and some of our own. Each
scan is linear in the length of the text: a pattern either begins where a run of characters begins,
or has a bounded length.
"""

from app.domain.secrets.finding import (
    REDACTED,
    find_secrets,
    find_tokens,
    redact_named_value,
    redact_secrets,
)
from app.domain.secrets.kinds import Secret, SecretKind

__all__ = [
    "REDACTED",
    "Secret",
    "SecretKind",
    "find_secrets",
    "find_tokens",
    "redact_named_value",
    "redact_secrets",
]
