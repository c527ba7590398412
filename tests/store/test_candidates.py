"""What facts are compared with, read for many of them at once."""

import asyncio
import itertools
from collections.abc import Callable, Coroutine
from typing import TypeVar

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray
from sqlalchemy.ext.asyncio import AsyncConnection

from app.domain.agent import AgentId
from app.domain.errors import EmbeddingsChanged
from app.domain.fact import DerivedSlot, Fact
from app.embedding.local import ENGLISH_ENCODER, LocalEmbedder
from app.networks import FairThreads
from app.settings import load_settings
from app.store import comparison
from app.store.comparison import MAX_ALIKE, ComparisonOptions
from app.store.engine import Patience, begin_for_agent, create_engine
from app.store.ranking import Hit
from support.service import running

Found = TypeVar("Found")

AGENT = AgentId("comparing")
COMPARING = ComparisonOptions(ENGLISH_ENCODER, "english", 4)
PEOPLE, PLACES = ("Anna", "Ben", "Carla", "Dmitri", "Elif"), ("Porto", "Lisbon", "Bern", "Oslo")
VISITS = tuple(itertools.product(PEOPLE, PLACES))
STORED = [
    {"content": f"{who} spends the summer in {where}", "category": where} for who, where in VISITS
]
FACTS = [
    Fact("Anna spends the winter in Porto"),
    Fact("Who is in Bern?", category="bern "),
    Fact("Nothing like what is stored: 42"),
    Fact("Elif's home is Oslo", derived=DerivedSlot("Elif", "home", "Oslo")),
    Fact('It\'s {curly}, "quoted" and 100 % \\ odd', category=""),
]


@pytest.fixture
def url(database_url: str) -> str:
    """A database in which the agent has what is stored, and another agent the same."""
    with running(load_settings(database_url=database_url)) as address:
        for agent in (AGENT, "another"):
            with httpx.Client(
                base_url=address, headers={"X-Agent-Id": agent}, timeout=60
            ) as client:
                client.post(
                    "/v1/memories/batch", json={"items": [{**s, "classify": False} for s in STORED]}
                ).raise_for_status()
                client.post(
                    "/v1/memories", json={"content": "Elif lives in Bern"}
                ).raise_for_status()
    return database_url


def vectors_of(facts: list[Fact]) -> list[NDArray[np.float32]]:
    return LocalEmbedder(FairThreads(1)).encode_texts([fact.content for fact in facts])


def reading(url: str, read: Callable[[AsyncConnection], Coroutine[None, None, Found]]) -> Found:
    """What is read over a connection of its own."""

    async def run() -> Found:
        engine = create_engine(url, pool_size=1, patience=Patience())
        try:
            async with begin_for_agent(engine, AGENT) as connection:
                return await read(connection)
        finally:
            await engine.dispose()

    return asyncio.run(run())


def compared(
    url: str, facts: list[Fact], comparing: ComparisonOptions = COMPARING
) -> list[list[Hit]]:
    vectors = vectors_of(facts)
    _, hits = reading(
        url,
        lambda connection: comparison.find_candidates(connection, AGENT, facts, vectors, comparing),
    )
    return hits


def told(hits: list[Hit]) -> list[tuple[str, dict[str, float]]]:
    return [
        (hit.memory.fact.content, {name: round(score, 6) for name, score in hit.scores.items()})
        for hit in hits
    ]


def test_many_facts_are_compared_with_what_each_alone_is(url: str) -> None:
    together = compared(url, FACTS)
    assert [told(hits) for hits in together] == [told(compared(url, [fact])[0]) for fact in FACTS]
    assert [told(hits) for hits in compared(url, FACTS[::-1])] == [
        told(hits) for hits in together[::-1]
    ]


def shown(url: str, stored: list[str], incoming: str) -> list[str]:
    """The texts of the candidates that an answer lists."""
    items = [{"content": content, "classify": False} for content in stored]
    with running(load_settings(database_url=url)) as address, httpx.Client(timeout=60) as client:
        client.post(f"{address}/v1/memories/batch", json={"items": items}).raise_for_status()
        fact = {"content": incoming, "dry_run": True}
        answer = client.post(f"{address}/v1/memories", json=fact).json()
    return [candidate["content"] for candidate in answer["candidates"]]


def test_the_nearest_comes_before_those_that_only_share_words(database_url: str) -> None:
    smokes = "My father smokes a pack a day."
    away = [f"{who} goes to {where} for six weeks." for who, where in VISITS]
    candidates = shown(database_url, [smokes, *away], "Dad hasn't lit a cigarette in six weeks.")
    assert candidates[0] == smokes


def test_of_those_about_as_near_the_one_with_the_same_words_comes_first(database_url: str) -> None:
    stored = ["User likes coffee.", "User drinks coffee every morning."]
    assert shown(database_url, stored, "User does not drink coffee.") == stored[::-1]


def test_a_few_of_the_same_category_and_derived_slot_come_behind_them(url: str) -> None:
    hits = dict(zip((fact.content for fact in FACTS), compared(url, FACTS), strict=True))
    in_bern = [hit.memory.fact for hit in hits["Who is in Bern?"]]
    assert sum(fact.category == "Bern" for fact in in_bern) == len(PEOPLE) <= MAX_ALIKE
    assert "Elif lives in Bern" in [hit.memory.fact.content for hit in hits["Elif's home is Oslo"]]
    assert len(hits["Anna spends the winter in Porto"]) == COMPARING.limit, (
        "no category, no derived slot: none are added"
    )


def test_an_agent_without_memories_has_nothing_to_compare_with(database_url: str) -> None:
    with running(load_settings(database_url=database_url)):
        assert compared(database_url, FACTS) == [[] for _ in FACTS]


def test_vectors_of_another_model_are_not_compared(url: str) -> None:
    with pytest.raises(EmbeddingsChanged):
        compared(url, FACTS, ComparisonOptions("another/384", "english", 4))
