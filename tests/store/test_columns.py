"""The declaration of columns and JSON fields, against a live database and what erasing leaves."""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from pgvector.sqlalchemy import Vector
from psycopg import sql
from sqlalchemy.dialects.postgresql import BYTEA

from app.api.schemas.memories import PatchRequest
from app.planning.audit import checkpoint
from app.settings import load_settings
from app.store.columns import (
    COLUMN_NAMES,
    ERASED_WITH_MEMORY,
    MEMORY_COLUMNS,
    PATCHABLE,
    Filters,
    Wording,
    list_logged_columns,
    not_erased_sql,
)
from app.store.other_columns import (
    JOB_ARGUMENTS,
    JOB_SCHEMA,
    OTHER_COLUMNS,
    UNDECLARED_TABLES,
    Erasure,
    JsonField,
)
from app.store.tables import metadata
from support.agent_indexes import build_index
from support.builders import send, store
from support.cluster import needs_one_server
from support.databases import fresh_database
from support.doctor_check import assert_healthy
from support.retention import retain
from support.scripted_model import ScriptedModel, every, quoting, says
from support.service import running
from support.stored_text import everything, in_files, read_statistics
from support.sweeps import Place
from support.transfers import NDJSON
from support.urls import name_of

# Citus has tables of its own, and agents have no indexes on a cluster.
pytestmark = needs_one_server

MARKER = "zebra"

DATED_BY = tuple(map(JsonField, ("text", "span[]", "from", "until", "precision")))

# --- reading a database --------------------------------------------------------------------------


def read_columns(url: str) -> dict[tuple[str, str], str]:
    """Return the type of every column of our tables."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT table_name, column_name, udt_name FROM information_schema.columns "
            "WHERE table_schema NOT IN ('pg_catalog', 'information_schema', %s)",
            [JOB_SCHEMA],
        ).fetchall()
    return {(table, column): kind for table, column, kind in rows if table not in UNDECLARED_TABLES}


def list_declared_columns() -> set[tuple[str, str]]:
    declared = {("memories", name) for name in COLUMN_NAMES}
    for table, columns in OTHER_COLUMNS.items():
        declared |= {(table, column.name) for column in columns}
    return declared


def find_undeclared_columns(url: str) -> set[tuple[str, str]]:
    return set(read_columns(url)) - list_declared_columns()


def read_values(url: str, table: str, column: str) -> list[Any]:
    with psycopg.connect(url) as connection:
        name = sql.SQL("SELECT {} FROM {}").format(
            sql.Identifier(column), sql.Identifier(*table.split("."))
        )
        return [row[0] for row in connection.execute(name).fetchall() if row[0] is not None]


def list_paths(value: Any, path: str = "") -> Iterator[str]:
    """Yield the path of every leaf of a JSON value; an empty array or object is no leaf."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from list_paths(inner, f"{path}.{name}".removeprefix("."))
    elif isinstance(value, list):
        for inner in value:
            yield from list_paths(inner, f"{path}[]")
    else:
        yield path


_KEYS = {"{id}": r"[0-9a-f-]{36}", "{time}": r"\d{4}-\d\d-\d\dT[^]]+", "{name}": r"[^.]+"}


def build_pattern(path: str) -> re.Pattern[str]:
    pattern = re.escape(path)
    for key, expression in _KEYS.items():
        pattern = pattern.replace(re.escape(key), expression)
    return re.compile(pattern.replace(re.escape(".**"), ".*"))


def find_undeclared_paths(values: list[Any], declared: tuple[JsonField, ...]) -> set[str]:
    patterns = [build_pattern(field.path) for field in declared]
    written = {path for value in values for path in list_paths(value)}
    return {path for path in written if not any(p.fullmatch(path) for p in patterns)}


def find_undeclared_fields(url: str) -> set[str]:
    """Return the paths of JSON that a database holds and nobody declared."""
    fields_of = {
        (table, column.name): column.json
        for table, columns in OTHER_COLUMNS.items()
        for column in columns
    }
    fields_of["memories", "dated_by"] = DATED_BY
    undeclared = set()
    for (table, column), kind in read_columns(url).items():
        if kind in ("json", "jsonb") and (table, column) != ("memories", "details"):
            values = read_values(url, table, column)
            paths = find_undeclared_paths(values, fields_of[table, column])
            undeclared |= {f"{table}.{column}: {path}" for path in paths}
    arguments = read_values(url, f"{JOB_SCHEMA}.procrastinate_jobs", "args")
    paths = find_undeclared_paths(arguments, JOB_ARGUMENTS)
    undeclared |= {f"procrastinate_jobs.args: {path}" for path in paths}
    return undeclared


# --- a database in which a caller's text stands wherever it can ----------------------------------


@dataclass(frozen=True, slots=True)
class MarkedDatabase:
    """A database whose every text of a caller contains the marker, and its archive folder."""

    url: str
    archives: Path


TEXTS: dict[str, Any] = {
    "details": {"rationale": "Zebra-detail", "related_files": ["zebra.md"]},
    "tags": ["zebra-tag"],
    "entities": ["Zebra Entity"],
    "sources": ["zebra-source"],
    "source": "zebra.txt",
    "session_id": "zebra-session",
    "project": "zebra-project",
}
SLOT: dict[str, Any] = {
    "entity": "Zebra-11",
    "category": "zebra-places",
    "key": "zebra-home",
}


def store_marked(client: httpx.Client, content: str, **more: Any) -> dict[str, Any]:
    return store(client, content, **{**TEXTS, **more})


def write_marked_history(client: httpx.Client, model: ScriptedModel) -> None:
    """Make every kind of write; each text that it sends contains the marker."""
    write_values(client)
    write_judged(client, model)
    write_reviews(client, model)
    write_imports(client)
    write_messages(client, model)


def write_values(client: httpx.Client) -> None:
    """Stores, a duplicate, corrections, retractions, links, vetoes, reverts and a kept answer."""
    first = client.post(
        "/v1/memories",
        json={"content": "Zebra lives in Porto", "value": "Zebra Porto", **TEXTS, **SLOT},
        headers={"Idempotency-Key": "one"},
    ).json()["memory"]
    store_marked(client, "ZEBRA lives in Porto!", value="Zebra Porto", **SLOT)
    patch = {
        **{name: TEXTS[name] for name in ("details", "entities", "sources")},
        **{"tags": ["zebra-patched"], "source": "zebra-2.txt", "project": "zebra-2"},
        **{"importance": 0.7, "confidence": 0.8, "trust": 60, "lifespan": "permanent"},
    }
    patched = client.patch(f"/v1/memories/{first['id']}", json=patch).json()
    client.post(f"/v1/log/{patched['log_id']}/revert", json={}).raise_for_status()
    second = store_marked(client, "Zebra lives in Lisbon", value="Zebra Lisbon", **SLOT)["memory"]
    store_marked(client, "The zebra server runs Linux", entity="Zebra-12")
    store_marked(client, "The zebra server runs Windows", entity="Zebra-13")
    dated = store_marked(client, "The zebra has lived in Faro since 2020", entity="Zebra-14")
    assert dated["memory"]["dated_by"]
    tied = {"type": "references", "target_id": first["id"]}
    client.post(f"/v1/memories/{second['id']}/relationships", json=tied).raise_for_status()
    reason = {"reason": "The zebra said so"}
    client.post(f"/v1/memories/{second['id']}/retract", json=reason).raise_for_status()
    store_marked(client, "I live in Zebraville")
    ending = {"content": "I no longer live in Zebraville", "classify": "signals"}
    gone = send(client, {**ending, **TEXTS})
    client.post(f"/v1/log/{gone['log_id']}/revert", json={"store": True}).raise_for_status()


def write_judged(client: httpx.Client, model: ScriptedModel) -> None:
    """A merge, an overlap, reasons of a model that quote, and a model's unusable words."""
    model.then(every("NONE"))
    store_marked(client, "The Falcon app was written by Zebra")
    model.then(every("COMPLEMENT"))
    store_marked(client, "The Falcon app has 12000 zebra users")
    model.then(every("OVERLAP"))
    store_marked(client, "The Falcon app is striped like a zebra")
    model.then(every("zebra-relation"))
    store_marked(client, "The Falcon app was written in Zebra Rust")
    model.then(every("NONE"))


def write_reviews(client: httpx.Client, model: ScriptedModel) -> None:
    """Reviews that wait, that were accepted and rejected with a note, and stores held back."""
    model.then(every("NONE"))
    store_marked(client, "The Kestrel app was written by Zebra")
    model.then(quoting("CONTRADICTION", 0.5))
    waiting = [
        store_marked(client, f"The Kestrel app was written by Zebra {name}")["review_id"]
        for name in ("Anna", "Ben", "Cleo")
    ]
    note = {"note": "A zebra note"}
    [named, *_] = client.get(f"/v1/reviews/{waiting[0]}").json()["candidates"]
    chosen = note | {"memories": [named["memory_id"]]}
    for review_id, decision, body in zip(
        waiting, ("accept", "reject"), (chosen, note), strict=False
    ):
        client.post(f"/v1/reviews/{review_id}/{decision}", json=body).raise_for_status()
    model.then(every("NONE"))
    short = {"content": "The zebra visit is on Monday", "lifespan": "session"}
    store(client, **{**TEXTS, **short})
    client.patch("/v1/agents/default", json={"mode": "shadow"}).raise_for_status()
    store(client, **{**TEXTS, **short, "lifespan": "project"})
    store_marked(client, "Zebra lives in Faro", value="Zebra Faro", **SLOT)
    client.patch("/v1/agents/default", json={"mode": "frozen"}).raise_for_status()
    asked = {"content": "The zebra was frozen", **TEXTS}
    client.post("/v1/memories", json=asked, headers={"Idempotency-Key": "held"}).raise_for_status()
    client.patch("/v1/agents/default", json={"mode": "live"}).raise_for_status()


def write_messages(client: httpx.Client, model: ScriptedModel) -> None:
    """Messages of the erased session: a fact, a duplicate of one, a question, kept answers, and an unusable answer of a model."""
    texts = ("My zebra is called Marty.", "Zebra lives in Porto", "Do you like zebras?")
    for key in ("first", "second"):
        messages = []
        for text in texts:
            message = {"role": "user", "content": text, "name": "Zebra Anna"}
            messages.append(message | {"id": f"zebra-{key}-{text}"})
        model.then(says('{"facts": ["zebra"]}'), every("NONE"))
        extract = "model" if key == "first" else "network"
        body = {"session_id": TEXTS["session_id"], "messages": messages, "extract": extract}
        headers = {"Idempotency-Key": key}
        client.post("/v1/messages", json=body, headers=headers).raise_for_status()


def write_imports(client: httpx.Client) -> None:
    """Imported history. Its only text is an erased session's, so that one erasure covers it."""
    line = {"content": "Zebra was imported", **TEXTS, "valid_from": "2020-01-01"}
    client.post("/v1/import", headers=NDJSON, content=json.dumps(line) + "\n").raise_for_status()


@pytest.fixture(scope="module")
def marked(
    server_url: str, template_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MarkedDatabase]:
    """A database with the marked history, part of it archived, that nobody is connected to."""
    folder = tmp_path_factory.mktemp("marked") / "archives"
    folder.mkdir()
    with (
        fresh_database(server_url, template=name_of(template_url)) as url,
        ScriptedModel(every("NONE")) as model,
    ):
        settings = load_settings(
            database_url=url, llm_base_url=model.url, archive_dir=folder, capture_quiet_seconds=0
        )
        with running(settings) as address, httpx.Client(base_url=address, timeout=120) as client:
            write_values(client)
            retain(url, folder, "default")
            write_marked_history(client, model)
            sweep = {"slot": SLOT, "dry_run": True}
            client.post("/v1/sweeps", json=sweep).raise_for_status()
            Place(url, client).work(sweep_batch=2)
            client.post("/v1/sweeps", json={"slot": SLOT}).raise_for_status()
        build_index(url, "default")
        yield MarkedDatabase(url, folder)


@pytest.fixture
def unchecked(marked: MarkedDatabase, server_url: str, tmp_path: Path) -> Iterator[MarkedDatabase]:
    """A copy of the marked database and its archives, which the test may damage."""
    folder = shutil.copytree(marked.archives, tmp_path / "archives")
    with fresh_database(server_url, template=name_of(marked.url)) as url:
        yield MarkedDatabase(url, folder)


@pytest.fixture
def copied(unchecked: MarkedDatabase) -> Iterator[MarkedDatabase]:
    """A copy of the marked database and its archives, to erase in; it must be healthy after that."""
    yield unchecked
    assert_healthy(unchecked.url)


@contextmanager
def serve(database: MarkedDatabase) -> Iterator[httpx.Client]:
    settings = load_settings(database_url=database.url, archive_dir=database.archives)
    with running(settings) as address, httpx.Client(base_url=address, timeout=120) as client:
        yield client


# --- the schema ----------------------------------------------------------------------------------


def test_every_column_of_every_table_is_declared_and_every_declared_column_exists(
    template_url: str,
) -> None:
    assert set(read_columns(template_url)) == list_declared_columns()


def test_a_column_that_nobody_declared_is_noticed(unchecked_database_url: str) -> None:
    with psycopg.connect(unchecked_database_url) as connection:
        connection.execute("ALTER TABLE memories ADD COLUMN source_url text")
        connection.execute("CREATE TABLE drafts (agent_id text, content text)")
    assert find_undeclared_columns(unchecked_database_url) == {
        ("memories", "source_url"),
        ("drafts", "agent_id"),
        ("drafts", "content"),
    }


def test_every_json_field_that_is_written_is_declared(marked: MarkedDatabase) -> None:
    assert find_undeclared_fields(marked.url) == set()


def test_a_json_field_that_nobody_declared_is_noticed(unchecked: MarkedDatabase) -> None:
    with psycopg.connect(unchecked.url) as connection:
        connection.execute("""
            UPDATE consolidation_log SET usage = usage || '{"prompt": "x"}',
                after_state = jsonb_set(after_state, '{0,author}', '{"name": "x"}')
            WHERE usage IS NOT NULL AND after_state <> '[]'
        """)
    assert find_undeclared_fields(unchecked.url) == {
        "consolidation_log.usage: prompt",
        "consolidation_log.after_state: [].author.name",
    }


def test_jobs_carry_nothing_but_names_and_ids() -> None:
    assert find_undeclared_paths([{"agent": "a", "content": "x"}], JOB_ARGUMENTS) == {"content"}


# --- erasing -------------------------------------------------------------------------------------


# The places that the declaration calls a caller's text, in which no marker can stand.
NEVER_MARKED = {
    "derived_entity",  # both are words of the service
    "derived_key",
    "look_again",  # a reason in the service's words
    "dated_by",  # words that name a date
}


def find_unmarked_texts(url: str) -> set[str]:
    """Return the declared texts in which the history left no marker."""
    texts = {
        f"memories.{column.name}"
        for column in MEMORY_COLUMNS
        if column.wording is Wording.TEXT and column.name not in NEVER_MARKED
    }
    for table, columns in OTHER_COLUMNS.items():
        for column in columns:
            if column.erasure is Erasure.REMOVED and not column.name.endswith(
                ("hash", "print", "salt", "embedding")
            ):
                texts.add(f"{table}.{column.name}")
    return {text for text in texts if not is_marked(url, *text.split("."))}


def is_marked(url: str, table: str, column: str) -> bool:
    values = read_values(url, table, column)
    shown = [v.decode() if isinstance(v, bytes) else str(v) for v in values]
    return any(MARKER in value.casefold() for value in shown)


def list_hashes(url: str) -> set[str]:
    """Return all that is made from the texts of memories, but search words, as it is dumped."""
    with psycopg.connect(url) as connection:
        return {
            value
            for column in MEMORY_COLUMNS
            if column.wording is Wording.MADE_FROM_TEXT and column.name != "lexemes"
            for (value,) in connection.execute(
                sql.SQL("SELECT DISTINCT {0}::text FROM memories WHERE {0} IS NOT NULL").format(
                    sql.Identifier(column.name)
                )
            )
            if len(value) > 3
        }


def analyze(url: str) -> None:
    """As autovacuum does by itself after a while."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ANALYZE")


def erase_session(client: httpx.Client) -> None:
    erasure = {"session_id": TEXTS["session_id"], "cascade": True}
    client.post("/v1/erasures", json=erasure).raise_for_status()


def erase_agent(client: httpx.Client) -> None:
    client.post("/v1/erasures", json={"agent_id": "default"}).raise_for_status()


def erase_each(client: httpx.Client) -> None:
    """Erase memory by memory, and at last the stores of the session that became none."""
    every_version = {"include_superseded": True, "limit": 1000}
    for memory in client.get("/v1/memories", params=every_version).json()["items"]:
        erasure = {"erase": True, "cascade": True}
        answer = client.delete(f"/v1/memories/{memory['id']}", params=erasure)
        assert answer.status_code in (200, 410), answer.text
    erase_session(client)


def test_the_history_writes_a_marker_into_every_text_that_is_declared(
    marked: MarkedDatabase,
) -> None:
    assert find_unmarked_texts(marked.url) == set()
    assert MARKER in in_files(marked.archives).casefold()


@pytest.mark.parametrize("erase", [erase_session, erase_agent, erase_each])
def test_after_erasing_no_marker_is_left_in_any_table_or_archive(
    copied: MarkedDatabase, erase: Any
) -> None:
    analyze(copied.url)
    assert MARKER in read_statistics(copied.url).casefold(), "some columns need statistics"
    hashes = list_hashes(copied.url)
    with serve(copied) as client:
        erase(client)
    dump = everything(copied.url).casefold()
    found = [dump[m.start() - 80 : m.end() + 80] for m in re.finditer(MARKER, dump)]
    assert found == []
    assert [digest for digest in hashes if digest in dump] == []
    for written in (MARKER, MARKER.capitalize(), MARKER.upper()):
        assert written.encode().hex() not in dump  # bytes are dumped in hexadecimal
    assert MARKER not in in_files(copied.archives).casefold()
    with psycopg.connect(copied.url) as connection:
        left = connection.execute(
            f"SELECT id FROM memories m WHERE erased_at IS NULL OR {not_erased_sql(ERASED_WITH_MEMORY)}"
        ).fetchall()
    assert left == []


# The columns of texts in whose values the planner finds how many rows an index has to read.
ESTIMATED = {
    ("memories", "slot_key"),
    ("memories", "slot_hash"),
    ("memories", "fuzzy_hash"),
    ("memories", "derived_hash"),
    ("memories", "session_id"),
    ("memories", "project"),
    ("memories", "look_again"),
    ("consolidation_log", "session_id"),
    ("turns", "session_id"),
    ("turns", "message_id"),
    ("turns", "content"),
}


def list_declared_texts() -> set[tuple[str, str]]:
    """Return the columns that hold a text of a caller, or what is made from one."""
    texts = {("memories", c.name) for c in MEMORY_COLUMNS if c.wording is not Wording.NONE}
    for table, columns in OTHER_COLUMNS.items():
        for column in columns:
            inside = [field.erasure for field in column.json]
            if Erasure.REMOVED in (column.erasure, *inside):
                texts.add((table, column.name))
    return texts


def test_the_planner_keeps_statistics_only_of_texts_by_which_it_estimates(
    template_url: str,
) -> None:
    with psycopg.connect(template_url) as connection:
        rows = connection.execute(
            "SELECT attrelid::regclass::text, attname FROM pg_attribute"
            " WHERE attnum > 0 AND attstattarget IS DISTINCT FROM 0"
        ).fetchall()
    assert {column for column in rows if column in list_declared_texts()} == ESTIMATED


# --- what is derived -----------------------------------------------------------------------------


def test_a_column_that_holds_a_text_or_is_made_from_one_is_erased() -> None:
    kept = [c.name for c in MEMORY_COLUMNS if c.wording is not Wording.NONE and c.erased is None]
    assert kept == ["lexemes"]  # Postgres computes them anew from the erased content


def test_the_doctor_looks_at_every_erased_column() -> None:
    for column in ERASED_WITH_MEMORY:
        assert column.wording is Wording.TEXT or isinstance(column.type, Vector | BYTEA)


def test_every_declared_filter_is_a_filter_of_reads() -> None:
    declared = {narrowing.parameter for column in MEMORY_COLUMNS for narrowing in column.filters}
    assert {field.name for field in fields(Filters)} == declared | {"stale"}


def test_a_patch_takes_the_patchable_columns_and_claims_about_time_and_tier() -> None:
    assert set(PatchRequest.model_fields) == PATCHABLE | {"valid_from", "valid_until", "tier"}


def test_a_checkpoint_keeps_in_plain_only_what_erasing_keeps() -> None:
    assert set(checkpoint.UNSEALED) == set(list_logged_columns(erased=True))


def test_the_declared_tables_are_the_tables() -> None:
    assert set(OTHER_COLUMNS) | {"memories"} == set(metadata.tables)
