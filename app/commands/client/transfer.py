"""`palimpsest export` and `palimpsest import`: an agent into a file and back, streamed both ways."""

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
_END = 2**12  # bytes; the last line of an export is shorter

# The service writes an import when all of it has come, and the answer comes when it is written.
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
    """Export everything of an agent: memories, what was ever believed of them, the log, relationships, reviews."""
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
    """Import an export into an agent that holds nothing, or versions with their own dates, one JSON object a line."""
    headers = {"Content-Type": "application/x-ndjson"}
    with (
        client_of(url, agent, api_key) as client,
        _open_input(file) as given,
        _show_progress("importing", _file_size(given)) as progress,
        _explain_connection_errors(client),
        client.stream(
            "POST",
            "/v1/import",
            content=_read_blocks(given, progress),
            headers=headers,
            timeout=_PATIENCE,
        ) as response,
    ):
        _require_success(response)
        counts = _count_imported(response)
    _print_counts("imported", counts)


# --- files -------------------------------------------------------------------------------------------------------------


@contextmanager
def _open_output(file: str) -> Iterator[IO[bytes]]:
    """Standard output, or a file that has its name only when it is whole."""
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
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # what is still buffered is flushed at exit
        raise Failure("standard output was closed before the export was complete.") from None


@contextmanager
def _open_input(file: str) -> Iterator[IO[bytes]]:
    if file == "-":
        yield sys.stdin.buffer
        return
    try:
        given = open(file, "rb")  # noqa: SIM115 - closed below; what fails while it is read is not its opening
    except OSError as problem:
        raise Failure(f"{file}: {problem.strerror}") from None
    with given:
        yield given


def _file_size(file: IO[bytes]) -> int | None:
    """Bytes of a regular file; None for what has no known end."""
    return os.fstat(file.fileno()).st_size or None


# --- streams -----------------------------------------------------------------------------------------------------------


@contextmanager
def _explain_connection_errors(client: httpx.Client) -> Iterator[None]:
    try:
        yield
    except httpx.RemoteProtocolError as problem:
        raise Failure(f"the connection broke off: {problem}.") from None
    except (httpx.HTTPError, httpx.InvalidURL) as problem:
        raise build_no_answer_failure(client, problem) from None


def _require_success(response: httpx.Response) -> None:
    """Raises Failure with what a problem says."""
    if response.is_success:
        return
    try:
        raise Failure(str(json.loads(response.read())["detail"]))
    except (ValueError, KeyError, TypeError):
        raise Failure(
            f"{response.url} does not answer like Palimpsest (status {response.status_code})."
        ) from None


def _copy_lines(response: httpx.Response, output: IO[bytes]) -> dict[str, Any]:
    """Writes the lines as they come and returns the last one. Raises Failure where that does not say that they are complete."""
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
    """Of a native export, the counts of the only line; else how many versions were imported, a line each."""
    counts = {"memory": 0}
    for line in response.iter_lines():
        answer = json.loads(line)
        if answer.get("type") == "imported":
            return dict(answer["counts"])
        counts["memory"] += 1
    return counts


@contextmanager
def _show_progress(doing: str, total: int | None) -> Iterator[Progress]:
    """A bar on a terminal, nothing elsewhere."""
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


def _print_counts(done: str, counts: dict[str, int]) -> None:
    """On standard error: standard output may be the export."""
    told = ", ".join(f"{kind} {count:,}" for kind, count in counts.items() if count)
    print(f"{done}: {told or 'nothing'}", file=sys.stderr)
