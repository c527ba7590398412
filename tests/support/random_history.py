"""Writes of every kind, chosen at random."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx


def random_writes(client: httpx.Client, pick: random.Random, times: int) -> None:
    """All kinds of writes, refused ones among them."""
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    for number in range(times):
        ids = [
            m["id"]
            for m in client.get(
                "/v1/memories", params={"include_superseded": True, "limit": 1000}
            ).json()["items"]
        ]
        date = (
            {"valid_from": (today + timedelta(days=pick.randrange(-50, 50))).isoformat()}
            if pick.random() < 0.5
            else {}
        )
        value = pick.choice("abc")
        fact: dict[str, Any] = {
            "content": f"fact {value}",
            "importance": pick.choice([0.1, 0.9]),
            "tags": [value],
            **date,
        }
        end = (today + timedelta(days=pick.randrange(51, 80))).isoformat()
        stated_end = {"valid_until": end} if pick.random() < 0.3 else {}
        some = pick.choice(ids) if ids else None
        match pick.randrange(8):
            case 0 | 1 | 2:
                client.post(
                    "/v1/memories",
                    json={
                        **fact,
                        **stated_end,
                        "key": pick.choice(["s", "t"]),
                        "value": value,
                        "tier": pick.choice(["core", "semantic"]),
                    },
                )
            case 3:
                client.post(
                    f"/v1/memories/{some}/supersede", json={**fact, "content": f"new {number}"}
                )
            case 4:
                client.post(
                    f"/v1/memories/{some}/retract", json=pick.choice([{}, {"never_true": True}])
                )
            case 5:
                client.patch(
                    f"/v1/memories/{some}",
                    json=pick.choice(
                        [{"importance": 0.3}, {"tags": ["patched"]}, date or {"trust": 3}]
                    ),
                )
            case 6:
                client.post(
                    f"/v1/memories/{some}/supersede", json={"by": pick.choice(ids) if ids else None}
                )
            case 7 if pick.random() < 0.4:
                client.delete(f"/v1/memories/{some}", params={"erase": True})


TEXTS = [
    "I live in Porto",
    "I moved to Lisbon",
    "I play tennis",
    "I no longer play tennis",
    "I moved to Faro",
    "The Falcon app was written by Anna",
    "The Falcon app has 12000 users",
    "The Falcon app has a dark mode",
    "I moved to Faro",
]
