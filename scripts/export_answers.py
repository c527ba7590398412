"""Writes app/api/answer_examples.json: what a service on an empty database answered to each call.

The story is told twice, with `view=full` and with `view=brief`, each to an agent of its own.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from app.settings import load_settings  # noqa: E402
from app.store import schema  # noqa: E402
from app.store.embedded import embedded_postgres  # noqa: E402
from app.store.roles import build_service_url  # noqa: E402
from support.service import running  # noqa: E402 - tests are no package that is installed

TARGET = ROOT / "app" / "api" / "answer_examples.json"
KEY = "a-key-that-only-this-script-knows"

Answer = dict[str, Any]

EDITOR = {"kind": "preference", "category": "tooling", "key": "editor"}
TALK = [
    {"id": "m1", "role": "user", "content": "I live in Braga. What goes well with leek?"},
    {"id": "m2", "role": "assistant", "content": "Potatoes. So you are vegetarian?"},
    {"id": "m3", "role": "user", "content": "Yes, exactly."},
]
QUESTION = "where does the user live"


class Story:
    """One agent, whose calls are recorded by the ids of their operations."""

    def __init__(self, client: httpx.Client, view: str, operations: Answer) -> None:
        self._client = client
        self._view = view
        self._operations = operations
        self.answers: dict[str, dict[str, dict[str, Any]]] = {}

    def ask(self, operation: str, body: Answer | None = None, **filled: Any) -> Any:
        """Make the call with a body, and with values of its path and its query; record it."""
        method, path, has_view = self._operations[operation]
        query = {name: value for name, value in filled.items() if f"{{{name}}}" not in path}
        if has_view:
            query["view"] = self._view
        response = self._client.request(method, path.format(**filled), params=query, json=body)
        assert response.is_success, f"{operation}: {response.text}"
        answer = response.json()
        if has_view or self._view == "full":
            named = self.answers.setdefault(operation, {}).setdefault(str(response.status_code), {})
            named.setdefault(self._view, _shorten_secret(answer))
        return answer

    def store(self, content: str, **more: Any) -> Any:
        return self.ask("store", {"content": content} | more)


def _shorten_secret(answer: Any) -> Any:
    if isinstance(answer, dict) and isinstance(answer.get("secret"), str):
        return answer | {"secret": answer["secret"][:10] + "…"}
    return answer


def tell(story: Story, agent: str) -> None:
    porto = story.store("I live in Porto", valid_from="2025-01-01")["memory"]["id"]
    story.store("I live in Porto")
    lisbon = story.store("I moved to Lisbon last month")["memory"]["id"]
    vegan = story.store("Allergic to peanuts", kind="constraint")["memory"]["id"]
    story.ask("store_batch", {"items": [{"content": "Has a dog called Rex"}, {"content": " "}]})
    for value in ("Vim", "Emacs"):
        written = story.store(f"Uses {value} as editor", value=value, **EDITOR)
    story.store("Prefers short answers", kind="preference", key="answers", value="short")
    _read(story, lisbon)
    _change(story, porto, lisbon, vegan)
    _talk(story)
    _review(story, agent)
    story.ask("get_log_entry", log_id=written["log_id"])
    story.ask("revert", {}, log_id=written["log_id"])
    story.store("Will be away on Friday", session_id="monday", lifespan="session")
    story.ask("revert_many", {"session_id": "monday", "dry_run": True})
    story.store("Almanac uses SQLite", project="almanac", lifespan="project")
    story.ask("end_session", {"reason": "The conversation is over"}, session_id="monday")
    story.ask("end_project", {}, project="almanac")
    _run(story, agent)


def _read(story: Story, memory_id: str) -> None:
    story.ask("list_memories", limit=2)
    for operation in ("get_memory", "history", "why_memory", "beliefs"):
        story.ask(operation, memory_id=memory_id)
    story.ask("search", {"query": QUESTION, "limit": 2})
    story.ask("search_by_get", q=QUESTION, limit=2)
    story.ask("preference", category="tooling", key="editor")
    story.ask("preference_without_category", key="answers")
    story.ask("context", query="what to cook")


def _change(story: Story, porto: str, lisbon: str, constraint: str) -> None:
    story.ask("amend", {"importance": 0.9, "tags": ["home"]}, memory_id=lisbon)
    story.ask("link", {"type": "related_to", "target_id": porto}, memory_id=constraint)
    story.ask("link", {"type": "related_to", "target_id": porto}, memory_id=constraint)
    story.ask("relationships", memory_id=constraint)
    cat, tom = (story.store(content)["memory"]["id"] for content in ("Has a cat", "Feeds Tom"))
    new = story.ask("supersede", {"content": "Has a cat called Tom"}, memory_id=cat)
    story.ask("supersede", {"by": new["memory"]["id"]}, memory_id=tom)
    story.ask("retract", {"reason": "Tom ran away"}, memory_id=new["memory"]["id"])
    paddle = story.store("Plays paddle")["memory"]
    story.ask("delete", memory_id=paddle["id"])
    story.ask("erase", {"chain_id": paddle["id"]})


def _talk(story: Story) -> None:
    captured = story.ask("capture", {"session_id": "talk", "messages": TALK})["capture_id"]
    later = [{"role": "user", "content": "My sister is called Ines."}]
    story.ask("capture", {"session_id": "later", "messages": later, "wait": False})
    story.ask("list_captures", limit=2)
    story.ask("get_capture", capture_id=captured)
    story.ask("undo_capture", {"dry_run": True}, capture_id=captured)


def _review(story: Story, agent: str) -> None:
    waiting = []
    for name in ("Alice", "Bob", "Carol"):
        story.store(f"{name} lives in Porto", trust=90)
        waiting.append(story.store(f"{name} moved to Lisbon", trust=10)["review_id"])
    story.ask("list_reviews", limit=1)
    story.ask("get_review", review_id=waiting[0])
    story.ask("accept", {"note": "Checked with the user"}, review_id=waiting[0])
    story.ask("reject", {}, review_id=waiting[1])
    story.ask("answer_reviews", {"answers": [{"question": waiting[2], "choice": []}]})
    story.ask("decide", {"decision": "accept", "filter": {"min_confidence": 0.5}, "limit": 5})
    story.ask("patch_agent", {"mode": "shadow"}, agent_id=agent)
    story.store("Alice moved to Faro", trust=90)
    story.ask("patch_agent", {"mode": "live"}, agent_id=agent)
    story.ask("report")
    story.ask("list_log", limit=1)
    story.ask("list_events", limit=2)


def _run(story: Story, agent: str) -> None:
    sweep = story.ask("start_sweep", {"dry_run": True})["id"]
    story.ask("list_sweeps", limit=1)
    story.ask("get_sweep", sweep_id=sweep)
    story.ask("cancel_sweep", sweep_id=sweep)
    story.ask("get_insights", limit=1)
    for operation in ("get_stats", "get_agent"):
        story.ask(operation, agent_id=agent)
    story.ask("list_agents", limit=1)
    key = {"name": "the assistant of Mira", "scopes": ["read", "write"], "agents": [agent]}
    issued = story.ask("issue_key", key)["id"]
    issued = story.ask("rotate_key", {"overlap": 0}, key_id=issued)["id"]
    story.ask("list_keys", limit=1)
    story.ask("revoke_key", key_id=issued)
    hook = story.ask("create_webhook", {"url": "https://no-such-host.invalid/"})["id"]
    story.ask("list_webhooks")
    story.ask("ping_webhook", webhook_id=hook)
    story.ask("get_webhook", webhook_id=hook)
    story.ask("enable_webhook", webhook_id=hook)
    story.ask("delete_webhook", webhook_id=hook)
    for operation in ("get_actor", "doctor", "livez", "readyz", "version"):
        story.ask(operation)
    story.ask("patch_agent", {"mode": "frozen"}, agent_id=agent)
    story.store("I live in Faro")


@contextmanager
def serve_empty() -> Iterator[str]:
    """The address of a service over an empty database."""
    with tempfile.TemporaryDirectory() as folder, embedded_postgres(Path(folder)) as url:
        schema.migrate_database(url, build_service_url(url))
        with running(load_settings(database_url=url, api_key=KEY)) as address:
            yield address


def list_operations(document: Answer) -> Answer:
    """Return method, path and whether there are two views, by the id of the operation."""
    return {
        route["operationId"]: (
            method.upper(),
            path,
            any(parameter["name"] == "view" for parameter in route.get("parameters", [])),
        )
        for path, methods in document["paths"].items()
        for method, route in methods.items()
    }


def record_answers() -> Answer:
    """Return the answers by operation, status and view, and `problem`, an error."""
    answers: Answer = {}
    with serve_empty() as address:
        headers = {"X-API-Key": KEY}
        for agent, view in (("mira", "full"), ("mira-in-brief", "brief")):
            with httpx.Client(
                base_url=address, headers=headers | {"X-Agent-Id": agent}, timeout=60
            ) as client:
                unknown = "/v1/memories/01990000-0000-7000-8000-000000000000"
                answers.setdefault("problem", client.get(unknown).json())
                operations = list_operations(client.get("/openapi.json").json())
                story = Story(client, view, operations)
                tell(story, agent)
            for operation, statuses in story.answers.items():
                for status, named in statuses.items():
                    answers.setdefault(operation, {}).setdefault(status, {}).update(named)
    return answers


if __name__ == "__main__":
    TARGET.write_text(json.dumps(record_answers(), indent=1, ensure_ascii=False) + "\n")
