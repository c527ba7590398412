import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from support.builders import contents, list_ended, problem, store
from support.transfers import NDJSON


def post(client: httpx.Client, lines: list[Any]) -> httpx.Response:
    content = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    return client.post("/v1/import", content=content, headers=NDJSON)


def imported(client: httpx.Client, lines: list[Any]) -> list[dict[str, Any]]:
    response = post(client, lines)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("application/x-ndjson")
    return [json.loads(line) for line in response.text.splitlines()]


def home(place: str, since: str, told: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "content": f"Lives in {place}",
        "key": "home",
        "value": place,
        "valid_from": since,
        **({"created_at": told} if told else {}),
        **more,
    }


def test_lines_of_one_slot_form_a_chain_on_both_axes(client: httpx.Client) -> None:
    rows = imported(
        client,
        [
            home("Porto", "2020-03-01", "2020-03-02"),
            home("Lisbon", "2024-06-01", "2024-07-01", client_ref="b"),
        ],
    )
    assert [row["client_ref"] for row in rows] == [None, "b"]
    assert rows[0]["chain_id"] == rows[1]["chain_id"] == rows[0]["id"]
    assert contents(client) == {"Lives in Lisbon"}
    assert contents(client, as_of="2024-06-15") == {"Lives in Lisbon"}
    assert contents(client, as_of="2024-06-15", known_at="2024-06-20") == {"Lives in Porto"}
    assert contents(client, known_at="2020-03-01") == set()


def test_one_line_is_one_version_never_deduplicated(client: httpx.Client) -> None:
    rows = imported(
        client,
        [
            {"content": "Has a dog"},
            {"content": "Has a dog"},
            {"type": "memory", "content": "Has a dog"},
        ],
    )
    assert len({row["id"] for row in rows}) == 3
    assert len(client.get("/v1/memories").json()["items"]) == 3


def test_stated_known_times_may_tie_and_are_kept_apart(client: httpx.Client) -> None:
    rows = imported(
        client,
        [home(place, f"202{i}-01-01", "2025-01-01") for i, place in enumerate(["A", "B", "C"])],
    )
    assert [row["known_at"] for row in rows] == [f"2025-01-01T00:00:00.00000{i}Z" for i in range(3)]


def test_known_times_go_on_after_an_import(client: httpx.Client) -> None:
    [row] = imported(client, [home("Porto", "2020-03-01", "2020-03-02")])
    assert list_ended(store(client, "Lives in Lisbon", key="home", value="Lisbon")) == [row["id"]]


FUTURE = (datetime.now(UTC) + timedelta(days=1)).isoformat()
BAD = [
    ("{", "valid"),
    ({"content": ""}, "content"),
    ({"content": "x", "classify": False}, "classify: unknown field"),
    ({"content": "x", "type": "log"}, "type"),
    (home("X", "2020-01-02", valid_until="2020-01-01"), "valid_until"),
    (home("X", "2020-01-01", FUTURE), "future"),
    (home("X", "2020-01-01", "2019-01-01"), "goes back"),
    ({"content": "x", "valid_until": "2020-01-01"}, "valid_until"),
    ({"content": "x", "details": {"a": "\u0000"}}, "NUL"),
    ("x" * (2**20 + 1), "longer"),
]


@pytest.mark.parametrize(("line", "said"), BAD)
def test_a_bad_line_is_named_and_nothing_is_kept(
    client: httpx.Client, line: Any, said: str
) -> None:
    refused = problem(
        post(
            client,
            [home("Porto", "2020-03-01", "2020-03-02"), "", line, home("Lisbon", "2024-06-01")],
        ),
        422,
    )
    assert refused["line"] == 3
    assert refused["detail"].startswith("Line 3: ")
    assert said in refused["detail"]
    assert contents(client, include_superseded=True) == set()
    assert client.get("/v1/log").json()["items"] == []


def test_a_known_time_before_the_agents_last_is_refused(client: httpx.Client) -> None:
    store(client, "Has a dog")
    assert (
        "goes back"
        in problem(post(client, [home("Porto", "2020-03-01", "2020-03-02")]), 422)["detail"]
    )


def test_an_import_joins_the_chain_that_is_there(client: httpx.Client) -> None:
    first = store(client, "Lives in Porto", key="home", value="Porto", valid_from="2020-03-01")[
        "memory"
    ]
    [row] = imported(client, [home("Faro", "2019-01-01")])
    assert row["chain_id"] == first["id"]
    assert contents(client, as_of="2019-06-01") == {"Lives in Faro"}
    assert contents(client) == {"Lives in Porto"}


def test_an_import_of_nothing_is_fine(client: httpx.Client) -> None:
    assert imported(client, []) == []
    assert imported(client, ["", "  "]) == []


@pytest.mark.slow
def test_thousands_of_lines_over_few_slots_keep_every_belief(client: httpx.Client) -> None:
    start = datetime(2020, 1, 1, tzinfo=UTC)
    days = [(start + timedelta(days=i)).isoformat() for i in range(1300)]
    rows = imported(
        client,
        [
            {
                "content": f"v{i}",
                "key": f"k{i % 3}",
                "value": str(i),
                "valid_from": day,
                "created_at": day,
            }
            for i, day in enumerate(days)
        ],
    )
    assert len(rows) == 1300
    assert contents(client) == {"v1297", "v1298", "v1299"}
    assert contents(client, known_at=days[600]) == {"v598", "v599", "v600"}
    history = client.get(f"/v1/memories/{rows[0]['id']}/history").json()["versions"]
    assert [v["valid_until"] for v in history[:-1]] == [v["valid_from"] for v in history[1:]]
