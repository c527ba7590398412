"""What every command that talks to a running service shares: its options, its client, and how it fails."""

from typing import Annotated

import httpx
import typer

Url = Annotated[str, typer.Option(envvar="PALIMPSEST_URL", help="Address of the running service.")]
Agent = Annotated[str, typer.Option(envvar="PALIMPSEST_AGENT", help="Whose memory.")]
ApiKey = Annotated[str | None, typer.Option(envvar="PALIMPSEST_API_KEY", help="Key of the service.", show_default=False)]

DEFAULT_URL = "http://127.0.0.1:8000"


class Failure(Exception):
    """What went wrong, in one line for the person at the terminal."""


def client_of(url: str, agent: str, api_key: str | None) -> httpx.Client:
    headers = {"X-Agent-Id": agent} | ({"X-API-Key": api_key} if api_key else {})
    return httpx.Client(base_url=url, headers=headers, timeout=60)


def unanswered(client: httpx.Client, problem: Exception) -> Failure:
    return Failure(f"no answer from {client.base_url}: {problem}. Is the service running (`palimpsest serve`)?")
