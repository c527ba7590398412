"""`palimpsest doctor`: examine the agents of a database, and repair them on request."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial

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
from app.domain.language import is_english, is_in_known_script
from app.services.doctor import Doctor
from app.settings import Settings
from app.wiring import Process, open_services

# Stands for the agent in what concerns all of them. No agent has an empty id.
CLUSTER = AgentId("")
# Of the last facts of an agent. Fewer may be quotations and names.
FEWEST_UNREAD = 3

Examine = Callable[[AgentId], Awaitable[None]]


@dataclass
class Report:
    """The number of examined agents, the problems that are left, and the repaired ones.

    `model_trouble` is what is wrong with the language model, and `unread` which agents mostly write
    in languages that nobody reads. Neither is a problem of the database.
    """

    agents: int = 0
    problems: list[HealthProblem] = field(default_factory=list)
    repaired: list[HealthProblem] = field(default_factory=list)
    model_trouble: str | None = None
    unread: list[str] = field(default_factory=list)


async def doctor_database(
    settings: Settings, *, agent: str | None, repair: bool, as_json: bool
) -> bool:
    """Examine every agent of the database, or one, and print the problems.

    Return whether no problem is left. Raises UnknownAgent.
    """
    report = Report()
    async with open_services(settings, Process.MAINTENANCE) as services:
        examine = partial(
            _examine_agent,
            services.doctor,
            report,
            repair=repair,
            can_read=_choose_reader(settings),
        )
        if agent is not None:
            await examine(await get_existing_agent(services, agent))
        else:
            faults = await services.doctor.examine_cluster()
            report.problems += [HealthProblem.from_fault(CLUSTER, fault) for fault in faults]
            await _examine_every_agent(services.doctor, examine)
            if services.model_checker:
                report.model_trouble = advise_on_model(await services.model_checker.check())
    if as_json:
        problems = [problem.model_dump() for problem in report.problems]
        repaired = [problem.model_dump() for problem in report.repaired]
        print_json(vars(report) | {"problems": problems, "repaired": repaired})
    else:
        _print_report(report)
    return not report.problems


def _choose_reader(settings: Settings) -> Callable[[str], bool] | None:
    """Return a function that tells if the local judge reads a text.

    Where a model is set, which reads all, it is None.
    """
    if settings.llm_base_url:
        return None
    if settings.languages == "many" and settings.local_judge:
        return lambda text: is_in_known_script(text) or is_english(text)
    return is_english


async def _examine_every_agent(doctor: Doctor, examine: Examine) -> None:
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
                await examine(agent)
                progress_bar.advance(task)


async def _examine_agent(
    doctor: Doctor,
    report: Report,
    agent: AgentId,
    *,
    repair: bool,
    can_read: Callable[[str], bool] | None,
) -> None:
    """Add one agent to the report. A repaired agent is examined again, for the problems left."""
    problems = await _list_problems(doctor, agent)
    if repair and any(problem.repairable for problem in problems):
        for fault in await doctor.repair_agent(agent):
            report.repaired.append(HealthProblem.from_fault(agent, fault))
        problems = await _list_problems(doctor, agent)
    report.agents += 1
    report.problems += problems
    if can_read is None:
        return
    texts = await doctor.list_last_texts(agent)
    unread = sum(not can_read(text) for text in texts)
    if unread >= FEWEST_UNREAD and unread > len(texts) / 2:
        report.unread.append(
            f"{agent}: of its last {len(texts)} facts {unread} are in a language that is not "
            "read, so what they change is noticed only by its key (docs/operate/languages.md)."
        )


async def _list_problems(doctor: Doctor, agent: AgentId) -> list[HealthProblem]:
    async with aclosing(doctor.examine_agent(agent)) as faults:
        return [HealthProblem.from_fault(agent, fault) async for fault in faults]


def _print_report(report: Report) -> None:
    for problem in report.repaired:
        print(f"{problem.agent_id}: put right: {problem.problem}")
    for problem in report.problems:
        advice = " (--repair can put it right)" if problem.repairable else ""
        print(f"{problem.agent_id or 'the cluster'}: {problem.problem}{advice}")
    for sentence in report.unread:
        print(sentence)
    if report.model_trouble:
        print(report.model_trouble)
    result = "everything holds."
    if report.problems:
        result = f"{_format_count(len(report.problems), 'problem')}."
    print(f"{_format_count(report.agents, 'agent')} examined: {result}")


def _format_count(number: int, noun: str) -> str:
    plural = "" if number == 1 else "s"
    return f"{number} {noun}{plural}"
