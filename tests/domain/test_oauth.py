"""Clients of OAuth and the addresses that their answers may go to, as tables of cases."""

import base64
import json

import pytest

from app.domain.oauth import (
    MOST_REDIRECT_URIS,
    OAuthClient,
    OAuthError,
    answer_client,
    proves_challenge,
)

CLAUDE = "https://claude.ai/api/mcp/auth_callback"


@pytest.mark.parametrize(
    "redirect_uri",
    [
        CLAUDE,
        "https://chatgpt.com/connector_platform_oauth_redirect",
        "https://example.com:8443/cb?state=1",
        "http://localhost:3000/callback",
        "http://127.0.0.1/callback",
        "http://[::1]:9/callback",
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "vscode://vscode.github-authentication/did-authenticate",
        "com.example.app:/callback",
    ],
)
def test_answers_may_go_to_web_pages_loopback_and_apps(redirect_uri: str) -> None:
    client = OAuthClient.register("A client", (redirect_uri,))
    assert OAuthClient.parse(client.id) == client
    assert client.allows_redirect(redirect_uri)


@pytest.mark.parametrize(
    "redirect_uri",
    [
        "",
        "/callback",
        "//example.com/cb",
        "http://example.com/cb",
        "http://localhost.example.com/cb",
        "http://127.0.0.1.example.com/cb",
        "https://",
        "https:///cb",
        "https://user@example.com/cb",
        "https://example.com\\@evil.example/cb",
        "https://example.com/cb#part",
        "https://example.com/<script>",
        'https://example.com/"onload=',
        "https://example.com/c b",
        "https://example.com/cb\n",
        "https://exämple.com/cb",
        "https://example.com:99999/cb",
        "https://[::1/cb",
        "javascript:alert(1)",
        "javascript://example.com/%0aalert(1)",
        "data:text/html,hi",
        "file:///etc/passwd",
        "blob:https://example.com/1",
        "https://example.com/" + "x" * 500,
    ],
)
def test_answers_go_nowhere_else(redirect_uri: str) -> None:
    with pytest.raises(OAuthError) as refused:
        OAuthClient.register("A client", (redirect_uri,))
    assert refused.value.code == "invalid_redirect_uri"


@pytest.mark.parametrize(
    ("registered", "wanted", "is_allowed"),
    [
        (CLAUDE, CLAUDE, True),
        (CLAUDE, CLAUDE + "/", False),
        (CLAUDE, CLAUDE + "?next=https://evil.example", False),
        (CLAUDE, CLAUDE.upper(), False),
        (CLAUDE, "https://claude.ai:443/api/mcp/auth_callback", False),
        (CLAUDE, "https://claude.ai/api/mcp/../mcp/auth_callback", False),
        (CLAUDE, "", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:50123/cb", True),
        ("http://127.0.0.1:1/cb", "http://127.0.0.1:2/cb", True),
        ("http://localhost:1/cb", "http://localhost:2/cb", True),
        ("http://[::1]:1/cb", "http://[::1]:2/cb", True),
        ("http://127.0.0.1/cb", "http://localhost/cb", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:50123/other", False),
        ("http://127.0.0.1/cb", "https://127.0.0.1:50123/cb", False),
        ("http://127.0.0.1/cb", "http://127.0.0.1:1@evil.example/cb", False),
    ],
)
def test_addresses_are_compared_letter_by_letter_but_for_loopback_ports(
    registered: str, wanted: str, is_allowed: bool
) -> None:
    assert OAuthClient.register("A client", (registered,)).allows_redirect(wanted) is is_allowed


@pytest.mark.parametrize("count", [0, MOST_REDIRECT_URIS + 1])
def test_a_client_has_some_addresses_and_not_too_many(count: int) -> None:
    with pytest.raises(OAuthError):
        OAuthClient.register("A client", (CLAUDE,) * count)


def make_id(content: object) -> str:
    return "client." + base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "client_id",
    [
        "",
        "client.",
        "unknown",
        "client.!!!!",
        "client." + "W" * 20_000,
        make_id([]),
        make_id({}),
        make_id("text"),
        make_id(["name", 7]),
        make_id(["name", ["https://example.com"]]),
        make_id(["name", "http://evil.example/cb"]),
        make_id(["name"]),
    ],
)
def test_an_id_that_was_made_up_allows_no_more_than_a_registration(client_id: str) -> None:
    with pytest.raises(OAuthError):
        OAuthClient.parse(client_id)


def test_a_name_is_cut_and_holds_what_can_be_seen() -> None:
    client = OAuthClient.register("名 <b>\ud800\x1b[2J\u202e" + "x" * 500, (CLAUDE,))
    assert OAuthClient.parse(client.id).name == client.name
    assert client.name.startswith("名 <b>[2Jxx")
    assert len(client.name) == 100


def test_an_answer_joins_the_query_of_its_address() -> None:
    answered = answer_client("https://a.example/cb?x=1", "https://i.example", code="c", state=None)
    assert answered == "https://a.example/cb?x=1&code=c&iss=https%3A%2F%2Fi.example"
    answered = answer_client("https://a.example/cb", "https://i.example", code="c", state="a&b#c")
    assert answered == "https://a.example/cb?code=c&state=a%26b%23c&iss=https%3A%2F%2Fi.example"


def test_a_challenge_is_proved_by_its_verifier_only() -> None:
    # The example of RFC 7636, appendix B.
    verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    assert proves_challenge(verifier, challenge)
    assert not proves_challenge(verifier[:-1] + "l", challenge)
    assert not proves_challenge("", challenge)
    assert not proves_challenge("ü" * 43, challenge)
    assert not proves_challenge(challenge, challenge)
