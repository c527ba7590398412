"""The parts of a text of several facts: facts of their own that share `said_in`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from uuid_utils.compat import uuid7

from app.domain.errors import PalimpsestError
from app.extraction.fact_splitter import FactSplitter
from app.extraction.parts import Part
from app.services.agent_write import Outcome
from app.services.classify import StoreCommand


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
    names_more = fact.key is not None or fact.value is not None or command.supersedes
    may_split = command.splits and not names_more
    parts = await splitter.split(fact.content) if may_split else ()
    if len(parts) < 2:
        return [CommandPart(Part(fact.content, 0, len(fact.content)), whole)]
    said_in = uuid7()
    commands: list[CommandPart] = []
    for part in parts:
        own_fact = replace(fact, content=part.text, said_in=said_in)
        commands.append(CommandPart(part, replace(whole, fact=own_fact)))
    return commands


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


def join_parts(
    texts: Sequence[Sequence[CommandPart]], outcomes: Sequence[Outcome | PalimpsestError]
) -> TextOutcomes:
    """Return one outcome for each text; `outcomes` are those of all parts, in order.

    A text of which no part was stored has the error of its first part.
    """
    left = iter(outcomes)
    joined: TextOutcomes = []
    for parts in texts:
        stored = tuple(StoredPart(part.part, next(left)) for part in parts)
        answers = [part.answer for part in stored]
        first = next((each for each in answers if isinstance(each, Outcome)), answers[0])
        if isinstance(first, Outcome):
            joined.append(TextOutcome(first, stored if len(stored) > 1 else ()))
        else:
            joined.append(first)
    return joined
