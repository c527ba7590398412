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
    reads = []
    for first in range(0, len(wanted), _BATCH):
        batch = wanted[first : first + _BATCH]
        pages = call.client.list_memories(ids=batch, include_superseded=True, limit=_BATCH)
        reads.append(pages.page())
    memories: dict[str, Memory] = {}
    for page in await asyncio.gather(*reads):
        for memory in page["items"]:
            memories[memory["id"]] = memory
    return memories
