"""Keys of a service, and clients that send them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from support.openapi_check import keeps_to_the_document

ROOT_KEY = "root-key-of-the-test-0123456789abcdef"
EVERY_SCOPE = ["read", "write", "review", "erase", "admin"]


@contextmanager
def calling(address: str, key: str, **headers: str) -> Iterator[httpx.Client]:
    """A client that sends this key; headers as `x_agent_id="ann"`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with httpx.Client(
        base_url=address,
        headers={"X-API-Key": key, **named},
        event_hooks={"response": [keeps_to_the_document]},
        timeout=60,
    ) as client:
        yield client


def issue(client: httpx.Client, **wanted: Any) -> dict[str, Any]:
    """Issue a key and return the answer; without `scopes` and `agents`, for everything."""
    body = {"name": "a key of the test", "scopes": EVERY_SCOPE, "agents": ["*"], **wanted}
    response = client.post("/v1/keys", json=body)
    assert response.status_code == 201, response.text
    answer: dict[str, Any] = response.json()
    return answer
