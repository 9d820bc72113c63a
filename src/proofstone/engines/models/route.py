"""How requests to an endpoint travel: through which proxy, trusting whom, past which gate."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import UNSET, Struct

from proofstone.engines.models.destination import Destination, destination_of
from proofstone.engines.models.egress_gate import EgressGate
from proofstone.engines.models.entries import Entry
from proofstone.engines.models.proxies import Proxy, choose_proxy
from proofstone.engines.models.secret import Secret
from proofstone.engines.models.trust import Trust, choose_trust

__all__ = ["Route", "choose_route"]


class Route(Struct, frozen=True, kw_only=True):
    """The way to one endpoint. ``proxy`` is None for a direct one."""

    gate: EgressGate
    proxy: Proxy | None = None
    trust: Trust = Trust()

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """What no text may show."""
        return () if self.proxy is None else self.proxy.secrets

    def leaves_to(self, to: Destination) -> Destination:
        """Where data really goes: ``localhost`` behind a proxy elsewhere is not this machine."""
        if self.proxy is not None and to.is_local:
            return self.proxy.destination
        return to


def choose_route(
    url: str, entry: Entry, environment: Mapping[str, str], gate: EgressGate, place: str
) -> Route:
    """The way to the address of an entry. Raises what ``choose_proxy`` raises."""
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
