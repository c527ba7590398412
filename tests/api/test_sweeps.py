"""The sweep: stored memories looked at again."""

from typing import Any

import httpx

from app.settings import load_settings
from support.builders import list_ended, problem
from support.scripted_model import ScriptedModel, every, fails
from support.service import running
from support.sweeps import Place

# --- what it finds -----------------------------------------------------------------------------------------------------


def test_of_several_values_in_a_slot_the_latest_start_holds_and_the_others_end_where_the_next_begins(
    place: Place,
) -> None:
    vim = place.editor("Vim", valid_from="2023-01-01")
    nano = place.editor("Nano", valid_from="2025-01-01")
    emacs = place.editor("Emacs", valid_from="2024-01-01")
    found = place.sweep()
    assert place.standing(vim, emacs, nano) == ["superseded", "superseded", "current"]
    assert place.memory(vim)["valid_until"].startswith("2024-01-01")
    assert place.memory(vim)["superseded_by"] == emacs
    assert place.memory(emacs)["valid_until"].startswith("2025-01-01")
    assert found["counts"]["superseded"] == 2
    assert (found["total"], found["examined"], found["progress"]) == (3, 3, 1.0)
    assert {(f["memory_id"], *f["others"]) for f in found["findings"]} == {
        (emacs, vim),
        (nano, emacs),
    }


def test_the_log_says_that_the_sweep_decided_and_why(place: Place) -> None:
    place.editor("Vim", valid_from="2023-01-01")
    place.editor("Nano", valid_from="2025-01-01")
    found = place.sweep()
    [entry] = place.log(decided_by="sweep")
    assert (entry["operation"], entry["request_id"]) == ("SUPERSEDE", found["id"])
    assert "sweep (rule)" in entry["reasoning"]


def list_not_done(entry: dict[str, Any]) -> list[tuple[str, dict[str, str] | None]]:
    return [(each["memory_id"], each.get("not_done")) for each in entry["opinions"]]


def test_the_log_says_what_a_sweep_did_not_do_because_it_asks(place: Place) -> None:
    old = place.store("Lives in Porto", valid_from="2023-01-01")
    place.store("Moved from Porto to Lisbon", valid_from="2024-05-01")
    place.client.patch("/v1/agents/default", json={"mode": "shadow"})
    place.sweep()
    [entry] = place.log(decided_by="sweep")
    assert entry["operation"] == "NOOP"
    assert list_not_done(entry) == [(old, {"relation": "UPDATE", "reason": "held"})]


def test_the_log_tells_what_a_sweep_did_from_what_it_asks(place: Place) -> None:
    old = place.store("Alice lives in Porto")
    rule = place.store("Alice lives in Lyon", kind="constraint")
    place.store("Alice moved to Lisbon")
    place.sweep()
    asked, done = place.log(decided_by="sweep")
    assert (asked["operation"], done["operation"]) == ("NOOP", "SUPERSEDE")
    held = {"relation": "UPDATE", "reason": "held"}
    assert dict(list_not_done(asked)) == {old: held, rule: held}
    assert list_not_done(done) == [(old, None)]


def test_a_value_with_a_stated_end_covers_what_it_was_stored_apart_from(place: Place) -> None:
    vim = place.editor("Vim", valid_from="2023-01-01")
    trial = place.editor("Zed", valid_from="2024-01-01", valid_until="2024-02-01")
    found = place.sweep()
    assert place.memory(trial)["chain_id"] == vim
    assert place.memory(vim)["valid_until"] is None
    [cover] = place.memory(vim)["covered"]
    assert (cover["since"][:10], cover["until"][:10]) == ("2024-01-01", "2024-02-01")
    [finding] = found["findings"]
    assert (finding["memory_id"], finding["others"]) == (trial, [vim])
    assert (found["counts"]["covered"], found["counts"]["duplicates"]) == (1, 0)
    again = place.sweep()
    assert again["findings"] == []


def test_the_same_value_twice_is_withdrawn_once(place: Place) -> None:
    first, again = (
        place.editor("Vim", valid_from="2023-01-01"),
        place.store("Vim is the editor", category="tooling", key="editor", value="vim"),
    )
    found = place.sweep()
    assert place.standing(first, again) == ["current", "reverted"]
    assert found["counts"]["duplicates"] == 1


def test_neighbours_without_a_slot_are_judged_as_a_store_judges_them(place: Place) -> None:
    old = place.store("Lives in Porto", valid_from="2023-01-01")
    other = place.store("Has a dog called Rex", valid_from="2023-02-01")
    new = place.store("Moved from Porto to Lisbon", valid_from="2024-05-01")
    found = place.sweep()
    assert place.standing(old, other, new) == ["superseded", "current", "current"]
    assert found["findings"][0]["signals"]


def test_an_end_that_was_told_as_a_fact_ends_what_it_tells_of(place: Place) -> None:
    old = place.store("Works at Initech", valid_from="2023-01-01")
    end = place.store("No longer works at Initech", valid_from="2024-01-01")
    found = place.sweep()
    assert place.standing(old, end) == ["superseded", "current"]
    assert place.memory(old)["superseded_by"] == end
    assert place.memory(old)["valid_until"].startswith("2024-01-01")
    assert found["counts"]["retracted"] == 1


def test_a_question_beside_a_proposal_is_asked_afterwards(place: Place) -> None:
    place.store("Alice lives in Porto")
    rule = place.store("Alice lives in Lyon", kind="constraint")
    place.client.patch("/v1/agents/default", json={"mode": "shadow"})
    stored = place.client.post("/v1/memories", json={"content": "Alice moved to Lisbon"}).json()
    [proposed] = place.client.get("/v1/reviews").json()["items"]
    assert (proposed["id"], proposed["source"]) == (stored["review_id"], "shadow")
    place.work()
    asked, again = place.client.get("/v1/reviews").json()["items"]
    assert again["id"] == proposed["id"]
    assert (asked["source"], [j["memory_id"] for j in asked["judgments"]]) == ("sweep", [rule])
    place.work()
    assert len(place.client.get("/v1/reviews").json()["items"]) == 2
    for review in (proposed, asked):
        decided = place.client.post(f"/v1/reviews/{review['id']}/accept")
        decided = (
            place.client.post(f"/v1/reviews/{review['id']}/accept")
            if decided.status_code == 409
            else decided
        )
        assert decided.status_code == 200, decided.text
    assert [m["content"] for m in place.client.get("/v1/memories").json()["items"]] == [
        "Alice moved to Lisbon"
    ]


def test_lower_trust_never_ends_higher_but_asks(place: Place) -> None:
    trusted = place.editor("Vim", trust=90, valid_from="2023-01-01")
    place.editor("Nano", trust=10, valid_from="2024-01-01")
    found = place.sweep()
    assert place.memory(trusted)["status"] == "current"
    assert found["counts"]["reviews"] == 1
    [review] = place.client.get("/v1/reviews").json()["items"]
    assert review["source"] == "sweep"


def test_what_holds_several_values_is_left(place: Place) -> None:
    ids = [
        place.store(f"Speaks {word}", key="language", value=word, single_valued=False)
        for word in ("Thai", "Dutch")
    ]
    assert place.sweep()["counts"]["superseded"] == 0
    assert place.standing(*ids) == ["current", "current"]


# --- once ---------------------------------------------------------------------------------------------------------------


def test_a_second_sweep_finds_nothing(place: Place) -> None:
    for value, year in (("Vim", 2022), ("Nano", 2023), ("Emacs", 2024)):
        place.editor(value, valid_from=f"{year}-01-01")
    place.store("Lives in Porto", valid_from="2023-01-01")
    place.store("Moved from Porto to Lisbon", valid_from="2024-05-01")
    assert place.sweep()["findings"]
    before = place.log(limit=1000)
    assert place.sweep()["findings"] == []
    assert place.log(limit=1000) == before


def test_a_question_is_asked_once_and_not_again_when_it_was_answered(place: Place) -> None:
    place.editor("Vim", trust=90, valid_from="2023-01-01")
    place.editor("Nano", trust=10, valid_from="2024-01-01")
    place.sweep()
    assert place.sweep()["counts"]["reviews"] == 0
    [review] = place.client.get("/v1/reviews").json()["items"]
    assert place.client.post(f"/v1/reviews/{review['id']}/reject").status_code == 200
    assert place.sweep()["counts"]["reviews"] == 0


def test_accepting_a_review_of_the_sweep_does_what_it_proposes(place: Place) -> None:
    trusted = place.editor("Vim", trust=90, valid_from="2023-01-01")
    new = place.editor("Nano", trust=10, valid_from="2024-01-01")
    place.sweep()
    [review] = place.client.get("/v1/reviews").json()["items"]
    accepted = place.client.post(f"/v1/reviews/{review['id']}/accept").json()
    assert (accepted["operation"], list_ended(accepted)) == ("SUPERSEDE", [trusted])
    assert place.memory(trusted)["superseded_by"] == new


def test_accepting_what_moved_meanwhile_shows_it_first(place: Place) -> None:
    trusted = place.editor("Vim", trust=90, valid_from="2023-01-01")
    new = place.editor("Nano", trust=10, valid_from="2024-01-01")
    place.sweep()
    [review] = place.client.get("/v1/reviews").json()["items"]
    place.client.patch(f"/v1/memories/{new}", json={"valid_from": "2024-06-01"}).raise_for_status()
    refused = problem(place.client.post(f"/v1/reviews/{review['id']}/accept"), 409)
    assert refused["changed"] == [new]
    assert list_ended(place.client.post(f"/v1/reviews/{review['id']}/accept").json()) == [trusted]
    assert place.memory(trusted)["valid_until"].startswith("2024-06-01")


def test_what_a_person_undid_is_not_done_again(place: Place) -> None:
    vim, nano = (
        place.editor("Vim", valid_from="2023-01-01"),
        place.editor("Nano", valid_from="2024-01-01"),
    )
    place.sweep()
    [entry] = place.log(decided_by="sweep")
    assert place.client.post(f"/v1/log/{entry['id']}/revert").status_code == 200
    assert place.sweep()["findings"] == []
    assert place.standing(vim, nano) == ["current", "current"]


def test_a_whole_sweep_is_undone_by_its_id(place: Place) -> None:
    ids = [
        place.editor(value, valid_from=f"{year}-01-01")
        for value, year in (("Vim", 2022), ("Nano", 2023), ("Emacs", 2024))
    ]
    home = place.store("Lives in Porto", valid_from="2023-01-01")
    place.store("Moved from Porto to Lisbon", valid_from="2024-05-01")
    found = place.sweep()
    undone = place.client.post("/v1/reverts", json={"sweep_id": found["id"]})
    assert undone.status_code == 200, undone.text
    assert place.standing(*ids, home) == ["current"] * 4


# --- how it is asked for ------------------------------------------------------------------------------------------------


def test_a_dry_run_tells_what_a_sweep_does_and_does_nothing(place: Place) -> None:
    ids = [
        place.editor(value, valid_from=f"{year}-01-01")
        for value, year in (("Vim", 2022), ("Nano", 2023), ("Emacs", 2024))
    ]
    place.store("Lives in Porto", valid_from="2023-01-01")
    place.store("Moved from Porto to Lisbon", valid_from="2024-05-01")
    before = place.log(limit=1000)
    tried = place.sweep(dry_run=True)
    assert place.standing(*ids) == ["current"] * 3
    assert place.log(limit=1000) == before
    assert place.sweep()["findings"] == tried["findings"]


def test_one_slot_alone(place: Place) -> None:
    vim, _ = (
        place.editor("Vim", valid_from="2022-01-01"),
        place.editor("Nano", valid_from="2023-01-01"),
    )
    homes = [
        place.store(f"Lives in {town}", key="home", value=town, valid_from=f"{year}-01-01")
        for town, year in (("Porto", 2022), ("Lisbon", 2023))
    ]
    found = place.sweep(slot={"category": "Tooling", "key": "EDITOR"})
    assert place.standing(vim, *homes) == ["superseded", "current", "current"]
    assert found["total"] == 2


def test_what_became_known_since_a_time_is_held_against_all_that_was_known_before(
    place: Place,
) -> None:
    old = place.store("Lives in Porto", valid_from="2023-01-01")
    place.store("Works at Initech", valid_from="2023-01-01")
    place.store("No longer works at Initech", valid_from="2024-01-01")
    since = place.memory(place.store("Moved from Porto to Lisbon", valid_from="2024-05-01"))[
        "created_at"
    ]
    found = place.sweep(since=since)
    assert place.memory(old)["status"] == "superseded"
    assert (found["total"], found["counts"]["retracted"]) == (1, 0)


def test_what_is_told_late_is_held_against_what_began_after_it(place: Place) -> None:
    place.store("Moved from Porto to Lisbon", valid_from="2024-05-01")
    late = place.store("Lives in Porto", valid_from="2023-01-01")
    place.sweep(since=place.memory(late)["created_at"])
    assert place.memory(late)["valid_until"].startswith("2024-05-01")


def test_in_shadow_every_change_becomes_a_question(place: Place) -> None:
    vim, nano = (
        place.editor("Vim", valid_from="2023-01-01"),
        place.editor("Nano", valid_from="2024-01-01"),
    )
    place.client.patch("/v1/agents/default", json={"mode": "shadow"})
    assert place.sweep()["counts"]["reviews"] == 1
    assert place.standing(vim, nano) == ["current", "current"]


def test_a_sweep_of_an_agent_without_memories_ends_at_once(place: Place) -> None:
    assert place.sweep()["total"] == 0


def test_a_cancelled_sweep_goes_no_further(place: Place) -> None:
    ids = place.editor("Vim"), place.editor("Nano")
    started = place.client.post("/v1/sweeps").json()
    cancelled = place.client.post(f"/v1/sweeps/{started['id']}/cancel").json()
    assert cancelled["status"] == "cancelled"
    place.work()
    assert place.client.get(f"/v1/sweeps/{started['id']}").json()["status"] == "cancelled"
    assert place.standing(*ids) == ["current", "current"]


def test_a_slot_needs_its_key_and_an_agent_its_own_name(place: Place) -> None:
    assert place.client.post("/v1/sweeps", json={"slot": {"entity": "x"}}).status_code == 422
    assert place.client.post("/v1/sweeps", json={"agent_id": "another"}).status_code == 422
    assert place.client.post("/v1/sweeps", json={"agent_id": "default"}).status_code == 202
    assert place.client.get("/v1/sweeps/0192f0aa-0000-7000-8000-000000000000").status_code == 404


def test_another_agents_sweep_is_unknown(place: Place) -> None:
    started = place.client.post("/v1/sweeps").json()
    assert (
        place.client.get(
            f"/v1/sweeps/{started['id']}", headers={"X-Agent-Id": "another"}
        ).status_code
        == 404
    )


def test_where_it_is_switched_off_a_call_is_told_so(database_url: str) -> None:
    with running(load_settings(database_url=database_url, supersession_enabled=False)) as address:
        answer = httpx.post(f"{address}/v1/sweeps")
    assert answer.status_code == 409
    assert "PALIMPSEST_SUPERSESSION_ENABLED" in answer.json()["detail"]


# --- inline -------------------------------------------------------------------------------------------------------------


def test_a_value_stored_unjudged_by_the_settings_is_held_against_its_slot_right_after(
    database_url: str,
) -> None:
    settings = load_settings(database_url=database_url, classify="off")
    with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
        place = Place(database_url, client)
        stored = [
            client.post(
                "/v1/memories", json={"content": f"Uses {word}", "key": "editor", "value": word}
            )
            for word in ("Vim", "Nano")
        ]
        vim, nano = (answer.json()["memory"]["id"] for answer in stored)
        assert place.standing(vim, nano) == ["current", "current"]
        place.work(classify="off")
        assert place.standing(vim, nano) == ["superseded", "current"]
        [sweep] = client.get("/v1/sweeps").json()["items"]
        assert (sweep["origin"], sweep["counts"]["superseded"]) == ("store", 1)
        place.work()
        assert len(client.get("/v1/sweeps").json()["items"]) == 1


def test_a_call_that_asks_for_no_judge_is_left_alone_until_a_sweep(place: Place) -> None:
    vim, nano = place.editor("Vim"), place.editor("Nano")
    place.work()
    assert place.standing(vim, nano) == ["current", "current"]
    place.sweep()
    assert place.standing(vim, nano) == ["superseded", "current"]


def test_what_the_model_could_not_judge_is_judged_when_it_is_back(database_url: str) -> None:
    with ScriptedModel(fails(500)) as model:
        settings = load_settings(database_url=database_url, llm_base_url=model.url, llm_tries=1)
        with running(settings) as address, httpx.Client(base_url=address, timeout=60) as client:
            place = Place(database_url, client)
            old, new = (
                client.post(
                    "/v1/memories", json={"content": f"The Falcon app was written by {name}"}
                ).json()["memory"]["id"]
                for name in ("Anna", "Bertha")
            )
            assert place.standing(old, new) == ["current", "current"]
            place.work(llm_base_url=model.url, llm_tries=1)
            assert place.standing(old, new) == ["current", "current"]
            model.then(every("CONTRADICTION"))
            place.work(llm_base_url=model.url, llm_tries=1)
            assert place.standing(old, new) == ["superseded", "current"]
            [entry] = place.log(decided_by="sweep")
            assert "sweep (model)" in entry["reasoning"]
            assert entry["usage"]["llm_calls"] == 2  # asked again, for nobody else ends it
