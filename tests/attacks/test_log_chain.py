"""Whoever changes the log past the service is found out; what the service does itself is not."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from app.domain.agent import AgentId
from app.planning.audit.faults import Fault
from app.settings import load_settings
from app.wiring import Process, open_services
from support.builders import editor, send, store
from support.doctor_check import faults
from support.retention import retain
from support.service import running
from support.sweeps import Place
from support.transfers import ODD_DETAILS, ODD_TEXT, brought_back, exported, other


def tell(url: str) -> list[str]:
    """Store five facts; the ids of their operations, oldest first."""
    with (
        running(load_settings(database_url=url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        return [store(client, f"Fact number {n}", classify=False)["log_id"] for n in range(5)]


def run(url: str, statement: str, *values: Any) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement.encode(), values)


def find_log_faults(url: str) -> list[Fault]:
    return [fault for fault in faults(url).get("default", []) if fault.check == "log_chain"]


def list_accused(url: str) -> set[str]:
    """The ids that the doctor names in faults of the chain."""
    return {log_id for fault in find_log_faults(url) for log_id in fault.ids}


# --- attacks -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        "actor = 'root'",
        "operation = 'UPDATE'",
        "decided_by = 'reviewer'",
        "confidence = 0.5",
        "duration_ms = 1",
        "created_at = created_at + interval '1 us'",
        "request_id = 'another'",
        "target_memory_id = NULL",
        "source_memory_ids = ARRAY[id]",
        "reverts = id",
        "model = 'a model'",
        "reasoning = 'Because.'",
        "incoming = jsonb_set(incoming, '{content}', '\"Other words\"')",
        "after_state = jsonb_set(after_state, '{0,importance}', '0.9')",
        "before_state = '[{}]'",
        "signals = '[{}]'",
        "vetoed = '[{}]'",
        "usage = '{}'",
        "session_id = 'another'",
        "content_salt = '\\x00'",
        "content_salt = NULL",
        "content_digest = '\\x00'",
        "hash = '\\x00'",
        "previous_hash = '\\x00'",
        "hash = NULL, previous_hash = NULL, content_digest = NULL",
    ],
)
def test_a_changed_operation_is_named(unchecked_database_url: str, change: str) -> None:
    log_ids = tell(unchecked_database_url)
    run(
        unchecked_database_url,
        f"UPDATE consolidation_log SET {change} WHERE id = %s",
        log_ids[2],
    )
    assert log_ids[2] in list_accused(unchecked_database_url)


def test_an_operation_removed_from_the_middle_is_missed(unchecked_database_url: str) -> None:
    log_ids = tell(unchecked_database_url)
    run(unchecked_database_url, "DELETE FROM consolidation_log WHERE id = %s", log_ids[2])
    assert list_accused(unchecked_database_url) == {log_ids[3]}


def test_the_first_operation_is_missed(unchecked_database_url: str) -> None:
    log_ids = tell(unchecked_database_url)
    run(unchecked_database_url, "DELETE FROM consolidation_log WHERE id = %s", log_ids[0])
    assert list_accused(unchecked_database_url) == {log_ids[1]}


def test_the_last_operation_is_missed(unchecked_database_url: str) -> None:
    log_ids = tell(unchecked_database_url)
    run(unchecked_database_url, "DELETE FROM consolidation_log WHERE id = %s", log_ids[4])
    [fault] = find_log_faults(unchecked_database_url)
    assert "Operations at its end are missing" in fault.sentence


def test_a_cut_log_and_head_together_keep_whole_only_without_the_anchor(
    unchecked_database_url: str,
) -> None:
    """Whoever holds the database can cut off its end. The head that somebody kept is then gone."""
    url = unchecked_database_url
    log_ids = tell(url)
    with psycopg.connect(url) as connection:
        [(anchor,)] = connection.execute("SELECT log_head FROM agents").fetchall()
    run(url, "DELETE FROM consolidation_log WHERE id = %s", log_ids[4])
    run(
        url,
        "UPDATE agents SET log_head = (SELECT hash FROM consolidation_log WHERE id = %s)",
        log_ids[3],
    )
    assert find_log_faults(url) == []
    with psycopg.connect(url) as connection:
        hashes = connection.execute("SELECT hash FROM consolidation_log").fetchall()
    assert (anchor,) not in hashes


def test_two_operations_in_the_place_of_each_other_are_named(unchecked_database_url: str) -> None:
    log_ids = tell(unchecked_database_url)
    swap = """
        UPDATE consolidation_log l SET created_at = o.created_at
        FROM consolidation_log o
        WHERE l.id = ANY(%s::uuid[]) AND o.id = ANY(%s::uuid[]) AND l.id <> o.id
    """
    run(unchecked_database_url, swap, log_ids[1:3], log_ids[1:3])
    assert set(log_ids[1:3]) <= list_accused(unchecked_database_url)


def test_an_operation_added_past_the_service_is_named(unchecked_database_url: str) -> None:
    log_ids = tell(unchecked_database_url)
    with psycopg.connect(unchecked_database_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE twin (LIKE consolidation_log)")
        connection.execute("INSERT INTO twin SELECT * FROM consolidation_log")
        connection.execute("DELETE FROM twin WHERE id <> %s", [log_ids[2]])
        connection.execute(
            "UPDATE twin SET created_at = created_at + interval '1 us', id = gen_random_uuid()"
        )
        connection.execute("ALTER TABLE twin DROP COLUMN signal_names")
        names = ", ".join(
            name
            for (name,) in connection.execute(
                "SELECT column_name FROM information_schema.columns WHERE table_name = 'twin'"
            )
        )
        connection.execute(
            f"INSERT INTO consolidation_log ({names}) SELECT {names} FROM twin".encode()
        )
        [(twin,)] = connection.execute("SELECT CAST(id AS text) FROM twin").fetchall()
    assert twin in list_accused(unchecked_database_url)


def test_a_changed_operation_in_an_archive_is_named_though_the_file_has_its_hash(
    unchecked_database_url: str, tmp_path: Path
) -> None:
    url = unchecked_database_url
    log_ids = tell(url)
    retain(url, tmp_path, "default")
    assert examine_with_archives(url, tmp_path) == []
    [path] = tmp_path.glob("*/*.ndjson")
    path.write_bytes(path.read_bytes().replace(b"Fact number 2", b"Fact number 9"))
    run(url, "UPDATE log_archives SET sha256 = sha256(%s)", path.read_bytes())
    found = examine_with_archives(url, tmp_path)
    assert [(fault.check, fault.ids) for fault in found] == [("log_chain", (log_ids[2],))]


def test_an_operation_cut_out_of_an_archive_and_of_its_links_is_missed(
    unchecked_database_url: str, tmp_path: Path
) -> None:
    """Whoever has the database and the folder ties the next operation to the one before."""
    url = unchecked_database_url
    log_ids = tell(url)
    retain(url, tmp_path, "default")
    [path] = tmp_path.glob("*/*.ndjson")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line for line in lines if log_ids[2].encode() not in line))
    run(
        url,
        "UPDATE folded_operations SET previous_hash = "
        "(SELECT previous_hash FROM folded_operations WHERE id = %s) "
        "WHERE id = %s",
        log_ids[2],
        log_ids[3],
    )
    run(url, "DELETE FROM folded_operations WHERE id = %s", log_ids[2])
    run(url, "UPDATE log_archives SET sha256 = sha256(%s)", path.read_bytes())
    accused = {name for fault in examine_with_archives(url, tmp_path) for name in fault.ids}
    assert log_ids[3] in accused


def test_a_line_cut_out_of_an_archive_is_missed(
    unchecked_database_url: str, tmp_path: Path
) -> None:
    url = unchecked_database_url
    log_ids = tell(url)
    retain(url, tmp_path, "default")
    [path] = tmp_path.glob("*/*.ndjson")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line for line in lines if log_ids[2].encode() not in line))
    run(url, "UPDATE log_archives SET sha256 = sha256(%s)", path.read_bytes())
    accused = {name for fault in examine_with_archives(url, tmp_path) for name in fault.ids}
    assert log_ids[2] in accused


def test_an_archived_operation_forgotten_by_the_database_is_missed(
    unchecked_database_url: str, tmp_path: Path
) -> None:
    url = unchecked_database_url
    log_ids = tell(url)
    retain(url, tmp_path, "default")
    run(url, "DELETE FROM folded_operations WHERE id = %s", log_ids[2])
    assert log_ids[3] in list_accused(url)


def examine_with_archives(url: str, folder: Path) -> list[Fault]:
    async def examine() -> list[Fault]:
        settings = load_settings(database_url=url, archive_dir=folder)
        async with open_services(settings, Process.MAINTENANCE) as services:
            found = services.doctor.examine_agent(AgentId("default"))
            return [fault async for fault in found]

    return asyncio.run(examine())


# --- what the service does itself --------------------------------------------------------------


def test_all_that_the_service_does_leaves_the_chain_whole(
    database_url: str, tmp_path: Path
) -> None:
    """Odd numbers and texts, changes, reverts, erasures before and after archiving, a new agent."""
    settings = load_settings(database_url=database_url, archive_dir=tmp_path)
    with (
        running(settings) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        store(client, ODD_TEXT, details=ODD_DETAILS, importance=1, confidence=0)
        numbers = {"a": [1e22, 1e23, -1e16, -0.0, 5e-324, 1.7976931348623157e308, 2**70, 1.0]}
        store(client, "Odd numbers", details=numbers)
        vim = send(client, editor("Vim", valid_from="2018-01-01", session_id="s"))
        send(client, editor("Emacs", valid_from="2020-01-01"))
        send(client, editor("Helix", valid_from="2022-01-01"))
        dog = store(client, "Has a dog", session_id="s")
        cat = store(client, "Has a cat")
        store(client, "Has a cat")
        client.post(f"/v1/log/{dog['log_id']}/revert").raise_for_status()
        client.patch(f"/v1/memories/{cat['memory']['id']}", json={"importance": 0.8})
        client.delete(
            f"/v1/memories/{cat['memory']['id']}", params={"erase": True}
        ).raise_for_status()
        assert find_log_faults(database_url) == []
        retain(database_url, tmp_path, "default")
        store(client, "Has a horse")
        client.delete(
            f"/v1/memories/{vim['memory']['id']}", params={"erase": True}
        ).raise_for_status()
        assert examine_with_archives(database_url, tmp_path) == []
        with other(client) as copy:
            brought_back(copy, exported(client))
            assert copy.get("/v1/doctor").json()["problems"] == []
            head = read_stats(copy)["log_head"]
            assert head == read_stats(client)["log_head"]
            store(copy, "Has a parrot")
            assert copy.get("/v1/doctor").json()["problems"] == []
            assert read_stats(copy)["log_head"] != head
            copy.post(
                "/v1/erasures", json={"agent_id": copy.headers["X-Agent-Id"]}
            ).raise_for_status()
            assert copy.get("/v1/doctor").json()["problems"] == []


def read_stats(client: httpx.Client) -> dict[str, Any]:
    agent = client.headers.get("X-Agent-Id", "default")
    answer: dict[str, Any] = client.get(f"/v1/agents/{agent}/stats").json()
    return answer


def test_the_head_is_that_of_the_last_operation(client: httpx.Client) -> None:
    for number in range(1, 4):
        log_id = store(client, f"Fact number {number}", classify=False)["log_id"]
        entry = client.get(f"/v1/log/{log_id}").json()
        stats = read_stats(client)
        assert (stats["log_head"], stats["log_length"]) == (entry["chain_hash"], number)


def test_a_dry_run_leaves_the_head_as_it_is(client: httpx.Client) -> None:
    store(client, "Has a dog")
    before = read_stats(client)
    client.post("/v1/reverts", json={"actor": "anonymous", "dry_run": True}).raise_for_status()
    assert read_stats(client)["log_head"] == before["log_head"]


def forget_chain(url: str) -> None:
    """Leave the log as an export from before the chain has it: only sweeps are named."""
    run(url, "UPDATE agents SET log_head = NULL")
    run(
        url,
        "UPDATE consolidation_log SET previous_hash = NULL, hash = NULL, content_digest = NULL,"
        " content_salt = NULL, actor = CASE WHEN starts_with(actor, 'sweep:') THEN actor END",
    )


def test_a_log_from_before_the_chain_goes_on_with_it(database_url: str) -> None:
    settings = load_settings(database_url=database_url)
    with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
        place = Place(database_url, client)
        vim = place.editor("Vim", valid_from="2023-01-01")
        nano = place.editor("Nano", valid_from="2025-01-01")
        sweep = place.sweep()
    forget_chain(database_url)
    assert find_log_faults(database_url) == []
    with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
        place = Place(database_url, client)
        assert [entry["actor"] for entry in place.log()] == [f"sweep:{sweep['id']}", None, None]
        assert read_stats(client)["log_head"] is None
        client.post("/v1/reverts", json={"sweep_id": sweep["id"]}).raise_for_status()
        assert place.standing(vim, nano) == ["current", "current"]
        assert read_stats(client)["log_length"] == 1
    assert find_log_faults(database_url) == []


def test_an_erased_text_cannot_be_found_by_its_digest(database_url: str) -> None:
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        secret = store(client, "The code is 1234")
        client.delete(f"/v1/memories/{secret['memory']['id']}", params={"erase": True})
    with psycopg.connect(database_url) as connection:
        rows = connection.execute(
            "SELECT content_digest IS NOT NULL, content_salt IS NULL FROM consolidation_log "
            "WHERE id = %s",
            [secret["log_id"]],
        ).fetchall()
    assert rows == [(True, True)]
