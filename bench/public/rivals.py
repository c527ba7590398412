"""Other memories in the same exams, without a language model: `make bench-rivals`.

What each can do without one: BM25 and mem0 keep every text; memvara reads facts by its own rules,
and keeps what it read none in as an episode, which its search finds too.
"""

import asyncio
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from app.embedding.local import LocalEmbedder
from app.networks import FairThreads
from bench.public.memory import Memory, Turn


def _write_turns(sessions: Sequence[Sequence[Turn]]) -> list[str]:
    """Return each turn with its speaker before it, as the service gets both."""
    return [f"{turn.speaker}: {turn.text}" for session in sessions for turn in session]


def _drop_speakers(lines: Sequence[str]) -> list[str]:
    return [line.partition(": ")[2] for line in lines]


class Bm25:
    """Every text, ranked by `bm25s` with its English words without frequent ones."""

    name = "BM25"

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = defaultdict(list)
        self._indexes: dict[str, Any] = {}

    def store(self, agent: str, facts: Sequence[str]) -> None:
        self._texts[agent] += facts
        self._indexes.pop(agent, None)

    def list_held(self, agent: str) -> list[str]:
        return self._texts[agent]

    def search(self, agent: str, question: str, limit: int) -> list[str]:
        bm25s: Any = import_module("bm25s")
        texts = self._texts[agent]
        if not texts:
            return []
        if agent not in self._indexes:
            self._indexes[agent] = bm25s.BM25()
            tokens = bm25s.tokenize(texts, stopwords="en", show_progress=False)
            self._indexes[agent].index(tokens, show_progress=False)
        asked = bm25s.tokenize([question], stopwords="en", show_progress=False)
        places, _ = self._indexes[agent].retrieve(
            asked, k=min(limit, len(texts)), show_progress=False
        )
        return [texts[place] for place in places[0]]

    def store_talk(self, agent: str, sessions: Sequence[Sequence[Turn]]) -> None:
        self.store(agent, _write_turns(sessions))

    def search_talk(self, agent: str, question: str, limit: int) -> list[str]:
        return _drop_speakers(self.search(agent, question, limit))


class _Encoder:
    """The encoder of this repository in the form that mem0 asks for."""

    def __init__(self) -> None:
        self._embedder = LocalEmbedder(FairThreads(2))

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self.embed_batch([text])[0]

    def embed_batch(
        self, texts: Sequence[str], memory_action: str | None = None
    ) -> list[list[float]]:
        vectors: list[list[float]] = asyncio.run(self._embedder.encode(texts)).tolist()
        return vectors


class Mem0:
    """mem0 with `infer=False`, as it works without a model, with the encoder of this repository."""

    name = "mem0"

    def __init__(self) -> None:
        folder = Path(tempfile.mkdtemp())
        openai = {"provider": "openai", "config": {"api_key": "none"}}  # is never asked
        vectors = {"path": str(folder / "vectors"), "embedding_model_dims": 384, "on_disk": True}
        self._memory: Any = import_module("mem0").Memory.from_config(
            {
                "llm": openai,
                "embedder": openai,
                "vector_store": {"provider": "qdrant", "config": vectors},
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._memory.embedding_model = _Encoder()

    def store(self, agent: str, facts: Sequence[str]) -> None:
        for fact in facts:
            self._memory.add(fact, user_id=agent, infer=False)

    def list_held(self, agent: str) -> list[str]:
        held = self._memory.get_all(filters={"user_id": agent}, top_k=100_000)
        return [line["memory"] for line in held["results"]]

    def search(self, agent: str, question: str, limit: int) -> list[str]:
        found = self._memory.search(question, filters={"user_id": agent}, top_k=limit)
        return [line["memory"] for line in found["results"]]

    def store_talk(self, agent: str, sessions: Sequence[Sequence[Turn]]) -> None:
        self.store(agent, _write_turns(sessions))

    def search_talk(self, agent: str, question: str, limit: int) -> list[str]:
        return _drop_speakers(self.search(agent, question, limit))


class Memvara:
    """memvara as it is without a model and without a downloaded encoder.

    Of its search counts the text of a fact, or of the episode where that is what it found. It holds
    what it was told, but for texts of which it read a fact that it has closed since.
    """

    name = "memvara"

    def __init__(self) -> None:
        # It does not start on the SQLite of Debian 12.
        sys.modules["sqlite3"] = import_module("pysqlite3")
        file = Path(tempfile.mkdtemp()) / "memory.db"
        self._memory: Any = import_module("memvara").Memvara(str(file))
        # What was told by the ids of its episodes, of each agent, but for what was read and has ended.
        self._held: dict[str, dict[str, str]] = defaultdict(dict)

    def store(self, agent: str, facts: Sequence[str]) -> None:
        held = self._held[agent]
        for fact in facts:
            receipt = self._memory.add(fact, user=agent)
            held |= dict.fromkeys(receipt.episode_ids, fact)
            for closed in receipt.closed:
                for source in closed.sources:
                    held.pop(source, None)

    def list_held(self, agent: str) -> list[str]:
        return list(self._held[agent].values())

    def search(self, agent: str, question: str, limit: int) -> list[str]:
        found = self._memory.search(question, k=limit, user=agent, include_episodes=True)
        return [hit.text for hit in found]

    def store_talk(self, agent: str, sessions: Sequence[Sequence[Turn]]) -> None:
        self.store(agent, _write_turns(sessions))

    def search_talk(self, agent: str, question: str, limit: int) -> list[str]:
        return _drop_speakers(self.search(agent, question, limit))


RIVALS: dict[str, type[Memory]] = {"bm25": Bm25, "mem0": Mem0, "memvara": Memvara}
