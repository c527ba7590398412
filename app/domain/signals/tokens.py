"""Cuts a text into tokens: words, names, typed values and marks."""

import re
from dataclasses import dataclass

from app.domain.signals import lexicon, values
from app.domain.signals.lemma import lemma
from app.domain.signals.plain import plain

_INITIALS = r"(?:[A-Za-z]\.){2,}|[A-Z]\.(?=\s[A-Z])|(?:Mr|Mrs|Ms|Dr|Jr|Sr|St|Prof)\."
_PLAIN_WORD = r"[^\W\d_]\w*(?:(?:[.-]|'(?!s\b))(?=[^\W\d_])\w+)*"
_TOKEN = re.compile(rf"{values.PATTERN}|(?P<possessive>'s\b|(?<=s)'(?=\s))|(?P<word>{_INITIALS}|{_PLAIN_WORD})|(?P<mark>[:;,?!().]|\s-\s)")


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text; `norm` is what is compared. `kind`: word, name, possessive, mark, or the type of a value."""

    text: str
    norm: str
    kind: str

    @property
    def is_value(self) -> bool:
        """Whether it is a typed value, such as a date or a number."""
        return self.kind not in ("word", "name", "mark", "possessive")


def _word(text: str) -> Token:
    low = text.lower()
    if text.isupper() and low in lexicon.UNIQUE_ROLES:
        return Token(low, lemma(low), "word")
    if low in values.NUMBER_WORDS and low not in ("one",):
        return Token(text, values.NUMBER_WORDS[low], "number")
    norm = lemma(low)
    if norm in values.WEEKDAYS and text[0].isupper():
        return Token(text, norm, "habit" if low.endswith("days") else "weekday")
    return Token(text, norm, "word")


def _raw(text: str) -> list[Token]:
    tokens = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "word"
        piece = match[0]
        if kind == "word":
            tokens.append(_word(piece))
        elif kind in ("mark", "possessive"):
            tokens.append(Token(piece, piece.strip() if kind == "mark" else "'s", kind))
        else:
            tokens.append(Token(piece, values.normal_form(kind, piece), kind))
    return tokens


def _starts_name(token: Token, following: Token | None) -> bool:
    """Whether the capitalised first word of a sentence is a name: nothing else tells but what comes next."""
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
        or following.text in lexicon.IRREGULAR
        or following.is_value
        or following.norm in ("and", ",", ":")
    )


def tokenize(text: str) -> tuple[Token, ...]:
    """Tokens of the text in order. Names are capitalised words that do not owe it to the start of a sentence."""
    tokens = _raw(plain(text))
    starts = True
    for i, token in enumerate(tokens):
        if token.kind == "word" and token.text != token.text.lower() and token.text not in ("I", "The", "An"):
            following = tokens[i + 1] if i + 1 < len(tokens) else None
            if not starts or _starts_name(token, following):
                tokens[i] = Token(token.text, token.text.lower().strip("."), "name")
        starts = token.norm in (".", "!", "?") or (starts and token.norm in ("(", '"'))
    return tuple(tokens)
