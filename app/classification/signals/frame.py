"""A frame: one attribute of one subject, with its value."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.classification.signals import lexicon
from app.classification.signals.reading import Clause
from app.classification.signals.skeleton import collect_referents
from app.classification.signals.token import CALENDAR, Token, join_texts

_UNITS = frozenset("version release number about around roughly year end".split())
_NEVER_A_PHRASE = frozenset((*CALENDAR, "money", "percent"))


@dataclass(frozen=True, slots=True)
class Value:
    """A value as compared (`items`) and as written (`spoken`), and the `rest` behind it."""

    items: frozenset[str]
    kind: str
    rest: frozenset[str]
    spoken: str


@dataclass(frozen=True, slots=True)
class Frame:
    """The statement of a clause: `attribute` of `subject` is `value`.

    An attribute that no list knows begins with "noun:". `change` is True for a change ("moved
    to"), False for a state. A `single` attribute holds one value at a time, a `fixed` one never
    changes in the world. A `cued` frame comes from single words instead of a whole wording, and
    its subject consists of names and numbers only.
    """

    attribute: str
    subject: frozenset[str]
    value: frozenset[str]
    kind: str
    rest: frozenset[str]
    spoken: str
    negated: bool
    modal: bool
    change: bool = False
    fixed: bool = False
    single: bool = True
    cued: bool = False

    @property
    def is_assertion(self) -> bool:
        """Return True if it states a fact, rather than a denial or a wish."""
        return not self.negated and not self.modal

    @property
    def is_built(self) -> bool:
        """Return True if the attribute is a noun that no list knows."""
        return self.attribute.startswith("noun:")


def make_built_frame(
    clause: Clause,
    noun: Sequence[Token],
    owner: Sequence[Token],
    value: Value,
    *,
    change: bool = False,
    single: bool = True,
) -> Frame:
    """The frame of a noun that no list knows: the key is the noun itself."""
    key = "noun:" + " ".join(sorted(collect_referents(noun)))
    return Frame(
        key,
        collect_referents(owner),
        value.items,
        value.kind,
        value.rest,
        value.spoken,
        clause.negated,
        clause.modal,
        change,
        single=single,
    )


def find_typed_value(tokens: Sequence[Token], kinds: frozenset[str]) -> Value | None:
    """The first value of one of the kinds; parts of one date and time belong together."""
    first = next((t for t in tokens if t.kind in kinds), None)
    if first is None:
        return None
    if first.kind == "number":
        # Nouns or verbs between the attribute's words and the number may be what it counts.
        between = tokens[: tokens.index(first)]
        if collect_referents([t for t in between if t.kind == "word" and t.norm not in _UNITS]):
            return None
    parts = [t for t in tokens if t.kind in CALENDAR] if first.kind in CALENDAR else [first]
    return Value(
        frozenset(t.norm for t in parts),
        first.kind,
        collect_referents([t for t in tokens if t not in parts]),
        join_texts(parts).rstrip("."),
    )


def find_leading_phrase(tokens: Sequence[Token]) -> Value | None:
    """The name or noun phrase that the tokens begin with, up to the next preposition, conjunction
    or mark.
    """
    end = 0
    for token in tokens:
        is_end = token.kind == "word" and token.norm in lexicon.VALUE_ENDS
        if token.kind == "mark" or (end and is_end):
            break
        end += 1
    items = collect_referents(tokens[:end])
    if not items:
        return None
    spoken = join_texts(tokens[:end]).rstrip(".")
    kind = "name" if any(t.kind == "name" for t in tokens[:end]) else "text"
    return Value(items, kind, collect_referents(tokens[end:]), spoken)


def find_attribute_value(tokens: Sequence[Token], kinds: frozenset[str]) -> Value | None:
    """The value of an attribute that takes these kinds, in the tokens behind its words."""
    if "text" not in kinds:
        return find_typed_value(tokens, kinds)
    return None if tokens[0].kind in _NEVER_A_PHRASE - kinds else find_leading_phrase(tokens)
