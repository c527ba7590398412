"""Cuts a text into tokens: words, names, typed values and marks."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from app.classification.signals import lexicon, values
from app.classification.signals.headless import with_speaker
from app.classification.signals.lemma import IRREGULAR, reduce_to_lemma
from app.classification.signals.plain import normalise_text
from app.classification.signals.token import Token
from app.domain.dates.names import WEEKDAY_NAMES

_INITIALS = r"(?:[A-Za-z]\.){2,}|[A-Z]\.(?=\s[A-Z])|(?:Mr|Mrs|Ms|Dr|Jr|Sr|St|Prof)\."
_JOINED = r"(?:[./-]|'(?!s\b))(?=[^\W\d_])"
_STEM = rf"[^\W\d_]\w*(?:{_JOINED}\w+)*"
_MARKED = r"(?<![\w/-])(?:--?|\.|_+)(?=[^\W\d_])"  # ".NET", "--force", "_private"
_GRADE = r"\b[A-Z]{1,2}-(?![\w-])"  # "B-", "AB-"
_PLAIN_WORD = rf"{_GRADE}|(?:{_MARKED})?{_STEM}(?:\+\+?|#)?(?![^\W_])"
_SYMBOL = r"<?--?>|[<>=~^|*+&@\\]+|[^\x00-\x7f\w\s]"
_TOKEN = re.compile(
    rf"{values.PATTERN}|(?P<possessive>'s\b|(?<=s)'(?=\s))"
    rf"|(?P<word>{_INITIALS}|{_PLAIN_WORD}|{_STEM})"
    rf"|(?P<mark>[:;,?!().]|\s-\s)|(?P<symbol>{_SYMBOL})"
)


def _make_word_token(text: str) -> Token:
    low = text.lower()
    if text.isupper() and low in lexicon.UNIQUE_ROLES:
        return Token(low, reduce_to_lemma(low), "word")
    if low in values.NUMBER_WORDS and low not in ("one",):
        return Token(text, values.NUMBER_WORDS[low], "number")
    norm = reduce_to_lemma(low)
    if norm in WEEKDAY_NAMES and text[0].isupper():
        return Token(text, norm, "habit" if low.endswith("days") else "weekday")
    return Token(text, norm, "word")


# Outside of words these say nothing, nor do quotes and bullets. Arrows, emoji and comparisons do.
_MARKS_AROUND = frozenset("&*|^@\\")


def _scan_tokens(text: str) -> Iterator[Token]:
    for scanned in _TOKEN.finditer(text):
        kind, piece = scanned.lastgroup or "word", scanned[0]
        match kind:
            case "word":
                yield _make_word_token(piece)
            case "symbol":
                is_foreign_mark = not piece.isascii() and unicodedata.category(piece)[0] in "PZC"
                if piece not in _MARKS_AROUND and not is_foreign_mark:
                    yield Token(piece, piece, "word")
            case "mark":
                yield Token(piece, piece.strip(), kind)
            case "possessive":
                yield Token(piece, "'s", kind)
            case _:
                yield Token(piece, values.normalise_value(kind, piece), kind)


_ADVERBS = lexicon.SUPPORT | frozenset(
    "only never often always usually rarely seldom mostly sometimes once no not".split()
)


def _starts_name(token: Token, following: Token | None) -> bool:
    """Return True if the capitalised first word of a sentence is a name: nothing else tells but
    what comes next.
    """
    if token.text.lower() in lexicon.STARTERS or token.norm in lexicon.STARTERS:
        return False
    if token.text[1:] != token.text[1:].lower():
        return True
    if following is None:
        return False
    if following.kind == "possessive" or (following.kind == "word" and following.text[0].isupper()):
        return True
    if following.norm in lexicon.AUXILIARIES or following.norm in ("and", ",", ":"):
        return True
    is_inflected = following.text.endswith(("s", "ed")) or following.text in IRREGULAR
    return is_inflected or following.is_value


def tokenize(text: str) -> tuple[Token, ...]:
    """Tokens of the text in order. Names are capitalised words that do not owe it to the start of a
    sentence.
    """
    tokens = with_speaker(list(_scan_tokens(normalise_text(text))))
    for i, (token, following) in enumerate(pairwise(tokens)):
        # "User 12" is somebody, not the speaker.
        has_id = following.norm in ("number", "id") and i + 2 < len(tokens)
        is_numbered = following.is_value or (has_id and tokens[i + 2].is_value)
        if token.kind == "word" and token.norm == "user" and is_numbered:
            tokens[i] = Token(token.text, token.norm, "name")
    starts = True
    for i, token in enumerate(tokens):
        is_capitalised = token.kind == "word" and token.text != token.text.lower()
        if is_capitalised and token.text not in ("I", "The", "An"):
            after = next((t for t in tokens[i + 1 :] if t.norm not in _ADVERBS), None)
            if not starts or _starts_name(token, after):
                tokens[i] = Token(token.text, token.text.lower().rstrip("."), "name")
        starts = token.norm in (".", "!", "?") or (starts and token.norm in ("(", '"'))
    return tuple(tokens)
