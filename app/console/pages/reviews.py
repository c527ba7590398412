"""Changes that wait for a person: look at them, decide one or several, and take it back."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from markupsafe import Markup
from starlette.responses import Response

from app.console.page_call import PageCall
from app.console.word_difference import MOST_WORDS, mark_difference
from palimpsest_client import PalimpsestError

PAGE = 25
# Words of a text that are compared in the list, where many reviews stand below one another.
_WORDS_IN_LIST = 120
_LONGEST_TEXT = 16_000
# Reviews that are looked through for what a list can be narrowed to.
_MOST_COUNTED = 200
# Statuses of a fact that can be replaced.
_HOLDING = ("current", "scheduled", "covered")
_STATUSES = ("pending", "accepted", "rejected", "overtaken", "expired")
# Why a person is asked, by the source of a review: in short, and in a sentence.
REASONS = {
    "low_confidence": ("not sure", "The judgment was not sure enough."),
    "judges_disagree": ("judges disagree", "One judge saw a change, and another saw none."),
    "constraint": ("a constraint", "It would end a constraint, which only a person may."),
    "shadow": ("shadow mode", "The agent is in shadow mode: every change is asked for."),
    "frozen": ("came while frozen", "The agent was frozen when it came, so nothing was written."),
    "cap": ("many at once", "More would end at once than the settings allow."),
    "trust": ("less trusted", "What it would end has more trust than what is new."),
    "sweep": ("found by a sweep", "A sweep found it."),
    "fallback": ("no judge answered", "The judge could not be asked."),
}
# The judges may be right about some of what these reviews name.
_CHOICES = ("low_confidence", "judges_disagree")
# The words of the buttons, by what accepting does.
_ENDS = ("UPDATE", "CONTRADICTION", "RETRACTION")


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A review as a page asks about it.

    `old` has the text of each candidate in their order; in it and in `new` the differences are
    marked if there is one candidate. `yes` and `no` are the words of the buttons. Of a choice,
    each candidate is ticked on its own.
    """

    review: Mapping[str, Any]
    old: Sequence[Markup]
    new: Markup
    reason: str
    is_choice: bool
    yes: str
    no: str


async def show(call: PageCall) -> Response:
    """Show the reviews of a status, newest first; those about the same fact stand together."""
    status = call.choose("status", _STATUSES)
    source = _read_source(call)
    page = await call.client.list_reviews(
        status=status, source=source, limit=PAGE, cursor=call.parameters.get("cursor")
    ).page()
    newest = await call.client.list_reviews(status=status, limit=_MOST_COUNTED).page()
    counts = Counter[str](review["source"] for review in newest["items"])
    return call.render(
        "reviews.html",
        status=status,
        statuses=_STATUSES,
        source=source,
        sources=[(name, REASONS[name][0], counts[name]) for name in REASONS if counts[name]],
        cards=[build_card(review, _WORDS_IN_LIST) for review in _group(page["items"])],
        more=page["next_cursor"],
        undoable=call.request.query_params.getlist("log_id"),
    )


def _read_source(call: PageCall) -> str | None:
    """Return what the reviews are narrowed to; an unknown value narrows nothing."""
    source = call.parameters.get("source", "")
    return source if source in REASONS else None


def _group(reviews: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the reviews so that those about the same stored fact follow one another."""
    places: dict[str, int] = {}

    def find_place(review: Mapping[str, Any]) -> int:
        about = review["candidates"][0]["memory_id"] if review["candidates"] else review["id"]
        return places.setdefault(about, len(places))

    return sorted(reviews, key=find_place)


def build_card(review: Mapping[str, Any], most_words: int) -> Card:
    olds = [each["content"] for each in review["candidates"]]
    pairs = [mark_difference(old, review["content"], most_words) for old in olds]
    [new, _] = mark_difference(review["content"], review["content"], most_words)
    yes, no = "Yes", "No"
    if review["relation"] in _ENDS:
        yes, no = "Yes, it ended", "No, both are true"
    is_choice = _is_choice(review)
    if is_choice:
        no = "None of these"
    return Card(
        review=review,
        old=[old for old, _ in pairs],
        new=pairs[0][1] if len(pairs) == 1 else new,
        reason=REASONS[review["source"]][1],
        is_choice=is_choice,
        yes=yes,
        no=no,
    )


def _is_choice(review: Mapping[str, Any]) -> bool:
    return review["source"] in _CHOICES and len(review["judgments"]) > 1


async def show_one(call: PageCall) -> Response:
    """Show a review, and what accepting it now would do."""
    review = await call.client.get_review(call.request.path_params["review_id"])
    before = {memory["id"]: memory for memory in review["before"]}
    # Each memory that accepting changes, as it stands before and after.
    changes = []
    for memory in review["after"]:
        old = before.get(memory["id"], memory)
        if old != memory:
            changes.append((old, memory))
    return call.render(
        "review.html",
        review=review,
        card=build_card(review, MOST_WORDS),
        changes=changes,
        new_text=_find_editable_text(review),
        idempotency_key=uuid4().hex,
    )


def _find_editable_text(review: Mapping[str, Any]) -> str | None:
    """Return the text of the new fact, None if accepting leaves nothing whose text could change.

    Accepting a duplicate or a retraction withdraws the new text. A choice comes first.
    """
    if _is_choice(review):
        return None
    for memory in review["after"]:
        if memory["id"] == review["memory_id"] and memory["status"] in _HOLDING:
            content: str | None = memory["content"]
            return content
    return None


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
    memories = _read_choices(call, ids) if decision == "accept" else None
    answer = await call.client.decide(decision, ids=ids, note=note, memories=memories)
    results: Sequence[Mapping[str, Any]] = answer["results"]
    log_ids = [one["result"]["log_id"] for one in results if one["result"].get("log_id")]
    failed = [one for one in results if "detail" in one["result"]]
    done = "accepted" if decision == "accept" else "rejected"
    if failed:
        return call.render(
            "decided.html", 409, failed=failed, count=len(ids), done=done, undoable=log_ids
        )
    return call.lead_to("/ui/reviews", done=done, log_id=log_ids, source=_read_source(call))


def _read_decision(call: PageCall) -> tuple[str | None, list[str]]:
    """Return the decision and its reviews: a review's own button wins over what is chosen."""
    for decision in ("accept", "reject"):
        if one := call.form.get(decision):
            return decision, [one] if one != "chosen" else call.form.getlist("review_id")
    return None, []


def _read_choices(call: PageCall, ids: Sequence[str]) -> dict[str, list[str]] | None:
    """Return the candidates that are ticked, by their review."""
    choices: dict[str, list[str]] = {}
    for ticked in call.form.getlist("memory"):
        review_id, _, memory_id = ticked.partition("/")
        if review_id in ids:
            choices.setdefault(review_id, []).append(memory_id)
    return choices or None


async def edit(call: PageCall) -> Response:
    """Accept the review, and put an edited text in the place of the new fact."""
    review = await call.client.get_review(call.request.path_params["review_id"])
    content = call.form.get("content", "").strip()
    if obstacle := _find_obstacle_to_edit(review, content):
        return call.render_problem(422, "Nothing was done", obstacle)
    key = call.form.get("idempotency_key", "")
    accepted = await call.client.accept(review["id"], idempotency_key=f"{key}-accept")
    try:
        memory_id = review["memory_id"] or ""
        memory = await call.client.get_memory(memory_id)
        edited = await call.client.supersede(
            memory_id,
            content=content,
            valid_from=memory["valid_from"],
            idempotency_key=f"{key}-edit",
        )
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
