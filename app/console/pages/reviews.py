"""Changes that wait for a person: look at them, decide one or several, and take it back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from markupsafe import Markup
from starlette.responses import Response

from app.console.memories import Memory, find_memories
from app.console.page_call import PageCall
from app.console.word_difference import MOST_WORDS, mark_difference
from palimpsest_client import PalimpsestError

PAGE = 25
# Words of a text that are compared in the list, where many reviews stand below one another.
_WORDS_IN_LIST = 120
_LONGEST_TEXT = 16_000
# Statuses of a fact that can be replaced.
_HOLDING = ("current", "scheduled", "covered")
_STATUSES = ("pending", "accepted", "rejected", "expired")
_RELATIONS = ("UPDATE", "CONTRADICTION", "RETRACTION", "DUPLICATE", "COMPLEMENT", "OVERLAP")
# Why a person is asked, by the source of a review.
REASONS = {
    "low_confidence": "The judgment was not sure enough.",
    "constraint": "It would end a constraint, which only a person may.",
    "shadow": "The agent is in shadow mode: every change is asked for.",
    "frozen": "The agent was frozen when it came, so nothing was written.",
    "cap": "More would end at once than the settings allow.",
    "trust": "What it would end has more trust than what is new.",
    "sweep": "A sweep found it.",
    "fallback": "The judge could not be asked.",
}
_FILTERS = {"relation": _RELATIONS, "source": tuple(REASONS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A review with the texts that it is about; `old` and `new` have their differences marked."""

    review: Mapping[str, Any]
    old: Markup
    new: Markup
    old_id: str | None
    reason: str


async def show(call: PageCall) -> Response:
    """Show the reviews of a status, newest first."""
    status = call.choose("status", _STATUSES)
    filters = _read_filters(call)
    page = await call.client.list_reviews(
        status=status,
        relation=filters.get("relation"),
        source=filters.get("source"),
        limit=PAGE,
        cursor=call.parameters.get("cursor"),
    ).page()
    return call.render(
        "reviews.html",
        status=status,
        statuses=_STATUSES,
        filters=filters,
        choices=_FILTERS,
        comparisons=await _compare(call, page["items"], _WORDS_IN_LIST),
        more=page["next_cursor"],
        undoable=call.request.query_params.getlist("log_id"),
    )


def _read_filters(call: PageCall) -> dict[str, str]:
    """Return what the reviews are narrowed to; an unknown value narrows nothing."""
    filters = {name: call.parameters.get(name, "") for name in _FILTERS}
    return {name: value for name, value in filters.items() if value in _FILTERS[name]}


async def _compare(
    call: PageCall, reviews: Sequence[Mapping[str, Any]], most_words: int
) -> list[Comparison]:
    ids = [review["memory_id"] for review in reviews]
    ids += [judgment["memory_id"] for review in reviews for judgment in review["judgments"][:1]]
    memories = await find_memories(call, ids)
    return [build_comparison(review, memories, most_words) for review in reviews]


def build_comparison(
    review: Mapping[str, Any], memories: Mapping[str, Memory], most_words: int
) -> Comparison:
    old_id = review["judgments"][0]["memory_id"] if review["judgments"] else None
    stored = memories.get(review["memory_id"] or "", review["held"] or {})
    old_text = memories.get(old_id or "", {}).get("content", "")
    old, new = mark_difference(old_text, stored.get("content"), most_words)
    return Comparison(
        review=review,
        old=old,
        new=new,
        old_id=old_id,
        reason=REASONS.get(review["source"], review["source"]),
    )


async def show_one(call: PageCall) -> Response:
    """Show a review, and what accepting it now would do."""
    review = await call.client.get_review(call.request.path_params["review_id"])
    [comparison] = await _compare(call, [review], MOST_WORDS)
    return call.render(
        "review.html",
        review=review,
        comparison=comparison,
        changes=_list_changes(review),
        new_text=_find_editable_text(review),
        idempotency_key=uuid4().hex,
    )


def _list_changes(review: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Return each memory that accepting changes, as it stands before and after."""
    before = {memory["id"]: memory for memory in review["before"]}
    pairs = [(before.get(memory["id"], memory), memory) for memory in review["after"]]
    return [pair for pair in pairs if pair[0]["status"] != pair[1]["status"] or pair[0] != pair[1]]


def _find_editable_text(review: Mapping[str, Any]) -> str | None:
    """Return the text of the new fact, None if accepting leaves nothing whose text could change.

    Accepting a duplicate or a retraction withdraws the new text.
    """
    texts = [
        memory["content"]
        for memory in review["after"]
        if memory["id"] == review["memory_id"] and memory["status"] in _HOLDING
    ]
    return texts[0] if texts else None


async def decide(call: PageCall) -> Response:
    """Accept or reject one review or several, and say what became of those that failed.

    Deciding twice is the same as once, so no idempotency key is sent: one that the browser brings
    back with an older page would refuse the next decision.
    """
    decision, ids = _read_decision(call)
    if decision is None:
        # Enter in a field names no decision. The browser stays on its page.
        return Response(status_code=204)
    if not ids:
        return call.render_problem(422, "Nothing is chosen", "Choose at least one review.")
    note = call.form.get("note", "").strip() or None
    answer = await call.client.decide(decision, ids=ids, note=note)
    results: Sequence[Mapping[str, Any]] = answer["results"]
    log_ids = [one["result"]["log_id"] for one in results if one["result"].get("log_id")]
    failed = [one for one in results if "detail" in one["result"]]
    done = "accepted" if decision == "accept" else "rejected"
    if failed:
        return call.render(
            "decided.html", 409, failed=failed, count=len(ids), done=done, undoable=log_ids
        )
    return call.lead_to("/ui/reviews", done=done, log_id=log_ids, **_read_filters(call))


def _read_decision(call: PageCall) -> tuple[str | None, list[str]]:
    """Return the decision and its reviews: a review's own button wins over what is chosen."""
    for decision in ("accept", "reject"):
        if one := call.form.get(decision):
            return decision, [one] if one != "chosen" else call.form.getlist("review_id")
    return None, []


async def edit(call: PageCall) -> Response:
    """Accept the review, and put an edited text in the place of the new fact."""
    review = await call.client.get_review(call.request.path_params["review_id"])
    content = call.form.get("content", "").strip()
    if obstacle := _find_obstacle_to_edit(review, content):
        return call.render_problem(422, "Nothing was done", obstacle)
    key = call.form.get("idempotency_key", "")
    accepted = await call.client.accept(review["id"], idempotency_key=f"{key}-accept")
    try:
        edited = await _replace_text(call, review["memory_id"] or "", content, f"{key}-edit")
    except PalimpsestError as problem:
        title = "Accepted, but with the text it had"
        return call.render_problem(problem.status or 503, title, problem.detail)
    log_ids = [accepted["log_id"], edited["log_id"]]
    return call.lead_to("/ui/reviews", done="corrected", log_id=log_ids)


def _find_obstacle_to_edit(review: Mapping[str, Any], content: str) -> str | None:
    """Return why the review cannot be accepted with this text, None if it can."""
    if not content:
        return "Write the text that is to be stored."
    if len(content) > _LONGEST_TEXT:
        return f"A text has at most {_LONGEST_TEXT:,} characters."
    if review["status"] == "pending" and _find_editable_text(review) is None:
        return "Accepting this review leaves no new fact whose text could be changed."
    return None


async def _replace_text(
    call: PageCall, memory_id: str, content: str, idempotency_key: str
) -> Mapping[str, Any]:
    memory = await call.client.get_memory(memory_id)
    return await call.client.supersede(
        memory_id,
        content=content,
        valid_from=memory["valid_from"],
        idempotency_key=idempotency_key,
    )
