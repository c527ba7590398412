"""Seconds that each page of the console takes: `python -m bench.console URL AGENT [KEY]`."""

import statistics
import sys
import time
from collections.abc import Iterator

import httpx

ROUNDS = 7


def list_paths(client: httpx.Client) -> Iterator[tuple[str, str]]:
    """Yield the name and the address of a page of every kind."""
    listed = {"include_superseded": "1", "key": "slot1", "limit": "1"}
    memory = client.get("/v1/memories", params=listed).json()["items"][0]["id"]
    entry = client.get("/v1/log", params={"limit": "1"}).json()["items"][0]["id"]
    yield "now", "/ui"
    yield "now, at another moment", "/ui?as_of=2025-01-01&known_at=2025-06-01"
    yield "now, a search", "/ui?q=repaired+the+boat"
    yield "now, one category", "/ui?category=garden"
    yield "a fact", f"/ui/facts/{memory}"
    yield "ask", "/ui/ask?q=who+planted+the+melon"
    yield "ask, as a prompt gets it", "/ui/ask?view=context"
    yield "reviews", "/ui/reviews"
    yield "log", "/ui/log"
    yield "an operation", f"/ui/log/{entry}"
    yield "undo", f"/ui/undo?log_id={entry}"
    yield "captures", "/ui/captures"
    yield "sweeps", "/ui/sweeps"
    for section in ("churn", "flip_flops", "lifetimes", "retire_rates", "stale_constraints"):
        yield f"insights, {section}", f"/ui/insights?period=all&section={section}"
    yield "settings", "/ui/agent"
    yield "agents", "/ui/agents"


def measure_page(client: httpx.Client, path: str, agent: str) -> list[float]:
    """Return the milliseconds of each round, the first one left out."""
    address = f"{path}{'&' if '?' in path else '?'}agent={agent}"
    times = []
    for _ in range(ROUNDS + 1):
        began = time.perf_counter()
        answer = client.get(address)
        times.append(1000 * (time.perf_counter() - began))
        assert answer.status_code == 200, (path, answer.status_code)
    return times[1:]


def main() -> None:
    url, agent, *key = sys.argv[1:]
    headers = {"X-Agent-Id": agent} | ({"X-API-Key": key[0]} if key else {})
    print("| page | median ms | slowest of 7 |\n| --- | --- | --- |")
    with httpx.Client(base_url=url, headers=headers, timeout=60) as client:
        if key:
            client.post("/ui/login", data={"key": key[0]})
        for name, path in list_paths(client):
            times = measure_page(client, path, agent)
            print(f"| {name} | {statistics.median(times):.0f} | {max(times):.0f} |", flush=True)


if __name__ == "__main__":
    main()
