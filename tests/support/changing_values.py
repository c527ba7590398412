"""Values that change: moves that signals find, and histories chosen at random."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from support.builders import editor, send, store

Row = dict[str, Any]

LATEST_DAY = datetime(2026, 1, 1, tzinfo=UTC)


def moves(client: httpx.Client, *people: str) -> list[Row]:
    """Of each person a residence, and another one, as signals find it."""
    for person in people:
        store(client, f"{person} lives in Porto")
    return [store(client, f"{person} moved to Lisbon") for person in people]


def change_at_random(client: httpx.Client, chance: random.Random) -> None:
    """Many writes: values that come and go in slots and chains, told in any order, some withdrawn, retracted or undone."""
    done: list[Row] = []
    for number in range(150):
        start = (LATEST_DAY - timedelta(days=chance.randint(1, 3000), seconds=number)).isoformat()
        said = {
            "value": chance.choice(("Vim", "vim", "Emacs", "Helix")),
            "valid_from": start,
            "kind": chance.choice(("fact", "preference")),
        }
        match chance.randrange(16):
            case 0 if done:
                client.post(
                    f"/v1/log/{chance.choice(done)['log_id']}/revert", json={"cascade": True}
                )
            case 2 if done:
                client.post(
                    f"/v1/memories/{chance.choice(done)['memory']['id']}/retract",
                    json={"never_true": True},
                )
            case 3 if done:
                client.post(
                    f"/v1/memories/{chance.choice(done)['memory']['id']}/retract",
                    json={"at": start},
                )
            case 4:
                done.append(
                    send(
                        client,
                        {
                            "content": f"Note {chance.randrange(4)}",
                            "valid_from": start,
                            "classify": False,
                        },
                    )
                )
            case 5 if done:
                body = {"content": f"Note {chance.randrange(4)}", "valid_from": start}
                answer = client.post(
                    f"/v1/memories/{chance.choice(done)['memory']['id']}/supersede", json=body
                )
                done += [answer.json()] if answer.is_success else []
            case _:
                done.append(
                    send(
                        client,
                        editor(**said, entity=chance.choice("ab"), content=f"Uses {said['value']}"),
                    )
                )
