"""`palimpsest export` and `palimpsest import`: stream an agent into a file, and back."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, Any

import httpx
import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TransferSpeedColumn,
)

from app.commands.client.calling import (
    DEFAULT_URL,
    Agent,
    ApiKey,
    Failure,
    Url,
    build_no_answer_failure,
    client_of,
)

BLOCK = 2**16
# Bytes. The last line of an export is shorter.
_END = 2**12

# The service writes an import after all of it has arrived, and only then answers.
_PATIENCE = httpx.Timeout(60, read=None)


def export_agent(
    file: Annotated[
        str,
        typer.Argument(
            metavar="[FILE]", help="Where to write it; `-` or nothing: standard output."
        ),
    ] = "-",
    vectors: Annotated[
        bool, typer.Option(help="With the vectors; without them, an import makes them again.")
    ] = True,
    url: Url = DEFAULT_URL,
    agent: Agent = "default",
    api_key: ApiKey = None,
) -> None:
    """Export everything of an agent.

    That is its memories, all beliefs about them, the log, relationships and reviews.
    """
    query = {"vectors": vectors}
    with (
        client_of(url, agent, api_key) as client,
        _open_output(file) as output,
        _explain_connection_errors(client),
        client.stream("GET", "/v1/export", params=query, timeout=_PATIENCE) as response,
    ):
        _require_success(response)
        end = _copy_lines(response, output)
    _print_counts("exported", end["counts"])


def import_file(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A file of lines; `-`: standard input.")
    ],
    url: Url = DEFAULT_URL,
    agent: Agent = "default",
    api_key: ApiKey = None,
) -> None:
    """Import an export into an agent that holds nothing, or versions with their own dates.

    The file has one JSON object a line.
    """
    headers = {"Content-Type": "application/x-ndjson"}
    with (
        client_of(url, agent, api_key) as client,
        _open_input(file) as source,
        _show_progress("importing", _file_size(source)) as progress,
        _explain_connection_errors(client),
        client.stream(
            "POST",
            "/v1/import",
            content=_read_blocks(source, progress),
            headers=headers,
            timeout=_PATIENCE,
        ) as response,
    ):
        _require_success(response)
        counts = _count_imported(response)
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


def _file_size(file: IO[bytes]) -> int | None:
    """Return the bytes of a regular file; None for an input without a known end."""
    return os.fstat(file.fileno()).st_size or None


# --- streams -------------------------------------------------------------------------------------


@contextmanager
def _explain_connection_errors(client: httpx.Client) -> Iterator[None]:
    try:
        yield
    except httpx.RemoteProtocolError as problem:
        raise Failure(f"the connection broke off: {problem}.") from None
    except (httpx.HTTPError, httpx.InvalidURL) as problem:
        raise build_no_answer_failure(client, problem) from None


def _require_success(response: httpx.Response) -> None:
    """Raise Failure with the detail of a problem."""
    if response.is_success:
        return
    try:
        raise Failure(str(json.loads(response.read())["detail"]))
    except (ValueError, KeyError, TypeError):
        raise Failure(
            f"{response.url} does not answer like Palimpsest (status {response.status_code})."
        ) from None


def _copy_lines(response: httpx.Response, output: IO[bytes]) -> dict[str, Any]:
    """Write the lines as they arrive, and return the last one.

    Raises Failure if the last line does not say that the export is complete.
    """
    end = b""
    with _show_progress("exporting", None) as progress:
        for block in response.iter_bytes(BLOCK):
            output.write(block)
            end = (end + block)[-_END:]
            _advance_progress(progress, block)
    last = end.rpartition(b"\n")[0].rpartition(b"\n")[2]
    if not last.startswith(b'{"type":"end"'):
        raise Failure("the export was cut off: its last line is missing. Export again.")
    line: dict[str, Any] = json.loads(last)
    return line


def _read_blocks(file: IO[bytes], progress: Progress) -> Iterator[bytes]:
    while block := file.read(BLOCK):
        yield block
        _advance_progress(progress, block)
    progress.update(progress.task_ids[0], description="the service checks and writes it")


def _count_imported(response: httpx.Response) -> dict[str, int]:
    """Return the counts of an import.

    A native export is answered by one line with its counts, and versions by a line each.
    """
    counts = {"memory": 0}
    for line in response.iter_lines():
        answer = json.loads(line)
        if answer.get("type") == "imported":
            return dict(answer["counts"])
        counts["memory"] += 1
    return counts


@contextmanager
def _show_progress(doing: str, total: int | None) -> Iterator[Progress]:
    """Show a bar on a terminal, and nothing elsewhere."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TextColumn("{task.fields[lines]:,} lines"),
    )
    console = Console(stderr=True)
    shown = Progress(
        *columns,
        TransferSpeedColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with shown as progress:
        progress.add_task(doing, total=total, lines=0)
        yield progress


def _advance_progress(progress: Progress, block: bytes) -> None:
    [task] = progress.tasks
    progress.update(task.id, advance=len(block), lines=task.fields["lines"] + block.count(b"\n"))


def _print_counts(verb: str, counts: dict[str, int]) -> None:
    """Print the counts on standard error, because standard output may be the export."""
    words = [f"{kind} {count:,}" for kind, count in counts.items() if count]
    print(f"{verb}: {', '.join(words) or 'nothing'}", file=sys.stderr)
