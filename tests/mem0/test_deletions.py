"""`delete_all` where something comes between: over a real service, with calls of others in the way."""

import asyncio
from collections.abc import Callable

import httpx
import pytest

from app.mem0 import calls
from app.mem0.parameters import read_filter
from app.mem0.schemas import Selection
from palimpsest_client import AsyncClient, Conflict, Retries, Unavailable
from support.builders import contents, store

Disturbance = Callable[[int, httpx.Request], None]


class DisturbedTransport(httpx.AsyncHTTPTransport):
    """Lets something happen before each retraction, which is told its number from 1."""

    def __init__(self, disturb: Disturbance) -> None:
        super().__init__()
        self._disturb = disturb
        self._count = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/retract"):
            self._count += 1
            await asyncio.to_thread(self._disturb, self._count, request)
        return await super().handle_async_request(request)


def delete_all(client: httpx.Client, disturb: Disturbance) -> int:
    """Delete everything of the agent of the client."""
    agent = client.headers["X-Agent-Id"]

    async def run() -> int:
        async with AsyncClient(
            str(client.base_url),
            agent=agent,
            transport=DisturbedTransport(disturb),
            retries=Retries(tries=1),
        ) as memory:
            return await calls.delete_all(memory, read_filter(Selection(user_id=agent)))

    return asyncio.run(run())


@pytest.fixture
def ids(client: httpx.Client) -> list[str]:
    """The ids of three memories, the newest first, as they are deleted."""
    texts = ("Tea is green", "The sea is blue", "Snow is white")
    return [store(client, text)["memory"]["id"] for text in texts][::-1]


@pytest.mark.usefixtures("ids")
def test_a_deletion_that_breaks_midway_says_how_far_it_came(client: httpx.Client) -> None:
    path = f"/v1/agents/{client.headers['X-Agent-Id']}"

    def freeze(number: int, _: httpx.Request) -> None:
        if number == 2:
            assert client.patch(path, json={"mode": "frozen"}).is_success

    with pytest.raises(Unavailable, match="frozen") as broken:
        delete_all(client, freeze)
    words = "1 memories were deleted before that and stay so; at most 2 are left."
    assert words in broken.value.detail
    assert words in broken.value.problem["detail"]
    assert broken.value.problem["deleted"] == 1
    assert contents(client) == {"Tea is green", "The sea is blue"}
    client.patch(path, json={"mode": "live"})
    assert delete_all(client, lambda *_: None) == 2
    assert contents(client) == set()


def test_what_others_end_or_change_meanwhile_is_no_obstacle(
    client: httpx.Client, ids: list[str]
) -> None:
    def change(number: int, _: httpx.Request) -> None:
        if number == 1:
            place = f"/v1/memories/{ids[1]}"
            assert client.post(f"{place}/retract", json={}).is_success
            changed = {"content": "Tea is black"}
            assert client.post(f"/v1/memories/{ids[2]}/supersede", json=changed).is_success

    assert delete_all(client, change) == 2
    assert contents(client) == set()


@pytest.mark.usefixtures("ids")
def test_a_deletion_gives_up_where_others_change_everything_all_the_time(
    client: httpx.Client,
) -> None:
    def change(number: int, request: httpx.Request) -> None:
        memory_id = request.url.path.split("/")[-2]
        path = f"/v1/memories/{memory_id}/supersede"
        assert client.post(path, json={"content": f"Text {number}"}).is_success

    with pytest.raises(Conflict) as broken:
        delete_all(client, change)
    assert "0 memories were deleted" in broken.value.detail
    assert len(contents(client)) == 3
