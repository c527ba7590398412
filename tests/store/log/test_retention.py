"""Retention of the log: checkpoints in place of operations that left, and nothing lost, doubled or forgotten (DESIGN §4, invariant 3)."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from psycopg.rows import dict_row

from app.domain.agent import AgentId
from app.domain.errors import ArchiveFolderMissing
from app.planning.audit.faults import Fault
from app.services.doctor import Doctor
from app.settings import load_settings
from app.store.engine import Patience, begin_for_agent, create_engine
from app.store.log.archive_files import Archives
from app.store.sweeps import work as sweep_work
from support.ages import move_back, without_time_zone
from support.builders import editor, problem, send, store
from support.databases import fresh_database
from support.depth import DEEP
from support.doctor_check import assert_healthy, faults
from support.doctor_damage import (
    AGENT,
    Damage,
    drop_rules,
    find,
    of_memory,
    parameters,
    tell,
    where,
)
from support.random_history import random_writes
from support.retention import AT_ONCE, retain, with_retention
from support.scripted_model import ScriptedModel, every
from support.service import running
from support.transfers import NDJSON, exported, other
from support.urls import name_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    archives = tmp_path / "archives"
    archives.mkdir()
    return archives


def rows(url: str, statement: str, *given: Any) -> list[dict[str, Any]]:
    with psycopg.connect(url, row_factory=dict_row) as connection:
        return connection.execute(statement.encode(), given).fetchall()


def log_ids(url: str) -> set[str]:
    return {str(row["id"]) for row in rows(url, "SELECT id FROM consolidation_log")}


def archived_lines(folder: Path) -> list[dict[str, Any]]:
    """Every archived operation, in the order of files and lines; each header must tell what follows it."""
    lines = []
    for path in sorted(folder.rglob("*.ndjson")):
        head, *operations = [json.loads(line) for line in path.read_text().splitlines()]
        assert (head["type"], head["operations"]) == ("palimpsest-archive", len(operations))
        assert [o["created_at"] for o in operations] == sorted(o["created_at"] for o in operations)
        lines += operations
    return lines


def examined_with_files(url: str, folder: Path, agent: str = "default") -> list[Fault]:
    """What the doctor finds, the archive folder included."""

    async def run() -> list[Fault]:
        engine = create_engine(url, pool_size=2, patience=Patience())
        try:
            doctor = Doctor(engine, Archives(folder, may_make=False))
            return [fault async for fault in doctor.examine_agent(AgentId(agent))]
        finally:
            await engine.dispose()

    return asyncio.run(run())


# --- what leaves, and what stays -----------------------------------------------------------------------------------------


def test_nothing_leaves_the_log_unless_it_is_asked_for(database_url: str, folder: Path) -> None:
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address) as client,
    ):
        store(client)
    assert retain(database_url, folder, "default", audit=None).archived == 0
    assert retain(database_url, folder, "default", audit=90).archived == 0
    assert len(log_ids(database_url)) == 1
    assert list(folder.iterdir()) == []


def test_old_operations_move_to_a_file_with_every_column(database_url: str, folder: Path) -> None:
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address) as client,
    ):
        first = send(client, editor("Vim"))
        send(client, editor("Emacs"))
        client.patch(f"/v1/memories/{first['memory']['id']}", json={"importance": 0.9})
        before = [
            json.loads(line)
            for line in exported(client).splitlines()
            if b'"type":"operation"' in line
        ]
        assert retain(database_url, folder, "default").archived == 3
        send(client, editor("Helix"))
        assert archived_lines(folder) == before
        assert len(log_ids(database_url)) == 1
        assert retain(database_url, folder, "default").archived == 1
        assert retain(database_url, folder, "default").archived == 0
        gone = problem(client.get(f"/v1/log/{first['log_id']}"), 410)
        unknown = problem(client.get("/v1/log/00000000-0000-7000-8000-000000000000"), 404)
        foreign = problem(
            client.get(f"/v1/log/{first['log_id']}", headers={"X-Agent-Id": "other"}), 404
        )
    assert gone["type"].endswith(":archived")
    assert (folder / gone["archive"]).is_file()
    assert str(folder) not in json.dumps(gone)
    assert (unknown["type"], foreign["type"]) == ("urn:palimpsest:problem:unknown-operation",) * 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4 if DEEP else 2))
def test_any_history_replays_from_its_checkpoints(
    database_url: str, folder: Path, seed: int
) -> None:
    """Retention at random moments between all kinds of writes, with reverts before and after the cuts."""
    pick, agent = random.Random(seed), f"agent-{seed}"
    logged: set[str] = set()
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address, headers={"X-Agent-Id": agent}, timeout=60) as client,
    ):
        store(client, "The first fact")
        for _ in range(6):
            random_writes(client, pick, 8)
            store(client, "The first fact")
            for entry in pick.sample(
                items := client.get("/v1/log", params={"limit": 200}).json()["items"],
                min(3, len(items)),
            ):
                client.post(f"/v1/log/{entry['id']}/revert", json={"cascade": pick.random() < 0.5})
            logged |= log_ids(database_url)
            if pick.random() < 0.7:
                retain(
                    database_url,
                    folder,
                    agent,
                    audit=pick.choice([AT_ONCE, 0.2 / 86_400]),
                    cold=AT_ONCE,
                )
                assert_healthy(database_url)
        retain(database_url, folder, agent)
        left = log_ids(database_url)
        there = [line["id"] for line in archived_lines(folder)]
        assert len(there) == len(set(there))
        assert logged <= set(there) | left
        assert not set(there) & left
        with other(client) as two:  # what is left travels, and is as whole there
            export = exported(client)
            assert two.post("/v1/import", headers=NDJSON, content=export).status_code == 200
            assert exported(two) == export
    assert examined_with_files(database_url, folder, agent) == []


def test_what_a_waiting_review_came_from_stays_until_it_is_decided(
    database_url: str, folder: Path
) -> None:
    with (
        ScriptedModel(every("NONE")) as model,
        running(load_settings(database_url=database_url, llm_base_url=model.url)) as address,
        httpx.Client(base_url=address) as client,
    ):
        store(client, "The Falcon app was written by Anna")
        model.then(every("CONTRADICTION", 0.6))
        waiting = store(client, "The Falcon app was written by Bertha")
        assert retain(database_url, folder, "default").archived == 1
        assert log_ids(database_url) == {waiting["log_id"]}
        assert retain(database_url, folder, "default").kept_back == 1
        assert_healthy(database_url)
        accepted = client.post(f"/v1/reviews/{waiting['review_id']}/accept")
        assert accepted.status_code == 200, accepted.text
        assert_healthy(database_url)
        assert retain(database_url, folder, "default").archived == 2
        assert_healthy(database_url)
        again = problem(client.post(f"/v1/reviews/{waiting['review_id']}/accept"), 410)
        assert again["type"].endswith(":archived")
        assert (
            client.get(f"/v1/reviews/{waiting['review_id']}").json()["log_id"] == waiting["log_id"]
        )
    assert [line["id"] for line in archived_lines(folder)][1] == waiting["log_id"]


def test_an_operation_kept_back_cannot_be_undone_below_an_archived_one(
    database_url: str, folder: Path
) -> None:
    with (
        ScriptedModel(every("NONE")) as model,
        running(load_settings(database_url=database_url, llm_base_url=model.url)) as address,
        httpx.Client(base_url=address) as client,
    ):
        store(client, "The Falcon app was written by Anna")
        model.then(every("CONTRADICTION", 0.6))
        waiting = store(client, "The Falcon app was written by Bertha")
        successor = client.post(
            f"/v1/memories/{waiting['memory']['id']}/supersede", json={"content": "By Berta"}
        ).json()
        retain(database_url, folder, "default")
        assert log_ids(database_url) == {waiting["log_id"]}
        refused = problem(
            client.post(f"/v1/log/{waiting['log_id']}/revert", json={"cascade": True}), 410
        )
        assert successor["log_id"] in refused["detail"]


def test_a_line_of_reverts_stays_as_long_as_its_last_one(database_url: str, folder: Path) -> None:
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address) as client,
    ):
        dog = store(client)
        again = store(client)
        time.sleep(3.5)
        undo = client.post(f"/v1/log/{again['log_id']}/revert").json()
        assert retain(database_url, folder, "default", audit=3 / 86_400).archived == 1
        assert log_ids(database_url) == {again["log_id"], undo["log_id"]}
        assert_healthy(database_url)
        redo = client.post(f"/v1/log/{undo['log_id']}/revert").json()
        assert client.get(f"/v1/memories/{dog['memory']['id']}").json()["access_count"] == 1
        assert_healthy(database_url)
        assert retain(database_url, folder, "default").archived == 3
        assert problem(client.post(f"/v1/log/{redo['log_id']}/revert"), 410)["type"].endswith(
            ":archived"
        )
    assert_healthy(database_url)


def test_a_selection_that_may_mean_archived_operations_undoes_nothing(
    database_url: str, folder: Path
) -> None:
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address) as client,
    ):
        client.post(
            "/v1/memories",
            json={"content": "Old", "session_id": "s"},
            headers={"X-Request-Id": "old"},
        )
        retain(database_url, folder, "default")
        new = client.post(
            "/v1/memories",
            json={"content": "New", "session_id": "s"},
            headers={"X-Request-Id": "new"},
        ).json()
        for selection in ({"session_id": "s"}, {"request_id": "old"}, {"until": "2999-01-01"}):
            refused = problem(client.post("/v1/reverts", json=selection), 410)
            assert refused["archived_until"] < new["known_at"]
        kept = client.post("/v1/reverts", json={"request_id": "new", "dry_run": True})
        later = client.post("/v1/reverts", json={"session_id": "s", "since": new["known_at"]})
        assert len(kept.json()["reverted"]) == len(later.json()["reverted"]) == 1
        assert client.get("/v1/memories").json()["items"][0]["content"] == "Old"
    assert_healthy(database_url)


def test_what_people_undid_is_still_known_when_it_is_archived(
    database_url: str, folder: Path
) -> None:
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address) as client,
    ):
        vim, emacs = (send(client, editor(name)) for name in ("Vim", "Emacs"))
        client.post(f"/v1/log/{emacs['log_id']}/revert")
        assert retain(database_url, folder, "default").archived == 3
    mine, other = UUID(emacs["memory"]["id"]), UUID(vim["memory"]["id"])

    async def decided() -> dict[UUID, set[UUID]]:
        engine = create_engine(database_url, pool_size=1, patience=Patience())
        try:
            async with begin_for_agent(engine, AgentId("default")) as connection:
                return await sweep_work.find_decided_by_people(
                    connection, AgentId("default"), [mine]
                )
        finally:
            await engine.dispose()

    assert asyncio.run(decided()) == {mine: {other}}


def test_links_outlive_the_operations_that_tied_them(database_url: str, folder: Path) -> None:
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address) as client,
    ):
        dog, lead = (store(client, text)["memory"]["id"] for text in ("Has a dog", "Owns a lead"))
        assert retain(database_url, folder, "default").archived == 2
        tied = client.post(
            f"/v1/memories/{lead}/relationships", json={"target_id": dog, "type": "references"}
        )
        assert tied.is_success, tied.text
        assert_healthy(database_url)
        time.sleep(4)
        untied = store(client, "Owns a bowl")["memory"]["id"]
        made = client.post(
            f"/v1/memories/{untied}/relationships", json={"target_id": dog, "type": "references"}
        ).json()
        assert retain(database_url, folder, "default", audit=3 / 86_400).archived == 1
        assert_healthy(database_url)
        assert client.post(f"/v1/log/{made['log_id']}/revert").status_code == 200
        assert retain(database_url, folder, "default").archived == 3
        assert_healthy(database_url)
        [left] = client.get(f"/v1/memories/{dog}/relationships").json()["items"]
        assert left["source_id"] == lead


def test_an_agent_in_numbers_counts_what_was_archived_too(database_url: str, folder: Path) -> None:
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address) as client,
    ):
        first = send(client, editor("Vim"))
        send(client, editor("Emacs"))
        before = client.get("/v1/agents/default/stats").json()
        retain(database_url, folder, "default")
        after = client.get("/v1/agents/default/stats").json()
    for numbers in (before, after):
        del numbers["as_of"], numbers["holding"]
    assert before == after
    assert after["first_known_at"] == first["known_at"]


def test_insights_say_up_to_when_operations_were_archived(database_url: str, folder: Path) -> None:
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address) as client,
    ):
        first = store(client, "I live in Porto")
        last = store(client, "I moved to Lisbon")
        before = client.get("/v1/insights").json()
        retain(database_url, folder, "default")
        after = client.get("/v1/insights").json()
        assert (before["log_archived_until"], after["log_archived_until"]) == (
            None,
            last["known_at"],
        )
        assert before["retire_rates"]
        assert after["retire_rates"] == []
        assert (before["churn"], before["chain_lengths"]) == (
            after["churn"],
            after["chain_lengths"],
        )
        assert (
            client.get("/v1/insights", params={"since": "2999-01-01"}).json()["log_archived_until"]
            is None
        )
        until = client.get("/v1/insights", params={"until": last["known_at"]}).json()[
            "log_archived_until"
        ]
        assert first["known_at"] <= until


def test_history_and_why_say_up_to_when_operations_were_archived(
    database_url: str, folder: Path
) -> None:
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address) as client,
    ):
        send(client, editor("Vim"))
        vim = send(client, editor("Emacs"))
        path = f"/v1/memories/{vim['memory']['id']}"
        for told in (client.get(f"{path}/history").json(), client.get(f"{path}/why").json()):
            assert told["log_archived_until"] is None
        retain(database_url, folder, "default")
        helix = send(client, editor("Helix"))
        history, why = client.get(f"{path}/history").json(), client.get(f"{path}/why").json()
        assert history["log_archived_until"] == why["log_archived_until"] == vim["known_at"]
        assert (
            [o["id"] for o in history["operations"]]
            == [e["log_id"] for e in why["events"]]
            == [helix["log_id"]]
        )
        assert [v["value"] for v in history["versions"]] == ["Vim", "Emacs", "Helix"]
        fresh = store(client, "Has a dog")["memory"]["id"]
        assert client.get(f"/v1/memories/{fresh}/why").json()["log_archived_until"] is None


def test_expired_answers_are_forgotten_though_the_agent_does_not_write(
    database_url: str, folder: Path
) -> None:
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address) as client,
    ):
        for key in ("old", "new"):
            client.post("/v1/memories", json={"content": key}, headers={"Idempotency-Key": key})
    with psycopg.connect(database_url) as connection:
        connection.execute(
            f"UPDATE idempotency_keys SET {move_back('created_at', '25 hours')} WHERE key_hash = sha256('old')"
        )
    assert retain(database_url, folder, "default").forgotten_answers == 1
    left = rows(database_url, "SELECT key_hash = sha256('new') AS is_new FROM idempotency_keys")
    assert left == [{"is_new": True}]


# --- files -----------------------------------------------------------------------------------------------------------------


def test_an_agents_name_is_no_path(database_url: str, folder: Path) -> None:
    names = ["../../up", "a/b", ".", "..", "con", "x" * 128, "A", "a"]
    with running(load_settings(database_url=database_url)) as address:
        for name in names:
            with httpx.Client(base_url=address, headers={"X-Agent-Id": name}) as client:
                store(client)
    known = [row["agent_id"] for row in rows(database_url, "SELECT agent_id FROM agents")]
    assert len(known) == len(names)
    for agent in known:
        assert retain(database_url, folder, agent).archived == 1
        assert examined_with_files(database_url, folder, agent) == []
    files = [path.relative_to(folder) for path in folder.rglob("*.ndjson")]
    assert len(files) == len(names)
    assert {len(path.parts) for path in files} == {2}
    heads = [json.loads((folder / path).read_text().splitlines()[0])["agent_id"] for path in files]
    assert sorted(heads) == sorted(known)
    assert {path.name for path in folder.parent.iterdir()} == {"archives"}


@pytest.mark.slow
@pytest.mark.parametrize("trouble", ["missing", "read only", "a file"])
def test_without_its_folder_nothing_is_archived(
    database_url: str, tmp_path: Path, trouble: str
) -> None:
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address) as client,
    ):
        store(client)
    place = tmp_path / "archives"
    if trouble == "read only":
        place.mkdir(mode=0o500)
        if os.access(place, os.W_OK):
            pytest.skip("this user may write anywhere")
    elif trouble == "a file":
        place.write_text("")
    done = palimpsest(database_url, place, "retain")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("palimpsest: The archive folder ")
    assert "Traceback" not in done.stderr
    assert len(log_ids(database_url)) == 1


def test_the_doctor_looks_at_the_files_too(database_url: str, folder: Path) -> None:
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address) as client,
    ):
        store(client, "One")
        retain(database_url, folder, "default")
        store(client, "Two")
        retain(database_url, folder, "default")
    one, two = sorted(folder.rglob("*.ndjson"))
    stray = one.with_name("left-over.part")
    stray.write_text("half")
    assert examined_with_files(database_url, folder) == [], "it may be being written"
    os.utime(stray, (0, 0))
    one.write_bytes(one.read_bytes().replace(b"One", b"Won"))
    two.unlink()
    told = {
        fault.ids[0].split("/")[1]: fault.sentence
        for fault in examined_with_files(database_url, folder)
    }
    assert set(told) == {one.name, two.name, stray.name}
    assert "is not as it was written" in told[one.name]
    assert "is missing" in told[two.name]
    assert "belongs to no archive" in told[stray.name]
    assert retain(database_url, folder, "default").removed_files == 1
    for path in (one, two):
        with_retention(
            database_url,
            folder,
            lambda r, name=f"{one.parent.name}/{path.name}": r.give_up_archive(
                AgentId("default"), name
            ),
        )
    assert examined_with_files(database_url, folder) == []


# --- the command line ------------------------------------------------------------------------------------------------------


def palimpsest(
    url: str, folder: Path, *words: str, **more: str
) -> subprocess.CompletedProcess[str]:
    ours = {
        "PALIMPSEST_DATABASE_URL": url,
        "PALIMPSEST_ARCHIVE_DIR": str(folder),
        "PALIMPSEST_AUDIT_RETENTION_DAYS": "1e-9",
    }
    return subprocess.run(
        [sys.executable, "-m", "app.cli", *words],
        env=os.environ | ours | more,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_command_says_what_it_did_and_first_what_it_would_do(
    database_url: str, folder: Path
) -> None:
    with running(load_settings(database_url=database_url)) as address:
        for agent in ("ann", "ben"):
            with httpx.Client(base_url=address, headers={"X-Agent-Id": agent}) as client:
                send(client, editor("Vim", valid_from="2018-01-01", valid_until="2019-01-01"))
    cold = {"PALIMPSEST_COLD_AFTER_DAYS": "1e-9"}
    dry = palimpsest(database_url, folder, "retain", "--dry-run", **cold)
    assert dry.stdout.splitlines() == [
        f"{agent}: would be done: 1 memories cooled, 1 operations archived"
        for agent in ("ann", "ben")
    ], dry
    assert list(folder.iterdir()) == []
    one = palimpsest(database_url, folder, "retain", "--agent", "ben", **cold)
    assert (one.returncode, one.stdout) == (0, "ben: 1 memories cooled, 1 operations archived\n")
    rest = palimpsest(database_url, folder, "retain", **cold)
    assert rest.stdout.splitlines() == [
        "ann: 1 memories cooled, 1 operations archived",
        "ben: nothing to do",
    ]
    unknown = palimpsest(database_url, folder, "retain", "--agent", "nobody")
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert palimpsest(database_url, folder, "doctor").returncode == 0


@pytest.mark.slow
def test_a_log_that_cannot_be_replayed_is_left_alone(
    unchecked_database_url: str, folder: Path
) -> None:
    url = unchecked_database_url
    with running(load_settings(database_url=url)) as address:
        for agent in ("ann", "ben"):
            with httpx.Client(base_url=address, headers={"X-Agent-Id": agent}) as client:
                send(client, editor("Vim"))
                send(client, editor("Emacs"))
    with psycopg.connect(url) as connection:
        connection.execute(
            "UPDATE consolidation_log SET after_state = '[]' WHERE agent_id = 'ann' AND operation = 'ADD'"
        )
    done = palimpsest(url, folder, "retain")
    assert done.returncode == 1
    refused, ben = done.stdout.splitlines()
    assert refused.startswith("ann: The log of agent 'ann' cannot be replayed for memory ")
    assert ben == "ben: 2 operations archived"
    assert [
        row["agent_id"] for row in rows(url, "SELECT DISTINCT agent_id FROM consolidation_log")
    ] == ["ann"]


# --- kill -9 ---------------------------------------------------------------------------------------------------------------

KILLS = 40 if DEEP else 3

# Small batches, so that there is much to be cut off.
SMALL = "import app.services.retention as r; r._AT_ONCE = 7; from app.cli import main; main()"


@pytest.mark.parametrize("may_make", [True, False])
def test_a_folder_that_cannot_even_be_looked_up_is_missing(tmp_path: Path, may_make: bool) -> None:
    """Such as one below a folder of another user; this one's name is too long, which stops root too."""
    with pytest.raises(ArchiveFolderMissing):
        Archives(tmp_path / ("x" * 300), may_make=may_make).require_writable()


@pytest.mark.slow
def test_killed_at_any_moment_nothing_is_lost_or_doubled(database_url: str, folder: Path) -> None:
    pick = random.Random(7)
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        client.post(
            "/v1/memories/batch", json={"items": [editor(f"Editor {n}") for n in range(300)]}
        )
    before = log_ids(database_url)
    settings = {
        "PALIMPSEST_DATABASE_URL": database_url,
        "PALIMPSEST_ARCHIVE_DIR": str(folder),
        "PALIMPSEST_AUDIT_RETENTION_DAYS": "1e-9",
    }
    command = [sys.executable, "-c", SMALL, "retain"]
    cut_off = 0
    for _ in range(KILLS):
        with subprocess.Popen(
            command, env=os.environ | settings | {"PALIMPSEST_COLD_AFTER_DAYS": "1e-9"}
        ) as process:
            found = len(list(folder.rglob("*")))
            while (
                process.poll() is None and len(list(folder.rglob("*"))) <= found
            ):  # until it has begun to write
                time.sleep(0.001)
            time.sleep(pick.random() * 0.1)
            process.kill()
        cut_off += process.returncode == -signal.SIGKILL
        named = {row["file"] for row in rows(database_url, "SELECT file FROM log_archives")}
        there = {f"{path.parent.name}/{path.name}" for path in folder.rglob("*.ndjson")}
        assert named <= there, "what the database names is there"
        assert_healthy(database_url)
    assert cut_off > 1, "some runs were cut off"
    retain(database_url, folder, "default")
    there = [line["id"] for line in archived_lines(folder)]
    assert len(there) == len(before)
    assert set(there) == before
    assert log_ids(database_url) == set()
    assert examined_with_files(database_url, folder) == []


# --- damage ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kept:
    """A database with a history of which all that may has left the log."""

    url: str
    names: dict[str, str]

    def run(self, statement: str) -> int:
        with psycopg.connect(self.url, autocommit=True) as connection:
            return sum(
                connection.execute(one.format(**self.names).encode()).rowcount
                for one in without_time_zone(statement).split(";")
            )

    def faults(self) -> list[Fault]:
        return faults(self.url).get(AGENT, [])


@pytest.fixture(scope="module")
def history(
    server_url: str, template_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Kept]:
    with fresh_database(server_url, template=name_of(template_url)) as url:
        with (
            ScriptedModel(every("NONE")) as model,
            running(load_settings(database_url=url, llm_base_url=model.url)) as address,
            httpx.Client(base_url=address, headers={"X-Agent-Id": AGENT}, timeout=60) as client,
        ):
            names = tell(client, model)
        retain(url, tmp_path_factory.mktemp("archives"), AGENT)
        drop_rules(url)
        yield Kept(url, names)


@pytest.fixture
def kept(server_url: str, history: Kept) -> Iterator[Kept]:
    with fresh_database(server_url, template=name_of(history.url)) as url:
        yield Kept(url, history.names)


def of_checkpoint(change: str, name: str) -> str:
    return where("log_checkpoints", change, name, key="memory_id")


DAMAGES = {
    "an end moved": Damage(
        of_memory("valid_until = valid_until + interval '1 day'", "vim"), "chains", ("vim",)
    ),
    "another start": Damage(
        of_memory("valid_from = valid_from + interval '1 day'", "helix"), "log", ("helix",)
    ),
    "another text": Damage(of_memory("content = 'Has a cat'", "dog"), "log", ("dog",)),
    "other tags": Damage(of_memory("tags = '{{}}'", "vim"), "log", ("vim",)),
    "another importance": Damage(of_memory("importance = 0.1", "dog"), "log", ("dog",)),
    "another revision": Damage(of_memory("revision = revision - 1", "vim"), "log", ("vim",)),
    "half a derived slot": Damage(of_memory("derived_value = NULL", "home"), "log", ("home",)),
    "a belief lost": Damage(
        "DELETE FROM memory_beliefs WHERE agent_id = 'patient' AND memory_id = '{vim}'",
        "beliefs",
        ("vim",),
    ),
    "another past belief": Damage(
        where("memory_beliefs", "tier = 'core'", "vim", key="memory_id"), "beliefs", ("vim",)
    ),
    "too many confirmations": Damage(
        where("memory_usage", "access_count = access_count + 5", "dog", key="memory_id"),
        "usage",
        ("dog",),
    ),
    "no counter": Damage(
        "DELETE FROM memory_usage WHERE agent_id = 'patient' AND memory_id = '{dog}'",
        "usage",
        ("dog",),
    ),
    "a link lost": Damage(
        "DELETE FROM memory_relationships WHERE agent_id = 'patient' AND source_id = '{related}' AND target_id ="
        " (SELECT target_id FROM memory_relationships WHERE source_id = '{related}' LIMIT 1)",
        "links",
        ("related",),
    ),
    "a link too many": Damage(
        "INSERT INTO memory_relationships VALUES ('patient', '{dog}', '{vim}', 'similar', '{dog_log}', now())",
        "links",
        ("dog", "vim"),
    ),
    "a memory lost": Damage(
        "DELETE FROM memories WHERE agent_id = 'patient' AND id = '{keyed}'", "log", ("keyed",)
    ),
    "a memory lost, its operation": Damage(
        "DELETE FROM memories WHERE agent_id = 'patient' AND id = '{keyed}'",
        "archives",
        ("keyed", "keyed_log"),
    ),
    "a review of nothing": Damage(
        where(
            "reviews",
            "decision_log_id = '{unknown}', status = 'accepted'",
            "flagged_log",
            key="log_id",
        ),
        "reviews",
        ("unknown",),
    ),
    "no time of the last erasure": Damage(
        "UPDATE agents SET last_erased_at = NULL WHERE agent_id = 'patient'", "agents", ()
    ),
    "a last known time in the past": Damage(
        "UPDATE agents SET last_known_at = '2001-01-01' WHERE agent_id = 'patient'", "agents", ()
    ),
    "a checkpoint lost": Damage(
        "DELETE FROM log_checkpoints WHERE agent_id = 'patient' AND memory_id = '{dog}'",
        "log",
        ("dog",),
    ),
    "a checkpoint that says nothing": Damage(
        of_checkpoint("told = '{{}}'", "dog"), "values", ("dog",)
    ),
    "a checkpoint with another revision": Damage(
        of_checkpoint("told = jsonb_set(told, '{{row,revision}}', '77')", "dog"), "log", ("dog",)
    ),
    "a checkpoint without a belief": Damage(
        of_checkpoint("told = jsonb_set(told, '{{past}}', '{{}}')", "vim"), "beliefs", ("vim",)
    ),
    "a checkpoint with another seal": Damage(
        of_checkpoint(
            "sealed = jsonb_set(sealed, '{{content}}', to_jsonb(repeat('0', 64)))", "dog"
        ),
        "log",
        ("dog",),
    ),
    "a checkpoint without a link": Damage(
        of_checkpoint("told = jsonb_set(told, '{{links}}', '[]')", "related"), "links", ("related",)
    ),
    "a seal of an erased memory": Damage(
        of_checkpoint("sealed = jsonb_build_object('content', repeat('0', 64))", "secret"),
        "erased",
        ("secret",),
    ),
    "a time of the checkpoints in the past": Damage(
        "UPDATE agents SET log_folded_until = log_folded_until - interval '1 s' WHERE agent_id = 'patient'",
        "archives",
        (),
    ),
    "an archived operation nobody knows of": Damage(
        "DELETE FROM folded_operations WHERE id = '{dog_log}'", "archives", ()
    ),
    "an archived operation back in the log": Damage(
        "INSERT INTO consolidation_log SELECT agent_id, '{dog_log}', operation, source_memory_ids, target_memory_id, relation, confidence, "
        "reasoning, signals, decided_by, incoming, before_state, after_state, model, prompt_version, usage, duration_ms, session_id, "
        "request_id, created_at - interval '1 us', reverts, reverted_by, vetoed FROM consolidation_log WHERE agent_id = 'patient' LIMIT 1",
        "archives",
        ("dog_log",),
    ),
    "an operation kept back and lost": Damage(
        "DELETE FROM consolidation_log WHERE id = '{flagged_log}'", "archives", ("flagged_log",)
    ),
    "a cold memory that holds": Damage(of_memory("cold = true", "dog"), "cold", ("dog",)),
}


def test_before_any_damage_all_is_well(kept: Kept) -> None:
    assert kept.faults() == []
    [log] = rows(kept.url, "SELECT count(*) FROM consolidation_log")
    [folded] = rows(kept.url, "SELECT count(*) FROM folded_operations")
    assert 0 < log["count"] < 5, "what waiting reviews came from"
    assert folded["count"] > 20


@pytest.mark.parametrize("damage", parameters(DAMAGES))
def test_damage_is_found_though_the_log_was_archived(kept: Kept, damage: Damage) -> None:
    assert kept.run(damage.statement) == 1
    found = kept.faults()
    assert find(found, damage.check, [kept.names[name] for name in damage.told]), found
