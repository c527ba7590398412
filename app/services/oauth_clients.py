"""Clients of OAuth by their ids: registered ones, and those that describe themselves at an address.

The latter are Client ID Metadata Documents (draft-ietf-oauth-client-id-metadata-document).
"""

import asyncio
import json
import time
from collections import OrderedDict
from typing import Any
from urllib.parse import urlsplit

import httpx

from app.domain.oauth import OAuthClient, OAuthError, clean_name
from app.remote.public_http import AddressRefused, PublicClient, PublicRequest

# Seconds.
FETCH_TIMEOUT = 5.0
REMEMBERED_FOR = 300.0
FAILURE_REMEMBERED_FOR = 30.0
# Anybody may name an address, so few are asked at once, and each of them seldom.
MOST_FETCHES = 4
MOST_REMEMBERED = 1_000
LONGEST_ADDRESS = 2_000
MOST_BYTES = 16_384

Outcome = OAuthClient | OAuthError


class OAuthClients:
    """Finds clients. What an address answered is believed for five minutes, a failure for less."""

    def __init__(self, http: PublicClient) -> None:
        self._http = http
        self._remembered: OrderedDict[str, tuple[Outcome, float]] = OrderedDict()
        self._fetches = 0

    async def find_client(self, client_id: str) -> OAuthClient:
        """Return the client of this id. Raises OAuthError."""
        if not client_id.startswith("https://"):
            return OAuthClient.parse(client_id)
        if len(client_id) > LONGEST_ADDRESS:  # it would be remembered
            raise OAuthError("invalid_client", "The address that is the client's id is too long.")
        outcome, until = self._remembered.get(client_id, (None, 0.0))
        if outcome is None or until < time.monotonic():
            outcome = await self._fetch(client_id)
            life = FAILURE_REMEMBERED_FOR if isinstance(outcome, OAuthError) else REMEMBERED_FOR
            self._remembered[client_id] = outcome, time.monotonic() + life
            self._remembered.move_to_end(client_id)
            if len(self._remembered) > MOST_REMEMBERED:
                self._remembered.popitem(last=False)
        if isinstance(outcome, OAuthError):
            raise OAuthError(outcome.code, outcome.description)
        return outcome

    async def _fetch(self, client_id: str) -> Outcome:
        if self._fetches >= MOST_FETCHES:
            busy = "Too many clients are looked up now. Try again in a few seconds."
            raise OAuthError("temporarily_unavailable", busy)
        request = PublicRequest(
            method="GET",
            address=client_id,
            headers={"Accept": "application/json", "Accept-Encoding": "identity"},
            most_bytes=MOST_BYTES,
        )
        self._fetches += 1
        try:
            async with asyncio.timeout(FETCH_TIMEOUT):
                status, body = await self._http.send(request)
        except AddressRefused as refused:
            return OAuthError("invalid_client", f"The client's id is no address to ask: {refused}")
        except (httpx.HTTPError, httpx.InvalidURL, OSError, TimeoutError, ValueError):
            return OAuthError("invalid_client", "The address that is the client's id is silent.")
        finally:
            self._fetches -= 1
        try:
            if status != 200:
                raise ValueError
            return _read_document(client_id, json.loads(body))
        except (ValueError, TypeError, KeyError, RecursionError):
            description = "The address that is the client's id does not describe this client."
            return OAuthError("invalid_client", description)
        except OAuthError as problem:
            return problem


def _read_document(client_id: str, document: Any) -> OAuthClient:
    if urlsplit(client_id).path in ("", "/"):
        raise ValueError
    name, redirect_uris = document["client_name"], document["redirect_uris"]
    is_complete = document["client_id"] == client_id and isinstance(redirect_uris, list)
    if not is_complete or not all(isinstance(text, str) for text in (name, *redirect_uris)):
        raise ValueError
    return OAuthClient(client_id, clean_name(name), tuple(redirect_uris))
