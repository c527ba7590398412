"""Whatever is sent to the dialects of mem0, the answer is no fault of the service: tried as for `/v1`."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.mem0 import routes
from app.mem0.schemas import AnyParameters
from app.settings import load_settings
from support.depth import DEEP
from support.service import running

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parents[1]
OPTIONS = [
    *("--phases", "coverage,fuzzing", "--max-examples", "200" if DEEP else "15"),
    *("--checks", "not_a_server_error"),
    *([] if DEEP else ["--generation-deterministic"]),
]


@pytest.fixture
def address(database_url: str) -> Iterator[str]:
    """A service where a user of mem0 has memories."""
    with running(load_settings(database_url=database_url)) as address:
        for text in ("Tea is green", "The sea is blue"):
            body = {"messages": text, "user_id": "ann", "infer": False}
            httpx.post(f"{address}/mem0/v3/memories/add/", json=body).raise_for_status()
        yield address


def write_document() -> dict[str, Any]:
    """The calls of mem0 as an OpenAPI document, by their schemas."""
    paths: dict[str, dict[str, Any]] = {}
    schemas: dict[str, Any] = {}
    for row in routes.list_rows():
        path = row.path.replace(":path}", "}")
        if "{rest}" in path:
            continue
        names = [part.partition("}")[0] for part in path.split("{")[1:]]
        schema = row.schema.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas |= schema.pop("$defs", {})
        if "user_id" in schema.get("properties", {}):  # else most calls name nobody
            schema["required"] = [*schema.get("required", []), "user_id"]
        fields = schema.get("properties", {}).items()
        described: dict[str, Any] = {
            "parameters": [
                *({"name": n, "in": "path", "required": True, "schema": TEXT} for n in names),
                *(
                    {"name": n, "in": "query", "schema": field, "required": n == "user_id"}
                    for n, field in fields
                    if row.method in ("GET", "DELETE")
                ),
            ],
            "responses": {"default": {"description": "Any"}},
        }
        if row.schema is not AnyParameters and row.method != "GET":
            described["requestBody"] = {"content": {"application/json": {"schema": schema}}}
        paths.setdefault(path, {}).setdefault(row.method.lower(), described)
    info = {"title": "mem0", "version": "1"}
    components = {"schemas": schemas}
    return {"openapi": "3.1.0", "info": info, "paths": paths, "components": components}


TEXT = {"type": "string", "minLength": 1}


@pytest.mark.timeout(1200)  # thousands of requests, on whichever machine
def test_no_call_of_mem0_is_a_fault_of_the_service(address: str, tmp_path: Path) -> None:
    document = tmp_path / "mem0.json"
    document.write_text(json.dumps(write_document()))
    command = [sys.executable, "-m", "schemathesis.cli", "run", str(document), "--url", address]
    tried = subprocess.run(
        [*command, *OPTIONS],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert tried.returncode == 0, tried.stdout + tried.stderr
