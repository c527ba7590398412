"""`palimpsest search`, `history`, `context`, `log` and `agents`."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from app.commands.client.calling import (
    DEFAULT_URL,
    ApiKey,
    AsJson,
    Service,
    Url,
    takes_service,
)
from app.commands.client.printing import (
    format_minute,
    print_history,
    print_hits,
    print_json,
    print_page,
)

Limit = Annotated[int, typer.Option(min=1, max=1000)]


@takes_service
def search(
    query: Annotated[str, typer.Argument(help="What to search for.")],
    as_of: Annotated[str | None, typer.Option(help="What was true at that time.")] = None,
    known_at: Annotated[str | None, typer.Option(help="As far as was known at that time.")] = None,
    include_superseded: Annotated[
        bool, typer.Option("--include-superseded", help="Every version, not only what holds.")
    ] = False,
    limit: Limit = 10,
    mode: Annotated[str, typer.Option(help="hybrid, vector or text.")] = "hybrid",
    *,
    service: Service,
) -> None:
    """Search memories."""
    with service.connect() as client:
        answer = client.search(
            query,
            as_of=as_of,
            known_at=known_at,
            include_superseded=include_superseded,
            limit=limit,
            mode=mode,
        )
    if service.as_json:
        return print_json(answer)
    print_hits(answer["results"])


@takes_service
def history(
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="Any version's id.")],
    *,
    service: Service,
) -> None:
    """Show the whole line of a memory, oldest first, and where it goes on in another chain."""
    with service.connect() as client:
        answer, *others = client.history(memory_id).pages()
    for page in others:
        answer["versions"] += page["versions"]
        answer["joints"] += page["joints"]
        answer["operations"] += page["operations"]
        answer["next_cursor"] = page["next_cursor"]
    print_json(answer) if service.as_json else print_history(answer)


@takes_service
def context(
    query: Annotated[
        str | None, typer.Argument(help="What the prompt is about.", show_default=False)
    ] = None,
    budget_tokens: Annotated[
        int, typer.Option("--budget", min=1, max=32_000, help="Tokens that the text may take.")
    ] = 1000,
    as_of: Annotated[str | None, typer.Option(help="What was true at that time.")] = None,
    known_at: Annotated[str | None, typer.Option(help="As far as was known at that time.")] = None,
    *,
    service: Service,
) -> None:
    """Print what holds as text for a prompt: by kind, most useful first."""
    with service.connect() as client:
        answer = client.context(
            query=query, budget_tokens=budget_tokens, as_of=as_of, known_at=known_at
        )
    print_json(answer) if service.as_json else print(answer["text"], end="")


@takes_service
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
) -> None:
    """Show what was done, newest first, by whom and why."""
    with service.connect() as client:
        answer = client.list_log(
            memory_id=memory_id, operation=operation, actor=actor, since=since, limit=limit
        ).page()
    print_json(answer) if service.as_json else print_page(
        answer, ["known at", "operation", "by", "actor", "why", "text", "id"], _format_operation
    )


def _format_operation(entry: Mapping[str, Any]) -> list[str]:
    incoming = entry["incoming"] or {}
    return [
        format_minute(entry["created_at"]),
        entry["operation"],
        entry["decided_by"],
        entry["actor"] or "",
        entry["reasoning"],
        incoming.get("content") or "",
        entry["id"],
    ]


def agents(
    limit: Limit = 50, url: Url = DEFAULT_URL, api_key: ApiKey = None, as_json: AsJson = False
) -> None:
    """List who has memories here."""
    with Service(url=url, api_key=api_key).connect() as client:
        answer = client.list_agents(limit=limit).page()
    print_json(answer) if as_json else print_page(
        answer, ["id", "memories", "last known at"], _format_agent
    )


def _format_agent(agent: Mapping[str, Any]) -> list[str]:
    return [agent["agent_id"], str(agent["memories"]), format_minute(agent["last_known_at"])]
