"""Connections of a served process: how many there are, and how long one may keep silent.

uvicorn itself waits for a request as long as its caller likes, reads a head of any length, and
takes connections until the process has no descriptors left for anybody.
"""

import asyncio
import logging
import resource

from starlette.datastructures import State
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from app.settings import Settings

logger = logging.getLogger(__name__)

HEAD_DEADLINE = 10.0  # seconds that the head of a request may take
# Seconds without anything read of an answer that waits. A slow line reads something meanwhile.
ANSWER_DEADLINE = 30.0
MAX_HEAD = 64 * 1024  # bytes
# Files, connections to the database and to models.
OTHER_DESCRIPTORS = 500


class BoundedConnection(HttpToolsProtocol):
    """A connection whose requests begin in time, and that gives way if there are too many.

    `waits_since` is when it last sent something of a request that is not whole yet, or when its
    last answer ended; None while a whole request is worked on.
    """

    waits_since: float | None = None
    _deadline: asyncio.TimerHandle | None = None
    _answer_deadline: asyncio.TimerHandle | None = None
    _head_bytes = 0
    _is_in_head = False
    _is_in_body = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait_for_head()
        settings: Settings = _get_state(self.config).settings
        if len(self.connections) > settings.max_connections_per_address:
            address = self.client and self.client[0]
            neighbours = [
                one for one in self._list_open() if (one.client and one.client[0]) == address
            ]
            _make_room(neighbours, settings.max_connections_per_address)
        if len(self.connections) > settings.max_connections:
            _make_room(self._list_open(), settings.max_connections)

    def data_received(self, data: bytes) -> None:
        if self.waits_since is not None:
            self.waits_since = self.loop.time()
        # The rest of a body that was refused may still come, and is no head.
        if self._deadline is not None and not self._is_in_body:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD + len(data):
                self.abort()
                return
        super().data_received(data)
        # A lone line end begins no request, but ends uvicorn's patience with an idle connection.
        is_between_requests = self.cycle is None or self.cycle.response_complete
        if self.waits_since is not None and is_between_requests:
            self._wait_for_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_in_head = True

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._is_in_head:  # what trails a body came after the key was checked
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        self._is_in_body = True
        self._head_bytes = 0
        self._clear_deadline()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._is_in_body = False
        self.waits_since = None
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.response_complete:
            self.waits_since = self.loop.time()

    def shutdown(self) -> None:
        """End as the server does. Whoever waits for events is answered first, and at once."""
        state = _get_state(self.config)
        if hasattr(state, "services"):
            state.services.events.stop_waiting()
        super().shutdown()

    def pause_writing(self) -> None:
        """Note that the caller reads more slowly than the answer is sent."""
        super().pause_writing()
        self._answer_deadline = self.loop.call_later(ANSWER_DEADLINE, self.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._clear_answer_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._clear_deadline()
        self._clear_answer_deadline()
        super().connection_lost(exc)

    def abort(self) -> None:
        self.transport.abort()

    def _wait_for_head(self) -> None:
        self.waits_since = self.loop.time()
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_DEADLINE, self.abort)

    def _clear_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _clear_answer_deadline(self) -> None:
        if self._answer_deadline is not None:
            self._answer_deadline.cancel()
            self._answer_deadline = None

    def _list_open(self) -> list["BoundedConnection"]:
        return [
            one
            for one in self.connections
            if isinstance(one, BoundedConnection) and not one.transport.is_closing()
        ]


def _make_room(present: list[BoundedConnection], most: int) -> None:
    """Close the one that waits longest, if there are more than `most`."""
    waiting = [one for one in present if one.waits_since is not None]
    if len(present) > most and waiting:
        min(waiting, key=lambda one: one.waits_since or 0.0).abort()


def _get_state(config: Config) -> State:
    """Return the state of the application that the connections lead to."""
    app = config.loaded_app
    while not hasattr(app, "state"):
        app = app.app
    state: State = app.state
    return state


def raise_descriptor_limit(settings: Settings) -> None:
    """Let the process open as many connections as the settings allow, if the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = settings.max_connections + OTHER_DESCRIPTORS
    if soft >= wanted or soft == resource.RLIM_INFINITY:
        return
    within = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (within, hard))
    if within < wanted:
        logger.warning(
            "the system allows fewer open files than PALIMPSEST_MAX_CONNECTIONS needs",
            extra={"allowed": within, "needed": wanted},
        )
