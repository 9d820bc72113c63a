"""The one way out: every client's connections are opened here, behind the egress gate.

Nothing else in the package makes an aiohttp session or connector, or opens a socket to another
machine (a test reads the source for it). A connector serves the destination it was opened for and
no other, so that not even a redirect leads elsewhere.
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

# What broke a connection: the kind of failure of an exception, where no HTTP answer came.

# A proxy that answers so will not let this request through; another status is trouble behind it.
_REFUSED_BY_PROXY = frozenset({400, 401, 403, 405, 407, 451, 501})


class Broken(NamedTuple):
    """The kind, and the exception's words."""

    kind: FailureKind
    detail: str


def what_broke(error: Exception, host: str) -> Broken:
    """What an exception of the client means for a request to ``host``."""
    words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return Broken(_kind(error, host), words)


# In order: an exception is of the first class that fits.
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
        if kind == "no_such_host" and error.host != host:  # it was the proxy's name
            return "proxy_unreachable"
    if isinstance(error, aiohttp.ClientHttpProxyError) and error.status not in _REFUSED_BY_PROXY:
        return "unreachable"
    return kind


# Names of the web looked up so that none leads inside: to this machine or the network around it.
#
# What a page or a search names is somebody else's word. A name of theirs may stand for an address
# that only this machine can reach, in its DNS record or by the way it is spelled (``0x7f.0.0.1``).

# What the name server of a tunnel on this machine gives out for every name of the web: it is where
# the tunnel begins, and nobody's network (RFC 2544).
_OF_TUNNELS = IPv4Network("198.18.0.0/15")


class OutsideNames(AbstractResolver):
    """Looks names up by ``names`` (else by the system) and refuses those with an address inside,
    though other addresses of theirs be outside."""

    def __init__(self, names: AbstractResolver | None = None) -> None:
        self._names = ThreadedResolver() if names is None else names  # holds nothing open

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of a name. Raises EgressRefused, and OSError for a name that has none."""
        found = await self._names.resolve(host, port, family)
        if any(is_inside(each["host"]) for each in found):
            raise EgressRefused(
                f"{host} stands for an address of this machine or its network; nothing was sent"
            )
        return found

    async def close(self) -> None:
        """Ends it."""
        await self._names.close()


def is_inside(address: str) -> bool:
    """Whether an IP address is none of the internet. Raises ValueError for what is no address."""
    number = ip_address(address.partition("%")[0])
    return not number.is_global and number not in _OF_TUNNELS


# Below what servers commonly keep a connection (Node 5 s aside), so that few requests meet one
# that is being closed.
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
    """A session for one endpoint, which sets no limit to a whole request. ``outside``: a name that
    stands for this machine or its network is refused (a proxy looks names up for itself). Where a
    connection breaks, a GET is sent again once, unless it is not to be (``resends``).

    Raises EgressRefused where its gate is shut, EndpointUnusable where the CA certificates cannot
    be read.

    The environment is not read again by the client (``trust_env``): it would also send what a
    ``.netrc`` holds for the host.
    """
    to = destination_of(base_url)
    if to is None:
        raise EgressRefused(f"requests leave to http and https only, not to {base_url[:8]!r}...")
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
    """The proxy's address with its user and password, of which the client makes a header."""
    url = URL(proxy.url)
    if not proxy.secrets:
        return url
    return url.with_user(proxy.user.reveal()).with_password(proxy.password.reveal())


class _BoundConnector(aiohttp.TCPConnector):
    """A connector that connects to one origin (by a proxy or not) and refuses all others."""

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
        """A connection for a request. Raises EgressRefused for another origin."""
        url, only = req.url, self._only
        if (url.raw_host, url.port, url.scheme) != (only.raw_host, only.port, only.scheme):
            raise EgressRefused(
                f"a request to {url.origin()} was stopped: this client is for {only.origin()}"
            )
        return await super().connect(req, traces, timeout)
