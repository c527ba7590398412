"""The MCP server: it lists the tools, calls them, and says of each failure what was written."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

from mcp.server import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextContent,
    Tool,
)

from app import __version__
from app.mcp.arguments import BadArguments, read_arguments
from app.mcp.calls import CALLS, advise_in_tools, may_review
from app.mcp.resources import PROMPTS, RESOURCES, TEMPLATES, compose_prompt, read_resource
from app.mcp.tools import INSTRUCTIONS, REVIEW, TOOLS
from palimpsest_client import AsyncClient, PalimpsestError, TooBusy

Context = ServerRequestContext[Any, Any]
OpenClient = Callable[[Context], AbstractAsyncContextManager[AsyncClient]]
Result = TypeVar("Result")


class ServiceNotStarted(MCPError):
    """The service behind the tools could not be started; the text is one sentence."""

    def __init__(self, text: str) -> None:
        super().__init__(INTERNAL_ERROR, text)


_BY_NAME = {tool.name: tool for tool in (*TOOLS, REVIEW)}
_NOTHING = "Nothing was written."
_UNKNOWN = "It may have been written: search for it before you repeat the call."


def build_server(open_client: OpenClient, *, has_all_rights: bool = False) -> Server[Any]:
    """Return a server that asks the service through the client of each request.

    With `has_all_rights`, all tools are listed, and the service is not asked what the key may do.
    """

    def answer_always(result: Result) -> Callable[..., Awaitable[Result]]:
        async def answer(*_: object) -> Result:
            return result

        return answer

    async def list_tools(context: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        if has_all_rights:
            return ListToolsResult(tools=[*TOOLS, REVIEW])
        async with open_client(context) as client:
            reviews = [REVIEW] if await may_review(client) else []
        return ListToolsResult(tools=[*TOOLS, *reviews])

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        tool = _BY_NAME.get(params.name)
        if tool is None:
            return _fail(f"There is no tool {params.name}. {_NOTHING}")
        try:
            arguments = read_arguments(tool, params.arguments)
        except BadArguments as problem:
            return _fail(f"{problem} {_NOTHING}")
        try:
            async with open_client(context) as client:
                return await _call(client, tool, arguments)
        except ServiceNotStarted as problem:
            return _fail(f"{problem} {_NOTHING}")

    async def read(context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        async with open_client(context) as client:
            return await read_resource(client, str(params.uri))

    async def get_prompt(context: Context, params: GetPromptRequestParams) -> GetPromptResult:
        async with open_client(context) as client:
            return await compose_prompt(client, params.name, params.arguments)

    return Server(
        "palimpsest",
        version=__version__,
        title="Palimpsest",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=answer_always(RESOURCES),
        on_list_resource_templates=answer_always(TEMPLATES),
        on_read_resource=read,
        on_list_prompts=answer_always(PROMPTS),
        on_get_prompt=get_prompt,
    )


async def _call(client: AsyncClient, tool: Tool, arguments: dict[str, Any]) -> CallToolResult:
    try:
        answer = await CALLS[tool.name](client, arguments)
    except PalimpsestError as problem:
        is_read = tool.annotations is not None and tool.annotations.read_only_hint
        was_refused = isinstance(problem, TooBusy) or 400 <= (problem.status or 0) < 500
        is_frozen = problem.type.endswith("frozen")
        is_certain = is_read or was_refused or is_frozen
        return _fail(f"{_describe(problem)} {_NOTHING if is_certain else _UNKNOWN}")
    except ValueError as problem:  # what no request can carry
        return _fail(f"{problem} {_NOTHING}")
    content = TextContent(type="text", text=answer.text)
    return CallToolResult(content=[content], structured_content=answer.fields)


def _fail(words: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=words)], is_error=True)


def _describe(problem: PalimpsestError) -> str:
    reasons = [place.get("reason", "") for place in problem.errors]
    detail = advise_in_tools(problem.detail)
    detail = " ".join([detail, *(each for each in reasons if each not in problem.detail)])
    return detail if detail.endswith(".") else f"{detail}."
