"""OAuth for MCP: clients, the addresses that their answers go to, and what a person may grant."""

import base64
import hashlib
import hmac
import json
import re
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from app.domain.agent import AgentId
from app.domain.keys import Scope

# What the tools of MCP need. No token may erase or administer, whatever its key may.
GRANTABLE = (Scope.READ, Scope.WRITE, Scope.REVIEW)
MCP_PATH = "/mcp"

LONGEST_NAME = 100
MOST_REDIRECT_URIS = 10
LONGEST_REDIRECT_URI = 500
_LONGEST_CLIENT_ID = 10_000
_OWN_CLIENT = "client."

# The characters of RFC 3986. Browsers read others, such as a backslash, in ways of their own.
_ADDRESS = re.compile(r"[A-Za-z0-9._~:/?\[\]@!$&'()*+,;=%-]+")
_HOST = re.compile(r"(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?", re.IGNORECASE)
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
# RFC 8252 wants a domain in such a scheme, turned around. These editors took shorter ones.
_EDITORS = frozenset({"cursor", "vscode", "vscode-insiders", "windsurf", "zed"})
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")


class OAuthError(Exception):
    """A request is refused; `code` is one of the error codes of OAuth."""

    def __init__(self, code: str, description: str) -> None:
        super().__init__(description)
        self.code = code
        self.description = description


@dataclass(frozen=True, slots=True)
class OAuthClient:
    """A program that asks people for access. It has no secret: a code needs its verifier instead.

    Raises OAuthError if an answer may not go to one of the addresses.
    """

    id: str
    name: str
    redirect_uris: tuple[str, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.redirect_uris) <= MOST_REDIRECT_URIS:
            description = f"Name 1 to {MOST_REDIRECT_URIS} redirect_uris."
            raise OAuthError("invalid_redirect_uri", description)
        if not all(map(_may_redirect_to, self.redirect_uris)):
            description = (
                "A redirect URI begins with https://, with http:// on localhost, 127.0.0.1 or "
                f"[::1], or with the scheme of an app, and has {LONGEST_REDIRECT_URI} characters "
                "at most, no user and no fragment."
            )
            raise OAuthError("invalid_redirect_uri", description)

    @classmethod
    def register(cls, name: str, redirect_uris: tuple[str, ...]) -> "OAuthClient":
        """Return a client whose id holds its name and its addresses, so that nothing is stored.

        Anybody may register anything, so an id that somebody makes up allows no more.
        """
        name = clean_name(name)
        content = json.dumps([name, *redirect_uris], separators=(",", ":"), ensure_ascii=False)
        encoded = base64.urlsafe_b64encode(content.encode()).decode()
        return cls(_OWN_CLIENT + encoded.rstrip("="), name, redirect_uris)

    @classmethod
    def parse(cls, client_id: str) -> "OAuthClient":
        """Return the registered client of this id. Raises OAuthError."""
        encoded = client_id.removeprefix(_OWN_CLIENT)
        try:
            if encoded == client_id or len(client_id) > _LONGEST_CLIENT_ID:
                raise ValueError
            padding = "=" * (-len(encoded) % 4)
            content = json.loads(base64.b64decode(encoded + padding, b"-_", validate=True))
            name, *redirect_uris = content
            if not all(isinstance(text, str) for text in content):
                raise TypeError
        except (ValueError, TypeError, RecursionError):
            description = "The client is not registered here. Let it register again."
            raise OAuthError("invalid_client", description) from None
        return cls(client_id, clean_name(name), tuple(redirect_uris))

    def allows_redirect(self, redirect_uri: str) -> bool:
        """Return True for an address of the client, and for its loopback address at any port."""
        if not _may_redirect_to(redirect_uri):
            return False
        if redirect_uri in self.redirect_uris:
            return True
        return is_loopback(redirect_uri) and _drop_port(redirect_uri) in map(
            _drop_port, self.redirect_uris
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRequest:
    """What a client asks a person for: some scopes for one address of MCP.

    `audience` is the path of that address, decoded, such as `/mcp/mira`.
    """

    client: OAuthClient
    redirect_uri: str
    state: str | None
    challenge: str
    scopes: frozenset[Scope]
    audience: str

    @property
    def agent(self) -> AgentId | None:
        """The agent that the address names; None leaves it to the key."""
        named = self.audience.removeprefix(MCP_PATH).removeprefix("/")
        return AgentId(named) if named else None


def clean_name(name: str) -> str:
    """Return what people and terminals may be shown of a client's name for itself."""
    return "".join(filter(str.isprintable, name))[:LONGEST_NAME]


def answer_client(redirect_uri: str, issuer: str, **answer: str | None) -> str:
    """Return the address that carries an answer to the client, with the issuer (RFC 9207)."""
    present = {name: value for name, value in answer.items() if value is not None}
    joint = "&" if urlsplit(redirect_uri).query else "" if redirect_uri.endswith("?") else "?"
    return f"{redirect_uri}{joint}{urlencode({**present, 'iss': issuer})}"


def is_loopback(redirect_uri: str) -> bool:
    """Return True if the address is one of the person's own machine."""
    parts = urlsplit(redirect_uri)
    return parts.scheme == "http" and parts.hostname in _LOOPBACK


def is_challenge(text: str) -> bool:
    """Return True if the text is a challenge of the method S256 (RFC 7636)."""
    return bool(_CHALLENGE.fullmatch(text))


def proves_challenge(verifier: str, challenge: str) -> bool:
    """Return True if the challenge was made of this verifier by the method S256."""
    if not _VERIFIER.fullmatch(verifier):
        return False
    digest = hashlib.sha256(verifier.encode()).digest()
    return hmac.compare_digest(base64.urlsafe_b64encode(digest).decode().rstrip("="), challenge)


def _may_redirect_to(redirect_uri: str) -> bool:
    if len(redirect_uri) > LONGEST_REDIRECT_URI or not _ADDRESS.fullmatch(redirect_uri):
        return False
    try:
        parts = urlsplit(redirect_uri)
        hostname, _ = parts.hostname, parts.port
    except ValueError:
        return False
    if parts.scheme in ("https", "http"):
        is_open = parts.scheme == "https" or hostname in _LOOPBACK
        return is_open and bool(_HOST.fullmatch(parts.netloc))
    return "." in parts.scheme or parts.scheme in _EDITORS


def _drop_port(redirect_uri: str) -> str:
    parts = urlsplit(redirect_uri)
    host = parts.netloc if parts.port is None else parts.netloc.rpartition(":")[0]
    return parts._replace(netloc=host).geturl()
