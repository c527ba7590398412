"""Insights in the console, undoing several operations, and words for people."""

import json
from typing import Any

import httpx
import pytest

from app.console.charts import draw_churn, draw_errors, draw_flip_flops, draw_lives
from app.console.pages.captures import OUTCOMES, REASONS
from app.console.pages.reviews import REASONS as REVIEW_REASONS
from app.console.words import JUDGES, OPERATIONS, RELATIONS
from app.domain.relation import Judge, Operation, Relation
from app.domain.talk import SkipReason
from app.planning.plan import ReviewSource
from support.builders import store


def agent_of(client: httpx.Client) -> dict[str, str]:
    return {"agent": client.headers.get("X-Agent-Id", "default")}


def show(client: httpx.Client, path: str, **params: Any) -> str:
    answer = client.get(path, params={**agent_of(client), **params})
    assert answer.status_code == 200, answer.text
    return answer.text


def test_every_word_of_the_service_has_one_for_people() -> None:
    assert set(OPERATIONS) == set(OUTCOMES) == set(Operation)
    assert set(JUDGES) == set(Judge)
    assert set(RELATIONS) == set(Relation)
    assert set(REASONS) == set(SkipReason)
    assert set(REVIEW_REASONS) == set(ReviewSource)


def test_several_are_chosen_in_the_log_and_undone(client: httpx.Client) -> None:
    chosen = [store(client, f"Owns item {n}", classify=False)["log_id"] for n in range(3)][:2]
    page = show(client, "/ui/undo", log_id=chosen, back="/ui/log")
    assert "Undo 2 operations?" in page
    client.post("/ui/undo", params=agent_of(client), data={"log_id": chosen})
    items = client.get("/v1/memories").json()["items"]
    assert [item["content"] for item in items] == ["Owns item 2"]


@pytest.fixture
def capture(client: httpx.Client) -> dict[str, Any]:
    talk = "I live in Braga. What goes well with leek?"
    sent = {"session_id": "monday", "messages": [{"role": "user", "content": talk}]}
    answer: dict[str, Any] = client.post("/v1/messages", json=sent).json()
    return answer


def test_a_capture_is_undone_with_a_preview(client: httpx.Client, capture: dict[str, Any]) -> None:
    named = {"capture_id": capture["capture_id"], "back": "/ui/captures"}
    assert "I live in Braga</bdi>” will not be believed" in show(client, "/ui/undo", **named)
    client.post("/ui/undo", params=agent_of(client), data=named)
    assert client.get("/v1/memories").json()["items"] == []


# --- insights ------------------------------------------------------------------------------------


def test_insights_show_what_changes_and_what_comes_back(client: httpx.Client) -> None:
    for year, editor in (("2020", "Vim"), ("2021", "Zed"), ("2022", "Vim")):
        store(client, f"Uses {editor}", key="editor", value=editor, valid_from=year)
    assert "2 changes" in show(client, "/ui/insights")
    page = show(client, "/ui/insights", section="flip_flops")
    assert page.count("<circle") == 2
    assert ">1 Jan 2020</time>" in page
    assert "2 ended, 1 hold" in show(client, "/ui/insights", section="lifetimes")
    assert "0 of 2 endings undone" in show(client, "/ui/insights", section="retire_rates")


def test_old_constraints_are_listed(client: httpx.Client) -> None:
    store(client, "Never deploy on Fridays", kind="constraint", valid_from="2020")
    imported = {"content": "No meat", "kind": "constraint", "created_at": "2020-01-01"}
    agent = {"X-Agent-Id": f"old-{client.headers['X-Agent-Id']}"}
    ndjson = {"Content-Type": "application/x-ndjson"}
    client.post("/v1/import", content=json.dumps(imported), headers=agent | ndjson)
    params = {"agent": agent["X-Agent-Id"], "section": "stale_constraints", "period": "all"}
    assert "No meat" in client.get("/ui/insights", params=params).text


def test_insights_of_nothing_say_so(client: httpx.Client) -> None:
    store(client, "Has a cat")
    assert "Nothing changed more than once." in show(client, "/ui/insights")


SLOT = {"slot": {"entity": "user", "category": "", "key": "editor"}, "current": "id"}


def test_bars_are_as_long_as_their_share() -> None:
    churn = draw_churn([{**SLOT, "changes": changes} for changes in (8, 2, 1)])
    assert [bar.length for bar in churn] == [100, 25]
    lives = {"ended": 2, "open": 1}
    bars = draw_lives(
        [
            {**SLOT, **lives, "median_days": 30.0},
            {"kind": "fact", **lives, "median_days": None},
            {"kind": "fact", **lives, "median_days": 15.0},
        ]
    )
    assert [(bar.label, bar.length) for bar in bars] == [("editor", 100), ("fact", 50)]
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
