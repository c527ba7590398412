"""A service with keys that the tests share, and programs that ask for access to it."""

from collections.abc import Iterator

import httpx
import pytest

from app.api import wrong_keys
from app.services import key_reader
from app.settings import load_settings
from support.databases import fresh_database
from support.keys import ROOT_KEY, calling
from support.oauth import Program
from support.service import running
from support.urls import name_of


@pytest.fixture(scope="session")
def keyed_url(server_url: str, template_url: str) -> Iterator[str]:
    with fresh_database(server_url, template=name_of(template_url)) as url:
        yield url


@pytest.fixture(scope="session")
def keyed_service(keyed_url: str) -> Iterator[str]:
    with running(load_settings(database_url=keyed_url, api_key=ROOT_KEY)) as address:
        yield address


@pytest.fixture(autouse=True)
def believe_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each key is read at each call, and wrong keys are counted in one test only."""
    monkeypatch.setattr(key_reader, "MAX_AGE", 0.0)
    monkeypatch.setattr(wrong_keys, "MOST_WRONG", 10_000)


@pytest.fixture
def root(keyed_service: str) -> Iterator[httpx.Client]:
    with calling(keyed_service, ROOT_KEY) as client:
        yield client


@pytest.fixture
def browser(keyed_service: str) -> Iterator[httpx.Client]:
    """A client without a key."""
    with httpx.Client(base_url=keyed_service, timeout=60) as client:
        yield client


@pytest.fixture
def program(browser: httpx.Client) -> Program:
    return Program(browser)
