"""What an exam asks of a memory, and how the service is asked."""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import httpx
import psycopg

_ANY_UNEMBEDDED = "SELECT 1 FROM turns WHERE embedding IS NULL AND content IS NOT NULL LIMIT 1"

BATCH = 100  # facts of a call, messages too
PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Turn:
    """What somebody said in a conversation."""

    speaker: str
    text: str


class Memory(Protocol):
    """A memory that is examined. Each case has an agent of its own, which holds nothing yet."""

    name: str

    def store(self, agent: str, facts: Sequence[str]) -> None:
        """Tell the facts, one after the other."""

    def list_held(self, agent: str) -> list[str]:
        """Return the texts that the memory still holds to be true."""

    def search(self, agent: str, question: str, limit: int) -> list[str]:
        """Return the texts that it finds, the best first."""

    def store_talk(self, agent: str, sessions: Sequence[Sequence[Turn]]) -> None:
        """Tell what was said, session by session."""

    def search_talk(self, agent: str, question: str, limit: int) -> list[str]:
        """Return the texts of turns that it finds, the best first."""


class Palimpsest:
    """The service at a port, over HTTP, as it is without settings. A worker runs beside it."""

    def __init__(self, port: int, database_url: str) -> None:
        self.name = "Palimpsest"
        self._database_url = database_url
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=600)

    def store(self, agent: str, facts: Sequence[str]) -> None:
        for start in range(0, len(facts), BATCH):
            items = [{"content": fact} for fact in facts[start : start + BATCH]]
            # They are a history: what they end does not count as a burst of endings.
            self._post(agent, "/v1/memories/batch", {"items": items, "history": True})

    def list_held(self, agent: str) -> list[str]:
        held: list[str] = []
        cursor = None
        while True:
            asked = {"limit": PAGE} | ({"cursor": cursor} if cursor else {})
            page = self._get(agent, "/v1/memories", asked)
            held += [memory["content"] for memory in page["items"]]
            cursor = page["next_cursor"]
            if not cursor:
                return held

    def list_asked(self, agent: str) -> list[tuple[str, str]]:
        """Return the open questions: what was told, and what it may have ended."""
        page = self._get(agent, "/v1/reviews", {"limit": PAGE})
        return list(_list_pairs(page["items"]))

    def search(self, agent: str, question: str, limit: int) -> list[str]:
        found = self._post(agent, "/v1/search", {"query": question, "limit": limit})
        return [hit["memory"]["content"] for hit in found["results"]]

    def search_with_floor(self, agent: str, question: str, limit: int) -> list[str]:
        """Return only what may answer: `focus`."""
        sent = {"query": question, "limit": limit, "focus": True}
        found = self._post(agent, "/v1/search", sent)
        return [hit["memory"]["content"] for hit in found["results"]]

    def build_context(self, agent: str, query: str) -> str:
        text: str = self._get(agent, "/v1/context", {"query": query})["text"]
        return text

    def store_talk(self, agent: str, sessions: Sequence[Sequence[Turn]]) -> None:
        for number, session in enumerate(sessions):
            messages = [
                {"role": "user", "name": turn.speaker, "content": turn.text} for turn in session
            ]
            for start in range(0, len(messages), BATCH):
                sent = {
                    "messages": messages[start : start + BATCH],
                    "session_id": f"session-{number}",
                    "extract": "off",
                }
                self._post(agent, "/v1/messages", sent)
        self._await_vectors()

    def _await_vectors(self) -> None:
        """Return when the worker has made the vectors of all messages."""
        with psycopg.connect(self._database_url, autocommit=True) as connection:
            connection.execute("SET ROLE palimpsest_operator")  # which sees every agent
            while connection.execute(_ANY_UNEMBEDDED).fetchone():
                time.sleep(0.5)

    def search_talk(self, agent: str, question: str, limit: int) -> list[str]:
        sent = {"query": question, "limit": limit, "include": ["turns"]}
        return [turn["content"] for turn in self._post(agent, "/v1/search", sent)["turns"]]

    def _post(self, agent: str, path: str, sent: Any) -> Any:
        answer = self.client.post(path, json=sent, headers={"X-Agent-Id": agent})
        return json.loads(answer.raise_for_status().content)

    def _get(self, agent: str, path: str, asked: dict[str, Any]) -> Any:
        answer = self.client.get(path, params=asked, headers={"X-Agent-Id": agent})
        return json.loads(answer.raise_for_status().content)


def _list_pairs(reviews: Sequence[Any]) -> Iterator[tuple[str, str]]:
    for review in reviews:
        for candidate in review["candidates"]:
            yield review["content"], candidate["content"]
