"""Fixtures that several tests of the API share."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import httpx
import pytest

from app.settings import load_settings
from support.races import Crowd, Race
from support.service import running


@pytest.fixture
def race(database_url: str) -> Iterator[Race]:
    """Runs a test's coroutine among two services over one database."""
    settings = load_settings(
        database_url=database_url, queue_timeout=60, lock_timeout=60
    )  # a slow machine is no fault of theirs
    with running(settings) as one, running(settings) as other:
        for service in (one, other):
            # FastAPI builds its routes at the first request and turns warnings off meanwhile, which two threads cannot do at once.
            assert httpx.get(f"{service}/nowhere").status_code == 404

        async def gather(run: Callable[[Crowd], Coroutine[Any, Any, None]]) -> None:
            limits = httpx.Limits(max_connections=None)
            headers = {"X-Agent-Id": "crowd"}
            async with (
                httpx.AsyncClient(
                    base_url=one, headers=headers, timeout=60, limits=limits
                ) as first,
                httpx.AsyncClient(
                    base_url=other, headers=headers, timeout=60, limits=limits
                ) as second,
            ):
                await run(Crowd([first, second]))

        yield lambda run: asyncio.run(gather(run))
