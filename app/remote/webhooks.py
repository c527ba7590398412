"""Sending to addresses that callers chose, and to no other machine than they could reach anyway.

A caller must not reach through this service what only this service can reach: the machine itself,
its network, the metadata of its cloud. So a name is resolved here, every address that it has must
be public, and the connection goes to an address that was looked at. A name that is resolved a
second time could lead elsewhere. Redirects are answers like others, and are not followed.
"""

import asyncio
import ipaddress
import socket
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx
from standardwebhooks import Webhook as Signer

from app.domain.webhooks import Answer, DeliveryProblem
from app.remote.public_addresses import IPAddress, is_public

# Seconds.
CONNECT_TIMEOUT = 5.0
TIMEOUT = 15.0
# Addresses of a name that are tried, one after another.
MOST_ADDRESSES = 3
# Where receivers of webhooks listen. Other ports belong to services of other kinds.
PORTS = {"https": (443, 8443), "http": (80,)}


class AddressRefused(Exception):
    """The address may not be called; the message says in a sentence why."""

    def __init__(self, reason: str, problem: DeliveryProblem = DeliveryProblem.ADDRESS) -> None:
        super().__init__(reason)
        self.problem = problem


def open_webhook_client() -> httpx.AsyncClient:
    """Return the client for a sender. It takes no proxy, which would resolve names by itself.

    A connection that was left open could be taken for another name at the same address.
    """
    limits = httpx.Limits(max_keepalive_connections=0)
    return httpx.AsyncClient(trust_env=False, limits=limits)


@dataclass(frozen=True, slots=True)
class WebhookSender:
    """Signs messages and sends them."""

    http: httpx.AsyncClient
    allows_http: bool
    allows_private: bool

    async def check_address(self, address: str) -> None:
        """Raise AddressRefused if no message may be sent there.

        A name that cannot be resolved now may lead somewhere when the first message is sent.
        """
        url = self._parse(address)
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                await self._resolve(url)
        except TimeoutError:
            return
        except AddressRefused as refused:
            if refused.problem is not DeliveryProblem.UNKNOWN_HOST:
                raise

    async def send(self, address: str, secret: bytes, message_id: str, body: str) -> Answer:
        """Send a message once, and return what became of it."""
        started = time.perf_counter()
        status, problem = None, None
        try:
            async with asyncio.timeout(TIMEOUT):
                status = await self._post(address, secret, message_id, body)
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

    async def _post(self, address: str, secret: bytes, message_id: str, body: str) -> int:
        url = self._parse(address)
        hosts = await self._resolve(url)
        headers = sign_message(secret, message_id, body)
        for host in hosts[:-1]:
            try:
                return await self._post_to(host, url, headers, body)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
        return await self._post_to(hosts[-1], url, headers, body)

    async def _post_to(
        self, host: IPAddress, url: httpx.URL, headers: dict[str, str], body: str
    ) -> int:
        """Send to this address of the host. The certificate must be that of the name."""
        request = self.http.build_request(
            "POST",
            url.copy_with(host=str(host)),
            headers={**headers, "Host": url.netloc.decode()},
            content=body.encode(),
            timeout=httpx.Timeout(TIMEOUT, connect=CONNECT_TIMEOUT),
            extensions={"sni_hostname": url.raw_host.decode()},
        )
        response = await self.http.send(request, stream=True, follow_redirects=False)
        await response.aclose()  # nobody reads what else it says
        return response.status_code

    def _parse(self, address: str) -> httpx.URL:
        try:
            url = httpx.URL(address)
            has_host = bool(url.host)  # a ValueError for a name that is encoded wrongly
        except (httpx.InvalidURL, ValueError):
            raise AddressRefused("It is no URL.") from None
        schemes = ("https", "http") if self.allows_http else ("https",)
        if url.scheme not in schemes or not has_host:
            raise AddressRefused(f"It must begin with {' or '.join(schemes)}:// and name a host.")
        if url.userinfo or url.fragment:
            raise AddressRefused("It must hold neither a user nor a fragment.")
        ports = PORTS[url.scheme]
        if not self.allows_private and url.port not in (None, *ports):
            raise AddressRefused(f"Its port must be {' or '.join(map(str, ports))}.")
        return url

    async def _resolve(self, url: httpx.URL) -> Sequence[IPAddress]:
        """Return addresses of the host. Raises AddressRefused if any of all is not public."""
        try:
            entries = await asyncio.to_thread(
                socket.getaddrinfo, url.raw_host.decode(), url.port, type=socket.SOCK_STREAM
            )
        except (OSError, UnicodeError, OverflowError):
            reason = "The name of its host cannot be resolved."
            raise AddressRefused(reason, DeliveryProblem.UNKNOWN_HOST) from None
        hosts = [ipaddress.ip_address(str(one[4][0]).partition("%")[0]) for one in entries]
        if not self.allows_private and not all(map(is_public, hosts)):
            raise AddressRefused("Its host is not in the public internet.")
        return list(dict.fromkeys(hosts))[:MOST_ADDRESSES]


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
