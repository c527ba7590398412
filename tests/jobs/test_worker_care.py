"""What workers and their clock must not do: skip an agent, spin, hold up stores, lose their hold."""

import asyncio
import contextlib
import uuid
from datetime import timedelta
from typing import Any

import httpx
import psycopg
import pytest

from app.domain.agent import AgentId
from app.domain.errors import EmbedderUnavailable
from app.jobs.tasks import Jobs
from app.jobs.worker import open_jobs, run_worker
from app.settings import load_settings
from app.store import chains
from app.store.engine import begin_for_agent
from app.store.sweeps import runs as sweep_runs
from support.service import running
from support.sweeps import Place


def clock(url: str, **settings: Any) -> None:
    """What the clock does: start sweeps that are due, and work them off."""

    async def go() -> None:
        async with open_jobs(load_settings(database_url=url, **settings)) as jobs:
            jobs.register_jobs(sweeps_at=None)
            await jobs.start_sweeps(0)

    asyncio.run(go())
    asyncio.run(run_worker(load_settings(database_url=url, **settings), until_idle=True))


def test_due_after_a_request_that_looked_at_next_to_nothing(place: Place) -> None:
    vim, nano = (
        place.editor("Vim", valid_from="2023-01-01"),
        place.editor("Nano", valid_from="2024-01-01"),
    )
    place.sweep(since="2100-01-01")
    clock(place.url)
    assert place.standing(vim, nano) == ["superseded", "current"]


def test_due_after_a_slot_sweep_whose_slot_was_erased(place: Place) -> None:
    vim, nano = (
        place.editor("Vim", valid_from="2023-01-01"),
        place.editor("Nano", valid_from="2024-01-01"),
    )
    other = place.store("Drinks tea", key="drink", value="tea")
    place.sweep(slot={"key": "drink"})
    assert place.client.delete(f"/v1/memories/{other}", params={"erase": True}).is_success
    clock(place.url)
    assert place.standing(vim, nano) == ["superseded", "current"]


def test_due_after_an_inline_look_that_found_something(database_url: str) -> None:
    with (
        running(load_settings(database_url=database_url, classify="off")) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        place = Place(database_url, client)
        old = place.store("Lives in Porto", valid_from="2023-01-01")
        new = place.store("Moved from Porto to Lisbon", valid_from="2024-05-01")
        for word in ("Vim", "Nano"):
            client.post(
                "/v1/memories", json={"content": f"Uses {word}", "key": "editor", "value": word}
            )
        place.work(classify="off")
        [sweep] = client.get("/v1/sweeps").json()["items"]
        assert sweep["origin"] == "store"
        clock(database_url)
        assert place.standing(old, new) == ["superseded", "current"]


def test_switched_off_a_worker_looks_at_nothing(database_url: str) -> None:
    with (
        running(load_settings(database_url=database_url, classify="off")) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        place = Place(database_url, client)
        stored = [
            client.post(
                "/v1/memories", json={"content": f"Uses {word}", "key": "editor", "value": word}
            )
            for word in ("Vim", "Nano")
        ]
        ids = [a.json()["memory"]["id"] for a in stored]
        place.work(classify="off", supersession_enabled=False)
        assert place.standing(*ids) == ["current", "current"]


def test_a_sweep_that_waits_for_another_does_not_spin(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.editor("Vim")
    first = place.client.post("/v1/sweeps").json()["id"]
    place.work()
    place.client.post("/v1/sweeps").json()["id"]
    with psycopg.connect(place.url, autocommit=True) as c:  # another worker has one in hand
        c.execute(
            "UPDATE sweeps SET status = 'running', alive_at = clock_timestamp() + interval '1 hour', finished_at = NULL WHERE id = %s",
            (first,),
        )
    runs = 0
    real = Jobs.carry_out_sweep

    async def counted(self, agent: str, sweep_id: str) -> None:
        nonlocal runs
        runs += 1
        await real(self, agent, sweep_id)

    monkeypatch.setattr(Jobs, "carry_out_sweep", counted)

    async def two_seconds() -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(run_worker(load_settings(database_url=place.url)), 3)

    asyncio.run(two_seconds())
    assert runs <= 2, runs


def test_resume_after_a_batch_whose_last_memory_was_withdrawn(place: Place) -> None:

    for n in range(6):
        place.store(f"Note {n} about {'abcdefghi'[n] * 6}", valid_from=f"2020-01-0{n + 1}")
    place.store("Drinks green tea", valid_from="2021-01-01")
    place.store("Drinks  green tea.", valid_from="2021-01-02")
    for n in range(3):
        place.store(f"Later {n} {'xyzw'[n] * 6}", valid_from=f"2022-01-0{n + 1}")
    started = place.client.post("/v1/sweeps").json()["id"]
    examined: list = []

    async def one() -> None:
        async with open_jobs(load_settings(database_url=place.url, supersession_batch=8)) as jobs:
            real = jobs.services.sweeps._classify_memories
            calls = 0

            async def dies(agent, ids, **how):
                nonlocal calls
                calls += 1
                if calls == 2:
                    raise asyncio.CancelledError
                examined.extend(ids)
                return await real(agent, ids, **how)

            jobs.services.sweeps._classify_memories = dies
            with contextlib.suppress(asyncio.CancelledError):
                await jobs.services.sweeps.run("default", __import__("uuid").UUID(started))

    asyncio.run(one())
    with psycopg.connect(place.url, autocommit=True) as c:
        c.execute("UPDATE sweeps SET alive_at = '2000-01-01'")
    place.work()
    found = place.client.get(f"/v1/sweeps/{started}").json()
    assert (found["total"], found["examined"]) == (11, 11), found


def test_what_is_over_tells_no_error_and_passing_trouble_does_not_add_up(place: Place) -> None:
    place.store("One"), place.store("Two")
    started = place.client.post("/v1/sweeps").json()["id"]

    async def one(fail: bool) -> None:
        async with open_jobs(load_settings(database_url=place.url)) as jobs:
            if fail:

                async def broken(*a, **k):
                    raise RuntimeError("x")

                jobs.services.sweeps._classify_memories = broken
            with contextlib.suppress(RuntimeError):
                await jobs.services.sweeps.run("default", __import__("uuid").UUID(started))

    asyncio.run(one(True))
    asyncio.run(one(False))
    found = place.client.get(f"/v1/sweeps/{started}").json()
    assert (found["status"], found["error"]) == ("done", None)


def test_a_runner_that_was_taken_over_does_not_fail_the_other(place: Place) -> None:
    place.store("One"), place.store("Two")
    started = place.client.post("/v1/sweeps").json()["id"]

    async def go() -> None:
        async with open_jobs(load_settings(database_url=place.url)) as jobs:

            async def broken(*a, **k):
                async with begin_for_agent(
                    jobs.services.engine, AgentId("default")
                ) as c:  # another took over meanwhile
                    await c.exec_driver_sql(
                        "UPDATE sweeps SET runner = gen_random_uuid(), alive_at = clock_timestamp()"
                    )
                raise RuntimeError("x")

            jobs.services.sweeps._classify_memories = broken
            with contextlib.suppress(RuntimeError):
                await jobs.services.sweeps.run("default", uuid.UUID(started))

    asyncio.run(go())
    with psycopg.connect(place.url) as c:
        assert c.execute("SELECT failures, alive_at IS NULL FROM sweeps").fetchone() == (0, False)


def slow_down(jobs: Jobs, seconds: float) -> None:
    """Every batch of a sweep takes that much longer."""
    real = jobs.services.sweeps._classify_memories

    async def slow(*a, **k):
        await asyncio.sleep(seconds)
        return await real(*a, **k)

    jobs.services.sweeps._classify_memories = slow


def test_one_failed_heartbeat_is_not_the_end_of_the_heart(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.store("One"), place.store("Two")
    started = place.client.post("/v1/sweeps").json()["id"]
    monkeypatch.setattr(sweep_runs, "LEASE", timedelta(seconds=0.3))
    beats = 0
    real = sweep_runs.renew_sweep_lease

    async def stay(*a):
        nonlocal beats
        beats += 1
        if beats == 1:
            raise psycopg.OperationalError("hiccup")
        await real(*a)

    monkeypatch.setattr(sweep_runs, "renew_sweep_lease", stay)

    async def go() -> None:
        async with open_jobs(load_settings(database_url=place.url)) as jobs:
            slow_down(jobs, 1.5)
            await jobs.services.sweeps.run("default", uuid.UUID(started))

    asyncio.run(go())
    assert beats > 3, beats


def test_the_heart_stops_with_its_work_whatever_becomes_of_its_last_statement(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.store("One"), place.store("Two")
    started = place.client.post("/v1/sweeps").json()["id"]
    monkeypatch.setattr(sweep_runs, "LEASE", timedelta(seconds=0.15))
    beats = 0

    async def stay(*_: object) -> None:
        nonlocal beats
        beats += 1
        try:
            await asyncio.sleep(0.5)
        except asyncio.CancelledError:
            raise psycopg.OperationalError("a cancelled statement") from None

    monkeypatch.setattr(sweep_runs, "renew_sweep_lease", stay)

    async def go() -> int:
        async with open_jobs(load_settings(database_url=place.url)) as jobs:
            slow_down(jobs, 0.3)
            await jobs.services.sweeps.run("default", uuid.UUID(started))
            before = beats
            await asyncio.sleep(0.5)
            return before

    assert asyncio.run(go()) == beats > 0


def test_a_sweep_that_finds_nothing_rewrites_no_memory(place: Place) -> None:
    for n in range(5):
        place.store(f"Note {n} {'abcdefg'[n] * 5}")
    with psycopg.connect(place.url) as c:
        before = c.execute("SELECT id, xmin::text, ctid::text FROM memories ORDER BY id").fetchall()
    place.sweep()
    with psycopg.connect(place.url) as c:
        assert (
            before
            == c.execute("SELECT id, xmin::text, ctid::text FROM memories ORDER BY id").fetchall()
        )


def test_starting_sweeps_for_all_holds_up_nobody(place: Place) -> None:
    """The clock waits for one busy agent; a store of another one that is due comes meanwhile."""
    place.store("One")
    place.client.post(
        "/v1/memories", json={"content": "x", "classify": False}, headers={"X-Agent-Id": "later"}
    )

    async def go() -> None:
        async with open_jobs(load_settings(database_url=place.url)) as jobs:
            jobs.register_jobs(sweeps_at=None)
            async with begin_for_agent(jobs.services.engine, AgentId("later")) as busy:
                await chains.lock_agent(busy, "later", encoder=None)
                starting = asyncio.create_task(jobs.start_sweeps(0))
                await asyncio.sleep(0.5)
                async with begin_for_agent(jobs.services.engine, AgentId("default")) as c:
                    await c.exec_driver_sql("SET LOCAL lock_timeout = '500ms'")
                    await chains.lock_agent(c, "default", encoder=None)
            await starting

    asyncio.run(go())


def test_one_busy_agent_does_not_keep_the_clock_from_the_others(place: Place) -> None:
    place.store("One")
    place.client.post(
        "/v1/memories", json={"content": "x", "classify": False}, headers={"X-Agent-Id": "another"}
    )

    async def go() -> None:
        async with open_jobs(load_settings(database_url=place.url, lock_timeout=0.5)) as jobs:
            jobs.register_jobs(sweeps_at=None)
            async with begin_for_agent(
                jobs.services.engine, AgentId("default")
            ) as c:  # a long batch of one agent
                await chains.lock_agent(c, "default", encoder=None)
                try:
                    await jobs.start_sweeps(0)
                except Exception as e:
                    print(type(e))

    asyncio.run(go())
    assert place.client.get("/v1/sweeps", headers={"X-Agent-Id": "another"}).json()["items"]


def test_what_fails_each_time_leaves_one_row_not_one_each_ten_minutes(database_url: str) -> None:
    """Marks whose look fails for good: every ten minutes another five tries and another row that stays."""
    with (
        running(load_settings(database_url=database_url, classify="off")) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        [
            client.post(
                "/v1/memories", json={"content": f"Uses {word}", "key": "editor", "value": word}
            )
            for word in ("Vim", "Nano")
        ]

        async def go() -> None:
            async with open_jobs(load_settings(database_url=database_url, classify="off")) as jobs:

                async def broken(*a, **k):
                    raise RuntimeError("x")

                jobs.services.sweeps._classify_memories = broken
                for _ in range(15):
                    with contextlib.suppress(RuntimeError):
                        await jobs.services.sweeps.sweep_marked("default")

        asyncio.run(go())
        with psycopg.connect(database_url) as c:
            print(c.execute("SELECT status, failures FROM sweeps").fetchall())
            assert c.execute("SELECT count(*) FROM sweeps").fetchone()[0] <= 1


def test_the_error_of_a_sweep_quotes_no_embedding_server(place: Place) -> None:
    """`complaint` passes on up to 300 characters of what the server said, and servers quote their input; erase never reaches this."""

    place.store("The Falcon app was written by Anna")
    started = place.client.post("/v1/sweeps").json()["id"]

    async def go() -> None:
        async with open_jobs(load_settings(database_url=place.url)) as jobs:

            async def broken(*a, **k):
                raise EmbedderUnavailable(
                    "The embedding server answered 400: too long: 'The Falcon app was written by Anna'."
                )

            jobs.services.sweeps._classify_memories = broken
            with contextlib.suppress(EmbedderUnavailable):
                await jobs.services.sweeps.run("default", uuid.UUID(started))

    asyncio.run(go())
    assert "Anna" not in place.client.get(f"/v1/sweeps/{started}").text
