"""The service or a worker as a process that kills itself: before it answers a marked call, or while it reads a marked message.

The first is after the commit and before the reply, the second between the messages and their facts.
"""

import asyncio
import os
import signal
import sys
from typing import Any

import uvicorn
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.jobs.worker import run_worker
from app.main import create_app
from app.services.message_reader import MessageReader
from app.settings import load_settings

MARK = "Die while this is read."


class DiesBeforeReply:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_or_die(message: Message) -> None:
            if message["type"] == "http.response.start" and "X-Die" in Headers(scope=scope):
                die()
            await send(message)

        await self._app(scope, receive, send_or_die)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_while_reading() -> None:
    """Let this process die when it reads a message with the mark."""
    read_messages = MessageReader.read_messages

    async def read_or_die(
        self: MessageReader, agent: Any, extract: Any, turns: Any, **more: Any
    ) -> Any:
        if any(MARK in turn.content for turn in turns):
            die()
        return await read_messages(self, agent, extract, turns, **more)

    MessageReader.read_messages = read_or_die  # type: ignore[method-assign]


if __name__ == "__main__":
    die_while_reading()
    if sys.argv[1] == "worker":
        asyncio.run(run_worker(load_settings(), until_idle=True))
    else:
        uvicorn.run(DiesBeforeReply(create_app()), port=int(sys.argv[1]), log_level="warning")
