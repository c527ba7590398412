"""Addresses of databases."""

import psycopg


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


def with_node(url: str, host: str, port: int) -> str:
    """The same database on another server."""
    return psycopg.conninfo.make_conninfo(url, host=host, port=port)
