"""Read credentials from the environment, and keep them secret in all output."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import NoReturn
from urllib.parse import parse_qsl, quote, unquote, urlsplit, urlunsplit

from msgspec import Struct

from proofstone.errors import BadInput, EndpointUnusable, Problem
from proofstone.models.names import ModelName

# Keys are never shown: they print as ``***``, and texts of others are scrubbed.
#
# An endpoint may quote a key in an error body, an address may contain a password, and a library may
# put a header into an exception. All of it goes through ``Scrubber`` before it is stored or shown.

MASK = "***"


_SHORTEST = (
    4  # replacing a shorter "key" (a local server's "x") would blank out half of every message
)


_SHORTEST_RAW = 8  # a response must not lose a word because a local server's key is "ollama"


_USERINFO = re.compile(r"(?<=://)[^/\s@\"'<>]+@")


_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+(?!realm\b)[A-Za-z0-9._~+/=-]{6,}")


_NAMED = re.compile(
    r"(?i)\b((?:x-)?(?:api|access|auth|secret|subscription|goog-api)?[-_]?(?:key|token|secret)"
    r"|password|sig|signature)(=|\"?\s*:\s*\"?)([^\s&\"',;}]{6,})"
)


_KEY_SHAPED = re.compile(r"\b(?:sk|pk|rk|gsk|xai|hf|pplx|nvapi|fw|r8|AIza|csk)[-_][\w*-]{8,}")


class Secret(str):
    """A key or password whose text is ``***`` in every print, format and JSON encoding.

    Only ``reveal()`` returns the value. Two secrets are equal if their values are.
    """

    __slots__ = ("_value",)
    _value: str

    def __new__(cls, value: str) -> Secret:
        """Return the secret of a value, shown as ``***``."""
        self = super().__new__(cls, MASK)
        self._value = value
        return self

    def reveal(self) -> str:
        """Return the value, for a request header."""
        return self._value

    def __repr__(self) -> str:
        return MASK

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._value == other._value

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._value)

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, _memo: object) -> Secret:
        return self

    def __reduce_ex__(self, _protocol: object) -> NoReturn:
        raise TypeError("a Secret cannot be pickled: send the name of its environment variable")


class Scrubber:
    """Replace known secrets, and texts shaped like one, by ``***``."""

    def __init__(self, secrets: Iterable[Secret] = ()) -> None:
        values = {secret.reveal() for secret in secrets}
        forms = {form for value in values if len(value) >= _SHORTEST for form in _forms(value)}
        self._texts = tuple(sorted(forms, key=lambda form: (-len(form), form)))
        encoded = (form.encode("utf-8", "surrogateescape") for form in self._texts)
        self._bytes = tuple(form for form in encoded if len(form) >= _SHORTEST_RAW)

    def text(self, text: str) -> str:
        """Return ``text`` without secrets, credentials in addresses, or texts shaped like keys."""
        for form in self._texts:
            text = text.replace(form, MASK)
        text = _USERINFO.sub(f"{MASK}@", text)
        text = _BEARER.sub(rf"\1 {MASK}", text)
        text = _NAMED.sub(rf"\1\2{MASK}", text)
        return _KEY_SHAPED.sub(MASK, text)

    def raw(self, raw: bytes) -> bytes:
        """Return a body without the known secrets of 8 bytes or more; all else stays unchanged."""
        for form in self._bytes:
            if form in raw:
                raw = raw.replace(form, MASK.encode())
        return raw


def scrub(text: str, secrets: Iterable[Secret] = ()) -> str:
    """Return ``text`` without secrets; see ``Scrubber.text``."""
    return Scrubber(secrets).text(text)


def _forms(value: str) -> set[str]:
    """Return the forms of a value: literal, in an address, in JSON, in base64."""
    in_json = value.replace("\\", "\\\\").replace('"', '\\"')
    in_base64 = b64encode(value.encode("utf-8", "surrogateescape")).decode()
    return {value, quote(value, safe=""), quote(value), in_json, in_base64}


_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


_SECRET_NAME = re.compile(r"(?i)key|token|auth|secret|cookie|password|sig|credential")


# Headers and query parameters whose values are known to be public.
_PUBLIC_NAME = re.compile(
    r"(?i)accept(-.*)?|content-type|user-agent|(http-)?referer|x-title|(anthropic|openai)-(beta|version)"
    r"|(api-)?version|alt|deployment|model|region"
)


_SHORTEST_KEY = 8


class Address(Struct, frozen=True):
    """An endpoint's address: ``url`` (its query may hold a key), ``identity``, ``user:password``.

    ``identity`` is the address without credentials and query.
    """

    url: Secret
    identity: str
    userinfo: str = ""
    secrets: tuple[Secret, ...] = ()


class Headers(Struct, frozen=True):
    """Headers of each request, and the texts in them that must not be shown."""

    values: tuple[tuple[str, Secret], ...]
    secrets: tuple[Secret, ...]


def is_secret_name(name: str) -> bool:
    """Return True if a header, field or setting of this name probably holds a secret."""
    return _SECRET_NAME.search(name) is not None


def is_public_name(name: str) -> bool:
    """Return True for a header or parameter whose value may be shown."""
    return _PUBLIC_NAME.fullmatch(name) is not None


def _is_secret(name: str, value: str) -> bool:
    """Return True if a literal value is to be masked wherever it appears.

    With any other name, it must look like a key, with letters and digits. A word such as
    ``evaluation`` would otherwise be removed from every response that has it.
    """
    if is_secret_name(name):
        return True
    has_both = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return not is_public_name(name) and has_both and len(value) >= _SHORTEST_KEY


def read_address(text: str, place: str) -> Address:
    """Return the address in ``text``. Raises BadInput, with ``place``, for other than http(s)."""
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    if parts.scheme not in ("http", "https") or not host or any(c.isspace() for c in text):
        shown = scrub(text)
        raise BadInput(
            f"expected an endpoint address with http:// or https://, got {shown!r}",
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
    """Build the headers: the key of ``variable`` as bearer token, or the address's login.

    Adds the headers ``given``, with ``$NAME`` taken from the environment; a later spelling wins.
    Raises EndpointUnusable if a variable is not set, BadInput for characters that HTTP does not
    allow.
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
            hint=(
                f"export {variable}=..., or write {variable}=... to a .env file in this or a "
                "parent folder"
            ),
        )
    if not _is_sendable(value):
        raise EndpointUnusable(
            f"the environment variable {variable} holds characters that are invalid in a key",
            hint=f"copy the key for {name} again, without typographic quotation marks",
        )
    return value


def _is_sendable(value: str) -> bool:
    return value.isprintable() and value.isascii()
