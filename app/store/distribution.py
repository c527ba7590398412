"""Spread a database over the nodes of a Citus cluster."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import sqlalchemy as sa

from app.store import cluster, schema, unfit
from app.store.installation import read_installation
from app.store.roles import Role

# End every other session of this database, apart from those of Citus itself.
_END_SESSIONS = sa.text("""
    SELECT pg_terminate_backend(pid)
    FROM pg_stat_activity
    WHERE datname = current_database()
      AND pid <> pg_backend_pid()
      AND backend_type = 'client backend'
""")

# List those of these roles that cannot log in.
_LIST_LOGINLESS = sa.text("""
    SELECT rolname FROM pg_roles
    WHERE rolname = ANY(:roles) AND NOT rolcanlogin
""")

_LIST_NODES = sa.text("SELECT nodename AS host, nodeport AS port FROM pg_dist_node")

_SET_COORDINATOR = sa.text("SELECT citus_set_coordinator_host(:host, :port)")

_ADD_NODE = sa.text("SELECT citus_add_node(:host, :port)")


@dataclass(frozen=True, slots=True)
class Node:
    """The address at which the other nodes of a cluster reach this one."""

    host: str
    port: int


def distribute_database(
    owner_url: str, *, coordinator: Node, workers: Sequence[Node], shards: int
) -> list[str]:
    """Make the database the coordinator of these workers, and spread its tables over all nodes.

    Each table of agents gets `shards` parts. Return the names of the tables that were not in their
    place. The tables are moved in one transaction, in which nobody writes. Raise UnfitDatabase.
    """
    with schema.open_owner(owner_url) as connection, schema.explain_refusal(unfit.ClusterRefused):
        if not cluster.is_installed(connection):
            connection.execute(sa.text("CREATE EXTENSION citus"))
            connection.commit()
        is_first_time = not cluster.is_distributed(connection)
        if is_first_time:
            # Sessions that began before the extension was there would not tell the other nodes
            # whose memories they read. New ones do.
            connection.execute(_END_SESSIONS)
        present = {Node(row.host, row.port) for row in connection.execute(_LIST_NODES)}
        if coordinator not in present:
            connection.execute(_SET_COORDINATOR, asdict(coordinator))
        for worker in workers:
            if worker not in present:
                connection.execute(_ADD_NODE, asdict(worker))
        connection.commit()
        if is_first_time:
            # A cluster has no indexes of agents.
            connection.execute(sa.text("SELECT drop_every_index_table()"))
        named = [read_installation(owner_url).name_role(role) for role in Role]
        for role in connection.execute(_LIST_LOGINLESS, {"roles": named}).scalars().all():
            # The coordinator logs in at the other nodes by the role of the transaction.
            connection.execute(sa.text(f"ALTER ROLE {role} LOGIN"))
        placed = cluster.place_tables(connection, shards=shards)
        connection.commit()
    return placed
