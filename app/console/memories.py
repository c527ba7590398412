"""Memories by their ids, for pages that name them."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from app.console.page_call import PageCall

_BATCH = 200
_MOST = 600

Memory = Mapping[str, Any]


async def find_memories(call: PageCall, ids: Iterable[str | None]) -> dict[str, Memory]:
    """Return the memories with these ids, whatever became of them; erased ones are missing."""
    wanted = list(dict.fromkeys(one for one in ids if one))[:_MOST]
    batches = [wanted[first : first + _BATCH] for first in range(0, len(wanted), _BATCH)]
    read = await asyncio.gather(*(_read(call, batch) for batch in batches))
    return {memory["id"]: memory for batch in read for memory in batch}


async def _read(call: PageCall, ids: list[str]) -> list[Memory]:
    pages = call.client.list_memories(ids=ids, include_superseded=True, limit=_BATCH)
    return list((await pages.page())["items"])
