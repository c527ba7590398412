"""Facts that several writers tell at once: each is compared with those that were stored meanwhile, as if they had come one by one."""

import asyncio
from typing import Any

import pytest

from app.jobs.worker import run_worker
from app.services import remember
from app.services.remember import MOST_LOOKS
from app.settings import load_settings
from support.races import Crowd, Race

PAIRS = [
    ("Deploys on Friday are allowed", "Deploys on Friday are not allowed"),
    ("I drink coffee", "I no longer drink coffee"),
    ("The retry limit is 3", "The retry limit is 5"),
]
HOMES = ["I live in Ghent", "I live in Bruges", "I live in Ostend", "I live in Leuven"]
# Nothing of this is about anything else of it.
UNRELATED = [
    "My car is a red Volvo",
    "Nora plays the cello",
    "The backup runs at 3 am",
    "Tom collects stamps",
    "We deploy with Terraform",
    "Grandma bakes on Saturdays",
    "The lease ends in June",
    "Our mascot is an otter",
]


async def store_at_once(crowd: Crowd, agent: str, texts: list[str]) -> list[dict[str, Any]]:
    """The answers of stores at the same moment, in the order in which the facts became known."""
    responses = await asyncio.gather(
        *(crowd.post("/v1/memories", {"content": text}, **{"X-Agent-Id": agent}) for text in texts)
    )
    return in_order_of_knowing(responses)


def in_order_of_knowing(responses: Any) -> list[dict[str, Any]]:
    for response in responses:
        assert response.is_success, response.text
    answers = [response.json() for response in responses]
    return sorted(answers, key=lambda answer: str(answer["known_at"]))


async def read_as(crowd: Crowd, agent: str, path: str) -> Any:
    response = await next(crowd.turns).get(path, headers={"X-Agent-Id": agent})
    assert response.status_code == 200, response.text
    return response.json()


async def list_live(crowd: Crowd, agent: str) -> list[str]:
    page = await read_as(crowd, agent, "/v1/memories?limit=100")
    return [memory["content"] for memory in page["items"]]


async def count_marks(crowd: Crowd, agent: str) -> int:
    stats = await read_as(crowd, agent, f"/v1/agents/{agent}/stats")
    count: int = stats["look_again"]
    return count


def list_unseen(answers: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Pairs of a fact and an earlier one that held, and that the fact was not compared with."""
    holding: dict[str, str] = {}
    unseen: list[tuple[str, str]] = []
    for answer in answers:
        compared = {candidate["id"] for candidate in answer["candidates"]}
        content = answer["memory"]["content"]
        unseen += [
            (content, other) for other_id, other in holding.items() if other_id not in compared
        ]
        for ended in answer["superseded"]:
            del holding[ended["id"]]
        holding[answer["memory"]["id"]] = content
    return unseen


@pytest.mark.parametrize("pair", PAIRS)
def test_of_two_that_exclude_each_other_the_later_one_holds(
    race: Race, pair: tuple[str, str]
) -> None:
    async def run(crowd: Crowd) -> None:
        for number in range(10):
            agent = f"pair-{number}"
            await store_at_once(crowd, agent, ["The tea is on the table"])
            _, later = await store_at_once(crowd, agent, list(pair))
            live = await list_live(crowd, agent)
            assert len(set(pair) & set(live)) < 2, (number, live)
            assert later["superseded"], (number, later["decision"])

    race(run)


def test_two_facts_meet_although_nothing_was_ever_stored_for_their_agent(race: Race) -> None:
    async def run(crowd: Crowd) -> None:
        for number in range(10):
            agent = f"new-{number}"
            _, later = await store_at_once(crowd, agent, list(PAIRS[0]))
            assert await list_live(crowd, agent) == [later["memory"]["content"]]

    race(run)


def test_four_homes_told_at_once_are_all_compared_with_one_another(race: Race) -> None:
    assert len(HOMES) <= MOST_LOOKS

    async def run(crowd: Crowd) -> None:
        for number in range(5):
            answers = await store_at_once(crowd, f"homes-{number}", HOMES)
            assert list_unseen(answers) == []
            assert any(answer["superseded"] for answer in answers)

    race(run)


def test_a_fact_of_a_batch_meets_a_fact_that_is_stored_at_the_same_moment(race: Race) -> None:
    allowed, forbidden = PAIRS[0]

    async def run(crowd: Crowd) -> None:
        for number in range(5):
            agent = f"batch-{number}"
            items = [{"content": text} for text in (*UNRELATED, forbidden)]
            headers = {"X-Agent-Id": agent}
            batch, single = await asyncio.gather(
                crowd.post("/v1/memories/batch", {"items": items}, **headers),
                crowd.post("/v1/memories", {"content": allowed}, **headers),
            )
            assert {batch.status_code, single.status_code} <= {200, 201}
            live = await list_live(crowd, agent)
            assert len({allowed, forbidden} & set(live)) == 1, (number, live)
            assert set(UNRELATED) <= set(live)

    race(run)


def test_a_captured_fact_meets_a_fact_that_is_stored_at_the_same_moment(race: Race) -> None:
    async def run(crowd: Crowd) -> None:
        for number in range(5):
            agent = f"capture-{number}"
            headers = {"X-Agent-Id": agent}
            message = {"role": "user", "content": "I live in Lisbon."}
            responses = await asyncio.gather(
                crowd.post("/v1/messages", {"session_id": "one", "messages": [message]}, **headers),
                crowd.post("/v1/memories", {"content": "I live in Porto"}, **headers),
            )
            assert all(response.is_success for response in responses)
            live = await list_live(crowd, agent)
            reviews = (await read_as(crowd, agent, "/v1/reviews"))["items"]
            assert len(live) == 1 or reviews, (number, live)

    race(run)


def test_thirty_equal_facts_at_once_are_one(race: Race) -> None:
    async def run(crowd: Crowd) -> None:
        answers = await store_at_once(crowd, "equal", ["I live in Ghent"] * 30)
        assert sorted(answer["operation"] for answer in answers) == ["ADD"] + ["NOOP"] * 29
        assert await list_live(crowd, "equal") == ["I live in Ghent"]
        assert await count_marks(crowd, "equal") == 0

    race(run)


def test_facts_about_other_things_at_once_need_no_second_look(
    race: Race, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever stores much at once does not make the judges work twice."""
    monkeypatch.setattr(remember, "MOST_LOOKS", 1)

    async def run(crowd: Crowd) -> None:
        await store_at_once(crowd, "busy", UNRELATED)
        assert await count_marks(crowd, "busy") == 0
        await store_at_once(crowd, "homes", HOMES)
        assert await count_marks(crowd, "homes") > 0

    race(run)


def test_what_will_hold_later_is_no_news(race: Race, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it holds, it is compared with nothing, however often it is looked at."""
    monkeypatch.setattr(remember, "MOST_LOOKS", 1)

    async def run(crowd: Crowd) -> None:
        await crowd.store({"content": "I live in Porto", "valid_from": "2090-01-01"})
        await crowd.store({"content": "I live in Lisbon"})
        assert await count_marks(crowd, "crowd") == 0

    race(run)


def test_what_the_judges_never_saw_a_sweep_compares(
    race: Race, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After its last look a fact is stored and marked. The later told one wins, as in a store."""
    monkeypatch.setattr(remember, "MOST_LOOKS", 1)
    later_told: dict[str, str] = {}

    async def tell(crowd: Crowd) -> None:
        await store_at_once(crowd, "warm", UNRELATED)
        for number in range(8):
            agent = f"late-{number}"
            _, later = await store_at_once(crowd, agent, ["I moved to Lisbon", "I moved to Berlin"])
            if await count_marks(crowd, agent):
                assert len(await list_live(crowd, agent)) == 2
                later_told[agent] = later["memory"]["content"]

    async def check(crowd: Crowd) -> None:
        for agent, content in later_told.items():
            assert await list_live(crowd, agent) == [content]
            rows = (await read_as(crowd, agent, "/v1/log?operation=SUPERSEDE"))["items"]
            assert [row["decided_by"] for row in rows] == ["sweep"]

    race(tell)
    assert later_told
    asyncio.run(run_worker(load_settings(database_url=database_url), until_idle=True))
    race(check)
