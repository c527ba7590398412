"""An agent in numbers: each is what the other routes show."""

import json
from collections import Counter
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.domain.version import Status
from support.builders import SESSION, editor, end, link, problem, remembered, send, store
from support.service_process import palimpsest
from support.transfers import other, telling


def stats_of(client: httpx.Client) -> dict[str, Any]:
    response = client.get(f"/v1/agents/{client.headers['X-Agent-Id']}/stats")
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def eventful(client: httpx.Client) -> None:
    """A memory in every status but `merged`, which needs a model, and something of everything that is counted."""
    send(client, editor("Vim", tier="core"))
    send(client, editor("Emacs"))
    send(client, editor("Emacs"))
    store(client, "Retires", valid_from="2090-01-05")
    store(client, "Was a student", valid_from="2020-01-05", valid_until="2024-01-05")
    store(client, "Lives in Porto", key="home", value="Porto", valid_from="2020-01-05")
    store(client, "Stays at the Ibis", key="home", value="Ibis", valid_until="2090-01-05")
    store(client, "Wants short answers today", **SESSION)
    end(client)
    never = store(client, "Has a dragon")["memory"]["id"]
    client.post(f"/v1/memories/{never}/retract", json={"never_true": True}).raise_for_status()
    erased = store(client, "Secret")["memory"]["id"]
    client.delete(f"/v1/memories/{erased}", params={"erase": True}).raise_for_status()
    store(client, "Never delete backups", kind="constraint", importance=0.9)
    store(client, "We use tabs", kind="decision", project="almanac", lifespan="project")
    store(client, "Alice lives in Porto", trust=90)
    assert store(client, "Alice moved to Lisbon", trust=10)["review_id"]


def counted(values: Any) -> dict[str, int]:
    return dict(Counter(values))


def said(counts: dict[str, int]) -> dict[str, int]:
    return {word: n for word, n in counts.items() if n}


def test_the_numbers_are_those_of_lists_and_log(client: httpx.Client) -> None:
    eventful(client)
    stats = stats_of(client)
    memories = client.get(
        "/v1/memories", params={"include_superseded": True, "limit": 1000}
    ).json()["items"]
    log = client.get("/v1/log", params={"limit": 1000}).json()["items"]
    holding = [m for m in memories if m["status"] == "current"]
    assert stats["memories"] == len(memories)
    assert said(stats["by_status"]) == counted(m["status"] for m in memories)
    assert set(said(stats["by_status"])) == set(Status) - {Status.MERGED}
    assert stats["holding"]["memories"] == len(holding)
    for name in ("kind", "tier", "lifespan"):
        assert said(stats["holding"][f"by_{name}"]) == counted(m[name] for m in holding)
    assert stats["chains"] == len({m["chain_id"] for m in memories})
    assert stats["operations"] == len(log)
    assert said(stats["by_operation"]) == counted(entry["operation"] for entry in log)
    assert stats["by_operation_last_week"] == stats["by_operation"]
    assert said(stats["by_judge"]) == counted(entry["decided_by"] for entry in log)
    assert (stats["first_known_at"], stats["last_known_at"]) == (
        log[-1]["created_at"],
        log[0]["created_at"],
    )
    assert stats["text_bytes"] == sum(len((m["content"] or "").encode()) for m in memories)
    assert (
        said(stats["reviews"])
        == counted(r["status"] for r in client.get("/v1/reviews").json()["items"])
        == {"pending": 1}
    )
    assert stats["beliefs"] > 0
    strengths = sorted(m["strength"] for m in holding)
    strength = stats["holding"]["strength"]
    assert strength["mean"] == pytest.approx(sum(strengths) / len(strengths), abs=1e-5)
    assert (
        strengths[0]
        <= strength["lower_quartile"]
        <= strength["median"]
        <= strength["upper_quartile"]
        <= strengths[-1]
    )


@pytest.mark.slow
def test_the_statuses_are_those_of_any_history(server_url: str, template_url: str) -> None:
    with telling(server_url, template_url) as (client, _):
        for agent in range(3):
            with other(client, f"told-{agent}") as one:
                memories = one.get(
                    "/v1/memories", params={"include_superseded": True, "limit": 1000}
                ).json()["items"]
                stats = stats_of(one)
                assert said(stats["by_status"]) == counted(m["status"] for m in memories)
                assert stats["by_status"]["merged"] > 0
                assert stats["relationships"] > 0


def test_operations_of_earlier_weeks_are_not_of_the_last_one(client: httpx.Client) -> None:
    line = json.dumps({"content": "No meat", "created_at": "2020-01-01"})
    ndjson = {"Content-Type": "application/x-ndjson"}
    client.post("/v1/import", content=line, headers=ndjson).raise_for_status()
    store(client, "I have a cat")
    stats = stats_of(client)
    assert (stats["by_operation"]["ADD"], stats["by_operation_last_week"]["ADD"]) == (2, 1)


def test_what_rests_on_an_end_is_counted_as_stale(client: httpx.Client) -> None:
    plan, base = remembered(client, "Ben owns the rollout", "The rollout is in May")
    link(client, plan, base, "references")
    assert stats_of(client)["stale"] == 0
    client.post(f"/v1/memories/{base}/retract", json={}).raise_for_status()
    listed = client.get("/v1/memories", params={"stale": True}).json()["items"]
    assert stats_of(client)["stale"] == len(listed) == 1


def test_slots_with_several_values_are_counted(client: httpx.Client) -> None:
    send(client, editor("Vim"))
    assert stats_of(client)["crowded_slots"] == 0
    send(client, editor("Emacs", classify=False))
    store(client, "Likes tea", key="drink", value="tea", single_valued=False)
    store(client, "Likes coffee", key="drink", value="coffee", single_valued=False)
    assert stats_of(client)["crowded_slots"] == 1


def test_other_agents_do_not_count(client: httpx.Client) -> None:
    store(client, "Has a dog")
    before = stats_of(client)
    with other(client) as foreign:
        eventful(foreign)
        assert stats_of(foreign)["memories"] > 5
        assert stats_of(client) | {"as_of": ""} == before | {"as_of": ""}


def test_an_agent_that_knows_nothing_yet_has_zeros_and_one_that_never_was_is_unknown(
    client: httpx.Client,
) -> None:
    agent = client.headers["X-Agent-Id"]
    problem(client.get(f"/v1/agents/{agent}/stats"), 404)
    client.patch(f"/v1/agents/{agent}", json={"mode": "shadow"}).raise_for_status()
    stats = stats_of(client)
    assert (stats["memories"], stats["first_known_at"], stats["last_known_at"]) == (0, None, None)
    assert set(stats["holding"]["strength"].values()) == {None}
    assert set(stats["by_status"].values()) == {0}


# --- the command line -----------------------------------------------------------------------------------------------------------


def test_the_command_line_ends_and_counts(service: str) -> None:
    agent = f"cli-{uuid4().hex}"
    with httpx.Client(base_url=service, headers={"X-Agent-Id": agent}) as client:
        one = store(client, "Fact", session_id="a/b", lifespan="session")["memory"]["id"]
        two = store(client, "Another", project="x y", lifespan="project")["memory"]["id"]
    words = ("--url", service, "--agent", agent)
    ended = palimpsest("end-session", "a/b", "--reason", "Done", *words)
    assert (ended.returncode, ended.stdout) == (0, f"ended 1, 0 go on\n{one}\n"), ended.stderr
    assert two in palimpsest("end-project", "x y", "--json", *words).stdout
    assert "retracted" in (shown := palimpsest("stats", *words).stdout), shown
    assert palimpsest("stats", agent, "--url", service, "--json").stdout.startswith(
        '{\n  "agent_id"'
    )
    failed = palimpsest("stats", "nobody-there", "--url", service)
    assert (failed.returncode, failed.stderr.count("\n")) == (1, 1)
