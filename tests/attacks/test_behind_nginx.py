"""The proxy of docs/operate/network.md: what comes through it, and what it keeps out."""

import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from app.settings import load_settings
from support.builders import contents, store
from support.oauth import Program
from support.service import running
from support.service_process import free_port
from support.tls_database import make_certificate

DOCUMENT = Path(__file__).parents[2] / "docs" / "operate" / "network.md"
HOST = "memory.example.com"
KEY = "a-key-of-the-tests-0123456789abcdef"
NGINX = shutil.which("nginx") or "/usr/sbin/nginx"

pytestmark = pytest.mark.skipif(not Path(NGINX).exists(), reason="no nginx on this machine")


@contextmanager
def nginx(folder: Path, address: str) -> Iterator[httpx.Client]:
    """A client of the documented proxy in front of the service at `address`. Its times are a tenth."""
    [documented] = re.findall(r"```nginx\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    certificate, port = make_certificate(folder, HOST), free_port()
    changes = {
        "127.0.0.1:8000": address.removeprefix("http://"),
        "listen 443": f"listen 127.0.0.1:{port}",
        f"/etc/ssl/{HOST}.pem": str(certificate),
        f"/etc/ssl/{HOST}.key": str(certificate),
        "timeout 10s": "timeout 1s",
    }
    for old, new in changes.items():
        assert old in documented
        documented = documented.replace(old, new)
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    configuration = folder / "nginx.conf"
    configuration.write_text(
        f"daemon off; user root; pid {folder}/pid; error_log {folder}/errors;\n"
        f"events {{}}\nhttp {{ access_log off;\n{temporary}{documented} }}\n"
    )
    words = [NGINX, "-e", str(folder / "errors"), "-c", str(configuration)]
    with subprocess.Popen(words) as process:
        try:
            trust = ssl.create_default_context(cafile=str(certificate))
            await_port(port, process)
            with httpx.Client(
                base_url=f"https://127.0.0.1:{port}",
                headers={"Host": HOST},
                verify=trust,
                timeout=30,
                event_hooks={"request": [name_host]},
            ) as client:
                yield client
        finally:
            process.terminate()
            process.wait(30)


def name_host(request: httpx.Request) -> None:
    """The certificate is that of the name, which leads nowhere."""
    request.extensions["sni_hostname"] = HOST


def await_port(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(200):
        assert process.poll() is None
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("nginx did not start in time")


def test_the_service_is_used_through_it_and_nothing_but_its_routes(
    tmp_path: Path, database_url: str
) -> None:
    settings = load_settings(database_url=database_url, api_key=KEY, use_flush_seconds=3600)
    with running(settings) as address, nginx(tmp_path, address) as client:
        assert client.get("/v1/memories").status_code == 401
        client.headers["X-API-Key"] = KEY
        store(client, "Has a cat")
        lines = b'{"content": "Has a dog"}\n{"content": "Has a horse"}\n'
        ndjson = {"Content-Type": "application/x-ndjson"}
        assert client.post("/v1/import", content=lines, headers=ndjson).status_code == 200
        assert contents(client) == {"Has a cat", "Has a dog", "Has a horse"}
        exported = client.get("/v1/export")
        assert '"end"' in exported.text.splitlines()[-1]
        for inside in ("/metrics", "/docs", "/openapi.json", "/readyz", "/version"):
            assert client.get(inside).status_code == 404
        items = [{"content": "x" * 16_000, "details": {"n": "y" * 2000}}] * 1000
        assert client.post("/v1/memories/batch", json={"items": items}).status_code == 413


def test_a_client_of_mcp_is_granted_access_through_it(tmp_path: Path, database_url: str) -> None:
    settings = load_settings(database_url=database_url, api_key=KEY)
    with running(settings) as address, nginx(tmp_path, address) as client:
        refused = client.post("/mcp/mira")
        described = f"https://{HOST}/.well-known/oauth-protected-resource/mcp/mira"
        assert f'resource_metadata="{described}"' in refused.headers["www-authenticate"]
        metadata = client.get(described.removeprefix(f"https://{HOST}")).json()
        assert metadata["resource"] == f"https://{HOST}/mcp/mira"
        program = Program(client)
        page = program.show(resource=metadata["resource"])
        [style] = re.findall(r'href="(/ui/assets/console.css[^"]*)"', page.text)
        assert client.get(style).status_code == 200
        assert client.get("/ui").status_code == 404
        tokens = program.connect(KEY, resource=metadata["resource"])
        assert program.call_tool(tokens["access_token"], agent="mira").status_code == 200


@contextmanager
def listener() -> Iterator[tuple[socket.socket, str]]:
    """A socket in the place of the service, and its address."""
    with socket.create_server(("127.0.0.1", 0)) as place:
        yield place, f"http://127.0.0.1:{place.getsockname()[1]}"


def connect(folder: Path, client: httpx.Client) -> ssl.SSLSocket:
    """A line to the proxy."""
    trust = ssl.create_default_context(cafile=str(folder / f"{HOST}.pem"))
    plain = socket.create_connection(("127.0.0.1", client.base_url.port or 0), timeout=30)
    return trust.wrap_socket(plain, server_hostname=HOST)


def test_half_a_request_does_not_reach_the_service(tmp_path: Path) -> None:
    head = f"POST /v1/memories HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 1000\r\n\r\n{{"
    with listener() as (place, address), nginx(tmp_path, address) as client:
        with connect(tmp_path, client) as line:
            line.sendall(head.encode())
            while line.recv(1000):
                pass  # the proxy has given up when it closes
        place.setblocking(False)
        with pytest.raises(BlockingIOError):
            place.accept()


def test_the_address_of_the_caller_is_not_what_the_caller_says(tmp_path: Path) -> None:
    forged = f"GET /v1/memories HTTP/1.1\r\nHost: {HOST}\r\nX-Forwarded-For: 192.0.2.7\r\n\r\n"
    with (
        listener() as (place, address),
        nginx(tmp_path, address) as client,
        connect(tmp_path, client) as line,
    ):
        line.sendall(forged.encode())
        passed_on, _ = place.accept()
        with passed_on:
            head = passed_on.recv(10_000).decode()
    assert re.findall(r"(?i)^x-forwarded-for: (.*)\r$", head, re.MULTILINE) == ["127.0.0.1"]
    assert f"Host: {HOST}\r\n" in head


def test_without_a_key_it_opens_the_service_to_nobody(tmp_path: Path, database_url: str) -> None:
    settings = load_settings(database_url=database_url, use_flush_seconds=3600)
    with running(settings) as address, nginx(tmp_path, address) as client:
        answer = client.get("/v1/memories")
        assert answer.status_code == 403
        assert answer.json()["type"].endswith("foreign-host")
