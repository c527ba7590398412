"""Single and batched stores over HTTP against their floors."""

from collections.abc import Iterator
from statistics import median
from typing import Any

from bench.client import Client
from bench.figures import HEAD, Pair, Report, in_turns
from bench.search import servers
from bench.world import World, fresh_texts

BATCH = 1_000


def measure(report: Report, world: World, *, rounds: int, batches: int) -> None:
    singles, batched = [], []
    fresh = iter(fresh_texts())
    for encoder in (True, False):
        with servers(world.url, encoder=encoder) as (service_port, floor_port):
            service, floor = Client(service_port, World.STORING), Client(floor_port, World.STORING_FLOOR)
            Client(service_port, World.STORING_FLOOR).post("/v1/memories", {"content": fresh_texts()[-1], "classify": False})
            for said in ({}, {"classify": False}):
                pair = _stores(service, floor, fresh, said, rounds)
                singles.append([_name(said), "" if encoder else "left out", *pair.cells()])
    for encoder in (True, False):
        with servers(world.url, encoder=encoder) as (service_port, floor_port):
            for said in ({}, {"classify": False}):
                pair = _batches(service_port, floor_port, said, batches)
                rate = f"{BATCH / median(pair.service):,.0f}"
                batched.append([_name(said), "" if encoder else "left out", *pair.cells(), rate])
    report.section(
        "Store",
        f"`POST /v1/memories`, an agent of 1,000 memories; {rounds} calls each. The floor: encode, INSERT of the memory, INSERT of a log row, COMMIT."
        " Goal: 2.",
        ["", "encoder", *HEAD],
        singles,
    )
    report.section(
        "Batch of 1,000",
        f"`POST /v1/memories/batch` into agents without memories; {batches} batches each. The floor: encode all, binary COPY of 1,000 memories and of"
        " 1,000 log rows, COMMIT.",
        ["", "encoder", *HEAD, "memories/s"],
        batched,
    )


def _name(said: dict[str, Any]) -> str:
    return "`classify: false`" if said else "default"


def _stores(service: Client, floor: Client, fresh: Iterator[str], said: dict[str, Any], rounds: int) -> Pair:
    floor.post("/reply", service.post("/v1/memories", {"content": next(fresh), **said}))
    return in_turns(
        rounds,
        lambda _: service.timed(service.prepare("/v1/memories", {"content": next(fresh), **said}))[0],
        lambda _: floor.timed(floor.prepare("/store", {"content": next(fresh), **said}))[0],
    )


def _batches(service_port: int, floor_port: int, said: dict[str, Any], batches: int) -> Pair:
    body = {"items": [{"content": text, **said} for text in fresh_texts()[:BATCH]]}
    first = {"content": fresh_texts()[-1], "classify": False}

    def service(number: int) -> float:
        return _sent(Client(service_port, f"batch-{service_port}-{len(said)}-{number}"), "/v1/memories/batch", body)

    def floor(number: int) -> float:
        agent = f"batch-floor-{service_port}-{len(said)}-{number}"
        Client(service_port, agent).post("/v1/memories", first)
        return _sent(Client(floor_port, agent), "/batch", body)

    reply = Client(service_port, f"batch-reply-{service_port}-{len(said)}").post("/v1/memories/batch", body)
    Client(floor_port).post("/reply", reply)
    return in_turns(batches, service, floor, warm_up=1)


def _sent(client: Client, path: str, body: Any) -> float:
    seconds, _ = client.timed(client.prepare(path, body))
    client.close()
    return seconds
