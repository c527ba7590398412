"""Nothing that was told is lost: what counts as known, what ends something, what is to be forgotten."""

import httpx
import pytest

from support.builders import contents, store


@pytest.mark.parametrize(
    ("stored", "incoming"),
    [
        ("Retry if status != 200", "Retry if status = 200"),
        ("The pump draws 5 mW", "The pump draws 5 MW"),
        ("The Wi-Fi code is Tulip77", "The Wi-Fi code is tulip77"),
        ("The config file is src/Utils/env.ts", "The config file is src/utils/env.ts"),
        ("I like her :)", "I like her :("),
        ("Pin lib ~1.2", "Pin lib 1.2"),
        ("The alarm goes off at load > 90", "The alarm goes off at load >= 90"),
        ("The default branch is releaseNext", "The default branch is releasenext"),
        ("The buffer holds 64 Mb", "The buffer holds 64 MB"),
    ],
)
def test_a_text_with_another_exact_word_is_no_repetition(
    client: httpx.Client, stored: str, incoming: str
) -> None:
    store(client, stored)
    assert store(client, incoming)["operation"] != "NOOP"
    assert incoming in contents(client)


def test_another_exact_value_in_a_slot_is_an_update(client: httpx.Client) -> None:
    code = {"content": "The Wi-Fi code", "key": "wifi", "value": "Tulip77"}
    client.post("/v1/memories", json=code).raise_for_status()
    again = client.post("/v1/memories", json=code | {"value": "tulip77"}).json()
    assert again["operation"] == "UPDATE"
    editor = {"content": "The editor", "key": "editor", "value": "Vim"}
    client.post("/v1/memories", json=editor).raise_for_status()
    assert client.post("/v1/memories", json=editor | {"value": "vim"}).json()["operation"] == "NOOP"
