"""Recognises secrets in text: keys, tokens, passwords, card and account numbers.

The patterns are our own. Each scan is linear in the length of the text: a pattern either begins
where a run of characters begins, or has a bounded length.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from app.domain.numbers import is_payment_card, measure_iban


class SecretKind(StrEnum):
    """What a secret opens or names."""

    AWS_KEY = "aws_key"
    GITHUB_TOKEN = "github_token"  # noqa: S105 - the name of a kind
    GITLAB_TOKEN = "gitlab_token"  # noqa: S105 - the name of a kind
    SLACK_TOKEN = "slack_token"  # noqa: S105 - the name of a kind
    STRIPE_KEY = "stripe_key"
    GOOGLE_KEY = "google_key"
    MODEL_KEY = "model_key"
    SERVICE_TOKEN = "service_token"  # noqa: S105 - the name of a kind
    JWT = "jwt"
    BEARER_TOKEN = "bearer_token"  # noqa: S105 - the name of a kind
    PRIVATE_KEY = "private_key"
    URL_PASSWORD = "url_password"  # noqa: S105 - the name of a kind
    PASSWORD = "password"  # noqa: S105 - the name of a kind
    CARD_NUMBER = "card_number"
    IBAN = "iban"
    PIN = "pin"


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret's kind and place in the text, in characters, half-open."""

    kind: SecretKind
    start: int
    end: int


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Return the secrets in the text in their order. None overlaps another."""
    matches = [secret for find in _FINDERS for secret in find(text)]
    matches.sort(key=lambda secret: (secret.start, -secret.end))
    secrets: list[Secret] = []
    for secret in matches:
        if not secrets or secret.start >= secrets[-1].end:
            secrets.append(secret)
    return tuple(secrets)


# How the mark of a redacted secret begins.
REDACTED = "[redacted: "


def redact_secrets(text: str) -> tuple[str, int]:
    """Return the text with `[redacted: KIND]` for each secret, and the number of secrets."""
    secrets = find_secrets(text)
    parts = []
    end = 0
    for secret in secrets:
        parts.append(text[end : secret.start])
        parts.append(f"{REDACTED}{secret.kind}]")
        end = secret.end
    parts.append(text[end:])
    return "".join(parts), len(secrets)


# Shapes of keys and tokens that their makers document. A key begins at the start of a run of
# letters, digits, "_" and "-", so that each run is read once.
_RUN_STARTS = r"(?<![A-Za-z0-9_-])"
_RUN_ENDS = r"(?![A-Za-z0-9_-])"
_SHAPES = {
    SecretKind.AWS_KEY: r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}",
    SecretKind.GITHUB_TOKEN: r"gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{40,120}",
    SecretKind.GITLAB_TOKEN: r"gl(?:pat|ptt|dt|rt|cbt|oas|soat)-[A-Za-z0-9_-]{20,64}",
    SecretKind.SLACK_TOKEN: r"xox[abeoprs]-[A-Za-z0-9-]{10,250}|xapp-\d-[A-Za-z0-9-]{20,250}",
    SecretKind.STRIPE_KEY: r"[sr]k_(?:live|test)_[A-Za-z0-9]{10,250}|whsec_[A-Za-z0-9]{24,64}",
    SecretKind.GOOGLE_KEY: r"AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{28}|ya29\.[\w-]{20,500}",
    SecretKind.SERVICE_TOKEN: (
        r"hf_[A-Za-z0-9]{30,40}|npm_[A-Za-z0-9]{36}|pypi-AgE[A-Za-z0-9_-]{50,500}"
        r"|SG\.[\w-]{16,32}\.[\w-]{32,64}|do[opr]_v1_[a-f0-9]{64}|shp(?:at|ss|ca|pa)_[A-Fa-f0-9]{32}"
        r"|SK[a-f0-9]{32}|\d{8,10}:AA[A-Za-z0-9_-]{33}|dckr_pat_[A-Za-z0-9_-]{20,64}"
    ),
    SecretKind.JWT: r"eyJ[\w-]{8,4000}\.eyJ[\w-]{8,8000}\.[\w-]{8,2000}",
}
_SHAPE = re.compile(
    "|".join(f"{_RUN_STARTS}(?P<{kind}>{shape}){_RUN_ENDS}" for kind, shape in _SHAPES.items()),
    re.ASCII,
)
_MODEL_KEY = re.compile(rf"{_RUN_STARTS}(?:sk|gsk|xai|pplx)[-_][A-Za-z0-9_-]{{20,250}}{_RUN_ENDS}")
_SLACK_HOOK = re.compile(r"hooks\.slack\.com/services/(T\w{6,20}/B\w{6,20}/\w{16,40})")


def _find_shapes(text: str) -> Iterator[Secret]:
    for match in _SHAPE.finditer(text):
        yield Secret(SecretKind(str(match.lastgroup)), match.start(), match.end())
    for match in _SLACK_HOOK.finditer(text):
        yield Secret(SecretKind.SLACK_TOKEN, match.start(1), match.end(1))
    for match in _MODEL_KEY.finditer(text):
        if _looks_random(match[0], least_bits=3.0):
            yield Secret(SecretKind.MODEL_KEY, match.start(), match.end())


_KEY_BEGINS = re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_ENDS = re.compile(r"-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_LINE = re.compile(r"\s{0,4}[A-Za-z0-9+/=]{16,}(?=\s|\Z)")


def _find_private_keys(text: str) -> Iterator[Secret]:
    """Yield each block from its first line to its last, or to the end of its base64."""
    ends = [match.end() for match in _KEY_ENDS.finditer(text)]
    ends.reverse()
    covered = 0
    for match in _KEY_BEGINS.finditer(text):
        if match.start() < covered:
            continue
        while ends and ends[-1] < match.end():
            ends.pop()
        covered = ends[-1] if ends else _find_body_end(text, match.end())
        yield Secret(SecretKind.PRIVATE_KEY, match.start(), covered)


def _find_body_end(text: str, start: int) -> int:
    """Return the end of the lines of base64 that follow a block's first line."""
    end = start
    while line := _KEY_LINE.match(text, end):
        end = line.end()
    return end


# The user's name stays readable: only the password is a secret.
_URL_PASSWORD = re.compile(r"://[^\s:/@?#]{0,64}:([^\s/@?#]{3,128})@[\w.\[-]")


def _find_url_passwords(text: str) -> Iterator[Secret]:
    for match in _URL_PASSWORD.finditer(text):
        if not _is_placeholder(match[1]):
            yield Secret(SecretKind.URL_PASSWORD, match.start(1), match.end(1))


_ASSIGNED = re.compile(
    r"""
    (?:(?P<password>pass(?:word|wd|phrase|code)|pwd)
      |secret(?:[ _-]?(?:access[ _-]?)?key)?
      |(?:api|access|auth|account|encryption|signing|private)[ _-]?(?:key|token|secret)
      |token|credentials?
    )
    (?![A-Za-z])["'`]?
    \s{0,3} (?:=>|:=|[:=]|\ is\ (?:now\ )?|\ was\ ) \s{0,3}
    (?:["'`](?P<quoted>[^"'`\n]{6,200})["'`] | (?P<bare>[^\s"'`,;<>()]{6,200}))
    """,
    re.VERBOSE | re.IGNORECASE,
)


def _find_assigned(text: str) -> Iterator[Secret]:
    """Yield the values that are assigned to names such as "password" and "token"."""
    for match in _ASSIGNED.finditer(text):
        group = "quoted" if match["quoted"] else "bare"
        value = match[group].rstrip(".!?:")
        is_password = match["password"] is not None
        if _is_secret_value(value, is_password=is_password):
            kind = SecretKind.PASSWORD if is_password else SecretKind.SERVICE_TOKEN
            yield Secret(kind, match.start(group), match.start(group) + len(value))


_BEARER = re.compile(r"\b(?:bearer|basic)\s{1,3}([A-Za-z0-9._~+/=-]{16,4000})", re.IGNORECASE)


def _find_bearers(text: str) -> Iterator[Secret]:
    for match in _BEARER.finditer(text):
        if _looks_random(match[1], least_bits=3.0):
            yield Secret(SecretKind.BEARER_TOKEN, match.start(1), match.end(1))


# Digits in one run, or in the groups in which they are printed on cards.
_CARD = re.compile(
    r"(?<![\w.+-])(?:\d{14,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}|\d{4}([ -])\d{6}\2\d{4,5})(?![\w-])"
)
_OTHER_NUMBER = re.compile(
    r"(?:order|tracking|invoice|imei|isbn|issn|ean|serial|parcel|reference|ref|case|ticket|id)\b"
    r"[^\n\d]{0,16}\Z",
    re.IGNORECASE,
)


def _find_cards(text: str) -> Iterator[Secret]:
    for match in _CARD.finditer(text):
        before = text[max(0, match.start() - 32) : match.start()]
        if is_payment_card(match[0]) and not _OTHER_NUMBER.search(before):
            yield Secret(SecretKind.CARD_NUMBER, match.start(), match.end())


# The longest IBAN has 34 characters, with eight spaces when it is printed in groups.
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}")


def _find_ibans(text: str) -> Iterator[Secret]:
    for match in _IBAN.finditer(text):
        length = measure_iban(match[0])
        if length:
            yield Secret(SecretKind.IBAN, match.start(), match.start() + length)


# A PIN is told from other numbers by the words before it. A card's code has three digits or four.
_PIN = re.compile(
    r"\b(?:(?:pin|passcode)(?:[ -]?(?:code|number))?(?: (?:for|of|to|at|on) [A-Za-z' ]{1,30}?)?"
    r"(?:'s)?(?=\D{0,12}\d{4})|cv[vc]2?)"
    r"\s{0,2}(?:is(?: now| still)?|was|to|[:=])?\s{0,2}[\"'`]?(\d{3,8})(?!\w|[.,/:-]\d)",
    re.IGNORECASE,
)


def _find_pins(text: str) -> Iterator[Secret]:
    for match in _PIN.finditer(text):
        yield Secret(SecretKind.PIN, match.start(1), match.end(1))


_FINDERS: tuple[Callable[[str], Iterator[Secret]], ...] = (
    _find_private_keys,
    _find_shapes,
    _find_url_passwords,
    _find_assigned,
    _find_bearers,
    _find_cards,
    _find_ibans,
    _find_pins,
)


_PLACEHOLDER = re.compile(
    r"[*•xX.#_-]+|<.*|\[.*|\{.*|\$.*|%.*|.*\.\.\..*|.*\*\*\*.*"
    r"|(?:os|process|env|settings|config|self|request)\..*"
    r"|(?:your|my|example|changeme|change[_-]me|placeholder|redacted|none|null|true|false).*",
    re.IGNORECASE | re.DOTALL,
)
# Values of settings that share a name with secrets: dates, versions, paths, calls, plain numbers.
_PLAIN_VALUE = re.compile(r"v?\d+(?:[.:/-]\d+)*|(?:~|\.{1,2})?/.*|\w+\(.*|https?://.*", re.DOTALL)


def _is_placeholder(value: str) -> bool:
    return _PLACEHOLDER.fullmatch(value) is not None


def _is_secret_value(value: str, *, is_password: bool) -> bool:
    """Return True for a value that no ordinary word or setting looks like.

    A password mixes letters with digits or marks; a token has eight characters or more and looks
    random too.
    """
    if len(value) < 6 or _is_placeholder(value) or _PLAIN_VALUE.fullmatch(value):
        return False
    if " " in value:
        return False
    if is_password:
        return _count_classes(value) >= 2 and not _is_compound_word(value)
    return len(value) >= 12 and _looks_random(value, least_bits=3.0)


def _count_classes(value: str) -> int:
    """Return how many of letters, digits and marks the value has."""
    return (
        any(character.isalpha() for character in value)
        + any(character.isdigit() for character in value)
        + any(not character.isalnum() for character in value)
    )


_COMPOUND = re.compile(r"[A-Za-z]+(?:['’_/.-][A-Za-z]+)*")


def _is_compound_word(value: str) -> bool:
    """Return True for words that hyphens, dots or underscores tie together."""
    return _COMPOUND.fullmatch(value) is not None


def _looks_random(value: str, *, least_bits: float) -> bool:
    """Return True for a value with digits and letters and at least so many bits a character."""
    has_digit = any(character.isdigit() for character in value)
    has_letter = any(character.isalpha() for character in value)
    return has_digit and has_letter and _measure_entropy(value) >= least_bits


def _measure_entropy(value: str) -> float:
    """Return the Shannon entropy of the characters, in bits a character."""
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)
