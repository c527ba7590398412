"""Reading facts from messages: by the network, or by a model with the network to fall back on.

Nothing is locked, and no connection is held while a model is asked.
"""

import asyncio
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.agent import AgentId
from app.domain.captures import ExtractBy
from app.domain.errors import NoModel
from app.domain.fact import Kind
from app.domain.secrets import REDACTED
from app.domain.talk import Extraction, Quote, Role, Skipped, SkipReason, Turn
from app.domain.text import fold_loosely, hash_text_loosely
from app.extraction.blocks import find_blocks
from app.extraction.message_network import MessageNetwork
from app.extraction.model.extractor import ModelExtractor
from app.extraction.model.small_talk import MOST_OF_SMALL_TALK, list_small_talk
from app.extraction.model.support import drop_framed
from app.extraction.proposals import read_proposal
from app.extraction.sentences import split_sentences
from app.extraction.talk_reader import read_talk
from app.remote.budget import Payer
from app.services import metrics
from app.store.captures import captures
from app.store.engine import connect_for_agent

# A line of a context: a text, the date since which it holds, and further notes.
_CONTEXT_LINE = re.compile(
    r"^- (?P<text>.+?) \((?:since|told) \d{4}-\d{2}-\d{2}[^)]*\)(?: \([^)]*\))?$"
)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")

# A statement of a model's is dropped below this probability of being worth keeping.
LEAST_OF_MODEL = 0.05
NO_MODEL = "No model is set where the messages are read, so that the network reads them."


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read from messages, by whom, and why the model's answer, or a part, was not used."""

    extraction: Extraction
    extractor: ExtractBy
    trouble: str | None = None

    @classmethod
    def nothing(cls) -> Self:
        """Return the reading of messages from which no facts are read."""
        return cls(Extraction((), ()), ExtractBy.OFF)


class MessageReader:
    """Reads facts from the messages of a session. `model` is None if no model is set.

    The network or the model reads statements, and the network drops of the model's those that are
    hardly worth keeping. `default` reads messages whose call does not say what reads them.
    """

    def __init__(
        self,
        engine: AsyncEngine,
        model: ModelExtractor | None,
        network: MessageNetwork,
        *,
        default: ExtractBy,
    ) -> None:
        self._engine = engine
        self._model = model
        self._network = network
        self._default = default

    def choose_extractor(self, wanted: ExtractBy | None) -> ExtractBy:
        """Return what reads messages whose call asks for this. Raises NoModel."""
        if wanted is ExtractBy.MODEL and self._model is None:
            raise NoModel
        return wanted or self._default

    async def read_messages(
        self, agent: AgentId, extract: ExtractBy, turns: Sequence[Turn], *, first: int, actor: str
    ) -> Reading:
        """Return the facts of the turns from the place `first` on, and perhaps of those before.

        If a model fails, the network reads them instead. `actor` pays for the model.
        """
        handed_out = await self._find_handed_out(agent, turns)
        read = await read_talk(turns, self._network, handed_out)
        trouble: str | None = None
        if extract is ExtractBy.MODEL:
            reading = await self._ask_model(Payer(agent, actor), turns, first, handed_out, read)
            if reading.extractor is ExtractBy.MODEL:
                return reading
            trouble = reading.trouble
        return Reading(read, ExtractBy.NETWORK, trouble)

    async def _drop_idle(self, extraction: Extraction) -> Extraction:
        """Return what a model read without what is surely not worth keeping.

        The network says so, of what it can read.
        """
        stated = [each for each in extraction.statements if self._network.can_read(each.text)]
        worths = await self._network.weigh(statement.text for statement in stated)
        idle = {
            statement
            for statement, worth in zip(stated, worths, strict=True)
            if not statement.is_note
            and statement.kind is not Kind.PREFERENCE
            and worth < LEAST_OF_MODEL
        }
        return extraction.drop(idle, SkipReason.NOT_PERSONAL)

    async def _ask_model(
        self,
        payer: Payer,
        turns: Sequence[Turn],
        first: int,
        handed_out: Collection[str],
        read: Extraction,
    ) -> Reading:
        """Return what the model read. If it failed, nothing was read, by nobody."""
        if self._model is None:
            return replace(Reading.nothing(), trouble=NO_MODEL)
        hidden = find_hidden_parts(turns, handed_out)
        shown = hide_parts(turns, hidden)
        small_talk = list_small_talk(shown, first, read)
        if small_talk is not None:
            worths = await self._network.weigh(small_talk)
            if max(worths, default=0.0) < MOST_OF_SMALL_TALK:
                return Reading(read, ExtractBy.MODEL)
        result = await self._model.extract(payer, shown, first)
        metrics.count_model_cost(result.cost)
        if result.extraction is None:
            return replace(Reading.nothing(), trouble=result.cost.trouble)
        extraction = drop_handed_out(result.extraction, hidden, handed_out)
        extraction = await self._drop_idle(drop_framed(extraction, read, turns))
        return Reading(extraction, ExtractBy.MODEL, result.cost.trouble)

    async def _find_handed_out(self, agent: AgentId, turns: Sequence[Turn]) -> tuple[str, ...]:
        """Return the texts in these turns that came out of the agent's memory.

        These are sentences of the assistant that a memory says, and the lines of a context.
        """
        texts = await asyncio.to_thread(list_repeatable_texts, turns)
        if not texts:
            return ()
        hashes = {hash_text_loosely(stated) for _, stated in texts}
        async with connect_for_agent(self._engine, agent) as connection:
            stored = await captures.find_stored_hashes(connection, agent, hashes)
        handed_out: dict[str, None] = {}
        for whole, stated in texts:
            if hash_text_loosely(stated) in stored:
                handed_out |= {whole: None, stated: None}
        return tuple(handed_out)


def list_repeatable_texts(turns: Sequence[Turn]) -> list[tuple[str, str]]:
    """Return texts that may come out of a memory, each with the words that the memory would have.

    A user who states a fact again repeats it on purpose, so that only lines of a context are listed
    of what users say.
    """
    texts: list[tuple[str, str]] = []
    for turn in turns:
        for line in turn.content.splitlines():
            in_context = _CONTEXT_LINE.match(line.strip())
            if in_context:
                texts.append((line.strip(), in_context["text"]))
            elif turn.role is Role.ASSISTANT:
                texts += [(text, text) for text in _list_assistant_texts(line)]
    return texts


def _list_assistant_texts(line: str) -> list[str]:
    """Return the sentences of a line, and what they propose about the user in the user's words."""
    bare = _BULLET.sub("", line).strip()
    texts = [bare] if bare else []
    for start, end in split_sentences(bare, 0, len(bare)):
        sentence = bare[start:end]
        proposal = read_proposal(sentence)
        texts += [sentence, proposal.yes] if proposal else [sentence]
    return texts


# --- what a model must not read -------------------------------------------------------------------


def find_hidden_parts(turns: Sequence[Turn], handed_out: Collection[str]) -> list[Skipped]:
    """Return what came out of the memory, contexts and lines, and sentences that had a secret."""
    known = set(handed_out)
    parts: list[Skipped] = []
    for place, turn in enumerate(turns):
        for block in find_blocks(turn.content):
            if block.reason in (SkipReason.REPEATED_CONTEXT, SkipReason.LEFT_OUT):
                quote = Quote(place, block.start, block.end)
                parts.append(Skipped(quote, block.reason))
            for start, end in _find_redacted(turn.content, block.start, block.end):
                parts.append(Skipped(Quote(place, start, end), SkipReason.REDACTED))
        for start, end in _find_lines(turn.content):
            if turn.content[start:end] in known and turn.role is Role.USER:
                parts.append(Skipped(Quote(place, start, end), SkipReason.REPEATED_CONTEXT))
    return parts


def _find_redacted(content: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the places of the sentences from which a secret was removed."""
    if REDACTED not in content[start:end]:
        return
    for first, last in split_sentences(content, start, end):
        if REDACTED in content[first:last]:
            yield first, last


def _find_lines(content: str) -> Iterator[tuple[int, int]]:
    """Yield the places of the lines of a context, without the space around them."""
    for match in re.finditer(r"[^\n]+", content):
        line = match[0].strip()
        if _CONTEXT_LINE.match(line):
            start = match.start() + match[0].index(line)
            yield start, start + len(line)


def hide_parts(turns: Sequence[Turn], parts: Sequence[Skipped]) -> list[Turn]:
    """Return the turns with spaces for these parts, so that all other places stay as they are."""
    contents = [turn.content for turn in turns]
    for quote in (part.quote for part in parts):
        content = contents[quote.turn]
        blank = " " * (quote.end - quote.start)
        contents[quote.turn] = content[: quote.start] + blank + content[quote.end :]
    return [replace(turn, content=text) for turn, text in zip(turns, contents, strict=True)]


def drop_handed_out(
    extraction: Extraction, hidden: Sequence[Skipped], handed_out: Collection[str]
) -> Extraction:
    """Return the extraction without the statements that a memory says and the assistant repeated.

    The hidden parts are among what was skipped.
    """
    known = {fold_loosely(text) for text in handed_out}
    repeated = {each for each in extraction.statements if fold_loosely(each.text) in known}
    left = extraction.drop(repeated, SkipReason.REPEATED_CONTEXT)
    return replace(left, skipped=(*left.skipped, *hidden))
