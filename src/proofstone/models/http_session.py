"""Open the connections of every client, after the egress check.

No other module makes an aiohttp session or connector, or opens a socket to another machine (a test
reads the source for it). A connector serves only the destination it was opened for, so that not
even a redirect leads elsewhere.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterable
from ipaddress import IPv4Network, ip_address
from typing import NamedTuple

import aiohttp
from aiohttp import ThreadedResolver
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_reqrep import ClientRequest
from aiohttp.connector import Connection
from aiohttp.tracing import Trace
from yarl import URL

from proofstone.errors import EgressRefused
from proofstone.models.connections import Proxy, Route, tls_context
from proofstone.models.credentials import Secret
from proofstone.models.failures import FailureKind
from proofstone.models.names import destination_of

# The kind of failure of an exception without an HTTP response.

# Statuses of a proxy that refuses this request; other statuses are faults behind the proxy.
_REFUSED_BY_PROXY = frozenset({400, 401, 403, 405, 407, 451, 501})


class Broken(NamedTuple):
    """The kind of failure, and the exception's message."""

    kind: FailureKind
    detail: str


def what_broke(error: Exception, host: str) -> Broken:
    """Return the failure for an exception of the client in a request to ``host``."""
    words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return Broken(_kind(error, host), words)


# In order: an exception belongs to the first class that matches.
_KINDS: tuple[tuple[type[Exception], FailureKind], ...] = (
    (TimeoutError, "timeout"),
    (aiohttp.ClientConnectorCertificateError, "bad_certificate"),
    (aiohttp.ClientConnectorDNSError, "no_such_host"),
    (aiohttp.ClientProxyConnectionError, "proxy_unreachable"),
    (aiohttp.ClientConnectorError, "unreachable"),
    (aiohttp.InvalidURL, "unreachable"),
    (aiohttp.ClientHttpProxyError, "proxy_refused"),
    (aiohttp.ClientResponseError, "unreadable"),  # not HTTP
)


def _kind(error: Exception, host: str) -> FailureKind:
    kind: FailureKind = next(
        (kind for type_, kind in _KINDS if isinstance(error, type_)), "dropped"
    )
    if isinstance(error, aiohttp.ClientConnectorError):
        if isinstance(error.os_error, ssl.SSLCertVerificationError):
            return "bad_certificate"
        if kind == "no_such_host" and error.host != host:  # the proxy's own name was not found
            return "proxy_unreachable"
    if isinstance(error, aiohttp.ClientHttpProxyError) and error.status not in _REFUSED_BY_PROXY:
        return "unreachable"
    return kind


# Resolve names of the web, refusing addresses of this machine or its network.
#
# Names in a page or a search result are untrusted. They may resolve to an address that only this
# machine can reach, by DNS or by spelling (``0x7f.0.0.1``).

# The name server of a local tunnel returns these addresses for every name: they mark the tunnel's
# entry, and belong to no network (RFC 2544).
_OF_TUNNELS = IPv4Network("198.18.0.0/15")


class OutsideNames(AbstractResolver):
    """Resolve names with ``names`` (default: the system); refuse those with an inside address."""

    def __init__(self, names: AbstractResolver | None = None) -> None:
        self._names = ThreadedResolver() if names is None else names  # holds nothing open

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a name. Raises EgressRefused, and OSError for an unknown name."""
        found = await self._names.resolve(host, port, family)
        if any(is_inside(each["host"]) for each in found):
            raise EgressRefused(
                f"{host} resolves to an address of this machine or its network; nothing was sent"
            )
        return found

    async def close(self) -> None:
        """Close it."""
        await self._names.close()


def is_inside(address: str) -> bool:
    """Return True if an IP address is not on the internet. Raises ValueError for other texts."""
    number = ip_address(address.partition("%")[0])
    return not number.is_global and number not in _OF_TUNNELS


# Below common keep-alive times of servers (except Node's 5 s), so that few requests meet a closing
# connection.
_KEEP_ALIVE_S = 30.0


_USER_AGENT = "proofstone"


def open_session(
    base_url: str,
    route: Route,
    *,
    headers: Iterable[tuple[str, Secret]],
    connect_timeout_s: float,
    outside: bool = False,
    resends: bool = True,
) -> aiohttp.ClientSession:
    """Return a session for one endpoint, without a limit on the duration of a request.

    ``outside``: names of this machine or its network are refused (a proxy resolves names itself).
    After a broken connection, a GET is sent again once if ``resends``. Raises EgressRefused if its
    gate refuses, EndpointUnusable if the CA certificates cannot be read.

    The client does not read the environment (``trust_env``): it would also send credentials of a
    ``.netrc``.
    """
    to = destination_of(base_url)
    if to is None:
        raise EgressRefused(f"requests need http or https, got {base_url[:8]!r}...")
    route.gate.check(route.leaves_to(to))
    url = URL(base_url)
    tls = tls_context(route.trust) if url.scheme == "https" else None
    session = aiohttp.ClientSession(
        connector=_BoundConnector(url, tls=tls, outside=outside and route.proxy is None),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={
            "Content-Type": "application/json",
            "User-Agent": _USER_AGENT,
            **{name: value.reveal() for name, value in headers},
        },
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=connect_timeout_s),
        trust_env=False,
        proxy=None if route.proxy is None else _with_login(route.proxy),
    )
    session._retry_connection = resends  # noqa: SLF001 - there is no other way to say so
    return session


def _with_login(proxy: Proxy) -> URL:
    """Return the proxy's address with its user and password, which the client sends as a header."""
    url = URL(proxy.url)
    if not proxy.secrets:
        return url
    return url.with_user(proxy.user.reveal()).with_password(proxy.password.reveal())


class _BoundConnector(aiohttp.TCPConnector):
    """A connector for one origin (with or without a proxy) that refuses all others."""

    def __init__(self, only: URL, *, tls: ssl.SSLContext | None, outside: bool) -> None:
        super().__init__(
            limit=0,
            keepalive_timeout=_KEEP_ALIVE_S,
            ssl=True if tls is None else tls,
            resolver=OutsideNames() if outside else None,
        )
        self._only = only

    async def connect(
        self,
        req: ClientRequest,
        traces: list[Trace],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 - aiohttp's own signature
    ) -> Connection:
        """Return a connection for a request. Raises EgressRefused for another origin."""
        url, only = req.url, self._only
        if (url.raw_host, url.port, url.scheme) != (only.raw_host, only.port, only.scheme):
            raise EgressRefused(
                f"a request to {url.origin()} was refused: this client is for {only.origin()}"
            )
        return await super().connect(req, traces, timeout)
