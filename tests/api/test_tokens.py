"""Tokens that an application signs by itself, for one agent and for a short time."""

import base64
import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import jwt
import pytest

from app.api import tokens
from app.api.tokens import BadToken, read_token
from app.settings import InvalidSettings, load_settings
from support.keys import ROOT_KEY, calling
from support.service import running

SECRET = "a secret of the test that is long enough"
FACT = {"content": "Uses Vim", "kind": "preference", "key": "editor", "value": "Vim"}


@pytest.fixture
def address(database_url: str) -> Iterator[str]:
    settings = load_settings(database_url=database_url, api_key=ROOT_KEY, token_secret=SECRET)
    with running(settings) as address:
        yield address


def sign(secret: str = SECRET, algorithm: str = "HS256", **claims: Any) -> str:
    """Return a token for Ann with these claims; a claim of None is left out."""
    usual = {
        "aud": "palimpsest",
        "sub": "app",
        "agent": "ann",
        "scope": "read write",
        "exp": int(time.time()) + 300,
    }
    chosen = {name: value for name, value in (usual | claims).items() if value is not None}
    return jwt.encode(chosen, secret, algorithm)


def test_a_token_opens_its_agent_for_its_scopes_and_the_log_names_its_subject(
    address: str,
) -> None:
    with calling(address, sign()) as ann:
        stored = ann.post("/v1/memories", json=FACT)
        assert stored.status_code == 201
        entry = ann.get(f"/v1/log/{stored.json()['log_id']}").json()
        assert entry["actor"] == "token:app"
        assert ann.get("/v1/memories", headers={"X-Agent-Id": "bob"}).status_code == 403
        assert ann.post(f"/v1/log/{entry['id']}/revert", json={}).status_code == 403
        assert ann.get("/v1/keys").status_code == 403
    with calling(address, sign(agent="bob")) as bob:
        assert bob.get("/v1/memories").json()["items"] == []
        assert bob.get(f"/v1/memories/{stored.json()['memory']['id']}").status_code == 404


def test_a_token_cannot_state_more_trust_than_it_says(address: str) -> None:
    with calling(address, sign(agent="trust", trust=40)) as client:
        assert client.post("/v1/memories", json=FACT | {"trust": 60}).status_code == 403
        assert client.post("/v1/memories", json=FACT).json()["memory"]["trust"] == 40


NOW = int(time.time())


@pytest.mark.parametrize(
    ("claims", "words"),
    [
        ({"exp": NOW - 60}, "expired"),
        ({"exp": None}, "exp"),
        ({"exp": NOW + 7200}, "an hour at most"),
        ({"nbf": NOW + 3600}, "not yet valid"),
        ({"aud": "another service"}, "Audience"),
        ({"aud": None}, "aud"),
        ({"sub": None}, "`sub`"),
        ({"sub": "two words"}, "`sub`"),
        ({"agent": None}, "`agent`"),
        ({"agent": "*"}, "one agent"),
        ({"agent": "acme/*"}, "one agent"),
        ({"scope": None}, "`scope`"),
        ({"scope": " "}, "`scope`"),
        ({"scope": "read admin"}, "erase, read, review, write"),
        ({"exp": "soon"}, "exp"),
        ({"exp": float("nan")}, "exp"),
        ({"nbf": "x"}, "nbf"),
        ({"trust": 101}, "`trust`"),
        ({"trust": "high"}, "`trust`"),
    ],
)
def test_a_signed_token_that_says_what_none_may_is_refused_with_the_reason(
    claims: dict[str, Any], words: str
) -> None:
    with pytest.raises(BadToken) as refused:
        read_token(sign(**claims), SECRET)
    assert words in str(refused.value)


def test_the_token_of_the_documentation_is_taken() -> None:
    assert read_token(sign(exp=time.time() + 300), SECRET) is not None


@pytest.mark.parametrize("header", [{"kid": 5}, {"crit": ["x"]}, {"crit": []}])
def test_what_is_odd_and_not_signed_is_a_wrong_key(header: dict[str, Any]) -> None:
    head = base64.urlsafe_b64encode(json.dumps({"alg": "HS256"} | header).encode()).decode()
    assert read_token(f"{head.rstrip('=')}.e30.{'A' * 43}", SECRET) is None


def test_the_reason_is_answered(address: str) -> None:
    for _ in range(20):  # no slow-down as for wrong keys
        refused = httpx.get(f"{address}/v1/memories", headers={"X-API-Key": sign(exp=NOW - 60)})
        assert refused.status_code == 401
        assert "expired" in refused.json()["detail"]


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
def test_what_was_not_signed_with_the_secret_is_a_wrong_key(address: str) -> None:
    head, body, signature = sign().split(".")
    _, root_body, _ = sign(agent="root").split(".")
    forged = [
        sign(secret="another secret that is just as long"),
        sign(secret="", algorithm="none"),
        sign(algorithm="HS512"),
        f"{head}.{root_body}.{signature}",
        f"{head}.{body}.",
        f"{head}.{body}",
        f"{head}.{body}.{signature[:-2]}",
        "a.b.c",
        sign(padding="x" * 5_000),
    ]
    wrong = httpx.get(f"{address}/v1/memories", headers={"X-API-Key": "wrong"}).content
    for token in forged:
        refused = httpx.get(f"{address}/v1/memories", headers={"X-API-Key": token})
        assert (refused.status_code, refused.content) == (401, wrong), token


def test_a_token_that_ends_within_a_long_body_stores_nothing(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "CLOCK_DIFFERENCE", 0)
    token = sign(agent="dripping", exp=int(time.time()) + 2)

    def drip() -> Iterator[bytes]:
        yield b'{"content": "Uses Vim"}\n'
        time.sleep(3)
        yield b'{"content": "Has a dog"}\n'

    headers = {"X-API-Key": token, "Content-Type": "application/x-ndjson"}
    answer = httpx.post(f"{address}/v1/import", headers=headers, content=drip(), timeout=30)
    assert answer.status_code == 401, answer.text
    with calling(address, sign(agent="dripping")) as client:
        assert client.get("/v1/memories").json()["items"] == []


def test_without_the_secret_no_token_is_taken(database_url: str) -> None:
    settings = load_settings(database_url=database_url, api_key=ROOT_KEY)
    with running(settings) as address:
        refused = httpx.get(f"{address}/v1/memories", headers={"X-API-Key": sign()})
        assert refused.status_code == 401


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"token_secret": SECRET}, "PALIMPSEST_TOKEN_SECRET: needs PALIMPSEST_API_KEY"),
        ({"token_secret": "short", "api_key": ROOT_KEY}, "PALIMPSEST_TOKEN_SECRET: .*32"),
        ({"token_secret": SECRET, "api_key": SECRET}, "PALIMPSEST_TOKEN_SECRET: must not"),
    ],
)
def test_a_secret_needs_a_root_key_and_enough_characters(
    settings: dict[str, str], words: str
) -> None:
    with pytest.raises(InvalidSettings, match=words):
        load_settings(**settings)
