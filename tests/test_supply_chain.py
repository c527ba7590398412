"""What is installed is what the locks name, and the locks name nothing that is never used."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOCKS = sorted(ROOT.glob("requirements/*.lock"))
# What tokenizers would download models with, and uvicorn's reloading, WebSockets and YAML.
NEVER_USED = set("filelock fsspec hf-xet huggingface-hub pyyaml tqdm watchfiles websockets".split())


def list_packages(lock: str) -> set[str]:
    return set(re.findall(r"^([a-z0-9.-]+)==", lock, re.MULTILINE))


def test_the_service_is_installed_without_what_it_never_uses() -> None:
    packages = list_packages((ROOT / "requirements/service.lock").read_text())
    assert packages & NEVER_USED == set()
    assert {"tokenizers", "uvicorn", "uvloop", "httptools"} <= packages


# The locks from which the service itself is installed, each with what else they are for.
SERVICE_LOCKS = {
    "requirements/service.lock": (),
    "requirements/dev.lock": ("dev",),
    "requirements/adapters.lock": ("dev", "adapters"),
}


@pytest.mark.parametrize("lock", SERVICE_LOCKS)
def test_every_library_that_the_project_names_is_in_the_lock(lock: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [project["optional-dependencies"][extra] for extra in SERVICE_LOCKS[lock]]
    named = {re.split(r"[\[ ;<>=]", one)[0] for one in sum(extras, project["dependencies"])}
    assert named - list_packages((ROOT / lock).read_text()) == set()


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_every_package_of_a_lock_has_its_version_and_hashes_and_no_address(lock: Path) -> None:
    text = lock.read_text()
    pinned = re.split(r"\n(?=\S)", text.strip())
    assert [one for one in pinned if not re.match(r"[a-z0-9.-]+==\S+", one)] == []
    assert [one for one in pinned if "--hash=sha256:" not in one] == []
    assert "://" not in text


def test_locks_are_installed_as_they_stand() -> None:
    """Resolving would ask for what the locks leave out on purpose."""
    makefile = (ROOT / "Makefile").read_text()
    installs = re.findall(r"pip install (.*\.lock.*)", makefile)
    assert len(installs) == 6
    assert [words for words in installs if "--no-deps --require-hashes" not in words] == []
