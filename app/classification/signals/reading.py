"""A text as it is read once: its clauses, subject, names, values and polarity."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise

from app.classification.signals import lexicon
from app.classification.signals.labels import find_labels
from app.classification.signals.token import Token, find_place
from app.classification.signals.tokens import tokenize
from app.domain.text import fold_loosely

_BREAKERS = frozenset("but while because although though whereas however which who".split())
_AFTER_COMMA = frozenset("so instead not now".split())
_PRONOUNS = frozenset("i we he she they it".split())
_SWITCHES = frozenset("be turn switch leave keep".split())
_AFTER_AND = frozenset(
    "now then i he she they we it is was has have will does do did instead".split()
)
_ASKING_VERBS = frozenset("do be can could will would should have may".split())
_ASKING_WORDS = frozenset("what where when who why how which".split())
_CONDITIONS = frozenset(("if", "unless", "suppose", "imagine", "pretend"))
_REPORTING = frozenset("say claim allege insist argue swear hear tell guess doubt assume".split())
_SPEAKING = frozenset(("i", "we"))


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch of a sentence with one polarity. `items` are the compared forms of its content
    words and values.
    """

    tokens: tuple[Token, ...]
    items: frozenset[str]
    owner: tuple[str, ...]
    negated: bool
    modal: bool


@dataclass(frozen=True)  # without slots, so that what is made of it is made once
class Reading:
    """A text as the signals see it. `order` holds its items in order, `kinds` what each item is
    (word, name, date, …).

    `identifiers` are numbers that belong to a name or to a noun such as "room"; `labels` those
    behind any other noun, as in "item 5".
    """

    text: str
    tokens: tuple[Token, ...]
    clauses: tuple[Clause, ...]
    order: tuple[str, ...]
    kinds: dict[str, str]
    owner: tuple[str, ...]
    words: frozenset[str]
    quantifiers: frozenset[str]
    identifiers: frozenset[tuple[str, str]]
    labels: frozenset[tuple[str, str]]

    @cached_property
    def items(self) -> frozenset[str]:
        """All content of the text."""
        return frozenset(self.order)

    @property
    def negated(self) -> bool:
        """Return True if its first clause denies something."""
        return self.clauses[0].negated

    @property
    def modal(self) -> bool:
        """Return True if it tells a wish, a plan or a guess rather than a fact."""
        return self.clauses[0].modal

    @cached_property
    def folded(self) -> str:
        """The text with everything folded that does not change its meaning."""
        return fold_loosely(self.text)

    @cached_property
    def is_question(self) -> bool:
        """Return True if it is a question."""
        return self.text.rstrip().endswith("?") or _opens_question(self.tokens)

    def is_value(self, item: str) -> bool:
        """Return True if the item is a typed value."""
        return self.kinds.get(item, "word") not in ("word", "name")


def _opens_question(tokens: Sequence[Token]) -> bool:
    """ "Do I still live here", "where does she work": asked without a question mark."""
    if len(tokens) < 3 or tokens[0].kind != "word":
        return False
    first, second = tokens[0].norm, tokens[1].norm
    if first in _ASKING_WORDS:
        return second in _ASKING_VERBS and tokens[2].norm in lexicon.PRONOUNS
    return (
        first in _ASKING_VERBS and second in lexicon.PRONOUNS and tokens[0].text.lower() != "being"
    )


def select_content(tokens: Sequence[Token]) -> list[Token]:
    """The tokens that carry meaning."""
    return [
        t
        for i, t in enumerate(tokens)
        if t.kind not in ("mark", "possessive") and (t.kind != "word" or _has_meaning(tokens, i))
    ]


def _has_meaning(tokens: Sequence[Token], i: int) -> bool:
    norm = tokens[i].norm
    if norm == "on":
        return (
            i > 0
            and tokens[i - 1].norm in _SWITCHES
            and (
                i + 1 == len(tokens)
                or tokens[i + 1].kind == "mark"
                or tokens[i + 1].norm in lexicon.PREPOSITIONS
            )
        )
    return (
        norm not in lexicon.FUNCTION_WORDS
        and norm not in lexicon.SUPPORT
        and norm not in lexicon.NEGATORS
    )


def _is_clause_break(tokens: tuple[Token, ...], i: int) -> bool:
    token = tokens[i]
    if token.norm in (";", "!", "?", "."):
        return True
    if token.kind == "word" and token.norm in _BREAKERS:
        return i > 0
    if token.norm == "and" and i + 1 < len(tokens) and tokens[i + 1].kind == "word":
        following = tokens[i + 1]
        return following.text.lower() in _AFTER_AND or (
            following.norm in ("join", "work") and following.text.lower() != following.norm
        )
    if token.norm != "," or i + 1 == len(tokens):
        return False
    after = tokens[i + 1].norm
    return after in _AFTER_COMMA or (i > 2 and after in _PRONOUNS)


def _make_clause(tokens: tuple[Token, ...]) -> Clause:
    norms = [t.norm for t in tokens]
    denials = sum(norm in lexicon.NEGATORS for norm in norms)
    only = any(a == "not" and b in ("only", "just") for a, b in pairwise(norms))
    modal = any(t.kind == "word" and t.norm in lexicon.MODALS for t in tokens) or _has_intention(
        tokens
    )
    return Clause(
        tokens,
        frozenset(t.norm for t in select_content(tokens)),
        _find_owner(tokens),
        denials % 2 == 1 and not only,
        modal,
    )


def _has_intention(tokens: tuple[Token, ...]) -> bool:
    """Return True if somebody plans, hopes or wishes; "my phone plan" is a thing."""
    triples = zip((None, *tokens), tokens, tokens[1:], strict=False)
    return any(
        token.norm in lexicon.INTENTIONS
        and after.norm in ("to", "on", "that", "i", "we")
        and (before is None or _may_act(before))
        for before, token, after in triples
    )


def _may_act(token: Token) -> bool:
    return token.kind == "name" or (
        token.norm in lexicon.FUNCTION_WORDS | lexicon.SUPPORT
        and token.norm not in ("my", "our", "'s", "the", "a")
    )


def _split_clauses(tokens: tuple[Token, ...]) -> tuple[Clause, ...]:
    clauses, start = [], 0
    for i in range(len(tokens)):
        if _is_clause_break(tokens, i):
            if any(t.kind != "mark" for t in tokens[start:i]):
                clauses.append(_make_clause(tokens[start:i]))
            start = i
    if any(t.kind != "mark" for t in tokens[start:]) or not clauses:
        clauses.append(_make_clause(tokens[start:]))
    return (
        tuple(replace(c, modal=True) for c in clauses) if _is_unproven(tokens) else tuple(clauses)
    )


def _is_unproven(tokens: Sequence[Token]) -> bool:
    """Return True if all of it hangs on a condition, or is what somebody else says."""
    first = next((t for t in tokens if t.kind != "mark"), None)
    if (
        first is None
        or first.norm in _CONDITIONS
        or [t.text.lower() for t in tokens[:2]] == ["according", "to"]
    ):
        return first is not None
    reporter = next(
        (i for i, t in enumerate(tokens) if t.kind == "word" and t.norm in _REPORTING), None
    )
    return reporter is not None and 0 < reporter <= 4 and _is_somebody_else(tokens[:reporter])


def _is_somebody_else(subject: Sequence[Token]) -> bool:
    """Return True if nothing but a person other than the speaker stands there."""
    owner = _find_owner(tuple(subject))
    said_by = owner and not (owner[0] in _SPEAKING and len(owner) == 1)
    return bool(said_by) or any(
        t.norm in lexicon.THIRD_PERSON or t.norm in ("rumour", "rumor", "someone", "somebody")
        for t in subject
    )


# "My boss's wife's sister" has four; a longer run of names is none.
_MOST_OWNER_PARTS = 12


def _find_owner(tokens: tuple[Token, ...]) -> tuple[str, ...]:
    """Return the owner of the fact: ("i",), ("i", "sister"), the leading name.

    Return () if the text does not begin with anyone.
    """
    owner: list[str] = []
    for place, token in enumerate(tokens):
        if _may_precede_owner(token, begins=not owner):
            continue
        part = _find_owner_part(token, owner, place)
        if part:
            owner.append(part)
            if len(owner) == _MOST_OWNER_PARTS:
                break
        elif not owner or token.kind != "possessive":
            break
    return tuple(owner)


def _may_precede_owner(token: Token, *, begins: bool) -> bool:
    """Return True for articles, adverbs and the like; `begins` is True before the first part."""
    if token.norm in lexicon.SUPPORT:
        return True
    if token.kind == "mark":
        return begins and token.norm in ("(", ";", ",")
    if token.kind != "word":
        return False
    if token.norm in lexicon.ARTICLES or token.norm in _BREAKERS:
        return True
    return begins and token.norm == "and"


def _find_owner_part(token: Token, owner: Sequence[str], place: int) -> str:
    """Return the part that the token adds to the owner so far, or ""."""
    if token.kind == "name":
        return "" if owner and owner[0] in ("i", "we") else token.norm
    if token.kind != "word":
        return ""
    if not owner and token.norm in lexicon.FIRST_PERSON:
        return "i"
    if not owner and token.norm in lexicon.FIRST_PLURAL:
        return "we"
    if token.norm in lexicon.KIN and (owner or place < 2):
        return token.norm
    return ""


def _find_identifiers(tokens: tuple[Token, ...]) -> frozenset[tuple[str, str]]:
    """Numbers and codes that belong to the name or noun before them: (linux, 9), (room, 204)."""
    identifiers = set()
    for before, token in pairwise(tokens):
        if token.kind in ("number", "version", "code", "ordinal") and (
            before.kind == "name" or before.norm in lexicon.IDENTIFYING_NOUNS
        ):
            identifiers.add((before.norm, token.norm))
    return frozenset(identifiers)


def _read_neither(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Read "neither tea nor coffee" as one denial: "not tea or coffee"."""
    place = find_place(tokens, ("neither",))
    if place is None:
        return tokens
    after = [replace(t, norm="or") if t.norm == "nor" else t for t in tokens[place:]]
    return (*tokens[:place], *after)


@lru_cache(maxsize=4096)
def parse_text(text: str) -> Reading:
    """The reading of a text; the same text gives the same object."""
    tokens = _read_neither(tokenize(text))
    items = select_content(tokens)
    norms = frozenset(t.norm for t in tokens if t.kind == "word")
    return Reading(
        text=text,
        tokens=tokens,
        clauses=_split_clauses(tokens),
        order=tuple(t.norm for t in items),
        kinds={t.norm: t.kind for t in items},
        owner=_find_owner(tokens),
        words=norms,
        quantifiers=norms & lexicon.QUANTIFIERS,
        identifiers=_find_identifiers(tokens),
        labels=find_labels(tokens),
    )
