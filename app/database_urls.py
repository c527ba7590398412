"""Addresses of a database: those of Postgres, with two options of this service.

`schema` names the schema of the tables. `pgbouncer` says that a transaction pooler lies before
Postgres. Addresses for Prisma have the same two.
"""

from urllib.parse import parse_qsl, quote, urlencode

SCHEMA = "schema"
POOLER = "pgbouncer"


def split_options(url: str) -> tuple[str, dict[str, str]]:
    """Return the address as Postgres' own programs read it, and the options of this service."""
    address, query = _split_query(url)
    pairs = query.split("&") if query else []
    own = [pair for pair in pairs if pair.partition("=")[0] in (SCHEMA, POOLER)]
    others = [pair for pair in pairs if pair not in own]
    plain = f"{address}?{'&'.join(others)}" if others else address
    return plain, dict(parse_qsl("&".join(own), keep_blank_values=True))


def list_options(url: str) -> list[str]:
    """Return the names of all options in the address."""
    _, query = _split_query(url)
    return [name for name, _ in parse_qsl(query, keep_blank_values=True)]


def set_schema(url: str, schema: str) -> str:
    """Return the address with this schema."""
    plain, options = split_options(url)
    query = urlencode({**options, SCHEMA: schema}, quote_via=quote)
    return f"{plain}{'&' if _split_query(plain)[1] else '?'}{query}"


def _split_query(url: str) -> tuple[str, str]:
    """Split the address before its options, as Postgres does: a password may have a `?`."""
    start = url.find("://") + len("://")
    at, slash = url.find("@", start), url.find("/", start)
    has_login = at != -1 and (slash == -1 or at < slash)
    start = at if has_login else start
    rest, _, query = url[start:].partition("?")
    return url[:start] + rest, query
