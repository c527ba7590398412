"""R12: a webhook leads to the public internet only, and only as long as the key that made it."""

import asyncio
from collections.abc import Iterator

import httpx
import pytest

from app.jobs.worker import open_jobs
from app.settings import Settings, load_settings
from support.databases import fresh_database
from support.keys import ROOT_KEY, calling, issue
from support.service import running
from support.urls import name_of
from support.webhook_receiver import receiving

# Seen to be taken for public ones.
TAKEN = """
    [64:ff9b:1::a9fe:a9fe] [64:ff9b:1::7f00:1] [fec0::1] [::127.0.0.1] [::ffff:0:7f00:1]
    192.88.99.1 192.0.0.8 [5f00::1] [3fff::1]
"""
# Other blocks of IANA's lists, and other ways to write an address.
OTHERS = """
    [64:ff9b:1:ffff::7f00:1] [64:ff9b::7f00:1] [::ffff:7f00:1] [::ffff:0:0] [2002:c0a8:101::1]
    [2001:0:7f00:1::] [2001:1::1] [2001:4:112::1] [2620:4f:8000::1] [100:0:0:1::1] [ff0e::1]
    [2a00:1450::5efe:c0a8:101] [::8.8.8.8] [fd12:3456::1] [0:0:0:0:0:ffff:a00:1] [fe80::1%lo]
    192.31.196.1 192.52.193.1 192.175.48.1 192.0.0.170 0.1.2.3 255.255.255.255 168.63.129.16
    127.1 0x7f.1 017700000001 2130706433 127。0。0。1 LOCALHOST 8.8.8.8:443@127.0.0.1
"""
NO_URLS = [
    *("https://xn--/", "https://xn--a/", "https://[::1", "https://[]/", "https://\0/"),
    *("https://8.8.8.8/\r\nX: y", "https://8.8.8.8:443:443/", "https:/8.8.8.8", "https://"),
]
PORTS = ["https://8.8.8.8:22/", "https://8.8.8.8:5432/", "https://8.8.8.8:0/"]


@pytest.fixture(scope="module")
def service(server_url: str, template_url: str) -> Iterator[httpx.Client]:
    with (
        fresh_database(server_url, template=name_of(template_url)) as url,
        running(load_settings(database_url=url)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        yield client


@pytest.mark.parametrize(
    "url", [*(f"https://{host}/" for host in (TAKEN + OTHERS).split()), *NO_URLS, *PORTS]
)
def test_an_address_of_anything_but_the_public_internet_is_refused(
    service: httpx.Client, url: str
) -> None:
    answer = service.post("/v1/webhooks", json={"url": url})
    assert answer.status_code == 422, answer.text


def deliver(settings: Settings) -> None:
    async def run() -> None:
        async with open_jobs(settings) as jobs:
            await jobs.services.deliveries.deliver_due()

    asyncio.run(run())


def test_a_webhook_of_a_revoked_key_gets_nothing_more(database_url: str) -> None:
    settings = load_settings(
        database_url=database_url,
        api_key=ROOT_KEY,
        webhooks_allow_http=True,
        webhooks_allow_private=True,
    )
    with running(settings) as address, calling(address, ROOT_KEY) as root, receiving() as receiver:
        issued = issue(root)
        with calling(address, issued["key"]) as client:
            client.post("/v1/webhooks", json={"url": receiver.url}).raise_for_status()
        root.post("/v1/memories", json={"content": "Has a cat"}).raise_for_status()
        deliver(settings)
        assert len(receiver.requests) == 1
        root.delete(f"/v1/keys/{issued['id']}").raise_for_status()
        root.post("/v1/memories", json={"content": "Has a dog"}).raise_for_status()
        deliver(settings)
        assert len(receiver.requests) == 1
