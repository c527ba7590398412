"""What a sweep retires against what classifying at write time retires, over the labelled cases of `../shared/eval`.

    replay_sweep.py BASE [--every N] FILE…

Each case is stored twice, in agents of their own: once with the new fact classified as it comes, once with everything unclassified. The
second is then swept, first for the new fact alone (`since`), then whole.
"""

import gzip
import json
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

import httpx

Case = dict[str, Any]
RETIRES = {"UPDATE", "CONTRADICTION", "RETRACTION"}
AT_ONCE = 100


def main(base: str, paths: list[str]) -> None:
    every = 1
    if paths[0] == "--every":
        every, paths = int(paths[1]), paths[2:]
    headings = ("cases", "write", "sweep", "both", "only write", "only sweep", "whole", "right")
    print(f"{'':34s} " + " ".join(f"{heading:>10s}" for heading in headings))
    everything: Counter[str] = Counter()
    with httpx.Client(base_url=base, timeout=120) as client, ThreadPoolExecutor(4) as pool:
        for path in paths:
            counted = sum(
                (
                    compared(client, pool, cases)
                    for cases in some(islice(cases_of(path), 0, None, every))
                ),
                Counter(),
            )
            print(line(Path(path).name.split(".")[0], counted), flush=True)
            everything += counted
    print(line("all", everything))


def some(cases: Iterator[Case]) -> Iterator[tuple[Case, ...]]:
    while chunk := tuple(islice(cases, AT_ONCE)):
        yield chunk


def line(name: str, counted: Counter[str]) -> str:
    whole, right, both = counted["whole"], counted["whole right"], counted["both"]
    numbers = (
        counted["cases"],
        counted["write"],
        counted["sweep"],
        both,
        counted["write"] - both,
        counted["sweep"] - both,
        whole,
    )
    return (
        f"{name:34s} "
        + " ".join(f"{number:10d}" for number in numbers)
        + (f" {right / whole:10.3f}" if whole else f"{'-':>11s}")
    )


def cases_of(path: str) -> Iterator[Case]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def compared(
    client: httpx.Client, pool: ThreadPoolExecutor, cases: tuple[Case, ...]
) -> Counter[str]:
    """Facts retired, over these cases: at write, by the sweep of the new fact, by both, by the sweep of everything."""
    at_write = list(pool.map(lambda case: classified(client, case), cases))
    stored = list(pool.map(lambda case: unclassified(client, case), cases))
    swept = after_sweeps(client, pool, stored, [{"since": since} for *_, since in stored])
    whole = after_sweeps(client, pool, stored, [{} for _ in stored])
    counted: Counter[str] = Counter(cases=len(cases))
    for case, write, sweep, all_of_it in zip(cases, at_write, swept, whole, strict=True):
        gold = case["gold"]
        targets = (
            set(gold["targets"]) if RETIRES & {gold["relation"], *gold.get("accept", [])} else set()
        )
        counted.update(
            write=len(write), sweep=len(sweep), both=len(write & sweep), whole=len(all_of_it)
        )
        counted["whole right"] += len(all_of_it & (targets | set(gold.get("ignore", []))))
    return counted


def dated(case: Case) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The scope and the new fact; dates go along only where the new fact is the latest, as in `run.py`."""
    at = case["new"].get("at")
    in_order = at and all(fact.get("at") and fact["at"] < at for fact in case["scope"])
    scope = [
        {"content": f["text"]} | ({"valid_from": f["at"]} if in_order else {})
        for f in case["scope"]
    ]
    return scope, {"content": case["new"]["text"]} | ({"valid_from": at} if in_order else {})


def store(client: httpx.Client, head: dict[str, str], scope: list[dict[str, Any]]) -> list[str]:
    answer = client.post(
        "/v1/memories/batch",
        json={"items": [{**fact, "classify": False} for fact in scope]},
        headers=head,
    )
    return [result["memory"]["id"] for result in answer.raise_for_status().json()["results"]]


def classified(client: httpx.Client, case: Case) -> set[int]:
    """The places of the facts of the scope that a classified store of the new one retired."""
    head = {"X-Agent-Id": f"write-{uuid.uuid4().hex}"}
    scope, new = dated(case)
    ids = store(client, head, scope)
    client.post("/v1/memories", json=new, headers=head).raise_for_status()
    return retired(client, head, ids)


def unclassified(client: httpx.Client, case: Case) -> tuple[dict[str, str], list[str], str]:
    head = {"X-Agent-Id": f"sweep-{uuid.uuid4().hex}"}
    scope, new = dated(case)
    ids = store(client, head, scope)
    answer = (
        client.post("/v1/memories", json={**new, "classify": False}, headers=head)
        .raise_for_status()
        .json()
    )
    return head, ids, answer["known_at"]


def after_sweeps(
    client: httpx.Client,
    pool: ThreadPoolExecutor,
    stored: list[tuple[dict[str, str], list[str], str]],
    asked: list[dict[str, Any]],
) -> list[set[int]]:
    """What is retired in each agent when all have been swept."""
    started = []
    for (head, *_), body in zip(stored, asked, strict=True):
        answer = client.post("/v1/sweeps", json=body, headers=head).raise_for_status().json()
        started.append((head, answer["id"]))
    for head, sweep_id in started:
        while (status := client.get(f"/v1/sweeps/{sweep_id}", headers=head).json()["status"]) in (
            "queued",
            "running",
        ):
            time.sleep(0.02)
        assert status == "done", status
    return list(pool.map(lambda one: retired(client, one[0], one[1]), stored))


def retired(client: httpx.Client, head: dict[str, str], ids: list[str]) -> set[int]:
    listed = (
        client.get("/v1/memories", params={"limit": 200}, headers=head)
        .raise_for_status()
        .json()["items"]
    )
    holds = {memory["id"] for memory in listed}
    return {place for place, memory_id in enumerate(ids) if memory_id not in holds}


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
