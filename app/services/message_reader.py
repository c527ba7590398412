"""Reading facts from messages: by rules, or by a model with the rules to fall back on.

Nothing is locked, and no connection is held while a model is asked.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.agent import AgentId
from app.domain.captures import ExtractBy
from app.domain.talk import Extraction, Role, Turn
from app.domain.text import hash_text_loosely
from app.extraction.confirmations import read_proposal
from app.extraction.rules import extract_by_rules
from app.extraction.sentences import split_sentences
from app.store import captures
from app.store.engine import connect_for_agent

# A line of a context: a text, the date since which it holds, and further notes.
_CONTEXT_LINE = re.compile(
    r"^- (?P<text>.+?) \((?:since|told) \d{4}-\d{2}-\d{2}[^)]*\)(?: \([^)]*\))?$"
)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")

NO_MODEL = "No model is set, so that rules read the messages."


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read from messages, by whom, and why not by the model if one was asked for."""

    extraction: Extraction
    extractor: ExtractBy
    trouble: str | None = None

    @classmethod
    def nothing(cls) -> Self:
        """Return the reading of messages from which no facts are read."""
        return cls(Extraction((), ()), ExtractBy.OFF)


class MessageReader:
    """Reads facts from the messages of a session."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def read_messages(
        self, agent: AgentId, extract: ExtractBy, turns: Sequence[Turn], *, actor: str
    ) -> Reading:
        """Return the facts of these turns. A model that fails is replaced by the rules."""
        handed_out = await self._find_handed_out(agent, turns)
        extraction = extract_by_rules(turns, handed_out)
        trouble = NO_MODEL if extract is ExtractBy.MODEL else None
        return Reading(extraction, ExtractBy.RULES, trouble)

    async def _find_handed_out(self, agent: AgentId, turns: Sequence[Turn]) -> tuple[str, ...]:
        """Return the texts in these turns that came out of the agent's memory.

        These are sentences of the assistant that a memory says, and the lines of a context.
        """
        texts = list_repeatable_texts(turns)
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
        texts += [sentence, proposal] if proposal else [sentence]
    return texts
