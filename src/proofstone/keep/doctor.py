"""A bundle for a report of a fault: what is needed to understand it, and nothing of the contents.

It holds no prompt, reply, question or source, no key, and no path above the home folder. Whoever
sends it can read all of it before: it is a zip of small texts.
"""

from __future__ import annotations

import asyncio
import os
import platform
import re
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

from proofstone import __version__
from proofstone.errors import ProofstoneError, StoreFailed, WorkspaceUnusable
from proofstone.models.check import Online, online_names
from proofstone.models.check import look_online as availability_look_online
from proofstone.models.config import ModelConfig, load_config, redacted_settings, scrubber_of
from proofstone.models.credentials import scrub
from proofstone.models.rate_limits import SystemClock
from proofstone.records.calls import CallRecord, Clock
from proofstone.records.models import ModelCheck
from proofstone.search.web_finder import is_search, look_at_searches
from proofstone.session.egress import SentTo, clear_probe, what_was_sent
from proofstone.session.permits import AskEgress
from proofstone.session.progress import Background
from proofstone.session.session import Session, open_session
from proofstone.store.store import Store

# Looking at all configured models online; what was asked is kept as a check, where there is a
# store, so that nothing leaves unrecorded.

_AT_ONCE = 8


_SENT_FROM = ("address", "key", "model")  # a request that ended here had reached the endpoint


async def look_at_all(
    names: Sequence[str], config: ModelConfig, clock: Clock, store: Store | None
) -> list[Online]:
    """One look a name, several at once, in the order of the names."""
    slots = asyncio.Semaphore(_AT_ONCE)

    async def look(name: str) -> Online:
        async with slots:
            return await availability_look_online(name, config, clock)

    found = list(await asyncio.gather(*(look(name) for name in dict.fromkeys(names))))
    if store is not None:
        now = clock.now()
        store.models.add_checks([_kept(online, now) for online in found if _has_left(online)])
    return found


def _has_left(online: Online) -> bool:
    failed = next((step.name for step in online.steps if step.state == "failed"), "model")
    return failed in _SENT_FROM


def _kept(online: Online, now: float) -> ModelCheck:
    failed = next((step for step in online.steps if step.state == "failed"), None)
    return ModelCheck(
        model=online.name,
        state="answered" if failed is None else "failed",
        endpoint=online.endpoint,
        detail="" if failed is None else failed.found,
        checked_at=now,
    )


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
        parts["workspace.json"] = _session(store)
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


def _session(store: Store) -> dict[str, Any]:
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


# Looking into what is set up here: online, what was sent, and a bundle for a report.


def look_online(
    folder: Path | None, names: Sequence[str], ask: AskEgress | None = None
) -> list[Online]:
    """Models and searches of the web (by name: ``brave``), else all that are configured, looked at
    step by step with one request each; models are kept as checks where there is a workspace.
    Without one the current folder's settings count."""
    with _workspace_or_none(folder) as session:
        config = _config(session)
        searches = [name for name in names if is_search(name)] if names else None
        asked = [name for name in names if not is_search(name)] if names else online_names(config)
        clear_probe([name.replace("/...", "/any") for name in asked], config, ask)
        store = None if session is None else session.store
        clock = SystemClock()
        looked = Background(lambda _stop: look_at_all(asked, config, clock, store)).wait()
        return [*looked, *look_at_searches(searches, config, clock, ask)]


def sent_from(folder: Path | None) -> list[SentTo]:
    """All that a workspace ever sent, by host. Raises WorkspaceUnusable where there is none."""
    with open_session(folder) as session:
        return what_was_sent(session.store, session.sent_log.lines())


def make_bundle(folder: Path | None, path: Path, findings: Callable[[], Any]) -> dict[str, str]:
    """Writes a redacted zip for a report of a fault; returns its texts by name. What cannot be read
    (a broken configuration, no workspace) is left out, since that may be the fault."""

    try:
        with _workspace_or_none(folder) as session:
            store = None if session is None else session.store
            parts = bundle_parts(_config_or_none(session), store, findings(), now=time.time())
    except ProofstoneError:  # which the findings name
        parts = bundle_parts(None, None, findings(), now=time.time())
    write_bundle(path, parts)
    return parts


@contextmanager
def _workspace_or_none(folder: Path | None) -> Iterator[Session | None]:
    """The workspace; None where none was named and none is at or above the current folder."""
    try:
        session = open_session(folder)
    except WorkspaceUnusable:
        if folder is not None:
            raise
        yield None
        return
    with session:
        yield session


def _config(session: Session | None) -> ModelConfig:
    if session is not None:
        return session.config
    return load_config(other_tables=frozenset({"workspace"}))


def _config_or_none(session: Session | None) -> ModelConfig | None:
    try:
        return _config(session)
    except ProofstoneError:
        return None
