"""Who waits for the work of a network, and whether they are still there."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from app.domain.errors import CallerLeft


class Requester:
    """The caller of a request.

    All requests of one `name` share a turn: it is that of a key, or of an agent. `has_left` turns
    True when the caller hangs up.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.has_left = False

    def check_presence(self) -> None:
        """Raise CallerLeft if nobody waits for the answer any more."""
        if self.has_left:
            raise CallerLeft


# A variable of the context rather than an argument: between the request and the network lie
# services that need to know neither caller nor connection, and a worker has no caller at all.
_requester: ContextVar[Requester] = ContextVar("requester")
_NOBODY = Requester("")


def get_requester() -> Requester:
    """Return the caller that this task works for. Outside of requests, it is always the same."""
    return _requester.get(_NOBODY)


@contextmanager
def work_for(requester: Requester) -> Iterator[None]:
    """Let the requester be the one that this task, and those that it starts, work for."""
    token = _requester.set(requester)
    try:
        yield
    finally:
        _requester.reset(token)
