"""The unmodified Python client of mem0, which no lock of this repository has.

It runs if PALIMPSEST_TEST_MEM0AI names a Python that has `mem0ai`.
"""

import json
import os
import subprocess
from pathlib import Path

import httpx
import pytest

PYTHON = os.environ.get("PALIMPSEST_TEST_MEM0AI")

SCRIPT = """
import json, sys
from mem0 import MemoryClient
address, user = sys.argv[1:]
client = MemoryClient(api_key="any", host=address + "/mem0")
messages = [{"role": "user", "content": "I live in Porto. I like jazz."}]
added = client.add(messages, user_id=user, metadata={"topic": "life"})["results"]
home = added[0]["id"]
filters = {"user_id": user}
found = client.search("Where do I live?", filters=filters, top_k=1)["results"]
listed = client.get_all(filters=filters, page=1, page_size=1)
client.update(home, text="I live in Lisbon")
text = client.get(home)["memory"]
client.delete(home)
events = [event["event"] for event in client.history(home)]
users = [one["name"] for one in client.users()["results"]]
try:
    client.search("x", filters={"OR": [{"user_id": "a"}, {"user_id": "b"}]})
    refusal = None
except Exception as problem:
    refusal = type(problem).__name__
client.delete_all(user_id=user)
print(json.dumps({
    "added": [one["memory"] for one in added],
    "found": [one["memory"] for one in found],
    "count": listed["count"],
    "text": text,
    "events": events,
    "is_user": user in users,
    "refusal": refusal,
    "left": client.get_all(filters=filters)["count"],
}))
"""


@pytest.mark.skipif(PYTHON is None, reason="PALIMPSEST_TEST_MEM0AI names no Python with mem0ai")
def test_the_client_of_mem0_works_unchanged(
    client: httpx.Client, service: str, tmp_path: Path
) -> None:
    assert PYTHON is not None
    user = str(client.headers["X-Agent-Id"])
    done = subprocess.run(
        [PYTHON, "-c", SCRIPT, service, user],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "MEM0_TELEMETRY": "False", "MEM0_DIR": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "added": ["I live in Porto", "I like jazz"],
        "found": ["I live in Porto"],
        "count": 2,
        "text": "I live in Lisbon",
        "events": ["ADD", "UPDATE", "DELETE"],
        "is_user": True,
        "refusal": "ValidationError",
        "left": 0,
    }
