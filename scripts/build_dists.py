"""Build all that can be installed: wheels, source distributions, npm packages, and their SHA256SUMS.

python scripts/build_dists.py dist

The same commit gives the same bytes. The package of languages is built if `make languages` has
written its networks, and npm packages if there is npm, which loads their compiler.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
LANGUAGES = ROOT / "training" / "languages"


def list_python_projects() -> list[Path]:
    projects = [ROOT, *sorted(path.parent for path in ROOT.glob("clients/*/pyproject.toml"))]
    is_built = (LANGUAGES / "palimpsest_languages" / "encoder.onnx").exists()
    return [*projects, LANGUAGES] if is_built else projects


def build_python(folder: Path) -> None:
    date = subprocess.check_output(["git", "log", "-1", "--format=%ct"], cwd=ROOT, text=True)
    for project in list_python_projects():
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)],
            cwd=project,
            env={**os.environ, "SOURCE_DATE_EPOCH": date.strip()},
            stdout=subprocess.DEVNULL,
            check=True,
        )


def build_npm(folder: Path) -> None:
    for path in sorted(ROOT.glob("clients/*/package.json")):
        for words in ("ci --no-audit --no-fund", f"pack --pack-destination={folder}"):
            command = ["npm", "--silent", *words.split()]
            subprocess.run(command, cwd=path.parent, stdout=subprocess.DEVNULL, check=True)


def write_digests(folder: Path) -> None:
    files = sorted(folder.iterdir())
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (folder / "SHA256SUMS").write_text("".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description="Build all that can be installed.")
    parser.add_argument("folder", type=Path, help="made here")
    parser.add_argument("--python-only", action="store_true", help="no npm packages")
    options = parser.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True)
    build_python(folder)
    if not options.python_only and shutil.which("npm"):
        build_npm(folder)
    write_digests(folder)
    print((folder / "SHA256SUMS").read_text(), end="")


if __name__ == "__main__":
    main()
