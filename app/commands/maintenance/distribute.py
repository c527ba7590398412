"""`palimpsest distribute`: spread a database over the nodes of a Citus cluster."""

from collections.abc import Sequence

from app.commands.client.calling import Failure
from app.store import distribution
from app.store.distribution import Node
from app.store.engine import sqlalchemy_url

DEFAULT_PORT = 5432


def distribute_database(
    owner_url: str, coordinator: str | None, workers: Sequence[str], shards: int
) -> None:
    """Distribute the database, and print which tables were put in their place.

    The nodes are host:port; the coordinator may be None for the address in the URL. Raise Failure
    if one cannot be read, and UnfitDatabase.
    """
    placed = distribution.distribute_database(
        owner_url,
        coordinator=_parse_node(coordinator) if coordinator else _read_node(owner_url),
        workers=[_parse_node(worker) for worker in workers],
        shards=shards,
    )
    if placed:
        print(f"Put in their place: {', '.join(placed)}.")
    else:
        print("Every table is in its place.")


def _read_node(url: str) -> Node:
    address = sqlalchemy_url(url)
    host = address.host or str(address.query.get("host", ""))
    port = address.port or address.query.get("port") or DEFAULT_PORT
    if not host or host.startswith("/"):
        raise Failure("The workers cannot reach a socket: name this server with --coordinator.")
    return Node(host, int(str(port)))


def _parse_node(address: str) -> Node:
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise Failure(f"{address!r} is no node: write host:port, such as worker-1:5432.")
    return Node(host, int(port))
