"""The TypeScript client, under Node."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "typescript"
PAGES = [CLIENT / "README.md", ROOT / "docs" / "guide" / "clients.md"]
EXAMPLE = re.compile(r"^```ts\n(.*?)^```$", re.M | re.S)
TSC = CLIENT / "node_modules" / ".bin" / "tsc"
OPTIONS = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext"]

with_node = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node to run it")
with_compiler = pytest.mark.skipif(
    not TSC.exists(), reason="`make client-typescript` installs the compiler"
)


def run(folder: Path, *command: str | Path) -> str:
    """Return what the command printed; it must succeed."""
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@with_node
def test_it_stores_searches_and_tries_again(service: str) -> None:
    assert run(CLIENT, "node", "tests/smoke.mjs", service) == "ok\n"


@pytest.mark.slow
@with_compiler
def test_its_types_catch_mistakes() -> None:
    run(CLIENT, "npm", "run", "-s", "check")


@pytest.mark.slow
@with_compiler
def test_documented_examples_compile_where_the_folder_is_installed(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"private": true, "type": "module"}')
    run(tmp_path, "npm", "install", "--offline", "--no-audit", "--no-fund", CLIENT)
    examples = [example for page in PAGES for example in EXAMPLE.findall(page.read_text())]
    assert len(examples) >= 2
    names = [f"example_{number}.ts" for number in range(len(examples))]
    for name, example in zip(names, examples, strict=True):
        (tmp_path / name).write_text(example)
    run(tmp_path, TSC, *OPTIONS, *names)
    (tmp_path / names[0]).write_text(examples[0].replace("content:", "contents:"))
    with pytest.raises(AssertionError, match="contents"):
        run(tmp_path, TSC, *OPTIONS, names[0])
