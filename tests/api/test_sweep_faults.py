"""Faults of the sweep, each as a promise that does not hold."""

import asyncio
import contextlib
from typing import Any

import httpx
import psycopg
import pytest
from api.test_sweeps import Place
from conftest import running
from judges.scripted import ScriptedModel, every, fails

from app.jobs.tasks import Jobs
from app.jobs.worker import opened_jobs, work
from app.settings import load_settings


@pytest.fixture
def place(database_url):
    with running(load_settings(database_url=database_url)) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield Place(database_url, client)


def clock(url: str, **settings: Any) -> None:
    """What the clock does: start sweeps that are due, and work them off."""

    async def go() -> None:
        async with opened_jobs(load_settings(database_url=url, **settings)) as jobs:
            jobs.register(sweeps_at=None)
            await jobs.start_sweeps(0)

    asyncio.run(go())
    asyncio.run(work(load_settings(database_url=url, **settings), until_idle=True))


def test_due_after_a_request_that_looked_at_next_to_nothing(place):
    vim, nano = place.editor("Vim", valid_from="2023-01-01"), place.editor("Nano", valid_from="2024-01-01")
    place.sweep(since="2100-01-01")
    clock(place.url)
    assert place.standing(vim, nano) == ["superseded", "current"]


def test_due_after_a_slot_sweep_whose_slot_was_erased(place):
    vim, nano = place.editor("Vim", valid_from="2023-01-01"), place.editor("Nano", valid_from="2024-01-01")
    other = place.store("Drinks tea", key="drink", value="tea")
    place.sweep(slot={"key": "drink"})
    assert place.client.delete(f"/v1/memories/{other}", params={"erase": True}).is_success
    clock(place.url)
    assert place.standing(vim, nano) == ["superseded", "current"]


def test_due_after_an_inline_look_that_found_something(database_url):
    with running(load_settings(database_url=database_url, classify="off")) as address, httpx.Client(base_url=address, timeout=60) as client:
        place = Place(database_url, client)
        old = place.store("Lives in Porto", valid_from="2023-01-01")
        new = place.store("Moved from Porto to Lisbon", valid_from="2024-05-01")
        for word in ("Vim", "Nano"):
            client.post("/v1/memories", json={"content": f"Uses {word}", "key": "editor", "value": word})
        place.work(classify="off")
        [sweep] = client.get("/v1/sweeps").json()["items"]
        assert sweep["origin"] == "store"
        clock(database_url)
        assert place.standing(old, new) == ["superseded", "current"]


def test_a_retraction_undone_by_a_person_is_not_done_again(place):
    old = place.store("Works at Initech", valid_from="2023-01-01")
    end = place.store("No longer works at Initech", valid_from="2024-01-01")
    place.sweep()
    [entry] = place.log(decided_by="sweep")
    assert place.client.post(f"/v1/log/{entry['id']}/revert").status_code == 200
    assert place.standing(old, end) == ["current", "current"]
    found = place.sweep()
    assert place.standing(old, end) == ["current", "current"], found["findings"]


def test_a_merge_undone_by_a_person_is_not_done_again(database_url):
    with ScriptedModel(every("COMPLEMENT")) as model:
        said = {"llm_base_url": model.url, "llm_tries": 1}
        with running(load_settings(database_url=database_url, **said)) as address, httpx.Client(base_url=address, timeout=60) as client:
            place = Place(database_url, client)
            one = place.store("The Falcon app was written by Anna", valid_from="2023-01-01")
            two = place.store("The Falcon app was tested by Bertha", valid_from="2024-01-01")
            client.post("/v1/sweeps")
            place.work(**said)
            print(place.standing(one, two), place.log())
            [entry] = place.log(decided_by="sweep")
            assert entry["operation"] == "MERGE"
            assert client.post(f"/v1/log/{entry['id']}/revert").status_code == 200
            assert place.standing(one, two) == ["current", "current"]
            client.post("/v1/sweeps")
            place.work(**said)
            assert place.standing(one, two) == ["current", "current"]


def test_a_merge_does_not_revive_what_was_retracted(database_url):
    with ScriptedModel(every("COMPLEMENT")) as model:
        said = {"llm_base_url": model.url, "llm_tries": 1}
        with running(load_settings(database_url=database_url, **said)) as address, httpx.Client(base_url=address, timeout=60) as client:
            place = Place(database_url, client)
            one = place.store("The Falcon app was written by Anna", valid_from="2022-01-01")
            two = place.store("The Falcon app was tested by Bertha", valid_from="2023-01-01")
            for i in (one, two):
                r = client.post(f"/v1/memories/{i}/retract", json={"at": "2024-01-01"})
                assert r.is_success, r.text
            assert place.standing(one, two) == ["retracted", "retracted"]
            before = client.get("/v1/memories").json()["items"]
            assert before == []
            client.post("/v1/sweeps")
            place.work(**said)
            now = client.get("/v1/memories").json()["items"]
            assert now == [], [m["content"] for m in now]


def test_a_constraint_that_stands_is_not_withdrawn_for_one_that_ended(place):
    one = place.store("Never deploy on Fridays", kind="constraint", valid_from="2022-01-01", valid_until="2024-01-01")
    two = place.store("Never deploy on  Fridays.", kind="constraint", valid_from="2023-01-01")
    assert place.standing(one, two) == ["expired", "current"]
    found = place.sweep()
    assert place.standing(one, two) == ["expired", "current"], found["findings"]


def test_what_is_said_again_with_an_open_end_still_holds(place):
    one = place.store("Drinks green tea", valid_from="2022-01-01", valid_until="2024-01-01")
    two = place.store("Drinks  green tea.", valid_from="2023-01-01")
    found = place.sweep()
    assert place.standing(one, two) == ["superseded", "current"], found["findings"]


def test_trust_survives_a_repetition(place):
    place.editor("Vim", trust=10, valid_from="2022-01-01")
    place.store("Vim it is", category="tooling", key="editor", value="Vim", trust=90, valid_from="2023-01-01")
    place.sweep()
    place.client.post("/v1/memories", json={"content": "Uses Emacs", "category": "tooling", "key": "editor", "value": "Emacs", "trust": 50})
    now = [m["content"] for m in place.client.get("/v1/memories").json()["items"]]
    assert "Uses Vim" in now or "Vim it is" in now, now


def test_in_shadow_a_pair_is_asked_about_once(place):
    place.store("Lives in Porto", valid_from="2023-01-01")
    place.store("Moved from Porto to Lisbon", valid_from="2024-05-01")
    place.client.patch("/v1/agents/default", json={"mode": "shadow"})
    place.sweep(since="2000-01-01")
    reviews = place.client.get("/v1/reviews").json()["items"]
    assert len(reviews) == 1, [(r["memory_id"], r["relation"]) for r in reviews]


def marks(client) -> int:
    found = client.get("/v1/agents/default/stats").json()
    return (found if "look_again" in found else found["agents"][0] if "agents" in found else found)["look_again"]


def test_a_mark_stays_until_its_pair_was_judged(database_url):
    with ScriptedModel(every("NONE")) as model:
        said = {"llm_base_url": model.url, "llm_tries": 1}
        with running(load_settings(database_url=database_url, **said)) as address, httpx.Client(base_url=address, timeout=60) as client:
            place = Place(database_url, client)
            client.post("/v1/memories", json={"content": "The Falcon app was written by Bertha", "valid_from": "2024-01-01"}).json()[
                "memory"
            ]["id"]
            model.then(fails(500))
            late = client.post("/v1/memories", json={"content": "The Falcon app was written by Anna", "valid_from": "2023-01-01"}).json()[
                "memory"
            ]["id"]
            assert marks(client) == 1
            place.work(**said)
            assert marks(client) == 1, "the model was down, and the mark is gone"
            model.then(every("CONTRADICTION"))
            place.work(**said)
            assert place.memory(late)["valid_until"] is not None


def test_switched_off_a_worker_looks_at_nothing(database_url):
    with running(load_settings(database_url=database_url, classify="off")) as address, httpx.Client(base_url=address, timeout=60) as client:
        place = Place(database_url, client)
        stored = [client.post("/v1/memories", json={"content": f"Uses {word}", "key": "editor", "value": word}) for word in ("Vim", "Nano")]
        ids = [a.json()["memory"]["id"] for a in stored]
        place.work(classify="off", supersession_enabled=False)
        assert place.standing(*ids) == ["current", "current"]


def test_a_sweep_that_waits_for_another_does_not_spin(place, monkeypatch):
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
    real = Jobs.sweep

    async def counted(self, agent: str, sweep_id: str) -> None:
        nonlocal runs
        runs += 1
        await real(self, agent, sweep_id)

    monkeypatch.setattr(Jobs, "sweep", counted)

    async def two_seconds() -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(work(load_settings(database_url=place.url)), 3)

    asyncio.run(two_seconds())
    assert runs <= 2, runs


def test_resume_after_a_batch_whose_last_memory_was_withdrawn(place):

    for n in range(6):
        place.store(f"Note {n} about {'abcdefghi'[n] * 6}", valid_from=f"2020-01-0{n + 1}")
    place.store("Drinks green tea", valid_from="2021-01-01")
    place.store("Drinks  green tea.", valid_from="2021-01-02")
    for n in range(3):
        place.store(f"Later {n} {'xyzw'[n] * 6}", valid_from=f"2022-01-0{n + 1}")
    started = place.client.post("/v1/sweeps").json()["id"]
    examined: list = []

    async def one() -> None:
        async with opened_jobs(load_settings(database_url=place.url, supersession_batch=8)) as jobs:
            real = jobs.sweeping._examine
            calls = 0

            async def dies(agent, ids, **how):
                nonlocal calls
                calls += 1
                if calls == 2:
                    raise asyncio.CancelledError
                examined.extend(ids)
                return await real(agent, ids, **how)

            jobs.sweeping._examine = dies
            with contextlib.suppress(asyncio.CancelledError):
                await jobs.sweeping.run("default", __import__("uuid").UUID(started))

    asyncio.run(one())
    with psycopg.connect(place.url, autocommit=True) as c:
        c.execute("UPDATE sweeps SET alive_at = '2000-01-01'")
    place.work()
    found = place.client.get(f"/v1/sweeps/{started}").json()
    assert (found["total"], found["examined"]) == (11, 11), found


def test_what_is_over_tells_no_error_and_passing_trouble_does_not_add_up(place):
    place.store("One"), place.store("Two")
    started = place.client.post("/v1/sweeps").json()["id"]

    async def one(fail: bool) -> None:
        async with opened_jobs(load_settings(database_url=place.url)) as jobs:
            if fail:

                async def broken(*a, **k):
                    raise RuntimeError("x")

                jobs.sweeping._examine = broken
            with contextlib.suppress(RuntimeError):
                await jobs.sweeping.run("default", __import__("uuid").UUID(started))

    asyncio.run(one(True))
    asyncio.run(one(False))
    found = place.client.get(f"/v1/sweeps/{started}").json()
    assert (found["status"], found["error"]) == ("done", None)


def test_a_runner_that_was_taken_over_does_not_fail_the_other(place):
    place.store("One"), place.store("Two")
    started = place.client.post("/v1/sweeps").json()["id"]
    import uuid

    async def go():
        async with opened_jobs(load_settings(database_url=place.url)) as jobs:

            async def broken(*a, **k):
                async with jobs.engine.begin() as c:  # another took over meanwhile
                    await c.exec_driver_sql("UPDATE sweeps SET runner = gen_random_uuid(), alive_at = clock_timestamp()")
                raise RuntimeError("x")

            jobs.sweeping._examine = broken
            with contextlib.suppress(RuntimeError):
                await jobs.sweeping.run("default", uuid.UUID(started))

    asyncio.run(go())
    with psycopg.connect(place.url) as c:
        assert c.execute("SELECT failures, alive_at IS NULL FROM sweeps").fetchone() == (0, False)


def test_one_failed_heartbeat_is_not_the_end_of_the_heart(place, monkeypatch):
    import uuid
    from datetime import timedelta

    from app.store import sweeps

    place.store("One"), place.store("Two")
    started = place.client.post("/v1/sweeps").json()["id"]
    monkeypatch.setattr(sweeps, "LEASE", timedelta(seconds=0.3))
    beats = 0
    real = sweeps.stay

    async def stay(*a):
        nonlocal beats
        beats += 1
        if beats == 1:
            raise psycopg.OperationalError("hiccup")
        await real(*a)

    monkeypatch.setattr(sweeps, "stay", stay)

    async def go():
        async with opened_jobs(load_settings(database_url=place.url)) as jobs:
            real_examine = jobs.sweeping._examine

            async def slow(*a, **k):
                await asyncio.sleep(1.5)
                return await real_examine(*a, **k)

            jobs.sweeping._examine = slow
            await jobs.sweeping.run("default", uuid.UUID(started))

    asyncio.run(go())
    assert beats > 3, beats


def test_a_sweep_that_finds_nothing_rewrites_no_memory(place):
    for n in range(5):
        place.store(f"Note {n} {'abcdefg'[n] * 5}")
    with psycopg.connect(place.url) as c:
        before = c.execute("SELECT id, xmin::text, ctid::text FROM memories ORDER BY id").fetchall()
    place.sweep()
    with psycopg.connect(place.url) as c:
        assert before == c.execute("SELECT id, xmin::text, ctid::text FROM memories ORDER BY id").fetchall()


def test_starting_sweeps_for_all_holds_up_nobody(place):
    """The clock waits for one busy agent; a store of another one that is due comes meanwhile."""
    from app.store import writes

    place.store("One")
    place.client.post("/v1/memories", json={"content": "x", "classify": False}, headers={"X-Agent-Id": "later"})

    async def go():
        async with opened_jobs(load_settings(database_url=place.url)) as jobs:
            jobs.register(sweeps_at=None)
            async with jobs.engine.begin() as busy:
                await writes.lock_agent(busy, "later", encoder=None)
                starting = asyncio.create_task(jobs.start_sweeps(0))
                await asyncio.sleep(0.5)
                async with jobs.engine.begin() as c:
                    await c.exec_driver_sql("SET LOCAL lock_timeout = '500ms'")
                    await writes.lock_agent(c, "default", encoder=None)
            await starting

    asyncio.run(go())


def test_one_busy_agent_does_not_keep_the_clock_from_the_others(place):
    from app.store import writes

    place.store("One")
    place.client.post("/v1/memories", json={"content": "x", "classify": False}, headers={"X-Agent-Id": "another"})

    async def go():
        async with opened_jobs(load_settings(database_url=place.url, lock_timeout=0.5)) as jobs:
            jobs.register(sweeps_at=None)
            async with jobs.engine.begin() as c:  # a long batch of one agent
                await writes.lock_agent(c, "default", encoder=None)
                try:
                    await jobs.start_sweeps(0)
                except Exception as e:
                    print(type(e))

    asyncio.run(go())
    assert place.client.get("/v1/sweeps", headers={"X-Agent-Id": "another"}).json()["items"]


def test_one_memory_that_cannot_be_planned_does_not_stop_the_sweep_of_all_others(database_url):
    with ScriptedModel(every("COMPLEMENT")) as model:
        said = {"llm_base_url": model.url, "llm_tries": 1}
        with running(load_settings(database_url=database_url, **said)) as address, httpx.Client(base_url=address, timeout=60) as client:
            place = Place(database_url, client)
            place.store("The Falcon app is written in Rust", kind="decision", valid_from="2022-01-01")
            place.store("The Falcon app was tested by Bertha", details={"alternatives": "none"}, valid_from="2023-01-01")
            place.editor("Vim", valid_from="2023-01-01")
            client.post("/v1/sweeps")
            place.work(**said)
            [sweep] = client.get("/v1/sweeps").json()["items"]
            assert sweep["status"] == "done", (sweep["status"], sweep["error"])


def test_what_fails_each_time_leaves_one_row_not_one_each_ten_minutes(database_url):
    """Marks whose look fails for good: every ten minutes another five tries and another row that stays."""
    with running(load_settings(database_url=database_url, classify="off")) as address, httpx.Client(base_url=address, timeout=60) as client:
        [client.post("/v1/memories", json={"content": f"Uses {word}", "key": "editor", "value": word}) for word in ("Vim", "Nano")]

        async def go():
            async with opened_jobs(load_settings(database_url=database_url, classify="off")) as jobs:

                async def broken(*a, **k):
                    raise RuntimeError("x")

                jobs.sweeping._examine = broken
                for _ in range(15):
                    with contextlib.suppress(RuntimeError):
                        await jobs.sweeping.look("default")

        asyncio.run(go())
        with psycopg.connect(database_url) as c:
            print(c.execute("SELECT status, failures FROM sweeps").fetchall())
            assert c.execute("SELECT count(*) FROM sweeps").fetchone()[0] <= 1


def test_a_whole_sweep_undone_stays_undone(place):
    ids = [place.editor("Vim", valid_from="2022-01-01"), place.editor("Nano", valid_from="2023-01-01")]
    ids += [place.store("Works at Initech", valid_from="2023-01-01"), place.store("No longer works at Initech", valid_from="2024-01-01")]
    ids += [place.store("Drinks green tea", valid_from="2021-01-01"), place.store("Drinks  green tea.", valid_from="2021-01-02")]
    found = place.sweep()
    undone = place.client.post("/v1/reverts", json={"sweep_id": found["id"]})
    assert undone.status_code == 200, undone.text
    assert place.standing(*ids) == ["current"] * 6
    again = place.sweep()
    assert place.standing(*ids) == ["current"] * 6, again["findings"]


def test_the_error_of_a_sweep_quotes_no_embedding_server(place):
    """`complaint` passes on up to 300 characters of what the server said, and servers quote their input; erase never reaches this."""
    import uuid

    from app.domain.errors import EmbedderUnavailable

    place.store("The Falcon app was written by Anna")
    started = place.client.post("/v1/sweeps").json()["id"]

    async def go():
        async with opened_jobs(load_settings(database_url=place.url)) as jobs:

            async def broken(*a, **k):
                raise EmbedderUnavailable("The embedding server answered 400: too long: 'The Falcon app was written by Anna'.")

            jobs.sweeping._examine = broken
            with contextlib.suppress(EmbedderUnavailable):
                await jobs.sweeping.run("default", uuid.UUID(started))

    asyncio.run(go())
    assert "Anna" not in place.client.get(f"/v1/sweeps/{started}").text


def test_a_model_is_asked_once_for_each_memory_and_not_for_each_pair(database_url):
    with ScriptedModel(every("NONE")) as model:
        said = {"llm_base_url": model.url, "llm_tries": 1}
        with running(load_settings(database_url=database_url, **said)) as address, httpx.Client(base_url=address, timeout=60) as client:
            place = Place(database_url, client)
            for n, name in enumerate("Anna Bertha Carla Dora Emma Frieda".split()):
                place.store(f"The Falcon app was written by {name}", valid_from=f"202{n}-01-01")
            client.post("/v1/sweeps", json={"since": "2000-01-01"})
            place.work(**said)
            assert len(model.requests) <= 6, len(model.requests)
