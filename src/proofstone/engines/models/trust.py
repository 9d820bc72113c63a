"""Whose certificates are believed: a file that was named, else the system's own trust store.

A named file (an entry's ``ca_file``, ``SSL_CERT_FILE``, ``REQUESTS_CA_BUNDLE``) stands in place of
the system's, as with every tool that reads these variables. On macOS and Windows the system's store
is asked through ``truststore``; elsewhere OpenSSL reads the same files, once a process, where
truststore would read them for each connection (measured: 40 ms).
"""

from __future__ import annotations

import ssl
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from proofstone.errors import EndpointUnusable

__all__ = ["Trust", "choose_trust", "tls_context"]

_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_DIR")


class Trust(Struct, frozen=True):
    """A file or folder of CA certificates and what named it; both empty for the system's store."""

    path: str = ""
    origin: str = ""

    def __str__(self) -> str:
        return f"{self.path} ({self.origin})" if self.path else "the system's trust store"


def choose_trust(own: str, environment: Mapping[str, str], place: str) -> Trust:
    """What is trusted for an entry with ``ca_file = own`` (empty: the environment decides)."""
    if own:
        return Trust(str(Path(own).expanduser()), f"ca_file of {place}")
    for name in _VARIABLES:
        if path := environment.get(name, "").strip():
            return Trust(path, name)
    return Trust()


def tls_context(trust: Trust) -> ssl.SSLContext:
    """A client's context that believes this and nothing else, made once a process.

    Raises EndpointUnusable where the file is not there or holds no certificate.
    """
    path = Path(trust.path)
    try:
        changed = path.stat().st_mtime_ns if trust.path else 0
        return _context(trust, changed)
    except (OSError, ssl.SSLError) as error:
        raise EndpointUnusable(
            f"{trust.origin} names {trust.path}, from which no CA certificate can be read: {error}",
            hint="name a file of certificates in PEM form (-----BEGIN CERTIFICATE-----)",
        ) from error


@lru_cache(maxsize=32)
def _context(trust: Trust, _changed_ns: int) -> ssl.SSLContext:
    context = _trusting(Path(trust.path)) if trust.path else _system_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def _trusting(path: Path) -> ssl.SSLContext:
    if path.is_dir():
        return ssl.create_default_context(capath=str(path))
    return ssl.create_default_context(cafile=str(path))


def _system_context() -> ssl.SSLContext:
    if sys.platform not in ("darwin", "win32"):
        context = ssl.create_default_context()
        paths = ssl.get_default_verify_paths()
        if context.cert_store_stats()["x509_ca"] or paths.capath:
            return context
    import truststore  # noqa: PLC0415 - it also knows where Linux systems keep theirs

    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
