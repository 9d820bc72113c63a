"""Names of the web looked up so that none leads inside: to this machine or the network around it.

What a page or a search names is somebody else's word. A name of theirs may stand for an address
that only this machine can reach, in its DNS record or by the way it is spelled (``0x7f.0.0.1``).
"""

from __future__ import annotations

import socket
from ipaddress import IPv4Network, ip_address

from aiohttp import ThreadedResolver
from aiohttp.abc import AbstractResolver, ResolveResult

from proofstone.errors import EgressRefused

__all__ = ["OutsideNames", "is_inside"]

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
