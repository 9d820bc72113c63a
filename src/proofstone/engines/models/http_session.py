"""The one way out: every client's connections are opened here, behind the egress gate.

Nothing else in the package makes an aiohttp session or connector, or opens a socket to another
machine (a test reads the source for it). A connector serves the destination it was opened for and
no other, so that not even a redirect leads elsewhere.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable

import aiohttp
from aiohttp.client_reqrep import ClientRequest
from aiohttp.connector import Connection
from aiohttp.tracing import Trace
from yarl import URL

from proofstone.engines.models.destination import destination_of
from proofstone.engines.models.outside_names import OutsideNames
from proofstone.engines.models.proxies import Proxy
from proofstone.engines.models.route import Route
from proofstone.engines.models.secret import Secret
from proofstone.engines.models.trust import tls_context
from proofstone.errors import EgressRefused

__all__ = ["open_session"]

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
