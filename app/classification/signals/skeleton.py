"""The bare bones of a clause: its tokens without articles, adverbs of time and auxiliaries."""

from collections.abc import Sequence

from app.classification.signals import lexicon
from app.classification.signals.token import Token, find_place

_BE = Token("is", "be", "word")
_REMARKS = frozenset(("will", "shall", "do"))
_IRREGULAR_PARTICIPLES = frozenset("been become left got gone had sold quit made".split())


def build_skeleton(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens for patterns: "has now been moved to" is the same as "is moved to"."""
    bones: list[Token] = []
    for i, token in enumerate(tokens):
        if not _is_left_out(tokens, i, bones):
            bones.append(_BE if token.norm == "get" and _before_participle(tokens, i) else token)
    # Without "since June," or "as of May," and "you can" in front, and marks behind.
    comma = find_place(bones, (",",)) or 0
    norms = [bone.norm for bone in bones[:2]]
    if comma and (norms[0] == "since" or norms == ["as", "of"]):
        bones = bones[comma + 1 :]
    if [bone.norm for bone in bones[:2]] == ["you", "can"]:
        bones = bones[2:]
    while bones and bones[-1].kind == "mark":
        bones.pop()
    return bones


def _is_left_out(tokens: Sequence[Token], i: int, preceding: Sequence[Token]) -> bool:
    token = tokens[i]
    if token.kind == "mark":
        return token.norm not in (":", ",")
    if token.kind != "word":
        return False
    if token.norm in lexicon.ARTICLES or token.norm in lexicon.SUPPORT or token.norm in _REMARKS:
        return True
    if token.norm in ("new", "current"):
        last = preceding[-1] if preceding else None
        return last is not None and (last.kind == "possessive" or last.norm in ("my", "our"))
    if token.norm in ("its", "their", "his", "her"):
        return bool(preceding)
    return token.norm == "have" and _before_participle(tokens, i)


def _before_participle(tokens: Sequence[Token], i: int) -> bool:
    following = next((t for t in tokens[i + 1 :] if t.norm not in lexicon.SUPPORT), None)
    if following is None or following.kind != "word":
        return False
    low = following.text.lower()
    is_participle = low.endswith(("ed", "en", "un", "wn")) or low in _IRREGULAR_PARTICIPLES
    return low != following.norm and is_participle


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
    is_empty = token.norm in lexicon.FUNCTION_WORDS or token.norm in lexicon.SUPPORT
    return "" if is_empty else token.norm
