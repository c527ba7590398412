"""Dependencies of routes: the services built at start, the agent, the key check, the memory."""

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Header, Path
from fastapi import Request as HttpRequest
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer

from app.api.scopes import find_required_scope
from app.domain.agent import AGENT_ID_PATTERN, AGENT_ID_RULE, AgentId
from app.domain.errors import KeysOff
from app.domain.keys import Actor
from app.services.explicit import Target
from app.store.rows import CallInfo
from app.wiring import Services


# FastAPI solves a dependency again at each place that names it. So other dependencies call this.
def read_actor(request: HttpRequest) -> Actor:
    """Return who calls, as `KeyCheck` found out."""
    actor: Actor = request.scope["actor"]
    return actor


async def get_services(request: HttpRequest) -> Services:
    services: Services = request.app.state.services
    return services


ServicesDep = Annotated[Services, Depends(get_services)]

_bearer = HTTPBearer(
    auto_error=False,
    description="The value of PALIMPSEST_API_KEY, where one is set, or a key of POST /v1/keys.",
)
_key_header = APIKeyHeader(
    name="X-API-Key", auto_error=False, description="The same key, as a header of its own."
)


async def document_key(
    _bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
    _header_key: Annotated[str | None, Depends(_key_header)],
) -> None:
    """Say in the OpenAPI document how a key is sent. `KeyCheck` has checked the key before."""


async def get_actor(request: HttpRequest) -> Actor:
    return read_actor(request)


ActorDep = Annotated[Actor, Depends(get_actor)]


async def check_scope(request: HttpRequest) -> None:
    """Raise ScopeMissing unless the key allows calls of this route."""
    read_actor(request).rights.require_scope(find_required_scope(request))


async def check_keys_on(services: ServicesDep) -> None:
    """Raise KeysOff if no key is asked for: whoever came by could issue keys for later."""
    if services.settings.api_key is None:
        raise KeysOff


AgentHeader = Annotated[
    str | None,
    Header(
        alias="X-Agent-Id",
        pattern=AGENT_ID_PATTERN,
        description=(
            f"Whose memory this is about: {AGENT_ID_RULE}. Default: the only agent of the key, "
            "else `default`."
        ),
    ),
]


async def get_calling_agent(request: HttpRequest, agent: AgentHeader = None) -> AgentId:
    """Return the agent of the call. Raises AgentForbidden and AgentNotNamed."""
    chosen = read_actor(request).rights.choose_agent(agent)
    request.scope["agent_id"] = chosen
    return chosen


AgentDep = Annotated[AgentId, Depends(get_calling_agent)]

AgentPath = Annotated[
    str, Path(pattern=AGENT_ID_PATTERN, description="An agent's id: paste one from the list.")
]


async def get_named_agent(request: HttpRequest, agent_id: AgentPath) -> AgentId:
    """Return the agent of the path. Raises AgentForbidden, also if there is no such agent."""
    return read_actor(request).rights.require_agent(agent_id)


NamedAgentDep = Annotated[AgentId, Depends(get_named_agent)]

MemoryPath = Annotated[
    UUID,
    Path(description="`id` of a memory: paste one from the answer to a store, a list or a search."),
]


async def get_origin(request: HttpRequest) -> CallInfo:
    """Return what the log notes about this call."""
    return CallInfo(request_id=request.scope["request_id"], actor=read_actor(request).name)


OriginDep = Annotated[CallInfo, Depends(get_origin)]


async def get_target(
    memory_id: MemoryPath,
    if_match: Annotated[
        str | None,
        Header(
            alias="If-Match",
            description="ETag of the version this call was decided on; 412 when it has changed.",
        ),
    ] = None,
) -> Target:
    """Return the memory of the path, and the revision in If-Match; None if any will do."""
    if if_match is None or if_match.strip() == "*":
        return Target(memory_id, None)
    # No memory has revision -1, so that the ETag of something else never matches; nor does a weak
    # ETag (RFC 9110, section 13.1.1).
    etag = if_match.strip().strip('"')
    is_revision = etag.isascii() and etag.isdigit() and len(etag) < 10
    return Target(memory_id, int(etag) if is_revision else -1)


TargetDep = Annotated[Target, Depends(get_target)]
