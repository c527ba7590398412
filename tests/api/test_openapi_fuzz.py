"""The service does what the committed OpenAPI document says of it, and nothing else: what schemathesis finds by trying.

PALIMPSEST_DEEP=1 tries much more, at random; a finding is printed as a curl command.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from app.api import wrong_keys
from app.api.examples import STORE
from app.settings import load_settings
from support.depth import DEEP
from support.openapi_check import DOCUMENT
from support.service import running

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parents[1]
KEY = "an-api-key-of-0123456789abcdef0123"

EVERY_ROUTE = ["--phases", "examples,coverage,fuzzing", "--max-examples", "200" if DEEP else "4"]
LED_BY_LINKS = [
    "--phases",
    "stateful",
    "--max-examples",
    "1000" if DEEP else "40",
    "--header",
    "X-Agent-Id: led-by-links",
]
# Chance would else go on with what comes first, and leave facts out.
ABOUT_FACTS = "^/v1/(memories|log)"
# What needs something that waits, can be done once only, needs two memories, or many lines that are all valid: chance decides
# whether a success is met here. Their fixtures hold the answers that the tests of those routes get to the document.
MET_BY_CHANCE = {
    "DELETE /v1/memories/{memory_id}",
    "GET /v1/reviews/{review_id}",
    "POST /v1/import",
    "POST /v1/reviews/{review_id}/accept",
    "POST /v1/reviews/{review_id}/reject",
    "POST /v1/log/{log_id}/revert",
    "POST /v1/memories/{memory_id}/relationships",
    "POST /v1/memories/{memory_id}/supersede",
    "GET /v1/sweeps/{sweep_id}",
    "POST /v1/sweeps/{sweep_id}/cancel",
    "GET /v1/webhooks/{webhook_id}",
    "DELETE /v1/webhooks/{webhook_id}",
    "POST /v1/webhooks/{webhook_id}/enable",
    "POST /v1/webhooks/{webhook_id}/ping",
}
SUCCESS = {"200", "201", "202"}
CHANCE = [] if DEEP else ["--generation-deterministic"]


@pytest.fixture
def address(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A service with a key, over a database of its own that knows the examples of a store, and where reviews wait."""
    # Wrong keys are tried at every route, and each is to be answered as such.
    monkeypatch.setattr(wrong_keys, "MOST_WRONG", 1_000_000)
    with running(load_settings(database_url=database_url, api_key=KEY)) as address:
        for example in STORE.values():
            httpx.post(
                f"{address}/v1/memories", json=example["value"], headers={"X-API-Key": KEY}
            ).raise_for_status()
        for number in range(5):
            for value, trust in (("Vim", 90), ("Emacs", 10)):
                fact = {
                    "content": f"Uses {value} on machine {number}",
                    "key": f"editor {number}",
                    "value": value,
                    "trust": trust,
                }
                headers = {"X-API-Key": KEY, "X-Agent-Id": "led-by-links"}
                httpx.post(f"{address}/v1/memories", json=fact, headers=headers).raise_for_status()
        yield address


@pytest.mark.timeout(1200)  # thousands of requests, on whichever machine
def test_the_service_keeps_to_its_document(address: str, tmp_path: Path) -> None:
    looked_at = tmp_path / "tally"
    for phases in (
        EVERY_ROUTE,
        [*LED_BY_LINKS, "--include-path-regex", ABOUT_FACTS],
        [*LED_BY_LINKS, "--exclude-path-regex", ABOUT_FACTS],
    ):
        told = schemathesis(address, [*phases, *CHANCE], tmp_path, looked_at)
        assert told.returncode == 0, told.stdout + told.stderr
    succeeded = {
        line.removesuffix(f" {status}")
        for line in looked_at.read_text().splitlines()
        if (status := line[-3:]) in SUCCESS
    }
    assert routes() - succeeded <= MET_BY_CHANCE, "routes of which no success was looked at"


def routes() -> set[str]:
    paths = json.loads(DOCUMENT.read_text())["paths"]
    return {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}


def schemathesis(
    address: str, options: list[str], folder: Path, tally: Path
) -> "subprocess.CompletedProcess[str]":
    """A run of its command, in a folder that it may write to."""
    command = [
        sys.executable,
        "-m",
        "schemathesis.cli",
        "--config-file",
        str(TESTS / "support" / "schemathesis.toml"),
        "run",
        str(DOCUMENT),
    ]
    environment = os.environ | {
        "PYTHONPATH": str(TESTS),
        "PALIMPSEST_API_KEY": KEY,
        "PALIMPSEST_HONESTY_TALLY": str(tally),
    }
    return subprocess.run(
        [*command, "--url", address, *options],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
