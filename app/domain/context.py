"""Facts that hold as text for a prompt: by kind, most useful first, within a budget of tokens.

The texts of memories are data and take one line each. A line before and a line after them say that
they come out of the memory, so that nobody captures them from a prompt as something new.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from app.domain.fact import Kind
from app.domain.talk import CONTEXT_BEGINS, CONTEXT_ENDS
from app.domain.text import fold
from app.domain.tokens import estimate_tokens
from app.domain.version import Memory

SECTIONS = (Kind.CONSTRAINT, Kind.PREFERENCE, Kind.DECISION, Kind.FACT)

# Relevance counts three times as much as strength and falls by half at the fourth place of the
# search, so that a strong memory about something else comes after the first few results.
# docs/guide/context.md has the figures of other weights.
_RELEVANCE_WEIGHT = 0.75
_HALF_RELEVANT_AFTER = 3

_FIRST_LINE = f"{CONTEXT_BEGINS}\n"
_LAST_LINE = f"{CONTEXT_ENDS}\n"
_MARKS = re.compile("|".join(map(re.escape, (CONTEXT_BEGINS, CONTEXT_ENDS))))

# Questions take no more of the budget than this, so that they displace few memories.
_QUESTION_SHARE = 1 / 3
MOST_QUESTIONS = 3
_QUESTIONS = "## Open questions (memory_answer: id, letters or none; only if you know)\n"

# What was said stands behind all else, on lines of at most so many characters.
_TALK = "## Said (not checked, may be out of date)\n"
_LONGEST_LINE = 200

_CHECK = " (check: what it rests on has changed)"

# Characters that do not show but reach a model: controls, bidi and tag characters, private use. The
# joiners that scripts need stay.
_INVISIBLE = frozenset({"Cc", "Cf", "Co", "Cs"})
_JOINERS = "\u200c\u200d"


@dataclass(frozen=True, slots=True)
class ContextItem:
    """A memory with its text (see `render_memory_text`); `usefulness` (0 to 1) places it.

    `in_question` names the reviews that wait and concern the memory; `asked_as` are its names in
    those of them that the same context asks.
    """

    memory: Memory
    text: str
    usefulness: float
    in_question: tuple[UUID, ...] = ()
    asked_as: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        return self.memory.fact.kind

    @property
    def line(self) -> str:
        """Return the text as a line with its dates, and marks if it is stale or in question."""
        belief = self.memory.belief
        until = f", until {belief.valid_until.date()}" if belief.valid_until else ""
        mark = _CHECK if self.memory.stale_because else ""
        if self.in_question:
            mark += f" (in question{': ' if self.asked_as else ''}{', '.join(self.asked_as)})"
        return f"- {self.text} ({_describe_start(self.memory)}{until}){mark}\n"


@dataclass(frozen=True, slots=True)
class ContextQuestion:
    """A question that waits, for the model that reads the prompt.

    `line` asks it, with the handle by which it is answered. `letters` stand for the memories that
    it may concern; `about` are all memories that it names.
    """

    review_id: UUID
    handle: str
    line: str
    letters: Mapping[str, UUID]
    about: frozenset[UUID]

    def name_memory(self, memory_id: UUID) -> str:
        """Return the handle, and the letter of the memory if it has one."""
        letters = [letter for letter, named in self.letters.items() if named == memory_id]
        return " ".join(["Q", self.handle, *letters])


def _describe_start(memory: Memory) -> str:
    """Return since when the memory holds, or when it was told if nobody said since when."""
    if memory.stated_start is None:
        return f"told {memory.told_at.date()}"
    return f"since {memory.stated_start.date()}"


@dataclass(frozen=True, slots=True)
class Context:
    """A text for a prompt.

    `tokens` is its length by `estimate_tokens`; `items` and `questions` are in the order of the
    text; `left_out` counts the memories that hold but did not fit.
    """

    text: str
    tokens: int
    items: tuple[ContextItem, ...]
    left_out: int
    questions: tuple[ContextQuestion, ...] = ()


def score_usefulness(strength: float, place: int | None) -> float:
    """Return how much a memory helps with a query, 0 to 1: its relevance blended with its strength.

    `place` is its place in the search, from 0; None means that the search did not return it.
    """
    relevance = 0.0
    if place is not None:
        relevance = _HALF_RELEVANT_AFTER / (_HALF_RELEVANT_AFTER + place)
    return _RELEVANCE_WEIGHT * relevance + (1 - _RELEVANCE_WEIGHT) * strength


def compose_context(
    items: Iterable[ContextItem],
    *,
    budget: int,
    holding: int,
    questions: Sequence[ContextQuestion] = (),
    talk: Sequence[str] = (),
) -> Context:
    """Fit the most useful items into the budget, with headings; constraints come first.

    `holding` is the number of memories that hold. A text that does not fit is passed over for
    shorter ones after it, because a fact cut off could say the opposite. Equal texts show once.
    Of the questions, the first that fit into a share of the budget stand at the end, if the text
    shows a memory that they name. What was said in `talk` takes what is left of the budget.
    """
    whole, chosen = budget, _fit_questions(questions, budget)
    budget -= estimate_tokens(_render_questions(chosen))
    named: list[ContextItem] = []
    for item in items:
        memory_id = item.memory.id
        names = tuple(each.name_memory(memory_id) for each in chosen if memory_id in each.about)
        named.append(replace(item, asked_as=names) if names else item)
    ordered = sorted(named, key=lambda each: (each.kind is not Kind.CONSTRAINT, -each.usefulness))
    distinct: dict[str, ContextItem] = {}
    for item in ordered:
        distinct.setdefault(fold(item.text), item)
    fitting = _fit_items_to_budget(distinct.values(), budget)
    shown: list[ContextItem] = []
    text = ""
    for kind in SECTIONS:
        section = [item for item in fitting if item.kind is kind]
        shown += section
        if section:
            text += _render_heading(kind) + "".join(item.line for item in section)
    shown_ids = {item.memory.id for item in shown}
    chosen = [question for question in chosen if not question.about.isdisjoint(shown_ids)]
    text += _render_questions(chosen) if text else ""
    text += _render_talk(talk, whole - estimate_tokens(_FIRST_LINE + text + _LAST_LINE))
    if text:
        text = _FIRST_LINE + text + _LAST_LINE
    repeated = len(ordered) - len(distinct)
    return Context(
        text=text,
        tokens=estimate_tokens(text),
        items=tuple(shown),
        left_out=holding - repeated - len(shown),
        questions=tuple(chosen),
    )


def _fit_items_to_budget(items: Iterable[ContextItem], budget: int) -> list[ContextItem]:
    fitting: list[ContextItem] = []
    headed: set[Kind] = set()
    budget -= estimate_tokens(_FIRST_LINE) + estimate_tokens(_LAST_LINE)
    for item in items:
        cost = estimate_tokens(item.line)
        if item.kind not in headed:
            cost += estimate_tokens(_render_heading(item.kind))
        if cost <= budget:
            fitting.append(item)
            headed.add(item.kind)
            budget -= cost
    return fitting


def _render_heading(kind: Kind) -> str:
    return f"## {kind.value.capitalize()}s\n"


def _fit_questions(questions: Iterable[ContextQuestion], budget: int) -> list[ContextQuestion]:
    chosen: list[ContextQuestion] = []
    for question in questions:
        with_it = [*chosen, question]
        if estimate_tokens(_render_questions(with_it)) <= budget * _QUESTION_SHARE:
            chosen = with_it
    return chosen[:MOST_QUESTIONS]


def _render_questions(questions: Sequence[ContextQuestion]) -> str:
    if not questions:
        return ""
    return _QUESTIONS + "".join(f"- {question.line}\n" for question in questions)


def _render_talk(talk: Iterable[str], budget: int) -> str:
    text = ""
    for line in talk:
        with_it = (text or _TALK) + line
        text = with_it if estimate_tokens(with_it) <= budget else text
    return text


def render_said_line(said_at: datetime, speaker: str, content: str) -> str:
    """Return what somebody said as a line with its day. What is long is cut off, with a mark."""
    whole = quote_safely(content)
    cut = whole if len(whole) <= _LONGEST_LINE else f"{whole[: _LONGEST_LINE - 1]}…"
    return f"- {said_at.date()}, {quote_safely(speaker)}: {cut}\n"


_SPEECH_NOTES = {"question": "a question", "quotation": "quoted"}


def render_memory_text(memory: Memory) -> str:
    """Return the memory's content on one line.

    The entity comes first, unless it is the user or the content names it. What states nothing of
    its own says so at the end.
    """
    content = quote_safely(memory.fact.content)
    for tag, note in _SPEECH_NOTES.items():
        if tag in memory.fact.tags:
            content = f"{content} ({note})"
    entity = quote_safely(memory.fact.entity)
    if fold(entity) in ("", "user") or fold(entity) in fold(content):
        return content
    return f"{entity}: {content}"


def quote_safely(text: str) -> str:
    """Return the text on one line, without a mark that could end the context before its end."""
    return _MARKS.sub(lambda match: match[0].strip("[]"), to_safe_line(text))


def to_safe_line(text: str) -> str:
    """Return the text without line breaks and invisible characters.

    With them it could pass for a heading, for another item, or for nothing at all.
    """
    if not text.isprintable():
        text = "".join(filter(_is_visible, text))
    return " ".join(text.split())


def _is_visible(character: str) -> bool:
    if character.isspace() or character in _JOINERS:
        return True
    return unicodedata.category(character) not in _INVISIBLE
