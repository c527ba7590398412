"""Secrets are taken out of what callers write, or the call is refused, before it is validated."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import Depends, Request, Response
from fastapi.routing import APIRoute

from app.api.request_body import BATCHED
from app.domain.errors import InvalidFact, SecretsRefused
from app.domain.secrets import (
    find_secrets,
    find_tokens,
    redact_named_value,
    redact_secrets,
)
from app.domain.secrets.fields import TextField, list_text_fields
from app.settings import Settings
from app.turns import iterate_in_turns

HEADER = "Palimpsest-Redacted"

# Characters that are searched at once. A thousand take half a millisecond.
LONG_TEXT = 2_000
# No field takes a text as long. Searching ten million would keep everybody waiting for seconds.
TOO_LONG_TEXT = 100_000


@dataclass(frozen=True, slots=True)
class SecretRemover:
    """Removes secrets from parsed JSON.

    In free text, a mark takes the place of a secret, unless `mode` refuses it. In names and ids,
    keys and tokens are refused in both modes.
    """

    mode: Literal["redact", "refuse", "keep"]
    own_keys: tuple[str, ...]

    @classmethod
    def from_settings(cls, settings: Settings) -> "SecretRemover":
        return cls(settings.secrets, settings.own_keys)

    async def remove(self, request: Any) -> int:
        """Return how many secrets were replaced in place.

        Raises SecretsRefused, and InvalidFact for a text that no field takes.
        """
        if self.mode == "keep" or not isinstance(request, dict | list):
            return 0
        redacted = 0
        async for field in iterate_in_turns(list_text_fields(request)):
            if len(field.text) > TOO_LONG_TEXT:
                raise InvalidFact(
                    f"{field.path[:LONG_TEXT]}: {len(field.text):,} characters are too many; no "
                    f"field takes more than {TOO_LONG_TEXT:,}."
                )
            if len(field.text) > LONG_TEXT:
                redacted += await asyncio.to_thread(self._remove_from_field, field)
            else:
                redacted += self._remove_from_field(field)
        return redacted

    def check_name(self, name: str, value: str) -> None:
        """Raise SecretsRefused if a value in which nothing can be replaced has a key or a token."""
        if self.mode != "keep" and (tokens := find_tokens(value, self.own_keys)):
            raise SecretsRefused(name, tokens[0].kind)

    def _remove_from_field(self, field: TextField) -> int:
        if not field.is_free_text:
            self.check_name(field.path, field.text)
            return 0
        if field.label is None:
            text, count = redact_secrets(field.text, self.own_keys)
        else:
            text, count = redact_named_value(field.label, field.text, self.own_keys)
        if count and self.mode == "refuse":
            secrets = find_secrets(field.text, self.own_keys)
            raise SecretsRefused(field.path, secrets[0].kind if secrets else "secret")
        if count:
            field.container[field.index] = text
        return count


async def get_secret_remover(request: Request) -> SecretRemover:
    remover: SecretRemover = request.app.state.secrets
    return remover


SecretRemoverDep = Annotated[SecretRemover, Depends(get_secret_remover)]


class SecretFreeRoute(APIRoute):
    """A route that writes what callers send. Its answer has the number of redacted secrets."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_without_secrets(request: Request) -> Response:
            await _remove_secrets(request)
            response = await handle(request)
            if redacted := await get_redacted(request):
                response.headers[HEADER] = str(redacted)
            return response

        return handle_without_secrets


async def _remove_secrets(request: Request) -> None:
    """Remove the secrets from the JSON of the body, which the request keeps for the route.

    A body that is no JSON is left to the route, which refuses it. Of a batch, the route looks at
    each item, because an item fails alone. Raises SecretsRefused.
    """
    secrets: SecretRemover = request.app.state.secrets
    secrets.check_name("X-Agent-Id", request.headers.get("x-agent-id", ""))
    if request.url.path in BATCHED or not await request.body():
        return
    try:
        body = await request.json()
    except (ValueError, RecursionError):
        return
    request.state.redacted = await secrets.remove(body)


async def get_redacted(request: Request) -> int:
    """Return how many secrets were taken out of the body of the request."""
    return getattr(request.state, "redacted", 0)


RedactedDep = Annotated[int, Depends(get_redacted)]
