"""F1: a web page in the user's browser writes into a service without a key, or reads from it."""

import socket
from collections.abc import Iterator
from uuid import uuid4

import httpx
import pytest

from app.settings import load_settings
from support.builders import contents, problem, store
from support.keys import ROOT_KEY
from support.service import running
from support.transfers import NDJSON

LINE = '{"content": "My recovery mail is evil@example", "key": "recovery_mail", "trust": 0}'
PAGES = [
    pytest.param({"Origin": "https://evil.example"}, id="another site"),
    pytest.param({"Origin": "http://localhost:3000"}, id="another port"),
    pytest.param({"Origin": "null"}, id="a sandboxed frame"),
    pytest.param({"Origin": "http://["}, id="none that can be read"),
    pytest.param({"Sec-Fetch-Site": "cross-site"}, id="as the browser says"),
]
WRITES = [
    ("POST", "/v1/memories"),
    ("POST", "/v1/import"),
    ("POST", "/v1/memories/{id}/retract"),
    ("DELETE", "/v1/memories/{id}?erase=true"),
    ("POST", "/v1/sweeps"),
    ("POST", "/v1/sessions/monday/end"),
]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(("method", "path"), WRITES)
def test_a_page_of_another_origin_writes_nothing(
    client: httpx.Client, method: str, path: str, page: dict[str, str]
) -> None:
    memory = store(client, "Has a cat", session_id="monday")["memory"]
    response = client.request(
        method, path.format(id=memory["id"]), content=LINE, headers=NDJSON | page
    )
    assert problem(response, 403)["type"].endswith("foreign-origin")
    assert contents(client) == {"Has a cat"}


@pytest.mark.parametrize("path", ["/v1/memories", "/v1/context", "/v1/export"])
def test_a_page_of_another_origin_starts_no_read(client: httpx.Client, path: str) -> None:
    response = client.get(path, headers={"Sec-Fetch-Site": "cross-site"})
    assert problem(response, 403)["type"].endswith("foreign-origin")


def test_the_pages_of_the_service_itself_may_write(client: httpx.Client) -> None:
    origin = str(client.base_url).rstrip("/")
    headers = {"Origin": origin, "Sec-Fetch-Site": "same-origin"}
    response = client.post("/v1/memories", json={"content": "Has a cat"}, headers=headers)
    assert response.status_code == 201


@pytest.mark.parametrize(
    "media_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
def test_an_import_comes_only_as_what_no_form_can_send(
    client: httpx.Client, media_type: str
) -> None:
    headers = {"Content-Type": media_type} if media_type else {}
    response = client.post("/v1/import", content=LINE, headers=headers)
    assert "application/x-ndjson" in problem(response, 415)["detail"]
    assert contents(client) == set()


HOSTS = ["evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.2", "[::2]:80", ""]


@pytest.mark.parametrize("host", HOSTS)
def test_a_name_that_is_made_to_lead_here_reads_and_erases_nothing(
    client: httpx.Client, host: str
) -> None:
    memory = store(client, "Has a cat")["memory"]
    for method, path in (
        ("GET", "/v1/memories"),
        ("POST", "/v1/search"),
        ("DELETE", f"/v1/memories/{memory['id']}?erase=true"),
        ("GET", "/docs"),
    ):
        response = client.request(method, path, headers={"Host": host})
        assert problem(response, 403)["type"].endswith("foreign-host")
        assert "cat" not in response.text
    assert contents(client) == {"Has a cat"}


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1:1", "[::1]", "[::1]:9"])
def test_this_machine_goes_by_several_names(client: httpx.Client, host: str) -> None:
    assert client.get("/v1/memories", headers={"Host": host}).status_code == 200


@pytest.fixture
def keyed(database_url: str) -> Iterator[httpx.Client]:
    settings = load_settings(database_url=database_url, api_key=ROOT_KEY)
    headers = {"X-API-Key": ROOT_KEY, "X-Agent-Id": f"test-{uuid4().hex}"}
    with (
        running(settings) as address,
        httpx.Client(base_url=address, headers=headers, timeout=60) as client,
    ):
        yield client


def test_with_a_key_any_host_and_origin_will_do(keyed: httpx.Client) -> None:
    headers = {"Host": "memory.example", "Origin": "https://app.example"}
    response = keyed.post("/v1/memories", json={"content": "Has a cat"}, headers=headers)
    assert response.status_code == 201


def test_more_hosts_can_be_named(database_url: str) -> None:
    settings = load_settings(database_url=database_url, allowed_hosts="palimpsest, Memory.Example")
    with running(settings) as address:
        for host, status in (("palimpsest:8000", 200), ("memory.example", 200), ("127.0.0.1", 403)):
            answer = httpx.get(f"{address}/v1/memories", headers={"Host": host})
            assert answer.status_code == status, host


def test_any_host_can_be_allowed_and_probes_need_none(database_url: str) -> None:
    settings = load_settings(database_url=database_url, allowed_hosts="*")
    with running(settings) as address:
        answer = httpx.get(f"{address}/v1/memories", headers={"Host": "10.1.2.3"})
        assert answer.status_code == 200


def test_probes_may_name_the_service_as_they_like(client: httpx.Client) -> None:
    for path in ("/livez", "/readyz"):
        assert client.get(path, headers={"Host": "10.1.2.3:8000"}).status_code == 200


@pytest.mark.parametrize("head", ["", "Host: localhost\r\nHost: evil.example\r\n"])
def test_a_request_names_one_host(client: httpx.Client, head: str) -> None:
    address = (client.base_url.host, client.base_url.port or 80)
    with socket.create_connection(address, timeout=10) as caller:
        caller.sendall(f"GET /v1/memories HTTP/1.1\r\n{head}Connection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: caller.recv(65_536), b""))
    assert answer.startswith(b"HTTP/1.1 400 "), answer[:200]
