"""The memory tool, for a client and for an asynchronous one."""

from collections.abc import Callable
from typing import Any

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool

from palimpsest_anthropic_memory import files
from palimpsest_client import AsyncClient, Client
from palimpsest_client.documents import Steps, run, run_async

Command = Callable[[Any], Steps[str]]


def _build_method(command: Command) -> Any:
    return lambda tool, given: run(command(given), tool.client)


def _build_async_method(command: Command) -> Any:
    return lambda tool, given: run_async(command(given), tool.client)


class PalimpsestMemoryTool(BetaAbstractMemoryTool):
    """Claude's memory directory, as facts of the agent of a client."""

    def __init__(self, client: Client, **options: Any) -> None:
        super().__init__(**options)
        self.client = client

    view, create, str_replace, insert, delete, rename = map(_build_method, files.COMMANDS)


class AsyncPalimpsestMemoryTool(BetaAsyncAbstractMemoryTool):
    """Claude's memory directory, for asynchronous code."""

    def __init__(self, client: AsyncClient, **options: Any) -> None:
        super().__init__(**options)
        self.client = client

    view, create, str_replace, insert, delete, rename = map(_build_async_method, files.COMMANDS)
