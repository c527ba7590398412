"""`palimpsest keys` over a database, and a service that takes what it issues."""

import json
import subprocess

import httpx
import pytest

from app.settings import load_settings
from support.keys import ROOT_KEY, calling
from support.service import running
from support.service_process import palimpsest


def keys(url: str, *words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    settings = {"PALIMPSEST_API_KEY": ROOT_KEY, "PALIMPSEST_DATABASE_URL": url}
    return palimpsest("keys", *words, **(settings | environment))


@pytest.mark.slow
def test_a_key_from_the_command_line_lives_as_one_of_the_service(database_url: str) -> None:
    wanted = ("create", "Ann", "--scope", "read", "--agent", "ann", "--trust", "7", "--json")
    created = keys(database_url, *wanted)
    assert created.returncode == 0, created.stderr
    key = json.loads(created.stdout)
    expected = ("command", ["read"], ["ann"], 7, None)
    names = ("created_by", "scopes", "agents", "trust_ceiling", "expires_at")
    assert tuple(key[name] for name in names) == expected
    settings = load_settings(database_url=database_url, api_key=ROOT_KEY)
    with running(settings) as address, calling(address, key["key"]) as client:
        assert client.get("/v1/memories").status_code == 200
        rotated = keys(database_url, "rotate", key["id"], "--overlap", "0")
        assert rotated.returncode == 0, rotated.stderr
        with httpx.Client(base_url=address, headers={"X-API-Key": rotated.stdout.strip()}) as new:
            assert new.get("/v1/memories").status_code == 200
    listed = keys(database_url, "list")
    assert key["id"] in listed.stdout
    assert key["key"] not in listed.stdout
    assert keys(database_url, "revoke", key["id"]).returncode == 0
    assert json.loads(keys(database_url, "list", "--json").stdout)["items"][0].keys() >= {
        "revoked_at"
    }


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("create", "Ann", "--scope", "all", "--agent", "ann"), "scopes"),
        (("create", "Ann", "--scope", "read", "--agent", "acme*"), "acme/*"),
        (("create", "Ann", "--scope", "read", "--agent", "ann", "--trust", "101"), "trust_ceiling"),
        (("create", "Ann", "--scope", "read", "--agent", "ann", "--days", "-1"), "past"),
        (("create", "Ann", "--scope", "read", "--agent", "ann", "--days", "1e12"), "--days"),
        (("create", "Ann", "--scope", "read", "--agent", "ann", "--days", "nan"), "--days"),
        (("revoke", "0123456789abcdef"), "palimpsest keys list"),
    ],
)
def test_what_is_wrong_is_one_plain_line(
    database_url: str, words: tuple[str, ...], complaint: str
) -> None:
    refused = keys(database_url, *words)
    assert refused.returncode == 1
    assert complaint in refused.stderr.splitlines()[-1]
    assert "Traceback" not in refused.stderr


def test_a_key_that_no_service_asks_for_is_issued_with_a_warning(database_url: str) -> None:
    wanted = ("create", "Ann", "--scope", "read", "--agent", "ann")
    created = palimpsest("keys", *wanted, PALIMPSEST_DATABASE_URL=database_url)
    assert created.stdout.startswith("pal_")
    assert "PALIMPSEST_API_KEY" in created.stderr
