"""`palimpsest doctor`: the agents of a database examined, with a progress bar, and put right where asked."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from app.api.answers.doctor import HealthProblem
from app.commands.client.printing import print_json
from app.domain.agent import AgentId
from app.domain.errors import UnknownAgent
from app.services.doctor import Doctor
from app.store import agents, memories
from app.store.engine import Patience, create_engine
from app.store.log.archive_files import Archives


@dataclass
class Report:
    """How many agents were examined, what is wrong with them now, and what was put right."""

    agents: int = 0
    problems: list[HealthProblem] = field(default_factory=list)
    repaired: list[HealthProblem] = field(default_factory=list)


def doctor_database(
    url: str, archives: Archives, *, agent: str | None, repair: bool, as_json: bool
) -> bool:
    """Examines every agent of the database, or one, and prints what is wrong. Whether all holds. Raises UnknownAgent."""
    report = asyncio.run(
        _examine_database(
            url, archives, AgentId(agent) if agent is not None else None, repair=repair
        )
    )
    if as_json:
        told = {
            "problems": [p.model_dump() for p in report.problems],
            "repaired": [p.model_dump() for p in report.repaired],
        }
        print_json({"agents": report.agents, **told})
    else:
        _print_report(report)
    return not report.problems


async def _examine_database(
    url: str, archives: Archives, agent: AgentId | None, *, repair: bool
) -> Report:
    engine = create_engine(url, pool_size=2, patience=Patience(statement=0))
    doctor, report = Doctor(engine, archives), Report()
    try:
        if agent is not None:
            async with memories.open_read_connection(engine) as connection:
                if await agents.find_agent(connection, agent) is None:
                    raise UnknownAgent(agent)
            await _examine_agent(doctor, agent, report, repair=repair)
            return report
        with _make_progress_bar() as bar:
            task = bar.add_task("examining", total=await doctor.count_agents())
            async with aclosing(doctor.iterate_agents()) as known:
                async for one in known:
                    await _examine_agent(doctor, one, report, repair=repair)
                    bar.advance(task)
    finally:
        await engine.dispose()
    return report


async def _examine_agent(doctor: Doctor, agent: AgentId, report: Report, *, repair: bool) -> None:
    """One agent; after a repair, again, so that only what is still wrong is told as such."""
    found = await _find_problems(doctor, agent)
    if repair and any(problem.repairable for problem in found):
        report.repaired += [
            HealthProblem.from_fault(agent, fault) for fault in await doctor.repair_agent(agent)
        ]
        found = await _find_problems(doctor, agent)
    report.agents += 1
    report.problems += found


async def _find_problems(doctor: Doctor, agent: AgentId) -> list[HealthProblem]:
    async with aclosing(doctor.examine_agent(agent)) as faults:
        return [HealthProblem.from_fault(agent, fault) async for fault in faults]


def _print_report(report: Report) -> None:
    for problem in report.repaired:
        print(f"{problem.agent_id}: put right: {problem.problem}")
    for problem in report.problems:
        print(
            f"{problem.agent_id}: {problem.problem}{' (--repair can put it right)' if problem.repairable else ''}"
        )
    told = (
        f"{_format_count(len(report.problems), 'problem')}."
        if report.problems
        else "everything holds."
    )
    print(f"{_format_count(report.agents, 'agent')} examined: {told}")


def _format_count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _make_progress_bar() -> Progress:
    """Only on a terminal, and apart from the output."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console, disable=not console.is_terminal)
