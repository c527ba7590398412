import httpx

from support.builders import editor, problem, send


def answers(value: str, **more: object) -> dict[str, object]:
    """A preference without a category."""
    return {
        "content": f"Prefers {value} answers",
        "kind": "preference",
        "key": "answers",
        "value": value,
        **more,
    }


def test_a_preference_without_a_category_is_found_by_its_key(client: httpx.Client) -> None:
    send(client, answers("long", valid_from="2020-01-01"))
    send(client, answers("short", valid_from="2026-01-05"))
    now = client.get("/v1/preferences/Answers")
    assert (now.json()["value"], now.headers["etag"]) == ("short", now.json()["etag"])
    assert (
        client.get("/v1/preferences/answers", params={"asOf": "2021-01-01"}).json()["value"]
        == "long"
    )
    assert (
        "without a category"
        in problem(client.get("/v1/preferences/answers", params={"entity": "anna"}), 404)["detail"]
    )


def test_the_two_kinds_of_preference_are_not_mixed_up(client: httpx.Client) -> None:
    send(client, editor("Helix"))
    problem(client.get("/v1/preferences/editor"), 404)
    send(client, editor("Vim", category=""))
    assert client.get("/v1/preferences/editor").json()["value"] == "Vim"
    assert client.get("/v1/preferences/tooling/editor").json()["value"] == "Helix"


def test_a_key_with_slashes_keeps_its_route(client: httpx.Client) -> None:
    send(client, editor("Helix", key="editor/main"))
    assert client.get("/v1/preferences/tooling/editor/main").json()["value"] == "Helix"
