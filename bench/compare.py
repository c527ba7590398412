"""`python -m bench.compare PATH`: this checkout against an earlier one, in turns, over two databases of one server."""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import psycopg

from app.store.embedded import embedded_postgres
from bench.client import Client
from bench.figures import HEAD, in_turns
from bench.servers import ROOT, SERVICE, SERVICE_WITHOUT_ENCODER, serving
from bench.vectors import cached_vectors
from bench.world import asked_texts, fresh_texts, known_texts, stored_texts

FACTS = {"small": 1_000, "large": 10_000}
# Each service has agents of its own, so that what is stored for one does not weigh on the other.
SERVICES = {SERVICE_WITHOUT_ENCODER: ", encoder left out", SERVICE: ""}
BATCH = 1_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--batches", type=int, default=8)
    arguments = parser.parse_args()
    cached_vectors(known_texts())
    before = arguments.before.resolve()
    with (
        tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as folder,
        embedded_postgres(Path(folder)) as url,
    ):
        roots = {
            ROOT: _create_database(url, "after", ROOT),
            before: _create_database(url, "before", before),
        }
        for address in roots.values():
            _settle(address)
        print(
            " | ".join(
                [
                    "",
                    *(name.replace("service", "after").replace("floor", "before") for name in HEAD),
                ]
            )
        )
        for service, what in SERVICES.items():
            with _serving_both(service, roots) as ports:
                _measure(ports, service, arguments.rounds, what)
                if service == SERVICE_WITHOUT_ENCODER:
                    _measure_batches(ports, arguments.batches, what)


def _name_agent(size: str, service: str) -> str:
    return f"{size}-{'vectors' if service == SERVICE_WITHOUT_ENCODER else 'encoder'}"


def _create_database(url: str, name: str, root: Path) -> str:
    """A database that the checkout has migrated."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    address = url.replace("/palimpsest?", f"/{name}?")
    subprocess.run(
        [sys.executable, "-m", "app.cli", "migrate"],
        cwd=root,
        env={"PYTHONPATH": str(root), "PALIMPSEST_DATABASE_URL": address},
        check=True,
    )
    return address


def _settle(url: str) -> None:
    """The same agents in both databases, stored by this checkout's or the other's service."""
    root = ROOT if "/after?" in url else Path(sys.argv[1]).resolve()
    with serving(SERVICE_WITHOUT_ENCODER, root=root, PALIMPSEST_DATABASE_URL=url) as port:
        for (size, count), service in product(FACTS.items(), SERVICES):
            client = Client(port, _name_agent(size, service))
            for start in range(0, count, BATCH):
                texts = stored_texts()[start : start + BATCH]
                client.post("/v1/memories/batch", {"items": [_item(text) for text in texts]})
            client.close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")


def _item(text: str) -> dict[str, Any]:
    return {"content": text, "classify": False}


@contextmanager
def _serving_both(factory: str, roots: dict[Path, str]) -> Iterator[tuple[int, int]]:
    (after, after_url), (before, before_url) = roots.items()
    with (
        serving(factory, root=after, PALIMPSEST_DATABASE_URL=after_url) as one,
        serving(factory, root=before, PALIMPSEST_DATABASE_URL=before_url) as two,
    ):
        yield one, two


def _measure(ports: tuple[int, int], service: str, rounds: int, what: str) -> None:
    asked, fresh = asked_texts(), fresh_texts()

    def store(number: int) -> tuple[str, dict[str, Any]]:
        return "/v1/memories", {"content": fresh[number]}

    for size, count in FACTS.items():
        agent = _name_agent(size, service)
        for mode in ("vector", "hybrid"):

            def search(number: int, mode: str = mode) -> tuple[str, dict[str, Any]]:
                query = asked[number % len(asked)]
                return "/v1/search", {"query": query, "mode": mode, "limit": 10}

            _compare(f"search {mode}, {count}{what}", ports, agent, search, rounds)
        _compare(f"store into {count}{what}", ports, agent, store, rounds)


def _measure_batches(ports: tuple[int, int], batches: int, what: str) -> None:
    def batch(number: int) -> tuple[str, dict[str, Any]]:
        texts = stored_texts()[number * BATCH : (number + 1) * BATCH]
        return "/v1/memories/batch", {"items": [_item(text) for text in texts]}

    _compare(f"batch of {BATCH}{what}", ports, "batches", batch, batches)


def _compare(
    name: str,
    ports: tuple[int, int],
    agent: str,
    call: Callable[[int], tuple[str, dict[str, Any]]],
    rounds: int,
) -> None:
    after, before = (Client(port, agent) for port in ports)
    pair = in_turns(
        rounds,
        lambda number: after.timed(after.prepare(*call(number)))[0],
        lambda number: before.timed(before.prepare(*call(number)))[0],
        warm_up=2 if rounds < 20 else 20,
    )
    print(" | ".join([name, *pair.cells()]), flush=True)


if __name__ == "__main__":
    main()
