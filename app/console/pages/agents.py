"""The page on which an agent is chosen."""

from starlette.responses import Response

from app.console.page_call import PageCall

_PAGE = 100


async def show(call: PageCall) -> Response:
    """List the agents that the key is for; a key that may not list them names them itself."""
    if not call.may("admin"):
        named = [name for name in call.viewer["agents"] if not name.endswith("*")]
        return call.render("agents.html", agents=[{"agent_id": name} for name in named], more=None)
    page = await call.client.list_agents(limit=_PAGE, cursor=call.parameters.get("cursor")).page()
    return call.render("agents.html", agents=page["items"], more=page["next_cursor"])
