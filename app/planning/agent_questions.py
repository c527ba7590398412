"""Reviews as questions to the agent's own model: what it may decide, and how it is asked."""

from collections.abc import Iterator, Mapping
from typing import Protocol
from uuid import UUID

from app.domain.context import ContextQuestion
from app.domain.fact import DEFAULT_TRUST, Kind
from app.domain.tokens import estimate_tokens
from app.planning.plan import ReviewSource
from app.planning.question_text import LONGEST_QUOTE, Question, list_lettered, list_letters, quote
from app.planning.reviews import Proposal

# The judges were not sure about these. The others wait because a person should look.
AGENT_SOURCES = (
    ReviewSource.LOW_CONFIDENCE,
    ReviewSource.JUDGES_DISAGREE,
    ReviewSource.SWEEP,
    ReviewSource.FALLBACK,
)

# Hexadecimal digits at the end of an id. They are random, unlike those at its beginning.
_HANDLE_DIGITS = 6
_SHORTEST_HANDLE = 4

# Texts in a line are shortened until it takes no more tokens than this, or to the last length.
SHORT_LINE = 60
_QUOTE_LENGTHS = (LONGEST_QUOTE, 100, 60, 40)

# A question that contexts showed so often without an answer is shown no more. Nor is one whose
# answer was undone: the agent would give the same answer again.
SHOWN_AT_MOST = 10


class Protected(Protocol):
    """What protects a memory from lower trust and from judges."""

    @property
    def kind(self) -> Kind: ...

    @property
    def trust(self) -> int: ...


def find_protection(proposal: Proposal, memories: Mapping[UUID, Protected]) -> str | None:
    """Return why only a person may decide the review, None if the agent may.

    `memories` holds those that the review names and that are not erased.
    """
    if proposal.source not in AGENT_SOURCES:
        return f"it waits for a person because of its source, {proposal.source}"
    stored = memories.get(proposal.memory_id) if proposal.memory_id else None
    trust = stored.trust if stored else DEFAULT_TRUST
    concerned = [memories[memory_id] for memory_id in proposal.targets if memory_id in memories]
    if any(memory.kind is Kind.CONSTRAINT for memory in concerned):
        return "it names a constraint, which only a person may end"
    if any(memory.trust > trust for memory in concerned):
        return "it names a memory of higher trust"
    return None


def make_handle(review_id: UUID) -> str:
    """Return the end of the id, by which a model names the review."""
    return review_id.hex[-_HANDLE_DIGITS:]


def read_handle(text: str) -> str | None:
    """Return the last digits of an id as a model or a person wrote them, None if it is no id."""
    digits = text.strip().lower().removeprefix("q").strip(" :#").replace("-", "")
    is_handle = _SHORTEST_HANDLE <= len(digits) <= len(UUID(int=0).hex)
    return digits if is_handle and all(digit in "0123456789abcdef" for digit in digits) else None


def build_context_question(proposal: Proposal, question: Question) -> ContextQuestion:
    """Return the question in a line with the letters and texts of all that it may concern.

    "None" closes the whole question, so no candidate is left out: long texts are shortened.
    """
    handle = make_handle(proposal.review_id)
    line = ""
    for line in _write_lines(question, handle):
        if estimate_tokens(line) <= SHORT_LINE:
            break
    standing = {candidate.letter for candidate in question.candidates}
    letters = {name: i for name, i in list_letters(proposal).items() if name in standing}
    return ContextQuestion(
        proposal.review_id, handle, line, letters, frozenset((*letters.values(), *proposal.ids))
    )


def _write_lines(question: Question, handle: str) -> Iterator[str]:
    """Yield ways to ask, each shorter than the one before."""
    for longest in _QUOTE_LENGTHS:
        named = list_lettered(question.candidates, longest)
        fact = quote(question.content, longest)
        yield f"Q {handle}: {question.pattern.format(fact=fact, named=named)}"


def invite_answer(question: ContextQuestion) -> str:
    """Return the line of the question with how to answer it."""
    letters = ", ".join(question.letters)
    return f"{question.line} Answer with memory_answer: {letters}, or none."
