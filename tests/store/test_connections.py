"""No connection is held while the encoder runs; another encoder is refused."""

import threading

import httpx
import pytest

from app.settings import load_settings
from app.store import schema
from app.store.unfit import UnfitDatabase
from support.builders import store
from support.connections import Waiting, comes_to_rest
from support.service import running
from support.transfers import NDJSON

CALLS = [
    ("POST", "/v1/memories", {"json": {"content": "Has a cat"}}),
    (
        "POST",
        "/v1/memories/batch",
        {"json": {"items": [{"content": "Has a cat"}, {"content": "Has a fish"}]}},
    ),
    ("POST", "/v1/memories/{id}/supersede", {"json": {"content": "Has a cat"}}),
    ("POST", "/v1/search", {"json": {"query": "pets"}}),
    (
        "POST",
        "/v1/import",
        {"headers": NDJSON, "content": '{"content": "Has a cat"}\n{"content": "Has a fish"}'},
    ),
]


@pytest.mark.parametrize(("method", "path", "sent"), CALLS)
def test_no_connection_is_held_while_encoding(
    database_url: str, method: str, path: str, sent: dict[str, object]
) -> None:
    encoder = Waiting()
    encoder.go_on.set()
    settings = load_settings(
        database_url=database_url, pool_size=1, pool_timeout=2, max_reads=4, max_writes=4
    )
    with (
        running(settings, encoder) as address,
        httpx.Client(base_url=address, timeout=30) as client,
    ):
        memory_id = store(client)["memory"]["id"]
        encoder.entered.clear()
        encoder.go_on.clear()
        answers: list[httpx.Response] = []
        caller = threading.Thread(
            target=lambda: answers.append(client.request(method, path.format(id=memory_id), **sent))
        )  # type: ignore[arg-type]
        caller.start()
        assert encoder.entered.wait(10)
        assert comes_to_rest(database_url), (
            "what is read beside the encoding ends, the encoding does not"
        )
        assert httpx.get(f"{address}/v1/memories").status_code == 200, (
            "the only connection of the pool is free"
        )
        encoder.go_on.set()
        caller.join(20)
        assert answers[0].is_success, answers[0].text


def test_another_encoder_is_refused_at_start(database_url: str) -> None:
    schema.claim_encoder(database_url, "one", 384)
    schema.claim_encoder(database_url, "one", 384)
    with pytest.raises(UnfitDatabase, match="made by one"):
        schema.claim_encoder(database_url, "other", 384)


def test_a_text_language_that_postgres_does_not_have_is_refused(database_url: str) -> None:
    assert schema.get_language_oid(database_url, "simple") > 0
    with pytest.raises(UnfitDatabase, match="'klingon'"):
        schema.get_language_oid(database_url, "klingon")
