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
