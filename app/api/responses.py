"""Answers as responses."""

import asyncio
from collections.abc import Callable
from datetime import datetime

from starlette.responses import Response
from starlette.types import Send

from app.api.answers.base import AnswerBase
from app.api.answers.brief import shorten_answer
from app.api.answers.memories import MemoryOut, format_etag
from app.api.views import View
from app.domain.strength import HalfLives
from app.domain.version import Memory


def respond_with_answer(
    answer: AnswerBase,
    status: int = 200,
    headers: dict[str, str] | None = None,
    view: View = View.FULL,
) -> Response:
    """Return the answer as JSON.

    It is not validated again, because the service made its values itself.
    """
    shown = shorten_answer(answer) if view is View.BRIEF else answer
    body = shown.model_dump_json(exclude_defaults=shown.leaves_out_empty)
    return Response(body, status, headers, media_type="application/json")


async def respond_with_long_answer(
    build: Callable[[], AnswerBase], view: View = View.FULL
) -> Response:
    """Build an answer of many items and return it as JSON.

    This happens in a thread: an answer of a thousand items takes 50 ms.
    """
    return await asyncio.to_thread(lambda: respond_with_answer(build(), view=view))


def respond_with_memory(
    memory: Memory, as_of: datetime, half_lives: HalfLives, view: View
) -> Response:
    """Return one memory, with its ETag."""
    answer = MemoryOut.from_memory(memory, as_of, half_lives)
    return respond_with_answer(answer, headers={"ETag": format_etag(memory.revision)}, view=view)


async def send_block(send: Send, block: bytes, *, more: bool = True) -> None:
    """Send a block of a streamed body; the last one has `more=False`."""
    await send({"type": "http.response.body", "body": block, "more_body": more})
