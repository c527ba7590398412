import httpx


def test_a_change_of_a_preference_supersedes_it(client: httpx.Client) -> None:
    first = client.post(
        "/v1/memories", json={"content": "Uses Vim", "kind": "preference", "category": "tooling", "key": "editor", "value": "Vim"}
    )
    second = client.post(
        "/v1/memories", json={"content": "Uses Emacs", "kind": "preference", "category": "tooling", "key": "editor", "value": "Emacs"}
    )
    assert first.status_code == second.status_code == 201
    assert second.json()["operation"] == "UPDATE"
    assert second.json()["superseded"] == [first.json()["memory"]["id"]]
    assert client.get("/v1/preferences/tooling/editor").json()["value"] == "Emacs"
