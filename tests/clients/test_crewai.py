"""CrewAI's memory on the client, in CrewAI's own environment, against the real service.

CrewAI wants older packages than the service, so that the two cannot share an environment.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from support.examples import read_example

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-crewai" / "bin" / "python"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON.exists(), reason="`make test-adapters` installs CrewAI"),
]


@pytest.fixture(scope="module")
def answers(service: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What the program of the test prints."""
    folder = tmp_path_factory.mktemp("crewai")
    done = subprocess.run(
        [PYTHON, ROOT / "tests" / "clients" / "crewai_program.py"],
        input=read_example("crewai", f"crewai-{uuid4().hex}"),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        cwd=folder,
        env={
            "HOME": str(folder),
            "PALIMPSEST_URL": service,
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(
                str(ROOT / "clients" / name) for name in ("python", "crewai")
            ),
            "CREWAI_DISABLE_TELEMETRY": "true",
            "CREWAI_TRACING_ENABLED": "false",
            "OTEL_SDK_DISABLED": "true",
        },
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_the_example_of_the_readme(answers: Any) -> None:
    first, _, last = answers["requests"]
    assert "Relevant memories" not in first
    assert "I moved to Lisbon" in last
    assert "Porto" not in last


def test_records_are_scoped_changed_listed_and_forgotten(answers: Any) -> None:
    records = answers["records"]
    assert set(records["scoped"]) == {"I like green tea", "I hate milk"}
    assert records["everything"] == 3
    assert records["kept secret"] == []
    assert records["to bob"] == ["The code is 7"]
    assert records["changed"] == ["I like green tea", 0.9, "/crew/desk/food", True]
    assert "/crew/desk/food (2 records)" in records["tree"]
    assert records["categories"] == {"door": 1}
    assert records["forgotten"] == 1
    assert set(records["listed"]) == {"I like green tea", "The code is 7"}
    assert records["after the reset"] == ["The office is in Ghent"]
    assert records["read only"] is None
