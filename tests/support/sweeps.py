"""A service whose worker works when the test says so."""

import asyncio
from typing import Any

import httpx

from app.jobs.worker import run_worker
from app.settings import load_settings


class Place:
    """A service over a database of its own; a worker works when the test says so."""

    def __init__(self, url: str, client: httpx.Client) -> None:
        self.url, self.client = url, client

    def store(self, content: str, **said: Any) -> str:
        """Stored as it is, without asking any judge; its id."""
        answer = self.client.post(
            "/v1/memories", json={"content": content, "classify": False, **said}
        )
        assert answer.status_code == 201, answer.text
        found: str = answer.json()["memory"]["id"]
        return found

    def editor(self, value: str, **said: Any) -> str:
        return self.store(
            f"Uses {value}", **{"category": "tooling", "key": "editor", "value": value, **said}
        )

    def work(self, **settings: Any) -> None:
        """A worker from its start until there is nothing left to do."""
        asyncio.run(run_worker(load_settings(database_url=self.url, **settings), until_idle=True))

    def sweep(self, **asked: Any) -> dict[str, Any]:
        started = self.client.post("/v1/sweeps", json=asked)
        assert started.status_code == 202, started.text
        self.work()
        found: dict[str, Any] = self.client.get(f"/v1/sweeps/{started.json()['id']}").json()
        assert found["status"] == "done", found
        return found

    def memory(self, memory_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.client.get(f"/v1/memories/{memory_id}").json()
        return found

    def standing(self, *ids: str) -> list[str]:
        return [self.memory(i)["status"] for i in ids]

    def log(self, **asked: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.client.get("/v1/log", params=asked).json()["items"]
        return found
