"""The position of a client's writes goes with its reads, and only the latest one."""

import asyncio
from collections.abc import Callable

import httpx
import pytest

from palimpsest_client import AsyncClient, Client

HEADER = "Palimpsest-Position"


class Service:
    """Answers writes with the next of its positions, and notes which one each read carries."""

    def __init__(self, *positions: str) -> None:
        self._positions = iter(positions)
        self.seen: list[str | None] = []

    def answer(self, request: httpx.Request) -> httpx.Response:
        if request.method == "GET" or request.url.path == "/v1/search":
            self.seen.append(request.headers.get(HEADER))
            return httpx.Response(200, json={"items": [], "next_cursor": None, "results": []})
        assert HEADER not in request.headers
        return httpx.Response(201, headers={HEADER: next(self._positions)}, json={})

    def connect(self) -> Client:
        return Client("http://service", transport=httpx.MockTransport(self.answer))


def test_a_read_before_any_write_carries_no_position() -> None:
    service = Service()
    service.connect().search("tea")
    assert service.seen == [None]


@pytest.mark.parametrize(
    "read", [lambda client: client.search("tea"), lambda client: list(client.list_memories())]
)
def test_a_read_carries_the_position_of_the_write_before(read: Callable[[Client], object]) -> None:
    service = Service("0/16B3740")
    client = service.connect()
    client.store("Ada likes tea")
    read(client)
    assert service.seen == ["0/16B3740"]


@pytest.mark.parametrize(
    ("positions", "latest"),
    [(("0/9", "0/10"), "0/10"), (("0/10", "0/9"), "0/10"), (("1/0", "0/FFFFFFFF"), "1/0")],
)
def test_the_latest_position_counts_in_whatever_order_they_come(
    positions: tuple[str, str], latest: str
) -> None:
    service = Service(*positions)
    client = service.connect()
    client.store("Ada likes tea")
    client.store("Ben owns a bicycle")
    client.search("tea")
    assert service.seen == [latest]


def test_views_share_the_position() -> None:
    service = Service("0/1")
    client = service.connect()
    client.agent("other").store("Ada likes tea")
    client.at(as_of="2026").search("tea")
    assert service.seen == ["0/1"]


def test_an_import_moves_the_position() -> None:
    service = Service("0/1")
    client = service.connect()
    client.import_history([{"content": "Ada likes tea"}])
    client.search("tea")
    assert service.seen == ["0/1"]


def test_the_asynchronous_client_does_the_same() -> None:
    service = Service("0/1")

    async def write_and_read() -> None:
        transport = httpx.MockTransport(service.answer)
        async with AsyncClient("http://service", transport=transport) as client:
            await client.store("Ada likes tea")
            await client.search("tea")

    asyncio.run(write_and_read())
    assert service.seen == ["0/1"]
