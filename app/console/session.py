"""The session of a viewer: the key, sealed in a cookie that scripts cannot read.

The seal is made with the root key, so every process of the service can open it, nobody else can
use what the cookie holds, and a new root key ends all sessions.
"""

import base64

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from starlette.requests import Request
from starlette.responses import Response

COOKIE = "palimpsest_session"
PATH = "/ui"
LIFE = 12 * 3600  # seconds
# Browsers drop a cookie that is longer than this.
MOST_BYTES = 3_800


class Seal:
    """Seals keys for cookies, and opens them for as long as a session lasts."""

    def __init__(self, root_key: str) -> None:
        derivation = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"palimpsest console")
        secret = derivation.derive(root_key.encode())
        self._fernet = Fernet(base64.urlsafe_b64encode(secret))

    def close(self, key: str) -> str:
        return self._fernet.encrypt(key.encode()).decode()

    def open(self, sealed: str) -> str | None:
        """Return the key, None if the session is over or the cookie is not of this service."""
        try:
            return self._fernet.decrypt(sealed.encode(), ttl=LIFE).decode()
        except (InvalidToken, UnicodeError):
            return None

    def find_key(self, request: Request) -> str | None:
        sealed = request.cookies.get(COOKIE)
        return self.open(sealed) if sealed else None

    def begin_session(self, request: Request, response: Response, key: str) -> None:
        response.set_cookie(
            COOKIE,
            self.close(key),
            max_age=LIFE,
            path=PATH,
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="strict",
        )


def end_session(response: Response) -> None:
    response.delete_cookie(COOKIE, path=PATH, httponly=True, samesite="strict")
