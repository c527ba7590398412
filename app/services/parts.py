"""Storing a text of several facts as its parts: facts of their own that share `said_in`."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from uuid_utils.compat import uuid7

from app.domain.errors import PalimpsestError
from app.extraction.fact_splitter import FactSplitter
from app.extraction.parts import Part
from app.services.agent_write import Call, Outcome
from app.services.classify import StoreCommand
from app.services.remember import BatchRefused, Outcomes, Remember


@dataclass(frozen=True, slots=True)
class CommandPart:
    """A part of the text of a command, and the command that stores this part."""

    part: Part
    command: StoreCommand


async def split_command(command: StoreCommand, splitter: FactSplitter) -> list[CommandPart]:
    """Return a command for each fact in the text of this one, in the order of the text.

    The facts have the other fields of the command and a new `said_in`. The command stays whole if
    its text is one fact, if it wants no splitting, or if it names a key, a value or what it
    replaces, because these belong to the whole text. Raises CallerLeft.
    """
    fact = command.fact
    whole = replace(command, splits=False) if command.splits else command
    parts = await splitter.split(fact.content) if _may_split(command) else ()
    if len(parts) < 2:
        return [CommandPart(Part(fact.content, 0, len(fact.content)), whole)]
    said_in = uuid7()
    commands: list[CommandPart] = []
    for part in parts:
        own_fact = replace(fact, content=part.text, said_in=said_in)
        commands.append(CommandPart(part, replace(whole, fact=own_fact)))
    return commands


def _may_split(command: StoreCommand) -> bool:
    fact = command.fact
    names_more = fact.key is not None or fact.value is not None or command.supersedes
    return command.splits and not names_more


@dataclass(frozen=True, slots=True)
class StoredPart:
    """A part of a text, and what storing this part came to."""

    part: Part
    answer: Outcome | PalimpsestError


@dataclass(frozen=True, slots=True)
class TextOutcome:
    """What storing a text came to.

    `first` is the outcome of the text, or of the first of its parts that was stored. `parts` is
    empty if the text was stored whole.
    """

    first: Outcome
    parts: tuple[StoredPart, ...] = ()

    @property
    def outcomes(self) -> list[Outcome]:
        """The outcome of the text, or of each of its parts that was stored."""
        if not self.parts:
            return [self.first]
        return [part.answer for part in self.parts if isinstance(part.answer, Outcome)]


TextOutcomes = list[TextOutcome | PalimpsestError]


class TextStorer:
    """Stores texts, those that want it as their parts."""

    def __init__(self, remember: Remember, splitter: FactSplitter) -> None:
        self._remember = remember
        self._splitter = splitter

    async def store(
        self, call: Call[TextOutcome], command: StoreCommand, *, dry_run: bool = False
    ) -> TextOutcome:
        """Store a text, all of its parts or none. Raises what planning a part raises."""
        try:
            outcomes = await self.store_all(
                call.with_conversion(_get_single_outcome), [command], atomic=True, dry_run=dry_run
            )
        except BatchRefused as refused:
            raise refused.problems[0] from None
        return _get_single_outcome(outcomes)

    async def store_all(
        self,
        call: Call[TextOutcomes],
        commands: Sequence[StoreCommand],
        *,
        atomic: bool = False,
        dry_run: bool = False,
        is_history: bool = False,
    ) -> TextOutcomes:
        """Store texts in order, in one transaction, as `Remember.store_all` stores facts.

        A text of which no part can be stored is answered with its error. BatchRefused names texts
        by their place.
        """
        texts = await asyncio.gather(
            *(split_command(command, self._splitter) for command in commands)
        )

        def join_outcomes(outcomes: Outcomes) -> TextOutcomes:
            return _join_outcomes(texts, outcomes)

        part_commands = [part.command for parts in texts for part in parts]
        try:
            outcomes = await self._remember.store_all(
                call.with_conversion(join_outcomes),
                part_commands,
                atomic=atomic,
                dry_run=dry_run,
                is_history=is_history,
            )
        except BatchRefused as refused:
            raise _name_texts(texts, refused) from None
        return join_outcomes(outcomes)


def _join_outcomes(texts: Sequence[Sequence[CommandPart]], outcomes: Outcomes) -> TextOutcomes:
    """Return one outcome for each text; `outcomes` are those of all parts, in order."""
    left = iter(outcomes)
    joined: TextOutcomes = []
    for parts in texts:
        stored = [StoredPart(part.part, next(left)) for part in parts]
        joined.append(_join_parts(stored))
    return joined


def _join_parts(parts: Sequence[StoredPart]) -> TextOutcome | PalimpsestError:
    for part in parts:
        if isinstance(part.answer, Outcome):
            return TextOutcome(part.answer, tuple(parts) if len(parts) > 1 else ())
    problem = parts[0].answer
    assert isinstance(problem, PalimpsestError)
    return problem


def _name_texts(texts: Sequence[Sequence[CommandPart]], refused: BatchRefused) -> BatchRefused:
    """Return the refusal with the places of texts in place of those of parts."""
    places = list(_list_places(texts))
    problems: dict[int, PalimpsestError] = {}
    for place, problem in refused.problems.items():
        problems.setdefault(places[place], problem)
    return BatchRefused(problems)


def _list_places(texts: Sequence[Sequence[CommandPart]]) -> Iterator[int]:
    """Yield for each part the place of its text."""
    for place, parts in enumerate(texts):
        for _ in parts:
            yield place


def _get_single_outcome(outcomes: TextOutcomes) -> TextOutcome:
    [outcome] = outcomes
    if isinstance(outcome, PalimpsestError):
        raise outcome
    return outcome
