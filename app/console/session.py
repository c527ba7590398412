"""The session of a viewer: a random cookie that scripts cannot read, for a key that they logged in
with. The service has the sessions, so one is over for every holder of its cookie at the logout."""

from starlette.requests import Request
from starlette.responses import Response

from app.services.console_sessions import LIFE, ConsoleSessions

COOKIE = "palimpsest_session"
PATH = "/ui"


def get_sessions(request: Request) -> ConsoleSessions:
    sessions: ConsoleSessions = request.app.state.services.console_sessions
    return sessions


async def find_session_key(request: Request) -> str | None:
    """Return the key that the viewer logged in with; None if there is no session, or it is over."""
    cookie = request.cookies.get(COOKIE)
    return await get_sessions(request).find_key(cookie) if cookie else None


async def begin_session(request: Request, response: Response, key: str, actor: str) -> None:
    """Begin a session with the key of an actor, in the place of the one that the browser has."""
    await end_session(request, response)
    response.set_cookie(
        COOKIE,
        await get_sessions(request).begin_session(key, actor),
        max_age=int(LIFE.total_seconds()),
        path=PATH,
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


async def end_session(request: Request, response: Response) -> None:
    """End the session of the cookie, if there is one, and take the cookie from the browser."""
    if cookie := request.cookies.get(COOKIE):
        await get_sessions(request).end_session(cookie)
    response.delete_cookie(COOKIE, path=PATH, httponly=True, samesite="strict")
