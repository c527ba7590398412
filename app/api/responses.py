"""Answers as responses."""

import asyncio
from collections.abc import Callable
from datetime import datetime

from pydantic import BaseModel
from starlette.responses import Response

from app.api.answers.memories import MemoryOut, format_etag
from app.domain.strength import HalfLives
from app.domain.version import Memory


def respond_with_answer(
    answer: BaseModel, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """Return the answer as JSON.

    It is not validated again, because the service made its values itself.
    """
    return Response(answer.model_dump_json(), status, headers, media_type="application/json")


async def respond_with_long_answer(build: Callable[[], BaseModel]) -> Response:
    """Build an answer of many items and return it as JSON.

    This happens in a thread: an answer of a thousand items takes 50 ms.
    """
    return await asyncio.to_thread(lambda: respond_with_answer(build()))


def respond_with_memory(memory: Memory, as_of: datetime, half_lives: HalfLives) -> Response:
    """Return one memory, with its ETag."""
    answer = MemoryOut.from_memory(memory, as_of, half_lives)
    return respond_with_answer(answer, headers={"ETag": format_etag(memory.revision)})
