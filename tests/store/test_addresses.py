"""Addresses of databases, as libpq reads them."""

import pytest
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

from app.store.engine import NoAddress, sqlalchemy_url

LOGIN = {"user": "me", "dbname": "db"}


@pytest.mark.parametrize(
    ("url", "parameters"),
    [
        ("postgresql://me@h/db", {"host": "h"}),
        (
            "postgresql://me@h:5433/db?sslmode=require",
            {"host": "h", "port": "5433", "sslmode": "require"},
        ),
        ("postgresql://me:p%40ss@h/db", {"host": "h", "password": "p@ss"}),
        ("postgresql://me@/db?host=/a/folder&port=5432", {"host": "/a/folder", "port": "5432"}),
        ("postgresql://me@/db?host=/a%20folder", {"host": "/a folder"}),
        ("postgresql://me@/db?host=/home/me%40corp.example", {"host": "/home/me@corp.example"}),
        ("postgresql://me@[::1]:5433/db", {"host": "::1", "port": "5433"}),
        ("postgresql://me@a:1,b:2/db", {"host": "a,b", "port": "1,2"}),
        (
            "postgresql://me@a:1,[::1]:2/db?target_session_attrs=read-write",
            {"host": "a,::1", "port": "1,2", "target_session_attrs": "read-write"},
        ),
    ],
)
def test_an_address_reaches_the_driver_whole(url: str, parameters: dict[str, str]) -> None:
    _, given = PGDialect_psycopg().create_connect_args(sqlalchemy_url(url))  # type: ignore[no-untyped-call]
    assert given == LOGIN | parameters


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:s3cret:/w0rd@host:port/name",
        "postgresql://me:s3cret@w0rd@host/name",
        "postgresql://me:s3%cret@host/name",
        "postgresql://me@host/name?nonsense=1",
    ],
)
def test_an_address_that_is_misread_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(NoAddress) as refused:
        sqlalchemy_url(url)
    assert "s3" not in str(refused.value)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ("connection_limit=1", "connection_limit"),
        ("sslmode=require&sslaccept=strict&socket_timeout=3", "sslaccept, socket_timeout"),
        ("schema=mem&pgbouncer=true&pool_timeout=0", "pool_timeout"),
    ],
)
def test_an_option_of_another_program_is_named(options: str, named: str) -> None:
    with pytest.raises(NoAddress, match=f"no option {named}; remove") as refused:
        sqlalchemy_url(f"postgresql://user:secret@host/name?{options}")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("password", ["p/a?secret", "p/?secret=x@y", "a b?se cret", "p/q?secret%"])
def test_a_password_is_not_taken_for_an_option(password: str) -> None:
    with pytest.raises(NoAddress) as refused:
        sqlalchemy_url(f"postgresql://user:{password}@host/na me?x")
    assert "secret" not in str(refused.value)


def test_the_options_of_the_service_are_left_out() -> None:
    url = sqlalchemy_url("postgresql://host/name?schema=mem&sslmode=require&pgbouncer=true")
    assert dict(url.query) == {"host": "host", "sslmode": "require"}
