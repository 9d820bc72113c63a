"""Where a request goes: a host and port, and whether that is this machine."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit

from msgspec import Struct

__all__ = ["IN_PROCESS", "Destination", "destination_of", "plain_host"]

_PORTS = {"http": 80, "https": 443}
# How the stored endpoint of a model begins that runs in a child of this process, or is simulated.
IN_PROCESS = ("gguf:", "sim:")


class Destination(Struct, frozen=True, order=True):
    """A host in its plain form with its port; as text the port shows only where it is unusual."""

    host: str
    port: int

    @property
    def is_local(self) -> bool:
        """Whether it is this machine: ``localhost`` and the loopback addresses."""
        if self.host == "localhost" or self.host.endswith(".localhost"):
            return True
        try:
            address = ip_address(self.host)
        except ValueError:
            return False
        mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
        return (mapped or address).is_loopback

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port in _PORTS.values() else f"{host}:{self.port}"


def destination_of(url: str) -> Destination | None:
    """Return the destination of an http or https address; None for what has none (``gguf:...``),
    and for what is no address at all (``http://[::1``, a port of 99999)."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not host:
        return None
    return Destination(plain_host(host), port or _PORTS[parts.scheme])


def plain_host(host: str) -> str:
    """A host as it is compared: lower case, no dot at its end, international names in ASCII."""
    host = host.strip().rstrip(".").lower().partition("%")[0]
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        return host
