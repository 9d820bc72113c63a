"""Keys never show: a text that prints ``***``, and the scrubbing of what others print of them.

An endpoint may quote a key in an error body, an address may carry a password, a library may put a
header into an exception. All of it goes through ``Scrubber`` before it is kept or shown.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from typing import NoReturn
from urllib.parse import quote

__all__ = ["Scrubber", "Secret", "scrub"]

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
