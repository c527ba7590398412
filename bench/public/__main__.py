"""`python -m bench.public [--folder DATA] [--memory NAME …] [--exam NAME …]`: prints a table.

Without `--folder` the data is fetched from where it is published, each file by its digest. Every
exam starts with memories that hold nothing.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from app.store.embedded import embedded_postgres
from bench.public import consolidation, cost, precision, statebench, talk
from bench.public.data import LOCOMO, REALTALK, DataMissing
from bench.public.memory import Memory, Palimpsest
from bench.public.rivals import RIVALS
from bench.servers import ROOT, SERVICE, serving

OURS = "palimpsest"
Exam = Callable[[Memory], dict[str, str]]


def list_exams(folder: Path | None) -> dict[str, Exam]:
    """Return the exams by name. They raise DataMissing."""
    return {
        **{
            f"FactConsolidation {size}": partial(_examine_list, size=size, folder=folder)
            for size in consolidation.SIZES
        },
        "35 facts": partial(cost.examine, folder=folder),
        "StateBench": partial(statebench.examine, folder=folder),
        "PrecisionMemBench": partial(precision.examine, folder=folder),
        "LoCoMo facts": partial(talk.examine_facts, source=LOCOMO, folder=folder),
        "LoCoMo turns": partial(talk.examine_turns, source=LOCOMO, folder=folder),
        "REALTALK turns": partial(talk.examine_turns, source=REALTALK, folder=folder),
    }


def _examine_list(memory: Memory, *, size: str, folder: Path | None) -> dict[str, str]:
    return consolidation.examine(memory, size, folder)


# The largest lists take an hour of two cores.
DEFAULT = (
    "FactConsolidation 6k",
    "FactConsolidation 32k",
    "35 facts",
    "StateBench",
    "PrecisionMemBench",
    "LoCoMo facts",
    "LoCoMo turns",
    "REALTALK turns",
)


@contextmanager
def open_memory(name: str) -> Iterator[Memory]:
    """Open a memory that holds nothing: the service with a database of its own, or a rival."""
    if name != OURS:
        yield RIVALS[name]()
        return
    with tempfile.TemporaryDirectory() as folder, embedded_postgres(Path(folder)) as url:
        environment = os.environ | {"PALIMPSEST_DATABASE_URL": url}
        migrate = [sys.executable, "-m", "app.cli", "migrate"]
        subprocess.run(migrate, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
        worker = subprocess.Popen(
            [sys.executable, "-m", "app.cli", "worker"], cwd=ROOT, env=environment
        )
        try:
            with serving(SERVICE, PALIMPSEST_DATABASE_URL=url) as port:
                yield Palimpsest(port, url)
        finally:
            worker.terminate()
            worker.wait(20)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.public", description=__doc__)
    parser.add_argument("--folder", type=Path, help="folder with the data, by exam")
    parser.add_argument("--memory", nargs="+", choices=[OURS, *RIVALS], default=[OURS])
    parser.add_argument("--exam", nargs="+", choices=list_exams(None), default=DEFAULT)
    arguments = parser.parse_args()
    exams = list_exams(arguments.folder)
    print("| exam | memory | figures | seconds |\n| --- | --- | --- | --- |")
    for exam in arguments.exam:
        for name in arguments.memory:
            print(_render(exam, name, exams[exam]), flush=True)


def _render(exam: str, name: str, examine: Exam) -> str:
    with open_memory(name) as memory:
        started = time.perf_counter()
        try:
            figures = examine(memory)
        except DataMissing as error:
            sys.exit(str(error))
        seconds = time.perf_counter() - started
        told = "; ".join(f"{figure}: {value}" for figure, value in figures.items())
        return f"| {exam} | {memory.name} | {told} | {seconds:,.0f} |"


if __name__ == "__main__":
    main()
