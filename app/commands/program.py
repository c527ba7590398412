"""The program `palimpsest`: what it calls itself, and whether another command is the same program.

Package indexes have other programs that install a command of this name.
"""

import os
import shutil
import subprocess
import sys
from typing import Final

from app import __version__

NAME: Final = "palimpsest-memory"  # of the distribution
_PATIENCE: Final = 10.0  # seconds for a command to print its version


def describe_version() -> str:
    """Return the line that `palimpsest --version` prints."""
    return f"{NAME} {__version__}"


def find_own_command() -> list[str]:
    """Return what starts this program: another one may be called `palimpsest` in a shell."""
    program = os.path.abspath(sys.argv[0])
    return [sys.executable, "-m", "app.cli"] if program.endswith(".py") else [program]


def is_own_command(command: str) -> bool:
    """Return whether the command, a name or a path, is Palimpsest's, of whatever version.

    The command is run with `--version`.
    """
    try:
        done = subprocess.run(  # noqa: S603 - whoever names the command would start it anyway
            [command, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and done.stdout.startswith(f"{NAME} ".encode())


def find_foreign_command() -> str | None:
    """Return the path of the program that `palimpsest` starts in a shell, if it is another one."""
    path = shutil.which("palimpsest")
    return None if path is None or is_own_command(path) else path
