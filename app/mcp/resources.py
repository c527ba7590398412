"""What a person may attach in a host: the context and a memory's history; and the one prompt."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
)

from app.mcp.arguments import MOST_CHARACTERS
from app.mcp.calls import compose_context, show_history
from palimpsest_client import AsyncClient, PalimpsestError

_TEXT: Final = "text/plain"
_CONTEXT: Final = "palimpsest://context"
_MEMORIES: Final = "palimpsest://memories/"
_PROMPT: Final = "recall"

RESOURCES: Final = ListResourcesResult(
    resources=[
        Resource(
            uri=_CONTEXT,
            name="context",
            description="What is known, most useful first.",
            mime_type=_TEXT,
        )
    ]
)
TEMPLATES: Final = ListResourceTemplatesResult(
    resource_templates=[
        ResourceTemplate(
            uri_template=_MEMORIES + "{memory_id}",
            name="history",
            description="All versions of a memory, and the reasons.",
            mime_type=_TEXT,
        )
    ]
)
PROMPTS: Final = ListPromptsResult(
    prompts=[
        Prompt(
            name=_PROMPT,
            description="What is known about a task, before the task begins.",
            arguments=[PromptArgument(name="task", description="What is to be done")],
        )
    ]
)


async def read_resource(client: AsyncClient, uri: str) -> ReadResourceResult:
    """Return the text of a resource. Raises MCPError if there is none."""
    try:
        text = await _read_text(client, uri)
    except PalimpsestError as problem:
        raise _build_error(problem) from None
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=_TEXT, text=text)])


async def _read_text(client: AsyncClient, uri: str) -> str:
    if uri == _CONTEXT:
        return (await compose_context(client, {})).text
    if uri.startswith(_MEMORIES) and len(uri) <= MOST_CHARACTERS:
        memory_id = unquote(uri.removeprefix(_MEMORIES))
        return (await show_history(client, {"memory_id": memory_id, "why": True})).text
    raise MCPError(INVALID_PARAMS, f"There is no {uri[:200]}: read {_CONTEXT} or {_MEMORIES}ID.")


def _build_error(problem: PalimpsestError) -> MCPError:
    code = INVALID_PARAMS if 400 <= (problem.status or 0) < 500 else INTERNAL_ERROR
    return MCPError(code, problem.detail)


async def compose_prompt(
    client: AsyncClient, name: str, arguments: Mapping[str, str] | None
) -> GetPromptResult:
    """Return the prompt, with what is known about its task. Raises MCPError for another prompt."""
    if name != _PROMPT:
        raise MCPError(INVALID_PARAMS, f"There is no prompt {name[:200]}; there is {_PROMPT}.")
    task = (arguments or {}).get("task", "").strip()
    try:
        context = (await compose_context(client, {"query": task} if task else {})).text
    except PalimpsestError as problem:
        raise _build_error(problem) from None
    text = f"{context}\n\n{task}".strip()
    message = PromptMessage(role="user", content=TextContent(type="text", text=text))
    return GetPromptResult(messages=[message])
