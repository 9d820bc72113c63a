"""Which proxy a request goes through, from the environment's variables or an entry's own.

``HTTPS_PROXY``, ``HTTP_PROXY``, ``ALL_PROXY`` and ``NO_PROXY`` as curl and most tools read them;
where both spellings are set the lower-case one wins. This machine is never reached through a proxy
of the environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from urllib.parse import unquote, urlsplit, urlunsplit

from msgspec import Struct

from proofstone.engines.models.destination import Destination, destination_of, plain_host
from proofstone.engines.models.secret import Secret, scrub
from proofstone.errors import BadInput, EndpointUnusable, Problem

__all__ = ["Proxy", "choose_proxy"]


class Proxy(Struct, frozen=True):
    """A proxy: its address without credentials, who is to be let in, and what set it."""

    url: str
    origin: str
    user: Secret = Secret("")
    password: Secret = Secret("")

    @property
    def destination(self) -> Destination:
        """Its host and port."""
        found = destination_of(self.url)
        if found is None:
            raise ValueError(self.url)
        return found

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """What no text may show: the password, alone and as it stands in a header."""
        user, password = self.user.reveal(), self.password.reveal()
        if not user and not password:
            return ()
        return Secret(password), Secret(f"{user}:{password}")


def choose_proxy(
    to: Destination, scheme: str, environment: Mapping[str, str], own: str | None, place: str
) -> Proxy | None:
    """The proxy of requests to a destination, None for a direct way. ``own`` is an entry's
    ``proxy``: an address, ``$NAME`` of a variable that holds one, or "" for none at all.

    Raises BadInput for an own address that is none, EndpointUnusable for a variable's.
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
            f"{name} is {scrub(text)!r}, which is no proxy that can be used",
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
    """The proxy in a text, which may lack its http://; None for another kind (socks5, https)."""
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
    """The first variable that is set, and its value; lower case before upper case."""
    for name in names:
        for spelled in (name, name.upper()):
            if value := environment.get(spelled, "").strip():
                return spelled, value
    return names[0].upper(), ""


def _is_excepted(to: Destination, no_proxy: str) -> bool:
    """Whether ``NO_PROXY`` names a destination: ``*``, a domain (with all below it), a host and
    port, an address or a network, parted by commas or spaces."""
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
