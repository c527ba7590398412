"""Replays dated statements through POST /v1/memories in recorded order and asks the questions about one axis.

    replay_asof.py BASE FILE

Once with keys (entity, key, value on every fact), once from the text alone, each store in an agent of its own. Prints the share of
questions answered by key (with keys) and by the first and the first five search results (both).
"""

import gzip
import json
import sys
import uuid
from collections import Counter
from typing import Any

import httpx

Case = dict[str, Any]


def main() -> None:
    base, path = sys.argv[1:3]
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    with httpx.Client(base_url=base, timeout=120) as client:
        for keyed in (True, False):
            count: Counter[str] = Counter()
            for case in cases:
                replay(client, case, count, keyed=keyed)
            asked = count["asked"]
            name = "with keys" if keyed else "text alone"
            shares = [
                f"{what} {count[what] / asked:.3f}"
                for what in ("by key", "top-1", "top-5")
                if keyed or what != "by key"
            ]
            print(f"{name:10s} questions about one axis {asked:4d}  search " + "  ".join(shares))


def replay(client: httpx.Client, case: Case, count: Counter[str], *, keyed: bool) -> None:
    """Tells one store its statements and asks what held at each date."""
    client.headers["X-Agent-Id"] = f"replay-{uuid.uuid4().hex}"
    statements = sorted(case["statements"], key=lambda s: s["recorded_at"])
    place: dict[str, set[int]] = {}
    for statement in statements:
        tell(client, statement, place, keyed=keyed)
    for question in case["questions"]:
        if not question.get("known_at") and question["gold_ids"]:
            ask(client, question, {s["i"]: s for s in statements}, place, count, keyed=keyed)


def tell(client: httpx.Client, statement: Case, place: dict[str, set[int]], *, keyed: bool) -> None:
    """Stores a statement; one that ends a fact retracts what holds in its slot, or is told in its own words."""
    slot = {"entity": statement["subject"], "key": statement["attribute"]}
    start = statement["valid_from"] or statement["recorded_at"]
    if statement.get("op") == "end" and keyed:
        for memory in client.get("/v1/memories", params={**slot, "as_of": start}).json()["items"]:
            client.post(
                f"/v1/memories/{memory['id']}/retract", json={"at": start}
            ).raise_for_status()
        return
    until = {"valid_until": statement["valid_to"]} if statement.get("valid_to") else {}
    words = {**slot, "value": str(statement["value"])} if keyed else {}
    answer = client.post(
        "/v1/memories", json={"content": statement["text"], "valid_from": start, **until, **words}
    )
    answer.raise_for_status()
    memory = answer.json()["memory"]
    if memory:
        place.setdefault(memory["id"], set()).add(statement["i"])


def ask(
    client: httpx.Client,
    question: Case,
    facts: dict[int, Case],
    place: dict[str, set[int]],
    count: Counter[str],
    *,
    keyed: bool,
) -> None:
    gold = set(question["gold_ids"])
    when = {"as_of": question["as_of"]} if question.get("as_of") else {}
    results = client.get("/v1/search", params={"q": question["query"], "limit": 5, **when}).json()[
        "results"
    ]
    got = [place.get(result["memory"]["id"], set()) for result in results]
    count["asked"] += 1
    count["top-1"] += bool(got and got[0] & gold)
    count["top-5"] += any(found & gold for found in got)
    if keyed:
        slot = facts[min(gold)]
        listed = client.get(
            "/v1/memories", params={"entity": slot["subject"], "key": slot["attribute"], **when}
        ).json()["items"]
        count["by key"] += len(listed) == 1 and bool(place.get(listed[0]["id"], set()) & gold)


if __name__ == "__main__":
    main()
