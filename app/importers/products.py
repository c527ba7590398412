"""Which product a file is from, and its reader."""

from collections.abc import Callable
from typing import NamedTuple

from app.importers import graphiti, hindsight, langmem, letta, mem0, server_memory
from app.importers.documents import Document, parse_file
from app.importers.facts import Reading, UnreadableFile


class Product(NamedTuple):
    """A product whose files can be read."""

    name: str
    matches: Callable[[Document], bool]
    read: Callable[[Document], Reading]


PRODUCTS = {
    module.NAME: Product(module.NAME, module.matches, module.read)
    for module in (mem0, graphiti, letta, langmem, server_memory, hindsight)
}
NATIVE = "palimpsest"


def read_product(content: bytes, name: str) -> Reading:
    """Return what a file of this product holds. Raises UnreadableFile for a file of another."""
    document = parse_file(content)
    product = PRODUCTS[name]
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
