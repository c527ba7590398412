"""Asking as an agent does: a search with its scores, and the context of a prompt."""

from starlette.responses import Response

from app.console.page_call import PageCall

_MODES = {"hybrid": "meaning and words", "vector": "meaning", "text": "words"}
_LIMITS = (10, 50, 200)
_BUDGETS = (200, 1000, 4000)


async def show(call: PageCall) -> Response:
    """Show what a search finds, or the context that an agent would put into its prompt."""
    query = call.parameters.get("q", "").strip()
    if call.parameters.get("view") == "context":
        return await _show_context(call, query)
    mode = call.choose("mode", tuple(_MODES))
    limit = int(call.choose("limit", [str(limit) for limit in _LIMITS]))
    every = call.parameters.get("every") == "1"
    results, turns = [], []
    if query:
        answer = await call.reader.search(
            query,
            mode=mode,
            limit=limit,
            include_superseded=every or None,
            include=["turns"],
        )
        results, turns = answer["results"], answer["turns"]
    return call.render(
        "ask.html",
        query=query,
        mode=mode,
        modes=_MODES,
        limit=limit,
        limits=_LIMITS,
        every=every,
        results=results,
        turns=turns,
    )


async def _show_context(call: PageCall, query: str) -> Response:
    budget = int(call.choose("budget", [str(budget) for budget in _BUDGETS], "1000"))
    context = await call.reader.context(query=query or None, budget_tokens=budget)
    return call.render(
        "ask_context.html", query=query, budget=budget, budgets=_BUDGETS, context=context
    )
