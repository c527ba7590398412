"""Containers for tests, if a Docker engine answers."""

from collections.abc import Iterator
from contextlib import closing

import pytest

POSTGRES_IMAGE = (
    "pgvector/pgvector:0.8.4-pg18"
    "@sha256:212765b63c1462883de295c4c415edcd22191b8d8d46853e86ad05d4b577a4cb"
)


def container_url() -> Iterator[str]:
    """A Postgres of the pgvector image; without a Docker engine the tests are skipped and say so."""
    from testcontainers.community.postgres import PostgresContainer

    need_docker_engine()
    with PostgresContainer(POSTGRES_IMAGE, driver=None) as postgres:
        yield postgres.get_connection_url()


def need_docker_engine() -> None:
    """Skips the test where no Docker engine answers, and says why."""
    import docker

    try:
        with closing(docker.from_env()) as engine:
            engine.ping()
    except docker.errors.DockerException as reason:
        pytest.skip(f"no Docker engine answers: {reason}")
