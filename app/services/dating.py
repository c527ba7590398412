"""Reading the dates of facts from their words, before the facts are classified."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo

from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.agent import AgentId
from app.domain.dates.dated_text import DatedText
from app.domain.dates.facts import date_fact, find_times
from app.domain.dates.window import Window, find_window
from app.domain.dates.zones import find_zone
from app.domain.fact import Fact
from app.extraction.date_roles import RuledText
from app.extraction.dates_network import DatesNetwork
from app.planning.dating import add_dates
from app.services.classify import StoreCommand
from app.store.agents import read_clock_and_zone
from app.store.engine import connect_for_agent
from app.turns import read_in_thread


@dataclass(frozen=True, slots=True)
class DatedFact:
    """A fact with the dates of its words.

    `left_open` are words that may date it or may not. `is_episode` is True if its words say that it
    is over.
    """

    fact: Fact
    left_open: tuple[str, ...] = ()
    is_episode: bool = False


class FactDater:
    """Reads dates from the words of facts.

    A relative date counts from when the words were spoken, in the time zone of the agent. If the
    agent has none, the zone in which they were spoken counts, else `zone`. Without `is_on`, facts
    stay as they are.
    """

    def __init__(
        self, engine: AsyncEngine, network: DatesNetwork, *, zone: tzinfo, is_on: bool
    ) -> None:
        self._engine = engine
        self._network = network
        self._zone = zone
        self._is_on = is_on

    async def date_commands(
        self, agent: AgentId, commands: Sequence[StoreCommand]
    ) -> list[StoreCommand]:
        """Return the commands with the dates of their facts; some want none to be read."""
        read = [command for command in commands if command.reads_dates]
        facts, zones = [each.fact for each in read], [each.zone for each in read]
        dated = iter(await self.date_facts(agent, facts, zones))
        results: list[StoreCommand] = []
        for command in commands:
            if not command.reads_dates:
                results.append(command)
                continue
            one = next(dated)
            results.append(
                replace(command, fact=one.fact, left_open=one.left_open, is_episode=one.is_episode)
            )
        return results

    async def date_facts(
        self, agent: AgentId, facts: Sequence[Fact], zones: Sequence[tzinfo | None]
    ) -> list[DatedFact]:
        """Return the facts with the dates of their words; `zones` are those of their callers.

        Most facts have no date in words. So the database is asked for its clock and for the agent's
        time zone only if some have one.
        """
        if not self._is_on or not facts:
            return [DatedFact(fact) for fact in facts]
        clock, own = datetime.now(UTC), None
        read = await self._read_times(facts)
        if any(role.dates for _, roles in read for role in roles):
            clock, own = await self._read_clock_and_zone(agent)
        texts = _date_all(facts, read, clock, [own or zone or self._zone for zone in zones])
        dated: list[DatedFact] = []
        for fact, text in zip(facts, texts, strict=True):
            by, said_at = text.dated_by, fact.said_at or clock
            with_dates = add_dates(fact, by, said_at) if by is not None else fact
            dated.append(DatedFact(with_dates, text.left_open, text.is_episode))
        return dated

    async def find_episodes(self, facts: Sequence[Fact]) -> list[bool]:
        """Return, for each fact, True if its words say that it is over; each has a `said_at`."""
        read = await self._read_times(facts)
        texts = _date_all(facts, read, datetime.now(UTC), [UTC] * len(facts))
        return [text.is_episode for text in texts]

    async def read_window(self, agent: AgentId, question: str) -> Window | None:
        """Return the time that a question asks about, if its words name one.

        Relative dates count from now, in the zone of the agent.
        """
        if not self._is_on:
            return None
        timed = await self._network.find_times(question)
        if not timed.phrases:
            return None
        clock, own = await self._read_clock_and_zone(agent)
        return find_window(timed, clock, own or self._zone)

    async def _read_clock_and_zone(self, agent: AgentId) -> tuple[datetime, tzinfo | None]:
        """Return the clock of the database, and the agent's zone if it has one."""
        async with connect_for_agent(self._engine, agent) as connection:
            clock, name = await read_clock_and_zone(connection, agent)
        return clock, find_zone(name) if name else None

    async def _read_times(self, facts: Sequence[Fact]) -> list[RuledText]:
        """Return the phrases of time in each fact, with what they are to it. Raises CallerLeft."""
        contents = [fact.content for fact in facts]
        timed = await read_in_thread(lambda: [find_times(text) for text in contents], contents)
        return await asyncio.gather(*map(self._network.rule, timed))


def _date_all(
    facts: Sequence[Fact], read: Sequence[RuledText], clock: datetime, zones: Sequence[tzinfo]
) -> list[DatedText]:
    return [
        date_fact(*ruled, fact.said_at or clock, zone)
        for fact, ruled, zone in zip(facts, read, zones, strict=True)
    ]
