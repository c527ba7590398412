"""Commands about reviews: list, show, accept and reject them, and answer open questions."""

from typing import Annotated, Any

from app.commands.client.calling import (
    Failure,
    Limit,
    Reason,
    Service,
    drop_unset,
    prints_answer,
    takes_service,
)
from app.commands.client.printing import (
    Answer,
    print_change,
    print_json,
    print_review,
    print_reviews,
)
from app.commands.client.shown_ids import ShortId
from app.commands.parameters import Argument, Option

ReviewId = Annotated[
    str, Argument(metavar="ID", help="The review's id, or its end as shown.", type=ShortId())
]


@prints_answer(print_reviews)
def list_reviews(
    status: Annotated[
        str | None, Option(help="pending, accepted, rejected, overtaken, expired; or all.")
    ] = "pending",
    source: Annotated[
        str | None,
        Option(
            help="Why they wait: low_confidence, judges_disagree, shadow, frozen, constraint, "
            "cap, trust, sweep, fallback."
        ),
    ] = None,
    limit: Limit = 50,
    *,
    service: Service,
) -> Answer:
    """List reviews, newest first."""
    chosen = None if status == "all" else status
    with service.connect() as client:
        return client.list_reviews(status=chosen, source=source, limit=limit).page()


@prints_answer(print_review)
def show(review_id: ReviewId, *, service: Service) -> Answer:
    """Show a review with the memories before and after."""
    with service.connect() as client:
        return client.get_review(review_id)


@prints_answer(print_change)
def accept(
    review_id: ReviewId,
    chosen: Annotated[
        list[str] | None,
        Argument(
            metavar="[LETTER]...",
            help="What ended, of a review that names several: its letters or ids.",
        ),
    ] = None,
    note: Reason = None,
    *,
    service: Service,
) -> Answer:
    """Do what a review proposes."""
    memories = None
    with service.connect() as client:
        if chosen:
            candidates = client.get_review(review_id)["candidates"]
            ids = {one["letter"]: one["memory_id"] for one in candidates}
            memories = [ids.get(name, name) for name in chosen]
        return client.accept(review_id, note=note, memories=memories)


@prints_answer(print_change)
def reject(review_id: ReviewId, note: Reason = None, *, service: Service) -> Answer:
    """Leave everything as it is."""
    with service.connect() as client:
        return client.reject(review_id, note=note)


@takes_service
def answer(
    question: Annotated[str, Argument(metavar="ID", help="As the question names itself: 4f2a01.")],
    choice: Annotated[
        list[str],
        Argument(metavar="LETTER...", help="The letters of what ended; none for none."),
    ],
    note: Reason = None,
    *,
    service: Service,
) -> None:
    """Answer an open question of a context as the agent's own model."""
    item: Any = drop_unset(question=question, choice=choice, note=note)
    with service.connect() as client:
        [answered] = client.answer_reviews([item])["results"]
    result: Answer = answered["result"]
    if "detail" in result:
        raise Failure(str(result["detail"]))
    if service.as_json:
        print_json(answered)
    else:
        print_change(result)
