"""Changes that wait for a person: look at them, decide one or several, and take it back."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape
from starlette.responses import Response

from app.console.page_call import PageCall
from app.console.rendering import name_unseen
from app.console.word_difference import MOST_WORDS, are_alike, mark_difference, show_alone
from app.domain.context import quote_safely
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
    "low_confidence": ("not sure", "The judges were not sure enough."),
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


# Characters of a text that the sentence of a question quotes.
_LONGEST_QUOTE = 200
_QUOTED = re.compile("(“[^“”]*”)")


@dataclass(frozen=True, slots=True)
class Part:
    """Words of a question: a text of a memory, with its id if that is stored, or others."""

    text: Markup
    is_quoted: bool = False
    memory_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A review as a page asks about it.

    `question` are the parts of the sentence. `old` has the text of each candidate in their order;
    in it and in `new` the differences are marked if there is one candidate. `has_sides`: the texts
    are longer than the sentence quotes. `yes` and `no` are the words of the buttons. Of a choice,
    each candidate is ticked on its own.
    """

    review: Mapping[str, Any]
    question: Sequence[Part]
    old: Sequence[Markup]
    new: Markup
    reason: str
    is_choice: bool
    has_sides: bool
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
        groups=[
            [build_card(review, _WORDS_IN_LIST) for review in group]
            for group in _group(page["items"])
        ],
        more=page["next_cursor"],
    )


def _read_source(call: PageCall) -> str | None:
    """Return what the reviews are narrowed to; an unknown value narrows nothing."""
    source = call.parameters.get("source", "")
    return source if source in REASONS else None


def _group(reviews: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Return the reviews about each stored fact, the fact of the newest review first."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for review in reviews:
        about = review["candidates"][0]["memory_id"] if review["candidates"] else review["id"]
        groups.setdefault(about, []).append(review)
    return list(groups.values())


def build_card(review: Mapping[str, Any], most_words: int) -> Card:
    candidates = review["candidates"]
    new, old = show_alone(review["content"], most_words), []
    for each in candidates:
        old.append(show_alone(each["content"], most_words))
    if len(candidates) == 1 and are_alike(candidates[0]["content"], review["content"]):
        old[0], new = mark_difference(candidates[0]["content"], review["content"], most_words)
    texts = [(review["content"], new, review["memory_id"])]
    for each, text in zip(candidates, old, strict=True):
        texts.append((each["content"], text, each["memory_id"]))
    yes, no = "Yes", "No"
    if review["relation"] in _ENDS:
        yes, no = "Yes, it ended", "No, both are true"
    is_choice = _is_choice(review)
    if is_choice:
        yes, no = "What is ticked ended", "None of these"
    return Card(
        review=review,
        question=list(_split_question(review["sentence"], texts, is_choice=is_choice)),
        old=old,
        new=new,
        reason=REASONS[review["source"]][1],
        is_choice=is_choice,
        has_sides=any(len(text or "") > _LONGEST_QUOTE for text, _, _ in texts),
        yes=yes,
        no=no,
    )


def _split_question(
    sentence: str, texts: Sequence[tuple[str | None, Markup, str | None]], *, is_choice: bool
) -> Iterator[Part]:
    """Yield the parts of a sentence; of a choice, the candidates are listed below it instead."""
    if is_choice:
        sentence = sentence.partition(": (a)")[0] + "?"
    for part in filter(None, _QUOTED.split(sentence)):
        words = part.strip("“”")
        is_quoted = words != part
        for text, marked, memory_id in texts if is_quoted else ():
            if text and quote_safely(text) == words:
                yield Part(marked, is_quoted=True, memory_id=memory_id)
                break
        else:
            yield Part(escape(name_unseen(words)), is_quoted=is_quoted)


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
