"""The Python of the documentation passes a strict type check."""

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *ROOT.glob("docs/guide/*.md"), *ROOT.glob("clients/*/README.md")]
FENCED = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
INDENTED = re.compile(r"^    (?:from|import) .*\n(?:    .*\n|\n)*", re.M)
# The frameworks of the adapters are not installed here, so what they return is of any type.
CACHE = ROOT / ".mypy_cache" / "documentation"
OPTIONS = [
    "--strict",
    "--ignore-missing-imports",
    "--allow-subclassing-any",
    "--no-warn-unused-ignores",
]


def list_blocks(page: Path) -> list[str]:
    text = page.read_text()
    return FENCED.findall(text) + list(map(dedent, INDENTED.findall(FENCED.sub("", text))))


@pytest.mark.slow  # mypy takes seconds
def test_every_block_of_python_passes_mypy_strict(tmp_path: Path) -> None:
    for page in PAGES:
        for number, block in enumerate(list_blocks(page)):
            name = re.sub(r"\W", "_", str(page.relative_to(ROOT).with_suffix("")))
            (tmp_path / f"{name}_{number}.py").write_text(block)
    blocks = sorted(map(str, tmp_path.glob("*.py")))
    assert len(blocks) >= 5
    command = [sys.executable, "-m", "mypy", *OPTIONS, "--cache-dir", str(CACHE)]
    packages = os.pathsep.join(map(str, ROOT.glob("clients/*/")))
    done = subprocess.run(
        [*command, *blocks],
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": packages},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
