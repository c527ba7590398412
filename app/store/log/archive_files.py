"""The files of operations that left the log: a folder per agent, and a file per batch.

A file is written once, then replaced or removed as a whole. The table `log_archives` says which
files count. Any other file was left by a run that was cut off.
"""

import asyncio
import contextlib
import hashlib
import os
import time
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import BinaryIO

from uuid_utils.compat import uuid7

from app.domain.agent import AgentId
from app.domain.errors import (
    ArchiveDamaged,
    ArchiveFolderMissing,
    ArchiveFolderReadOnly,
    ArchivesUnavailable,
)
from app.domain.text import hash_text


@dataclass(frozen=True, slots=True)
class File:
    """A written file, named relative to the archive folder, with the SHA-256 of its bytes."""

    name: str
    sha256: bytes


class Archives:
    """The archive folder. A caller that writes or removes files of an agent holds its lock."""

    def __init__(self, folder: Path, *, may_make: bool) -> None:
        """Take a folder; with `may_make` it is the service's own and is created if missing."""
        self._folder = folder
        self._may_make = may_make

    def require_writable(self) -> None:
        """Raise ArchivesUnavailable unless files can be written."""
        if self._may_make:
            with contextlib.suppress(OSError):
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Path.is_dir raises if a folder above may not be entered, as in a container whose data
        # folder is not kept.
        if not os.path.isdir(self._folder):
            raise ArchiveFolderMissing
        if not os.access(self._folder, os.R_OK | os.W_OK | os.X_OK):
            raise ArchiveFolderReadOnly

    async def write_file(
        self, agent: AgentId, first_at: datetime, lines: AsyncIterator[bytes]
    ) -> File:
        """Write these lines to a new file, which is on disk when this returns.

        Raise ArchivesUnavailable and leave nothing behind if that fails.
        """
        name = f"{_name_folder(agent)}/{first_at:%Y%m%dT%H%M%SZ}-{uuid7()}.ndjson"
        path = self._folder / name
        try:
            sha256 = await _write_whole_file(path, lines)
        except OSError as problem:
            path.with_suffix(".part").unlink(missing_ok=True)
            raise ArchivesUnavailable(
                f"The archive {name} cannot be written: {problem.strerror}."
            ) from None
        return File(name, sha256)

    async def read_file_lines(self, file: File) -> list[bytes]:
        """Return the lines of a file. Raise ArchivesUnavailable if it is missing or was changed."""
        try:
            content = await asyncio.to_thread((self._folder / file.name).read_bytes)
        except OSError as problem:
            raise ArchiveDamaged(
                f"The archive {file.name} cannot be read: {problem.strerror}."
            ) from None
        if hashlib.sha256(content).digest() != file.sha256:
            raise ArchiveDamaged(f"The archive {file.name} is not as it was written.")
        return content.splitlines(keepends=True)

    async def hash_file(self, name: str) -> bytes | None:
        """Return the SHA-256 of a file, None if it cannot be read."""
        try:
            return await asyncio.to_thread(_hash_file, self._folder / name)
        except OSError:
            return None

    def list_unknown_files(
        self, agent: AgentId, known: Collection[str], *, unchanged_for: timedelta = timedelta()
    ) -> list[str]:
        """Return the agent's files that are not known and were not written to for so long."""
        folder = self._folder / _name_folder(agent)
        latest = time.time() - unchanged_for.total_seconds()
        try:
            paths = [path for path in folder.iterdir() if path.stat().st_mtime <= latest]
        except OSError:
            return []
        names = {f"{folder.name}/{path.name}" for path in paths}
        return sorted(names - set(known))

    def remove(self, names: Collection[str]) -> list[str]:
        """Remove files, and return the names of those that could not be removed."""
        left = []
        for name in names:
            try:
                (self._folder / name).unlink(missing_ok=True)
            except OSError:
                left.append(name)
        for folder in {self._folder / name.split("/")[0] for name in names}:
            with contextlib.suppress(OSError):  # the folder still holds other files
                folder.rmdir()
        return left


def _name_folder(agent: AgentId) -> str:
    """Return a hash, because an agent's id may be longer than a file name. Each file names it."""
    return f"agent-{hash_text(agent).hex()[:32]}"


async def _write_whole_file(path: Path, lines: AsyncIterator[bytes]) -> bytes:
    """Write under another name and rename, so that a file is whole under its own name."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    part = path.with_suffix(".part")
    hashed = hashlib.sha256()
    with _open_new_file(part) as file:
        async for line in lines:
            hashed.update(line)
            file.write(line)
        file.flush()
        await asyncio.to_thread(os.fsync, file.fileno())
    part.rename(path)
    for folder in (path.parent, path.parent.parent):
        await asyncio.to_thread(_sync_folder, folder)
    return hashed.digest()


def _open_new_file(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")


def _sync_folder(folder: Path) -> None:
    """Sync the folder: a rename survives a power cut only if its folder is on disk too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _hash_file(path: Path) -> bytes:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
