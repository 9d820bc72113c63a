"""Names that others name lead outside, or nowhere: never to this machine or its network."""

from __future__ import annotations

import socket

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from proofstone.errors import EgressRefused
from proofstone.models.http_session import OutsideNames, is_inside

OUTSIDE = ("93.184.216.34", "2606:4700::6810:84e5", "198.18.0.7")
INSIDE = (
    "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.9", "192.168.1.1",  # noqa: S104
    "169.254.169.254", "100.64.0.1", "::1", "::ffff:127.0.0.1", "fe80::1%eth0", "fd00::1",
)  # fmt: skip


class Names(AbstractResolver):
    """Names with one and the same addresses."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses
        self.is_closed = False

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host, host=each, port=port, family=family, proto=0, flags=0
            )
            for each in self.addresses
        ]  # fmt: skip

    async def close(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize("address", OUTSIDE)
async def test_a_name_of_the_web_is_looked_up_as_usual(address: str) -> None:
    names = Names(address)
    resolver = OutsideNames(names)
    assert [each["host"] for each in await resolver.resolve("a.test", 443)] == [address]
    await resolver.close()
    assert names.is_closed


@pytest.mark.parametrize("address", INSIDE)
async def test_a_name_that_stands_for_an_address_inside_is_refused(address: str) -> None:
    assert is_inside(address)
    with pytest.raises(EgressRefused, match=r"a\.test resolves to .* nothing was sent"):
        await OutsideNames(Names(address)).resolve("a.test", 80)


async def test_one_address_inside_is_enough() -> None:
    """Which of several is taken is not known beforehand."""
    with pytest.raises(EgressRefused):
        await OutsideNames(Names(OUTSIDE[0], "10.0.0.1")).resolve("a.test", 80)
