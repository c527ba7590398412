"""Requests to addresses that callers chose, and to no other machine than they could reach anyway.

A caller must not reach through this service what only this service can reach: the machine itself,
its network, the metadata of its cloud. So a name is resolved here, every address that it has must
be public, and the connection goes to an address that was looked at. A name that is resolved a
second time could lead elsewhere. Redirects are answers like others, and are not followed.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

import httpx

from app.domain.webhooks import DeliveryProblem
from app.remote.public_addresses import IPAddress, is_public

# Seconds.
CONNECT_TIMEOUT = 5.0
TIMEOUT = 15.0
# Addresses of a name that are tried, one after another.
MOST_ADDRESSES = 3
# Names that a client resolves at once. A lookup takes a thread until it ends; nothing stops one.
# So names that callers chose must not take the threads of other work.
MOST_LOOKUPS = 4
# Where receivers of webhooks listen. Other ports belong to services of other kinds.
PORTS = {"https": (443, 8443), "http": (80,)}


class AddressRefused(Exception):
    """The address may not be called; the message says in a sentence why."""

    def __init__(self, reason: str, problem: DeliveryProblem = DeliveryProblem.ADDRESS) -> None:
        super().__init__(reason)
        self.problem = problem


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicRequest:
    """What is sent. Of the body of the answer, `most_bytes` are read."""

    method: str
    address: str
    headers: Mapping[str, str]
    content: bytes = field(default=b"", repr=False)
    most_bytes: int = 0


def open_public_http() -> httpx.AsyncClient:
    """Return the HTTP client for a `PublicClient`.

    It takes no proxy, which would resolve names by itself. A connection that was left open could be
    taken for another name at the same address.
    """
    limits = httpx.Limits(max_keepalive_connections=0)
    return httpx.AsyncClient(trust_env=False, limits=limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicClient:
    """Sends requests into the public internet."""

    http: httpx.AsyncClient
    allows_http: bool = False
    allows_private: bool = False
    _lookups: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(MOST_LOOKUPS, "lookup"), repr=False
    )

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

    async def send(self, request: PublicRequest) -> tuple[int, bytes]:
        """Send a request once; return the status and the beginning of the body.

        Raises AddressRefused, and what httpx raises.
        """
        url = self._parse(request.address)
        hosts = await self._resolve(url)
        for host in hosts[:-1]:
            try:
                return await self._send_to(host, url, request)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
        return await self._send_to(hosts[-1], url, request)

    async def _send_to(
        self, host: IPAddress, url: httpx.URL, request: PublicRequest
    ) -> tuple[int, bytes]:
        """Send to this address of the host. The certificate must be that of the name."""
        built = self.http.build_request(
            request.method,
            url.copy_with(host=str(host)),
            headers={**request.headers, "Host": url.netloc.decode()},
            content=request.content,
            timeout=httpx.Timeout(TIMEOUT, connect=CONNECT_TIMEOUT),
            extensions={"sni_hostname": url.raw_host.decode()},
        )
        response = await self.http.send(built, stream=True, follow_redirects=False)
        body = bytearray()
        try:
            if request.most_bytes:
                async for piece in response.aiter_raw():
                    body += piece
                    if len(body) >= request.most_bytes:
                        break
        finally:
            await response.aclose()  # nobody reads what else it says
        return response.status_code, bytes(body[: request.most_bytes])

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
            look_up = partial(socket.getaddrinfo, type=socket.SOCK_STREAM)
            entries = await asyncio.get_running_loop().run_in_executor(
                self._lookups, look_up, url.raw_host.decode(), url.port
            )
        except (OSError, UnicodeError, OverflowError):
            reason = "The name of its host cannot be resolved."
            raise AddressRefused(reason, DeliveryProblem.UNKNOWN_HOST) from None
        hosts = [ipaddress.ip_address(str(one[4][0]).partition("%")[0]) for one in entries]
        if not self.allows_private and not all(map(is_public, hosts)):
            raise AddressRefused("Its host is not in the public internet.")
        return list(dict.fromkeys(hosts))[:MOST_ADDRESSES]
