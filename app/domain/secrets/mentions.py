"""Values in sentences that speak of a secret, wherever in the sentence they stand."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cache

from app.domain.secrets.kinds import Secret, SecretKind
from app.domain.secrets.numbers import PAPERS, is_letters_and_digits
from app.domain.secrets.passwords import KEY, PASSWORDS
from app.domain.secrets.randomness import is_placeholder, looks_random

_SENTENCE = re.compile(r"[^\n]+?(?:[.?!:]\s+(?=[A-Z\"'(\d])|\n|\Z)")
# What has the name of its algorithm before it is a hash or a public key.
_WORD = re.compile(r"SHA\d+:\S{1,400}|ssh-\w{1,12} \S{1,400}|[^\s=:\"'`“”‘’«»()<>,;|]{4,400}")

# Times, versions, numbers with units, tickets, addresses, paths, files, functions and fields.
_ORDINARY = re.compile(
    r"v?\d[\d.:/,+-]*[a-z%]{0,5}\d?|[a-z]{1,5}\d+|[a-z]{1,12}[-#]\d{1,2}|(?-i:[A-Z]{2,10})-?[\d.]+"
    r"|ssh-.*|.*[/\\@].*|\w+\(.*"
    r"|[\w-]+\.[a-z]{2,5}|[A-Za-z]+(?:[_.-][A-Za-z]+)+[_.-]?\d?|\d{1,4}[a-z]{0,3}-[a-z-]+\d*"
    r"|(?:argon2|sha-?\d|md5|pbkdf2|base64|utf-?8|oauth2)\w*(?::.*)?",
    re.IGNORECASE,
)
_HASH = re.compile(
    r"(?:0x)?[0-9a-f]{7,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE
)
_DATE = re.compile(r"(?:19|20)\d\d-\d\d?-\d\d?|\d\d?-\d\d?-(?:19|20)\d\d")
_YEAR = re.compile(r"(?:19|20)\d\d")


def _is_strong_password(word: str) -> bool:
    """Return True for a word of at least seven characters with letters, and digits or marks."""
    bare = word.strip(".:?!")
    if len(bare) < 7:
        return False
    digits = sum(character.isdigit() for character in bare)
    marks = sum(not character.isalnum() and character not in "-'’._" for character in bare)
    letters = sum(character.isalpha() for character in bare)
    return (
        letters >= 2
        and (digits >= 2 or (digits + marks >= 2))
        and not (is_placeholder(bare) or _ORDINARY.fullmatch(bare) or _HASH.fullmatch(bare))
    )


def _is_pin(word: str) -> bool:
    bare = word.strip(".:?!#*")
    return bare.isdigit() and 4 <= len(bare) <= 8 and not _YEAR.fullmatch(bare)


def _is_identity_number(word: str) -> bool:
    bare = word.strip(".:?!")
    if len(bare) < 6:
        return False
    digits = sum(character.isdigit() for character in bare)
    return is_letters_and_digits(bare) or (
        digits >= 6
        and not _DATE.fullmatch(bare)
        and re.fullmatch(r"[A-Za-z]{0,6}[\d-]+[A-Za-z\d-]{0,8}", bare) is not None
    )


def _is_token(word: str) -> bool:
    bare = word.strip(".:?!")
    return (
        len(bare) >= 20
        and looks_random(bare, least_bits=3.5)
        and not (is_placeholder(bare) or _ORDINARY.fullmatch(bare) or _HASH.fullmatch(bare))
    )


def _is_hex_token(word: str) -> bool:
    bare = word.strip(".:?!")
    is_address = len(bare) == len("0x") + 40
    return (
        len(bare) >= 32
        and not is_address
        and looks_random(bare, least_bits=2.5)
        and bool(_HASH.fullmatch(bare))
    )


_MENTIONS: tuple[tuple[SecretKind, re.Pattern[str], Callable[[str], bool]], ...] = (
    (
        SecretKind.PASSWORD,
        re.compile(
            rf"{PASSWORDS}|\bpw\b|\blogin|credential|\bcreds\b|\bunlock|wi-?fi"
            r"|\b(?:log|sign)(?:s|ged|ed|ging|ing)?[ -](?:(?:me|you|us)\s)?in\b|\bsudo\b",
            re.IGNORECASE,
        ),
        _is_strong_password,
    ),
    (
        SecretKind.PIN,
        re.compile(
            r"\bpin\b(?!\s(?:the|it|this|that|to|down))|passcode|unlock|voicemail", re.IGNORECASE
        ),
        _is_pin,
    ),
    (
        SecretKind.IDENTITY_NUMBER,
        re.compile(
            rf"\b(?:{'|'.join(PAPERS)})(?:nummer|\b)|national id\b|tax id|taxpayer",
            re.IGNORECASE,
        ),
        _is_identity_number,
    ),
    (
        SecretKind.SERVICE_TOKEN,
        re.compile(
            rf"\b(?:api|secret|access|signing|private|root)\b|(?<!public )(?:\b|-){KEY}s?\b|token",
            re.IGNORECASE,
        ),
        _is_token,
    ),
    (
        SecretKind.SERVICE_TOKEN,
        re.compile(
            rf"(?:api|auth|access|secret|private|signing|bearer)[ _-]?(?:{KEY}|secret)"
            rf"|{KEY} (?:de la |d['’])?(?:api|acc|secr|priv)",
            re.IGNORECASE,
        ),
        _is_hex_token,
    ),
)
# No value that is looked for is without one.
_DIGIT_OR_MARK = re.compile(r"\d|[^\w\s.,;:'’\"()-]")


def find_mentioned(text: str) -> Iterator[Secret]:
    """Yield what looks like a secret in a sentence that names one, and in the sentence after it."""
    words = [word for word in _WORD.finditer(text) if _DIGIT_OR_MARK.search(word[0])]
    if not words:
        return
    sentences = [sentence.span() for sentence in _SENTENCE.finditer(text)]
    starts = [start for start, _ in sentences]

    @cache
    def is_mentioned(place: int, mention: re.Pattern[str]) -> bool:
        start, end = sentences[max(0, place - 1)][0], sentences[place][1]
        return mention.search(text, start, end) is not None

    for word in words:
        place = bisect_right(starts, word.start()) - 1
        for kind, mention, is_value in _MENTIONS:
            if is_value(word[0]) and is_mentioned(place, mention):
                yield Secret(kind, word.start(), word.start() + len(word[0].rstrip(".:?")))
                break
