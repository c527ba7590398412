"""Single and batched stores over HTTP against their floors."""

from collections.abc import Iterator
from itertools import islice
from statistics import median
from typing import Any

from bench.client import Client
from bench.figures import HEAD, Pair, Report, in_turns
from bench.search import servers
from bench.world import World, all_texts, fresh_texts

BATCH = 1_000


def measure(
    report: Report, world: World, *, rounds: int, batches: int, encoders: tuple[bool, ...]
) -> None:
    singles, batched = [], []
    fresh = iter(fresh_texts())
    for encoder in encoders:
        with servers(world.url, encoder=encoder) as (service_port, floor_port):
            for said in ({}, {"classify": False}):
                agents = [f"{side}-{service_port}-{len(said)}" for side in ("storing", "floor")]
                world.settle(*agents)
                Client(service_port, agents[1]).post(
                    "/v1/memories", {"content": fresh_texts()[-1], "classify": False}
                )
                pair = _stores(
                    Client(service_port, agents[0]),
                    Client(floor_port, agents[1]),
                    fresh,
                    said,
                    rounds,
                )
                singles.append([_name(said), "" if encoder else "left out", *pair.cells()])
    for encoder in encoders:
        with servers(world.url, encoder=encoder) as (service_port, floor_port):
            unread = iter(all_texts())
            for said in ({}, {"classify": False}):
                pair = compare_batches(service_port, floor_port, said, batches, unread)
                rate = f"{BATCH / median(pair.service):,.0f}"
                batched.append([_name(said), "" if encoder else "left out", *pair.cells(), rate])
    about_stores = (
        f"`POST /v1/memories`, agents of 1,000 memories at the start; {rounds} calls each. The floor: encode, INSERT of the memory,"
        " INSERT of a log row, COMMIT. By default the service also searches for what the fact may change; the floor does not. Goal: 2."
    )
    about_batches = (
        f"`POST /v1/memories/batch` into agents without memories, of texts that the service has not read before; {batches} batches each."
        " The floor: encode all, binary COPY of 1,000 memories and of 1,000 log rows, COMMIT. By default the service also compares each"
        " fact with those stored and with those before it in the batch, and judges it by the signals; the floor does not. Goal: 2."
    )
    report.section("Store", about_stores, ["", "encoder", *HEAD], singles)
    report.section("Batch of 1,000", about_batches, ["", "encoder", *HEAD, "memories/s"], batched)


def _name(said: dict[str, Any]) -> str:
    return "`classify: false`" if said else "default"


def _stores(
    service: Client, floor: Client, fresh: Iterator[str], said: dict[str, Any], rounds: int
) -> Pair:
    floor.post("/reply", service.post("/v1/memories", {"content": next(fresh), **said}))
    return in_turns(
        rounds,
        lambda _: service.timed(service.prepare("/v1/memories", {"content": next(fresh), **said}))[
            0
        ],
        lambda _: floor.timed(floor.prepare("/store", {"content": next(fresh), **said}))[0],
    )


def compare_batches(
    service_port: int, floor_port: int, said: dict[str, Any], batches: int, unread: Iterator[str]
) -> Pair:
    """Store batches in agents without memories, and as many rows over the floor, in turns."""
    first = {"content": fresh_texts()[-1], "classify": False}

    def body() -> dict[str, Any]:
        return {"items": [{"content": text, **said} for text in islice(unread, BATCH)]}

    def service(number: int) -> float:
        return _sent(
            Client(service_port, f"batch-{service_port}-{len(said)}-{number}"),
            "/v1/memories/batch",
            body(),
        )

    def floor(number: int) -> float:
        agent = f"batch-floor-{service_port}-{len(said)}-{number}"
        Client(service_port, agent).post("/v1/memories", first)
        return _sent(Client(floor_port, agent), "/batch", known)

    known = body()
    reply = Client(service_port, f"batch-reply-{service_port}-{len(said)}").post(
        "/v1/memories/batch", known
    )
    Client(floor_port).post("/reply", reply)
    return in_turns(batches, service, floor, warm_up=1 if batches > 1 else 0)


def _sent(client: Client, path: str, body: Any) -> float:
    seconds, _ = client.timed(client.prepare(path, body))
    client.close()
    return seconds
