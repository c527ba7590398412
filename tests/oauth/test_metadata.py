"""What the service says of itself to clients of OAuth, and where it says nothing."""

import re

import httpx
import pytest

from app.settings import load_settings
from support.keys import ROOT_KEY
from support.oauth import Program
from support.service import running

RESOURCE = "/.well-known/oauth-protected-resource"
SERVER = "/.well-known/oauth-authorization-server"


@pytest.mark.parametrize(
    ("path", "resource"),
    [
        ("", "/mcp"),
        ("/mcp", "/mcp"),
        ("/mcp/mira", "/mcp/mira"),
        ("/mcp/acme/mira", "/mcp/acme/mira"),
        ("/mcp/Zo%25C3%25AB", "/mcp/Zo%25C3%25AB"),
        ("/mcp/mira/", "/mcp/mira"),
    ],
)
def test_each_address_of_mcp_is_described(
    browser: httpx.Client, keyed_service: str, path: str, resource: str
) -> None:
    described = browser.get(RESOURCE + path).json()
    assert described["resource"] == keyed_service + resource
    assert described["authorization_servers"] == [keyed_service]
    challenge = browser.post(resource).headers["www-authenticate"]
    named = re.search(r'resource_metadata="([^"]+)"', challenge)
    assert named
    assert browser.get(named[1]).json() == browser.get(RESOURCE + path).json()


@pytest.mark.parametrize("path", ["/v1", "/mcpx", "/mcp/a%20b", "/mcp/*"])
def test_nothing_else_is_described(browser: httpx.Client, path: str) -> None:
    assert browser.get(RESOURCE + path).status_code == 404


def test_a_wrong_token_is_named_so(browser: httpx.Client) -> None:
    assert "error" not in browser.post("/mcp").headers["www-authenticate"]
    wrong = browser.post("/mcp", headers={"Authorization": "Bearer wrong"})
    assert 'error="invalid_token"' in wrong.headers["www-authenticate"]
    assert browser.get("/v1/memories").headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "host", ["memory.example.com", "localhost.example.com", 'a"b', "127.0.0.1:1 x"]
)
def test_over_plain_http_from_elsewhere_there_is_no_oauth(
    browser: httpx.Client, program: Program, host: str
) -> None:
    browser.headers["Host"] = host
    for path in (RESOURCE, RESOURCE + "/mcp", SERVER):
        refused = browser.get(path)
        assert refused.status_code == 404
        assert "X-Forwarded-Proto" in refused.json()["detail"]
    assert browser.post("/mcp").headers["www-authenticate"] == "Bearer"
    assert "X-Forwarded-Proto" in program.show().text
    assert program.redeem("pal_0123456789abcdef_" + "0" * 64).json()["error"] == "invalid_request"


def test_a_trusted_proxy_states_the_scheme(browser: httpx.Client) -> None:
    headers = {"Host": "Memory.example.com:8443", "X-Forwarded-Proto": "https"}
    described = browser.get(SERVER, headers=headers).json()
    assert described["issuer"] == "https://memory.example.com:8443"
    assert described["token_endpoint"] == "https://memory.example.com:8443/oauth/token"


def test_a_service_without_keys_has_no_oauth(service: str) -> None:
    for path in (RESOURCE, RESOURCE + "/mcp", SERVER, "/oauth/authorize"):
        assert httpx.get(service + path).status_code == 404
    for path in ("/oauth/register", "/oauth/token"):
        assert httpx.post(service + path).status_code == 404
    assert httpx.post(service + "/mcp").status_code != 401


def test_the_page_has_its_style_without_the_console(keyed_url: str) -> None:
    settings = load_settings(database_url=keyed_url, api_key=ROOT_KEY, console=False)
    with running(settings) as address, httpx.Client(base_url=address) as client:
        page = Program(client).show()
        [style] = re.findall(r'href="(/ui/assets/console.css[^"]*)"', page.text)
        assert client.get(style).status_code == 200
        assert client.get("/ui").status_code == 404
