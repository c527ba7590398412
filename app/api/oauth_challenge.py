"""Where clients of MCP learn how to get a token: the address of the service, as callers see it."""

import re
from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.types import Scope

from app.domain.oauth import GRANTABLE, MCP_PATH

METADATA_PATH = "/.well-known/oauth-protected-resource"
_HOST = re.compile(r"([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
_LOCAL = frozenset({"localhost", "127.0.0.1", "[::1]"})


def find_public_address(scope: Scope) -> str | None:
    """Return scheme and host of the service, such as `https://memory.example.com`.

    None stands for plain HTTP from elsewhere, over which no token may go. A proxy that is trusted
    says by `X-Forwarded-Proto` that it took the call by TLS.
    """
    host = _HOST.fullmatch(Headers(scope=scope).get("host", "").lower())
    if host and (scope["scheme"] == "https" or host[1] in _LOCAL):
        return f"{scope['scheme']}://{host[0]}"
    return None


def build_challenge(scope: Scope) -> str:
    """Return the header WWW-Authenticate for a call without a right key (RFC 9728)."""
    address = find_public_address(scope)
    path = scope["path"]
    if address is None or not (path == MCP_PATH or path.startswith(f"{MCP_PATH}/")):
        return "Bearer"
    challenge = (
        f'Bearer resource_metadata="{address}{METADATA_PATH}{quote(path)}", '
        f'scope="{" ".join(GRANTABLE)}"'
    )
    if "authorization" in Headers(scope=scope):
        challenge += ', error="invalid_token"'
    return challenge
