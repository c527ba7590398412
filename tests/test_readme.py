"""Every command of the README is run as it stands, over a service that `make serve` starts."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import psutil
import pytest

from support.builders import list_ended
from support.service_process import await_ready, free_port

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
[LOOP] = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_the_first_block_is_the_one_command() -> None:
    assert BLOCKS[0].strip() == "make serve"


@pytest.mark.skipif(
    not (ROOT / ".venv" / ".dev").exists(),
    reason="`make serve` installs: run by `make test`, it finds all installed",
)
@pytest.mark.skipif(shutil.which("jq") is None, reason="the README picks ids with jq")
def test_the_story_of_the_readme_runs_as_pasted(tmp_path: Path) -> None:
    port = free_port()
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PALIMPSEST_")}
    serve = {**environment, "PALIMPSEST_DATA_DIR": str(tmp_path), "PORT": str(port)}
    log = tmp_path / "service.log"
    with (
        open(log, "wb") as written,
        subprocess.Popen(
            ["make", "serve"], cwd=ROOT, env=serve, stdout=written, stderr=written
        ) as process,
    ):
        make = psutil.Process(process.pid)
        try:
            await_ready(f"http://127.0.0.1:{port}", process, log)
            checkout = link_checkout(tmp_path / "checkout")
            printed = [
                run(
                    block.replace("localhost:8000", f"127.0.0.1:{port}"),
                    checkout,
                    port,
                    environment,
                )
                for block in BLOCKS[1:]
            ]
            prompts = run_loop(port, "I play the cello.", "Which instrument do I play?")
        finally:
            for service in make.children() if make.is_running() else []:
                service.terminate()
            process.wait(30)
    store, change, now, before, history = (json.loads(line) for line in printed[0].splitlines())
    assert store["operation"] == "ADD"
    assert change["operation"] == "UPDATE"
    assert list_ended(change) == [store["memory"]["id"]]
    assert change["memory"]["valid_from"].endswith("-01T00:00:00.000000Z")
    assert [r["content"] for r in now["results"]] == ["I moved to Lisbon last month"]
    assert [r["content"] for r in before["results"]] == ["I live in Porto"]
    assert [v["content"] for v in history["versions"]] == [
        "I live in Porto",
        "I moved to Lisbon last month",
    ]
    talk, later, context = printed[1].splitlines()[0], printed[1].splitlines()[1], printed[1]
    first, _, third = json.loads(talk)["messages"]
    assert [f["content"] for f in first["facts"]] == [
        "I live in Braga",
        "I work at the town library",
    ]
    assert [s["reason"] for s in first["skipped"]] == ["small_talk", "question"]
    assert [f["content"] for f in third["facts"]] == ["I am vegetarian"]
    [moved] = json.loads(later)["messages"][0]["facts"]
    assert (moved["operation"], len(list_ended(moved["answer"]))) == ("UPDATE", 1)
    assert moved["answer"]["memory"]["valid_from"].startswith("2026-03-09")
    assert all(words in context for words in ("Porto", "town library", "vegetarian"))
    assert "- I live in Braga" not in context
    assert printed[2].splitlines()[-1] == "18 of 23 questions are answered rightly."
    assert "cello" not in prompts[0]
    assert "I play the cello" in prompts[1]
    assert "Allergic to peanuts" in printed[3]
    assert "I live in Porto" in printed[3]


def link_checkout(folder: Path) -> Path:
    """Make a folder with all that is in the checkout; what a command writes stays there."""
    folder.mkdir()
    for path in ROOT.iterdir():
        (folder / path.name).symlink_to(path)
    return folder


def run_loop(port: int, *messages: str) -> list[str]:
    """Return what the agent of the README puts to its model for each message."""
    prompts: list[str] = []

    def ask_model(prompt: str) -> str:
        prompts.append(prompt)
        return "I see."

    names: dict[str, Any] = {}
    exec(LOOP.replace("localhost:8000", f"127.0.0.1:{port}").replace("mira", "loop"), names)
    for message in messages:
        assert names["answer"](message, ask_model) == "I see."
    names["memory"].close()
    return [prompt.removesuffix(message) for prompt, message in zip(prompts, messages, strict=True)]


def run(block: str, checkout: Path, port: int, environment: dict[str, str]) -> str:
    """Return what a block prints, a line for each answer of curl."""
    script = "set -euo pipefail\n" + re.sub(
        r"^(curl .*?)(?=\n(?:#|curl|\n|$)|\Z)", r"\1; echo", block, flags=re.MULTILINE | re.DOTALL
    )
    # A block that follows the first uses the BASE that the terminal has by then.
    base = f"http://127.0.0.1:{port}"
    shell = {**environment, "PALIMPSEST_URL": base, "BASE": base}
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=checkout,
        env=shell,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr + script
    return "\n".join(line for line in done.stdout.splitlines() if line.strip())


def test_every_link_of_the_readme_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
