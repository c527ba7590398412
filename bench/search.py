"""Search over HTTP against its floor."""

from collections.abc import Iterator
from contextlib import contextmanager

from bench.client import Client
from bench.figures import HEAD, Pair, Report, in_turns
from bench.servers import FLOOR, SERVICE, SERVICE_WITHOUT_ENCODER, serving
from bench.world import World, asked_texts

LIMIT = 10


@contextmanager
def servers(url: str, *, encoder: bool) -> Iterator[tuple[int, int]]:
    """Ports of the service and of the floor; without the encoder, both look their vectors up."""
    factory, vectors = (SERVICE, "made") if encoder else (SERVICE_WITHOUT_ENCODER, "known")
    with (
        serving(factory, PALIMPSEST_DATABASE_URL=url) as service,
        serving(FLOOR, PALIMPSEST_DATABASE_URL=url, BENCH_ENCODER=vectors) as floor,
    ):
        yield service, floor


def measure(
    report: Report,
    world: World,
    *,
    rounds: int,
    agents: tuple[str, ...],
    encoders: tuple[bool, ...],
) -> None:
    rows = []
    for encoder in encoders:
        with servers(world.url, encoder=encoder) as (service, floor):
            for agent in agents:
                for mode in ("vector", "hybrid"):
                    pair = _searches(service, floor, agent, mode, rounds)
                    rows.append([mode, SIZES[agent], "" if encoder else "left out", *pair.cells()])
    explanation = f"`POST /v1/search`, limit {LIMIT}, beside {len(world.others)} other agents; {rounds} calls each. Goal: 1.5, better 1.25."
    report.section("Search", explanation, ["mode", "memories", "encoder", *HEAD], rows)


SIZES = {World.SMALL: "1,000", World.LARGE: "10,000"}


def _searches(service_port: int, floor_port: int, agent: str, mode: str, rounds: int) -> Pair:
    service, floor = Client(service_port, agent), Client(floor_port, agent)
    asked = asked_texts()

    def body(number: int) -> dict[str, object]:
        return {"query": asked[number % len(asked)], "mode": mode, "limit": LIMIT}

    floor.post("/reply", service.post("/v1/search", body(0)))
    pair = in_turns(
        rounds,
        lambda number: service.timed(service.prepare("/v1/search", body(number)))[0],
        lambda number: floor.timed(floor.prepare("/search", body(number)))[0],
    )
    service.close()
    floor.close()
    return pair
