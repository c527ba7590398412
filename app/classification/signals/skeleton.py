"""The bare bones of a clause: its tokens without articles, adverbs of time and auxiliaries."""

from collections.abc import Sequence

from app.classification.signals import lexicon
from app.classification.signals.token import Token

_BE = Token("is", "be", "word")
_REMARKS = frozenset(("will", "shall", "do"))
_IRREGULAR_PARTICIPLES = frozenset("been become left got gone had sold quit made".split())


def build_skeleton(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens for patterns: "has now been moved to" is the same as "is moved to"."""
    bones: list[Token] = []
    for i, token in enumerate(tokens):
        if not _is_left_out(tokens, i, bones):
            bones.append(_BE if token.norm == "get" and _before_participle(tokens, i) else token)
    return _without_edges(bones)


def _is_left_out(tokens: Sequence[Token], i: int, preceding: Sequence[Token]) -> bool:
    token = tokens[i]
    if token.kind == "mark":
        return token.norm not in (":", ",")
    if token.kind != "word":
        return False
    if token.norm in lexicon.ARTICLES or token.norm in lexicon.SUPPORT or token.norm in _REMARKS:
        return True
    if token.norm in ("new", "current"):
        return bool(preceding) and (
            preceding[-1].kind == "possessive" or preceding[-1].norm in ("my", "our")
        )
    if token.norm in ("its", "their", "his", "her"):
        return bool(preceding)
    return token.norm == "have" and _before_participle(tokens, i)


def _before_participle(tokens: Sequence[Token], i: int) -> bool:
    following = next((t for t in tokens[i + 1 :] if t.norm not in lexicon.SUPPORT), None)
    if following is None or following.kind != "word":
        return False
    low = following.text.lower()
    return low != following.norm and (
        low.endswith(("ed", "en", "un", "wn")) or low in _IRREGULAR_PARTICIPLES
    )


def _without_edges(tokens: list[Token]) -> list[Token]:
    """Without "since June," or "as of May," and "you can" in front, and marks behind."""
    comma = next((i for i, t in enumerate(tokens) if t.norm == ","), 0)
    if comma and (tokens[0].norm == "since" or [t.norm for t in tokens[:2]] == ["as", "of"]):
        tokens = tokens[comma + 1 :]
    if [t.norm for t in tokens[:2]] == ["you", "can"]:
        tokens = tokens[2:]
    while tokens and tokens[-1].kind == "mark":
        tokens.pop()
    return tokens


def collect_referents(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the referents of a subject or a value; the speaker and the user are one."""
    return frozenset(norm for norm in map(_find_referent, tokens) if norm)


def _find_referent(token: Token) -> str:
    if token.kind in ("mark", "possessive"):
        return ""
    if token.kind != "word" or token.norm in lexicon.THIRD_PERSON:
        return token.norm
    if token.norm in lexicon.FIRST_PERSON:
        return "i"
    if token.norm in lexicon.FIRST_PLURAL:
        return "we"
    return (
        "" if token.norm in lexicon.FUNCTION_WORDS or token.norm in lexicon.SUPPORT else token.norm
    )
