"""The files of the networks: each is checked to be the one that was shipped, by its digest."""

import hashlib
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent / "networks"
DIGESTS: Final = "SHA256SUMS"


class DamagedNetwork(Exception):
    """A file of the networks is missing, or is not the one that was shipped."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} is missing or is not the file that was shipped. Install its package again."
        )


def read_digests(folder: Path | None = None) -> dict[str, str]:
    """Return the SHA-256 of each file, in hexadecimal, by its name, from a file of `sha256sum`.

    Without a folder, those are the files of the app. Raises DamagedNetwork.
    """
    path = (folder or FOLDER) / DIGESTS
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except OSError:
        raise DamagedNetwork(path) from None
    return {name: digest for digest, name in map(str.split, lines)}


def check_file(name: str, folder: Path | None = None) -> Path:
    """Return the path of a file of the networks. Raises DamagedNetwork."""
    path = (folder or FOLDER) / name
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        raise DamagedNetwork(path) from None
    if digest != read_digests(folder).get(name):
        raise DamagedNetwork(path)
    return path


def check_files(folder: Path | None = None) -> None:
    """Raise DamagedNetwork unless every file is the one that was shipped."""
    for name in read_digests(folder):
        check_file(name, folder)
