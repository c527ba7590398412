"""`palimpsest model check`: ask the model of the settings about pairs whose answers are known."""

import asyncio

import httpx

from app.advice import advise_on_model
from app.classification.model.check import ModelReport
from app.commands.client.calling import Failure
from app.commands.client.printing import print_table
from app.settings import Settings
from app.wiring import build_budget, build_chat, build_model_checker


def check_model(settings: Settings) -> bool:
    """Print what the model answers, and return whether it is usable.

    Raises Failure if the settings name no model.
    """
    report = asyncio.run(_ask_model(settings))
    _print_report(report)
    return report.is_usable


async def _ask_model(settings: Settings) -> ModelReport:
    async with httpx.AsyncClient() as http:
        chat = build_chat(settings, http)
        checker = build_model_checker(settings, chat, build_budget(settings))
        if checker is None:
            raise Failure(
                "no model is set. PALIMPSEST_LLM_BASE_URL names its endpoint: "
                "docs/operate/models.md has the settings for each vendor."
            )
        return await checker.check()


def _print_report(report: ModelReport) -> None:
    usage, dialect = report.usage, report.dialect
    print(f"{report.model} at {report.address}")
    print(f"prompt {report.prompt_version}, answers as {dialect.format}, {dialect.limit}")
    print(
        f"{usage.llm_calls} calls in {usage.ms / 1e3:.1f} s, the slowest question "
        f"{report.slowest_ms / 1e3:.1f} s; {usage.prompt_tokens:,} prompt and "
        f"{usage.completion_tokens:,} answer tokens"
    )
    rows = []
    for each in report.pairs:
        verdict = "right" if each.is_right else "WRONG"
        by_model = "ended" if each.is_ended else "holds"
        rows.append([verdict, by_model, each.pair.stored, each.pair.incoming])
    if rows:
        print_table(["verdict", "by it", "stored", "told later"], rows)
        print(f"{report.right} of {len(rows)} right; ended what holds: {report.ended_wrongly}.")
    if report.detail:
        print(report.detail)
    if trouble := advise_on_model(report):
        print(trouble)
