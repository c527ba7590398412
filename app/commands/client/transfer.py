"""`palimpsest export` and `palimpsest import`: stream an agent into a file, and back."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

from app.commands.client.calling import DEFAULT_URL, Agent, ApiKey, Failure, Service, Url
from app.commands.parameters import Argument, Option

if TYPE_CHECKING:
    from rich.progress import Progress

BLOCK = 2**16  # bytes


class Product(StrEnum):
    """The products whose files can be imported."""

    PALIMPSEST = "palimpsest"
    MEM0 = "mem0"
    GRAPHITI = "graphiti"
    LETTA = "letta"
    LANGMEM = "langmem"
    SERVER_MEMORY = "server-memory"
    HINDSIGHT = "hindsight"


def export_agent(
    file: Annotated[
        str,
        Argument(metavar="[FILE]", help="Where to write it; `-` or nothing: standard output."),
    ] = "-",
    vectors: Annotated[
        bool, Option(help="With the vectors; without them, an import makes them again.")
    ] = True,
    url: Url = DEFAULT_URL,
    agent: Agent = "default",
    api_key: ApiKey = None,
) -> None:
    """Export everything of an agent.

    That is its memories, all beliefs about them, the log, relationships and reviews.
    """
    service = Service(url=url, agent=agent, api_key=api_key)
    with service.connect() as client, _open_output(file) as output:
        export = client.export(vectors=vectors)
        with _show_progress("exporting", None) as progress:
            for block in export.blocks():
                output.write(block)
                _advance_progress(progress, block)
    assert export.end, "an export without its last line is an error"
    _print_counts("exported", export.end["counts"])


def import_file(
    file: Annotated[str, Argument(metavar="FILE", help="The file to import; `-`: standard input.")],
    product: Annotated[
        Product, Option("--from", help="Which product wrote the file.")
    ] = Product.PALIMPSEST,
    owner: Annotated[
        str | None,
        Option("--of", help="Whose memories, if the file has those of several."),
    ] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Only report what would be stored.")] = False,
    url: Url = DEFAULT_URL,
    agent: Agent = "default",
    api_key: ApiKey = None,
) -> None:
    """Import an export, or facts with their own dates.

    An export goes into an agent that holds nothing.

    The file has one JSON object a line, or is what another product exports
    (docs/guide/importing.md).
    """
    service = Service(url=url, agent=agent, api_key=api_key)
    if product is not Product.PALIMPSEST:
        from app.commands.client.imports import import_from

        with _open_input(file) as source:
            content = source.read()
        import_from(service, product.value, content, file=file, owner=owner, dry_run=dry_run)
        return
    if dry_run or owner is not None:
        raise Failure("--dry-run and --of are for files of other products: add --from.")
    with service.connect() as client, _open_input(file) as source:
        # Only a regular file has a size.
        size = os.fstat(source.fileno()).st_size or None
        with _show_progress("importing", size) as progress:
            lines = client.import_history(_read_blocks(source, progress))
    # A native export is answered by one line with its counts, and versions by a line each.
    if lines and lines[0].get("type") == "imported":
        counts = dict(lines[0]["counts"])
    else:
        counts = {"memory": len(lines)}
    _print_counts("imported", counts)


# --- files ---------------------------------------------------------------------------------------


@contextmanager
def _open_output(file: str) -> Iterator[IO[bytes]]:
    """Open standard output, or a file that gets its name only when it is complete."""
    if file == "-":
        with _standard_output() as output:
            yield output
        return
    part = Path(f"{file}.part")
    try:
        with open(part, "wb") as output:
            yield output
            output.flush()
            os.fsync(output.fileno())
        part.replace(file)
    except OSError as problem:
        raise Failure(f"{file}: {problem.strerror}") from None
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _standard_output() -> Iterator[IO[bytes]]:
    try:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # Python flushes the rest of its buffer at exit, which would fail once more.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        raise Failure("standard output was closed before the export was complete.") from None


@contextmanager
def _open_input(file: str) -> Iterator[IO[bytes]]:
    if file == "-":
        yield sys.stdin.buffer
        return
    try:
        # The `with` is below, because errors of reading are not errors of opening.
        source = open(file, "rb")  # noqa: SIM115
    except OSError as problem:
        raise Failure(f"{file}: {problem.strerror}") from None
    with source:
        yield source


# --- streams -------------------------------------------------------------------------------------


def _read_blocks(file: IO[bytes], progress: "Progress") -> Iterator[bytes]:
    while block := file.read(BLOCK):
        yield block
        _advance_progress(progress, block)
    progress.update(progress.task_ids[0], description="the service checks and writes it")


@contextmanager
def _show_progress(doing: str, total: int | None) -> Iterator["Progress"]:
    """Show a bar on a terminal, and nothing elsewhere."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TransferSpeedColumn,
    )

    console = Console(stderr=True)
    shown = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TextColumn("{task.fields[lines]:,} lines"),
        TransferSpeedColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with shown as progress:
        progress.add_task(doing, total=total, lines=0)
        yield progress


def _advance_progress(progress: "Progress", block: bytes) -> None:
    [task] = progress.tasks
    progress.update(task.id, advance=len(block), lines=task.fields["lines"] + block.count(b"\n"))


def _print_counts(verb: str, counts: dict[str, int]) -> None:
    """Print the counts on standard error, because standard output may be the export."""
    words = [f"{kind} {count:,}" for kind, count in counts.items() if count]
    print(f"{verb}: {', '.join(words) or 'nothing'}", file=sys.stderr)
