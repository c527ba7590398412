"""`palimpsest doctor`: examine the agents of a database, and repair them on request."""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from app.advice import advise_on_model
from app.api.answers.doctor import HealthProblem
from app.commands.client.printing import print_json
from app.commands.maintenance.choice import get_existing_agent
from app.commands.maintenance.progress import make_progress_bar
from app.domain.agent import AgentId
from app.services.doctor import Doctor
from app.settings import Settings
from app.wiring import Process, open_services

# Stands for the agent in what concerns all of them. No agent has an empty id.
CLUSTER = AgentId("")


@dataclass
class Report:
    """The number of examined agents, the problems that are left, and the repaired ones.

    `model_trouble` is what is wrong with the language model, which is no problem of the database.
    """

    agents: int = 0
    problems: list[HealthProblem] = field(default_factory=list)
    repaired: list[HealthProblem] = field(default_factory=list)
    model_trouble: str | None = None


def doctor_database(settings: Settings, *, agent: str | None, repair: bool, as_json: bool) -> bool:
    """Examine every agent of the database, or one, and print the problems.

    Return whether no problem is left. Raises UnknownAgent.
    """
    report = asyncio.run(_examine_database(settings, agent, repair=repair))
    if as_json:
        _print_report_as_json(report)
    else:
        _print_report(report)
    return not report.problems


async def _examine_database(settings: Settings, agent: str | None, *, repair: bool) -> Report:
    report = Report()
    async with open_services(settings, Process.MAINTENANCE) as services:
        doctor = services.doctor
        if agent is not None:
            agent_id = await get_existing_agent(services, agent)
            await _examine_agent(doctor, agent_id, report, repair=repair)
        else:
            faults = await doctor.examine_cluster()
            report.problems += [HealthProblem.from_fault(CLUSTER, fault) for fault in faults]
            await _examine_every_agent(doctor, report, repair=repair)
            if services.model_checker:
                report.model_trouble = advise_on_model(await services.model_checker.check())
    return report


async def _examine_every_agent(doctor: Doctor, report: Report, *, repair: bool) -> None:
    progress_bar = make_progress_bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with progress_bar:
        task = progress_bar.add_task("examining", total=await doctor.count_agents())
        async with aclosing(doctor.iterate_agents()) as agents:
            async for agent in agents:
                await _examine_agent(doctor, agent, report, repair=repair)
                progress_bar.advance(task)


async def _examine_agent(doctor: Doctor, agent: AgentId, report: Report, *, repair: bool) -> None:
    """Add one agent to the report. A repaired agent is examined again, for the problems left."""
    problems = await _list_problems(doctor, agent)
    if repair and any(problem.repairable for problem in problems):
        for fault in await doctor.repair_agent(agent):
            report.repaired.append(HealthProblem.from_fault(agent, fault))
        problems = await _list_problems(doctor, agent)
    report.agents += 1
    report.problems += problems


async def _list_problems(doctor: Doctor, agent: AgentId) -> list[HealthProblem]:
    async with aclosing(doctor.examine_agent(agent)) as faults:
        return [HealthProblem.from_fault(agent, fault) async for fault in faults]


def _print_report_as_json(report: Report) -> None:
    problems = [problem.model_dump() for problem in report.problems]
    repaired = [problem.model_dump() for problem in report.repaired]
    print_json(
        {
            "agents": report.agents,
            "problems": problems,
            "repaired": repaired,
            "model_trouble": report.model_trouble,
        }
    )


def _print_report(report: Report) -> None:
    for problem in report.repaired:
        print(f"{problem.agent_id}: put right: {problem.problem}")
    for problem in report.problems:
        advice = " (--repair can put it right)" if problem.repairable else ""
        print(f"{problem.agent_id or 'the cluster'}: {problem.problem}{advice}")
    if report.model_trouble:
        print(report.model_trouble)
    result = "everything holds."
    if report.problems:
        result = f"{_format_count(len(report.problems), 'problem')}."
    print(f"{_format_count(report.agents, 'agent')} examined: {result}")


def _format_count(number: int, noun: str) -> str:
    plural = "" if number == 1 else "s"
    return f"{number} {noun}{plural}"
