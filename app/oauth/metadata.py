"""What the service says of itself to clients of OAuth (RFC 9728, RFC 8414)."""

import re
from urllib.parse import quote, unquote, urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.api.oauth_challenge import find_public_address
from app.api.problems import refuse_request
from app.domain.agent import AGENT_ID_PATTERN, AGENT_ID_RULE
from app.domain.keys import is_pattern
from app.domain.oauth import GRANTABLE, MCP_PATH, OAuthError

_AGENT_ID = re.compile(AGENT_ID_PATTERN)


def read_address(request: Request) -> str:
    """Return scheme and host of the service. Raises OAuthError where no token may go."""
    address = find_public_address(request.scope)
    if address is None:
        raise OAuthError(
            "invalid_request",
            "This service was reached over plain HTTP. Reach it by https: put a proxy with TLS in "
            "front that sends Host and X-Forwarded-Proto, and name a proxy on another machine in "
            "FORWARDED_ALLOW_IPS (docs/operate/network.md).",
        )
    return address


def read_audience(address: str, resource: str) -> str:
    """Return the path of an address of MCP at this service, decoded. Raises OAuthError."""
    try:
        parts = urlsplit(resource)
    except ValueError:
        parts = urlsplit("")
    path = unquote(parts.path).removesuffix("/")
    is_here = f"{parts.scheme}://{parts.netloc}".lower() == address and not parts.query
    named = path.removeprefix(f"{MCP_PATH}/")
    if not is_here or parts.fragment or (path != MCP_PATH and named == path):
        description = f"This service gives tokens for {address}{MCP_PATH} and agents below."
        raise OAuthError("invalid_target", description)
    if named != path and (is_pattern(named) or not _AGENT_ID.fullmatch(named)):
        raise OAuthError("invalid_target", f"The address ends with no id: {AGENT_ID_RULE}.")
    return path


async def describe_resource(request: Request) -> Response:
    """The address of MCP at this path, and who gives tokens for it."""
    try:
        address = read_address(request)
        path = request.path_params.get("path", "") or MCP_PATH
        audience = read_audience(address, address + quote(path))
    except OAuthError as problem:
        return _say_not_here(problem)
    return JSONResponse(
        {
            "resource": address + quote(audience),
            "authorization_servers": [address],
            "scopes_supported": list(GRANTABLE),
            "bearer_methods_supported": ["header"],
            "resource_name": "Palimpsest",
        }
    )


async def describe_server(request: Request) -> Response:
    """Where a client registers, asks people for access, and gets its tokens."""
    try:
        address = read_address(request)
    except OAuthError as problem:
        return _say_not_here(problem)
    described = {
        "issuer": address,
        "authorization_endpoint": f"{address}/oauth/authorize",
        "token_endpoint": f"{address}/oauth/token",
        "registration_endpoint": f"{address}/oauth/register",
        "revocation_endpoint": f"{address}/oauth/revoke",
        "scopes_supported": list(GRANTABLE),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "client_id_metadata_document_supported": True,
        "authorization_response_iss_parameter_supported": True,
    }
    return JSONResponse(described)


def _say_not_here(problem: OAuthError) -> Response:
    return refuse_request(404, "no-oauth", "No OAuth here", problem.description)
