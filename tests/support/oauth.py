"""A client of OAuth that goes each step by itself, so that a test can go one wrong."""

import base64
import hashlib
import html
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx

CALLBACK = "http://localhost:7777/callback"
VERIFIER = "v" * 64
CHALLENGE = (
    base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
)


@dataclass
class Program:
    """A client of OAuth that speaks to a service without a key of its own."""

    http: httpx.Client
    name: str = "A program"
    redirect_uris: tuple[str, ...] = (CALLBACK,)
    client_id: str = field(init=False)

    def __post_init__(self) -> None:
        registered = self.http.post(
            "/oauth/register",
            json={"client_name": self.name, "redirect_uris": list(self.redirect_uris)},
        )
        assert registered.status_code == 201, registered.text
        self.client_id = registered.json()["client_id"]

    def name_resource(self, agent: str | None = None) -> str:
        origin = str(self.http.base_url).rstrip("/")
        return f"{origin}/mcp/{agent}" if agent else f"{origin}/mcp"

    def build_question(self, **changes: str | None) -> dict[str, str]:
        """Return the parameters of the request for access; None leaves one out."""
        question = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uris[0],
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "state": "a state",
            "scope": "read write review",
            "resource": self.name_resource(),
            **changes,
        }
        return {name: value for name, value in question.items() if value is not None}

    def show(self, **changes: str | None) -> httpx.Response:
        return self.http.get("/oauth/authorize", params=self.build_question(**changes))

    def decide(
        self,
        key: str,
        *,
        decision: str = "allow",
        scopes: tuple[str, ...] = ("read", "write", "review"),
        **changes: str | None,
    ) -> httpx.Response:
        """Send the form of the page as a person with this key would."""
        return self.http.post(
            "/oauth/authorize",
            params=self.build_question(**changes),
            data={"key": key, "scope": list(scopes), "decision": decision},
        )

    def get_code(self, key: str, **options: Any) -> str:
        answer = self.decide(key, **options)
        assert answer.status_code == 303, answer.text
        return read_answer(answer.headers["location"])["code"]

    def redeem(self, code: str, **changes: str) -> httpx.Response:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uris[0],
            "code_verifier": VERIFIER,
            **changes,
        }
        return self.http.post("/oauth/token", data=form)

    def refresh(self, refresh_token: str, **changes: str) -> httpx.Response:
        form = {
            "grant_type": "refresh_token",
            "refresh_token": refresh_token,
            "client_id": self.client_id,
            **changes,
        }
        return self.http.post("/oauth/token", data=form)

    def connect(self, key: str, **options: Any) -> dict[str, Any]:
        """Go every step rightly, and return the answer with the tokens."""
        tokens = self.redeem(self.get_code(key, **options))
        assert tokens.status_code == 200, tokens.text
        answer: dict[str, Any] = tokens.json()
        return answer

    def call_tool(
        self,
        token: str,
        tool: str = "memory_search",
        agent: str | None = None,
        path: str | None = None,
        **arguments: Any,
    ) -> httpx.Response:
        """Call a tool of MCP with a token."""
        body = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }
        return self.http.post(
            path or urlsplit(self.name_resource(agent)).path,
            json=body,
            headers={"Authorization": f"Bearer {token}"},
        )


def read_answer(location: str) -> dict[str, str]:
    """Return the parameters that an address carries."""
    return dict(parse_qsl(urlsplit(location).query))


def read_action(page: str) -> str:
    """Return the address that the form of a page goes to."""
    action = re.search(r'action="([^"]+)"', page)
    assert action
    return html.unescape(action[1])
