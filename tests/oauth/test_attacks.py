"""What somebody tries who has a code, a token, or only the address of the service."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from app.api import wrong_keys
from app.services import oauth
from support.builders import store
from support.keys import ROOT_KEY, calling, issue
from support.oauth import CALLBACK, Program, read_answer


@pytest.fixture
def agent() -> str:
    return f"oauth-{uuid4().hex}"


@pytest.fixture
def issued(root: httpx.Client, agent: str) -> dict[str, Any]:
    """A key that reads and writes one agent."""
    return issue(root, scopes=["read", "write"], agents=[agent])


@pytest.fixture
def key(issued: dict[str, Any]) -> str:
    text: str = issued["key"]
    return text


def assert_refused(response: httpx.Response, code: str) -> None:
    assert response.status_code == 400, response.text
    assert response.json()["error"] == code


def assert_over(program: Program, token: str) -> None:
    """The token opens nothing any more."""
    assert program.call_tool(token).status_code == 401


def read_result(response: httpx.Response) -> dict[str, Any]:
    assert response.status_code == 200, response.text
    result: dict[str, Any] = response.json()["result"]
    return result


# --- codes -----------------------------------------------------------------------------------


def test_a_code_that_is_used_twice_ends_its_tokens(program: Program, key: str) -> None:
    code = program.get_code(key)
    tokens = program.redeem(code).json()
    assert read_result(program.call_tool(tokens["access_token"], query="home"))
    assert_refused(program.redeem(code), "invalid_grant")
    assert_over(program, tokens["access_token"])
    assert_refused(program.refresh(tokens["refresh_token"]), "invalid_grant")


@pytest.mark.parametrize(
    "changes",
    [
        {"code_verifier": "w" * 64},
        {"code_verifier": ""},
        {"redirect_uri": "http://localhost:7778/callback"},
        {"redirect_uri": "http://localhost:7777/callback/"},
        {"client_id": "another"},
        {"resource": "https://elsewhere.example/mcp"},
    ],
)
def test_a_stolen_code_gives_no_tokens_and_has_one_try(
    program: Program, key: str, changes: dict[str, str]
) -> None:
    code = program.get_code(key)
    refused = program.redeem(code, **changes)
    assert refused.status_code == 400
    assert "access_token" not in refused.text
    if refused.json()["error"] == "invalid_grant":
        assert_refused(program.redeem(code), "invalid_grant")


def test_a_code_of_another_client_is_refused(
    program: Program, browser: httpx.Client, key: str
) -> None:
    thief = Program(browser, "Thief")
    assert_refused(thief.redeem(program.get_code(key)), "invalid_grant")


def test_a_code_lives_for_a_minute(program: Program, key: str, keyed_url: str) -> None:
    code = program.get_code(key)
    with psycopg.connect(keyed_url) as connection:
        [(life,)] = connection.execute(
            "SELECT extract(epoch FROM expires_at - created_at) FROM oauth_grants WHERE id = %s",
            [code.split("_")[1]],
        ).fetchall()
        connection.execute(
            "UPDATE oauth_grants SET expires_at = now() WHERE id = %s", [code.split("_")[1]]
        )
    assert life == 60
    assert_refused(program.redeem(code), "invalid_grant")


def test_of_two_at_once_one_redeems_a_code(program: Program, key: str, keyed_service: str) -> None:
    code = program.get_code(key)
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda _: program.redeem(code), range(4)))
    assert sum(answer.status_code == 200 for answer in answers) <= 1


@pytest.mark.parametrize("secret", ["x", "pal_0123456789abcdef_" + "0" * 64])
def test_secrets_that_were_made_up_are_refused_alike(program: Program, secret: str) -> None:
    assert_refused(program.redeem(secret), "invalid_grant")
    assert_refused(program.refresh(secret), "invalid_grant")


# --- tokens ----------------------------------------------------------------------------------


def test_a_refresh_token_that_is_used_twice_ends_all_tokens(program: Program, key: str) -> None:
    first = program.connect(key)
    second = program.refresh(first["refresh_token"]).json()
    assert read_result(program.call_tool(second["access_token"], query="home"))
    assert_refused(program.refresh(first["refresh_token"]), "invalid_grant")
    assert_over(program, second["access_token"])
    assert_refused(program.refresh(second["refresh_token"]), "invalid_grant")


def test_a_refresh_replaces_the_access_token_too(program: Program, key: str) -> None:
    first = program.connect(key)
    second = program.refresh(first["refresh_token"]).json()
    assert_over(program, first["access_token"])
    assert read_result(program.call_tool(second["access_token"], query="home"))


def test_a_refresh_token_of_another_client_is_refused(
    program: Program, browser: httpx.Client, key: str
) -> None:
    thief = Program(browser, "Thief")
    assert_refused(thief.refresh(program.connect(key)["refresh_token"]), "invalid_grant")


def test_neither_codes_nor_refresh_tokens_open_anything(program: Program, key: str) -> None:
    tokens = program.connect(key)
    assert program.call_tool(tokens["refresh_token"]).status_code == 401
    assert program.call_tool(program.get_code(key)).status_code == 401
    assert_refused(program.refresh(tokens["access_token"]), "invalid_grant")


def test_an_access_token_ends_after_an_hour(program: Program, key: str, keyed_url: str) -> None:
    tokens = program.connect(key)
    assert tokens["expires_in"] == 3600
    with psycopg.connect(keyed_url) as connection:
        connection.execute(
            "UPDATE oauth_grants SET access_expires_at = now() WHERE access_id = %s",
            [tokens["access_token"].split("_")[1]],
        )
    assert_over(program, tokens["access_token"])
    assert program.refresh(tokens["refresh_token"]).status_code == 200


@pytest.mark.parametrize("how", ["revoked", "expired"])
def test_tokens_end_with_their_key(
    program: Program, root: httpx.Client, issued: dict[str, Any], keyed_url: str, how: str
) -> None:
    tokens, code = program.connect(issued["key"]), program.get_code(issued["key"])
    assert read_result(program.call_tool(tokens["access_token"], query="home"))
    if how == "revoked":
        root.delete(f"/v1/keys/{issued['id']}")
    else:
        with psycopg.connect(keyed_url) as connection:
            connection.execute(
                "UPDATE api_keys SET expires_at = now() WHERE id = %s", [issued["id"]]
            )
    assert_over(program, tokens["access_token"])
    assert_refused(program.refresh(tokens["refresh_token"]), "invalid_grant")
    assert_refused(program.redeem(code), "invalid_grant")
    assert program.decide(issued["key"]).status_code == 401


@pytest.mark.parametrize("which", ["access_token", "refresh_token"])
def test_a_client_gives_its_access_back(program: Program, key: str, which: str) -> None:
    tokens = program.connect(key)
    form = {"token": tokens[which], "client_id": "another"}
    assert program.http.post("/oauth/revoke", data=form).status_code == 200
    assert read_result(program.call_tool(tokens["access_token"], query="home"))
    form["client_id"] = program.client_id
    assert program.http.post("/oauth/revoke", data=form).status_code == 200
    assert_over(program, tokens["access_token"])
    assert_refused(program.refresh(tokens["refresh_token"]), "invalid_grant")
    assert program.http.post("/oauth/revoke", data=form).status_code == 200


# --- what a token may do ---------------------------------------------------------------------


def test_a_token_is_for_its_own_address_only(
    program: Program, root: httpx.Client, agent: str
) -> None:
    wide = issue(root, scopes=["read", "write"], agents=["*"])["key"]
    token = program.connect(wide, resource=program.name_resource(agent))["access_token"]
    assert read_result(program.call_tool(token, agent=agent, query="home"))
    for path in ("/mcp", "/mcp/another", f"/mcp/{agent}/more", f"/mcp/{agent[:-1]}"):
        refused = program.call_tool(token, path=path)
        assert refused.status_code == 401, path
        assert 'error="invalid_token"' in refused.headers["www-authenticate"]
    for path in ("/v1/memories", "/v1/actor", "/v1/keys", "/mem0/v1/memories"):
        refused = program.http.get(path, headers={"Authorization": f"Bearer {token}"})
        assert refused.status_code == 401, path
    assert read_result(program.call_tool(token, agent=agent, query="home"))


def test_a_token_reaches_no_other_agent(
    program: Program, root: httpx.Client, keyed_service: str, agent: str
) -> None:
    """It names another one in the header, which the tools pass on."""
    other = f"{agent}-other"
    with calling(keyed_service, ROOT_KEY, x_agent_id=other) as client:
        store(client, "The vault is in Bern")
    wide = issue(root, scopes=["read"], agents=[agent, other])["key"]
    token = program.connect(wide, resource=program.name_resource(agent))["access_token"]
    answer = program.http.post(
        f"/mcp/{agent}",
        json={
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "memory_search", "arguments": {"query": "vault"}},
        },
        headers={"Authorization": f"Bearer {token}", "X-Agent-Id": other},
    )
    assert "Bern" not in answer.text


def test_a_key_of_one_agent_grants_no_other(program: Program, key: str) -> None:
    refused = program.decide(key, resource=program.name_resource("another"))
    assert refused.status_code == 403
    assert "not for the agent" in refused.text


def test_a_token_may_do_no_more_than_its_key(
    program: Program, root: httpx.Client, agent: str
) -> None:
    reader = issue(root, scopes=["read"], agents=[agent])["key"]
    tokens = program.connect(reader)
    assert tokens["scope"] == "read"
    result = read_result(
        program.call_tool(tokens["access_token"], "memory_store", content="I live in Porto")
    )
    assert result["isError"]
    assert program.refresh(tokens["refresh_token"]).json()["scope"] == "read"


def test_a_token_may_do_no_more_than_the_person_chose(program: Program, key: str) -> None:
    assert program.connect(key, scopes=("read",))["scope"] == "read"
    assert program.connect(key, scope="read")["scope"] == "read"
    assert program.decide(key, scopes=()).status_code == 422
    assert program.decide(key, scopes=("write",), scope="read").status_code == 422


def test_no_token_erases_or_administers(program: Program, root: httpx.Client) -> None:
    everything = issue(root)["key"]
    scope = "read write review erase admin openid"
    options = {"scope": scope, "scopes": tuple(scope.split())}
    assert program.connect(everything, **options)["scope"] == "read write review"


def test_the_root_key_grants_access_by_a_key_that_can_be_revoked(
    program: Program, root: httpx.Client, agent: str
) -> None:
    token = program.connect(ROOT_KEY, resource=program.name_resource(agent))["access_token"]
    assert read_result(program.call_tool(token, agent=agent, query="home"))
    [made] = [one for one in root.get("/v1/keys").json()["items"] if one["agents"] == [agent]]
    assert (made["name"], made["scopes"]) == ("OAuth: A program", ["read", "write", "review"])
    root.delete(f"/v1/keys/{made['id']}")
    assert_over(program, token)


def test_a_key_of_many_agents_needs_an_address_that_names_one(
    program: Program, root: httpx.Client, agent: str
) -> None:
    several = issue(root, scopes=["read"], agents=[agent, "x"])["key"]
    refused = program.decide(several)
    assert refused.status_code == 403
    assert "/mcp/AGENT" in refused.text
    assert program.connect(several, resource=program.name_resource(agent))["scope"] == "read"


# --- requests for access ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "resource",
    [
        "https://elsewhere.example/mcp",
        "/mcp",
        "http://127.0.0.1/mcp",
        "{origin}",
        "{origin}/v1",
        "{origin}/mcpx",
        "{origin}/mcp?agent=x",
        "{origin}/mcp#x",
        "{origin}/mcp/*",
        "{origin}/mcp/acme/*",
        "{origin}/mcp/acme%2F*",
        "{origin}/mcp/" + "x" * 200,
        "{origin}/mcp/a%20b",
        "http://[::1/mcp",
    ],
)
def test_no_access_is_granted_to_another_address(program: Program, resource: str) -> None:
    origin = program.name_resource().removesuffix("/mcp")
    page = program.decide(ROOT_KEY, resource=resource.format(origin=origin))
    assert page.status_code == 400
    assert "error=invalid_target" in page.text


def test_the_address_may_end_with_a_slash_and_have_capitals(program: Program, key: str) -> None:
    assert program.connect(key, resource=program.name_resource() + "/")
    assert program.connect(key, resource=program.name_resource().replace("http", "HTTP"))
    assert program.connect(key, resource=None)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"scope": "admin"}, "invalid_scope"),
    ],
)
def test_a_wrong_request_is_explained_and_leads_nowhere_by_itself(
    program: Program, changes: dict[str, str | None], code: str
) -> None:
    for page in (program.show(**changes), program.decide(ROOT_KEY, **changes)):
        assert page.status_code == 400
        assert "location" not in page.headers
        assert f"error={code}" in page.text
        assert "state=a+state" in page.text
        assert "iss=" in page.text


@pytest.mark.parametrize(
    "changes",
    [
        {"redirect_uri": "https://evil.example/cb"},
        {"redirect_uri": CALLBACK + "/more"},
        {"redirect_uri": None},
        {"client_id": None},
        {"client_id": "unknown"},
    ],
)
def test_an_unknown_client_or_address_gets_not_even_a_link(
    program: Program, changes: dict[str, str | None]
) -> None:
    for page in (program.show(**changes), program.decide(ROOT_KEY, **changes)):
        assert page.status_code == 400
        assert "location" not in page.headers
        assert 'href="http' not in page.text


def test_a_parameter_that_comes_twice_is_refused(program: Program) -> None:
    query = [*program.build_question().items(), ("state", "another")]
    assert program.http.get("/oauth/authorize", params=query).status_code == 400


def test_state_and_issuer_come_back(program: Program, key: str) -> None:
    issuer = program.name_resource().removesuffix("/mcp")
    for decision, name in (("allow", "code"), ("deny", "error")):
        state = "ünïcode & <more>#"
        location = program.decide(key, decision=decision, state=state).headers["location"]
        assert location.startswith(CALLBACK + "?")
        answer = read_answer(location)
        assert name in answer
        assert (answer["state"], answer["iss"]) == (state, issuer)
    described = program.http.get("/.well-known/oauth-authorization-server").json()
    assert described["issuer"] == issuer
    assert described["authorization_response_iss_parameter_supported"] is True


def test_a_refusal_needs_no_key(program: Program) -> None:
    location = program.decide("", decision="deny").headers["location"]
    assert read_answer(location)["error"] == "access_denied"


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_a_page_of_another_origin_cannot_send_the_form(
    program: Program, key: str, headers: dict[str, str]
) -> None:
    refused = program.http.post(
        "/oauth/authorize",
        params=program.build_question(),
        data={"key": key, "scope": "read", "decision": "allow"},
        headers=headers,
    )
    assert refused.status_code == 400
    assert "location" not in refused.headers


def test_wrong_keys_are_counted(
    program: Program, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wrong_keys, "MOST_WRONG", 10)
    assert 429 in {program.decide(f"wrong-{number}").status_code for number in range(30)}
    assert program.decide(key).status_code == 303


def test_an_ended_token_hears_401_however_often_it_comes(
    program: Program, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its client would not refresh it on a 429, and many people share an address."""
    monkeypatch.setattr(wrong_keys, "MOST_WRONG", 3)
    old = program.connect(key)
    token = program.refresh(old["refresh_token"]).json()["access_token"]
    for number in range(5):
        program.call_tool(f"wrong-{number}")
    for _ in range(5):
        refused = program.call_tool(old["access_token"])
        assert refused.status_code == 401
        assert 'error="invalid_token"' in refused.headers["www-authenticate"]
    assert read_result(program.call_tool(token, query="home"))


# --- pages -----------------------------------------------------------------------------------

HOSTILE = '"><script>alert(1)</script><b onmouseover=x>{{7*7}}\u202e'


def test_names_and_addresses_are_shown_as_texts(browser: httpx.Client) -> None:
    program = Program(browser, HOSTILE, ("https://a.example/?q='%22%3E%3Cb%3E",))
    for page in (program.show(state=HOSTILE), program.show(state=HOSTILE, response_type="x")):
        assert "<script" not in page.text
        assert "<b " not in page.text
        assert "{{7*7}}" in page.text or page.status_code == 400
        assert "\u202e" not in page.text
    page = program.show(**{"resource": program.name_resource("<b>x</b>")})
    assert "<b>x" not in page.text


def test_the_page_can_be_framed_by_nobody_and_runs_no_script(program: Program) -> None:
    headers = program.show().headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "script-src" not in policy
    assert headers["x-frame-options"] == "DENY"
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "same-origin"


def test_the_page_names_where_the_access_goes(browser: httpx.Client) -> None:
    web = Program(browser, "Claude", ("https://evil.example/cb",))
    assert "evil.example" in web.show().text
    local = Program(browser, "Claude Code", ("http://localhost/cb",))
    assert "a program on this computer" in local.show(redirect_uri="http://localhost:9/cb").text
    app = Program(browser, "Cursor", ("cursor://anysphere.cursor-mcp/oauth/callback",))
    assert "opens cursor: links" in app.show().text


# --- registrations and rows ------------------------------------------------------------------


def test_registrations_store_nothing(program: Program, keyed_url: str) -> None:
    def count_rows() -> Any:
        with psycopg.connect(keyed_url) as connection:
            tables = connection.execute(
                "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
            ).fetchall()
            return [
                connection.execute(f"SELECT count(*) FROM {name}").fetchone()  # type: ignore[arg-type]
                for (name,) in tables
            ]

    before = count_rows()
    for number in range(50):
        Program(program.http, f"Client {number}")
    assert count_rows() == before


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b'{"redirect_uris": "https://a.example"}',
        b'{"redirect_uris": []}',
        b'{"redirect_uris": [7]}',
        b'{"redirect_uris": ["https://a.example"], "client_name": {}}',
        b'{"redirect_uris": ["http://a.example"]}',
        b'{"redirect_uris": ["javascript:alert(1)"]}',
        b"[" * 100_000,
    ],
)
def test_a_wrong_registration_is_refused(browser: httpx.Client, body: bytes) -> None:
    refused = browser.post("/oauth/register", content=body)
    assert refused.status_code == 400
    assert refused.json()["error"] in ("invalid_client_metadata", "invalid_redirect_uri")


@pytest.mark.parametrize("path", ["/oauth/register", "/oauth/token", "/oauth/authorize"])
def test_a_large_body_is_refused(browser: httpx.Client, path: str) -> None:
    assert browser.post(path, content=b"x" * 300_000).status_code == 413


def test_only_hashes_are_stored(program: Program, key: str, keyed_url: str) -> None:
    tokens, code = program.connect(key), program.get_code(key)
    with psycopg.connect(keyed_url) as connection:
        rows = str(connection.execute("SELECT oauth_grants::text FROM oauth_grants").fetchall())
    for secret in (tokens["access_token"], tokens["refresh_token"], code, key):
        assert secret.rpartition("_")[2] not in rows


def test_a_key_has_some_grants_and_no_more(
    program: Program, key: str, issued: dict[str, Any], keyed_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(oauth, "MOST_GRANTS", 3)
    first = program.connect(key)
    with psycopg.connect(keyed_url) as connection:
        connection.execute(
            "UPDATE oauth_grants SET created_at = created_at - interval '1 hour' WHERE key_id = %s",
            [issued["id"]],
        )
    for _ in range(3):
        program.get_code(key)
    with psycopg.connect(keyed_url) as connection:
        count = connection.execute(
            "SELECT count(*) FROM oauth_grants WHERE key_id = %s", [issued["id"]]
        ).fetchone()
    assert count == (3,)
    assert_over(program, first["access_token"])
