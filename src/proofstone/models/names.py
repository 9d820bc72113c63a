"""Parse model names as people type them: ``provider/model``.

The provider is ``openai``, ``vllm``, ``local``, ``sim``, or one of the configuration. Everything
after the first slash is the model's own name. It may hold slashes, colons and, for ``sim``, a
query: ``openrouter/meta-llama/llama-3.1-8b``, ``local/models/x.gguf``, ``sim/ann?ability=1.5``.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from datetime import date
from ipaddress import IPv6Address, ip_address
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from proofstone.errors import BadUsage

_PROVIDER = re.compile(r"[a-z0-9][a-z0-9._-]*")


_EXAMPLES = (
    "expected provider/model, such as openai/gpt-4.1-mini, local/path/to/file.gguf or sim/ann"
)


class ModelName(Struct, frozen=True, order=True):
    """A provider and its name for a model; ``str()`` returns what was typed."""

    provider: str
    model: str

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}"


def parse_model_name(text: str) -> ModelName:
    """Return the two parts of a name. Raises BadUsage with what is wrong."""
    provider, _, model = text.partition("/")
    problem = _problem(text, provider, model)
    if problem:
        raise BadUsage(f"invalid model name {text!r}: {problem}", hint=_EXAMPLES)
    return ModelName(provider, model)


def _problem(text: str, provider: str, model: str) -> str:
    if "://" in text:
        return "it is an address; name it as a provider in proofstone.toml ([providers.NAME])"
    if "/" not in text:
        return "it has no slash, so the provider is missing"
    if not _PROVIDER.fullmatch(provider):
        return f"the provider {provider!r} is not lower-case letters, digits, '.', '_' or '-'"
    if not model.strip():
        return "nothing follows the provider"
    if any(ord(character) < 32 for character in model) or model != model.strip():
        return "the model's part starts or ends with a space, or holds a control character"
    return ""


# Host and port of a request, and whether that is this machine.

_PORTS = {"http": 80, "https": 443}


class Destination(Struct, frozen=True, order=True):
    """A normalized host with its port; as text, only an unusual port is shown."""

    host: str
    port: int

    @property
    def is_local(self) -> bool:
        """Return True for this machine: ``localhost`` and the loopback addresses."""
        if self.host == "localhost" or self.host.endswith(".localhost"):
            return True
        try:
            address = ip_address(self.host)
        except ValueError:
            return False
        mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
        return (mapped or address).is_loopback

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port in _PORTS.values() else f"{host}:{self.port}"


def destination_of(url: str) -> Destination | None:
    """Return the destination of an http or https address; None for other texts.

    Other texts are addresses without a host (``gguf:...``), and invalid ones (``http://[::1``, a
    port of 99999).
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not host:
        return None
    return Destination(plain_host(host), port or _PORTS[parts.scheme])


def plain_host(host: str) -> str:
    """Return a host for comparison: lower case, no final dot, international names in ASCII."""
    host = host.strip().rstrip(".").lower().partition("%")[0]
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        return host


# Check a TOML table against a struct: every unknown key and invalid value is reported.

_MOST_NAMED = 30


def unknown_key(key: str, known: Iterable[str]) -> str:
    """Return the message that ``key`` is unknown, with the most similar known key or all keys."""
    names = sorted(set(known))
    near = difflib.get_close_matches(key, names, n=1)
    meant = f"; did you mean {near[0]!r}?" if near else f"; expected one of {', '.join(names)}"
    return f"unknown key {key!r}{meant if near or len(names) <= _MOST_NAMED else ''}"


def wrong_fields(path: str, fields: Any, struct: type[Struct]) -> list[str]:
    """Return all problems of ``fields`` as a ``struct``, each with its key below ``path``."""
    if not isinstance(fields, Mapping):
        return [f"{path}: expected a table, got {type(fields).__name__}"]
    infos = {info.name: info for info in msgspec.structs.fields(struct)}
    wrong = [f"{path}: {unknown_key(key, infos)}" for key in fields if key not in infos]
    wrong += [
        f"{path}: {name} is missing"
        for name, info in infos.items()
        if info.required and name not in fields
    ]
    for name, value in fields.items():
        if name in infos:
            wrong += _wrong_value(f"{path}.{name}", value, infos[name].type)
    return wrong


def _wrong_value(path: str, value: Any, wanted: Any) -> list[str]:
    if isinstance(value, date) and wanted is str:
        return [f'{path}: write the day in quotation marks: "{value}"']
    try:
        msgspec.convert(value, wanted)
    except msgspec.ValidationError as error:
        return [f"{path}: {_said(str(error), value, wanted)}"]
    return []


def _said(error: str, value: Any, wanted: Any) -> str:
    choices = [choice for choice in getattr(wanted, "__args__", ()) if isinstance(choice, str)]
    if not choices or not isinstance(value, str):
        return error.replace(" - at `$`", "")
    near = difflib.get_close_matches(value.lower(), [choice for choice in choices if choice], n=1)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    return (
        f"expected one of {', '.join(choice for choice in choices if choice)}, got {value!r}{meant}"
    )
