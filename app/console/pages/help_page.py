"""The words and the keys of the console, explained."""

from starlette.responses import Response

from app.console.page_call import PageCall


async def show(call: PageCall) -> Response:
    return call.render("help.html")
