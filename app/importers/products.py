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
        raise UnreadableFile(_describe_other(document, name))
    reading = product.read(document)
    reading.left_out = [*document.broken, *reading.left_out]
    return reading


def _describe_other(document: Document, name: str) -> str:
    likely = _recognize(document)
    if likely is None:
        return f"does not look like an export of {name}, nor of any other product known here"
    return f"does not look like an export of {name} but of {likely}: use `--from {likely}`"


def _recognize(document: Document) -> str | None:
    if any(one.get("type") == NATIVE for one in document.objects):
        return NATIVE
    return next((one.name for one in PRODUCTS.values() if one.matches(document)), None)
