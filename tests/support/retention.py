"""Retention run by a test over a database."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from app.domain.agent import AgentId
from app.services.retention import Retention, RetentionReport
from app.settings import load_settings
from app.wiring import Process, open_services

T = TypeVar("T")

AT_ONCE = 1e-9
"""Days after which everything done before is old."""


def with_retention(
    url: str, folder: Path, call: Callable[[Retention], Awaitable[T]], **said: Any
) -> T:
    settings = load_settings(database_url=url, archive_dir=folder, **said)

    async def run() -> T:
        async with open_services(settings, Process.MAINTENANCE) as services:
            return await call(services.retention)

    return asyncio.run(run())


def retain(
    url: str, folder: Path, agent: str, *, audit: float | None = AT_ONCE, cold: float = 0
) -> RetentionReport:
    """A run for one agent, with these settings in days."""
    return with_retention(
        url,
        folder,
        lambda r: r.retain_agent(AgentId(agent)),
        audit_retention_days=audit,
        cold_after_days=cold,
    )
