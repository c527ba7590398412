"""Commands that read: memories, the log, links and agents."""

from typing import Annotated

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
    print_memory,
    print_page,
    print_stats,
    print_story,
)
from app.commands.client.shown_ids import ShortId
from app.commands.parameters import Argument, Option


@prints_answer(print_hits)
def search(
    query: Annotated[str, Argument(help="What to search for.")],
    as_of: AsOf = None,
    known_at: KnownAt = None,
    include_superseded: Annotated[
        bool, Option("--include-superseded", help="Every version, not only what holds.")
    ] = False,
    limit: Limit = 10,
    mode: Annotated[str, Option(help="hybrid, vector or text.")] = "hybrid",
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


@prints_answer(print_page)
def list_memories(
    kind: Annotated[str | None, Option(help="fact, preference, decision or constraint.")] = None,
    entity: Annotated[str | None, Option(help="Who or what they are about.")] = None,
    tags: Annotated[
        list[str] | None, Option("--tag", help="With any of these tags; may be repeated.")
    ] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    include_superseded: Annotated[
        bool, Option("--include-superseded", help="Every version, not only what holds.")
    ] = False,
    sort: Annotated[str, Option(help="created: newest first; strength.")] = "created",
    limit: Limit = 20,
    *,
    service: Service,
) -> Answer:
    """List what holds, newest first."""
    with service.connect() as client:
        return client.list_memories(
            kind=kind,
            entity=entity,
            tags_any=tags,
            as_of=as_of,
            known_at=known_at,
            include_superseded=include_superseded,
            sort=sort,
            limit=limit,
        ).page()


@prints_answer(print_memory)
def get(
    memory_id: MemoryId, as_of: AsOf = None, known_at: KnownAt = None, *, service: Service
) -> Answer:
    """Show all that is stated of a memory."""
    with service.connect() as client:
        return client.get_memory(memory_id, as_of=as_of, known_at=known_at)


@prints_answer(print_history)
def history(
    memory_id: Annotated[str, Argument(metavar="ID", help="Any version's id.", type=ShortId())],
    *,
    service: Service,
) -> Answer:
    """Show all versions of a memory, oldest first.

    A mark shows a version that took the place of one in another chain.
    """
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
    query: Annotated[str | None, Argument(help="What the prompt is about.")] = None,
    budget_tokens: Annotated[
        int, Option("--budget", min=1, max=32_000, help="Tokens that the text may take.")
    ] = 1000,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    *,
    service: Service,
) -> None:
    """Print what holds as text for a prompt, most useful first."""
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
        str | None,
        Option("--memory", metavar="ID", help="Operations on this memory.", type=ShortId()),
    ] = None,
    operation: Annotated[
        str | None, Option(help="ADD, UPDATE, DELETE, MERGE, SUPERSEDE, NOOP, AMEND.")
    ] = None,
    actor: Annotated[str | None, Option(metavar="NAME", help="What this actor wrote.")] = None,
    since: Annotated[
        str | None, Option(metavar="TIME", help="Those at that time or later.")
    ] = None,
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
    """List the links from and to a memory, latest first."""
    with service.connect() as client:
        return client.relationships(memory_id, known_at=known_at, limit=limit).page()


@prints_answer(print_story)
def why(
    memory_id: MemoryId,
    as_of: Annotated[str | None, Option(metavar="TIME", help="How it stood at that time.")] = None,
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
        str | None, Argument(metavar="[AGENT]", help="Default: that of --agent.")
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
