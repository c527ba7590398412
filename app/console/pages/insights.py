"""What keeps changing, how long values hold, and which judges had to be put right."""

import asyncio
from datetime import timedelta

from starlette.responses import Response

from app.console.charts import draw_churn, draw_errors, draw_flip_flops, draw_lives
from app.console.page_call import PageCall

# Days that a page looks back; all: everything.
PERIODS = ("30", "90", "365", "all")
_LISTED = 20


async def show(call: PageCall) -> Response:
    """Show the insights of a period, each section read by a call of its own."""
    period = call.choose("period", PERIODS, "365")
    since = None if period == "all" else call.now - timedelta(days=int(period))
    names = ("churn", "flip_flops", "lifetimes", "retire_rates", "stale_constraints")
    answers = await asyncio.gather(
        *(call.client.get_insights(section=[name], since=since, limit=_LISTED) for name in names)
    )
    sections = {name: answer[name] for name, answer in zip(names, answers, strict=True)}  # type: ignore[literal-required]
    lives = sections["lifetimes"]
    return call.render(
        "insights.html",
        period=period,
        periods=PERIODS,
        churn=draw_churn(sections["churn"]),
        flip_flops=draw_flip_flops(sections["flip_flops"]),
        lives_of_kinds=draw_lives(lives["by_kind"]),
        lives_of_slots=draw_lives(lives["by_slot"]),
        errors=draw_errors(sections["retire_rates"]),
        stale=sections["stale_constraints"],
    )
