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
    tokens = outcome.prompt_tokens + outcome.completion_tokens
    if not tokens:
        # Some servers do not count tokens, so they are estimated from the characters.
        characters = 0
        if isinstance(outcome, Reply):
            characters = len(system + user + outcome.text)
        elif outcome.reason is Reason.UNREADABLE:
            characters = len(system + user)
        tokens = characters // CHARACTERS_PER_TOKEN
    budget.count_tokens(payer, tokens)
    return outcome
