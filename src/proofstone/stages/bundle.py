"""A bundle for a report of a fault: what is needed to understand it, and nothing of the contents.

It holds no prompt, reply, question or source, no key, and no path above the home folder. Whoever
sends it can read all of it before: it is a zip of small texts.
"""

from __future__ import annotations

import os
import platform
import re
import sys
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

from proofstone import __version__
from proofstone.engines.models import ModelConfig, redacted_settings, scrub, scrubber_of
from proofstone.engines.store import Store
from proofstone.errors import StoreFailed
from proofstone.ports import CallRecord

__all__ = ["bundle_parts", "without_quotes", "write_bundle"]

_LAST = 50
_WINDOW = 16  # as many characters in common with a prompt are a quotation
_VARIABLES = (
    "HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PYTHONUTF8", "LANG", "PROOFSTONE_DATABASE",
)  # fmt: skip
_ABOUT = """\
Made by proofstone {version} on {day} for a report of a fault.

versions.json    Proofstone, Python, the system and the packages that Proofstone depends on
findings.json    what `proofstone doctor` finds
settings.json    the tables of proofstone.toml: no keys, no values of headers or body fields
environment.json which of the variables that matter are set; of none the value
workspace.json   the database's kind and schema, rows by table, calls by kind of error
errors.json      the last failed calls: when, which model, which kind; the endpoint's words without
                 secrets and without what they quote from a prompt or reply

No prompts, replies, questions or sources. Look it over before you send it.
"""


def bundle_parts(
    config: ModelConfig | None, store: Store | None, findings: Any, *, now: float
) -> dict[str, str]:
    """The texts of a bundle by name, scrubbed; what there is no workspace or configuration for is
    left out."""
    day = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%d")
    parts: dict[str, Any] = {"versions.json": _versions(), "findings.json": findings}
    if config is not None:
        parts["settings.json"] = redacted_settings(config)
        parts["environment.json"] = _environment(config)
    if store is not None:
        parts["workspace.json"] = _workspace(store)
        parts["errors.json"] = [_failed(call) for call in store.troubles.last_failed(_LAST)]
    clean = scrub if config is None else scrubber_of(config).text
    about = {"ABOUT.txt": _ABOUT.format(version=__version__, day=day)}
    texts = {name: clean(_json(value)) for name, value in parts.items()}
    return about | {name: _without_home(text) for name, text in texts.items()}


def write_bundle(path: Path, parts: Mapping[str, str]) -> None:
    """Writes the zip, which must not be there yet. Raises StoreFailed where it cannot."""
    try:
        with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED) as bundle:
            for name, text in parts.items():
                bundle.writestr(name, text)
    except OSError as error:
        raise StoreFailed(
            f"cannot write {path}: {error.strerror or error}", hint="name another file"
        ) from error


def without_quotes(detail: str, *texts: str) -> str:
    """``detail`` with every stretch of 16 characters or more that stands in one of ``texts``
    replaced, as it is or as JSON writes it."""
    known = [form for text in texts for form in (text, _escaped(text))]
    quoted = [False] * len(detail)
    for start in range(len(detail) - _WINDOW + 1):
        if any(detail[start : start + _WINDOW] in text for text in known):
            quoted[start : start + _WINDOW] = [True] * _WINDOW
    shown = "".join("\0" if hidden else sign for sign, hidden in zip(detail, quoted, strict=True))
    return re.sub("\0+", "[quoted]", shown)


def _versions() -> dict[str, Any]:
    packages = {}
    for line in metadata.requires("proofstone") or []:
        name = re.split(r"[\s<>=!~;\[(]", line, maxsplit=1)[0]
        try:
            packages[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            packages[name] = "not installed"
    return {
        "proofstone": __version__,
        "python": sys.version,
        "system": platform.platform(),
        "packages": dict(sorted(packages.items())),
    }


def _environment(config: ModelConfig) -> dict[str, bool]:
    keys = [entry.api_key_env for entry in (*config.providers.values(), *config.models.values())]
    names = {*_VARIABLES, *(name.lower() for name in _VARIABLES[:4])}
    names |= {name for name in keys if isinstance(name, str)}
    return {name: bool(config.environment.get(name)) for name in sorted(names)}


def _workspace(store: Store) -> dict[str, Any]:
    return {
        "database": "SQLite" if store.database.is_sqlite else "PostgreSQL",
        "schema": store.troubles.schema,
        "rows": store.troubles.counts(),
        "errors": store.troubles.errors(),
    }


def _failed(call: CallRecord) -> dict[str, Any]:
    texts = [call.prompt.decode("utf-8", "replace"), *_texts(call.prompt)]
    if call.status == 200:  # then the body is a reply, else it is the error itself
        texts += [call.raw.decode("utf-8", "replace"), *_texts(call.raw)]
    return {
        "at": datetime.fromtimestamp(call.started_at, UTC).isoformat(timespec="seconds"),
        "model": call.model,
        "endpoint": call.endpoint,
        "wire": call.wire,
        "purpose": call.purpose,
        "kind": call.error,
        "status": call.status,
        "attempts": call.attempts,
        "latency_s": round(call.latency_s, 3),
        "prompt_bytes": len(call.prompt),
        "reply_bytes": len(call.raw),
        "settings": sorted(call.settings_sent),
        "detail": without_quotes(call.detail, *texts),
    }


def _texts(body: bytes) -> list[str]:
    """All texts in a JSON body; none where it is no JSON."""
    try:
        found: list[str] = []
        _gather(msgspec.json.decode(body), found)
    except msgspec.DecodeError:
        return []
    return found


def _gather(value: Any, found: list[str]) -> None:
    if isinstance(value, str):
        found.append(value)
    elif isinstance(value, dict | list):
        for entry in value.values() if isinstance(value, dict) else value:
            _gather(entry, found)


def _escaped(text: str) -> str:
    return text.encode("unicode_escape").decode().replace('"', '\\"')


def _json(value: Any) -> str:
    plain = msgspec.to_builtins(value, builtin_types=(bytes,), enc_hook=str)
    return msgspec.json.format(msgspec.json.encode(plain), indent=2).decode() + "\n"


def _without_home(text: str) -> str:
    """Paths below the home folder start with ~, so that they do not name the user."""
    home = str(Path.home())
    if len(home) > 1:
        text = text.replace(home, "~").replace(home.replace("\\", "\\\\"), "~")
    user = os.environ.get("USER") or os.environ.get("USERNAME") or ""
    return re.sub(rf"(/home/|/Users/|\\Users\\){re.escape(user)}\b", r"\1~", text) if user else text
