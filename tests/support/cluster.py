"""Databases on a Citus cluster that is there already: that of PALIMPSEST_TEST_CITUS, the URL of its coordinator.

The database of that URL knows the cluster's nodes. Each test has a database of its own on every node.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from app.store.distribution import Node, distribute_database
from support.urls import name_of, with_database, with_node

CITUS_URL = os.environ.get("PALIMPSEST_TEST_CITUS")
SHARDS = 4

needs_cluster = pytest.mark.skipif(
    CITUS_URL is None, reason="PALIMPSEST_TEST_CITUS names no coordinator of a cluster"
)
needs_one_server = pytest.mark.skipif(
    CITUS_URL is not None, reason="this is about one server, which a cluster is not"
)


def coordinator() -> Node:
    parts = conninfo_to_dict(CITUS_URL)
    return Node(str(parts["host"]), int(str(parts["port"])))


def list_workers() -> list[Node]:
    with psycopg.connect(CITUS_URL) as connection:
        rows = connection.execute(
            "SELECT nodename, nodeport FROM pg_dist_node WHERE groupid > 0 ORDER BY 2"
        ).fetchall()
    return [Node(*row) for row in rows]


def node_urls(url: str) -> list[str]:
    """The URL of the same database on every node, the coordinator first."""
    return [url, *(with_node(url, node.host, node.port) for node in list_workers())]


@contextmanager
def fresh_distributed_database(server_url: str, name: str, template: str | None) -> Iterator[str]:
    """An empty database that knows its nodes, or a copy of another, made node by node: what says where shards lie is in it, too."""
    servers = node_urls(server_url)
    try:
        for server in servers:
            with psycopg.connect(server, autocommit=True) as connection:
                if template:
                    _copy_database(connection, name, template)
                else:
                    connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        url = with_database(server_url, name)
        if not template:
            for node in node_urls(url):
                with psycopg.connect(node, autocommit=True) as connection:
                    connection.execute("CREATE EXTENSION citus")
                    connection.execute("CREATE EXTENSION vector")
        yield url
    finally:
        for server in servers:
            with psycopg.connect(server, autocommit=True) as connection:
                _drop_database(connection, name)


def _drop_database(connection: psycopg.Connection[tuple[object]], name: str) -> None:
    """A process of Citus that waits for another node does not end at once."""
    drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
    for _ in range(6):
        try:
            connection.execute(drop)
        except psycopg.errors.ObjectInUse:
            continue  # it waited for five seconds
        return
    connection.execute(drop)


def _copy_database(connection: psycopg.Connection[tuple[object]], name: str, template: str) -> None:
    """Citus has a process of its own in each database; it is sent out, because nobody may be in one that is copied."""
    names = {"name": sql.Identifier(name), "template": sql.Identifier(template)}
    connection.execute(sql.SQL("ALTER DATABASE {template} ALLOW_CONNECTIONS false").format(**names))
    try:
        for _ in range(500):
            end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = %s"
            if connection.execute(end, [template]).fetchone() == (0,):
                break
            time.sleep(0.02)
        connection.execute(sql.SQL("CREATE DATABASE {name} TEMPLATE {template}").format(**names))
    finally:
        connection.execute(
            sql.SQL("ALTER DATABASE {template} ALLOW_CONNECTIONS true").format(**names)
        )


# An arbitrary number. Citus changes roles while it distributes, and these belong to all databases.
_LOCK = 7_265_104_399


def distribute(url: str) -> None:
    with psycopg.connect(CITUS_URL) as connection:
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        distribute_database(url, coordinator=coordinator(), workers=list_workers(), shards=SHARDS)


@contextmanager
def without_node(url: str, node: Node) -> Iterator[None]:
    """Nobody reaches the database on this node, and all sessions there end."""
    name = sql.Identifier(name_of(url))
    elsewhere = with_database(with_node(url, node.host, node.port), "postgres")
    allow = "ALTER DATABASE {} ALLOW_CONNECTIONS {}"
    with psycopg.connect(elsewhere, autocommit=True) as admin:
        admin.execute(sql.SQL(allow).format(name, sql.SQL("false")))
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
            [name_of(url)],
        )
        try:
            yield
        finally:
            admin.execute(sql.SQL(allow).format(name, sql.SQL("true")))
