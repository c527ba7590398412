"""`palimpsest context`, `palimpsest log` and `palimpsest agents`."""

from typing import Annotated, Any

import typer

from app.commands.asking import DEFAULT_URL, Agent, ApiKey, AsJson, Url, answer_of, client_of, said
from app.commands.printing import minute, print_json, print_table

Limit = Annotated[int, typer.Option(min=1, max=1000)]


def context(
    query: Annotated[str | None, typer.Argument(help="What the prompt is about.", show_default=False)] = None,
    budget_tokens: Annotated[int, typer.Option("--budget", min=1, max=32_000, help="Tokens that the text may take.")] = 1000,
    as_of: Annotated[str | None, typer.Option(help="What was true at that time.")] = None,
    known_at: Annotated[str | None, typer.Option(help="As far as was known at that time.")] = None,
    url: Url = DEFAULT_URL,
    agent: Agent = "default",
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """Print what holds as text for a prompt: by kind, most useful first."""
    with client_of(url, agent, api_key) as client:
        asked = said(query=query, budget_tokens=budget_tokens, as_of=as_of, known_at=known_at)
        answer = answer_of(client, "GET", "/v1/context", params=asked)
    print_json(answer) if as_json else print(answer["text"], end="")


def log(
    memory_id: Annotated[str | None, typer.Option("--memory", metavar="ID", help="Operations on this memory alone.")] = None,
    operation: Annotated[str | None, typer.Option(help="ADD, UPDATE, DELETE, MERGE, SUPERSEDE, NOOP, AMEND.")] = None,
    since: Annotated[str | None, typer.Option(help="Those at that time or later.")] = None,
    limit: Limit = 20,
    url: Url = DEFAULT_URL,
    agent: Agent = "default",
    api_key: ApiKey = None,
    as_json: AsJson = False,
) -> None:
    """Show what was done, newest first, by whom and why."""
    with client_of(url, agent, api_key) as client:
        asked = said(memory_id=memory_id, operation=operation, since=since, limit=limit)
        answer = answer_of(client, "GET", "/v1/log", params=asked)
    print_json(answer) if as_json else print_table(["known at", "operation", "by", "why", "text", "id"], [_row(e) for e in answer["items"]])


def _row(entry: dict[str, Any]) -> list[str]:
    incoming = entry["incoming"] or {}
    text = incoming.get("content") or ""
    return [minute(entry["created_at"]), entry["operation"], entry["decided_by"], entry["reasoning"], text, entry["id"]]


def agents(limit: Limit = 50, url: Url = DEFAULT_URL, api_key: ApiKey = None, as_json: AsJson = False) -> None:
    """List who has memories here."""
    with client_of(url, "default", api_key) as client:
        answer = answer_of(client, "GET", "/v1/agents", params={"limit": limit})
    if as_json:
        return print_json(answer)
    rows = [[a["agent_id"], str(a["memories"]), minute(a["last_known_at"])] for a in answer["items"]]
    print_table(["id", "memories", "last known at"], rows)
