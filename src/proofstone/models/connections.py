"""Choose the proxy and the trusted certificates of requests.

``HTTPS_PROXY``, ``HTTP_PROXY``, ``ALL_PROXY`` and ``NO_PROXY`` are read as by curl and most tools;
of both spellings the lower-case one wins. This machine is never reached through a proxy of the
environment.
"""

from __future__ import annotations

import ssl
import sys
from collections.abc import Mapping
from functools import lru_cache
from ipaddress import ip_address, ip_network
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from msgspec import UNSET, Struct

from proofstone.errors import BadInput, EndpointUnusable, Problem
from proofstone.models.credentials import Secret, scrub
from proofstone.models.egress import EgressGate
from proofstone.models.entries import Entry
from proofstone.models.names import Destination, destination_of, plain_host

# Trusted certificates: a named file, or the system's trust store.
#
# A named file (an entry's ``ca_file``, ``SSL_CERT_FILE``, ``REQUESTS_CA_BUNDLE``) replaces the
# system's store, as with every tool that reads these variables. On macOS and Windows ``truststore``
# reads the system's store. Elsewhere OpenSSL reads the same files once per process; truststore
# would read them for each connection (measured: 40 ms).

_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_DIR")


class Trust(Struct, frozen=True):
    """A file or folder of CA certificates and its origin; both empty for the system's store."""

    path: str = ""
    origin: str = ""

    def __str__(self) -> str:
        return f"{self.path} ({self.origin})" if self.path else "the system's trust store"


def choose_trust(own: str, environment: Mapping[str, str], place: str) -> Trust:
    """Return what an entry with ``ca_file = own`` trusts (empty: from the environment)."""
    if own:
        return Trust(str(Path(own).expanduser()), f"ca_file of {place}")
    for name in _VARIABLES:
        if path := environment.get(name, "").strip():
            return Trust(path, name)
    return Trust()


def tls_context(trust: Trust) -> ssl.SSLContext:
    """Return a client context that trusts only these certificates, made once per process.

    Raises EndpointUnusable if the file is missing or holds no certificate.
    """
    path = Path(trust.path)
    try:
        changed = path.stat().st_mtime_ns if trust.path else 0
        return _context(trust, changed)
    except (OSError, ssl.SSLError) as error:
        raise EndpointUnusable(
            f"{trust.origin} names {trust.path}, which holds no readable CA certificate: {error}",
            hint="use a file of certificates in PEM format (-----BEGIN CERTIFICATE-----)",
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


class Proxy(Struct, frozen=True):
    """A proxy: its address without credentials, its login, and its origin."""

    url: str
    origin: str
    user: Secret = Secret("")
    password: Secret = Secret("")

    @property
    def destination(self) -> Destination:
        """Return its host and port."""
        found = destination_of(self.url)
        if found is None:
            raise ValueError(self.url)
        return found

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """Return what no text may show: the password, alone and as encoded in a header."""
        user, password = self.user.reveal(), self.password.reveal()
        if not user and not password:
            return ()
        return Secret(password), Secret(f"{user}:{password}")


def choose_proxy(
    to: Destination, scheme: str, environment: Mapping[str, str], own: str | None, place: str
) -> Proxy | None:
    """Return the proxy of requests to a destination; None for a direct connection.

    ``own`` is an entry's ``proxy``: an address, ``$NAME`` of a variable that holds one, or "" for
    none. Raises BadInput for an invalid own address, EndpointUnusable for a variable's.
    """
    if own is not None:
        return _own_proxy(own, environment, place)
    if to.is_local:
        return None
    name, text = _variable(environment, f"{scheme}_proxy", "all_proxy")
    if not text or _is_excepted(to, _variable(environment, "no_proxy")[1]):
        return None
    proxy = _read(text, name)
    if proxy is None:
        raise EndpointUnusable(
            f"{name} is {scrub(text)!r}, not a valid proxy",
            hint=f"export {name}=http://HOST:PORT; for one entry: proxy = in {place}",
        )
    return proxy


def _own_proxy(own: str, environment: Mapping[str, str], place: str) -> Proxy | None:
    text = own
    if own.startswith("$"):
        text = environment.get(own[1:], "").strip()
        if not text:
            raise EndpointUnusable(
                f"proxy = {own!r} of {place} names a variable that is not set",
                hint=f"export {own[1:]}=http://HOST:PORT",
            )
    if not text:
        return None
    proxy = _read(text, f"proxy of {place}")
    if proxy is None:
        raise BadInput(
            "an entry's proxy must be http://HOST:PORT",
            [Problem(place, f"proxy = {scrub(text)!r}")],
        )
    return proxy


def _read(text: str, origin: str) -> Proxy | None:
    """Return the proxy in a text, with or without http://; None for other kinds (socks5, https)."""
    full = text if "://" in text else f"http://{text}"
    try:
        parts = urlsplit(full)
        port = parts.port or 80
    except ValueError:
        return None
    if parts.scheme != "http" or not parts.hostname:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    return Proxy(
        url=urlunsplit(("http", f"{host}:{port}", "", "", "")),
        origin=origin,
        user=Secret(unquote(user)),
        password=Secret(unquote(password)),
    )


def _variable(environment: Mapping[str, str], *names: str) -> tuple[str, str]:
    """Return the first variable that is set, and its value; lower case before upper case."""
    for name in names:
        for spelled in (name, name.upper()):
            if value := environment.get(spelled, "").strip():
                return spelled, value
    return names[0].upper(), ""


def _is_excepted(to: Destination, no_proxy: str) -> bool:
    """Return True if ``NO_PROXY`` names a destination.

    Entries are ``*``, a domain (with its subdomains), a host and port, an address or a network,
    separated by commas or spaces.
    """
    entries = [entry.strip() for entry in no_proxy.replace(",", " ").split()]
    return any(_names(entry, to) for entry in entries if entry)


def _names(entry: str, to: Destination) -> bool:
    if entry == "*":
        return True
    try:
        return ip_address(to.host) in ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        pass  # one of the two is a name
    name, colon, port = entry.rpartition(":")
    if colon and port.isdigit():
        if int(port) != to.port:
            return False
        entry = name
    domain = plain_host(entry.strip("[]").removeprefix("*").removeprefix("."))
    return bool(domain) and (to.host == domain or to.host.endswith(f".{domain}"))


# Connection of an endpoint: its proxy, its trusted certificates and its egress gate.


class Route(Struct, frozen=True, kw_only=True):
    """The connection to one endpoint. ``proxy`` is None for a direct one."""

    gate: EgressGate
    proxy: Proxy | None = None
    trust: Trust = Trust()

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """Return what no text may show."""
        return () if self.proxy is None else self.proxy.secrets

    def leaves_to(self, to: Destination) -> Destination:
        """Return where data is sent: ``localhost`` behind a remote proxy is not this machine."""
        if self.proxy is not None and to.is_local:
            return self.proxy.destination
        return to


def choose_route(
    url: str, entry: Entry, environment: Mapping[str, str], gate: EgressGate, place: str
) -> Route:
    """Return the connection for an entry's address. Raises what ``choose_proxy`` raises."""
    to = destination_of(url)
    if to is None:
        return Route(gate=gate)
    own = None if entry.proxy is UNSET else entry.proxy
    ca_file = "" if entry.ca_file is UNSET else entry.ca_file
    return Route(
        gate=gate,
        proxy=choose_proxy(to, url.partition(":")[0], environment, own, place),
        trust=choose_trust(ca_file, environment, place),
    )
