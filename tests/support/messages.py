"""Messages for tests, and what a capture made of them."""

from typing import Any

import httpx

Answer = dict[str, Any]


def talk(*contents: str, role: str = "user", ids: bool = True) -> list[Answer]:
    """Return a message of one speaker for each text, with the ids m0, m1 and so on."""
    messages: list[Answer] = []
    for number, content in enumerate(contents):
        message: Answer = {"role": role, "content": content}
        messages.append(message | {"id": f"m{number}"} if ids else message)
    return messages


def capture(
    client: httpx.Client,
    messages: list[Answer] | str,
    *,
    session: str = "chat",
    status: int = 200,
    headers: dict[str, str] | None = None,
    **choices: Any,
) -> Answer:
    """Post messages, or one message of the user, and return the answer."""
    sent = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    body = {"session_id": session, "messages": sent} | choices
    answer = client.post("/v1/messages", json=body, headers=headers)
    assert answer.status_code == status, answer.text
    result: Answer = answer.json()
    return result


def list_facts(answer: Answer) -> list[Answer]:
    """Return the facts of all messages of an answer, in order."""
    return [fact for message in answer["messages"] for fact in message["facts"]]


def list_contents(client: httpx.Client) -> list[str]:
    """Return the texts of all memories that hold, sorted."""
    items = client.get("/v1/memories", params={"limit": 1000}).json()["items"]
    return sorted(item["content"] for item in items)
