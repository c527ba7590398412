"""The progress bars of maintenance commands."""

from rich.console import Console
from rich.progress import Progress, ProgressColumn


def make_progress_bar(*columns: ProgressColumn) -> Progress:
    """Return a bar on standard error, shown only on a terminal; standard output is for results."""
    console = Console(stderr=True)
    return Progress(*columns, console=console, disable=not console.is_terminal)
