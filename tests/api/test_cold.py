"""Cold memories: past any plain read, and still in history, as-of reads, exports and undoing."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psycopg
import pytest

from app.domain.agent import AgentId
from app.domain.fact import Fact
from app.settings import load_settings
from app.store import comparison, search
from app.store.columns import Filters
from app.store.comparison import ComparisonOptions
from app.store.engine import Patience, begin_for_agent, create_engine, fetch_rows
from app.store.memories import Point
from support.builders import contents, editor, send, store
from support.retention import AT_ONCE, retain
from support.service import running
from support.transfers import NDJSON

DAY = 1.0


@dataclass(frozen=True)
class Kept:
    """A client of a service, its database, and where archives would go."""

    client: httpx.Client
    url: str
    folder: Path

    def cool(self, days: float = AT_ONCE) -> int:
        return retain(self.url, self.folder, "default", audit=None, cold=days).cooled

    def cold(self) -> set[str]:
        with psycopg.connect(self.url) as connection:
            return {
                content
                for (content,) in connection.execute("SELECT content FROM memories WHERE cold")
            }


@pytest.fixture
def own(database_url: str, tmp_path: Path) -> Iterator[Kept]:
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        yield Kept(client, database_url, tmp_path)


def editors(client: httpx.Client) -> list[dict[str, Any]]:
    """Vim, Emacs and Helix, one after the other, and one to come."""
    said = [
        ("Vim", "2018-01-01"),
        ("Emacs", "2020-01-01"),
        ("Helix", "2022-01-01"),
        ("Zed", "2999-01-01"),
    ]
    return [send(client, editor(name, valid_from=date))["memory"] for name, date in said]


def found(client: httpx.Client, **asked: Any) -> list[str]:
    answer = client.post("/v1/search", json={"query": "editor", **asked})
    assert answer.status_code == 200, answer.text
    return [result["memory"]["value"] for result in answer.json()["results"]]


def test_what_ended_long_ago_gets_cold_and_nothing_else(own: Kept) -> None:
    editors(own.client)
    store(own.client, "Rents a flat", valid_from="2020-01-01", valid_until="2999-01-01")
    wrong = store(own.client, "Owns a yacht", valid_from="2020-01-01")["memory"]
    own.client.post(f"/v1/memories/{wrong['id']}/retract", json={"never_true": True})
    assert own.cool(0) == 0, "never"
    assert own.cool(DAY) == 0, "it was only believed just now"
    assert own.cool() == 3
    assert own.cold() == {"Uses Vim as editor", "Uses Emacs as editor", "Owns a yacht"}
    assert own.cool() == 0


def test_what_was_imported_as_known_for_long_is_cold_by_its_own_dates(own: Kept) -> None:
    line = '{"content": "Uses Vim", "valid_from": "2018-01-01", "valid_until": "2019-01-01", "created_at": "2018-01-01T00:00:00Z"}'
    assert own.client.post("/v1/import", headers=NDJSON, content=line).status_code == 200
    assert own.cool(36_500) == 0
    assert own.cool(365) == 1


@pytest.mark.parametrize("mode", ["hybrid", "vector", "text"])
def test_cold_memories_are_found_wherever_the_past_is_asked_for(own: Kept, mode: str) -> None:
    vim, emacs, helix, _ = editors(own.client)
    asked = [
        {},
        {"as_of": "2019-01-01"},
        {"as_of": "2021-01-01"},
        {"known_at": emacs["created_at"]},
        {"include_superseded": True},
    ]
    before = [found(own.client, mode=mode, **more) for more in asked]
    assert before[:3] == [["Helix"], ["Vim"], ["Emacs"]]
    assert own.cool() == 2
    assert [found(own.client, mode=mode, **more) for more in asked] == before
    history = own.client.get(f"/v1/memories/{helix['id']}/history").json()
    assert [version["value"] for version in history["versions"]] == ["Vim", "Emacs", "Helix", "Zed"]
    assert own.client.get(f"/v1/memories/{vim['id']}").json()["value"] == "Vim"
    assert contents(own.client, as_of="2019-01-01") == {"Uses Vim as editor"}
    preference = own.client.get(
        "/v1/preferences/tooling/editor", params={"as_of": "2021-01-01"}
    ).json()
    assert "Emacs" in str(preference)


def test_facts_are_compared_with_what_held_in_the_past_though_it_is_cold(own: Kept) -> None:
    vim, _, helix, _ = editors(own.client)
    assert own.cool() == 2
    fact = Fact("Uses something as editor")
    vector = np.eye(1, 384, dtype=np.float32)[0]

    async def compared(as_of: datetime | None) -> list[str]:
        engine = create_engine(own.url, pool_size=1, patience=Patience())
        async with begin_for_agent(engine, AgentId("default")) as connection:
            [row] = await fetch_rows(connection, "SELECT name FROM encoder", {})
            comparing = ComparisonOptions(row["name"], "english", 10)
            hits = [
                (
                    await comparison.find_candidates(
                        connection,
                        AgentId("default"),
                        facts,
                        [vector] * len(facts),
                        comparing,
                        as_of=as_of,
                    )
                )[1][0]
                for facts in ([fact], [fact, fact])
            ]
        await engine.dispose()
        assert [hit.memory.id for hit in hits[0]] == [hit.memory.id for hit in hits[1]]
        return [str(hit.memory.id) for hit in hits[0]]

    assert asyncio.run(compared(None)) == [helix["id"]]
    assert asyncio.run(compared(datetime(2019, 1, 1, tzinfo=UTC))) == [vim["id"]]


def test_cooling_changes_neither_etags_nor_an_export(own: Kept) -> None:
    vim, *_ = editors(own.client)
    before = (
        own.client.get(f"/v1/memories/{vim['id']}").headers["ETag"],
        own.client.get("/v1/export").content,
    )
    assert own.cool() == 2
    assert (
        own.client.get(f"/v1/memories/{vim['id']}").headers["ETag"],
        own.client.get("/v1/export").content,
    ) == before


def test_what_changes_again_is_warm_again(own: Kept) -> None:
    vim, emacs, *_ = editors(own.client)
    assert own.cool() == 2
    own.client.patch(f"/v1/memories/{vim['id']}", json={"tags": ["old"]})
    assert "Uses Vim as editor" in own.cold(), "a tag says nothing about when it holds"
    own.client.patch(f"/v1/memories/{vim['id']}", json={"valid_from": "2017-01-01"})
    assert own.cold() == {"Uses Emacs as editor"}
    assert (
        own.client.patch(
            f"/v1/memories/{emacs['id']}", json={"valid_until": "2020-06-01"}
        ).status_code
        == 200
    )
    assert own.cold() == set()
    assert own.cool() == 2


def test_an_undone_end_holds_again_in_plain_reads(own: Kept) -> None:
    send(own.client, editor("Vim", valid_from="2018-01-01"))
    emacs = send(own.client, editor("Emacs", valid_from="2020-01-01"))
    assert own.cool() == 1
    assert own.client.post(f"/v1/log/{emacs['log_id']}/revert").status_code == 200
    assert found(own.client) == ["Vim"]
    assert contents(own.client) == {"Uses Vim as editor"}
    assert own.cool() == 1
    assert own.cold() == {"Uses Emacs as editor"}, "withdrawn"


def test_a_cold_value_told_again_is_the_same_as_without_cooling(own: Kept) -> None:
    vim, *_ = editors(own.client)
    own.cool()
    again = send(own.client, editor("Vim"))
    assert (again["operation"], again["memory"]["chain_id"]) == ("UPDATE", vim["chain_id"])
    assert found(own.client) == ["Vim"]
    early = send(own.client, editor("Ed", valid_from="2017-01-01"))
    assert early["operation"] == "ADD"
    assert contents(own.client, as_of="2017-06-01") == {"Uses Ed as editor"}


def test_cold_memories_are_erased_like_others(own: Kept) -> None:
    vim, *_ = editors(own.client)
    own.cool()
    erased = own.client.delete(f"/v1/memories/{vim['id']}", params={"erase": True})
    assert erased.json()["erased"] == [vim["id"]]
    with psycopg.connect(own.url) as connection:
        rows = connection.execute(
            "SELECT content, embedding FROM memories WHERE id = %s", [vim["id"]]
        ).fetchall()
    assert rows == [("", None)]


def test_plain_reads_do_not_pass_cold_rows(own: Kept) -> None:
    """Postgres looks at no row but those in the index of warm ones, for lists and for every mode of search."""
    with psycopg.connect(own.url, autocommit=True) as connection:
        send(own.client, editor("Editor 0", valid_from="2000-01-01"))
        lines = [
            json.dumps(editor(f"Editor {n}", valid_from=f"{2000 + n}-01-01")) for n in range(1, 21)
        ]
        assert (
            own.client.post("/v1/import", headers=NDJSON, content="\n".join(lines)).status_code
            == 200
        )
        assert own.cool() == 20
        connection.execute("ANALYZE memories")

    async def plans() -> list[str]:
        engine = create_engine(own.url, pool_size=1, patience=Patience())
        told = []
        async with begin_for_agent(engine, AgentId("default")) as connection:
            await fetch_rows(
                connection, "SET enable_seqscan = off", {}
            )  # twenty rows are read through the cheapest in any way
            for mode in ("hybrid", "vector", "text"):
                statement, given = search.build_search_statement(mode, Filters(), Point())
                vector = [1.0] + [0.0] * 383
                asked = {
                    "query": "editor",
                    "vector": str(vector),
                    "language": "english",
                    "limit": 10,
                    "min_score": 0.0,
                    "depth": 50,
                    "max_bytes": 2**20,
                }
                point = {
                    "agent": AgentId("default"),
                    "as_of": None,
                    "known_at": None,
                    "used_by": None,
                    "encoder": "x",
                }
                rows = await fetch_rows(
                    connection, f"EXPLAIN {statement}", {**given, **asked, **point}
                )
                told.append("\n".join(row["QUERY PLAN"] for row in rows))
        await engine.dispose()
        return told

    for plan in asyncio.run(plans()):
        assert "memories_warm" in plan
        assert "memories_valid_from" not in plan
