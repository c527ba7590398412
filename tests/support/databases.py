"""Databases of a test's own."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import psycopg


@contextmanager
def fresh_database(server_url: str, template: str | None = None) -> Iterator[str]:
    """An empty database of its own, or a copy of another; dropped afterwards."""
    name = f"test_{uuid4().hex}"
    copy = f" TEMPLATE {template}" if template else ""
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}{copy}")
        yield with_database(server_url, name)
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def with_database(url: str, name: str) -> str:
    parsed = psycopg.conninfo.conninfo_to_dict(url)
    host = str(parsed.get("host", ""))
    user, password, port = (
        parsed.get("user", "postgres"),
        parsed.get("password"),
        parsed.get("port"),
    )
    login = f"{user}:{password}" if password else f"{user}"
    if host.startswith("/"):
        return f"postgresql://{login}@/{name}?host={host}" + (f"&port={port}" if port else "")
    return f"postgresql://{login}@{host}" + (f":{port}" if port else "") + f"/{name}"


def name_of(url: str) -> str:
    return str(psycopg.conninfo.conninfo_to_dict(url)["dbname"])


def with_user(url: str, user: str, password: str) -> str:
    parsed = psycopg.conninfo.conninfo_to_dict(url)
    host, name = parsed["host"], parsed["dbname"]
    return f"postgresql://{user}:{password}@/{name}?host={host}&port={parsed.get('port', 5432)}"
