"""Make one GET request, limited in size, time and redirects."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar
from urllib.parse import urljoin

import msgspec
from msgspec import Struct

from proofstone.errors import EgressRefused, EndpointUnusable
from proofstone.models.config import ModelConfig
from proofstone.models.connections import choose_route
from proofstone.models.credentials import Secret
from proofstone.models.egress import EgressGate
from proofstone.models.entries import Entry
from proofstone.models.http_session import is_inside, open_session
from proofstone.models.names import Destination, destination_of
from proofstone.records.ids import canonical_json

if TYPE_CHECKING:
    import aiohttp


PageProblem = Literal[
    "", "not_found", "too_large", "not_text", "too_many_redirects", "refused", "unreachable",
    "http_error",
]  # fmt: skip


MOST_BYTES = 8 * 2**20


_TIMEOUT_S, _CONNECT_S = 30.0, 10.0


_REDIRECTS = 5


_TEXTS = ("text/html", "text/plain", "application/xhtml+xml")


_MOVED = frozenset({301, 302, 303, 307, 308})


class Got(Struct, frozen=True, kw_only=True):
    """A response with case-insensitive headers; ``is_cut``: its body was truncated."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    is_cut: bool = False


class FetchedPage(Struct, frozen=True, kw_only=True):
    """A web page, or the ``problem`` why there is none. ``url`` is its final address."""

    url: str
    media_type: str = ""
    body: bytes = b""
    problem: PageProblem = ""
    detail: str = ""


async def get(
    url: str,
    config: ModelConfig,
    *,
    parameters: Mapping[str, str] | None = None,
    headers: Mapping[str, Secret] | None = None,
    most_bytes: int = MOST_BYTES,
    outside: bool = False,
    resends: bool = True,
    gate: EgressGate | None = None,
) -> Got:
    """Return the response of an address, at most ``most_bytes`` of it.

    ``gate`` replaces the configuration's for this request; ``resends`` is as of ``open_session``.
    Raises EgressRefused if the gate refuses, or if an ``outside`` host resolves to this machine or
    its network. Raises EndpointUnusable without an answer in time, and for an invalid address.
    """
    import aiohttp  # noqa: PLC0415 - heavy

    route = choose_route(url, Entry(), config.environment, gate or config.gate, "the address")
    limit = aiohttp.ClientTimeout(total=_TIMEOUT_S)
    try:
        session = open_session(
            url, route, headers=list((headers or {}).items()), connect_timeout_s=_CONNECT_S,
            outside=outside, resends=resends,
        )  # fmt: skip
        async with (
            session,
            session.get(url, params=parameters, timeout=limit, allow_redirects=False) as response,
        ):
            body, is_cut = await _read(response, most_bytes)
            return Got(status=response.status, headers=response.headers, body=body, is_cut=is_cut)
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        host = url.partition("://")[2].partition("/")[0]
        raise EndpointUnusable(f"{host} does not answer: {type(error).__name__}") from error


async def fetch_page(
    url: str, config: ModelConfig, *, local: bool = False, found: bool = False
) -> FetchedPage:
    """Return a page as HTML or text: at most 8 MB, 30 seconds per request and 5 redirects.

    Every host is checked by the gate. Problems of a page are returned, not raised. A page ``found``
    by a permitted search may be on any host that no policy refuses, since only its address is sent.

    Addresses of this machine or its network are refused unless ``local``: names from the web must
    not lead to what only this machine can reach.
    """
    for _redirect in range(_REDIRECTS + 1):
        to = destination_of(url)
        if to is None or (_is_inside(to) and not local):
            return FetchedPage(url=url, problem="refused", detail="invalid web address")
        try:
            gate = config.gate
            if found:
                gate.check_policies(to)
                gate = gate.permitting(to)
            got = await get(url, config, outside=not local, gate=gate)
        except EgressRefused as error:
            return FetchedPage(url=url, problem="refused", detail=error.message)
        except EndpointUnusable as error:
            return FetchedPage(url=url, problem="unreachable", detail=error.message)
        if got.status in _MOVED and (moved := got.headers.get("location")):
            try:
                url = urljoin(url, moved)
            except ValueError:
                return FetchedPage(
                    url=url, problem="refused", detail="redirected to an invalid address"
                )
            continue
        return _page(url, got)
    return FetchedPage(url=url, problem="too_many_redirects", detail=f"more than {_REDIRECTS}")


def _is_inside(to: Destination) -> bool:
    """Return True for this machine, or an IP address that only its network reaches.

    Names are checked when they are resolved.
    """
    try:
        return is_inside(to.host)
    except ValueError:
        return to.is_local


def _page(url: str, got: Got) -> FetchedPage:
    kind = got.headers.get("content-type", "").partition(";")[0].strip().lower()
    if got.status in (404, 410):
        return FetchedPage(url=url, problem="not_found", detail=f"HTTP {got.status}")
    if got.status != 200:
        return FetchedPage(url=url, problem="http_error", detail=f"HTTP {got.status}")
    if kind not in _TEXTS or b"\0" in got.body[:4096]:
        return FetchedPage(url=url, problem="not_text", detail=kind or "no content type")
    if got.is_cut:
        return FetchedPage(url=url, problem="too_large", detail=f"more than {MOST_BYTES:,} bytes")
    return FetchedPage(url=url, media_type=kind, body=got.body)


async def _read(response: aiohttp.ClientResponse, most: int) -> tuple[bytes, bool]:
    """Return the body up to ``most`` bytes, and whether there is more.

    A body with a larger stated length is not read.
    """
    if (response.content_length or 0) > most:
        return await response.content.read(4096), True
    parts: list[bytes] = []
    left = most
    while block := await response.content.readany():
        left -= len(block)
        if left < 0:
            return b"".join(parts), True
        parts.append(block)
    return b"".join(parts), False


# Records of web requests, one per file: written atomically, ignored if not readable.

T = TypeVar("T", bound=Struct)


def read_note(file: Path, kind: type[T]) -> T | None:
    """Return a stored record; None if there is none that can be read."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def write_note(file: Path, note: Struct) -> None:
    """Store a record in place of the former one; safe with two processes."""
    file.parent.mkdir(parents=True, exist_ok=True)
    begun = file.with_name(f".{file.name}.{secrets.token_hex(4)}.part")
    begun.write_bytes(canonical_json(note))
    begun.replace(file)
