"""What can go wrong, by what a caller does about it.

Each answer of the service that is not a success is a problem (RFC 9457) and becomes one of these.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx


class PalimpsestError(Exception):
    """A call did not succeed. Its text is `detail`, which says what to do.

    Attributes:
        status: The status of the answer; None if there was none.
        type, title, detail: What the problem is, for a program and for a person.
        errors: The places of an invalid call, each with a sentence, if the answer has them.
        problem: The whole answer, whose further members carry ids.
        retry_after: Seconds after which the service wants to be asked again.
        request_id: Names the call in the log of the service.
        idempotency_key: Of a write: repeat the call with it, and it is executed at most once.
    """

    def __init__(
        self,
        detail: str,
        *,
        status: int | None = None,
        problem: Mapping[str, Any] | None = None,
        retry_after: float | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.status = status
        self.problem = dict(problem or {})
        self.type = str(self.problem.get("type", "about:blank"))
        self.title = str(self.problem.get("title", detail))
        self.errors: list[Any] = list(self.problem.get("errors") or [])
        self.retry_after = retry_after
        self.request_id = request_id
        self.idempotency_key: str | None = None


class NoAnswer(PalimpsestError):
    """Nothing answered. A write may or may not have been executed."""


class BrokenOff(PalimpsestError):
    """An answer ended before it was complete."""


class UnexpectedAnswer(PalimpsestError):
    """What answered is not Palimpsest: check the address."""


class Invalid(PalimpsestError):
    """The call is not valid (400, 413, 415, 422): correct it."""


class Unauthorized(PalimpsestError):
    """The key is missing or wrong (401)."""


class Forbidden(PalimpsestError):
    """The key does not allow the call (403)."""


class NotFound(PalimpsestError):
    """What the call names does not exist, or is no longer what it was (404)."""


class Gone(PalimpsestError):
    """What the call names was erased or archived (410)."""


class Conflict(PalimpsestError):
    """Something changed or stands in the way (409, 412): read it again and decide anew."""


class ServiceFailed(PalimpsestError):
    """A fault of the service (5xx)."""


class Unavailable(ServiceFailed):
    """The service cannot answer at present (502, 503, 504)."""


class TooBusy(Unavailable):
    """The service asks to wait `retry_after` seconds (429, or 503 with Retry-After)."""


_BY_STATUS: Mapping[int, type[PalimpsestError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    412: Conflict,
    429: TooBusy,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


def read_answer(response: httpx.Response) -> Any:
    """Return the JSON of a successful answer, or its text if it is plain text.

    Raises the error that a problem is, and UnexpectedAnswer for what Palimpsest does not say.
    """
    if not response.is_success:
        raise build_error(response)
    if response.headers.get("Content-Type", "").startswith("text/plain"):
        return response.text
    try:
        return response.json()
    except ValueError:
        raise UnexpectedAnswer(_describe(response), status=response.status_code) from None


def build_error(response: httpx.Response) -> PalimpsestError:
    """Return the error that an answer is. Its body must have been read."""
    retry_after = read_retry_after(response)
    problem = read_problem(response)
    error = _choose_error(response.status_code, has_problem=bool(problem), retry_after=retry_after)
    return error(
        str(problem.get("detail") or _describe(response)),
        status=response.status_code,
        problem=problem,
        retry_after=retry_after,
        request_id=response.headers.get("X-Request-Id"),
    )


def read_problem(response: httpx.Response) -> dict[str, Any]:
    """Return the members of a problem; none for an answer of another kind."""
    if not response.headers.get("Content-Type", "").startswith("application/problem+json"):
        return {}
    try:
        problem = json.loads(response.content)
    except ValueError:
        return {}
    return problem if isinstance(problem, dict) else {}


def read_retry_after(response: httpx.Response) -> float | None:
    """Return the seconds that the answer asks to wait, whether it names them or a moment."""
    text = response.headers.get("Retry-After", "")
    if text.isdecimal():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _choose_error(
    status: int, *, has_problem: bool, retry_after: float | None
) -> type[PalimpsestError]:
    if status == 503 and retry_after is not None:
        return TooBusy
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status >= 500:
        return ServiceFailed
    return Invalid if has_problem else UnexpectedAnswer


def _describe(response: httpx.Response) -> str:
    return f"{response.url} does not answer like Palimpsest (status {response.status_code})."
