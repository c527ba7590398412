"""What keeps changing, how long values hold, and which judges had to be put right."""

from datetime import timedelta

from starlette.responses import Response

from app.console.charts import draw_churn, draw_errors, draw_flip_flops, draw_lives
from app.console.page_call import PageCall

# Days that a page looks back; all: everything.
PERIODS = ("30", "90", "365", "all")
# The sections of the API, each on a page of its own: a section may read much of an agent.
SECTIONS = {
    "churn": "What changes most",
    "flip_flops": "What came back",
    "lifetimes": "How long values hold",
    "retire_rates": "Endings that had to be undone",
    "stale_constraints": "Constraints that may be out of date",
}
_LISTED = 20


async def show(call: PageCall) -> Response:
    """Show one section of the insights of a period."""
    period = call.choose("period", PERIODS, "365")
    section = call.choose("section", tuple(SECTIONS))
    since = None if period == "all" else call.now - timedelta(days=int(period))
    answer = await call.client.get_insights(section=[section], since=since, limit=_LISTED)
    lives = answer["lifetimes"]
    return call.render(
        "insights.html",
        counted_since=answer["counted_since"],
        period=period,
        periods=PERIODS,
        section=section,
        sections=SECTIONS,
        churn=draw_churn(answer["churn"] or ()),
        flip_flops=draw_flip_flops(answer["flip_flops"] or ()),
        lives_of_kinds=draw_lives(lives["by_kind"] if lives else ()),
        lives_of_slots=draw_lives(lives["by_slot"] if lives else ()),
        errors=draw_errors(answer["retire_rates"] or ()),
        stale=answer["stale_constraints"] or (),
    )
