"""Which product a file is from, and its reader."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from app.importers import (
    chatgpt,
    claude,
    claude_mem,
    graphiti,
    hindsight,
    langmem,
    letta,
    markdown,
    mem0,
    server_memory,
    supermemory,
)
from app.importers.documents import Document, parse
from app.importers.facts import Reading, UnreadableFile


class Product(NamedTuple):
    """A product whose files can be read: of a folder, or a database, those that `files` name."""

    name: str
    matches: Callable[[Document], bool]
    read: Callable[[Document], Reading]
    files: Sequence[str]


_READERS = (mem0, graphiti, letta, langmem, server_memory, hindsight, chatgpt, claude, supermemory)
PRODUCTS = {
    module.NAME: Product(
        module.NAME, module.matches, module.read, getattr(module, "FILES", ("*.json",))
    )
    for module in (*_READERS, claude_mem, markdown)
}
NATIVE = "palimpsest"


def read_product(source: bytes | Path, name: str) -> Reading:
    """Return what a file or a folder of this product holds.

    Raises UnreadableFile for one of another product, and OSError.
    """
    product = PRODUCTS[name]
    document = parse(source, product.files)
    if not product.matches(document):
        problem = f"does not look like an export of {name}"
        likely = _recognize(document)
        if likely is None:
            raise UnreadableFile(f"{problem}, nor of any other product known here")
        raise UnreadableFile(f"{problem} but of {likely}: use `--from {likely}`")
    reading = product.read(document)
    reading.left_out = [*document.broken, *reading.left_out]
    return reading


def _recognize(document: Document) -> str | None:
    if any(one.get("type") == NATIVE for one in document.objects):
        return NATIVE
    for product in PRODUCTS.values():
        if product.matches(document):
            return product.name
    return None
