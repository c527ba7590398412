"""Commands that read: memories, the log, links and agents."""

from typing import Annotated

import typer

from app.commands.client.calling import (
    DEFAULT_URL,
    ApiKey,
    AsJson,
    AsOf,
    KnownAt,
    Limit,
    MemoryId,
    Service,
    Url,
    prints_answer,
    takes_service,
)
from app.commands.client.printing import (
    Answer,
    print_agents,
    print_history,
    print_hits,
    print_json,
    print_links,
    print_log,
    print_stats,
    print_story,
)


@prints_answer(print_hits)
def search(
    query: Annotated[str, typer.Argument(help="What to search for.")],
    as_of: AsOf = None,
    known_at: KnownAt = None,
    include_superseded: Annotated[
        bool, typer.Option("--include-superseded", help="Every version, not only what holds.")
    ] = False,
    limit: Limit = 10,
    mode: Annotated[str, typer.Option(help="hybrid, vector or text.")] = "hybrid",
    *,
    service: Service,
) -> Answer:
    """Search memories."""
    with service.connect() as client:
        return client.search(
            query,
            as_of=as_of,
            known_at=known_at,
            include_superseded=include_superseded,
            limit=limit,
            mode=mode,
        )


@prints_answer(print_history)
def history(
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="Any version's id.")],
    *,
    service: Service,
) -> Answer:
    """Show the whole line of a memory, oldest first, and where it goes on in another chain."""
    with service.connect() as client:
        answer, *others = client.history(memory_id).pages()
    for page in others:
        answer["versions"] += page["versions"]
        answer["joints"] += page["joints"]
        answer["operations"] += page["operations"]
        answer["next_cursor"] = page["next_cursor"]
    return answer


@takes_service
def context(
    query: Annotated[str | None, typer.Argument(help="What the prompt is about.")] = None,
    budget_tokens: Annotated[
        int, typer.Option("--budget", min=1, max=32_000, help="Tokens that the text may take.")
    ] = 1000,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    *,
    service: Service,
) -> None:
    """Print what holds as text for a prompt: by kind, most useful first."""
    with service.connect() as client:
        answer = client.context(
            query=query, budget_tokens=budget_tokens, as_of=as_of, known_at=known_at
        )
    if service.as_json:
        print_json(answer)
    else:
        print(answer["text"], end="")


@prints_answer(print_log)
def log(
    memory_id: Annotated[
        str | None, typer.Option("--memory", metavar="ID", help="Operations on this memory alone.")
    ] = None,
    operation: Annotated[
        str | None, typer.Option(help="ADD, UPDATE, DELETE, MERGE, SUPERSEDE, NOOP, AMEND.")
    ] = None,
    actor: Annotated[
        str | None, typer.Option(metavar="NAME", help="What this actor wrote.")
    ] = None,
    since: Annotated[str | None, typer.Option(help="Those at that time or later.")] = None,
    limit: Limit = 20,
    *,
    service: Service,
) -> Answer:
    """Show what was done, newest first, by whom and why."""
    with service.connect() as client:
        return client.list_log(
            memory_id=memory_id, operation=operation, actor=actor, since=since, limit=limit
        ).page()


@prints_answer(print_links)
def links(
    memory_id: MemoryId,
    known_at: KnownAt = None,
    limit: Limit = 50,
    *,
    service: Service,
) -> Answer:
    """List what a memory is linked to, and what is linked to it, latest first."""
    with service.connect() as client:
        return client.relationships(memory_id, known_at=known_at, limit=limit).page()


@prints_answer(print_story)
def why(
    memory_id: MemoryId,
    as_of: Annotated[str | None, typer.Option(help="How it stood at that time.")] = None,
    known_at: KnownAt = None,
    *,
    service: Service,
) -> Answer:
    """Tell the story of a memory.

    It says what the memory replaced, who decided and why, what was kept apart, reviews and reverts.
    """
    with service.connect() as client:
        return client.why_memory(memory_id, as_of=as_of, known_at=known_at)


@prints_answer(print_stats)
def stats(
    whose: Annotated[
        str | None, typer.Argument(metavar="[AGENT]", help="Default: that of --agent.")
    ] = None,
    *,
    service: Service,
) -> Answer:
    """Show an agent in numbers."""
    with service.connect() as client:
        return client.get_stats(whose or service.agent)


def agents(
    limit: Limit = 50, url: Url = DEFAULT_URL, api_key: ApiKey = None, as_json: AsJson = False
) -> None:
    """List who has memories here."""
    with Service(url=url, api_key=api_key).connect() as client:
        answer = client.list_agents(limit=limit).page()
    if as_json:
        print_json(answer)
    else:
        print_agents(answer)
