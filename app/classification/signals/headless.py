"""Sentences without a subject, as agents write them: "Lives in Porto", "Moved to Lisbon last
month", "Is not vegetarian any more".
"""

from collections.abc import Sequence

from app.classification.signals import lexicon
from app.classification.signals.token import Token

_SUBJECT, _BE = Token("I", "i", "word"), Token("am", "be", "word")
_SAME_IN_PAST = frozenset(("quit", "read", "set", "cut", "put", "hit", "let", "upset"))
_PARTICIPLES = frozenset(
    "allergic based born married engaged divorced retired employed enrolled single".split()
)
_FOLLOWS_NOUNS = frozenset("be have of : will shall can could may might must should would".split())
_OPENING = lexicon.SUPPORT | frozenset("no not never longer also".split())
_NO_STATEMENT = frozenset(
    "the this that these those there i you he she it we they my your his her its our their".split()
)


def with_speaker(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with the speaker in front where they begin with a finite verb: who else should be
    meant is not said.
    """
    verb = next((i for i, t in enumerate(tokens) if t.norm not in _OPENING), len(tokens))
    if verb + 1 >= len(tokens) or tokens[verb].kind != "word":
        return list(tokens)
    if not _is_finite(tokens[verb], tokens[verb + 1]):
        return list(tokens)
    # These owed their capital to the start of the sentence.
    before = [Token(t.text.lower(), t.norm, t.kind) for t in tokens[: verb + 1]]
    rest = tokens[verb + 1 :]
    if tokens[verb].text.lower() in _PARTICIPLES:
        *opening, participle = before
        return [_SUBJECT, *opening, _BE, participle, *rest]
    return [_SUBJECT, *before, *rest]


def _is_finite(verb: Token, following: Token) -> bool:
    low = verb.text.lower()
    if low in _PARTICIPLES:
        return following.norm in lexicon.PREPOSITIONS
    if low in ("is", "was", "has", "had", "does", "did"):
        is_capitalised = following.kind == "word" and following.text[0].isupper()
        is_question = verb.norm != "have" and is_capitalised
        return following.norm not in _NO_STATEMENT and not is_question
    if verb.norm not in lexicon.HEADLESS_VERBS or following.norm in _FOLLOWS_NOUNS:
        return False
    if low == verb.norm:
        return low in _SAME_IN_PAST
    return low.endswith(("s", "ed")) or low in lexicon.PAST_FORMS
