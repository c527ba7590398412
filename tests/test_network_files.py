"""The networks are those that were shipped, or the service does not start."""

import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app import network_files
from app.network_files import DamagedNetwork, check_file, check_files, read_digests
from app.networks import ENGLISH

ROOT = Path(__file__).parents[1]
NETWORKS = ROOT / "app" / "networks"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the networks that a test may damage."""
    for name in read_digests(NETWORKS):
        (tmp_path / name).symlink_to(NETWORKS / name)
    shutil.copy(NETWORKS / "SHA256SUMS", tmp_path)
    monkeypatch.setattr(network_files, "FOLDER", tmp_path)
    return tmp_path


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.unlink()
    path.write_bytes(content)


def test_every_file_of_the_networks_has_its_digest() -> None:
    shipped = {
        path.name for path in NETWORKS.iterdir() if path.suffix in (".onnx", ".bin", ".json")
    }
    assert shipped == set(read_digests(NETWORKS))
    check_files()


def test_an_export_writes_the_digests_of_what_it_leaves(folder: Path) -> None:
    damage(folder / "judge.onnx")
    write_digests = runpy.run_path(str(ROOT / "training" / "digests.py"))["write_digests"]
    write_digests(folder)
    written = (folder / "SHA256SUMS").read_text().splitlines()
    shipped = (NETWORKS / "SHA256SUMS").read_text().splitlines()
    assert [line[-11:] for line in set(written) ^ set(shipped)] == [" judge.onnx"] * 2


@pytest.mark.parametrize("name", sorted(read_digests(NETWORKS)))
def test_a_file_of_which_one_bit_is_another_is_not_opened(folder: Path, name: str) -> None:
    check_file(name)
    damage(folder / name)
    with pytest.raises(DamagedNetwork, match=f"{name} is missing or is not the file"):
        ENGLISH.load_tokenizer() if name.endswith(".json") else ENGLISH.open_session(name)
    with pytest.raises(DamagedNetwork):
        check_files()


def test_a_missing_file_is_named(folder: Path) -> None:
    (folder / "judge.onnx").unlink()
    with pytest.raises(DamagedNetwork, match=r"judge\.onnx"):
        check_files()


def test_a_start_with_a_damaged_network_is_one_line(folder: Path, tmp_path: Path) -> None:
    damage(folder / "messages.onnx")
    code = (
        "import pathlib, sys; from app import network_files; from app.cli import main;"
        f"network_files.FOLDER = pathlib.Path({str(folder)!r});"
        "sys.argv = ['palimpsest', 'serve', '--port', '0']; main()"
    )
    started = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PALIMPSEST_DATA_DIR": str(tmp_path / "data")},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert started.returncode == 1
    assert "messages.onnx is missing or is not the file that was shipped" in started.stderr
    assert "Traceback" not in started.stderr
    assert not (tmp_path / "data").exists()


def test_the_networks_stand_in_the_bill_of_materials(tmp_path: Path) -> None:
    document = tmp_path / "bom.json"
    document.write_text('{"bomFormat": "CycloneDX", "components": [{"name": "httpx"}]}')
    script = ROOT / "scripts" / "add_networks_to_sbom.py"
    subprocess.run([sys.executable, str(script), str(document)], check=True)
    first, *added = json.loads(document.read_text())["components"]
    assert first == {"name": "httpx"}
    assert {Path(one["name"]).name: one["hashes"][0]["content"] for one in added} == read_digests(
        NETWORKS
    )
    assert {one["licenses"][0]["license"]["id"] for one in added} == {"Apache-2.0"}
    for recipe in ("Makefile", "Dockerfile"):
        assert "scripts/add_networks_to_sbom.py" in (ROOT / recipe).read_text()
