"""The page where a person grants a client access, with a key of theirs."""

from collections.abc import Set as AbstractSet
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp

from app.api.web_pages import comes_from_another_origin
from app.console.rendering import render_template
from app.console.viewer_client import open_viewer_client
from app.domain.errors import AgentNotNamed, Forbidden, KeyEnded
from app.domain.fact import DEFAULT_TRUST
from app.domain.keys import EVERYTHING, ROOT, KeyId, Rights, Scope
from app.domain.oauth import (
    GRANTABLE,
    MCP_PATH,
    AccessRequest,
    OAuthClient,
    OAuthError,
    answer_client,
    is_challenge,
    is_loopback,
)
from app.oauth.metadata import read_address, read_audience
from app.wiring import Services
from palimpsest_client import PalimpsestError, Unauthorized

_ACTOR_WITH_KEY = "key:"
_SCOPES_IN_WORDS = {
    Scope.READ: "Read what is remembered",
    Scope.WRITE: "Store and change facts",
    Scope.REVIEW: "Decide reviews, and undo changes",
}


class _NotGranted(Exception):
    """The form grants nothing as it was sent; the message says what to do."""

    def __init__(self, message: str, status: int = 422) -> None:
        super().__init__(message)
        self.status = status


class AuthorizePage:
    """Shows what a client asks for, and answers the client what the person decided."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def show(self, request: Request) -> Response:
        """Show the form. A wrong request is explained, and leads nowhere by itself."""
        try:
            wish = await _read_access_request(request)
            return _show_form(request, wish, wish.scopes)
        except OAuthError as problem:
            return await _show_problem(request, problem)

    async def decide(self, request: Request) -> Response:
        """Lead back to the client: with a code, or with the person's refusal."""
        try:
            if comes_from_another_origin(request.headers.get("host", ""), request.headers):
                raise OAuthError("access_denied", "Only this page itself may send its form.")
            wish = await _read_access_request(request)
        except OAuthError as problem:
            return await _show_problem(request, problem)
        form = parse_qsl((await request.body()).decode(errors="replace"))
        answer = {"error": "access_denied"}
        if ("decision", "allow") in form:
            chosen = wish.scopes.intersection(text for name, text in form if name == "scope")
            key = dict(form).get("key", "").strip()
            try:
                answer = {"code": await self._grant(request, replace(wish, scopes=chosen), key)}
            except _NotGranted as problem:
                return _show_form(request, wish, chosen, problem)
        address = answer_client(
            wish.redirect_uri, read_address(request), **answer, state=wish.state
        )
        return RedirectResponse(address, 303)

    async def _grant(self, request: Request, wish: AccessRequest, key: str) -> str:
        """Return a code for what the person allows with a key. Raises _NotGranted."""
        if not wish.scopes:
            raise _NotGranted("Choose what to allow.")
        if not key or not (key.isascii() and key.isprintable()):
            raise _NotGranted("Enter a key of this service.")
        services: Services = request.app.state.services
        try:
            async with open_viewer_client(self._app, request, key) as client:
                actor = (await client.get_actor())["actor"]
            if actor == ROOT.name:
                key_id = await _issue_key(services, wish)
            elif actor.startswith(_ACTOR_WITH_KEY):
                key_id = KeyId(actor.removeprefix(_ACTOR_WITH_KEY))
            else:
                raise _NotGranted("A token grants no access. Enter a key that was issued here.")
            return await services.oauth_grants.grant_access(key_id, wish)
        except (Unauthorized, KeyEnded):
            raise _NotGranted("The key is wrong, or it has ended.", 401) from None
        except PalimpsestError as problem:
            raise _NotGranted(problem.detail, problem.status or 503) from None
        except AgentNotNamed as problem:
            advice = f"Let the client connect to {request.base_url}mcp/AGENT."
            raise _NotGranted(f"{problem} {advice}", 403) from None
        except Forbidden as problem:
            raise _NotGranted(str(problem), 403) from None


async def _issue_key(services: Services, wish: AccessRequest) -> KeyId:
    """Return a new key for this client only: what the root key grants can be revoked then."""
    rights = Rights(
        scopes=wish.scopes,
        agents=(EVERYTHING.choose_agent(wish.agent),),
        trust_ceiling=DEFAULT_TRUST,
    )
    issued = await services.keys.issue_key(ROOT, f"OAuth: {_name_client(wish)}", rights)
    return issued.key.id


async def _read_access_request(request: Request) -> AccessRequest:
    """Return what the client asks for. Raises OAuthError."""
    query = request.query_params
    address = read_address(request)
    client, redirect_uri = await _read_client(request)
    if len(query.multi_items()) != len(query):
        raise OAuthError("invalid_request", "A parameter comes twice.")
    if query.get("response_type") != "code":
        raise OAuthError("unsupported_response_type", "The response_type must be code.")
    challenge = query.get("code_challenge", "")
    if query.get("code_challenge_method") != "S256" or not is_challenge(challenge):
        raise OAuthError("invalid_request", "Send a code_challenge of the method S256.")
    named = query.get("scope", "").split() or GRANTABLE
    scopes = frozenset(scope for scope in GRANTABLE if scope in named)
    if not scopes:
        raise OAuthError("invalid_scope", f"The scopes are {', '.join(GRANTABLE)}.")
    return AccessRequest(
        client=client,
        redirect_uri=redirect_uri,
        state=query.get("state"),
        challenge=challenge,
        scopes=scopes,
        audience=read_audience(address, query.get("resource", address + MCP_PATH)),
    )


async def _read_client(request: Request) -> tuple[OAuthClient, str]:
    """Return the client, and the address that its answer goes to. Raises OAuthError."""
    services: Services = request.app.state.services
    client = await services.oauth_clients.find_client(request.query_params.get("client_id", ""))
    redirect_uri = request.query_params.get("redirect_uri", "")
    if not client.allows_redirect(redirect_uri):
        raise OAuthError("invalid_request", "The redirect_uri is none that the client registered.")
    return client, redirect_uri


def _name_client(wish: AccessRequest) -> str:
    return wish.client.name or _name_destination(wish.redirect_uri)


def _name_destination(redirect_uri: str) -> str:
    """Return in words where an answer goes: a host, this computer, or an app."""
    if is_loopback(redirect_uri):
        return "a program on this computer"
    parts = urlsplit(redirect_uri)
    if parts.scheme == "https":
        return parts.netloc
    return f"the app that opens {parts.scheme}: links"


def _show_form(
    request: Request,
    wish: AccessRequest,
    chosen: AbstractSet[Scope],
    problem: _NotGranted | None = None,
) -> Response:
    scopes = [(scope, _SCOPES_IN_WORDS[scope]) for scope in GRANTABLE if scope in wish.scopes]
    page = render_template(
        "authorize.html",
        action=f"{request.url.path}?{request.url.query}",
        client=_name_client(wish),
        destination=_name_destination(wish.redirect_uri),
        is_local=is_loopback(wish.redirect_uri),
        agent=wish.agent,
        scopes=scopes,
        chosen=chosen,
        problem=problem,
    )
    return HTMLResponse(page, problem.status if problem else 200)


async def _show_problem(request: Request, problem: OAuthError) -> Response:
    """Explain the problem, with a link back to the client if the client is known."""
    link = destination = None
    try:
        _, redirect_uri = await _read_client(request)
        link = answer_client(
            redirect_uri,
            read_address(request),
            error=problem.code,
            error_description=problem.description,
            state=request.query_params.get("state"),
        )
        destination = _name_destination(redirect_uri)
    except OAuthError:
        pass
    page = render_template(
        "authorize_problem.html", problem=problem.description, link=link, destination=destination
    )
    return HTMLResponse(page, 400)
