"""What an erasure leaves in the planner's statistics and in the files of Postgres."""

import struct
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest

from app.settings import load_settings
from app.store import schema, unfit, vacuum
from app.store.embedded import embedded_postgres
from app.store.roles import build_service_url
from support.service import running
from support.stored_text import everything, read_statistics

MARKER = b"zebra"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address and the folder of a Postgres of its own."""
    folder = tmp_path_factory.mktemp("files")
    with embedded_postgres(folder) as url:
        schema.migrate_database(url, build_service_url(url))
        yield url, folder / "postgres"


def store_and_erase(url: str) -> list[bytes]:
    """Store facts and messages of an agent, read them, and erase the agent. Return every byte sequence that must be gone."""
    with (
        running(load_settings(database_url=url, archive_dir=None)) as address,
        httpx.Client(base_url=f"{address}", timeout=120) as client,
    ):
        for n in range(60):
            fact = {
                **{"content": f"Zebra {n} lives in Porto", "entity": f"Zebra {n}", "key": "home"},
                **{"category": "zebra", "value": f"zebra {n}", "tags": ["zebra-tag"]},
                **{"session_id": "zebra-session", "project": "zebra-project"},
            }
            headers = {"Idempotency-Key": f"zebra-key-{n}"}
            client.post("/v1/memories", json=fact, headers=headers).raise_for_status()
        message = {"role": "user", "content": "My zebra is called Marty.", "name": "Zebra"}
        body = {"session_id": "zebra-session", "messages": [message]}
        client.post("/v1/messages", json=body).raise_for_status()
        client.get("/v1/search", params={"q": "zebra"}).raise_for_status()
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("ANALYZE")
            connection.execute("CHECKPOINT")
            rows = connection.execute(
                "SELECT content_hash, slot_hash, embedding::text FROM memories LIMIT 5"
            ).fetchall()
        gone = [MARKER]
        for content_hash, slot_hash, vector in rows:
            numbers = [float(number) for number in vector.strip("[]").split(",")]
            gone += [content_hash, slot_hash, struct.pack("<8f", *numbers[:8])]
        assert MARKER.decode() in read_statistics(url).casefold()
        erased = client.post("/v1/erasures", json={"agent_id": "default"})
        assert erased.status_code == 200, erased.text
        return gone


def find_in_files(folder: Path, gone: list[bytes]) -> dict[str, list[bytes]]:
    """Return the files in which one of these is, and which."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            lowered = content.lower()
            if there := [each for each in gone if each in lowered or each in content]:
                found[str(path.relative_to(folder))] = there
    return found


def test_what_was_erased_is_in_no_statistic_and_after_vacuum_in_no_file(
    database: tuple[str, Path],
) -> None:
    url, folder = database
    gone = store_and_erase(url)
    rows = everything(url).casefold()
    assert [each for each in gone if each.hex() in rows] == []
    assert MARKER.decode() not in rows
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
    before = find_in_files(folder, gone)
    assert any(name.startswith("base/") for name in before), "Postgres frees space, and leaves it"
    assert any(name.startswith("pg_wal/") for name in before)
    assert vacuum.rewrite_files(url)
    assert find_in_files(folder, gone) == {}


def test_vacuum_waits_for_transactions_that_still_see_what_was_erased(
    database: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, _ = database
    monkeypatch.setattr(vacuum, "PATIENCE", 0.5)
    with psycopg.connect(url) as reader:
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT count(*) FROM memories")
        with psycopg.connect(url, autocommit=True) as writer:
            writer.execute("SELECT pg_current_xact_id()")  # as any write does
        with pytest.raises(unfit.PastInUse):
            vacuum.rewrite_files(url)
    assert vacuum.rewrite_files(url)


def test_the_servers_own_log_does_not_quote_rows(database: tuple[str, Path]) -> None:
    url, folder = database
    with (
        psycopg.connect(url) as connection,
        pytest.raises(psycopg.errors.CheckViolation) as refused,
    ):
        connection.execute(
            "INSERT INTO agents (agent_id, created_at, last_known_at, mode)"
            " VALUES ('giraffe', now(), now(), 'no mode')"
        )
    assert "giraffe" in str(refused.value)
    assert "no mode" in str(refused.value)
    assert "Failing row" not in (folder / "log").read_text()
