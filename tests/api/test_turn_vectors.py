"""What was said is found by its meaning once a worker has made its vector, and by words until then."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import numpy as np
import psycopg
import pytest

from app.domain.agent import AgentId
from app.services.reembed import Reembedder
from app.services.turn_embedder import TurnEmbedder
from app.settings import load_settings
from app.store.captures import vectors
from app.store.engine import Patience, begin_as_operator, begin_for_agent, create_engine
from app.wiring import Process, open_services
from support.service import running

AGENT = "talker"
TALK = [
    "Booked the dentist for Thursday, ugh.",
    "The kettle is broken again.",
    "We adopted a beagle, Rolf.",
    "My brother plays the cello in Graz.",
]
MEANT = "Which pet do they have?"


@pytest.fixture
def talker(database_url: str) -> Iterator[httpx.Client]:
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address, headers={"X-Agent-Id": AGENT}, timeout=60) as client,
    ):
        yield client


def say(client: httpx.Client, *texts: str, session: str = "s1") -> None:
    messages = [{"role": "user", "content": text} for text in texts]
    body = {"messages": messages, "session_id": session, "extract": "off"}
    client.post("/v1/messages", json=body).raise_for_status()


def find(client: httpx.Client, query: str, **asked: Any) -> list[str]:
    answer = client.post("/v1/search", json={"query": query, "include": ["turns"], **asked})
    return [turn["content"] for turn in answer.raise_for_status().json()["turns"]]


def embed(url: str, **settings: Any) -> None:
    async def run() -> None:
        opened = load_settings(database_url=url, **settings)
        async with open_services(opened, Process.WORKER) as services:
            await services.turn_embedder.embed_waiting()

    asyncio.run(run())


def count_vectors(url: str) -> int:
    with psycopg.connect(url) as connection:
        [count] = connection.execute("SELECT count(embedding) FROM turns").fetchone() or [0]
    return int(count)


def test_a_message_is_found_by_its_meaning_once_it_has_a_vector(
    talker: httpx.Client, database_url: str
) -> None:
    say(talker, *TALK)
    assert find(talker, MEANT) == []
    embed(database_url)
    for mode in ("hybrid", "vector"):
        assert find(talker, MEANT, mode=mode)[0] == "We adopted a beagle, Rolf."
    assert find(talker, MEANT, mode="text") == []
    say(talker, "A beagle, a kettle, a cello!")
    assert "A beagle, a kettle, a cello!" in find(talker, "beagle")


def test_a_context_shows_what_was_said_in_other_words(
    talker: httpx.Client, database_url: str
) -> None:
    say(talker, *TALK)
    embed(database_url)
    text = talker.get("/v1/context", params={"query": MEANT}).raise_for_status().json()["text"]
    assert "Rolf" in text
    assert "kettle" not in text


def test_a_message_that_loses_words_loses_its_vector_until_the_worker_sees_it(
    talker: httpx.Client, database_url: str
) -> None:
    say(talker, *TALK)
    stored = talker.post("/v1/memories", json={"content": "a beagle, Rolf"}).raise_for_status()
    embed(database_url)
    assert count_vectors(database_url) == len(TALK)
    chain = stored.json()["memory"]["chain_id"]
    talker.post("/v1/erasures", json={"chain_id": chain}).raise_for_status()
    assert count_vectors(database_url) == len(TALK) - 1
    embed(database_url)
    assert count_vectors(database_url) == len(TALK)
    talker.post("/v1/erasures", json={"session_id": "s1"}).raise_for_status()
    embed(database_url)
    assert count_vectors(database_url) == 0


def test_no_vector_is_stored_of_words_that_were_erased_meanwhile(
    talker: httpx.Client, database_url: str
) -> None:
    say(talker, *TALK)

    async def run() -> None:
        async with open_services(
            load_settings(database_url=database_url), Process.WORKER
        ) as services:
            engine = services.engine
            async with begin_as_operator(engine) as connection:
                turns = await vectors.list_unembedded_turns(connection, services.encoder, limit=9)
            before = [replace(turn, content=f"{turn.content} And more.") for turn in turns]
            made = list(np.full((len(turns), 384), 0.05, np.float32))
            async with begin_for_agent(engine, AgentId(AGENT)) as connection:
                await vectors.store_turn_vectors(
                    connection, AgentId(AGENT), services.encoder, before, made
                )
                await vectors.store_turn_vectors(connection, AgentId(AGENT), "another", turns, made)

    asyncio.run(run())
    assert count_vectors(database_url) == 0


def test_the_setting_turns_vectors_off(talker: httpx.Client, database_url: str) -> None:
    say(talker, *TALK)
    embed(database_url, message_vectors=False)
    assert count_vectors(database_url) == 0
    assert find(talker, "kettle")[0] == "The kettle is broken again."


def test_imported_messages_get_vectors(talker: httpx.Client, database_url: str) -> None:
    say(talker, *TALK)
    embed(database_url)
    exported = talker.get("/v1/export").raise_for_status().content
    sent = {"X-Agent-Id": "imported", "Content-Type": "application/x-ndjson"}
    talker.post("/v1/import", content=exported, headers=sent).raise_for_status()
    assert count_vectors(database_url) == len(TALK)
    embed(database_url)
    assert count_vectors(database_url) == 2 * len(TALK)


class Counting:
    """An encoder that makes one vector of every text."""

    name = "counting"
    dimensions = 3

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def encode(self, texts: Any) -> Any:
        self.texts += texts
        return np.eye(1, 3, dtype=np.float32).repeat(len(texts), axis=0)


def test_vectors_of_another_encoder_are_never_mixed(
    talker: httpx.Client, database_url: str
) -> None:
    say(talker, *TALK)
    embed(database_url)

    async def run() -> list[str]:
        engine = create_engine(database_url, pool_size=3, patience=Patience())
        encoder = Counting()
        try:
            await Reembedder(engine, encoder).run(lambda done, total: None)
            assert count_vectors(database_url) == 0
            await TurnEmbedder(engine, encoder, is_on=True).embed_waiting()
        finally:
            await engine.dispose()
        return encoder.texts

    assert sorted(asyncio.run(run())) == sorted(TALK)
    assert count_vectors(database_url) == len(TALK)
    embed(database_url)  # by the model from before, which makes none
    assert find(talker, "kettle", mode="text")[0] == "The kettle is broken again."
