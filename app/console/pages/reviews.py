"""Changes that wait for a person: look at them, decide one or several, and take it back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from markupsafe import Markup
from starlette.responses import Response

from app.console.memories import Memory, find_memories
from app.console.page_call import PageCall
from app.console.word_difference import mark_difference

PAGE = 25
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
    relation = call.parameters.get("relation") or None
    page = await call.client.list_reviews(
        status=status,
        relation=relation if relation in _RELATIONS else None,
        limit=PAGE,
        cursor=call.parameters.get("cursor"),
    ).page()
    return call.render(
        "reviews.html",
        status=status,
        statuses=_STATUSES,
        relation=relation,
        relations=_RELATIONS,
        comparisons=await _compare(call, page["items"]),
        more=page["next_cursor"],
        undoable=call.request.query_params.getlist("log_id"),
        idempotency_key=uuid4().hex,
    )


async def _compare(call: PageCall, reviews: Sequence[Mapping[str, Any]]) -> list[Comparison]:
    ids = [review["memory_id"] for review in reviews]
    ids += [judgment["memory_id"] for review in reviews for judgment in review["judgments"][:1]]
    memories = await find_memories(call, ids)
    return [build_comparison(review, memories) for review in reviews]


def build_comparison(review: Mapping[str, Any], memories: Mapping[str, Memory]) -> Comparison:
    old_id = review["judgments"][0]["memory_id"] if review["judgments"] else None
    stored = memories.get(review["memory_id"] or "", review["held"] or {})
    old_text = memories.get(old_id or "", {}).get("content", "")
    old, new = mark_difference(old_text, stored.get("content"))
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
    [comparison] = await _compare(call, [review])
    return call.render(
        "review.html",
        review=review,
        comparison=comparison,
        changes=_list_changes(review),
        new_text=_find_new_text(review),
        idempotency_key=uuid4().hex,
    )


def _list_changes(review: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Return each memory that accepting changes, as it stands before and after."""
    before = {memory["id"]: memory for memory in review["before"]}
    pairs = [(before.get(memory["id"], memory), memory) for memory in review["after"]]
    return [pair for pair in pairs if pair[0]["status"] != pair[1]["status"] or pair[0] != pair[1]]


def _find_new_text(review: Mapping[str, Any]) -> str | None:
    """Return the text of the fact that was stored beside, None if there is none."""
    texts = [
        memory["content"] for memory in review["before"] if memory["id"] == review["memory_id"]
    ]
    return texts[0] if texts else None


async def decide(call: PageCall) -> Response:
    """Accept or reject one review or several, and say what became of those that failed."""
    decision, ids = _read_decision(call)
    if not ids:
        return call.render_problem(422, "Nothing is chosen", "Choose at least one review.")
    answer = await call.client.decide(
        decision,
        ids=ids,
        note=call.form.get("note", "").strip() or None,
        idempotency_key=call.form.get("idempotency_key"),
    )
    failed = [one for one in answer["results"] if "detail" in one["result"]]
    if failed:
        return call.render("decided.html", 409, failed=failed, count=len(ids))
    log_ids = [one["result"].get("log_id") for one in answer["results"]]
    done = "accepted" if decision == "accept" else "rejected"
    return call.lead_to("/ui/reviews", done=done, log_id=[one for one in log_ids if one][:20])


def _read_decision(call: PageCall) -> tuple[str, list[str]]:
    """Return the decision and its reviews: a review's own button wins over what is chosen."""
    for decision in ("accept", "reject"):
        if one := call.form.get(decision):
            return decision, [one] if one != "chosen" else call.form.getlist("review_id")
    return "accept", []


async def edit(call: PageCall) -> Response:
    """Accept the review, and put an edited text in the place of the new fact."""
    review = await call.client.get_review(call.request.path_params["review_id"])
    key = call.form.get("idempotency_key", "")
    accepted = await call.client.accept(review["id"], idempotency_key=f"{key}-accept")
    memory = await call.client.get_memory(review["memory_id"] or "")
    await call.client.supersede(
        memory["id"],
        content=call.form.get("content", "").strip(),
        valid_from=memory["valid_from"],
        idempotency_key=f"{key}-edit",
    )
    return call.lead_to("/ui/reviews", done="corrected", log_id=accepted["log_id"])
