"""The doctor finds every kind of damage and says which ids; it puts right what can be computed, and leaves the rest alone."""

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import psycopg
import pytest
from psycopg import sql

from app.planning.audit.faults import Fault
from app.services.doctor import Doctor
from app.settings import load_settings
from app.store.engine import Patience, create_engine
from app.store.tables import consolidation_log
from support.ages import without_time_zone
from support.builders import editor, send
from support.databases import fresh_database
from support.doctor_check import faults
from support.doctor_damage import (
    AGENT,
    Damage,
    Names,
    drop_rules,
    find,
    of_log,
    of_memory,
    parameters,
    tell,
    where,
)
from support.scripted_model import ScriptedModel, every
from support.service import running
from support.urls import name_of

pytestmark = pytest.mark.slow

BYSTANDER = "bystander"
LOG_COLUMNS = ", ".join(
    column.name for column in consolidation_log.columns if column.computed is None
)


@dataclass(frozen=True)
class Patient:
    """A database with a history, and the ids in it by name."""

    url: str
    names: Names

    def run(self, statement: str) -> int:
        """Runs statements with `{names}`; how many rows they changed."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            return sum(
                connection.execute(one.format(**self.names).encode()).rowcount
                for one in without_time_zone(statement).split(";")
            )

    def rows(self) -> dict[str, list[str]]:
        """All that the database holds, as text."""
        with psycopg.connect(self.url) as connection:
            tables = [
                t
                for (t,) in connection.execute(
                    "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
                ).fetchall()
            ]
            read = sql.SQL("SELECT t.*::text FROM {} AS t")
            return {
                t: sorted(
                    str(row)
                    for row in connection.execute(read.format(sql.Identifier(t))).fetchall()
                )
                for t in tables
            }

    def faults(self) -> list[Fault]:
        found = faults(self.url)
        assert found.keys() <= {AGENT}, "nobody else has anything to do with it"
        return found.get(AGENT, [])

    def repair(self) -> list[Fault]:
        async def run() -> list[Fault]:
            engine = create_engine(self.url, pool_size=2, patience=Patience())
            try:
                return await Doctor(engine).repair_agent(AGENT)
            finally:
                await engine.dispose()

        return asyncio.run(run())


@pytest.fixture(scope="module")
def history(server_url: str, template_url: str) -> Iterator[Patient]:
    """A database to copy; nobody is connected to it."""
    with fresh_database(server_url, template=name_of(template_url)) as url:
        with (
            ScriptedModel(every("NONE")) as model,
            running(load_settings(database_url=url, llm_base_url=model.url)) as address,
        ):
            with httpx.Client(
                base_url=address, headers={"X-Agent-Id": AGENT}, timeout=60
            ) as client:
                names = tell(client, model)
            with httpx.Client(
                base_url=address, headers={"X-Agent-Id": BYSTANDER}, timeout=60
            ) as other:
                send(other, editor("Vim"))
                send(other, editor("Emacs"))
        drop_rules(url)
        yield Patient(url, names)


@pytest.fixture
def patient(server_url: str, history: Patient) -> Iterator[Patient]:
    """The history in a database of the test's own."""
    with fresh_database(server_url, template=name_of(history.url)) as url:
        yield Patient(url, history.names)


def test_a_rich_history_is_healthy(patient: Patient) -> None:
    with psycopg.connect(patient.url) as connection:
        operations = {
            o for (o,) in connection.execute("SELECT DISTINCT operation FROM consolidation_log")
        }
        kinds = {t for (t,) in connection.execute("SELECT DISTINCT type FROM memory_relationships")}
        reviews = connection.execute("SELECT count(*) FROM reviews").fetchone()
    assert operations >= {"ADD", "UPDATE", "NOOP", "MERGE", "AMEND", "DELETE", "REVERT", "ERASE"}
    assert kinds >= {"related_to", "merged_into", "contradicts", "causes"}
    assert reviews != (0,)
    assert patient.faults() == []


# What can be computed from the rest: afterwards the database is what it was, to the letter.
REPAIRABLE = {
    "an end moved later": Damage(
        of_memory("valid_until = valid_until + interval '1 day'", "vim"), "chains", ("vim",)
    ),
    "an end moved earlier": Damage(
        of_memory("valid_until = valid_until - interval '1 day'", "emacs"), "chains", ("emacs",)
    ),
    "an end removed": Damage(of_memory("valid_until = NULL", "vim"), "chains", ("vim", "emacs")),
    "an end where there is none": Damage(
        of_memory("valid_until = valid_from + interval '1 hour'", "helix"), "chains", ("helix",)
    ),
    "no successor": Damage(of_memory("superseded_by = NULL", "vim"), "chains", ("vim", "emacs")),
    "another successor": Damage(
        of_memory("superseded_by = '{dog}'", "vim"), "chains", ("vim", "dog")
    ),
    "a successor that is not there": Damage(
        of_memory("superseded_by = '{unknown}'", "vim"), "references", ("vim", "unknown")
    ),
    "superseded at another time": Damage(
        of_memory("superseded_at = superseded_at - interval '1 s'", "vim"), "chains", ("vim",)
    ),
    "another hash of the text": Damage(
        of_memory("content_hash = '\\x00'", "dog"), "hashes", ("dog",)
    ),
    "another folded hash": Damage(
        of_memory("fuzzy_hash = '\\x00', folded_hash = '\\x00'", "dog"), "hashes", ("dog",)
    ),
    "no hash of the value": Damage(of_memory("value_hash = NULL", "vim"), "hashes", ("vim",)),
    "another slot": Damage(
        of_memory("slot_hash = '\\x00', slot_key = 'shell'", "vim"), "hashes", ("vim",)
    ),
    "another derived slot": Damage(
        of_memory("derived_hash = '\\x00'", "home"), "hashes", ("home",)
    ),
    "too many confirmations": Damage(
        where("memory_usage", "access_count = access_count + 5", "dog", key="memory_id"),
        "usage",
        ("dog",),
    ),
    "another time of the last one": Damage(
        where(
            "memory_usage",
            "last_reinforced_at = last_reinforced_at - interval '1 s'",
            "dog",
            key="memory_id",
        ),
        "usage",
        ("dog",),
    ),
    "no counter": Damage(
        "DELETE FROM memory_usage WHERE agent_id = 'patient' AND memory_id = '{dog}'",
        "usage",
        ("dog",),
    ),
    "a last known time in the past": Damage(
        "UPDATE agents SET last_known_at = last_known_at - interval '1 s' WHERE agent_id = 'patient'",
        "agents",
        (),
    ),
    "no time of the last erasure": Damage(
        "UPDATE agents SET last_erased_at = NULL WHERE agent_id = 'patient'", "agents", ()
    ),
    "an undone operation that stands": Damage(
        of_log("reverted_by = NULL", "undone"), "reverts", ("undone_log", "revert_log")
    ),
    "undone by what is not there": Damage(
        of_log("reverted_by = '{unknown}'", "dog"), "reverts", ("dog_log", "unknown")
    ),
    "undone by what undid something else": Damage(
        of_log("reverted_by = '{revert_log}'", "dog"), "reverts", ("dog_log", "revert_log")
    ),
}

# What nobody can know: it is told and left as it is.
LEFT = {
    "another start": Damage(
        of_memory("valid_from = valid_from + interval '1 day'", "helix"), "log", ("helix",)
    ),
    "a retraction taken back": Damage(
        of_memory("retracted_at = NULL, void = false, valid_until = NULL", "wrong"),
        "log",
        ("wrong",),
    ),
    "another time of assertion": Damage(
        of_memory("asserted_at = asserted_at - interval '1 s'", "dog"), "log", ("dog",)
    ),
    "another text": Damage(of_memory("content = 'Has a cat'", "dog"), "log", ("dog",)),
    "another text, its hashes": Damage(
        of_memory("content = 'Has a cat'", "dog"), "hashes", ("dog",)
    ),
    "another importance": Damage(of_memory("importance = 0.1", "dog"), "log", ("dog",)),
    "other tags": Damage(of_memory("tags = '{{}}'", "vim"), "log", ("vim",)),
    "another revision": Damage(of_memory("revision = revision - 1", "vim"), "log", ("vim",)),
    "another chain": Damage(of_memory("chain_id = '{dog}'", "helix"), "log", ("helix",)),
    "a chain that is not there": Damage(
        of_memory("chain_id = '{unknown}'", "dog"), "chains", ("dog", "unknown")
    ),
    "merged from something else": Damage(
        of_memory("merged_from = '{{}}'", "merge"), "log", ("merge",)
    ),
    "a contradiction that is not there": Damage(
        of_memory("contradicted_by = '{unknown}'", "vim"), "references", ("vim", "unknown")
    ),
    "a ring of two": Damage(
        of_memory("ended_by = '{keyed}'", "dog") + ";" + of_memory("ended_by = '{dog}'", "keyed"),
        "rings",
        ("dog", "keyed"),
    ),
    "a ring of four, at whichever of them it begins": Damage(
        ";".join(
            of_memory(f"ended_by = '{{{by}}}'", old)
            for old, by in (
                ("dog", "stamps"),
                ("stamps", "falcon"),
                ("falcon", "keyed"),
                ("keyed", "dog"),
                ("boat", "dog"),
            )
        ),
        "rings",
        ("dog", "stamps", "falcon", "keyed"),
    ),
    "no vector": Damage(of_memory("embedding = NULL", "dog"), "vectors", ("dog",)),
    "a short vector": Damage(of_memory("embedding = '[0.6,0.8]'", "dog"), "vectors", ("dog",)),
    "a vector that points nowhere": Damage(
        of_memory(
            "embedding = CAST(array_fill(0, ARRAY[vector_dims(embedding)]) AS vector)", "dog"
        ),
        "vectors",
        ("dog",),
    ),
    "a vector that is too long": Damage(
        of_memory("embedding = embedding + embedding", "dog"), "vectors", ("dog",)
    ),
    "a vector of a model to come": Damage(
        of_memory("embedding_next = embedding", "dog"), "vectors", ("dog",)
    ),
    "a belief lost": Damage(
        "DELETE FROM memory_beliefs WHERE agent_id = 'patient' AND memory_id = '{vim}'",
        "beliefs",
        ("vim",),
    ),
    "a gap in known time": Damage(
        where(
            "memory_beliefs", "known_until = known_until - interval '1 us'", "vim", key="memory_id"
        ),
        "beliefs",
        ("vim",),
    ),
    "an overlap in known time": Damage(
        of_memory("known_from = known_from - interval '1 us'", "vim"), "beliefs", ("vim",)
    ),
    "another past belief": Damage(
        where("memory_beliefs", "tier = 'core'", "vim", key="memory_id"), "beliefs", ("vim",)
    ),
    "a belief after the last operation": Damage(
        of_memory("known_from = known_from + interval '1 day'", "vim"), "known_times", ("vim",)
    ),
    "beliefs of nothing": Damage(
        where("memory_beliefs", "memory_id = '{unknown}'", "vim", key="memory_id"),
        "log",
        ("unknown",),
    ),
    "an operation lost": Damage(
        "DELETE FROM consolidation_log WHERE agent_id = 'patient' AND id = '{falcon_log}'",
        "log",
        ("falcon",),
    ),
    "the first operation lost": Damage(
        "DELETE FROM consolidation_log WHERE id = '{stamps_log}'", "log", ("stamps",)
    ),
    "the only operation lost": Damage(
        "DELETE FROM consolidation_log WHERE id = '{keyed_log}'", "log", ("keyed",)
    ),
    "half a derived slot": Damage(of_memory("derived_value = NULL", "home"), "log", ("home",)),
    "an operation twice": Damage(
        "CREATE TEMP TABLE twice AS SELECT * FROM consolidation_log WHERE agent_id = 'patient' AND id = '{dog_log}';"
        "UPDATE twice SET id = '{unknown}', created_at = created_at + interval '1 us';"
        f"INSERT INTO consolidation_log ({LOG_COLUMNS}) SELECT {LOG_COLUMNS} FROM twice",
        "log",
        ("dog", "dog_log", "unknown"),
    ),
    "states lost": Damage(of_log("after_state = '[]'", "falcon"), "log", ("falcon",)),
    "half a state": Damage(
        of_log("after_state = after_state #- '{{0,belief,tier}}'", "falcon"),
        "values",
        ("falcon_log",),
    ),
    "a state that says nothing": Damage(
        of_log("after_state = after_state || '[7]'", "falcon"), "values", ("falcon_log",)
    ),
    "another end in the log": Damage(
        of_log(
            "after_state = jsonb_set(after_state, '{{0,belief,valid_until}}', '\"2030-01-01T00:00:00.000000+00:00\"')",
            "keyed",
        ),
        "log",
        ("keyed",),
    ),
    "another end in the log, before the last change": Damage(
        of_log(
            "after_state = jsonb_set(after_state, '{{0,belief,valid_until}}', '\"2030-01-01T00:00:00.000000+00:00\"')",
            "falcon",
        ),
        "log",
        ("falcon", "merge_log"),
    ),
    "another importance before a correction": Damage(
        "UPDATE consolidation_log SET before_state = jsonb_set(before_state, '{{1,metadata,importance}}', '0.7') "
        "WHERE agent_id = 'patient' AND operation = 'AMEND' AND target_memory_id = '{dog}'",
        "log",
        ("dog",),
    ),
    "an operation on nothing": Damage(
        of_log("target_memory_id = '{unknown}'", "falcon"), "log", ("falcon_log", "unknown")
    ),
    "two operations at once": Damage(
        of_log(
            "created_at = (SELECT created_at FROM consolidation_log WHERE agent_id = 'patient' AND id = '{keyed_log}')",
            "falcon",
        ),
        "known_times",
        ("falcon_log", "keyed_log"),
    ),
    "a memory lost": Damage(
        "DELETE FROM memories WHERE agent_id = 'patient' AND id = '{keyed}'",
        "log",
        ("keyed", "keyed_log"),
    ),
    "a memory from nowhere": Damage(
        of_memory("id = '{unknown}', chain_id = '{unknown}'", "keyed"), "log", ("unknown",)
    ),
    "a link lost": Damage(
        "DELETE FROM memory_relationships WHERE agent_id = 'patient' AND source_id = '{related}'",
        "links",
        ("related", "related_log"),
    ),
    "a link by hand lost": Damage(
        "DELETE FROM memory_relationships WHERE agent_id = 'patient' AND source_id = '{dog}'",
        "links",
        ("dog", "vim", "vim_link"),
    ),
    "a link by hand that was undone": Damage(
        "INSERT INTO memory_relationships VALUES ('patient', '{dog}', '{home}', 'causes', '{home_link}', now())",
        "links",
        ("dog", "home"),
    ),
    "a link by hand of another type": Damage(
        "UPDATE memory_relationships SET type = 'enables' WHERE agent_id = 'patient' AND source_id = '{dog}'",
        "links",
        ("dog", "vim"),
    ),
    "a link of no operation": Damage(
        "INSERT INTO memory_relationships VALUES ('patient', '{dog}', '{home}', 'similar', NULL, now())",
        "links",
        ("dog", "home"),
    ),
    "a link to nowhere": Damage(
        "INSERT INTO memory_relationships VALUES ('patient', '{dog}', '{unknown}', 'similar', NULL, now())",
        "links",
        ("dog", "unknown"),
    ),
    "a link of an operation that did not make it": Damage(
        "INSERT INTO memory_relationships VALUES ('patient', '{dog}', '{vim}', 'similar', '{dog_log}', now())",
        "links",
        ("dog", "vim", "dog_log"),
    ),
    "a review of nothing": Damage(
        where(
            "reviews",
            "relied_on = '{{\"{unknown}\": 1}}', status = 'pending'",
            "flagged_log",
            key="log_id",
        ),
        "reviews",
        ("unknown",),
    ),
    "a review decided by nothing": Damage(
        where(
            "reviews",
            "decision_log_id = '{unknown}', status = 'accepted'",
            "flagged_log",
            key="log_id",
        ),
        "reviews",
        ("unknown",),
    ),
    "a review decided by nobody": Damage(
        where("reviews", "status = 'accepted'", "review"), "reviews", ("review",)
    ),
    "a review said to be decided by what did not": Damage(
        where(
            "reviews",
            "decision_log_id = '{dog_log}', decided_at = now(), status = 'rejected'",
            "review",
        ),
        "reviews",
        ("review",),
    ),
    "a review lost": Damage(
        "DELETE FROM reviews WHERE agent_id = 'patient' AND log_id = '{flagged_log}'",
        "reviews",
        ("flagged_log",),
    ),
    "a review that waits though it was decided": Damage(
        where(
            "reviews",
            "decision_log_id = '{dog_log}', status = 'pending'",
            "flagged_log",
            key="log_id",
        ),
        "reviews",
        ("dog_log",),
    ),
    "an erased text back": Damage(
        of_memory("content = 'The code is Zebra'", "secret"), "erased", ("secret",)
    ),
    "an erased slot back": Damage(of_memory("key = 'code'", "secret"), "erased", ("secret",)),
    "an erased hash back": Damage(
        of_memory("content_hash = '\\x00'", "secret"), "erased", ("secret",)
    ),
    "an erased vector back": Damage(
        of_memory("embedding = '[1,0]'", "secret"), "erased", ("secret",)
    ),
    "an erased text in the log": Damage(
        of_log("after_state = jsonb_set(after_state, '{{0,value}}', '\"Zebra\"')", "secret"),
        "erased",
        ("secret", "secret_log"),
    ),
    "an erased text that came in": Damage(
        of_log('incoming = \'{{"content": "Zebra"}}\'', "secret"),
        "erased",
        ("secret", "secret_log"),
    ),
    "an opinion on an erased memory": Damage(
        of_log(
            'opinions = \'[{{"memory_id": "{secret}", "opinions": [], "signals": [], "vetoes": []}}]\'',
            "secret",
        ),
        "erased",
        ("secret", "secret_log"),
    ),
    "an erased text in a kept answer": Damage(
        'UPDATE idempotency_keys SET answer = \'{{"memory": {{"id": "{secret}", "content": "Zebra"}}}}\', '
        "mentioned_ids = ARRAY['{secret}'::uuid]",
        "erased",
        ("secret",),
    ),
    "a source erased, what it was merged into not": Damage(
        of_memory("merged_from = merged_from || CAST('{secret}' AS uuid)", "merge"),
        "erased",
        ("merge", "secret"),
    ),
    "undone twice": Damage(
        of_log("reverts = '{undone_log}', operation = 'REVERT'", "keyed"),
        "reverts",
        ("undone_log", "keyed_log"),
    ),
    "undoing what came later": Damage(
        of_log("reverts = '{undone_log}', operation = 'REVERT'", "again"), "reverts", ("again_log",)
    ),
    "undoing something unknown": Damage(
        of_log("reverts = '{unknown}'", "revert"), "reverts", ("revert_log", "unknown")
    ),
    "undoing in a circle": Damage(
        of_log("reverts = '{revert_log}'", "undone"), "reverts", ("undone_log", "revert_log")
    ),
    "a revert of nothing": Damage(of_log("reverts = NULL", "revert"), "reverts", ("revert_log",)),
    "undoing without a revert": Damage(
        of_log("reverts = '{falcon_log}'", "dog"), "reverts", ("dog_log", "falcon_log")
    ),
    "a kept answer without its ids": Damage(
        "UPDATE idempotency_keys SET mentioned_ids = '{{}}'", "idempotency", ("keyed",)
    ),
    "a kept answer with half a fingerprint": Damage(
        "UPDATE idempotency_keys SET fingerprint = '\\x00'", "idempotency", ()
    ),
    "a captured fact of no operation": Damage(
        where("captured_facts", "log_id = '{unknown}'", "boat", key="memory_id"),
        "captures",
        ("unknown",),
    ),
    "a capture that is done too early": Damage(
        where("turns", "done = false", "boat_capture", key="capture_id"),
        "captures",
        ("boat_capture",),
    ),
    "an erased text in a message": Damage(
        where("turns", "content = 'Zebra'", "word_capture", key="capture_id"), "erased", ("word",)
    ),
    "an erased text in a captured fact": Damage(
        where("captured_facts", "content = 'Zebra'", "word", key="memory_id"), "erased", ("word",)
    ),
    "a time that never comes": Damage(
        of_memory("valid_until = 'infinity'", "vim"), "times", ("vim",)
    ),
    "an operation before all time": Damage(
        of_log("created_at = '-infinity'", "falcon"), "times", ("falcon_log",)
    ),
}


@pytest.mark.parametrize("damage", parameters(REPAIRABLE))
def test_damage_to_what_is_computed_is_found_and_put_right(
    patient: Patient, damage: Damage
) -> None:
    before = patient.rows()
    assert patient.run(damage.statement) == 1
    assert patient.rows() != before
    found = patient.faults()
    assert find(found, damage.check, [patient.names[name] for name in damage.told]), found
    repaired = patient.repair()
    assert repaired == [fault for fault in found if fault.remedy]
    assert patient.faults() == []
    assert patient.rows() == before


@pytest.mark.parametrize("damage", parameters(LEFT))
def test_other_damage_is_found_and_left_alone(patient: Patient, damage: Damage) -> None:
    before = patient.rows()
    assert patient.run(damage.statement) >= 1
    damaged = patient.rows()
    assert damaged != before
    told = [patient.names[name] for name in damage.told]
    found = find(patient.faults(), damage.check, told)
    assert found, patient.faults()
    assert all(fault.remedy is None for fault in found)
    patient.repair()
    assert find(patient.faults(), damage.check, told) == found
    assert {"memories", "consolidation_log", "memory_beliefs"} <= damaged.keys()
    said = ("memory_beliefs", "memory_relationships", "reviews", "idempotency_keys", "encoder")
    assert [patient.rows()[table] for table in said] == [damaged[table] for table in said]


def test_a_repair_waits_for_the_agents_writers(patient: Patient) -> None:
    patient.run(REPAIRABLE["an end removed"].statement)
    with psycopg.connect(patient.url) as writer:
        writer.execute("SELECT FROM agents WHERE agent_id = %s FOR UPDATE", [AGENT])
        repair = threading.Thread(target=patient.repair)
        repair.start()
        repair.join(0.5)
        assert repair.is_alive()
    repair.join(30)
    assert patient.faults() == []


def test_vectors_are_compared_with_the_model_that_the_database_names(patient: Patient) -> None:
    patient.run("UPDATE encoder SET dimensions = 7")
    found = faults(patient.url)
    assert {fault.check for told in found.values() for fault in told} == {"vectors"}
    assert found.keys() == {AGENT, BYSTANDER}
    assert find(found[AGENT], "vectors", [patient.names["dog"]])
