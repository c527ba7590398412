"""Telling an agent something: first what would become of it, then storing it."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from app.console.page_call import PageCall
from app.console.words import CHANGES

LONGEST = 16_000
# The fields besides the text: a sentence of a conversation keeps its session and its time.
_FIELDS = ("session_id", "said_at")
_LISTED = 8


async def show(call: PageCall) -> Response:
    """Lead to the box: a browser asks for this page after a login or from its history."""
    return call.lead_to("/ui")


async def tell(call: PageCall) -> Response:
    """Show what storing the text would do, or store it if the form says so."""
    content = call.form.get("content", "").strip()
    if not content or len(content) > LONGEST:
        detail = f"Write a sentence, of at most {LONGEST:,} characters. Nothing was stored."
        return call.render_problem(422, "Nothing to store", detail)
    fields: dict[str, Any] = {name: call.form[name] for name in _FIELDS if call.form.get(name)}
    if call.form.get("store") == "1":
        key = call.form.get("idempotency_key") or None
        answer = await call.client.store(content, split="auto", idempotency_key=key, **fields)
        logs = [one["log_id"] for one in _list_outcomes(answer) if one["log_id"]]
        return call.lead_to("/ui", as_of=None, known_at=None, done=name_result(answer), log_id=logs)
    answer = await call.client.store(content, split="auto", dry_run=True, **fields)
    return call.render(
        "tell.html",
        content=content,
        fields=fields,
        outcomes=_list_outcomes(answer),
        redacted=answer["redacted"],
        changes=CHANGES,
        listed=_LISTED,
    )


def _list_outcomes(answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return what becomes of each part of the text, or of the text if it stays whole."""
    return [part["answer"] for part in answer["parts"]] or [answer]


def name_result(answer: Mapping[str, Any]) -> str:
    """Return the word that says, on the next page, what became of the text."""
    outcomes = _list_outcomes(answer)
    if any(one["review_id"] for one in outcomes):
        return "questioned"
    if any(one["superseded"] for one in outcomes):
        return "changed"
    return "known" if all(one["operation"] == "NOOP" for one in outcomes) else "added"
