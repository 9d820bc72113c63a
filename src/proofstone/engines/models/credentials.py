"""What proves to an endpoint who asks: taken from the environment, held as secrets from then on."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from msgspec import Struct

from proofstone.engines.models.names import ModelName
from proofstone.engines.models.secret import Secret, scrub
from proofstone.errors import BadInput, EndpointUnusable, Problem

__all__ = ["Address", "Headers", "build_headers", "is_public_name", "is_secret_name",
           "read_address"]  # fmt: skip

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_SECRET_NAME = re.compile(r"(?i)key|token|auth|secret|cookie|password|sig|credential")
# Headers and parameters of a query whose values are known to be public.
_PUBLIC_NAME = re.compile(
    r"(?i)accept(-.*)?|content-type|user-agent|(http-)?referer|x-title|(anthropic|openai)-(beta|version)"
    r"|(api-)?version|alt|deployment|model|region"
)
_SHORTEST_KEY = 8


class Address(Struct, frozen=True):
    """An endpoint's address: ``url`` to ask (with its query, which may hold a key), ``identity``
    without credentials and query, and the ``user:password`` that stood in it."""

    url: Secret
    identity: str
    userinfo: str = ""
    secrets: tuple[Secret, ...] = ()


class Headers(Struct, frozen=True):
    """Headers of each request, and which texts among them no one may see."""

    values: tuple[tuple[str, Secret], ...]
    secrets: tuple[Secret, ...]


def is_secret_name(name: str) -> bool:
    """Whether a header, field or setting of this name is likely to carry a secret."""
    return _SECRET_NAME.search(name) is not None


def is_public_name(name: str) -> bool:
    """Return True for a header or parameter whose value may be shown."""
    return _PUBLIC_NAME.fullmatch(name) is not None


def _is_secret(name: str, value: str) -> bool:
    """Return True where a literal value is to be masked wherever it turns up.

    One of any other name counts where it looks like a key, with letters and digits: a word such as
    ``evaluation`` would be cut out of every response that has it.
    """
    if is_secret_name(name):
        return True
    has_both = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return not is_public_name(name) and has_both and len(value) >= _SHORTEST_KEY


def read_address(text: str, place: str) -> Address:
    """The address in ``text``. Raises BadInput, with ``place``, for anything but http or https."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    if parts.scheme not in ("http", "https") or not host or any(c.isspace() for c in text):
        shown = scrub(text)
        raise BadInput(
            f"the address of an endpoint must be http:// or https://, not {shown!r}",
            [Problem(place, f"base_url = {shown!r}")],
        )
    shown_host = f"[{host}]" if ":" in host else host
    netloc = shown_host if port is None else f"{shown_host}:{port}"
    path = parts.path.rstrip("/")
    userinfo = unquote(parts.netloc.rpartition("@")[0])
    password = userinfo.partition(":")[2]
    hidden = [value for name, value in parse_qsl(parts.query) if _is_secret(name, value)]
    return Address(
        url=Secret(urlunsplit((parts.scheme, netloc, path, parts.query, ""))),
        identity=urlunsplit((parts.scheme, netloc, path, "", "")),
        userinfo=userinfo,
        secrets=tuple(Secret(value) for value in (*hidden, userinfo, password) if value),
    )


def build_headers(
    name: ModelName,
    variable: str,
    given: Mapping[str, str],
    environment: Mapping[str, str],
    address: Address,
    place: str,
) -> Headers:
    """The key of ``variable`` as a bearer token, else the address's user and password, and the
    headers ``given``, of which ``$NAME`` is taken from the environment and a later spelling wins.

    Raises EndpointUnusable where a variable is not set, BadInput for what HTTP cannot carry.
    """
    values: dict[str, tuple[str, Secret]] = {}
    secrets: list[Secret] = []
    if variable:
        key = _variable(name, variable, environment)
        secrets.append(Secret(key))
        values["authorization"] = ("Authorization", Secret(f"Bearer {key}"))
    elif address.userinfo:
        basic = b64encode(address.userinfo.encode()).decode()
        values["authorization"] = ("Authorization", Secret(f"Basic {basic}"))
    for header, text in given.items():
        value = _variable(name, text[1:], environment) if text.startswith("$") else text
        if not _HEADER_NAME.fullmatch(header) or not _is_sendable(value):
            raise BadInput(
                f"the header {header!r} cannot be sent",
                [Problem(place, "headers are printable ASCII on one line")],
            )
        values[header.lower()] = (header, Secret(value))
        if text.startswith("$") or _is_secret(header, value):
            secrets.append(Secret(value.removeprefix("Bearer ").strip()))
    return Headers(tuple(values.values()), tuple(secrets))


def _variable(name: ModelName, variable: str, environment: Mapping[str, str]) -> str:
    value = environment.get(variable, "").strip()
    if not value:
        raise EndpointUnusable(
            f"{name} needs the environment variable {variable}, which is not set",
            hint=f"export {variable}=..., or write {variable}=... into a file .env here or above",
        )
    if not _is_sendable(value):
        raise EndpointUnusable(
            f"the environment variable {variable} holds characters that no key has",
            hint=f"copy the key for {name} again, without a text editor's quotation marks",
        )
    return value


def _is_sendable(value: str) -> bool:
    return value.isprintable() and value.isascii()
