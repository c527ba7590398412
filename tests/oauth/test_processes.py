"""Every process serves every step, and none writes a secret into its log."""

from pathlib import Path

import httpx
import pytest

from app.settings import load_settings
from support.keys import ROOT_KEY, calling, issue
from support.oauth import VERIFIER, Program
from support.service import running
from support.service_process import served


def test_each_step_may_reach_another_process(
    keyed_service: str, keyed_url: str, root: httpx.Client
) -> None:
    key = issue(root, scopes=["read"], agents=["ann"])["key"]
    # A proxy passes the name on by which callers know the service.
    host = {"Host": httpx.URL(keyed_service).netloc.decode()}
    with (
        running(load_settings(database_url=keyed_url, api_key=ROOT_KEY)) as other,
        httpx.Client(base_url=keyed_service, timeout=60) as here,
        httpx.Client(base_url=other, headers=host, timeout=60) as there,
    ):
        program = Program(here)
        resource = program.name_resource()
        program.http = there
        assert program.show(resource=resource).status_code == 200
        code = program.get_code(key, resource=resource)
        program.http = here
        first = program.redeem(code, resource=resource).json()
        program.http = there
        assert program.call_tool(first["access_token"], query="home").status_code == 200
        second = program.refresh(first["refresh_token"], resource=resource).json()
        program.http = here
        assert program.call_tool(second["access_token"], query="home").status_code == 200
        assert program.call_tool(first["access_token"], query="home").status_code == 401
        assert program.redeem(code).status_code == 400
        program.http = there
        assert program.call_tool(second["access_token"], query="home").status_code == 401


@pytest.mark.slow
def test_the_log_holds_no_code_token_or_key(database_url: str, tmp_path: Path) -> None:
    settings = {
        "PALIMPSEST_DATABASE_URL": database_url,
        "PALIMPSEST_API_KEY": ROOT_KEY,
        "PALIMPSEST_LOG_LEVEL": "debug",
    }
    with (
        served(tmp_path, **settings) as service,
        calling(service.address, ROOT_KEY) as root,
        httpx.Client(base_url=service.address, timeout=60) as http,
    ):
        key = issue(root, scopes=["read", "write"], agents=["ann"])["key"]
        program = Program(http, "Name of a client")
        program.show()
        program.decide("pal_0123456789abcdef_" + "0" * 64)
        code = program.get_code(key)
        tokens = program.redeem(code).json()
        program.call_tool(tokens["access_token"], "memory_store", content="I live in Porto")
        newer = program.refresh(tokens["refresh_token"]).json()
        program.refresh(tokens["refresh_token"])  # misused
        program.redeem(program.get_code(key), code_verifier="w" * 64)
        program.connect(ROOT_KEY)
    log = service.log.read_text()
    for secret in (key, code, *tokens.values(), *newer.values()):
        if str(secret).startswith("pal_"):
            assert str(secret).rpartition("_")[2] not in log
    for secret in (ROOT_KEY, VERIFIER, "0" * 64, "a state", "Porto"):
        assert secret not in log
    for line in ("granted access", "refresh token was misused", "code of OAuth was misused"):
        assert line in log
    assert '"route": "/oauth/token"' in log
