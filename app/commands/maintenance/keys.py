"""`palimpsest keys`: issue, list, revoke and rotate keys, in the database itself."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from pydantic import ValidationError

from app.api.answers.keys import IssuedKeyOut, KeyOut
from app.api.problems import invalid_input
from app.api.schemas.keys import KeyRequest, RotateRequest
from app.commands.client.calling import Failure
from app.commands.client.printing import format_time, print_json, print_table
from app.domain.keys import EVERYTHING, Actor, KeyId
from app.services.keys import IssuedKey, KeyIssuer
from app.settings import Settings
from app.wiring import Process, open_services

Result = TypeVar("Result")

COMMAND = Actor("command", EVERYTHING)
MOST_LISTED = 10_000
HEADINGS = ["id", "scopes", "agents", "trust", "expires", "revoked", "last used", "name"]


def parse_key_request(
    name: str, scopes: list[str], agents: list[str], trust_ceiling: int, days: float | None
) -> KeyRequest:
    """Return what to issue. Raises Failure for values that no key can have."""
    values = {"name": name, "scopes": scopes, "agents": agents, "trust_ceiling": trust_ceiling}
    if days is not None:
        try:
            values["expires_at"] = datetime.now(UTC) + timedelta(days=days)
        except (OverflowError, ValueError):
            raise Failure(
                "--days: the calendar ends before that. Leave it out for no end."
            ) from None
    try:
        return KeyRequest.model_validate(values)
    except ValidationError as error:
        raise Failure(invalid_input(error.errors()).detail) from None


def create_key(settings: Settings, request: KeyRequest, *, as_json: bool) -> None:
    """Issue a key and print it. Standard error says if no service asks for keys."""

    async def issue_key(keys: KeyIssuer) -> IssuedKey:
        return await keys.issue_key(
            COMMAND, request.name, request.to_rights(), expires_at=request.expires_at
        )

    _print_issued(_run(settings, issue_key), as_json=as_json)
    if settings.api_key is None:
        print(
            "PALIMPSEST_API_KEY is not set here. A service without it asks for no key at all.",
            file=sys.stderr,
        )


def rotate_key(settings: Settings, key_id: str, *, overlap: int, as_json: bool) -> None:
    """Replace a key and print the new one. Raises UnknownKey and KeyEnded."""
    try:
        request = RotateRequest(overlap=overlap)
    except ValidationError as error:
        raise Failure(invalid_input(error.errors()).detail) from None

    async def rotate(keys: KeyIssuer) -> IssuedKey:
        return await keys.rotate_key(COMMAND, KeyId(key_id), overlap=request.to_overlap())

    _print_issued(_run(settings, rotate), as_json=as_json)


def revoke_key(settings: Settings, key_id: str) -> None:
    """End a key now. Raises UnknownKey."""
    key = _run(settings, lambda keys: keys.revoke_key(COMMAND, KeyId(key_id)))
    print(f"{key.id} ({key.name}) is revoked; every service refuses it within a second.")


def list_keys(settings: Settings, *, as_json: bool) -> None:
    """Print every key, those that have ended included."""
    listed = _run(settings, lambda keys: keys.list_keys(COMMAND, limit=MOST_LISTED, after=""))
    answers = [KeyOut.from_key(key).model_dump(mode="json") for key in listed]
    if as_json:
        print_json({"items": answers})
        return
    rows = []
    for key in answers:
        times = [format_time(key[at]) for at in ("expires_at", "revoked_at", "last_used_at")]
        lists = [" ".join(key["scopes"]), " ".join(key["agents"])]
        rows.append([key["id"], *lists, str(key["trust_ceiling"]), *times, key["name"]])
    print_table(HEADINGS, rows)


def _print_issued(issued: IssuedKey, *, as_json: bool) -> None:
    if as_json:
        print_json(IssuedKeyOut.from_issued(issued).model_dump(mode="json"))
        return
    print(issued.text)
    print("This is the only time that it is shown.", file=sys.stderr)


def _run(settings: Settings, work: Callable[[KeyIssuer], Awaitable[Result]]) -> Result:
    async def run_with_services() -> Result:
        async with open_services(settings, Process.MAINTENANCE) as services:
            return await work(services.keys)

    return asyncio.run(run_with_services())
