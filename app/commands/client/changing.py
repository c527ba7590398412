"""Commands that write memories, undo writes and erase."""

from typing import Annotated

import click

from app.commands.client.calling import (
    DryRun,
    Failure,
    MemoryId,
    Reason,
    Service,
    drop_unset,
    prints_answer,
    takes_service,
)
from app.commands.client.printing import (
    Answer,
    format_id,
    format_time,
    print_change,
    print_ended,
    print_erasure,
    print_json,
    print_mode,
    print_reverts,
    print_store,
    print_text,
)
from app.commands.client.shown_ids import ShortId
from app.commands.parameters import Argument, Option, list_choices
from app.domain.relationship import LinkType

_WAYS_TO_REVERT = (
    "name either an operation's LOG_ID, with --store if you like, or --sweep ID, or --actor NAME, "
    "with --since TIME if you like."
)

EndedAt = Annotated[str | None, Option(metavar="TIME", help="When it ended. Default: now.")]


@prints_answer(print_store)
def store(
    content: Annotated[str, Argument(help="The fact, in a sentence.")],
    kind: Annotated[str | None, Option(help="fact, preference, decision or constraint.")] = None,
    entity: Annotated[str | None, Option(help="Who or what it is about.")] = None,
    category: Annotated[str | None, Option(help="The area of its key, such as tooling.")] = None,
    key: Annotated[str | None, Option(help="Which attribute; holds one value at a time.")] = None,
    value: Annotated[str | None, Option(help="The value of its key, such as Vim.")] = None,
    valid_from: Annotated[str | None, Option(metavar="TIME", help="When it became true.")] = None,
    valid_until: Annotated[str | None, Option(metavar="TIME", help="A stated end.")] = None,
    said_at: Annotated[
        str | None, Option(metavar="TIME", help="When the words were spoken. Default: now.")
    ] = None,
    supersedes: Annotated[
        list[str] | None,
        Option(metavar="ID", help="A memory that it replaces; may be repeated.", type=ShortId()),
    ] = None,
    split: Annotated[
        str | None,
        Option(help="auto: store each fact of a sentence of several; off: store it whole."),
    ] = None,
    dry_run: DryRun = False,
    *,
    service: Service,
) -> Answer:
    """Store a fact."""
    with service.connect() as client:
        return client.store(
            content,
            kind=kind,
            entity=entity,
            category=category,
            key=key,
            value=value,
            valid_from=valid_from,
            valid_until=valid_until,
            said_at=said_at,
            supersedes=supersedes or None,
            split=split,
            dry_run=dry_run,
        )


@prints_answer(print_change)
def supersede(
    memory_id: MemoryId,
    content: Annotated[str | None, Argument(help="What is true instead, in a sentence.")] = None,
    by: Annotated[
        str | None,
        Option(
            metavar="ID",
            help="A stored memory that takes its place, instead of new content.",
            type=ShortId(),
        ),
    ] = None,
    value: Annotated[str | None, Option(help="The new value of its key.")] = None,
    valid_from: Annotated[
        str | None, Option(metavar="TIME", help="Since when. Default: now.")
    ] = None,
    *,
    service: Service,
) -> Answer:
    """Put new content, or a stored memory, in a memory's place."""
    if (content is None) == (by is None):
        raise Failure(
            "say what is true instead, or name the stored memory that takes its place with --by ID."
        )
    with service.connect() as client:
        return client.supersede(
            memory_id, content=content, by=by, value=value, valid_from=valid_from
        )


@prints_answer(print_change)
def correct(
    memory_id: MemoryId,
    valid_from: Annotated[str | None, Option(metavar="TIME", help="When it became true.")] = None,
    valid_until: Annotated[
        str | None, Option(metavar="TIME", help="A stated end; `none`: it has none.")
    ] = None,
    tier: Annotated[str | None, Option(help="core or semantic.")] = None,
    importance: Annotated[float | None, Option(help="How much it matters, 0 to 1.")] = None,
    confidence: Annotated[float | None, Option(help="How sure it is, 0 to 1.")] = None,
    tags: Annotated[
        list[str] | None, Option("--tag", help="Its tags from now on; may be repeated.")
    ] = None,
    project: Annotated[str | None, Option(help="The project it belongs to.")] = None,
    *,
    service: Service,
) -> Answer:
    """Correct the dates or the properties of a memory, never its text.

    Another text is another fact: `palimpsest supersede` puts it in the memory's place.
    """
    chosen = drop_unset(
        valid_from=valid_from,
        valid_until=valid_until,
        tier=tier,
        importance=importance,
        confidence=confidence,
        tags=tags,
        project=project,
    )
    if not chosen:
        raise Failure("name what is to be corrected, as in --valid-from 2026-03-01.")
    if valid_until == "none":
        chosen["valid_until"] = None
    with service.connect() as client:
        return client.amend(memory_id, **chosen)


@prints_answer(print_change)
def retract(
    memory_id: MemoryId,
    at: Annotated[
        str | None, Option(metavar="TIME", help="When it stopped being true. Default: now.")
    ] = None,
    reason: Reason = None,
    never_true: Annotated[
        bool, Option("--never-true", help="It was never true; what it replaced holds again.")
    ] = False,
    *,
    service: Service,
) -> Answer:
    """End a memory without a successor. Its history stays."""
    with service.connect() as client:
        return client.retract(memory_id, at=at, reason=reason, never_true=never_true)


@takes_service
def link(
    source: Annotated[str, Argument(metavar="SOURCE", help="A memory's id.", type=ShortId())],
    kind: Annotated[str, Argument(metavar="TYPE", help=f"{list_choices(list(LinkType))}.")],
    target: Annotated[
        str,
        Argument(
            metavar="TARGET", help="The id of the memory that it is linked to.", type=ShortId()
        ),
    ],
    *,
    service: Service,
) -> None:
    """Say what a memory is to another. Nothing ends by it."""
    with service.connect() as client:
        answer = client.link(source, kind, target)
    if service.as_json:
        return print_json(answer)
    ends = f"{format_id(source)} {kind} {format_id(target)}"
    known_at, log_id = format_time(answer["known_at"]), format_id(answer["log_id"])
    print_text(f"{ends}, known since {known_at} (operation {log_id})")


@prints_answer(print_ended)
def end_session(
    session_id: Annotated[
        str, Argument(metavar="ID", help="The session, as its memories name it.")
    ],
    at: EndedAt = None,
    reason: Reason = None,
    *,
    service: Service,
) -> Answer:
    """End a session, and what was stored with lifespan `session`."""
    with service.connect() as client:
        return client.end_session(session_id, at=at, reason=reason)


@prints_answer(print_ended)
def end_project(
    name: Annotated[str, Argument(metavar="NAME", help="The project, as its memories name it.")],
    at: EndedAt = None,
    reason: Reason = None,
    *,
    service: Service,
) -> Answer:
    """End a project, and what was stored with lifespan `project`."""
    with service.connect() as client:
        return client.end_project(name, at=at, reason=reason)


@takes_service
def revert(
    log_id: Annotated[
        str | None,
        Argument(
            metavar="[LOG_ID]",
            help="The operation to undo: an id of `palimpsest log`.",
            type=ShortId(),
        ),
    ] = None,
    sweep: Annotated[
        str | None,
        Option(metavar="ID", help="Undo all that this sweep did.", type=ShortId()),
    ] = None,
    actor: Annotated[
        str | None,
        Option(
            metavar="NAME", help="Undo all that this actor wrote, as `palimpsest log` names it."
        ),
    ] = None,
    since: Annotated[
        str | None, Option(metavar="TIME", help="With an actor: from that time on.")
    ] = None,
    cascade: Annotated[bool, Option("--cascade", help="Undo first what was built on it.")] = False,
    dry_run: Annotated[
        bool,
        Option("--dry-run", help="Of a sweep or an actor: show what would be undone."),
    ] = False,
    store: Annotated[
        bool,
        Option("--store", help="Of a duplicate or a retraction: store what was said too."),
    ] = False,
    *,
    service: Service,
) -> None:
    """Undo an operation, a whole sweep, or all that an actor wrote."""
    chosen = [name for name in (log_id, sweep, actor) if name is not None]
    if len(chosen) != 1 or (since is not None and actor is None):
        raise Failure(_WAYS_TO_REVERT)
    if (store and log_id is None) or (dry_run and log_id is not None):
        raise Failure(_WAYS_TO_REVERT)
    answer: Answer
    with service.connect() as client:
        if log_id is not None:
            answer = client.revert(log_id, cascade=cascade, store=store)
        else:
            selection = drop_unset(sweep_id=sweep, actor=actor, since=since)
            answer = client.revert_many(**selection, cascade=cascade, dry_run=dry_run)
    if service.as_json:
        print_json(answer)
    elif log_id is not None:
        print_change(answer)
    else:
        print_reverts(answer)


@prints_answer(print_erasure)
def erase(
    memory_id: Annotated[
        str | None, Argument(metavar="[ID]", help="The memory to erase.", type=ShortId())
    ] = None,
    chain: Annotated[
        str | None,
        Option(
            metavar="ID",
            help="Erase a fact with all its versions, by the id of any.",
            type=ShortId(),
        ),
    ] = None,
    session: Annotated[str | None, Option(help="Erase all that was said in a session.")] = None,
    everything: Annotated[
        bool, Option("--everything", help="Erase all that the agent knows.")
    ] = False,
    cascade: Annotated[
        bool, Option("--cascade", help="Erase also what the texts were merged into.")
    ] = False,
    yes: Annotated[bool, Option("--yes", help="Do not ask.")] = False,
    *,
    service: Service,
) -> Answer:
    """Erase for good.

    Texts, vectors and hashes go, and cannot be brought back.
    """
    scopes = (memory_id is not None, chain is not None, session is not None, everything)
    if sum(scopes) != 1:
        raise Failure("name exactly one of a memory's ID, --chain, --session and --everything.")
    if not yes and not click.confirm("Erased texts cannot be brought back. Go on?"):
        raise Failure("nothing was erased.")
    with service.connect() as client:
        if memory_id is not None:
            return client.delete(memory_id, erase=True, cascade=cascade)
        whole_agent = service.agent if everything else None
        return client.erase(
            chain_id=chain, session_id=session, agent_id=whole_agent, cascade=cascade
        )


@prints_answer(print_mode)
def mode(
    chosen: Annotated[
        str,
        Argument(
            metavar="MODE", help="live, shadow, frozen; or default, for that of the settings."
        ),
    ],
    *,
    service: Service,
) -> Answer:
    """Choose what becomes of changes to the agent's memories.

    They are made, proposed as reviews, or held back.
    """
    with service.connect() as client:
        return client.patch_agent(service.agent, mode=None if chosen == "default" else chosen)
