"""The actor of an operation: who wrote it, as the log names it.

The service chooses the name. A caller cannot, unlike the id of a request or of a session.
"""

from uuid import UUID

SERVICE = "service"
"""The service itself, when neither a caller nor a sweep asked for the write."""


def name_sweep(sweep_id: UUID) -> str:
    return f"sweep:{sweep_id}"
