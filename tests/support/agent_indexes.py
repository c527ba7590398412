"""Indexes of agents as a worker builds them, however small the agent is."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from app.domain.agent import AgentId
from app.domain.strength import HalfLives
from app.services.agent_indexes import AgentIndexKeeper
from app.settings import load_settings
from app.store.engine import Patience, create_engine

Result = TypeVar("Result")


def build_index(url: str, agent: str) -> None:
    """Build an index for the agent."""
    use_keeper(url, lambda keeper: keeper.build_index(AgentId(agent)))


def look_after_indexes(url: str, *, from_live: int, most: int = 10) -> None:
    """Let a worker look after all indexes once."""
    use_keeper(url, lambda keeper: keeper.look_after_indexes(), from_live=from_live, most=most)


def use_keeper(
    url: str,
    use: Callable[[AgentIndexKeeper], Awaitable[Result]],
    *,
    from_live: int = 1,
    most: int = 10,
) -> Result:
    async def run() -> Result:
        engine = create_engine(url, pool_size=3, patience=Patience())
        try:
            settings = load_settings()
            half_lives = HalfLives(settings.half_life_days_semantic, settings.half_life_days_core)
            keeper = AgentIndexKeeper(
                engine, half_lives, from_live=from_live, most=most, memory="64MB"
            )
            return await use(keeper)
        finally:
            await engine.dispose()

    return asyncio.run(run())
