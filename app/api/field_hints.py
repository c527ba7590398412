"""Advice about a field that a request does not have: the right name, or where it belongs."""

import difflib
import re
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

# Names of other memory services and natural guesses, folded as `_fold_name` does.
_MEANINGS = {
    "text": ("content", "query"),
    "memory": ("content",),
    "fact": ("content",),
    "data": ("content",),
    "message": ("content",),
    "body": ("content",),
    "input": ("content",),
    "prompt": ("query",),
    "question": ("query", "q"),
    "search": ("query", "q"),
    "query": ("q",),
    "q": ("query",),
    "metadata": ("details",),
    "meta": ("details",),
    "properties": ("details",),
    "type": ("kind",),
    "memorytype": ("kind",),
    "categories": ("category",),
    "labels": ("tags",),
    "tag": ("tags", "tags_any"),
    "topk": ("limit",),
    "k": ("limit",),
    "top": ("limit",),
    "n": ("limit",),
    "maxresults": ("limit",),
    "pagesize": ("limit",),
    "threshold": ("min_score",),
    "scorethreshold": ("min_score",),
    "maxtokens": ("budget_tokens",),
    "budget": ("budget_tokens",),
    "tokens": ("budget_tokens",),
    "runid": ("session_id",),
    "conversationid": ("session_id",),
    "threadid": ("session_id",),
    "session": ("session_id",),
    "subject": ("entity",),
    "attribute": ("key",),
    "startdate": ("valid_from",),
    "since": ("valid_from",),
    "eventdate": ("valid_from",),
    "expiresat": ("valid_until",),
    "expirationdate": ("valid_until",),
    "until": ("valid_until",),
    "timestamp": ("at", "said_at"),
    "createdat": ("at", "said_at"),
    "date": ("at", "valid_from"),
    "page": ("cursor",),
    "offset": ("cursor",),
    "speaker": ("name",),
    # of Zep
    "referencetime": ("at", "said_at"),
    "roletype": ("role",),
    "groupid": ("session_id",),
    "episodebody": ("content",),
}
_ELSEWHERE = {
    "agentid": "the agent goes into the header X-Agent-Id",
    "agent": "the agent goes into the header X-Agent-Id",
    "xagentid": "the agent goes into the header X-Agent-Id",
    "userid": "whose memory it is goes into the header X-Agent-Id",
    "user": "whose memory it is goes into the header X-Agent-Id",
    "tenantid": "whose memory it is goes into the header X-Agent-Id",
    "apikey": "the key goes into the header X-API-Key, or Authorization: Bearer",
    "token": "the key goes into the header X-API-Key, or Authorization: Bearer",
    "idempotencykey": "it goes into the header Idempotency-Key",
    "ifmatch": "it goes into the header If-Match",
    "etag": "it goes into the header If-Match",
    "messages": "messages go to POST /v1/messages",
    "content": "content is never changed: POST /v1/memories/ID/supersede takes new content",
    "items": "many facts go to POST /v1/memories/batch",
}


# The fields of a message in a request that has several.
MESSAGE_FIELDS = {"role", "content", "id", "name", "at"}


def explain_unknown_field(
    endpoint: Callable[..., Any] | type[BaseModel] | None, location: Sequence[int | str]
) -> str:
    """Return what to do about the unknown field at `location` of a request to the endpoint."""
    name = str(location[-1])
    known = _list_names(endpoint, location) if endpoint else set()
    meant = find_meant_field(name, known)
    if not meant and "messages" in known:
        inner = name if name in MESSAGE_FIELDS else find_meant_field(name, MESSAGE_FIELDS)
        meant = f"messages[].{inner}" if inner else None
    if meant:
        return f"unknown field; did you mean `{meant}`?"
    elsewhere = _ELSEWHERE.get(_fold_name(name))
    if elsewhere:
        return f"unknown field; {elsewhere}"
    return "unknown field; leave it out or check its spelling"


def find_meant_field(name: str, known: set[str]) -> str | None:
    """Return which of the known fields an unknown one seems to mean; None if none."""
    folded = _fold_name(name)
    for candidate in known:
        if _fold_name(candidate) == folded:
            return candidate
    for candidate in _MEANINGS.get(folded, ()):
        if candidate in known:
            return candidate
    if folded in _ELSEWHERE:
        return None
    similar = difflib.get_close_matches(name[:100], sorted(known), n=1, cutoff=0.75)
    return similar[0] if similar else None


def _fold_name(name: str) -> str:
    return re.sub(r"[_\W]", "", name[:100]).casefold()


def _list_names(
    endpoint: Callable[..., Any] | type[BaseModel], location: Sequence[int | str]
) -> set[str]:
    """Return the names of the fields that the object at `location` takes."""
    models: list[type[BaseModel]]
    if isinstance(endpoint, type):
        models, parts = [endpoint], location[:-1]
    else:
        # The locations of an endpoint begin with `body` or `query`.
        hints: Mapping[str, Any] = typing.get_type_hints(endpoint)
        requests = [hint for name, hint in hints.items() if name in ("body", "query")]
        models, parts = [each for hint in requests for each in _find_models(hint)], location[1:-1]
    for part in parts:
        inner = [m.model_fields[part].annotation for m in models if part in m.model_fields]
        if inner:
            models = [model for hint in inner for model in _find_models(hint)]
    return {name for model in models for name in model.model_fields}


def _find_models(hint: Any) -> Iterator[type[BaseModel]]:
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        yield hint
    for inner in typing.get_args(hint):
        yield from _find_models(inner)
