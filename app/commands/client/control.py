"""`palimpsest reviews`, `answer`, `revert`, `forget` and `mode`: what is decided."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from app.commands.client.calling import Failure, Service, drop_unset, takes_service
from app.commands.client.printing import (
    format_minute,
    make_console,
    note_more,
    print_change,
    print_json,
    print_memories,
    print_reverts,
)

if TYPE_CHECKING:
    from palimpsest_client import Client

reviews = typer.Typer(
    help="Changes that wait for a person: list, show, accept, reject.", no_args_is_help=True
)

ReviewId = Annotated[str, typer.Argument(metavar="ID", help="The review's id.")]
Note = Annotated[str | None, typer.Option(help="Why, for the log.", show_default=False)]


@reviews.command("list")
@takes_service
def list_reviews(
    status: Annotated[
        str | None, typer.Option(help="pending, accepted, rejected, overtaken, expired; or all.")
    ] = "pending",
    source: Annotated[
        str | None,
        typer.Option(
            help="Why they wait: low_confidence, judges_disagree, shadow, frozen, constraint, "
            "cap, trust, sweep, fallback."
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 50,
    *,
    service: Service,
) -> None:
    """List reviews, newest first."""
    chosen = None if status == "all" else status
    with service.connect() as client:
        answer = client.list_reviews(status=chosen, source=source, limit=limit).page()
    if service.as_json:
        return print_json(answer)
    console = make_console()
    for review in answer["items"]:
        console.print(f"[bold]{escape(review['sentence'])}[/bold]")
        since = format_minute(review["created_at"])
        console.print(f"  {review['status']} since {since}, {review['source']}: {review['id']}")
    note_more(answer)


@reviews.command()
@takes_service
def show(
    review_id: ReviewId,
    *,
    service: Service,
) -> None:
    """Show a review with the memories before and after."""
    with service.connect() as client:
        review = client.get_review(review_id)
    if service.as_json:
        return print_json(review)
    console = make_console()
    console.print(f"[bold]{review['status']}[/bold] {escape(review['sentence'])}")
    for one in review["candidates"]:
        text = escape(one["content"] or "(erased)")
        console.print(f"({one['letter']}) {text} {one['memory_id']}")
    for judgment in review["judgments"]:
        console.print(_format_judgment(judgment), markup=False)
    for side, memories in (("before", review["before"]), ("after", review["after"])):
        console.print(f"[bold]{side}[/bold]")
        print_memories(memories)
    if review["obstacle"]:
        console.print(review["obstacle"])


def _format_judgment(judgment: Mapping[str, Any]) -> str:
    decision = f"{judgment['relation']} {judgment['confidence']:.2f} ({judgment['decided_by']})"
    return f"{decision}: {judgment['reasoning']}"


@reviews.command()
@takes_service
def accept(
    review_id: ReviewId,
    chosen: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[LETTER]...",
            help="What ended, of a review that names several: its letters or ids.",
            show_default=False,
        ),
    ] = None,
    note: Note = None,
    *,
    service: Service,
) -> None:
    """Do what a review proposes."""
    with service.connect() as client:
        memories = _find_chosen(client, review_id, chosen) if chosen else None
        answer = client.accept(review_id, note=note, memories=memories)
    print_json(answer) if service.as_json else print_change(answer)


def _find_chosen(client: "Client", review_id: str, chosen: list[str]) -> list[str]:
    """Return the ids of the candidates that are named by their letters or ids."""
    candidates = client.get_review(review_id)["candidates"]
    ids = {one["letter"]: one["memory_id"] for one in candidates}
    return [ids.get(name, name) for name in chosen]


@reviews.command()
@takes_service
def reject(
    review_id: ReviewId,
    note: Note = None,
    *,
    service: Service,
) -> None:
    """Leave everything as it is."""
    with service.connect() as client:
        answer = client.reject(review_id, note=note)
    print_json(answer) if service.as_json else print_change(answer)


@takes_service
def answer(
    question: Annotated[
        str, typer.Argument(metavar="ID", help="As the question names itself: 4f2a01.")
    ],
    choice: Annotated[
        list[str],
        typer.Argument(metavar="LETTER...", help="The letters of what ended; none for none."),
    ],
    note: Note = None,
    *,
    service: Service,
) -> None:
    """Answer an open question of a context as the agent's own model."""
    item: Any = drop_unset(question=question, choice=choice, note=note)
    with service.connect() as client:
        [answered] = client.answer_reviews([item])["results"]
    result: Mapping[str, Any] = answered["result"]
    if "detail" in result:
        raise Failure(str(result["detail"]))
    print_json(answered) if service.as_json else print_change(result)


@takes_service
def revert(
    log_id: Annotated[
        str | None,
        typer.Argument(
            metavar="[LOG_ID]",
            help="The operation to undo: an id of `palimpsest log`.",
            show_default=False,
        ),
    ] = None,
    sweep: Annotated[
        str | None, typer.Option(metavar="ID", help="Undo all that this sweep did.")
    ] = None,
    actor: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Undo all that this actor wrote, as `palimpsest log` names it."
        ),
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="With an actor: from that time on.")
    ] = None,
    cascade: Annotated[
        bool, typer.Option("--cascade", help="Undo first what was built on it.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Of a sweep or an actor: show what would be undone."),
    ] = False,
    store: Annotated[
        bool,
        typer.Option("--store", help="Of a duplicate or a retraction: store what was said too."),
    ] = False,
    *,
    service: Service,
) -> None:
    """Undo an operation of the log, a whole sweep, or all that an actor wrote."""
    selection = drop_unset(sweep_id=sweep, actor=actor, since=since)
    if log_id is None:
        _refuse_mixed_selection(selection, store=store)
        return _revert_selection(service, selection, cascade=cascade, dry_run=dry_run)
    if selection or dry_run:
        raise Failure(_ONE_OF_THEM)
    with service.connect() as client:
        answer = client.revert(log_id, cascade=cascade, store=store)
    print_json(answer) if service.as_json else print_change(answer)


_ONE_OF_THEM = (
    "name either an operation's LOG_ID, with --store if you like, or --sweep ID, or --actor NAME, "
    "with --since TIME if you like."
)


def _refuse_mixed_selection(selection: dict[str, Any], *, store: bool) -> None:
    """Raise Failure unless the selection is a sweep, or an actor with or without a time."""
    if ("sweep_id" in selection) == ("actor" in selection):
        raise Failure(_ONE_OF_THEM)
    if store or ("sweep_id" in selection and "since" in selection):
        raise Failure(_ONE_OF_THEM)


def _revert_selection(
    service: Service, selection: dict[str, Any], *, cascade: bool, dry_run: bool
) -> None:
    with service.connect() as client:
        answer = client.revert_many(**selection, cascade=cascade, dry_run=dry_run)
    print_json(answer) if service.as_json else print_reverts(answer)


@takes_service
def forget(
    memory_id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="The memory to erase.", show_default=False)
    ] = None,
    chain: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Erase a fact with all its versions, by the id of any."),
    ] = None,
    session: Annotated[
        str | None, typer.Option(help="Erase all that was said in a session.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--everything", help="Erase all that the agent knows.")
    ] = False,
    cascade: Annotated[
        bool, typer.Option("--cascade", help="Erase also what the texts were merged into.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    *,
    service: Service,
) -> None:
    """Erase for good: texts, vectors and hashes go, and cannot be brought back."""
    scopes = (memory_id is not None, chain is not None, session is not None, everything)
    if sum(scopes) != 1:
        raise Failure("name exactly one of a memory's ID, --chain, --session and --everything.")
    if not yes and not typer.confirm("Erased texts cannot be brought back. Go on?"):
        raise Failure("nothing was erased.")
    with service.connect() as client:
        answer: Mapping[str, Any]
        if memory_id:
            answer = client.delete(memory_id, erase=True, cascade=cascade)
        else:
            whole_agent = service.agent if everything else None
            answer = client.erase(
                chain_id=chain, session_id=session, agent_id=whole_agent, cascade=cascade
            )
    print_json(answer) if service.as_json else _print_receipt(answer)


def _print_receipt(answer: Mapping[str, Any]) -> None:
    erased_ids = answer["erased"]
    console = make_console()
    console.print(f"[bold]ERASE[/bold] {len(erased_ids)} memories: {', '.join(erased_ids)}")
    console.print(
        f"receipt {answer['log_id']}, key {answer['receipt']['key']} "
        "(told once: keep it to prove what was erased)"
    )


@takes_service
def mode(
    chosen: Annotated[
        str,
        typer.Argument(
            metavar="MODE", help="live, shadow, frozen; or default, for that of the settings."
        ),
    ],
    *,
    service: Service,
) -> None:
    """Choose what becomes of changes to the agent's memories.

    They are made, proposed as reviews, or held back.
    """
    with service.connect() as client:
        answer = client.patch_agent(service.agent, mode=None if chosen == "default" else chosen)
    if service.as_json:
        return print_json(answer)
    mode_in_words = answer["mode"] or "as the settings say"
    make_console().print(f"{answer['agent_id']}: {mode_in_words}")


COMMANDS = (answer, revert, forget, mode)
