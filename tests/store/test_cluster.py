"""A database over the nodes of a Citus cluster. What needs no cluster is how the command reads its nodes."""

import psycopg
import pytest
from typer.testing import CliRunner

from app.cli import cli
from app.commands.client.calling import Failure
from app.commands.maintenance.distribute import _parse_node, _read_node
from app.store.distribution import Node, distribute_database
from app.store.placement import DISTRIBUTED
from support.cluster import coordinator, list_workers, needs_cluster

_SPREAD = "SELECT CAST(logicalrelid AS text) FROM pg_dist_partition WHERE partkey IS NOT NULL"


def test_a_node_is_a_host_and_a_port() -> None:
    assert _parse_node("worker-1:5433") == Node("worker-1", 5433)
    assert _read_node("postgresql://me:secret@db.example/memory") == Node("db.example", 5432)


@pytest.mark.parametrize("address", ["worker-1", "worker-1:", ":5432", "worker-1:five"])
def test_another_address_is_refused(address: str) -> None:
    with pytest.raises(Failure, match="write host:port"):
        _parse_node(address)


def test_workers_cannot_reach_a_socket() -> None:
    with pytest.raises(Failure, match="--coordinator"):
        _read_node("postgresql://me@/memory?host=/run/postgresql")


def test_an_embedded_postgres_has_no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PALIMPSEST_DATABASE_URL", raising=False)
    result = CliRunner().invoke(cli, ["distribute", "--worker", "worker-1:5432"])
    assert "set PALIMPSEST_DATABASE_URL" in str(result.exception)


@needs_cluster
def test_every_table_is_spread_once(database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        spread = {name for (name,) in connection.execute(_SPREAD)}
    assert spread == set(DISTRIBUTED)
    assert (
        distribute_database(
            database_url, coordinator=coordinator(), workers=list_workers(), shards=4
        )
        == []
    )
