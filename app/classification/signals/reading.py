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
_SOMEBODY = frozenset(("rumour", "rumor", "someone", "somebody"))
_MEANINGLESS = lexicon.FUNCTION_WORDS | lexicon.SUPPORT | lexicon.NEGATORS
_BEFORE_INTENTIONS = (lexicon.FUNCTION_WORDS | lexicon.SUPPORT) - {"my", "our", "'s", "the", "a"}
_BEHIND_INTENTIONS = frozenset(("to", "on", "that", "i", "we"))


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
        if self.text.rstrip().endswith("?"):
            return True
        # "Do I still live here", "where does she work": asked without a question mark.
        if len(self.tokens) < 3 or self.tokens[0].kind != "word":
            return False
        first, second, third = (token.norm for token in self.tokens[:3])
        if first in _ASKING_WORDS:
            return second in _ASKING_VERBS and third in lexicon.PRONOUNS
        is_verb = first in _ASKING_VERBS and self.tokens[0].text.lower() != "being"
        return is_verb and second in lexicon.PRONOUNS

    def is_value(self, item: str) -> bool:
        """Return True if the item is a typed value."""
        return self.kinds.get(item, "word") not in ("word", "name")


def select_content(tokens: Sequence[Token]) -> list[Token]:
    """The tokens that carry meaning."""
    return [
        t
        for i, t in enumerate(tokens)
        if t.kind not in ("mark", "possessive") and (t.kind != "word" or _has_meaning(tokens, i))
    ]


def _has_meaning(tokens: Sequence[Token], i: int) -> bool:
    norm = tokens[i].norm
    if norm != "on":
        return norm not in _MEANINGLESS
    # "Switched on" tells more than "switched on Monday".
    if i == 0 or tokens[i - 1].norm not in _SWITCHES:
        return False
    if i + 1 == len(tokens) or tokens[i + 1].kind == "mark":
        return True
    return tokens[i + 1].norm in lexicon.PREPOSITIONS


def _is_clause_break(tokens: tuple[Token, ...], i: int) -> bool:
    token = tokens[i]
    if token.norm in (";", "!", "?", "."):
        return True
    if token.kind == "word" and token.norm in _BREAKERS:
        return i > 0
    if i + 1 == len(tokens):
        return False
    following = tokens[i + 1]
    if token.norm == "and" and following.kind == "word":
        low = following.text.lower()
        is_inflected = following.norm in ("join", "work") and low != following.norm
        return is_inflected or low in _AFTER_AND
    if token.norm != ",":
        return False
    return following.norm in _AFTER_COMMA or (i > 2 and following.norm in _PRONOUNS)


def _make_clause(tokens: tuple[Token, ...]) -> Clause:
    norms = [t.norm for t in tokens]
    denials = sum(norm in lexicon.NEGATORS for norm in norms)
    only = any(a == "not" and b in ("only", "just") for a, b in pairwise(norms))
    modal = any(t.kind == "word" and t.norm in lexicon.MODALS for t in tokens)
    return Clause(
        tokens,
        frozenset(t.norm for t in select_content(tokens)),
        _find_owner(tokens),
        denials % 2 == 1 and not only,
        modal or _has_intention(tokens),
    )


def _has_intention(tokens: tuple[Token, ...]) -> bool:
    """Return True if somebody plans, hopes or wishes; "my phone plan" is a thing."""
    for place, (token, after) in enumerate(pairwise(tokens)):
        if token.norm not in lexicon.INTENTIONS or after.norm not in _BEHIND_INTENTIONS:
            continue
        before = tokens[place - 1] if place else None
        if before is None or before.kind == "name" or before.norm in _BEFORE_INTENTIONS:
            return True
    return False


def _split_clauses(tokens: tuple[Token, ...]) -> tuple[Clause, ...]:
    clauses, start = [], 0
    for i in range(len(tokens)):
        if _is_clause_break(tokens, i):
            if any(t.kind != "mark" for t in tokens[start:i]):
                clauses.append(_make_clause(tokens[start:i]))
            start = i
    if any(t.kind != "mark" for t in tokens[start:]) or not clauses:
        clauses.append(_make_clause(tokens[start:]))
    if _is_unproven(tokens):
        clauses = [replace(clause, modal=True) for clause in clauses]
    return tuple(clauses)


def _is_unproven(tokens: Sequence[Token]) -> bool:
    """Return True if all of it hangs on a condition, or is what somebody else says."""
    first = next((t for t in tokens if t.kind != "mark"), None)
    if first is None:
        return False
    if first.norm in _CONDITIONS or [t.text.lower() for t in tokens[:2]] == ["according", "to"]:
        return True
    words = (i for i, t in enumerate(tokens) if t.kind == "word")
    reporter = next((i for i in words if tokens[i].norm in _REPORTING), 0)
    if not 0 < reporter <= 4:
        return False
    subject = tuple(tokens[:reporter])
    if _find_owner(subject) not in ((), ("i",), ("we",)):
        return True
    return any(t.norm in lexicon.THIRD_PERSON or t.norm in _SOMEBODY for t in subject)


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


@lru_cache(maxsize=4096)
def parse_text(text: str) -> Reading:
    """The reading of a text; the same text gives the same object."""
    tokens = tokenize(text)
    neither = find_place(tokens, ("neither",))
    if neither is not None:  # "neither tea nor coffee" is one denial: "not tea or coffee"
        after = [replace(t, norm="or") if t.norm == "nor" else t for t in tokens[neither:]]
        tokens = (*tokens[:neither], *after)
    items = select_content(tokens)
    norms = frozenset(t.norm for t in tokens if t.kind == "word")
    # Numbers and codes that belong to the name or noun before them: (linux, 9), (room, 204).
    identifiers = set()
    for before, token in pairwise(tokens):
        is_thing = before.kind == "name" or before.norm in lexicon.IDENTIFYING_NOUNS
        if is_thing and token.kind in ("number", "version", "code", "ordinal"):
            identifiers.add((before.norm, token.norm))
    return Reading(
        text=text,
        tokens=tokens,
        clauses=_split_clauses(tokens),
        order=tuple(t.norm for t in items),
        kinds={t.norm: t.kind for t in items},
        owner=_find_owner(tokens),
        words=norms,
        quantifiers=norms & lexicon.QUANTIFIERS,
        identifiers=frozenset(identifiers),
        labels=find_labels(tokens),
    )
