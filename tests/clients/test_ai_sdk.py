"""The AI SDK's middleware and tools, under Node with a scripted model, against the real service."""

import os
import shutil
import subprocess
from pathlib import Path
from uuid import uuid4

import pytest

from support.examples import read_example

PACKAGE = Path(__file__).parents[2] / "clients" / "ai_sdk"

pytestmark = [
    pytest.mark.skipif(shutil.which("node") is None, reason="there is no node to run it with"),
    pytest.mark.skipif(
        not (PACKAGE / "node_modules").exists(), reason="`make adapter-ai-sdk` installs the SDK"
    ),
]

# After the example of the README: what the model was sent.
CHECK = """
const [first, , last] = requests;
console.log(first.includes("memory"), last.includes("moved to Lisbon"), last.includes("Porto"));
"""


def run_node(*words: str, source: str | None = None, **environment: str) -> str:
    done = subprocess.run(
        ["node", *words],
        input=source,
        cwd=PACKAGE,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_example_of_the_readme(service: str) -> None:
    example = read_example("ai_sdk", f"ai-sdk-{uuid4().hex}")
    script = 'import { requests, scripted as SCRIPT } from "./tests/scripted.mjs";\n'
    source = script + example + CHECK
    printed = run_node("--input-type=module", source=source, PALIMPSEST_URL=service)
    assert printed.splitlines() == ["I see."] * 3 + ["false true false"]


def test_it_stores_streams_searches_and_knows_users(service: str) -> None:
    assert run_node("tests/smoke.mjs", service) == "ok\n"


@pytest.mark.slow
@pytest.mark.skipif(
    not (PACKAGE.parent / "typescript" / "schema.d.ts").exists(),
    reason="`make client-typescript` writes the types of the client",
)
def test_its_types_fit_its_code_and_programs() -> None:
    run_node("node_modules/typescript/bin/tsc", *read_check())


def read_check() -> list[str]:
    """Return the options and files of the package's own check."""
    words = (PACKAGE / "package.json").read_text().split('"check": "tsc ')[1].split('"')[0].split()
    files = [path for path in words if "*" in path]
    found = [str(path.relative_to(PACKAGE)) for glob in files for path in PACKAGE.glob(glob)]
    return [word for word in words if word not in files] + found
