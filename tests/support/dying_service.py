"""The service as a process that is killed when it starts to answer a marked call: after the commit, before the reply."""

import os
import signal
import sys

import uvicorn
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.main import create_app


class DiesBeforeReply:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_or_die(message: Message) -> None:
            if message["type"] == "http.response.start" and "X-Die" in Headers(scope=scope):
                os.kill(os.getpid(), signal.SIGKILL)
            await send(message)

        await self._app(scope, receive, send_or_die)


if __name__ == "__main__":
    uvicorn.run(DiesBeforeReply(create_app()), port=int(sys.argv[1]), log_level="warning")
