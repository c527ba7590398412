"""Many clients of several services at once."""

from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import httpx


@dataclass
class Crowd:
    """Clients of every service over one database, as one agent; requests go to the services in turn."""

    clients: Sequence[httpx.AsyncClient]
    turns: Iterator[httpx.AsyncClient] = field(init=False)

    def __post_init__(self) -> None:
        self.turns = cycle(self.clients)

    async def post(self, path: str, body: Any, **headers: str) -> httpx.Response:
        return await next(self.turns).post(path, json=body, headers=headers)

    async def store(self, body: dict[str, Any]) -> dict[str, Any]:
        """Stores a fact that must be taken."""
        response = await self.post("/v1/memories", body)
        assert response.is_success, response.text
        answer: dict[str, Any] = response.json()
        return answer

    async def get(self, path: str, **params: Any) -> dict[str, Any]:
        response = await next(self.turns).get(path, params=params)
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer

    async def history(self, memory_id: str) -> list[dict[str, Any]]:
        versions: list[dict[str, Any]] = (await self.get(f"/v1/memories/{memory_id}/history"))[
            "versions"
        ]
        return versions

    async def log(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = (await self.get("/v1/log", limit=1000))["items"]
        return rows


Race = Callable[[Callable[[Crowd], Coroutine[Any, Any, None]]], None]
