"""Cuts a text into tokens: words, names, typed values and marks."""

import re
import unicodedata
from itertools import pairwise

from app.classification.signals import lexicon, values
from app.classification.signals.headless import with_speaker
from app.classification.signals.lemma import IRREGULAR, reduce_to_lemma
from app.classification.signals.plain import normalise_text
from app.classification.signals.token import Token

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
    if norm in values.WEEKDAYS and text[0].isupper():
        return Token(text, norm, "habit" if low.endswith("days") else "weekday")
    return Token(text, norm, "word")


_MARKS_AROUND = frozenset("&*|^@\\")


def _is_punctuation(symbol: str) -> bool:
    """Return True if a mark outside of words says nothing: quotes and bullets, unlike arrows, emoji
    and comparisons.
    """
    return symbol in _MARKS_AROUND or (
        not symbol.isascii() and unicodedata.category(symbol)[0] in "PZC"
    )


def _scan_tokens(text: str) -> list[Token]:
    tokens = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "word"
        piece = match[0]
        if kind == "word":
            tokens.append(_make_word_token(piece))
        elif kind == "symbol":
            tokens += [] if _is_punctuation(piece) else [Token(piece, piece, "word")]
        elif kind in ("mark", "possessive"):
            tokens.append(Token(piece, piece.strip() if kind == "mark" else "'s", kind))
        else:
            tokens.append(Token(piece, values.normalise_value(kind, piece), kind))
    return tokens


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
    return (
        following.norm in lexicon.AUXILIARIES
        or following.text.endswith(("s", "ed"))
        or following.text in IRREGULAR
        or following.is_value
        or following.norm in ("and", ",", ":")
    )


def _name_numbered_users(tokens: list[Token]) -> None:
    """ "User 12" is somebody, not the speaker."""
    for i, (token, following) in enumerate(pairwise(tokens)):
        numbered = following.is_value or (
            following.norm in ("number", "id") and i + 2 < len(tokens) and tokens[i + 2].is_value
        )
        if token.kind == "word" and token.norm == "user" and numbered:
            tokens[i] = Token(token.text, token.norm, "name")


def _find_following(tokens: list[Token], place: int) -> Token | None:
    """Return the next token that is no adverb or support word."""
    for at in range(place + 1, len(tokens)):
        if tokens[at].norm not in _ADVERBS:
            return tokens[at]
    return None


def tokenize(text: str) -> tuple[Token, ...]:
    """Tokens of the text in order. Names are capitalised words that do not owe it to the start of a
    sentence.
    """
    tokens = with_speaker(_scan_tokens(normalise_text(text)))
    _name_numbered_users(tokens)
    starts = True
    for i, token in enumerate(tokens):
        is_capitalised = token.kind == "word" and token.text != token.text.lower()
        if is_capitalised and token.text not in ("I", "The", "An"):
            is_name = not starts or _starts_name(token, _find_following(tokens, i))
            if is_name:
                tokens[i] = Token(token.text, token.text.lower().rstrip("."), "name")
        starts = token.norm in (".", "!", "?") or (starts and token.norm in ("(", '"'))
    return tuple(tokens)
