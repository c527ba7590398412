"""`palimpsest reembed`: replace every vector of a database, with a progress bar."""

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from app.commands.maintenance.progress import make_progress_bar
from app.embedding.choice import encoder_of
from app.settings import Settings
from app.wiring import Process, open_services


class _RateColumn(TextColumn):
    """Memories per second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed or 0:.0f}/s")


async def reembed_database(settings: Settings) -> None:
    """Make every vector of the database anew with the encoder of the settings; print the result."""
    progress_bar = make_progress_bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _RateColumn("{task.speed}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    async with open_services(settings, Process.MAINTENANCE) as services:
        with progress_bar:
            task = progress_bar.add_task("re-embedding", total=None)

            def report_progress(done: int, total: int) -> None:
                progress_bar.update(task, completed=done, total=total)

            was_needed = await services.reembed.run(report_progress)
    name, dimensions = encoder_of(settings)
    encoder = f"The vectors are made by {name} ({dimensions} dimensions)"
    if was_needed:
        print(f"{encoder} now. Restart running services with these settings.")
    else:
        print(f"{encoder} already.")
