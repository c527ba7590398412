"""Signing messages of webhooks, and sending them."""

import asyncio
import ssl
import time
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx
from standardwebhooks import Webhook as Signer

from app.domain.webhooks import Answer, DeliveryProblem
from app.remote.public_http import TIMEOUT, AddressRefused, PublicClient, PublicRequest


@dataclass(frozen=True, slots=True)
class WebhookSender:
    """Signs messages and sends them."""

    client: PublicClient

    async def send(self, address: str, secret: bytes, message_id: str, body: str) -> Answer:
        """Send a message once, and return what became of it."""
        request = PublicRequest(
            method="POST",
            address=address,
            headers=sign_message(secret, message_id, body),
            content=body.encode(),
        )
        started = time.perf_counter()
        status, problem = None, None
        try:
            async with asyncio.timeout(TIMEOUT):
                status, _ = await self.client.send(request)
        except AddressRefused as refused:
            problem = refused.problem
        except (httpx.ConnectError, ssl.SSLError):
            problem = DeliveryProblem.UNREACHABLE
        except (httpx.TimeoutException, TimeoutError):
            problem = DeliveryProblem.TIMEOUT
        except (httpx.HTTPError, httpx.InvalidURL, ValueError):
            problem = DeliveryProblem.BROKEN
        if status is not None and not 200 <= status < 300:
            problem = DeliveryProblem.REFUSED
        return Answer(status, problem, round((time.perf_counter() - started) * 1e3, 1))


def sign_message(secret: bytes, message_id: str, body: str) -> dict[str, str]:
    """Return the headers of a message, as Standard Webhooks has them."""
    now = datetime.now(UTC)
    return {
        "Content-Type": "application/json",
        "User-Agent": "Palimpsest",
        "webhook-id": message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Signer(secret).sign(message_id, now, body),
    }
