"""`palimpsest reembed`: the change of all vectors, with a progress bar."""

import asyncio

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from app.embedding.choice import encoder_of, open_embedder
from app.services.reembed import Reembedder
from app.settings import Settings
from app.store.engine import Patience, create_engine


class _Rate(TextColumn):
    """Memories per second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed or 0:.0f}/s")


def reembed_database(settings: Settings, url: str) -> None:
    """Makes every vector of the database anew with the encoder of the settings, and says so on standard output."""
    name, dimensions = encoder_of(settings)
    if asyncio.run(_reembed_vectors(settings, url)):
        print(
            f"The vectors are made by {name} ({dimensions} dimensions) now. Restart running services with these settings."
        )
    else:
        print(f"The vectors are made by {name} ({dimensions} dimensions) already.")


async def _reembed_vectors(settings: Settings, url: str) -> bool:
    patient = Patience(pool=30, statement=0, lock=0, idle_transaction=0)
    engine = create_engine(url, pool_size=3, patience=patient)
    try:
        async with open_embedder(settings) as embedder:
            with _make_progress_bar() as bar:
                task = bar.add_task("re-embedding", total=None)
                return await Reembedder(engine, embedder).run(
                    lambda done, total: bar.update(task, completed=done, total=total)
                )
    finally:
        await engine.dispose()


def _make_progress_bar() -> Progress:
    """Only on a terminal, and apart from the output."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate("{task.speed}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    return Progress(*columns, console=console, disable=not console.is_terminal)
