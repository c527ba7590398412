"""What a sweep must not do: lose what holds, take back what a person decided, forget a mark."""

from typing import Any

import httpx
import pytest

from app.settings import load_settings
from support.scripted_model import ScriptedModel, every, fails
from support.service import running
from support.sweeps import Place


def test_a_retraction_undone_by_a_person_is_not_done_again(place: Place) -> None:
    old = place.store("Works at Initech", valid_from="2023-01-01")
    end = place.store("No longer works at Initech", valid_from="2024-01-01")
    place.sweep()
    [entry] = place.log(decided_by="sweep")
    assert place.client.post(f"/v1/log/{entry['id']}/revert").status_code == 200
    assert place.standing(old, end) == ["current", "current"]
    found = place.sweep()
    assert place.standing(old, end) == ["current", "current"], found["findings"]


def test_a_merge_undone_by_a_person_is_not_done_again(database_url: str) -> None:
    with ScriptedModel(every("COMPLEMENT")) as model:
        said = {"llm_base_url": model.url, "llm_tries": 1}
        with (
            running(load_settings(database_url=database_url, **said)) as address,
            httpx.Client(base_url=address, timeout=60) as client,
        ):
            place = Place(database_url, client)
            one = place.store("The Falcon app was written by Anna", valid_from="2023-01-01")
            two = place.store("The Falcon app was tested by Bertha", valid_from="2024-01-01")
            client.post("/v1/sweeps")
            place.work(**said)
            [entry] = place.log(decided_by="sweep")
            assert entry["operation"] == "MERGE"
            assert client.post(f"/v1/log/{entry['id']}/revert").status_code == 200
            assert place.standing(one, two) == ["current", "current"]
            client.post("/v1/sweeps")
            place.work(**said)
            assert place.standing(one, two) == ["current", "current"]


def test_in_shadow_a_pair_is_asked_about_once(place: Place) -> None:
    place.store("Lives in Porto", valid_from="2023-01-01")
    place.store("Moved from Porto to Lisbon", valid_from="2024-05-01")
    place.client.patch("/v1/agents/default", json={"mode": "shadow"})
    place.sweep(since="2000-01-01")
    reviews = place.client.get("/v1/reviews").json()["items"]
    assert len(reviews) == 1, [(r["memory_id"], r["relation"]) for r in reviews]


def marks(client: httpx.Client) -> int:
    found = client.get("/v1/agents/default/stats").json()
    return (found if "look_again" in found else found["agents"][0] if "agents" in found else found)[
        "look_again"
    ]


def test_a_mark_stays_until_its_pair_was_judged(database_url: str) -> None:
    with ScriptedModel(every("NONE")) as model:
        said = {"llm_base_url": model.url, "llm_tries": 1}
        with (
            running(load_settings(database_url=database_url, **said)) as address,
            httpx.Client(base_url=address, timeout=60) as client,
        ):
            place = Place(database_url, client)
            client.post(
                "/v1/memories",
                json={
                    "content": "The Falcon app was written by Bertha",
                    "valid_from": "2024-01-01",
                },
            ).json()["memory"]["id"]
            model.then(fails(500))
            late = client.post(
                "/v1/memories",
                json={"content": "The Falcon app was written by Anna", "valid_from": "2023-01-01"},
            ).json()["memory"]["id"]
            assert marks(client) == 1
            place.work(**said)
            assert marks(client) == 1, "the model was down, and the mark is gone"
            model.then(every("CONTRADICTION"))
            place.work(**said)
            assert place.memory(late)["valid_until"] is not None


def test_one_memory_that_cannot_be_planned_does_not_stop_the_sweep_of_all_others(
    database_url: str,
) -> None:
    with ScriptedModel(every("COMPLEMENT")) as model:
        said = {"llm_base_url": model.url, "llm_tries": 1}
        with (
            running(load_settings(database_url=database_url, **said)) as address,
            httpx.Client(base_url=address, timeout=60) as client,
        ):
            place = Place(database_url, client)
            place.store(
                "The Falcon app is written in Rust", kind="decision", valid_from="2022-01-01"
            )
            place.store(
                "The Falcon app was tested by Bertha",
                details={"alternatives": "none"},
                valid_from="2023-01-01",
            )
            place.editor("Vim", valid_from="2023-01-01")
            client.post("/v1/sweeps")
            place.work(**said)
            [sweep] = client.get("/v1/sweeps").json()["items"]
            assert sweep["status"] == "done", (sweep["status"], sweep["error"])


def test_a_whole_sweep_undone_stays_undone(place: Place) -> None:
    ids = [
        place.editor("Vim", valid_from="2022-01-01"),
        place.editor("Nano", valid_from="2023-01-01"),
    ]
    ids += [
        place.store("Works at Initech", valid_from="2023-01-01"),
        place.store("No longer works at Initech", valid_from="2024-01-01"),
    ]
    ids += [place.editor("Emacs", valid_from="2024-01-01")]
    ids += [
        place.store("Drinks green tea", valid_from="2021-01-01"),
        place.store("Drinks  green tea.", valid_from="2021-01-02"),
    ]
    found = place.sweep()
    undone = place.client.post("/v1/reverts", json={"sweep_id": found["id"]})
    assert undone.status_code == 200, undone.text
    assert place.standing(*ids) == ["current"] * 7
    again = place.sweep()
    assert place.standing(*ids) == ["current"] * 7, again["findings"]


def test_a_model_is_asked_once_for_each_memory_and_not_for_each_pair(database_url: str) -> None:
    with ScriptedModel(every("NONE")) as model:
        said = {"llm_base_url": model.url, "llm_tries": 1}
        with (
            running(load_settings(database_url=database_url, **said)) as address,
            httpx.Client(base_url=address, timeout=60) as client,
        ):
            place = Place(database_url, client)
            for n, name in enumerate("Anna Bertha Carla Dora Emma Frieda".split()):
                place.store(f"The Falcon app was written by {name}", valid_from=f"202{n}-01-01")
            client.post("/v1/sweeps", json={"since": "2000-01-01"})
            place.work(**said)
            assert len(model.requests) <= 6, len(model.requests)


def _accepted(place: Place, source: str, relation: str) -> dict[str, Any]:
    """The one review of this kind that waits, accepted."""
    asked = place.client.get(
        "/v1/reviews", params={"source": source, "relation": relation, "status": "pending"}
    )
    [review] = asked.json()["items"]
    answer = place.client.post(f"/v1/reviews/{review['id']}/accept")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_the_earlier_end_that_a_withdrawn_repetition_told_of_can_still_be_accepted(
    place: Place,
) -> None:
    trusted = place.editor("Vim", trust=90, valid_from="2023-01-01")
    again = place.store(
        "Vim it is",
        category="tooling",
        key="editor",
        value="Vim",
        valid_from="2024-01-01",
        valid_until="2099-01-01",
    )
    place.sweep()
    assert place.standing(trusted, again) == ["current", "reverted"]
    _accepted(place, "sweep", "UPDATE")
    assert place.memory(trusted)["valid_until"] == "2099-01-01T00:00:00.000000Z"


def test_a_dry_run_of_many_batches_goes_by_what_it_would_have_changed_in_those_before(
    place: Place,
) -> None:
    first = place.editor("Nano", valid_from="2020-02-01")
    place.client.post(
        f"/v1/memories/{first}/supersede",
        json={"content": "Uses Emacs", "value": "Emacs", "valid_from": "2023-05-01"},
    )
    place.store(
        "Emacs it was", category="tooling", key="editor", value="Emacs!", valid_from="2021-04-01"
    )
    place.store(
        "Nano again", category="tooling", key="editor", value="Nano", valid_from="2025-07-01"
    )
    place.store("Works at Hooli", valid_from="2022-02-01")
    place.store("Works at Initech", valid_from="2022-07-01")
    place.store("Is employed at Initech", valid_from="2024-07-01", trust=10)
    found = []
    for dry_run in (True, False):
        sweep = place.client.post("/v1/sweeps", json={"dry_run": dry_run}).json()
        place.work(supersession_batch=1)
        found.append(place.client.get(f"/v1/sweeps/{sweep['id']}").json())
    tried, done = found
    assert (tried["counts"], tried["findings"]) == (done["counts"], done["findings"])


@pytest.mark.parametrize("order", [1, -1])
def test_in_shadow_accepting_all_that_a_sweep_proposes_leaves_one_value(
    place: Place, order: int
) -> None:
    values = [
        place.editor(value, valid_from=f"202{year}-01-01")
        for year, value in enumerate(("Vim", "Nano", "Emacs"))
    ]
    place.client.patch("/v1/agents/default", json={"mode": "shadow"}).raise_for_status()
    place.sweep()
    for review in place.client.get("/v1/reviews").json()["items"][::order]:
        while (
            place.client.post(f"/v1/reviews/{review['id']}/accept")
            .json()
            .get("type", "")
            .endswith("moved")
        ):
            pass
    assert place.standing(*values) == ["superseded", "superseded", "current"]
    assert [place.memory(i)["valid_until"][:4] for i in values[:2]] == ["2021", "2022"]
