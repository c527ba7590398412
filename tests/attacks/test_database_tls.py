"""A line to the database that others may listen to, or answer on in the database's place."""

from pathlib import Path

import httpx
import psycopg
import pytest

from app.settings import load_settings
from app.store import schema
from support.builders import contents, store
from support.service import running
from support.service_process import palimpsest
from support.tls_database import make_certificate, tls_front


def test_a_verified_database_is_served_over_tls_alone(tmp_path: Path, database_url: str) -> None:
    certificate = make_certificate(tmp_path, "localhost")
    with tls_front(database_url, certificate) as front:
        url = front.url(sslmode="verify-full", sslrootcert=str(certificate))
        schema.check_schema(url)
        assert front.encrypted == 1
        settings = load_settings(database_url=url, use_flush_seconds=3600)
        with running(settings) as address, httpx.Client(base_url=address, timeout=30) as client:
            store(client, "Has a cat")
            assert contents(client) == {"Has a cat"}
        assert front.encrypted > 1


@pytest.mark.parametrize(
    ("host", "trusted", "reason"),
    [
        ("localhost", "another.example", "certificate verify failed"),
        (
            "database.example",
            "database.example",
            'certificate for "database.example" does not match host name "localhost"',
        ),
        ("localhost", "missing", "does not exist"),
    ],
    ids=["signed by somebody else", "of another host", "no file of trust"],
)
def test_a_database_that_is_not_the_one_meant_is_refused_at_start(
    tmp_path: Path, database_url: str, host: str, trusted: str, reason: str
) -> None:
    certificate = make_certificate(tmp_path, host)
    if trusted == "another.example":
        make_certificate(tmp_path, trusted)
    with tls_front(database_url, certificate) as front:
        root = tmp_path / f"{trusted}.pem"
        url = front.url(sslmode="verify-full", sslrootcert=str(root))
        refused = palimpsest("serve", "--port", "0", PALIMPSEST_DATABASE_URL=url)
    assert refused.returncode == 1
    assert reason in refused.stderr.splitlines()[-1]


def test_a_server_without_tls_is_refused_where_tls_is_required(database_url: str) -> None:
    with tls_front(database_url, None) as front:
        with psycopg.connect(front.url(sslmode="prefer")) as connection:
            assert not connection.pgconn.ssl_in_use
        url = front.url(sslmode="require")
        refused = palimpsest("serve", "--port", "0", PALIMPSEST_DATABASE_URL=url)
    assert refused.returncode == 1
    assert "server does not support SSL, but SSL was required" in refused.stderr
