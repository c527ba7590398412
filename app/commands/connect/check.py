"""Call the service as a host would, by the entry that stands in the host's file."""

import asyncio
import json
import os
import re
import tempfile
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

from app.commands.connect.hosts import KEY_VARIABLE, Host

# An embedded service may have to make its database first.
PATIENCE = 200.0  # seconds

_VARIABLE = re.compile(rf"\$\{{(?:env:)?{KEY_VARIABLE}\}}|\${KEY_VARIABLE}")


class CheckFailed(Exception):
    """The service could not be called; the text is one sentence."""


def check_server(host: Host, entry: Mapping[str, Any]) -> str:
    """Initialize, list the tools and call one of them. Return what answered.

    Raises CheckFailed.
    """
    refusals: list[str] = []
    try:
        return asyncio.run(asyncio.wait_for(_call(host, entry, refusals), PATIENCE))
    except CheckFailed:
        raise
    except Exception as problem:
        raise CheckFailed(refusals[0] if refusals else _describe(problem)) from None


async def _call(host: Host, entry: Mapping[str, Any], refusals: list[str]) -> str:
    from mcp import Client

    async with AsyncExitStack() as stack:
        server = await _open(stack, host, entry, refusals)
        client = await stack.enter_async_context(Client(server))
        tools = (await client.list_tools()).tools
        answer = await client.call_tool("memory_context", {"budget_tokens": 100})
        if answer.is_error:
            raise CheckFailed(" ".join(getattr(part, "text", "") for part in answer.content))
    return f"{len(tools)} tools, and memory_context answers"


async def _open(
    stack: AsyncExitStack, host: Host, entry: Mapping[str, Any], refusals: list[str]
) -> Any:
    """Return what the client speaks with. Answers that refuse a call are added to `refusals`."""
    import httpx2
    from mcp import StdioServerParameters
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamable_http_client

    if host.url_key and host.url_key in entry:

        async def note_refusal(response: httpx2.Response) -> None:
            if response.is_error and response.request.method == "POST":
                await response.aread()
                refusals.append(_read_refusal(response.text, response.status_code))

        headers = {k: _expand(v) for k, v in entry.get(host.headers_key, {}).items()}
        if host.bearer_variable_key and entry.get(host.bearer_variable_key):
            headers["Authorization"] = f"Bearer {os.environ.get(KEY_VARIABLE, '')}"
        http = httpx2.AsyncClient(
            headers=headers, timeout=30, event_hooks={"response": [note_refusal]}
        )
        await stack.enter_async_context(http)
        return streamable_http_client(entry[host.url_key], http_client=http)
    variables = {k: _expand(v) for k, v in entry.get("env", {}).items()}
    # As a host hands on its own environment, except what would lend the command a key.
    inherited = {k: v for k, v in os.environ.items() if k != KEY_VARIABLE}
    if host.variables_key and entry.get(host.variables_key):
        variables[KEY_VARIABLE] = os.environ.get(KEY_VARIABLE, "")
    parameters = StdioServerParameters(
        command=entry["command"], args=entry["args"], env=inherited | variables
    )
    # The log of a service that starts is no answer for the person at the terminal.
    return stdio_client(parameters, errlog=stack.enter_context(tempfile.TemporaryFile("w")))


def _read_refusal(text: str, status: int) -> str:
    try:
        return str(json.loads(text)["detail"])
    except (ValueError, KeyError, TypeError):
        return f"the address answers {status}: is it that of the service?"


def _expand(text: str) -> str:
    return _VARIABLE.sub(lambda _: os.environ.get(KEY_VARIABLE, ""), text)


def _describe(problem: BaseException) -> str:
    import httpx2

    while isinstance(problem, BaseExceptionGroup):
        problem = problem.exceptions[0]
    if isinstance(problem, TimeoutError):
        return f"no answer within {PATIENCE:g} seconds."
    if isinstance(problem, httpx2.TransportError):
        return "nothing answers at the address: is the service running (`palimpsest serve`)?"
    return f"{str(problem) or type(problem).__name__}."
