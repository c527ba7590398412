"""The story of a first visit."""

import re
from uuid import uuid4

import httpx

from app.console.pages.story import name_story_agent
from support.doctor_check import assert_agent_healthy

ROOT = {"scopes": ["read", "write"], "agents": ["*"], "trust_ceiling": 100}


def test_an_empty_agent_offers_the_story_and_says_how_facts_come_in(client: httpx.Client) -> None:
    page = client.get("/ui", params={"agent": client.headers["X-Agent-Id"]}).text
    assert re.search(r'action="/ui/story\?agent=story-[0-9a-f]{8}"', page)
    assert f"{client.base_url}/v1/memories".replace("//v1", "/v1") in page


def test_the_story_can_be_seen_on_both_axes(client: httpx.Client) -> None:
    agent = f"story-{uuid4().hex[:8]}"
    answer = client.post("/ui/story", params={"agent": agent})
    assert answer.status_code == 303
    assert f"agent={agent}" in answer.headers["location"]
    headers = {"X-Agent-Id": agent}
    memory_id = answer.headers["location"].split("/")[-1].split("?")[0]
    history = client.get(f"/v1/memories/{memory_id}/history", headers=headers).json()
    texts = [version["content"] for version in history["versions"]]
    assert texts[:3] == [
        "I live in Porto",
        "Before Lisbon I spent a winter in Braga",
        "I moved to Lisbon",
    ]
    braga, learnt = texts[1], history["versions"][1]["created_at"]
    at = {"as_of": history["versions"][1]["valid_from"]}
    for known_at, holds in ((learnt, braga), (history["versions"][2]["created_at"], texts[0])):
        at["known_at"] = known_at
        items = client.get("/v1/memories", params=at, headers=headers).json()["items"]
        assert holds in [item["content"] for item in items]
    with httpx.Client(base_url=client.base_url, headers=headers, timeout=60) as story:
        assert_agent_healthy(story)


def test_a_second_click_stores_nothing_more(client: httpx.Client) -> None:
    agent = f"story-{uuid4().hex[:8]}"
    for _ in range(2):
        client.post("/ui/story", params={"agent": agent})
    items = client.get("/v1/memories", headers={"X-Agent-Id": agent}).json()["items"]
    assert len([item for item in items if "Ibis" in item["content"]]) == 1


def test_the_story_goes_where_the_key_may_write() -> None:
    assert (name_story_agent(ROOT) or "").startswith("story-")
    below = name_story_agent({**ROOT, "agents": ["acme/ann", "acme/*"]})
    assert (below or "").startswith("acme/story-")
    for change in ({"agents": ["ann"]}, {"scopes": ["read"]}, {"trust_ceiling": 50}):
        assert name_story_agent({**ROOT, **change}) is None
