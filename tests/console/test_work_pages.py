"""Log, captures, sweeps and insights in the console."""

import re
from typing import Any

import httpx
import pytest

from app.console.charts import draw_churn, draw_errors, draw_flip_flops, draw_lives
from app.console.pages.captures import REASONS, cut_message
from app.console.pages.log import DEEDS, JUDGES, OPERATIONS, list_changes
from app.console.pages.reviews import REASONS as REVIEW_REASONS
from app.domain.relation import Judge, Operation
from app.domain.talk import SkipReason
from app.planning.plan import ReviewSource
from support.builders import store
from support.sweeps import Place


def agent_of(client: httpx.Client) -> dict[str, str]:
    return {"agent": client.headers.get("X-Agent-Id", "default")}


def show(client: httpx.Client, path: str, **params: Any) -> str:
    answer = client.get(path, params={**agent_of(client), **params})
    assert answer.status_code == 200, answer.text
    return answer.text


def test_every_word_of_the_service_has_one_for_people() -> None:
    assert set(DEEDS) == set(OPERATIONS) == set(Operation)
    assert set(JUDGES) == set(Judge)
    assert set(REASONS) == set(SkipReason)
    assert set(REVIEW_REASONS) == set(ReviewSource)


# --- log -----------------------------------------------------------------------------------------


def test_the_log_says_who_did_what_to_which_text(client: httpx.Client) -> None:
    store(client, "I live in Porto", key="city", session_id="monday")
    change = store(client, "I live in Lisbon", key="city")
    page = show(client, "/ui/log")
    assert page.index("I live in Lisbon") < page.index("before: “")
    assert f'value="{change["log_id"]}"' in page
    narrowed = show(client, "/ui/log", session_id="monday")
    assert "stored in place of another" not in narrowed.split("<tbody>")[1]
    assert "No operation is like this" in show(client, "/ui/log", operation="ERASE")


def test_an_entry_shows_what_it_changed(client: httpx.Client) -> None:
    store(client, "I live in Porto", key="city")
    change = store(client, "I live in Lisbon", key="city")
    page = show(client, f"/ui/log/{change['log_id']}")
    assert "Another value for a slot" in page
    assert '<th scope="row">valid_until</th>' in page
    assert "/ui/undo?" in page
    client.post("/v1/reverts", json={"log_ids": [change["log_id"]]})
    assert "Undone by" in show(client, f"/ui/log/{change['log_id']}")
    assert "undone</td>" in show(client, "/ui/log")


def test_several_are_chosen_in_the_log_and_undone(client: httpx.Client) -> None:
    chosen = [store(client, f"Owns item {n}", classify=False)["log_id"] for n in range(3)][:2]
    page = show(client, "/ui/undo", log_id=chosen, back="/ui/log")
    assert "Undo 2 operations?" in page
    client.post("/ui/undo", params=agent_of(client), data={"log_id": chosen})
    items = client.get("/v1/memories").json()["items"]
    assert [item["content"] for item in items] == ["Owns item 2"]


def test_changes_are_listed_field_by_field() -> None:
    before = [{"id": "a", "importance": 0.5, "belief": {"valid_until": None, "tier": "core"}}]
    after = [{"id": "a", "importance": 0.5, "belief": {"valid_until": "2026", "tier": "core"}}]
    assert list_changes(before, after) == [("a", [("valid_until", None, "2026")])]


# --- captures ------------------------------------------------------------------------------------


@pytest.fixture
def capture(client: httpx.Client) -> dict[str, Any]:
    talk = "I live in Braga. What goes well with leek?"
    sent = {"session_id": "monday", "messages": [{"role": "user", "content": talk}]}
    answer: dict[str, Any] = client.post("/v1/messages", json=sent).json()
    return answer


def test_a_capture_shows_facts_and_what_was_skipped(
    client: httpx.Client, capture: dict[str, Any]
) -> None:
    assert "monday" in show(client, "/ui/captures")
    page = show(client, f"/ui/captures/{capture['capture_id']}")
    assert re.search(r"<ins[^>]*><bdi[^>]*>I live in Braga", page)
    assert re.search(r"<del[^>]*><bdi[^>]*>What goes well", page)
    assert "a question" in page


def test_a_capture_is_undone_with_a_preview(client: httpx.Client, capture: dict[str, Any]) -> None:
    named = {"capture_id": capture["capture_id"], "back": "/ui/captures"}
    assert "I live in Braga</bdi>” will not be believed" in show(client, "/ui/undo", **named)
    client.post("/ui/undo", params=agent_of(client), data=named)
    assert client.get("/v1/memories").json()["items"] == []


def test_no_captures_say_where_they_come_from(client: httpx.Client) -> None:
    assert "/v1/messages" in show(client, "/ui/captures")


def test_pieces_of_a_message_are_all_of_it() -> None:
    quote = {"position": 0, "start": 3, "end": 8}
    message = {
        "position": 0,
        "content": "Hi. I am. Why? Bye",
        "facts": [{"quotes": [quote]}, {"quotes": [quote, {"position": 1, "start": 0, "end": 2}]}],
        "skipped": [{"start": 10, "end": 14, "reason": "question"}],
    }
    pieces = cut_message(message)
    assert "".join(piece.text for piece in pieces) == message["content"]
    assert [piece.kind for piece in pieces] == ["", "fact", "", "skipped", ""]


# --- sweeps --------------------------------------------------------------------------------------


def test_a_sweep_is_started_watched_and_told(place: Place) -> None:
    client = place.client
    for fact in ({"content": "Uses Vim", "value": "Vim"}, {"content": "Uses Zed", "value": "Zed"}):
        store(client, fact.pop("content"), classify=False, kind="preference", key="editor", **fact)
    answer = client.post("/ui/sweeps", params=agent_of(client), data={"dry_run": "1"})
    path = answer.headers["location"]
    assert "Started." in client.get(path).text
    assert 'hx-trigger="every 2s"' in client.get(path).text
    place.work()
    page = client.get(path).text
    assert "done</span>" in page
    assert "hx-trigger" not in page
    assert path.split("?")[0] in show(client, "/ui/sweeps")


def test_a_sweep_is_cancelled(place: Place) -> None:
    client = place.client
    store(client, "Uses Vim")
    path = client.post("/ui/sweeps", params=agent_of(client)).headers["location"]
    answer = client.post(f"{path.split('?')[0]}/cancel", params=agent_of(client))
    assert "cancelled</span>" in client.get(answer.headers["location"]).text


# --- insights ------------------------------------------------------------------------------------


def test_insights_show_what_changes_and_what_comes_back(client: httpx.Client) -> None:
    for year, editor in (("2020", "Vim"), ("2021", "Zed"), ("2022", "Vim")):
        store(client, f"Uses {editor}", key="editor", value=editor, valid_from=year)
    page = show(client, "/ui/insights")
    assert "2 changes" in page
    assert page.count("<circle") == 2
    assert "2020-01-01" in page
    assert "0 of 2 endings undone" in page


def test_insights_of_nothing_say_so(client: httpx.Client) -> None:
    store(client, "Has a cat")
    assert "Nothing changed." in show(client, "/ui/insights")


SLOT = {"slot": {"entity": "user", "category": "", "key": "editor"}, "current": "id"}


def test_bars_are_as_long_as_their_share() -> None:
    churn = draw_churn([{**SLOT, "changes": 8}, {**SLOT, "changes": 2}])
    assert [bar.length for bar in churn] == [100, 25]
    lives = {"ended": 2, "open": 1}
    bars = draw_lives(
        [
            {**SLOT, **lives, "median_days": 30.0},
            {"kind": "fact", **lives, "median_days": None},
            {"kind": "fact", **lives, "median_days": 15.0},
        ]
    )
    assert [(bar.label, bar.length) for bar in bars] == [("user / editor", 100), ("fact", 50)]
    errors = draw_errors(
        [
            {"decided_by": "judge", "retired": 3, "reverted": 1},
            {"decided_by": "judge", "retired": 1, "reverted": 0},
            {"decided_by": "rule", "retired": 0, "reverted": 0},
        ]
    )
    assert [(bar.label, bar.length) for bar in errors] == [("judge", 25), ("rule", 0)]


def test_all_lines_share_one_time() -> None:
    def values(*years: str) -> list[dict[str, str]]:
        return [{"memory_id": year, "valid_from": year} for year in years]

    lines = draw_flip_flops(
        [
            {**SLOT, "returns": 1, "latest": values("2020", "2021", "2022")},
            {**SLOT, "returns": 1, "latest": values("2022", "2023", "2024")},
        ]
    )
    assert lines[0].points[0].at == 0
    assert lines[0].points[2].at == lines[1].points[0].at
    assert lines[1].points[2].at == 100
