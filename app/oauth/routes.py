"""The routes of OAuth. A service that needs no key has none of them."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from app.api.oauth_challenge import METADATA_PATH
from app.oauth.authorize import AuthorizePage
from app.oauth.clients import register_client
from app.oauth.metadata import describe_resource, describe_server
from app.oauth.tokens import give_tokens, revoke_token

Answer = Callable[[Request], Awaitable[Response]]


def list_routes(app: ASGIApp) -> list[BaseRoute]:
    """Return the routes over an application, whose API checks the keys of people."""
    page = AuthorizePage(app)
    return [
        _build_route(METADATA_PATH + "{path:path}", "GET", describe_resource),
        _build_route("/.well-known/oauth-authorization-server", "GET", describe_server),
        _build_route("/oauth/register", "POST", register_client),
        _build_route("/oauth/authorize", "GET", page.show),
        _build_route("/oauth/authorize", "POST", page.decide),
        _build_route("/oauth/token", "POST", give_tokens),
        _build_route("/oauth/revoke", "POST", revoke_token),
    ]


def _build_route(path: str, method: str, answer: Answer) -> Route:
    async def endpoint(request: Request) -> Response:
        request.scope["route"] = route  # for metrics and the log
        return await answer(request)

    route = Route(path, endpoint, methods=[method], include_in_schema=False)
    return route
