"""The scope that each route needs.

Some routes need one more for some of their calls: `DELETE …?erase=true` needs `erase`, and the
import of a native export needs `admin`.
"""

from fastapi import Request

from app.domain.keys import Scope

# By the name of the route, which is its operationId. Undoing overrules what others decided, so it
# needs the scope of those who decide. An agent's answer does no more than an explicit call may.
SCOPES = {
    "amend": Scope.WRITE,
    "answer_reviews": Scope.WRITE,
    "accept": Scope.REVIEW,
    "beliefs": Scope.READ,
    "cancel_sweep": Scope.WRITE,
    "capture": Scope.WRITE,
    "context": Scope.READ,
    "create_webhook": Scope.ADMIN,
    "decide": Scope.REVIEW,
    "delete": Scope.WRITE,
    "delete_webhook": Scope.ADMIN,
    "doctor": Scope.ADMIN,
    "enable_webhook": Scope.ADMIN,
    "end_project": Scope.WRITE,
    "end_session": Scope.WRITE,
    "erase": Scope.ERASE,
    "export": Scope.READ,
    "get_agent": Scope.READ,
    "get_capture": Scope.READ,
    "get_insights": Scope.READ,
    "get_log_entry": Scope.READ,
    "get_memory": Scope.READ,
    "get_review": Scope.READ,
    "get_stats": Scope.READ,
    "get_sweep": Scope.READ,
    "get_webhook": Scope.ADMIN,
    "history": Scope.READ,
    "import_history": Scope.WRITE,
    "issue_key": Scope.ADMIN,
    "link": Scope.WRITE,
    "list_agents": Scope.ADMIN,
    "list_captures": Scope.READ,
    "list_events": Scope.READ,
    "list_keys": Scope.ADMIN,
    "list_log": Scope.READ,
    "list_memories": Scope.READ,
    "list_reviews": Scope.READ,
    "list_sweeps": Scope.READ,
    "list_webhooks": Scope.ADMIN,
    "metrics": Scope.ADMIN,
    "patch_agent": Scope.ADMIN,
    "ping_webhook": Scope.ADMIN,
    "preference": Scope.READ,
    "preference_without_category": Scope.READ,
    "reject": Scope.REVIEW,
    "relationships": Scope.READ,
    "report": Scope.READ,
    "retract": Scope.WRITE,
    "revert": Scope.REVIEW,
    "revert_many": Scope.REVIEW,
    "revoke_key": Scope.ADMIN,
    "rotate_key": Scope.ADMIN,
    "search": Scope.READ,
    "search_by_get": Scope.READ,
    "start_sweep": Scope.WRITE,
    "store": Scope.WRITE,
    "store_batch": Scope.WRITE,
    "supersede": Scope.WRITE,
    "undo_capture": Scope.REVIEW,
    "why_memory": Scope.READ,
}


def find_required_scope(request: Request) -> Scope:
    """Return the scope that the route of a request needs. One not listed: `admin`."""
    return SCOPES.get(request.scope["route"].name, Scope.ADMIN)
