"""Questions of reviews in words: both texts, and a letter for each memory that may be meant."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from string import ascii_lowercase
from uuid import UUID

from app.domain.relation import Operation, Relation
from app.domain.version import Belief
from app.planning.reviews import Proposal

# Characters of a text that a question quotes.
_LONGEST_QUOTE = 200


@dataclass(frozen=True, slots=True)
class NamedMemory:
    """A memory that a review names: its text, and what is believed about it.

    `is_dated`: its start was stated, and is not just the time at which it was told.
    """

    content: str
    belief: Belief
    is_dated: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that a review may be right about. It keeps its letter when others are gone."""

    letter: str
    memory_id: UUID
    content: str | None
    relation: Relation
    confidence: float
    valid_from: datetime | None


@dataclass(frozen=True, slots=True)
class Question:
    """A review in words. Texts are None if they were erased, or never stored."""

    sentence: str
    content: str | None
    candidates: tuple[Candidate, ...]


def build_question(
    proposal: Proposal,
    named: Mapping[UUID, NamedMemory],
    gone: frozenset[UUID],
    *,
    held_content: str | None = None,
) -> Question:
    """Return the question of a review.

    `named` holds the memories of the review that are not erased; those that are `gone` are not
    asked about. `held_content` is the text of a store that waits.
    """
    stored = named.get(proposal.memory_id) if proposal.memory_id else None
    content = stored.content if stored else held_content
    candidates = [each for each in _list_candidates(proposal, named) if each.memory_id not in gone]
    sentence = _Asking(proposal, named, content, candidates).write_sentence(
        is_held=held_content is not None
    )
    return Question(sentence, content, tuple(candidates))


def _list_candidates(proposal: Proposal, named: Mapping[UUID, NamedMemory]) -> list[Candidate]:
    judgments = {judgment.memory_id: judgment for judgment in reversed(proposal.judgments)}
    candidates: list[Candidate] = []
    for place, memory_id in enumerate(proposal.targets):
        judgment, memory = judgments[memory_id], named.get(memory_id)
        candidates.append(
            Candidate(
                letter=_get_letter(place),
                memory_id=memory_id,
                content=memory.content if memory else None,
                relation=judgment.relation,
                confidence=judgment.confidence,
                valid_from=memory.belief.valid_from if memory else None,
            )
        )
    return candidates


def _get_letter(place: int) -> str:
    """Return a, b, …, z, and aa, ab, … after them."""
    if place < len(ascii_lowercase):
        return ascii_lowercase[place]
    first, second = divmod(place, len(ascii_lowercase))
    return _get_letter(first - 1) + ascii_lowercase[second]


@dataclass(frozen=True, slots=True)
class _Asking:
    """What a sentence is made of."""

    proposal: Proposal
    named: Mapping[UUID, NamedMemory]
    content: str | None
    candidates: Sequence[Candidate]

    def write_sentence(self, *, is_held: bool) -> str:
        fact = quote(self.content)
        if is_held:
            return f"Is {fact} to be stored?{self._describe_effect()}"
        if not self.candidates:
            return f"Is {fact} to be kept as it is?"
        if len(self.proposal.targets) > 1 and self.proposal.is_choice:
            return self._ask_for_choice(fact)
        stored = self._join_candidates()
        if self.content is None and self.proposal.memory_id is None:
            return f"Has {stored} ended?" if len(self.candidates) == 1 else f"Have {stored} ended?"
        return self._ask_about(fact, stored)

    def _ask_for_choice(self, fact: str) -> str:
        listed = ", ".join(f"({each.letter}) {quote(each.content)}" for each in self.candidates)
        if self.content is None and self.proposal.memory_id is None:
            return f"Which of these ended: {listed}, or none?"
        return f"Which of these does {fact} end: {listed}, or none?"

    def _ask_about(self, fact: str, stored: str) -> str:
        operation = self.proposal.relation.effect.operation
        if self.proposal.corrections is not None and operation is not Operation.DELETE:
            return f"Does {fact} say the same as {stored}, with other dates?"
        match operation:
            case Operation.NOOP:
                return f"Does {fact} say the same as {stored}?"
            case Operation.MERGE:
                return f"Do {fact} and {stored} belong together, as one fact?"
            case _ if self._is_temporary():
                return f"Does {fact} take the place of {stored} for a while?"
            case _:
                return f"Does {fact} end {stored}?"

    def _is_temporary(self) -> bool:
        memory = self.named.get(self.proposal.memory_id) if self.proposal.memory_id else None
        return memory is not None and memory.belief.temporary

    def _describe_effect(self) -> str:
        if not self.candidates:
            return ""
        verb = "would end" if self.proposal.relation.effect.ends_stored else "concerns"
        return f" It {verb} {self._join_candidates()}."

    def _join_candidates(self) -> str:
        *first, last = [quote(each.content) for each in self.candidates]
        return f"{', '.join(first)} and {last}" if first else last


def quote(text: str | None) -> str:
    """Return the text as a question quotes it, shortened if it is long."""
    if text is None:
        return "an erased text"
    line = " ".join(text.split())
    if len(line) > _LONGEST_QUOTE:
        line = f"{line[: _LONGEST_QUOTE - 1].rstrip()}…"
    return f"“{line}”"
