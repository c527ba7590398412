"""`palimpsest retain`: apply retention to the agents of a database, with a progress bar."""

from contextlib import aclosing

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

from app.advice import advise_operator
from app.commands.maintenance.choice import get_existing_agent
from app.commands.maintenance.progress import make_progress_bar
from app.domain.agent import AgentId
from app.domain.errors import LogDamaged
from app.services.retention import Retention
from app.settings import Settings
from app.wiring import Process, Services, open_services


async def retain_database(
    settings: Settings, *, agent: str | None, dry_run: bool, forget: str | None
) -> bool:
    """Apply retention to every agent of the database, or to one, and print the results.

    With `forget`, the name of an archive of the agent, give up that archive instead. Return
    whether every log could be read; a log that cannot be read is printed and stays as it is.
    Raises UnknownAgent, ArchivesUnavailable and InvalidFact.
    """
    async with open_services(settings, Process.MAINTENANCE) as services:
        if agent is None:
            return await _retain_every_agent(services, dry_run=dry_run)
        agent_id = await get_existing_agent(services, agent)
        if forget is not None:
            await services.retention.give_up_archive(agent_id, forget)
            print(f"{agent_id}: the archive {forget} is given up.")
            return True
        return await _retain_agent(services.retention, agent_id, dry_run=dry_run)


async def _retain_every_agent(services: Services, *, dry_run: bool) -> bool:
    """Return whether every log could be read."""
    every_log_is_sound = True
    progress_bar = make_progress_bar(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    )
    with progress_bar:
        task = progress_bar.add_task("", total=await services.doctor.count_agents())
        async with aclosing(services.doctor.iterate_agents()) as agents:
            async for agent in agents:
                progress_bar.update(task, description=agent[:40])
                is_sound = await _retain_agent(services.retention, agent, dry_run=dry_run)
                every_log_is_sound = every_log_is_sound and is_sound
                progress_bar.advance(task)
    return every_log_is_sound


async def _retain_agent(retention: Retention, agent: AgentId, *, dry_run: bool) -> bool:
    """Return whether the agent's log could be read."""
    try:
        if dry_run:
            report = await retention.preview_retention(agent)
        else:
            report = await retention.retain_agent(agent)
    except LogDamaged as problem:
        print(f"{agent}: {advise_operator(problem)}")
        return False
    counts = {
        "memories cooled": report.cooled,
        "operations archived": report.archived,
        "older ones kept back": report.kept_back,
        "left-over files removed": report.removed_files,
        "expired answers forgotten": report.forgotten_answers,
        "messages emptied": report.emptied_turns,
    }
    parts = [f"{count} {what}" for what, count in counts.items() if count]
    introduction = "would be done: " if dry_run else ""
    print(f"{agent}: {introduction}{', '.join(parts) or 'nothing to do'}")
    return True
