"""What holds, as text for a prompt: by kind, most useful first, within a budget of tokens. Memory texts are data: one line each."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.domain.fact import Kind
from app.domain.text import fold
from app.domain.tokens import estimate_tokens
from app.domain.version import Memory

SECTIONS = (Kind.CONSTRAINT, Kind.PREFERENCE, Kind.DECISION, Kind.FACT)

# Relevance counts three times as much as strength and falls by half at the fourth place of the search, so that a strong memory about
# something else comes after the first few found. docs/context.md has the figures of other weights.
_RELEVANCE_WEIGHT = 0.75
_HALF_RELEVANT_AFTER = 3

_CHECK = " (check: what it rests on has changed)"

# Characters that do not show but reach a model: controls, bidi and tag characters, private use. The joiners that scripts need stay.
_INVISIBLE = frozenset({"Cc", "Cf", "Co", "Cs"})
_JOINERS = "\u200c\u200d"


@dataclass(frozen=True, slots=True)
class ContextItem:
    """A memory with its text (see `text_of`); `usefulness` (0 to 1) places it."""

    memory: Memory
    text: str
    usefulness: float

    @property
    def kind(self) -> Kind:
        return self.memory.fact.kind

    @property
    def line(self) -> str:
        """The text as a line of its own with its dates, its end where one is known, and a mark where it is stale."""
        belief = self.memory.belief
        until = f", until {belief.valid_until.date()}" if belief.valid_until else ""
        return f"- {self.text} (since {belief.valid_from.date()}{until}){_CHECK if self.memory.stale_because else ''}\n"


@dataclass(frozen=True, slots=True)
class Context:
    """The text, what it takes by `estimate_tokens`, its items in the order of the text, and how many others hold that did not fit."""

    text: str
    tokens: int
    items: tuple[ContextItem, ...]
    left_out: int


def score_usefulness(strength: float, place: int | None) -> float:
    """How much a memory helps with a query, 0 to 1: its place in the search (from 0; None = not found) blended with its strength."""
    relevance = 0.0 if place is None else _HALF_RELEVANT_AFTER / (_HALF_RELEVANT_AFTER + place)
    return _RELEVANCE_WEIGHT * relevance + (1 - _RELEVANCE_WEIGHT) * strength


def compose_context(items: Iterable[ContextItem], *, budget: int, holding: int) -> Context:
    """Fits the most useful items into the budget, headings included; constraints before all others. `holding`: how many there are in all.

    A text that does not fit is passed over for shorter ones after it: a fact cut off could say the opposite. Equal texts show once.
    """
    ordered = sorted(items, key=lambda item: (item.kind is not Kind.CONSTRAINT, -item.usefulness))
    distinct: dict[str, ContextItem] = {}
    for item in ordered:
        distinct.setdefault(fold(item.text), item)
    taken = _fit_items_to_budget(distinct.values(), budget)
    text = "".join(
        _render_section(kind, [item for item in taken if item.kind is kind]) for kind in SECTIONS
    )
    shown = tuple(item for kind in SECTIONS for item in taken if item.kind is kind)
    repeated = len(ordered) - len(distinct)
    return Context(text, estimate_tokens(text), shown, holding - repeated - len(shown))


def _fit_items_to_budget(items: Iterable[ContextItem], budget: int) -> list[ContextItem]:
    taken: list[ContextItem] = []
    headed: set[Kind] = set()
    for item in items:
        cost = estimate_tokens(item.line) + (
            0 if item.kind in headed else estimate_tokens(_render_heading(item.kind))
        )
        if cost <= budget:
            taken.append(item)
            headed.add(item.kind)
            budget -= cost
    return taken


def _render_section(kind: Kind, items: Sequence[ContextItem]) -> str:
    return _render_heading(kind) + "".join(item.line for item in items) if items else ""


def _render_heading(kind: Kind) -> str:
    return f"## {kind.value.capitalize()}s\n"


def render_memory_text(memory: Memory) -> str:
    """The memory's content on one line, after whom it is about where that is not the user and the content does not say it."""
    content = to_safe_line(memory.fact.content)
    if memory.fact.entity in ("", "user"):
        return content
    entity = to_safe_line(memory.fact.entity)
    return (
        content
        if fold(entity) == "user" or fold(entity) in fold(content)
        else f"{entity}: {content}"
    )


def to_safe_line(text: str) -> str:
    """The text without line breaks and invisible characters, so that it cannot pass for a heading, another item or nothing at all."""
    if not text.isprintable():
        text = "".join(
            c
            for c in text
            if c.isspace() or c in _JOINERS or unicodedata.category(c) not in _INVISIBLE
        )
    return " ".join(text.split())
