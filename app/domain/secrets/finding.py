"""Finds the secrets of a text, and takes them out."""

from collections.abc import Callable, Iterable, Iterator

from app.domain.secrets import mentions, numbers, passwords, seed_phrases, tokens
from app.domain.secrets.kinds import Secret
from app.domain.secrets.vendor_rules import find_vendor_tokens
from app.domain.secrets.visible_text import find_end_of_wrapped, fold_visible_text

Finder = Callable[[str], Iterator[Secret]]

_OF_TOKENS: tuple[Finder, ...] = (
    tokens.find_private_keys,
    tokens.find_shapes,
    find_vendor_tokens,
)
# Of two kinds for the same words, the first counts.
_OF_SECRETS: tuple[Finder, ...] = (
    *_OF_TOKENS,
    tokens.find_likely_tokens,
    tokens.find_wallet_keys,
    tokens.find_url_passwords,
    tokens.find_bearers_and_cookies,
    numbers.find_cards,
    numbers.find_ibans,
    numbers.find_pins,
    numbers.find_identity_numbers,
    seed_phrases.find_seed_phrases,
    passwords.find_assigned,
    passwords.find_spoken_of,
    passwords.find_pairs,
    passwords.find_options,
    passwords.find_mixed,
    mentions.find_mentioned,
)


def find_secrets(text: str, own: tuple[str, ...] = ()) -> tuple[Secret, ...]:
    """Return the secrets in the text in their order. None overlaps another.

    `own` are keys of the service itself, which may have any form.
    """
    return _find(_OF_SECRETS, text, own)


def find_tokens(text: str, own: tuple[str, ...] = ()) -> tuple[Secret, ...]:
    """Return the keys and tokens that their shape alone tells; no name or id looks like them."""
    return _find(_OF_TOKENS, text, own)


def _find(finders: Iterable[Finder], text: str, own: tuple[str, ...]) -> tuple[Secret, ...]:
    folded, places = fold_visible_text(text)
    matches = [secret for find in finders for secret in find(folded)]
    matches += tokens.find_own_keys(folded, own)
    matches.sort(key=lambda secret: (secret.start, -secret.end))
    starts = {secret.start for secret in matches}
    secrets: list[Secret] = []
    end = 0
    for secret in matches:
        # Of two that overlap, both go: under the kind of the first.
        if secret.end <= end:
            continue
        start = max(secret.start, end)
        end = find_end_of_wrapped(folded, start, secret.end, starts)
        secrets.append(Secret(secret.kind, places[start], places[end - 1] + 1))
    return tuple(secrets)


# How the mark of a redacted secret begins.
REDACTED = "[redacted: "


def redact_secrets(text: str, own: tuple[str, ...] = ()) -> tuple[str, int]:
    """Return the text with `[redacted: KIND]` for each secret, and the number of secrets."""
    secrets = find_secrets(text, own)
    return _replace(text, secrets), len(secrets)


def redact_named_value(name: str, text: str, own: tuple[str, ...] = ()) -> tuple[str, int]:
    """Do the same with the value of a field; a name such as "password" makes it a secret."""
    head = f'{name}: "'
    behind = [
        Secret(secret.kind, secret.start - len(head), min(secret.end - len(head), len(text)))
        for secret in find_secrets(f'{head}{text}"', own)
        if secret.start >= len(head)
    ]
    return _replace(text, behind), len(behind)


def _replace(text: str, secrets: Iterable[Secret]) -> str:
    parts = []
    end = 0
    for secret in secrets:
        parts.append(text[end : secret.start])
        parts.append(f"{REDACTED}{secret.kind}]")
        end = secret.end
    parts.append(text[end:])
    return "".join(parts)
