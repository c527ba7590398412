"""F8: what is trusted less takes no slot from what is trusted more, by whatever door it comes."""

import json

import httpx
import pytest

from app.settings import load_settings
from support.builders import contents, store
from support.databases import fresh_database
from support.keys import ROOT_KEY, calling, issue
from support.messages import capture, list_facts
from support.service import running
from support.transfers import NDJSON
from support.urls import name_of

SLOT = {"key": "recovery_mail", "single_valued": True}
MINE, FOREIGN = "My recovery mail is me@example.org", "My recovery mail is evil@example.org"


def import_line(client: httpx.Client, **line: object) -> None:
    client.post(
        "/v1/import", content=json.dumps({**SLOT, **line}), headers=NDJSON
    ).raise_for_status()


def test_an_import_of_low_trust_ends_nothing_of_higher_trust(client: httpx.Client) -> None:
    store(client, MINE, trust=100, **SLOT)
    import_line(client, content=FOREIGN, trust=0)
    assert contents(client) == {MINE, FOREIGN}


@pytest.mark.parametrize("trust", [50, 100])
def test_an_import_of_the_same_trust_or_more_takes_the_slot(
    client: httpx.Client, trust: int
) -> None:
    store(client, MINE, trust=50, **SLOT)
    import_line(client, content=FOREIGN, trust=trust)
    assert contents(client) == {FOREIGN}


def test_an_older_version_of_low_trust_may_come_before(client: httpx.Client) -> None:
    store(client, MINE, trust=100, valid_from="2024-01-01T00:00:00Z", **SLOT)
    import_line(client, content=FOREIGN, trust=0, valid_from="2020-01-01T00:00:00Z")
    assert contents(client) == {MINE}
    assert contents(client, as_of="2021-01-01T00:00:00Z") == {FOREIGN}


def test_a_message_of_a_key_with_a_low_ceiling_gets_no_more_trust_than_that(
    server_url: str, template_url: str
) -> None:
    with (
        fresh_database(server_url, template=name_of(template_url)) as url,
        running(load_settings(database_url=url, api_key=ROOT_KEY)) as address,
        calling(address, ROOT_KEY) as root,
        calling(address, issue(root, trust_ceiling=10)["key"]) as low,
        calling(address, issue(root, trust_ceiling=90)["key"]) as high,
    ):
        trusts = []
        for client, town in ((low, "Lisbon"), (high, "Porto")):
            [fact] = list_facts(capture(client, f"My sister lives in {town}."))
            trusts.append(fact["answer"]["memory"]["trust"])
    assert trusts == [10, 40]
