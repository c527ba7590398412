"""A history with something of every kind, and damage done to it for the doctor to find."""

from dataclasses import dataclass
from typing import Any

import httpx
import psycopg
import pytest
from psycopg import sql

from app.domain.agent import AgentId
from app.planning.audit.faults import Fault
from support.builders import editor, send, store
from support.messages import capture, list_facts
from support.scripted_model import ScriptedModel, every

AGENT = AgentId("patient")
UNKNOWN = "00000000-0000-7000-8000-000000000000"

Names = dict[str, str]


def tell(client: httpx.Client, model: ScriptedModel) -> Names:
    """A history with something of every kind; the ids of what the damages below are done to."""
    names = {"unknown": UNKNOWN}

    def remember(name: str, answer: dict[str, Any]) -> dict[str, Any]:
        names[name + "_log"] = answer["log_id"]
        names[name] = (answer["memory"] or {}).get("id", "")
        return answer

    for value, year in (("Vim", 2018), ("Emacs", 2020), ("Helix", 2022)):
        remember(
            value.lower(),
            send(client, editor(value, valid_from=f"{year}-01-01", tags=["tools"], importance=0.4)),
        )
    remember("dog", store(client, "Has a dog"))
    remember("again", store(client, "Has a dog"))
    undone = remember("undone", store(client, "Has a dog"))
    names["revert_log"] = client.post(f"/v1/log/{undone['log_id']}/revert").json()["log_id"]
    remember("stamps", store(client, "Collects stamps"))
    store(client, "Collects stamps")
    model.then(every("NONE"))
    remember("home", store(client, "I live in Porto"))
    remember("falcon", store(client, "The Falcon app was written by Anna"))
    for name, relation, text in (
        ("related", every("OVERLAP"), "The Falcon app has 12000 users"),
        ("merge", every("COMPLEMENT"), "The Falcon app has a dark mode"),
        ("flagged", every("CONTRADICTION", 0.6), "The Falcon app was written by Berta"),
    ):
        model.then(relation)
        remember(name, flagged := store(client, text))
    names["review"] = flagged["review_id"]
    model.then(every("NONE"))
    store(client, "The Falcon app was written by Carla")
    client.patch(
        f"/v1/memories/{names['dog']}", json={"importance": 0.8, "valid_from": "2021-01-01"}
    )
    remember("wrong", store(client, "Owns a yacht", classify="off"))
    client.post(f"/v1/memories/{names['wrong']}/retract", json={"never_true": True})
    ended = store(client, "Plays tennis", classify="off")
    client.post(f"/v1/memories/{ended['memory']['id']}/retract", json={})
    remember(
        "secret", store(client, "The code is Zebra", session_id="s", key="code", value="Zebra")
    )
    keyed = client.post(
        "/v1/memories",
        json={"content": "Told once", "classify": "off"},
        headers={"Idempotency-Key": "k"},
    )
    remember("keyed", keyed.json())
    for name, text in (("boat", "My boat is called Ada."), ("word", "My dog is called Zebra.")):
        answer = capture(client, text, wait=True)
        names[f"{name}_capture"] = answer["capture_id"]
        remember(name, list_facts(answer)[0]["answer"])
    for name in ("secret", "word"):
        client.delete(f"/v1/memories/{names[name]}", params={"erase": True})
    for target in ("vim", "home"):
        by_hand = {"type": "causes", "target_id": names[target]}
        names[f"{target}_link"] = client.post(
            f"/v1/memories/{names['dog']}/relationships", json=by_hand
        ).json()["log_id"]
    client.post(f"/v1/log/{names['home_link']}/revert")
    return names


def drop_rules(url: str) -> None:
    """Takes away what keeps a database from most damage: its checks and foreign keys.

    On a cluster, a table's parts on the coordinator lose theirs with the table.
    """
    find = """
        SELECT CAST(conrelid AS regclass), conname FROM pg_constraint
        WHERE contype IN ('c', 'f') AND connamespace = CAST('public' AS regnamespace)
          AND CAST(CAST(conrelid AS regclass) AS text) !~ '_[0-9]{6,}$'
    """
    with psycopg.connect(url, autocommit=True) as connection:
        for table, rule in connection.execute(find).fetchall():
            connection.execute(
                sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(
                    sql.Identifier(table), sql.Identifier(rule)
                )
            )


@dataclass(frozen=True)
class Damage:
    """What is done, which check must find it, and the names of ids that its sentence must tell."""

    statement: str
    check: str
    told: tuple[str, ...]


def where(table: str, change: str, name: str, *, key: str = "id") -> str:
    return f"UPDATE {table} SET {change} WHERE agent_id = 'patient' AND {key} = '{{{name}}}'"


def of_memory(change: str, name: str) -> str:
    return where("memories", change, name)


def of_log(change: str, name: str) -> str:
    return where("consolidation_log", change, name + "_log")


def parameters(damages: dict[str, Damage]) -> list[Any]:
    return [pytest.param(damage, id=name) for name, damage in damages.items()]


def find(found: list[Fault], check: str, ids: list[str]) -> list[Fault]:
    """The faults of the check that tell all of these ids, in words too."""
    return [
        f for f in found if f.check == check and all(i in f.sentence and i in f.ids for i in ids)
    ]
