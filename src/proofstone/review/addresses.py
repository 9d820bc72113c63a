"""Addresses of web pages that people name as evidence, and whose they are.

Two addresses are one page where only dress differs: http and https, capitals in the host, the
usual port, percent signs, a slash at the end, a place on the page. A host belongs to a site where
it is that site or ends in a dot and its name, so that ``zh.wikipedia.org`` is Wikipedia's, and
neither ``notwikipedia.org`` nor ``wikipedia.org.example.com`` is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import SplitResult, unquote, urlsplit

from msgspec import Struct

_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")


# Between addresses: white space, or a comma or semicolon with another address behind it.
_BETWEEN = re.compile(r"\s+|[,;\uff0c\uff1b\u3001]\s*(?=[a-zA-Z]+:)")


_PORTS = {"http": 80, "https": 443}


class NoAddress(ValueError):
    """A text that is no address of a web page; the message says why."""


class WebAddress(Struct, frozen=True, gc=False):
    """An address: its host as the network writes it (lower case, ``xn--``), and what is the same
    for all spellings of this page."""

    host: str
    page: str


def split_addresses(text: str) -> list[str]:
    """The addresses of a cell, one after another with white space or commas between them."""
    return [part for part in _BETWEEN.split(text.strip()) if part]


def read_address(text: str) -> WebAddress:
    """The page that an address names. Raises NoAddress for what no browser would open as a web
    page of a named site: another scheme, no host, a name and password in it, a number as a host."""
    parts, port = _parts(text.strip())
    if parts.scheme not in _PORTS:
        raise NoAddress(f"expected https:// or http://, came {_cut(text)!r}")
    if "@" in parts.netloc:
        raise NoAddress(f"there is a name or password before the host of {_cut(text)!r}")
    host = _host(parts.hostname or "", text)
    own_port = "" if port in (None, _PORTS[parts.scheme]) else f":{port}"
    # A fragment is a place on the page, but for pages that live behind it (#/ and #!).
    behind = f"#{parts.fragment}" if parts.fragment.startswith(("/", "!")) else ""
    query = f"?{unquote(parts.query)}" if parts.query else ""
    path = unquote(parts.path).rstrip("/")
    return WebAddress(host, f"{host}{own_port}{path}{query}{behind}")


def pages_of(texts: Iterable[str]) -> tuple[WebAddress, ...]:
    """The pages that addresses name, each once, in their order; what is no address is left out."""
    found: dict[str, WebAddress] = {}
    for text in texts:
        try:
            address = read_address(text)
        except NoAddress:
            continue
        found.setdefault(address.page, address)
    return tuple(found.values())


def read_site(text: str) -> str:
    """A site as hosts are matched: ``wikipedia.org``, or ``.edu`` for all under one ending. Raises
    NoAddress for anything else, a whole address too."""
    plain = text.strip().lower()
    if plain.startswith(".") and plain.count(".") == 1:
        return f".{_ascii(plain[1:], text)}"
    if re.search(r"[/:@?#\s]", plain):
        raise NoAddress(f"expected a site, as wikipedia.org; came {_cut(text)!r}")
    return _host(plain.removeprefix("."), text)


def is_of_site(host: str, site: str) -> bool:
    """Whether a host is a site or one of its subdomains; both as ``read_address`` and
    ``read_site`` give them."""
    return host == site or host.endswith(site if site.startswith(".") else f".{site}")


def _parts(text: str) -> tuple[SplitResult, int | None]:
    # A backslash before the query is a slash to browsers, and so may end the host.
    if re.search(r"[\s\x00-\x1f]", text.split("#", 1)[0]) or "\\" in re.split("[?#]", text)[0]:
        raise NoAddress(
            f"there is white space, a control character or a backslash in {_cut(text)!r}"
        )
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as cause:
        raise NoAddress(f"{_cut(text)!r} cannot be read: {cause}") from None
    return parts, port


def _host(name: str, text: str) -> str:
    host = _ascii(name.rstrip("."), text)
    if "." not in host:
        raise NoAddress(f"expected the host of a site, as zh.wikipedia.org; came {_cut(text)!r}")
    if host.rpartition(".")[2].isdigit():
        raise NoAddress(f"the host of {_cut(text)!r} is a number and no site's name")
    return host


def _ascii(name: str, text: str) -> str:
    try:
        host = name.encode("idna").decode("ascii").lower()
    except UnicodeError:
        host = ""
    if not host or not all(_LABEL.fullmatch(label) for label in host.split(".")):
        raise NoAddress(f"there is no host that can be in {_cut(text)!r}")
    return host


def _cut(text: str) -> str:
    plain = text.strip()
    return plain if len(plain) <= 80 else f"{plain[:77]}..."
