"""Who calls, by the key of the call.

Every call with a key asks here, before anything else is known about it. What is asked of the
database therefore stays small, whatever keys come.
"""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import psycopg
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from app.domain.keys import Actor, ApiKey, KeyId, PresentedKey
from app.services.background_tasks import flush_in_background
from app.store import keys
from app.store.engine import begin_for_keys, read_clock

logger = logging.getLogger(__name__)

# Seconds that a key is believed. A revoked one stops everywhere within this time.
MAX_AGE = 1.0
# Keys that are remembered, unknown ids included; about 10 MB.
MOST_REMEMBERED = 10_000
# Seconds between two writes of the times at which keys were used.
WRITE_EVERY = 60.0


@dataclass(frozen=True, slots=True)
class _Reading:
    """A key as it was read at a time of the monotonic clock; None if there is no such key."""

    key: ApiKey | None
    at: float

    @property
    def is_fresh(self) -> bool:
        return time.monotonic() < self.at + MAX_AGE


class KeyReader:
    """Reads each key at most once a second.

    One statement runs at a time, for all ids that came meanwhile, so that a flood of unknown ids
    takes one connection and delays nobody for longer than two statements.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._readings: OrderedDict[KeyId, _Reading] = OrderedDict()
        self._wanted: set[KeyId] = set()
        self._next: asyncio.Task[Mapping[KeyId, ApiKey]] | None = None
        self._one_at_a_time = asyncio.Lock()
        self._used: dict[KeyId, float] = {}

    async def find_actor(self, presented: PresentedKey) -> Actor | None:
        """Return who calls with this key; None if it is wrong, revoked or has expired."""
        key = await self._find_key(presented.id)
        if key is None or not key.has_secret(presented.secret):
            return None
        if not key.is_valid(datetime.now(UTC)):
            return None
        self._used[key.id] = time.monotonic()
        return key.actor

    async def _find_key(self, key_id: KeyId) -> ApiKey | None:
        reading = self._readings.get(key_id)
        if reading and reading.is_fresh:
            return reading.key
        self._wanted.add(key_id)
        if self._next is None:
            self._next = asyncio.create_task(self._read_wanted())
        # The other calls that wait for it need it, even if this one is cancelled.
        known = await asyncio.shield(self._next)
        return known.get(key_id)

    async def _read_wanted(self) -> Mapping[KeyId, ApiKey]:
        async with self._one_at_a_time:
            wanted, self._wanted, self._next = self._wanted, set(), None
            at = time.monotonic()
            async with begin_for_keys(self._engine) as connection:
                known = await keys.find_keys(connection, wanted)
        for key_id in wanted:
            self._readings[key_id] = _Reading(known.get(key_id), at)
            self._readings.move_to_end(key_id)
            if len(self._readings) > MOST_REMEMBERED:
                self._readings.popitem(last=False)
        return known

    # --- last uses -------------------------------------------------------------------------------

    def write_uses_in_background(self) -> AbstractAsyncContextManager[None]:
        """Write when keys were used, once a minute during the block, and at its end."""
        return flush_in_background(self.write_uses, WRITE_EVERY)

    async def write_uses(self) -> None:
        """Write when keys were used since the last time. What cannot be written now comes later."""
        used, self._used = self._used, {}
        if not used:
            return
        try:
            async with begin_for_keys(self._engine) as connection:
                now, here = await read_clock(connection), time.monotonic()
                times = {key: now - timedelta(seconds=here - used[key]) for key in used}
                await keys.note_key_uses(connection, times)
        except (SQLAlchemyError, psycopg.Error, OSError) as problem:
            logger.warning("uses of keys are not written for now: %s", type(problem).__name__)
            self._used = used | self._used
