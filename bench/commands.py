"""How much CPU a command of the command line takes."""

import resource
import subprocess
import sys
from statistics import median

from bench.figures import Report
from bench.servers import SERVICE, serving
from bench.world import World


def measure(report: Report, world: World, *, times: int) -> None:
    """Writes a section: the help, and a search over a running service."""
    with serving(SERVICE, PALIMPSEST_DATABASE_URL=world.url) as port:
        search = ["search", "editor", "--url", f"http://127.0.0.1:{port}"]
        taken = {words[0]: [_run(words) for _ in range(times)] for words in (["--help"], search)}
    rows = []
    for name, seconds in taken.items():
        rows.append([f"`palimpsest {name}`", f"{median(seconds):.2f}", f"{max(seconds):.2f}"])
    report.section(
        "Commands",
        f"Seconds of CPU (user and system) of the process of a command; {times} runs each, files cached. Goal: .25 for the help, .5 for a search.",
        ["command", "median", "most"],
        rows,
    )


def _run(words: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "app.cli", *words]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
