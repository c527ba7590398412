"""Record a minute of the command line against a running service, as an asciicast.

python scripts/record_terminal.py [--url URL] [--out FILE]
npx svg-term-cli --in FILE --out docs/guide/recording.svg --window

Each line is typed and run in a terminal of its own, so that what it prints is what a person sees.
What a command takes to answer is shown as it was; only the pauses for the reader are made.
"""

import argparse
import json
import os
import pty
import subprocess
import time
from pathlib import Path

COLUMNS, LINES = 88, 30
PROMPT = "\x1b[1;32m$\x1b[0m "
# So many characters are typed at once. Seconds: between them, before a line is run, and for the
# reader after an answer.
TYPED_AT_ONCE = 5
KEYS, ENTER, READ = 0.18, 0.4, 4.0

STORY = [
    "# Where does the user live? Told twice, a year apart.",
    'palimpsest store "I live in Porto" --valid-from 2025-01-01',
    'palimpsest store "I moved to Lisbon last month"',
    "# Now, and in June of last year:",
    'palimpsest search "where does the user live" --limit 1',
    'palimpsest search "where does the user live" --limit 1 --as-of 2025-06-01',
    "# Another change, of another thing; and what is known:",
    'palimpsest store "I gave up coffee"',
    "palimpsest list",
    "# What an agent puts into its prompt:",
    'palimpsest context "where does the user live"',
]


class Cast:
    """The events of a recording: seconds since its start, and what the terminal printed."""

    def __init__(self) -> None:
        self.events: list[tuple[float, str, str]] = []
        self._now = 0.0

    def wait(self, seconds: float) -> None:
        self._now += seconds

    def print(self, text: str) -> None:
        self.events.append((round(self._now, 3), "o", text.replace("\n", "\r\n")))

    def type_line(self, line: str) -> None:
        for start in range(0, len(line), TYPED_AT_ONCE):
            self.print(line[start : start + TYPED_AT_ONCE])
            self.wait(KEYS)
        self.wait(ENTER)
        self.print("\n")


def run_in_terminal(line: str, environment: dict[str, str]) -> tuple[str, float]:
    """Return what the line prints in a terminal, and the seconds that it took."""
    ours, theirs = pty.openpty()
    began = time.monotonic()
    program = subprocess.Popen(
        ["sh", "-c", line], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    printed = b""
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:
            break
        if not piece:
            break
        printed += piece
    os.close(ours)
    if program.wait() != 0:
        raise SystemExit(f"{line}\n{printed.decode()}")
    return printed.decode().replace("\r\n", "\n"), time.monotonic() - began


def record(url: str) -> Cast:
    """Return the story as it was played against the service, by an agent of its own."""
    environment = os.environ | {
        "PALIMPSEST_URL": url,
        "PALIMPSEST_AGENT": f"recording-{int(time.time())}",
        "COLUMNS": str(COLUMNS),
        "LINES": str(LINES),
        "TERM": "xterm-256color",
    }
    cast = Cast()
    for line in STORY:
        cast.print(PROMPT)
        cast.type_line(line)
        if line.startswith("#"):
            continue
        printed, seconds = run_in_terminal(line, environment)
        cast.wait(seconds)
        cast.print(printed)
        cast.wait(READ)
    cast.print(PROMPT)
    cast.wait(READ)
    cast.print("")
    return cast


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://localhost:8000")
    parser.add_argument("--out", type=Path, default=Path("recording.cast"))
    arguments = parser.parse_args()
    header = {"version": 2, "width": COLUMNS, "height": LINES}
    lines = [header, *record(arguments.url).events]
    arguments.out.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


if __name__ == "__main__":
    main()
