"""What broke a connection: the kind of failure of an exception, where no HTTP answer came."""

from __future__ import annotations

import ssl
from typing import NamedTuple

import aiohttp

from proofstone.engines.models.failure_kinds import FailureKind

__all__ = ["Broken", "what_broke"]

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
