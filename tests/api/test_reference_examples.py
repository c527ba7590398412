"""The worked examples of the five references, word for word, over HTTP.

Without a model each is done, or asked about with a question that names the right fact. With a model
that reads attentively each comes out as its reference says.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.domain.relation import Relation
from app.settings import load_settings
from support.builders import contents, decide, editor, list_ended, send, store
from support.databases import fresh_database
from support.doctor_check import assert_agent_healthy
from support.scripted_model import Answer, Request, ScriptedModel, judges, judgment
from support.service import running
from support.service_process import palimpsest
from support.urls import name_of

ENDS = (Relation.UPDATE, Relation.CONTRADICTION)
APART = (Relation.OVERLAP, Relation.NONE)
MERGED = "User has a dog named Max"


@dataclass(frozen=True, slots=True)
class Example:
    """What is told first and then, and the relation in which the reference sees the second.

    `acts` says that the service does the same without a model. Otherwise it asks.
    """

    name: str
    first: dict[str, Any]
    then: dict[str, Any]
    relation: Relation
    acts: bool = True

    @property
    def pair(self) -> tuple[str, str]:
        return self.first["content"], self.then["content"]

    @property
    def holding(self) -> set[str]:
        """What holds when both were told."""
        if self.relation in ENDS:
            return {self.pair[1]}
        if self.relation is Relation.DUPLICATE:
            return {self.pair[0]}
        return {MERGED} if self.relation is Relation.COMPLEMENT else set(self.pair)


def tell(
    name: str,
    first: str | dict[str, Any],
    then: str | dict[str, Any],
    relation: Relation = Relation.UPDATE,
    *,
    acts: bool = True,
) -> Example:
    bodies = [{"content": told} if isinstance(told, str) else told for told in (first, then)]
    return Example(name, bodies[0], bodies[1], relation, acts)


def fact(content: str, confidence: float) -> dict[str, Any]:
    return {"content": content, "category": "personal", "confidence": confidence}


def decision(content: str) -> dict[str, Any]:
    return {"content": content, "kind": "decision", "category": "architecture"}


PORTLAND = {"content": "User lives in Portland", "tier": "core", "importance": 0.9}
SEATTLE = {"content": "User just moved to Seattle", "importance": 0.4}
JUNIOR = {"content": "I'm a junior developer", "confidence": 0.6}
SENIOR = {"content": "Actually, I'm a senior developer now", "confidence": 0.6}

EXAMPLES = [
    tell("000 database", "Use PostgreSQL as the database", "Use MongoDB as the database"),
    tell("001 partner", "apartment hunting with Amari", "broke up with Amari", acts=False),
    tell("001 residence", "lives in NYC", "lives in LA"),
    tell("001 migration", "uses PostgreSQL", "migrated to MongoDB", acts=False),
    tell(
        "002 contradiction",
        "User is vegetarian",
        "User ate steak last night",
        Relation.CONTRADICTION,
        acts=False,
    ),
    tell("002 update", "User lives in Portland", "User moved to Seattle"),
    tell("002 overlap", "User likes coffee", "User drinks coffee every morning", Relation.OVERLAP),
    tell("002 none", "User likes coffee", "User has a dog", Relation.NONE),
    tell("002 flow", PORTLAND, SEATTLE, acts=False),
    tell("003 duplicate", "User prefers dark mode", "User likes dark theme", Relation.DUPLICATE),
    tell("003 supersede", "User works at Google", "User now works at Anthropic"),
    tell("003 merge", "User has a dog", "User's dog is named Max", Relation.COMPLEMENT, acts=False),
    tell("003 coexist", "User enjoys hiking", "User went hiking last weekend", Relation.OVERLAP),
    tell("004 fact", "I prefer VS Code", "Actually, I prefer Vim"),
    tell(
        "004 fact of a category",
        fact("user prefers VS Code", 0.8),
        fact("user prefers Vim", 0.9),
        acts=False,
    ),
    tell("004 preference", "I always use VS Code", "I've switched to Neovim", acts=False),
    tell("004 preference by key", editor("VS Code"), editor("Neovim")),
    tell(
        "004 decision",
        decision("Use React for frontend"),
        decision("Vue would be better for this use case"),
        acts=False,
    ),
    tell(
        "004 decision as stored",
        decision("Use React for frontend"),
        decision("Use Vue for frontend"),
    ),
    tell("004 evolution", "I use tabs for indentation", "Actually, let's use 2 spaces instead"),
    tell(
        "004 category of decisions", decision("Use PostgreSQL"), decision("Use MongoDB"), acts=False
    ),
    tell(
        "004 category of facts",
        fact("My editor is Vim", 0.8),
        fact("My editor is Emacs", 0.9),
    ),
    tell("004 correction", JUNIOR, SENIOR, Relation.CONTRADICTION),
    tell("004 not X, use Y", "Use npm", "not npm, use pnpm"),
    tell("004 change from X to Y", "Use npm", "change from npm to pnpm"),
    tell("004 I meant X", "My flight is on Tuesday", "I meant Thursday"),
    tell("004 actually, Y", "Use npm", "actually, pnpm"),
    tell("004 instead of X, do Y", "Use npm", "instead of npm, do pnpm"),
]
# The local judge reads an episode in "User ate steak last night". Where it reads better, this goes.
UNSEEN = {"002 contradiction"}

every_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)

DATABASES = ("Use PostgreSQL", "Use MongoDB", "Use PostgreSQL with caching layer")
HOMES = ("User lives in Porto", "User lives in Lisbon", "User lives in Braga")
READ = {example.pair: example.relation for example in EXAMPLES}
READ |= dict.fromkeys((*pairwise(DATABASES), *pairwise(HOMES)), Relation.UPDATE)


def read_attentively(request: Request) -> Answer:
    """Answer as a model would that knows the examples. Other pairs have nothing in common."""
    incoming, *stored = request.texts
    relations = [READ.get((text, incoming), Relation.NONE) for text in stored]
    judgments = []
    for number, relation in zip(request.numbers, relations, strict=True):
        text = MERGED if relation is Relation.COMPLEMENT else None
        judgments.append(judgment(number, relation.value, 0.95, text=text))
    return judges(*judgments)


# --- services, one a module ----------------------------------------------------------------------


@contextmanager
def serving(server_url: str, template_url: str, **settings: Any) -> Iterator[str]:
    with (
        fresh_database(server_url, template=name_of(template_url)) as url,
        running(load_settings(database_url=url, local_judge=True, **settings)) as address,
    ):
        yield address


@pytest.fixture(scope="module")
def alone_url(server_url: str, template_url: str) -> Iterator[str]:
    with serving(server_url, template_url) as address:
        yield address


@pytest.fixture(scope="module")
def advised_url(server_url: str, template_url: str) -> Iterator[str]:
    with (
        ScriptedModel(read_attentively) as model,
        serving(server_url, template_url, llm_base_url=model.url) as address,
    ):
        yield address


@contextmanager
def new_agent(address: str) -> Iterator[httpx.Client]:
    headers = {"X-Agent-Id": f"test-{uuid4().hex}"}
    with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
        yield client
        assert_agent_healthy(client)


@pytest.fixture
def alone(alone_url: str) -> Iterator[httpx.Client]:
    """An agent of a service without a model."""
    with new_agent(alone_url) as client:
        yield client


@pytest.fixture
def advised(advised_url: str) -> Iterator[httpx.Client]:
    """An agent of a service whose model reads attentively."""
    with new_agent(advised_url) as client:
        yield client


@pytest.fixture(params=["alone", "advised"])
def client(request: pytest.FixtureRequest) -> httpx.Client:
    """An agent of either."""
    client: httpx.Client = request.getfixturevalue(request.param)
    return client


def list_asked(client: httpx.Client, answer: dict[str, Any]) -> list[str]:
    """Return the ids of the memories that the question of the answer names."""
    if answer["review_id"] is None:
        return []
    review = client.get(f"/v1/reviews/{answer['review_id']}").json()
    return [each["memory_id"] for each in review["judgments"]]


# --- pairs -----------------------------------------------------------------------------------------


@every_example
def test_without_a_model_each_is_done_or_asked(alone: httpx.Client, example: Example) -> None:
    first, then = send(alone, example.first), send(alone, example.then)
    if example.name in UNSEEN:
        assert (then["operation"], then["review_id"]) == ("ADD", None)
        return
    if contents(alone) == example.holding:
        return
    assert not example.acts, then["candidates"]
    assert contents(alone) == set(example.pair)
    asked = list_asked(alone, then)
    assert asked == [first["memory"]["id"]], then["candidates"]
    decide(alone, then["review_id"], "accept", memories=asked)
    if example.relation in ENDS:
        assert contents(alone) == example.holding


@every_example
def test_with_a_model_each_is_as_its_reference_says(
    advised: httpx.Client, example: Example
) -> None:
    first, then = send(advised, example.first), send(advised, example.then)
    assert contents(advised) == example.holding, then["candidates"]
    assert then["review_id"] is None
    ended = example.relation in ENDS or example.relation is Relation.COMPLEMENT
    assert list_ended(then) == ([first["memory"]["id"]] if ended else [])


# --- chains and times ----------------------------------------------------------------------------


def test_a_decision_goes_to_another_database_and_back_with_a_cache(client: httpx.Client) -> None:
    first = last = send(client, decision(DATABASES[0]))["memory"]["id"]
    for text in DATABASES[1:]:
        answer = send(client, decision(text))
        if list_ended(answer) != [last]:
            assert last in list_asked(client, answer), answer["candidates"]
            decide(client, answer["review_id"], "accept", memories=[last])
        last = answer["memory"]["id"]
    assert contents(client) == {DATABASES[-1]}
    chain = client.get(f"/v1/memories/{first}/history").json()
    assert [version["content"] for version in chain["versions"]] == list(DATABASES)


def test_the_version_of_15_january_is_the_first_of_three(client: httpx.Client) -> None:
    days = ("2026-01-01", "2026-02-01", "2026-03-15")
    for home, day in zip(HOMES, days, strict=True):
        store(client, home, source_date=day)
    assert contents(client) == {HOMES[-1]}
    assert contents(client, as_of="2026-01-15") == {HOMES[0]}
    first = client.get("/v1/memories", params={"as_of": "2026-01-15"}).json()["items"][0]
    chain = client.get(f"/v1/memories/{first['id']}/history").json()
    assert [version["content"] for version in chain["versions"]] == list(HOMES)
    assert chain["current"] == chain["versions"][-1]["id"]


def test_a_search_at_a_time_finds_what_held_then(client: httpx.Client) -> None:
    old = store(client, "Use PostgreSQL as the database", source_date="2026-01-01")
    new = store(client, "Use MongoDB as the database", source_date="2026-02-01")
    assert list_ended(new) == [old["memory"]["id"]]
    found = {None: "Use MongoDB as the database", "2026-01-15": "Use PostgreSQL as the database"}
    for as_of, content in found.items():
        said = {"query": "database"} | ({"as_of": as_of} if as_of else {})
        hits = client.post("/v1/search", json=said).json()["results"]
        assert [hit["memory"]["content"] for hit in hits] == [content]
        words = ["--as-of", as_of] if as_of else []
        words += ["--url", str(client.base_url), "--agent", client.headers["X-Agent-Id"]]
        shown = palimpsest("search", "database", *words)
        assert content in shown.stdout, shown.stderr
        assert shown.stdout.count("Use ") == 1


def test_a_fact_that_names_what_it_supersedes_ends_it(client: httpx.Client) -> None:
    old = store(client, "The office plants are watered by Ines")["memory"]["id"]
    new = store(client, "Rui has a green thumb", supersedes=[old])
    assert list_ended(new) == [old]
    assert new["memory"]["supersedes_id"] == old
    assert contents(client) == {"Rui has a green thumb"}


def test_the_flow_demotes_portland_and_seattle_inherits(advised: httpx.Client) -> None:
    old, new = send(advised, PORTLAND)["memory"]["id"], send(advised, SEATTLE)["memory"]
    assert new["importance"] == 0.9
    portland = advised.get(f"/v1/memories/{old}").json()
    assert (portland["tier"], portland["contradicted_by"]) == ("semantic", new["id"])
    question = {"query": "Where does the user live?"}
    hits = advised.post("/v1/search", json=question).json()["results"]
    assert [hit["memory"]["content"] for hit in hits] == [SEATTLE["content"]]


def test_a_correction_is_believed_more_than_it_was_said(client: httpx.Client) -> None:
    assert send(client, JUNIOR)["memory"]["confidence"] == 0.6
    assert send(client, SENIOR)["memory"]["confidence"] == 0.7


@pytest.mark.slow
def test_the_demo_leaves_chains_that_outlive_a_restart(database_url: str) -> None:
    settings = load_settings(database_url=database_url, local_judge=True)
    with running(settings) as address:
        shown = palimpsest("demo", "--url", address)
        assert shown.returncode == 0, shown.stderr
        agent = shown.stdout.split("uses the agent ")[1].split(".")[0]
        before = map_successors(address, agent)
    with running(settings) as address:
        assert map_successors(address, agent) == before
    assert any(before.values())


def map_successors(address: str, agent: str) -> dict[str, str | None]:
    params = {"include_superseded": True, "limit": 100}
    headers = {"X-Agent-Id": agent}
    answer = httpx.get(f"{address}/v1/memories", params=params, headers=headers, timeout=60)
    return {version["id"]: version["superseded_by"] for version in answer.json()["items"]}
