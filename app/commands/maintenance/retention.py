"""`palimpsest retain`: retention for the agents of a database, with a progress bar."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from app.domain.agent import AgentId
from app.domain.errors import LogDamaged, UnknownAgent
from app.services.doctor import Doctor
from app.services.retention import Retention, RetentionReport
from app.settings import Settings
from app.store import agents, memories
from app.store.engine import Patience, create_engine
from app.wiring import build_retention


def retain_database(
    settings: Settings, url: str, *, agent: str | None, dry_run: bool, forget: str | None
) -> bool:
    """Retention for every agent of the database, or one, and what it did, printed. Whether every log could be read; those that cannot
    are told and left as they are. Raises UnknownAgent, ArchivesUnavailable, InvalidFact."""
    return asyncio.run(
        _run_retention(
            settings,
            url,
            AgentId(agent) if agent is not None else None,
            dry_run=dry_run,
            forget=forget,
        )
    )


async def _run_retention(
    settings: Settings, url: str, agent: AgentId | None, *, dry_run: bool, forget: str | None
) -> bool:
    engine = create_engine(
        url, pool_size=2, patience=Patience(statement=0, lock=0, idle_transaction=0)
    )
    retention, sound = build_retention(engine, settings), True
    try:
        if agent is not None:
            async with memories.open_read_connection(engine) as connection:
                if await agents.find_agent(connection, agent) is None:
                    raise UnknownAgent(agent)
        if agent is not None and forget:
            await retention.give_up_archive(agent, forget)
            print(f"{agent}: the archive {forget} is given up.")
            return True
        doctor = Doctor(engine)
        with _make_progress_bar() as bar:
            task = bar.add_task("", total=1 if agent is not None else await doctor.count_agents())
            async with aclosing(
                _yield_agent(agent) if agent is not None else doctor.iterate_agents()
            ) as chosen:
                async for one in chosen:
                    bar.update(task, description=one[:40])
                    sound &= await _retain_agent(retention, one, dry_run=dry_run)
                    bar.advance(task)
    finally:
        await engine.dispose()
    return sound


async def _yield_agent(agent: AgentId) -> AsyncGenerator[AgentId]:
    yield agent


async def _retain_agent(retention: Retention, agent: AgentId, *, dry_run: bool) -> bool:
    try:
        done = await (
            retention.preview_retention(agent) if dry_run else retention.retain_agent(agent)
        )
    except LogDamaged as problem:
        print(f"{agent}: {problem}")
        return False
    print(f"{agent}: {'would be done: ' if dry_run else ''}{_describe_result(done)}")
    return True


def _describe_result(done: RetentionReport) -> str:
    counts = [
        (done.cooled, "memories cooled"),
        (done.archived, "operations archived"),
        (done.kept_back, "older ones kept back"),
        (done.removed_files, "left-over files removed"),
        (done.forgotten_answers, "expired answers forgotten"),
    ]
    return ", ".join(f"{number} {what}" for number, what in counts if number) or "nothing to do"


def _make_progress_bar() -> Progress:
    """Only on a terminal, and apart from the output."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=console, disable=not console.is_terminal)
