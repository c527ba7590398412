"""Reading the captures that wait: keys take turns, and the agents of each key do.

A worker looks for them twice a second. Sweeps run for hours in the one place for jobs, so captures
do not wait there.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from sqlalchemy.ext.asyncio import AsyncEngine

from app.fair_places import FairPlaces, Party, find_party
from app.services.background_tasks import BackgroundTasks
from app.services.captures import Capturer
from app.store.captures.runs import WaitingCapture, list_waiting_captures
from app.store.engine import begin_as_operator
from app.turns import serve_request

logger = logging.getLogger(__name__)

LOOK_EVERY = 0.5  # seconds
# Captures that one worker reads at a time. One key alone has half of these places.
AT_ONCE = 4
# Seconds after which a capture that could not be read is tried again.
RETRY_AFTER = 60.0
# Agents with captures that wait. More of them are found when these have their turns.
MOST_WAITING = 1_000


class CaptureRunner:
    """Reads the captures that wait, the oldest of each agent first."""

    def __init__(self, engine: AsyncEngine, captures: Capturer) -> None:
        self._engine = engine
        self._captures = captures
        self._places = FairPlaces("capture", AT_ONCE, queue=2 * MOST_WAITING, patience=None)
        self._running = BackgroundTasks[Party]()
        self._failed_at: dict[Party, float] = {}

    @asynccontextmanager
    async def read_in_background(self) -> AsyncIterator[None]:
        """Read what waits during the block. What is under way at its end is broken off."""
        async with self._running.work_beside(self._keep_looking()):
            yield

    async def read_waiting(self) -> None:
        """Read all captures that wait, and return when each is read or has failed."""
        while waiting := await self._list_waiting():
            await asyncio.gather(*map(self._read_capture, waiting))

    async def _keep_looking(self) -> None:
        while True:
            try:
                waiting = await self._list_waiting()
            except Exception as problem:
                logger.warning("Captures cannot be looked for: %s", type(problem).__name__)
                waiting = []
            oldest = time.monotonic() - RETRY_AFTER
            self._failed_at = {party: at for party, at in self._failed_at.items() if at > oldest}
            for capture in waiting:
                # A capture is read after the one of the same agent that is read now.
                party = find_party(capture.actor, capture.agent)
                if party not in self._running and party not in self._failed_at:
                    self._running.start(party, self._read_capture(capture))
            await asyncio.sleep(LOOK_EVERY)

    async def _list_waiting(self) -> Sequence[WaitingCapture]:
        async with begin_as_operator(self._engine) as connection:
            return await list_waiting_captures(connection, limit=MOST_WAITING)

    async def _read_capture(self, capture: WaitingCapture) -> None:
        """Read a capture in turns. A failure is counted on the capture, which is tried again."""
        party = find_party(capture.actor, capture.agent)
        try:
            async with self._places.hold(party) as place:
                with serve_request(party.key, is_short=False):
                    await self._captures.finish_capture(
                        capture.agent, capture.id, pass_turn=place.pass_on
                    )
        except Exception as problem:
            self._failed_at[party] = time.monotonic()
            logger.warning("A capture failed: %s", type(problem).__name__)
