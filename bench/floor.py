"""The floor as a server: a bare Starlette application that does what cannot be left out, straight and without a thread or a pool.

One encode, the same SQL over raw psycopg with prepared statements, a reply of as many bytes as the service's. It checks nothing, decides
nothing and blocks its event loop, so nothing that serves two callers can be as fast.
"""

import json
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import psycopg
import sqlalchemy as sa
from fastapi import FastAPI
from pgvector.psycopg import register_vector
from psycopg.types.json import Jsonb
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from uuid_utils.compat import uuid7

from app.embedding.local import ENGLISH_ENCODER, LocalEmbedder
from app.main import create_app as create_service
from app.networks import FairThreads
from app.settings import load_settings
from app.store import columns, memories, search
from bench.vectors import KnownVectors, Vectors
from bench.world import known_texts

Encode = Callable[[Sequence[str]], Vectors]


def create_service_without_encoder() -> FastAPI:
    """The service as it is, with an embedder that looks its vectors up."""
    return create_service(load_settings(), KnownVectors(known_texts()))


def create_app() -> Starlette:
    """The floor over PALIMPSEST_DATABASE_URL; BENCH_ENCODER=known looks the vectors up."""
    floor = _Floor(os.environ["PALIMPSEST_DATABASE_URL"], _encoder())
    endpoints = {
        "/reply": floor.set_reply,
        "/search": floor.search,
        "/store": floor.store,
        "/batch": floor.batch,
    }
    return Starlette(
        routes=[Route(path, endpoint, methods=["POST"]) for path, endpoint in endpoints.items()]
    )


def _encoder() -> Encode:
    if os.environ.get("BENCH_ENCODER") == "known":
        return KnownVectors(known_texts()).look_up
    embedder = LocalEmbedder(FairThreads(1))
    return lambda texts: np.stack(embedder.encode_texts(texts))


class _Floor:
    def __init__(self, url: str, encode: Encode) -> None:
        self._encode = encode
        self._connection = psycopg.connect(url, options="-c timezone=UTC")
        register_vector(self._connection)
        self._reader = psycopg.connect(url, options="-c timezone=UTC", autocommit=True)
        register_vector(self._reader)
        self._reply = b""
        self._searches = {mode: _search_sql(mode) for mode in ("vector", "hybrid")}
        self._rows: dict[str, _Rows] = {}

    async def set_reply(self, request: Request) -> Response:
        """The bytes to answer with from now on."""
        self._reply = await request.body()
        return Response()

    async def search(self, request: Request) -> Response:
        asked = json.loads(await request.body())
        vector = self._encode([asked["query"]])[0]
        bound: dict[str, object] = {
            "agent": request.headers["x-agent-id"],
            "as_of": None,
            "known_at": None,
            "used_by": None,
        }
        bound |= {
            "query": asked["query"],
            "vector": vector,
            "encoder": ENGLISH_ENCODER,
            "language": "english",
            "limit": asked["limit"],
            "min_score": 0.0,
        }
        self._reader.execute(self._searches[asked["mode"]], bound, prepare=True).fetchall()
        return self._answer()

    async def store(self, request: Request) -> Response:
        [content] = _contents(await request.body())
        rows = self._rows_of(request)
        vector = self._encode([content])[0]
        memory, entry = rows.new(content, vector)
        self._connection.execute(rows.insert_memory, memory, prepare=True)
        self._connection.execute(rows.insert_entry, entry, prepare=True)
        self._connection.commit()
        return self._answer()

    async def batch(self, request: Request) -> Response:
        contents = _contents(await request.body())
        rows = self._rows_of(request)
        vectors = self._encode(contents)
        pairs = [
            rows.new(content, vector) for content, vector in zip(contents, vectors, strict=True)
        ]
        self._copy(rows.copy_memories, rows.memory_types, [memory for memory, _ in pairs])
        self._copy(rows.copy_entries, rows.entry_types, [entry for _, entry in pairs])
        self._connection.commit()
        return self._answer()

    def _copy(self, statement: str, types: list[str], rows: Sequence[Sequence[object]]) -> None:
        with self._connection.cursor() as cursor, cursor.copy(statement.encode()) as copy:
            copy.set_types(types)
            for row in rows:
                copy.write_row(row)

    def _rows_of(self, request: Request) -> "_Rows":
        agent = request.headers["x-agent-id"]
        if agent not in self._rows:
            self._rows[agent] = _Rows(self._connection, agent)
        return self._rows[agent]

    def _answer(self) -> Response:
        return Response(self._reply, media_type="application/json")


def _contents(body: bytes) -> list[str]:
    said = json.loads(body)
    return [item["content"] for item in said.get("items", [said])]


def _search_sql(mode: str) -> str:
    """The service's own statement, as the driver gets it."""
    statement, _ = search.build_search_statement(mode, columns.Filters(), memories.Point())
    return str(sa.text(statement).compile(dialect=PGDialect_psycopg()))  # type: ignore[no-untyped-call]


class _Rows:
    """Rows like those that the service wrote last for this agent: same columns, same sizes, another id, time, content and vector."""

    def __init__(self, connection: psycopg.Connection[Any], agent: str) -> None:
        self._memory, self.memory_types = _last(connection, "memories", agent)
        self._entry, self.entry_types = _last(connection, "consolidation_log", agent)
        self.insert_memory, self.copy_memories = _statements("memories", list(self._memory))
        self.insert_entry, self.copy_entries = _statements("consolidation_log", list(self._entry))

    def new(self, content: str, vector: object) -> tuple[list[object], list[object]]:
        memory_id, now = uuid7(), datetime.now(UTC)
        digests = {name: os.urandom(32) for name in ("content_hash", "fuzzy_hash", "folded_hash")}
        times = dict.fromkeys(("created_at", "valid_from", "asserted_at", "known_from"), now)
        memory = (
            self._memory
            | digests
            | times
            | {"id": memory_id, "chain_id": memory_id, "content": content, "embedding": vector}
        )
        entry = self._entry | {"id": uuid7(), "target_memory_id": memory_id, "created_at": now}
        return list(memory.values()), list(entry.values())


def _last(
    connection: psycopg.Connection[Any], table: str, agent: str
) -> tuple[dict[str, object], list[str]]:
    """The newest row of an agent, ready to be sent again, and the types of its columns."""
    columns = connection.execute(
        """SELECT attname, format_type(atttypid, NULL) FROM pg_attribute
           WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum""",
        [table],
    ).fetchall()
    selected = ", ".join(f"{name}::oid" if kind == "regconfig" else name for name, kind in columns)
    row = connection.execute(
        f"SELECT {selected} FROM {table} WHERE agent_id = %s ORDER BY created_at DESC LIMIT 1",
        [agent],
    ).fetchone()
    assert row, f"{agent} has nothing in {table}"
    connection.rollback()
    values = {
        name: Jsonb(value) if kind == "jsonb" and value is not None else value
        for (name, kind), value in zip(columns, row, strict=True)
    }
    types = {
        "timestamp with time zone": "timestamptz",
        "double precision": "float8",
        "regconfig": "oid",
    }
    return values, [types.get(kind, kind) for _, kind in columns]


def _statements(table: str, columns: list[str]) -> tuple[str, str]:
    names = ", ".join(columns)
    marks = ", ".join("%s" for _ in columns)
    return (
        f"INSERT INTO {table} ({names}) VALUES ({marks})",
        f"COPY {table} ({names}) FROM STDIN (FORMAT BINARY)",
    )
