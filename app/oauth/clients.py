"""Registration of clients (RFC 7591)."""

import time
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.domain.oauth import OAuthClient, OAuthError


class _Registration(BaseModel):
    """What a client says of itself. Its other wishes are answered with what every client gets."""

    redirect_uris: list[str]
    client_name: Annotated[str, Field(strict=True)] | None = None


async def register_client(request: Request) -> Response:
    """Give a client an id. Nothing is stored: the id holds what the client said."""
    try:
        wish = _Registration.model_validate_json(await request.body())
        client = OAuthClient.register(wish.client_name or "", tuple(wish.redirect_uris))
    except ValidationError:
        description = "Send JSON with redirect_uris, a list of addresses, and client_name, a text."
        return respond_with_error(OAuthError("invalid_client_metadata", description))
    except OAuthError as problem:
        return respond_with_error(problem)
    answer = {
        "client_id": client.id,
        "client_id_issued_at": int(time.time()),
        "client_name": client.name,
        "redirect_uris": list(client.redirect_uris),
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }
    return JSONResponse(answer, 201)


def respond_with_error(problem: OAuthError) -> Response:
    """Return an error as clients of OAuth read it (RFC 6749, section 5.2)."""
    return JSONResponse({"error": problem.code, "error_description": problem.description}, 400)
