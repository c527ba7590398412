"""Questions of reviews in words: both texts, and a letter for each memory that may be meant."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from string import ascii_lowercase
from uuid import UUID

from app.domain.context import quote_safely
from app.domain.fact import Kind
from app.domain.relation import Operation, Relation
from app.domain.version import Belief
from app.planning.reviews import Proposal

# Characters of a text that a question quotes.
LONGEST_QUOTE = 200


@dataclass(frozen=True, slots=True)
class NamedMemory:
    """A memory that a review names: its text, what protects it, and what is believed about it.

    `is_dated`: its start was stated, and is not just the time at which it was told.
    """

    content: str
    kind: Kind
    trust: int
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
    """A review in words. Texts are None if they were erased, or never stored.

    `pattern` is the sentence with places for the new text, {fact}, and the candidates, {named}.
    """

    sentence: str
    content: str | None
    candidates: tuple[Candidate, ...]
    pattern: str


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
    if held_content is not None:
        verb = "would end" if proposal.relation.effect.ends_stored else "concerns"
        pattern = "Is {fact} to be stored?" + (f" It {verb} {{named}}." if candidates else "")
    else:
        pattern = _choose_pattern(
            proposal,
            len(candidates),
            states_nothing=content is None and proposal.memory_id is None,
            is_temporary=stored is not None and stored.belief.temporary,
        )
    listed = list_lettered(candidates) if proposal.is_choice else _join_texts(candidates)
    sentence = pattern.format(fact=quote(content), named=listed)
    return Question(sentence, content, tuple(candidates), pattern)


def list_letters(proposal: Proposal) -> dict[str, UUID]:
    """Return what the letters of a question stand for."""
    return {_get_letter(place): memory_id for place, memory_id in enumerate(proposal.targets)}


def _list_candidates(proposal: Proposal, named: Mapping[UUID, NamedMemory]) -> list[Candidate]:
    judgments = {judgment.memory_id: judgment for judgment in reversed(proposal.judgments)}
    candidates: list[Candidate] = []
    for letter, memory_id in list_letters(proposal).items():
        judgment, memory = judgments[memory_id], named.get(memory_id)
        candidates.append(
            Candidate(
                letter=letter,
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


def _choose_pattern(
    proposal: Proposal, candidates: int, *, states_nothing: bool, is_temporary: bool
) -> str:
    """Return the sentence of a question with places for the new text and the candidates."""
    operation = proposal.relation.effect.operation
    if not candidates:
        return "Is {fact} to be kept as it is?"
    if proposal.is_choice:
        ends = "ended" if states_nothing else "does {fact} end"
        return f"Which of these {ends}: {{named}}, or none?"
    if states_nothing:
        return "Has {named} ended?" if candidates == 1 else "Have {named} ended?"
    if proposal.corrections is not None and operation is not Operation.DELETE:
        return "Does {fact} say the same as {named}, with other dates?"
    match operation:
        case Operation.NOOP:
            return "Does {fact} say the same as {named}?"
        case Operation.MERGE:
            return "Do {fact} and {named} belong together, as one fact?"
        case _ if proposal.new_text:
            new_text = quote(proposal.new_text).replace("{", "{{").replace("}", "}}")
            return f"By {{fact}}, does {{named}} now read {new_text}?"
        case _ if is_temporary:
            return "Does {fact} take the place of {named} for a while?"
        case _:
            return "Does {fact} end {named}?"


def list_lettered(candidates: Sequence[Candidate], longest: int = LONGEST_QUOTE) -> str:
    """Return the texts of the candidates, each with its letter."""
    return ", ".join(f"({each.letter}) {quote(each.content, longest)}" for each in candidates)


def _join_texts(candidates: Sequence[Candidate]) -> str:
    texts = [quote(each.content) for each in candidates]
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def quote(text: str | None, longest: int = LONGEST_QUOTE) -> str:
    """Return the text as a question quotes it, in at most `longest` characters."""
    if text is None:
        return "an erased text"
    line = quote_safely(text)
    if len(line) > longest:
        line = f"{line[: longest - 1].rstrip()}…"
    return f"“{line}”"
