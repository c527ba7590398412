"""Webhooks: signed, in order, tried again, and sent to no address that a caller must not reach."""

import asyncio
import base64
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from app.domain import webhooks as domain
from app.jobs.worker import open_jobs
from app.remote import public_http as remote
from app.settings import Settings, load_settings
from app.store import webhooks as stored
from support.builders import editor, problem, store
from support.keys import ROOT_KEY, calling, issue
from support.service import running
from support.service_process import served
from support.tls_database import make_certificate
from support.transfers import exported
from support.webhook_receiver import receiving
from support.writers import wait_until


def open_settings(url: str, **more: Any) -> Settings:
    """Settings by which webhooks may lead to this machine."""
    return load_settings(
        database_url=url, webhooks_allow_http=True, webhooks_allow_private=True, **more
    )


@contextmanager
def serving(settings: Settings) -> Iterator[httpx.Client]:
    with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def create(client: httpx.Client, url: str, **more: Any) -> dict[str, Any]:
    response = client.post("/v1/webhooks", json={"url": url, **more})
    assert response.status_code == 201, response.text
    answer: dict[str, Any] = response.json()
    return answer


def look_up(client: httpx.Client, webhook: dict[str, Any]) -> dict[str, Any]:
    response = client.get(f"/v1/webhooks/{webhook['id']}")
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def deliver(settings: Settings) -> None:
    """Deliver what is due, as a service does."""

    async def run() -> None:
        async with open_jobs(settings) as jobs:
            await jobs.services.deliveries.deliver_due()

    asyncio.run(run())


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed may be tried again at once, three times."""
    monkeypatch.setattr(domain, "DELAYS", (timedelta(0),) * 3)


# --- what is sent ---------------------------------------------------------------------------------


def test_events_are_sent_in_order_and_signed(database_url: str) -> None:
    settings = open_settings(database_url)
    with serving(settings) as client, receiving() as receiver:
        store(client, "Came before the webhook")
        webhook = create(client, receiver.url)
        for name in ("Vim", "Emacs", "Nano"):
            store(client, **editor(name))
        deliver(settings)
        deliver(settings)
        messages = receiver.verify(webhook["secret"])
        events = client.get("/v1/events").json()["items"][1:]
        assert [message["data"] for message in messages] == [
            {"agent_id": "default", **event} for event in events
        ]
        assert receiver.ids == [event["id"] for event in events]
        kinds = [message["type"] for message in messages]
        assert kinds == ["operation.add", "operation.update", "operation.update"]
        assert "editor" not in str(receiver.requests)
        shown = look_up(client, webhook)
        assert [one["message_id"] for one in shown["deliveries"]] == receiver.ids[::-1]
        assert {one["status"] for one in shown["deliveries"]} == {204}
        assert (shown["failures"], shown["disabled_at"]) == (0, None)


def test_a_webhook_gets_what_it_asks_for_of_the_agents_it_is_for(database_url: str) -> None:
    settings = open_settings(database_url)
    with serving(settings) as client, receiving() as receiver:
        webhook = create(client, receiver.url, agents="acme/*", operations=["UPDATE"])
        for agent in ("acme/ann", "acme", "acme/ben", "other"):
            for name in ("Vim", "Emacs"):
                headers = {"X-Agent-Id": agent}
                sent = client.post("/v1/memories", json=editor(name), headers=headers)
                assert sent.status_code == 201, sent.text
        deliver(settings)
        messages = receiver.verify(webhook["secret"])
        assert {message["data"]["agent_id"] for message in messages} == {"acme/ann", "acme/ben"}
        assert [message["type"] for message in messages] == ["operation.update"] * 2


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("status", [500, 302, 404])
def test_what_is_not_taken_is_sent_again_before_anything_else(
    database_url: str, status: int
) -> None:
    settings = open_settings(database_url)
    with serving(settings) as client, receiving(204, status, status, 204) as receiver:
        webhook = create(client, receiver.url)
        ids = [store(client, **editor(name))["log_id"] for name in ("Vim", "Emacs", "Nano")]
        deliver(settings)
        assert receiver.ids == ids[:2], "the third one waits for the second one"
        failed = look_up(client, webhook)
        assert (failed["failures"], failed["deliveries"][0]["status"]) == (1, status)
        assert failed["deliveries"][0]["problem"]
        deliver(settings)
        deliver(settings)
        assert receiver.ids == [ids[0], ids[1], ids[1], ids[1], ids[2]]
        assert receiver.verify(webhook["secret"])
        shown = look_up(client, webhook)
        assert (shown["failures"], shown["next_try_at"]) == (0, None)
        attempts = [one["attempt"] for one in shown["deliveries"]]
        assert attempts == [1, 3, 2, 1, 1]


def test_the_next_try_waits(database_url: str) -> None:
    settings = open_settings(database_url)
    with serving(settings) as client, receiving(500) as receiver:
        webhook = create(client, receiver.url)
        store(client)
        deliver(settings)
        deliver(settings)
        assert len(receiver.requests) == 1
        assert look_up(client, webhook)["next_try_at"]
        enabled = client.post(f"/v1/webhooks/{webhook['id']}/enable").json()
        assert enabled["next_try_at"] is None
        deliver(settings)
        assert len(receiver.requests) == 2


@pytest.mark.usefixtures("at_once")
def test_a_webhook_that_fails_for_long_is_disabled_and_can_go_on(database_url: str) -> None:
    settings = open_settings(database_url)
    with serving(settings) as client, receiving(500) as receiver:
        webhook = create(client, receiver.url)
        stored_id = store(client)["log_id"]
        for _ in range(6):
            deliver(settings)
        assert len(receiver.requests) == 4, "three more tries, and no more"
        disabled = look_up(client, webhook)
        assert disabled["disabled_at"]
        assert "500" in disabled["disabled_because"]
        receiver.statuses = [200]
        second = store(client, "Has a cat")["log_id"]
        client.post(f"/v1/webhooks/{webhook['id']}/enable").raise_for_status()
        deliver(settings)
        assert receiver.ids[4:] == [stored_id, second], "nothing is missed"


def test_a_receiver_that_is_gone_is_left_in_peace(database_url: str) -> None:
    settings = open_settings(database_url)
    with serving(settings) as client, receiving(410) as receiver:
        webhook = create(client, receiver.url)
        store(client)
        deliver(settings)
        assert "gone" in look_up(client, webhook)["disabled_because"]


def test_a_receiver_that_is_down_is_a_failure(database_url: str) -> None:
    settings = open_settings(database_url)
    with serving(settings) as client:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{probe.getsockname()[1]}/"
        webhook = create(client, url)
        store(client)
        deliver(settings)
        [tried] = look_up(client, webhook)["deliveries"]
        assert (tried["status"], tried["problem"]) == (None, "no connection could be made")


def test_a_ping_shows_at_once_whether_the_receiver_works(database_url: str) -> None:
    with serving(open_settings(database_url)) as client, receiving(200, 401) as receiver:
        webhook = create(client, receiver.url)
        path = f"/v1/webhooks/{webhook['id']}/ping"
        assert client.post(path).json()["problem"] is None
        [message] = receiver.verify(webhook["secret"])
        assert message["type"] == "ping"
        assert client.post(path).json()["status"] == 401
        assert [one["type"] for one in look_up(client, webhook)["deliveries"]] == ["ping", "ping"]


def test_two_workers_send_each_event_once(database_url: str) -> None:
    settings = open_settings(database_url)
    with serving(settings) as client, receiving() as receiver:
        create(client, receiver.url, agents="*")
        for number in range(20):
            store(client, f"Has fact number {number}", classify=False)

        async def race() -> None:
            async with open_jobs(settings) as one, open_jobs(settings) as other:
                workers = [jobs.services.deliveries.deliver_due() for jobs in (one, other)]
                await asyncio.gather(*workers)

        asyncio.run(race())
        deliver(settings)
        assert receiver.ids == [e["id"] for e in client.get("/v1/events").json()["items"]]


def test_a_worker_that_died_is_followed_by_another(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = open_settings(database_url)
    with serving(settings) as client, receiving() as receiver:
        create(client, receiver.url)
        stored_id = store(client)["log_id"]
        with psycopg.connect(database_url) as connection:
            connection.execute("UPDATE webhooks SET alive_at = %s", [datetime.now(UTC)])
        deliver(settings)
        assert receiver.requests == []
        monkeypatch.setattr(stored, "LEASE", timedelta(0))
        deliver(settings)
        assert receiver.ids == [stored_id]


def test_the_last_tries_are_remembered(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "REMEMBERED", 3)
    with serving(open_settings(database_url)) as client, receiving() as receiver:
        webhook = create(client, receiver.url)
        pings = [client.post(f"/v1/webhooks/{webhook['id']}/ping").json() for _ in range(5)]
        assert look_up(client, webhook)["deliveries"] == pings[:1:-1]


@pytest.mark.slow
def test_an_embedded_service_delivers(data_folder: Path) -> None:
    allowed = {
        "PALIMPSEST_WEBHOOKS_ALLOW_HTTP": "true",
        "PALIMPSEST_WEBHOOKS_ALLOW_PRIVATE": "true",
    }
    with (
        served(data_folder, **allowed) as service,
        httpx.Client(base_url=service.address, timeout=60) as client,
        receiving() as receiver,
    ):
        webhook = create(client, receiver.url)
        stored_id = store(client)["log_id"]
        wait_until(lambda: bool(receiver.requests))
        assert receiver.ids == [stored_id]
        assert receiver.verify(webhook["secret"])


# --- secrets, rights and erasing ------------------------------------------------------------------


def test_the_secret_is_shown_once_and_leaves_with_no_export(database_url: str) -> None:
    with serving(open_settings(database_url)) as client, receiving() as receiver:
        webhook = create(client, receiver.url)
        secret = webhook["secret"].removeprefix("whsec_")
        assert len(base64.b64decode(secret)) == 32
        store(client)
        texts = [
            client.get(path).text for path in ("/v1/webhooks", f"/v1/webhooks/{webhook['id']}")
        ]
        assert all(webhook["id"] in text for text in texts)
        texts.append(json.dumps([str(line) for line in exported(client)]))
        assert not any(secret in text or "whsec_" in text for text in texts)


def test_erasing_an_agent_removes_its_webhooks(database_url: str) -> None:
    with serving(open_settings(database_url)) as client, receiving() as receiver:
        mine = create(client, receiver.url, agents="default")
        others = [create(client, receiver.url, agents=agents) for agents in ("ben", "*")]
        store(client)
        client.post("/v1/erasures", json={"agent_id": "default"}).raise_for_status()
        problem(client.get(f"/v1/webhooks/{mine['id']}"), 404)
        listed = [one["id"] for one in client.get("/v1/webhooks").json()["items"]]
        assert listed == [one["id"] for one in others]
        with psycopg.connect(database_url) as connection:
            assert connection.execute("SELECT count(*) FROM webhooks").fetchone() == (2,)


def test_a_key_sees_the_webhooks_of_its_own_agents_only(database_url: str) -> None:
    settings = open_settings(database_url, api_key=ROOT_KEY)
    with running(settings) as address, calling(address, ROOT_KEY) as root, receiving() as receiver:
        foreign = [create(root, receiver.url, agents=agents) for agents in ("*", "ben", "acme")]
        key = issue(root, scopes=["admin"], agents=["acme/*"])["key"]
        with calling(address, key) as client:
            own = create(client, receiver.url, agents="acme/*")
            one = create(client, receiver.url, agents="acme/ann")
            for agents in ("*", "ben", "acme"):
                refused = client.post("/v1/webhooks", json={"url": receiver.url, "agents": agents})
                problem(refused, 403)
            problem(client.post("/v1/webhooks", json={"url": receiver.url}), 403)
            listed = client.get("/v1/webhooks", params={"limit": 1}).json()
            assert [item["id"] for item in listed["items"]] == [own["id"]]
            rest = client.get("/v1/webhooks", params={"cursor": listed["next_cursor"]}).json()
            assert [item["id"] for item in rest["items"]] == [one["id"]]
            for webhook in foreign:
                path = f"/v1/webhooks/{webhook['id']}"
                problem(client.get(path), 404)
                problem(client.delete(path), 404)
                problem(client.post(f"{path}/ping"), 404)
                problem(client.post(f"{path}/enable"), 404)
            assert client.delete(f"/v1/webhooks/{own['id']}").status_code == 200
        assert receiver.requests == []


def test_a_webhook_ends_with_the_key_that_created_it(database_url: str) -> None:
    settings = open_settings(database_url, api_key=ROOT_KEY)
    with running(settings) as address, calling(address, ROOT_KEY) as root, receiving() as receiver:
        soon = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
        issued = [issue(root, expires_at=soon), issue(root)]
        created = []
        for key in issued:
            with calling(address, key["key"]) as client:
                created.append(create(client, receiver.url))
        assert [one["expires_at"] is None for one in created] == [False, True]
        with psycopg.connect(database_url) as connection:
            connection.execute("UPDATE webhooks SET expires_at = now() WHERE expires_at > now()")
        assert root.delete(f"/v1/keys/{issued[1]['id']}").status_code == 200
        store(root)
        deliver(settings)
        assert receiver.requests == []
        assert [look_up(root, one)["expires_at"] is None for one in created] == [False, False]
        # Whoever enables it may go on with it.
        enabled = root.post(f"/v1/webhooks/{created[1]['id']}/enable").json()
        assert (enabled["created_by"], enabled["expires_at"]) == ("root", None)
        deliver(settings)
        assert len(receiver.verify(created[1]["secret"])) == 1


def test_the_webhooks_of_a_rotated_key_are_those_of_the_new_one(database_url: str) -> None:
    settings = open_settings(database_url, api_key=ROOT_KEY)
    with running(settings) as address, calling(address, ROOT_KEY) as root, receiving() as receiver:
        old = issue(root)
        with calling(address, old["key"]) as client:
            webhook = create(client, receiver.url)
        rotated = root.post(f"/v1/keys/{old['id']}/rotate", json={"overlap": 0})
        new = rotated.raise_for_status().json()
        store(root)
        deliver(settings)
        assert len(receiver.verify(webhook["secret"])) == 1
        assert look_up(root, webhook)["created_by"] == f"key:{new['id']}"


def test_a_webhook_that_is_created_while_its_key_is_revoked_ends_too(database_url: str) -> None:
    """The key is believed for a second, so its last call may come after its end."""
    settings = open_settings(database_url, api_key=ROOT_KEY)
    with running(settings) as address, calling(address, ROOT_KEY) as root, receiving() as receiver:
        issued = issue(root)
        with calling(address, issued["key"]) as client:
            webhook = create(client, receiver.url)
            root.delete(f"/v1/keys/{issued['id']}").raise_for_status()
            assert client.post("/v1/webhooks", json={"url": receiver.url}).status_code in (401, 409)
            enabled = client.post(f"/v1/webhooks/{webhook['id']}/enable")
            assert enabled.status_code in (401, 409)


# --- addresses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/",
        "https://127.0.0.1/",
        "https://localhost/",
        "https://10.0.0.8/",
        "https://192.168.1.1:8443/",
        "https://169.254.169.254/latest/meta-data",
        "https://100.64.0.1/",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[64:ff9b::a00:1]/",
        "https://[2002:7f00:1::]/",
        "https://[fd00::1]/",
        "https://0.0.0.0/",
        "https://0x7f000001/",
        "https://2130706433/",
        "https://224.0.0.1/",
        "https://[64:ff9b:1::a9fe:a9fe]/",
        "https://[fec0::1]/",
        "https://[::127.0.0.1]/",
        "https://[::ffff:0:7f00:1]/",
        "https://[5f00::1]/",
        "https://192.88.99.1/",
        "https://168.63.129.16/",
        "https://xn--/",
        "https://8.8.8.8:22/",
        "https://8.8.8.8:0/",
        "https://8.8.8.8:80/",
        "https://8.8.8.8:99999/",
        f"https://8.8.8.8:{'4' * 400}/",
        "https://user:word@example.com/",
        "ftp://example.com/",
        "file:///etc/passwd",
        "https:///nowhere",
        "nonsense",
    ],
)
def test_an_address_that_is_not_public_is_refused(client: httpx.Client, url: str) -> None:
    refused = problem(client.post("/v1/webhooks", json={"url": url}), 422)
    assert refused["type"].endswith("address-not-allowed")


def test_a_name_that_nobody_knows_is_a_failure_of_the_message(client: httpx.Client) -> None:
    webhook = create(client, "https://no-such-host.invalid/")
    tried = client.post(f"/v1/webhooks/{webhook['id']}/ping").json()
    assert tried["problem"] == "the name of the host cannot be resolved"


Found = list[tuple[Any, ...]]


def resolve_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Let every name that ends in `.example` have these addresses."""
    resolve = socket.getaddrinfo

    def resolve_or_pretend(host: Any, port: Any, *words: Any, **more: Any) -> Found:
        if not str(host).endswith(".example"):
            return resolve(host, port, *words, **more)  # type: ignore[return-value]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", resolve_or_pretend)


@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["93.184.215.14", "10.0.0.1"]])
def test_a_name_with_any_address_that_is_not_public_is_refused(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch, addresses: list[str]
) -> None:
    resolve_to(monkeypatch, *addresses)
    refused = client.post("/v1/webhooks", json={"url": "https://rebinding.example/"})
    assert problem(refused, 422)["type"].endswith("address-not-allowed")


def test_a_name_that_leads_elsewhere_later_is_not_called(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = load_settings(database_url=database_url, webhooks_allow_http=True)
    with serving(settings) as client, receiving() as receiver:
        port = httpx.URL(receiver.url).port
        monkeypatch.setitem(remote.PORTS, "http", (port,))
        resolve_to(monkeypatch, "93.184.215.14")
        webhook = create(client, f"http://rebinding.example:{port}/")
        resolve_to(monkeypatch, "127.0.0.1")
        store(client)
        deliver(settings)
        [tried] = look_up(client, webhook)["deliveries"]
        assert tried["problem"] == "the address may not be called"
        assert receiver.requests == []


def test_the_connection_goes_to_the_address_that_was_looked_at(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name is resolved once for each message, and its receiver sees the name."""
    settings = open_settings(database_url)
    with serving(settings) as client, receiving() as receiver:
        resolve_to(monkeypatch, "127.0.0.1")
        host = f"hooks.example:{httpx.URL(receiver.url).port}"
        webhook = create(client, f"http://{host}/")
        assert client.post(f"/v1/webhooks/{webhook['id']}/ping").json()["problem"] is None
        [(headers, _)] = receiver.requests
        assert headers["host"] == host


@pytest.mark.parametrize(
    ("owner", "is_trusted", "delivers"),
    [
        ("hooks.example", True, True),
        ("hooks.example", False, False),
        ("other.example", True, False),
        ("127.0.0.1", True, False),
    ],
)
def test_the_certificate_must_be_that_of_the_name_though_the_call_goes_to_the_address(
    database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    owner: str,
    is_trusted: bool,
    delivers: bool,
) -> None:
    certificate = make_certificate(tmp_path, owner)
    if is_trusted:
        monkeypatch.setattr("certifi.where", lambda: str(certificate))
    resolve_to(monkeypatch, "127.0.0.1")
    settings = load_settings(database_url=database_url, webhooks_allow_private=True)
    with serving(settings) as client, receiving(certificate=certificate) as receiver:
        host = f"hooks.example:{httpx.URL(receiver.url).port}"
        webhook = create(client, f"https://{host}/")
        store(client)
        deliver(settings)
        [tried] = look_up(client, webhook)["deliveries"]
        assert receiver.tls_names == ["hooks.example"]
        assert [headers["host"] for headers, _ in receiver.requests] == [host] * delivers
        assert len(receiver.verify(webhook["secret"])) == delivers
        assert (tried["problem"] is None) is delivers
        assert tried["status"] == (204 if delivers else None)
