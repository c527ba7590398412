"""F13: what an answer tells browsers and caches."""

import httpx
import pytest

from support.builders import store


@pytest.mark.parametrize("path", ["/v1/memories", "/v1/context", "/docs", "/livez", "/nowhere"])
def test_no_answer_is_guessed_at_or_framed(client: httpx.Client, path: str) -> None:
    headers = client.get(path, headers={"Accept": "text/plain"}).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_no_cache_keeps_memories(client: httpx.Client) -> None:
    assert client.get("/v1/memories").headers["Cache-Control"] == "no-store"
    answer = client.post("/v1/memories", json={"content": "Has a cat"})
    assert answer.headers["Cache-Control"] == "no-store"


def test_a_weak_etag_never_matches(client: httpx.Client) -> None:
    memory = store(client, "Has a cat")["memory"]
    for etag, status in (('W/"1"', 412), ('"1"', 200)):
        response = client.patch(
            f"/v1/memories/{memory['id']}", json={"importance": 0.9}, headers={"If-Match": etag}
        )
        assert response.status_code == status
