"""Lists that the service answers in pages."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Generic, TypeVar

from palimpsest_client.requests import Request

Page = TypeVar("Page")
Item = TypeVar("Item")


class Pages(Generic[Page, Item]):
    """The items of a list, over all its pages. Nothing is asked before the first is wanted.

    Each iteration asks anew. `limit` of the call is the size of a page.
    """

    def __init__(self, call: Callable[[Request], Any], request: Request, items: str) -> None:
        self._call = call
        self._request = request
        self._items = items

    def __iter__(self) -> Iterator[Item]:
        for page in self._read_pages():
            yield from page[self._items]

    def pages(self) -> Iterator[Page]:
        """Yield the pages, as the service answers them."""
        yield from self._read_pages()

    def page(self) -> Page:
        """Return the first page alone; its `next_cursor` says whether there are more."""
        page: Page = self._call(self._request)
        return page

    def _read_pages(self) -> Iterator[Any]:
        page = self._call(self._request)
        yield page
        while cursor := page.get("next_cursor"):
            page = self._call(self._request.turn_page(cursor))
            yield page


class AsyncPages(Generic[Page, Item]):
    """The items of a list, over all its pages, as Pages has them."""

    def __init__(
        self, call: Callable[[Request], Awaitable[Any]], request: Request, items: str
    ) -> None:
        self._call = call
        self._request = request
        self._items = items

    async def __aiter__(self) -> AsyncIterator[Item]:
        async for page in self._read_pages():
            for item in page[self._items]:
                yield item

    async def pages(self) -> AsyncIterator[Page]:
        """Yield the pages, as the service answers them."""
        async for page in self._read_pages():
            yield page

    async def page(self) -> Page:
        """Return the first page alone; its `next_cursor` says whether there are more."""
        page: Page = await self._call(self._request)
        return page

    async def _read_pages(self) -> AsyncIterator[Any]:
        page = await self._call(self._request)
        yield page
        while cursor := page.get("next_cursor"):
            page = await self._call(self._request.turn_page(cursor))
            yield page
