"""What test_crewai.py runs where CrewAI is installed: the README's crew with a scripted model.

It prints what the model was sent and what the memory answered, as JSON.
"""

import json
import sys
from typing import Any
from uuid import uuid4

from crewai.llms.base_llm import BaseLLM
from pydantic import Field

from palimpsest_client import Client
from palimpsest_crewai import PalimpsestMemory


class ScriptedLLM(BaseLLM):
    """A model that always answers the same, and notes what it was sent."""

    requests: list[str] = Field(default_factory=list)

    def call(self, messages: Any, *args: Any, **options: Any) -> str:
        self.requests.append(repr(messages))
        return "Thought: I know.\nFinal Answer: I see."

    def supports_function_calling(self) -> bool:
        return False


def try_records(client: Client) -> dict[str, Any]:
    """Return what the other methods of the memory answer."""
    client.store("The office is in Ghent")
    memory = PalimpsestMemory(client, root_scope="/crew/desk")
    [tea, milk] = memory.remember_many(["I like tea", "I hate milk"], scope="/food")
    memory.remember("The code is 7", private=True, source="bob", categories=["door"])
    secret = {"query": "What is the code?", "limit": 1}
    changed = memory.update(tea.id, content="I like green tea", importance=0.9)
    outside = PalimpsestMemory(client)
    answers = {
        "scoped": [match.record.content for match in memory.recall("office", limit=9)],
        "everything": len(outside.recall("office, tea, milk, code", limit=9)),
        "kept secret": [one.record.content for one in memory.recall(**secret)],
        "to bob": [one.record.content for one in memory.recall(**secret, source="bob")],
        "changed": [changed.content, changed.importance, changed.scope, changed.id != tea.id],
        "tree": memory.tree(),
        "categories": memory.list_categories(),
        "forgotten": memory.forget(record_ids=[milk.id]),
        "listed": [record.content for record in memory.list_records()],
    }
    outside.reset()
    answers["after the reset"] = [one["content"] for one in client.list_memories()]
    read_only = PalimpsestMemory(client, read_only=True)
    answers["read only"] = read_only.remember("I play chess")
    return answers


if __name__ == "__main__":
    llm = ScriptedLLM(model="scripted")
    exec(sys.stdin.read(), {"SCRIPT": llm})  # the example of the README
    with Client(agent=f"crewai-{uuid4().hex}") as client:
        records = try_records(client)
    print("\n" + json.dumps({"requests": llm.requests, "records": records}))
