"""Native export and import: what goes out comes back the same, on both axes."""

import base64
import random
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest

from app.settings import load_settings
from support.builders import contents, editor, list_ended, problem, store
from support.service import running
from support.transfers import (
    NDJSON,
    TYPES,
    brought_back,
    exported,
    joined,
    lines_of,
    other,
    telling,
)


@pytest.fixture(scope="module")
def told(server_url: str, template_url: str) -> Iterator[tuple[httpx.Client, str]]:
    with telling(server_url, template_url) as client_and_url:
        yield client_and_url


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_an_export_imported_and_exported_again_is_the_same_bytes(
    told: tuple[httpx.Client, str], seed: int
) -> None:
    with other(told[0], f"told-{seed}") as one, other(told[0]) as two:
        export = exported(one)
        counts = brought_back(two, export)
        assert exported(two) == export
    assert lines_of(export)[-1] == {"type": "end", "counts": counts}
    assert list(counts) == TYPES
    assert all(counts.values()), "every type is in it"
    assert {line["type"] for line in lines_of(export)} == {"palimpsest", *TYPES, "end"}
    assert b"told-" not in export, "no line names the agent"


def test_every_operation_is_in_the_history_that_is_tried(told: tuple[httpx.Client, str]) -> None:
    lines = []
    for seed in range(3):
        with other(told[0], f"told-{seed}") as client:
            lines += lines_of(exported(client))
    operations = {line["operation"] for line in lines if line["type"] == "operation"}
    assert operations >= {"ADD", "UPDATE", "DELETE", "MERGE", "SUPERSEDE", "NOOP", "AMEND"}
    links = {line["relationship_type"] for line in lines if line["type"] == "relationship"}
    assert {"merged_into", "related_to"} <= links
    assert any(line["void"] for line in lines if line["type"] == "memory")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_both_agents_answer_the_same_on_both_axes(
    told: tuple[httpx.Client, str], seed: int
) -> None:
    with other(told[0], f"told-{seed}") as one, other(told[0]) as two:
        brought_back(two, exported(one))
        for path, params in questions(one, random.Random(seed)):
            answers = [client.get(path, params=params) for client in (one, two)]
            assert answers[0].status_code == answers[1].status_code
            assert answers[0].json() == answers[1].json(), (path, params)


def questions(client: httpx.Client, pick: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Lists, searches, versions, chains and the log, at moments around everything that happened."""
    memories = client.get(
        "/v1/memories", params={"include_superseded": True, "limit": 1000}
    ).json()["items"]
    log = client.get("/v1/log", params={"limit": 1000}).json()["items"]
    as_ofs = sorted(
        {m[name] for m in memories for name in ("valid_from", "valid_until") if m[name]}
        | {"2019-03-01", "2030-01-01"}
    )
    last = max(entry["created_at"] for entry in log)
    known_ats = sorted({entry["created_at"] for entry in log})
    for known_at in [*pick.sample(known_ats, 8), last]:
        point = {"as_of": pick.choice(as_ofs), "known_at": known_at}
        yield "/v1/memories", {**point, "limit": 1000}
        yield "/v1/memories", {**point, "include_superseded": True, "limit": 1000}
        for mode in (
            "vector",
            "text",
        ):  # hybrid breaks ties of equal texts by where they lie on disk
            yield "/v1/search", {**point, "q": "Where does she live?", "limit": 1000, "mode": mode}
        for memory in pick.sample(memories, 10):
            yield f"/v1/memories/{memory['id']}", point
            yield f"/v1/memories/{memory['id']}/history", point
    yield "/v1/log", {"limit": 1000}
    for entry in pick.sample(log, 5):
        yield f"/v1/log/{entry['id']}", {}


def test_an_agent_goes_on_after_it_was_brought_back(client: httpx.Client) -> None:
    old = store(client, **editor("Vim"))["memory"]["id"]
    with other(client) as two:
        brought_back(two, exported(client))
        assert store(two, **editor("Vim"))["operation"] == "NOOP"
        assert list_ended(store(two, **editor("Emacs"))) == [old]
        assert contents(client) == {"Uses Vim as editor"}, "the first agent is another"


def test_it_can_be_brought_to_another_server(client: httpx.Client, database_url: str) -> None:
    store(client, **editor("Vim"))
    store(client, **editor("Emacs"))
    export = exported(client)
    with (
        running(load_settings(database_url=database_url)) as address,
        httpx.Client(base_url=address, timeout=60) as elsewhere,
    ):
        brought_back(elsewhere, export)
        assert exported(elsewhere) == export


def test_an_agent_that_never_was_exports_and_imports_as_nothing(client: httpx.Client) -> None:
    export = exported(client)
    assert [line["type"] for line in lines_of(export)] == ["palimpsest", "end"]
    assert lines_of(export)[0]["agent"] is None
    with other(client) as two:
        assert set(brought_back(two, export).values()) == {0}
        assert exported(two) == export


def test_without_vectors_it_is_smaller_and_they_are_made_again(
    told: tuple[httpx.Client, str],
) -> None:
    small, full = exported(told[0], vectors=False), exported(told[0])
    assert len(small) < len(full)
    assert lines_of(small)[0]["encoder"] is None
    assert not any("embedding" in line for line in lines_of(small))
    with other(told[0]) as two:
        brought_back(two, small)
        assert exported(two) == full, "this encoder gives a text the same vector every time"


def test_vectors_of_another_encoder_are_made_anew(told: tuple[httpx.Client, str]) -> None:
    export = lines_of(exported(told[0]))
    foreign = [
        line | ({"encoder": "another", "dimensions": 2} if line["type"] == "palimpsest" else {})
        for line in export
    ]
    vector = base64.b64encode(np.array([1, 0], "<f4").tobytes()).decode()
    foreign = [
        line | ({"embedding": vector} if line["type"] == "memory" and not line["erased_at"] else {})
        for line in foreign
    ]
    with other(told[0]) as two:
        brought_back(two, joined(foreign))
        assert exported(two) == exported(told[0])


def test_vectors_of_this_encoder_are_taken_as_they_are(client: httpx.Client) -> None:
    store(client, "Has a dog")
    export = lines_of(exported(client))
    vector = np.zeros(384, "<f4")
    vector[7] = 1
    export[1]["embedding"] = base64.b64encode(vector.tobytes()).decode()
    with other(client) as two:
        brought_back(two, joined(export))
        assert lines_of(exported(two))[1]["embedding"] == export[1]["embedding"]


def test_hashes_of_a_file_are_not_trusted(client: httpx.Client) -> None:
    store(client, **editor("Vim"))
    export = exported(client)
    forged = lines_of(export)
    forged[1] |= {
        "content_hash": "00",
        "fuzzy_hash": "",
        "folded_hash": "ff",
        "value_hash": None,
        "slot_key": "other",
        "slot_hash": "01",
    }
    with other(client) as two:
        brought_back(two, joined(forged))
        assert exported(two) == export


def test_an_agent_that_holds_something_is_refused(told: tuple[httpx.Client, str]) -> None:
    with other(told[0]) as two:
        store(two, "Has a dog", classify="rules")
        refused = problem(two.post("/v1/import", headers=NDJSON, content=exported(told[0])), 409)
        assert "name another one" in refused["detail"]
        assert contents(two) == {"Has a dog"}


def test_the_text_languages_of_lines_travel_by_name(database_url: str) -> None:
    with (
        running(load_settings(database_url=database_url, text_language="simple")) as address,
        httpx.Client(base_url=address, timeout=60) as client,
        other(client) as two,
    ):
        store(client, "Has a dog")
        export = exported(client)
        assert lines_of(export)[1]["language"] == "simple"
        brought_back(two, export)
        assert exported(two) == export
