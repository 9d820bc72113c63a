"""What proves to an endpoint who asks: taken from the environment, held as secrets from then on."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import NoReturn
from urllib.parse import parse_qsl, quote, unquote, urlsplit, urlunsplit

from msgspec import Struct

from proofstone.errors import BadInput, EndpointUnusable, Problem
from proofstone.models.names import ModelName

# Keys never show: a text that prints ``***``, and the scrubbing of what others print of them.
#
# An endpoint may quote a key in an error body, an address may carry a password, a library may put a
# header into an exception. All of it goes through ``Scrubber`` before it is kept or shown.

MASK = "***"


_SHORTEST = 4  # a shorter "key" (a local server's "x") would blank out half of every message


_SHORTEST_RAW = 8  # and a reply is never to lose a word because a local server's key is "ollama"


_USERINFO = re.compile(r"(?<=://)[^/\s@\"'<>]+@")


_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+(?!realm\b)[A-Za-z0-9._~+/=-]{6,}")


_NAMED = re.compile(
    r"(?i)\b((?:x-)?(?:api|access|auth|secret|subscription|goog-api)?[-_]?(?:key|token|secret)"
    r"|password|sig|signature)(=|\"?\s*:\s*\"?)([^\s&\"',;}]{6,})"
)


_KEY_SHAPED = re.compile(r"\b(?:sk|pk|rk|gsk|xai|hf|pplx|nvapi|fw|r8|AIza|csk)[-_][\w*-]{8,}")


class Secret(str):
    """A key or password. As text it *is* ``***``, in every print, format and JSON encoding;
    ``reveal()`` gives the value, and nothing else does. Two are equal when their values are."""

    __slots__ = ("_value",)
    _value: str

    def __new__(cls, value: str) -> Secret:
        """The secret of a value, to be seen as ``***``."""
        self = super().__new__(cls, MASK)
        self._value = value
        return self

    def reveal(self) -> str:
        """The value, for the header that carries it."""
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
        raise TypeError("a Secret is not pickled: send the name of its environment variable")


class Scrubber:
    """Replaces known secrets, and what is shaped like one, by ``***``."""

    def __init__(self, secrets: Iterable[Secret] = ()) -> None:
        values = {secret.reveal() for secret in secrets}
        forms = {form for value in values if len(value) >= _SHORTEST for form in _forms(value)}
        self._texts = tuple(sorted(forms, key=lambda form: (-len(form), form)))
        encoded = (form.encode("utf-8", "surrogateescape") for form in self._texts)
        self._bytes = tuple(form for form in encoded if len(form) >= _SHORTEST_RAW)

    def text(self, text: str) -> str:
        """``text`` without secrets: known ones, credentials in addresses, keys by their look."""
        for form in self._texts:
            text = text.replace(form, MASK)
        text = _USERINFO.sub(f"{MASK}@", text)
        text = _BEARER.sub(rf"\1 {MASK}", text)
        text = _NAMED.sub(rf"\1\2{MASK}", text)
        return _KEY_SHAPED.sub(MASK, text)

    def raw(self, raw: bytes) -> bytes:
        """A body without the known secrets of 8 bytes or more; all else stays byte by byte."""
        for form in self._bytes:
            if form in raw:
                raw = raw.replace(form, MASK.encode())
        return raw


def scrub(text: str, secrets: Iterable[Secret] = ()) -> str:
    """``text`` without secrets; see ``Scrubber.text``."""
    return Scrubber(secrets).text(text)


def _forms(value: str) -> set[str]:
    """How a value may appear: as it is, in an address, in JSON, in base64."""
    in_json = value.replace("\\", "\\\\").replace('"', '\\"')
    in_base64 = b64encode(value.encode("utf-8", "surrogateescape")).decode()
    return {value, quote(value, safe=""), quote(value), in_json, in_base64}


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
