"""Asking a chat model within the budgets of whoever pays."""

from typing import Any

from app.remote.budget import Budget, Payer
from app.remote.chat import ChatClient
from app.remote.completion import Reply
from app.remote.trouble import Reason, Trouble

CHARACTERS_PER_TOKEN = 4


async def ask_model(
    chat: ChatClient,
    budget: Budget,
    payer: Payer,
    *,
    system: str,
    user: str,
    schema: dict[str, Any],
) -> Reply | Trouble:
    """Return the model's reply or the trouble, and count the question and its tokens."""
    budget.count_question(payer)
    outcome = await chat.complete(system, user, schema)
    counted = outcome.prompt_tokens + outcome.completion_tokens
    budget.count_tokens(payer, counted or _estimate_tokens(system + user, outcome))
    return outcome


def _estimate_tokens(messages: str, outcome: Reply | Trouble) -> int:
    """Estimate the tokens of a reply from its characters, for servers that do not count them."""
    if isinstance(outcome, Reply):
        messages += outcome.text
    elif outcome.reason is not Reason.UNREADABLE:
        return 0
    return len(messages) // CHARACTERS_PER_TOKEN
