"""Nothing that was told is lost: what counts as known, what ends something, what is to be forgotten."""

import httpx
import pytest

from app.settings import load_settings
from support.builders import contents, store
from support.service import running


@pytest.mark.parametrize(
    ("stored", "incoming"),
    [
        ("Retry if status != 200", "Retry if status = 200"),
        ("The pump draws 5 mW", "The pump draws 5 MW"),
        ("The Wi-Fi code is Tulip77", "The Wi-Fi code is tulip77"),
        ("The config file is src/Utils/env.ts", "The config file is src/utils/env.ts"),
        ("I like her :)", "I like her :("),
        ("Pin lib ~1.2", "Pin lib 1.2"),
        ("The alarm goes off at load > 90", "The alarm goes off at load >= 90"),
        ("The default branch is releaseNext", "The default branch is releasenext"),
        ("The buffer holds 64 Mb", "The buffer holds 64 MB"),
    ],
)
def test_a_text_with_another_exact_word_is_no_repetition(
    client: httpx.Client, stored: str, incoming: str
) -> None:
    store(client, stored)
    assert store(client, incoming)["operation"] != "NOOP"
    assert incoming in contents(client)


def test_another_exact_value_in_a_slot_is_an_update(client: httpx.Client) -> None:
    code = {"content": "The Wi-Fi code", "key": "wifi", "value": "Tulip77"}
    client.post("/v1/memories", json=code).raise_for_status()
    again = client.post("/v1/memories", json=code | {"value": "tulip77"}).json()
    assert again["operation"] == "UPDATE"
    editor = {"content": "The editor", "key": "editor", "value": "Vim"}
    client.post("/v1/memories", json=editor).raise_for_status()
    assert client.post("/v1/memories", json=editor | {"value": "vim"}).json()["operation"] == "NOOP"


# --- repetitions -------------------------------------------------------------------------------

OTHERS = [
    ("We spent last Christmas with my parents in Hull.", "My parents live in Hull."),
    ("I bought running shoes for the half marathon.", "I'm running a half marathon."),
    ("I took the cat to Dr Patel.", "Dr Patel is our vet."),
    ("I picked up Leo from the Montessori school.", "Leo goes to the Montessori school."),
    ("We flew to Lisbon to see my brother.", "My brother lives in Lisbon."),
    (
        "I'm staying at the Ibis until the end of February 2027",
        "My visa is valid through the end of February 2027",
    ),
    ("I have the keys until 30 June 2999", "My contract runs until 30 June 2999"),
    ("The Wi-Fi code is Tulip77", "The Wi-Fi code is tulip77"),
    ("Pin lib ~1.2", "Pin lib 1.2"),
]
REPETITIONS = [
    ("My parents live in Hull.", "Mum and Dad have their home in Hull."),
    ("Dr Patel is our vet.", "Our vet is called Dr Patel."),
    ("We bought the house in June 2019.", "The house was bought by us in June 2019."),
    ("Lena is in Oslo until 3 May 2999.", "Until 3 May 2999 Lena is staying in Oslo."),
]


def test_an_event_a_shared_date_or_an_exact_word_makes_no_repetition(database_url: str) -> None:
    settings = load_settings(database_url=database_url, local_judge=True)
    with running(settings) as address:
        for place, (stored, incoming) in enumerate([*OTHERS, *REPETITIONS]):
            agent = {"X-Agent-Id": f"pair-{place}"}
            with httpx.Client(base_url=address, headers=agent, timeout=60) as client:
                store(client, stored)
                is_known = store(client, incoming)["operation"] == "NOOP"
                assert is_known == ((stored, incoming) in REPETITIONS), incoming
                assert is_known or incoming in contents(client)


def test_the_local_judge_ends_what_a_command_to_forget_names(database_url: str) -> None:
    settings = load_settings(database_url=database_url, local_judge=True)
    with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
        store(client, "I collect thimbles")
        answer = store(client, "Forget my thimble collection")
        assert (answer["operation"], answer["memory"]) == ("DELETE", None)
        assert contents(client) == set()


def test_what_a_repetition_says_besides_its_text_joins_what_it_repeats(
    client: httpx.Client,
) -> None:
    first = store(client, "Uses Vim", tags=["ops"], details={"since": 2020}, sources=["mail"])
    again = store(
        client,
        "uses Vim.",
        tags=["security", "ops"],
        session_id="s2",
        entities=["Vim"],
        sources=["chat"],
        details={"owner": "kim"},
    )
    assert (again["operation"], again["hints"]) == ("NOOP", [])
    memory = client.get(f"/v1/memories/{first['memory']['id']}").json()
    assert memory == again["memory"] | {"access_count": 1} | {
        name: memory[name] for name in ("last_reinforced_at", "last_accessed_at", "strength")
    }
    assert memory["tags"] == ["ops", "security"]
    assert (memory["session_id"], memory["entities"]) == ("s2", ["Vim"])
    assert memory["details"] == {"since": 2020, "owner": "kim"}
    assert memory["sources"] == ["mail", "chat"]
    for found_by in ({"tags_any": "security"}, {"session_id": "s2"}):
        [found] = client.get("/v1/memories", params=found_by).json()["items"]
        assert found["id"] == memory["id"]
    assert client.get("/v1/doctor").json()["problems"] == []
    client.post(f"/v1/log/{again['log_id']}/revert", json={}).raise_for_status()
    memory = client.get(f"/v1/memories/{first['memory']['id']}").json()
    assert (memory["tags"], memory["session_id"], memory["access_count"]) == (["ops"], None, 0)
    assert client.get("/v1/doctor").json()["problems"] == []


def test_a_hint_names_what_a_repetition_could_not_leave(client: httpx.Client) -> None:
    first = store(client, "Uses Vim", session_id="s1", details={"owner": "ana"})
    again = store(client, "Uses Vim", session_id="s2", details={"owner": "kim"}, tags=["new"])
    [hint] = again["hints"]
    assert (hint["name"], hint["memory_ids"]) == ("repetition_not_joined", [first["memory"]["id"]])
    assert "details.owner, session_id" in hint["sentence"]
    memory = again["memory"]
    assert (memory["session_id"], memory["details"]) == ("s1", {"owner": "ana"})
    assert memory["tags"] == ["new"]


def test_repetitions_in_one_batch_join_what_the_batch_stores(client: httpx.Client) -> None:
    items = [{"content": "Uses Vim", "tags": [tag]} for tag in ("a", "b", "c")]
    results = client.post("/v1/memories/batch", json={"items": items}).json()["results"]
    assert [result["operation"] for result in results] == ["ADD", "NOOP", "NOOP"]
    [memory] = client.get("/v1/memories").json()["items"]
    assert memory["tags"] == ["a", "b", "c"]
    assert client.get("/v1/doctor").json()["problems"] == []


def test_an_accepted_repetition_joins_too(client: httpx.Client) -> None:
    first = store(client, "Uses Vim", tags=["ops"])
    client.patch(f"/v1/agents/{client.headers['X-Agent-Id']}", json={"mode": "shadow"})
    review_id = store(client, "uses Vim", tags=["security"])["review_id"]
    client.post(f"/v1/reviews/{review_id}/accept").raise_for_status()
    memory = client.get(f"/v1/memories/{first['memory']['id']}").json()
    assert memory["tags"] == ["ops", "security"]
    assert client.get("/v1/doctor").json()["problems"] == []


# --- what only ends something ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stored", "incoming", "query"),
    [
        (
            "User takes melatonin to fall asleep.",
            "User stopped taking melatonin because it gave him nightmares.",
            "melatonin",
        ),
        ("User is learning Rust", "User has given up on Rust", "Rust"),
        ("I sing in the choir", "I've left the choir", "choir"),
    ],
)
def test_what_only_ends_something_is_stored_and_found(
    client: httpx.Client, stored: str, incoming: str, query: str
) -> None:
    old = store(client, stored)["memory"]["id"]
    response = client.post("/v1/memories", json={"content": incoming})
    answer = response.json()
    assert (response.status_code, answer["operation"]) == (201, "DELETE")
    assert [each["id"] for each in answer["superseded"]] == [old]
    assert client.get(f"/v1/memories/{old}").json()["superseded_by"] == answer["memory"]["id"]
    results = client.get("/v1/search", params={"q": query}).json()["results"]
    assert [each["memory"]["content"] for each in results] == [incoming]
    assert client.get("/v1/doctor").json()["problems"] == []
    client.post(f"/v1/log/{answer['log_id']}/revert", json={}).raise_for_status()
    assert contents(client) == {stored}
    assert client.get("/v1/doctor").json()["problems"] == []


def test_an_end_told_again_ends_no_reason_for_it(client: httpx.Client) -> None:
    store(client, "User takes melatonin to fall asleep.")
    reason = "User stopped taking melatonin because it gave him nightmares."
    store(client, reason)
    store(client, "User no longer takes melatonin")
    assert reason in contents(client)


def test_the_end_of_a_temporary_fact_uncovers_what_it_covered(client: httpx.Client) -> None:
    anna = {"content": "My boss is Anna"}
    ben = {"content": "My boss is Ben", "valid_until": "2999-01-01"}
    store(client, **anna)
    store(client, **ben)
    assert contents(client) == {"My boss is Ben"}
    answer = store(client, "Forget that Ben is my boss")
    assert answer["operation"] == "DELETE"
    assert contents(client) == {"My boss is Anna"}


# --- commands to forget ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        "Please forget everything about my home",
        "Erase my ex from your memory",
        "Don't remember that I like jazz",
        "Forget my thimble collection",
        "Forget that I collect thimbles",
        "delete what you know about my diet",
        "Can you forget my old address?",
        "I want you to forget what I said about Oslo.",
        "Remove my phone number from your notes, please",
        "Hey, wipe everything you have on Tom!",
        "Stop remembering my weight",
    ],
)
def test_a_command_to_forget_is_never_stored(client: httpx.Client, command: str) -> None:
    store(client, "I keep bees")
    response = client.post("/v1/memories", json={"content": command})
    answer = response.json()
    assert (response.status_code, answer["operation"], answer["memory"]) == (200, "NOOP", None)
    assert [hint["name"] for hint in answer["hints"]] == ["forgets_nothing_stored"]
    assert "retract or delete it by its id" in answer["hints"][0]["sentence"]
    assert contents(client) == {"I keep bees"}
    assert client.get("/v1/doctor").json()["problems"] == []


@pytest.mark.parametrize(
    ("stored", "command"),
    [
        ("I collect thimbles", "Please forget that I collect thimbles."),
        ("I like jazz", "Don't remember that I like jazz"),
    ],
)
def test_a_command_to_forget_ends_what_it_names(
    client: httpx.Client, stored: str, command: str
) -> None:
    old = store(client, stored)["memory"]["id"]
    response = client.post("/v1/memories", json={"content": command})
    answer = response.json()
    assert (response.status_code, answer["operation"], answer["memory"]) == (200, "DELETE", None)
    assert [each["id"] for each in answer["superseded"]] == [old]
    assert contents(client) == set()
    assert client.get(f"/v1/memories/{old}").json()["status"] == "retracted"
    client.post(f"/v1/log/{answer['log_id']}/revert", json={}).raise_for_status()
    assert contents(client) == {stored}


def test_in_shadow_a_command_to_forget_waits_and_is_not_stored(client: httpx.Client) -> None:
    store(client, "I collect thimbles")
    client.patch(f"/v1/agents/{client.headers['X-Agent-Id']}", json={"mode": "shadow"})
    answer = store(client, "Forget that I collect thimbles")
    assert (answer["operation"], answer["memory"]) == ("NOOP", None)
    assert contents(client) == {"I collect thimbles"}
    client.post(f"/v1/reviews/{answer['review_id']}/accept").raise_for_status()
    assert contents(client) == set()
    assert client.get("/v1/doctor").json()["problems"] == []


@pytest.mark.parametrize(
    "text",
    [
        "I forget names",
        "Do not forget to configure the pool",
        "Don't forget my birthday is 3 May",
        "Delete the branch after each merge",
        "Forget Oslo, I live in Bergen now.",
        "Never store my phone number",
        "I want to forget my ex",
    ],
)
def test_what_only_looks_like_a_command_to_forget_is_stored(
    client: httpx.Client, text: str
) -> None:
    assert store(client, text)["operation"] == "ADD"
    assert contents(client) == {text}


# --- the hint that nothing stored matches ------------------------------------------------------


@pytest.mark.parametrize(
    ("stored", "incoming", "hints"),
    [
        ("I have a cat", "I no longer play tennis", ["ends_nothing_stored"]),
        ("I have a cat", "I have the car until the end of February 2999", []),
        ("I work at Acme", "I'm leaving Acme at the end of December 2999", []),
        ("I play tennis", "I stopped playing tennis in 2024", []),
    ],
)
def test_that_nothing_stored_matches_is_said_only_if_it_is_so(
    client: httpx.Client, stored: str, incoming: str, hints: list[str]
) -> None:
    store(client, stored)
    assert [hint["name"] for hint in store(client, incoming)["hints"]] == hints
