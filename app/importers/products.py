"""Which product a file is from, and its reader."""

from pathlib import Path

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
from app.importers.documents import parse
from app.importers.facts import Reading, UnreadableFile

_READERS = (mem0, graphiti, letta, langmem, server_memory, hindsight, chatgpt, claude, supermemory)
PRODUCTS = {module.NAME: module for module in (*_READERS, claude_mem, markdown)}
NATIVE = "palimpsest"


def read_product(source: bytes | Path, name: str) -> Reading:
    """Return what a file or a folder of this product holds.

    Raises UnreadableFile for one of another product, and OSError.
    """
    product = PRODUCTS[name]
    # Of a folder, or a database, those that the reader names are read.
    document = parse(source, getattr(product, "FILES", ("*.json",)))
    if not product.matches(document):
        problem = f"does not look like an export of {name}"
        likely = next((other for other in PRODUCTS if PRODUCTS[other].matches(document)), None)
        if any(one.get("type") == NATIVE for one in document.objects):
            likely = NATIVE
        if likely is None:
            raise UnreadableFile(f"{problem}, nor of any other product known here")
        raise UnreadableFile(f"{problem} but of {likely}: use `--from {likely}`")
    reading: Reading = product.read(document)
    reading.left_out = [*document.broken, *reading.left_out]
    return reading
