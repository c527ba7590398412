"""Tokens for codes and for refresh tokens, and their revocation (RFC 6749, RFC 7009)."""

from collections.abc import Mapping
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.domain.oauth import OAuthError
from app.oauth.clients import respond_with_error
from app.oauth.metadata import read_address, read_audience
from app.services.oauth import ACCESS_LIFE, CodeExchange, OAuthGrants, Tokens


async def give_tokens(request: Request) -> Response:
    """Answer with new tokens."""
    try:
        tokens = await _exchange(request, await _read_form(request))
    except OAuthError as problem:
        return respond_with_error(problem)
    return JSONResponse(
        {
            "access_token": tokens.access,
            "token_type": "Bearer",
            "expires_in": int(ACCESS_LIFE.total_seconds()),
            "refresh_token": tokens.refresh,
            "scope": " ".join(tokens.scopes),
        },
        headers={"Pragma": "no-cache"},
    )


async def revoke_token(request: Request) -> Response:
    """End the grant of a token. An unknown token is answered alike."""
    try:
        form = await _read_form(request)
        await _get_grants(request).revoke_token(_take(form, "token"), _take(form, "client_id"))
    except OAuthError as problem:
        return respond_with_error(problem)
    return Response(status_code=200)


async def _exchange(request: Request, form: Mapping[str, str]) -> Tokens:
    grants = _get_grants(request)
    address, resource = read_address(request), form.get("resource")
    audience = read_audience(address, resource) if resource else None
    match _take(form, "grant_type"):
        case "authorization_code":
            exchange = CodeExchange(
                code=_take(form, "code"),
                client_id=_take(form, "client_id"),
                redirect_uri=_take(form, "redirect_uri"),
                verifier=_take(form, "code_verifier"),
                audience=audience,
            )
            return await grants.redeem_code(exchange)
        case "refresh_token":
            refresh, client_id = _take(form, "refresh_token"), _take(form, "client_id")
            return await grants.refresh_tokens(refresh, client_id, audience)
        case _:
            description = "The grant_type is authorization_code or refresh_token."
            raise OAuthError("unsupported_grant_type", description)


async def _read_form(request: Request) -> Mapping[str, str]:
    fields = parse_qsl((await request.body()).decode(errors="replace"))
    form = dict(fields)
    if len(form) != len(fields):
        raise OAuthError("invalid_request", "A parameter comes twice.")
    return form


def _take(form: Mapping[str, str], name: str) -> str:
    if name not in form:
        raise OAuthError("invalid_request", f"The form lacks {name}.")
    return form[name]


def _get_grants(request: Request) -> OAuthGrants:
    grants: OAuthGrants = request.app.state.services.oauth_grants
    return grants
