"""Commands on a terminal of 80 columns."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios


def run_on_terminal(*words: str, **environment: str) -> str:
    """What a command writes to a terminal that shows colors."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    inherited = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
    command = [sys.executable, "-m", "app.cli", *words]
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=inherited | environment
    ) as process:
        os.close(theirs)
        written = b""
        try:
            while block := os.read(ours, 65_536):
                written += block
        except OSError:  # the terminal was left by its last process
            pass
        os.close(ours)
    assert process.returncode in (0, 1, 2)
    return written.decode().replace("\r\n", "\n")
