"""``ingest``: documents into sources, pages and passages."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click
from msgspec import Struct, structs

from proofstone.errors import BadUsage, StoreFailed
from proofstone.page.text import printable
from proofstone.records.ids import short
from proofstone.records.options import BUDGET_HELP, Opt
from proofstone.session.cli_command import command
from proofstone.session.options import (
    asked_for,
    json_option,
    quiet_option,
    workspace_option,
)
from proofstone.session.progress import spent_text, tell_lost
from proofstone.session.terminal import (
    TerminalEgress,
    pasted,
    print_json,
    print_table,
    print_text,
    say,
    say_next,
    visible,
)
from proofstone.wording.messages import counted

if TYPE_CHECKING:
    from proofstone.ingest.editions import EditionCounts, EditionRow, Editions
    from proofstone.ingest.ingest import Ingested, IngestReport, NotRead, Watch
    from proofstone.ingest.vision import PagesAsked
    from proofstone.session.session import Session

# An image that was made, written to the file that was named.


def write_image(file: Path, png: bytes, *, as_json: bool) -> None:
    """Write a PNG and print its size. Raises BadUsage for another suffix, StoreFailed if it cannot
    be written."""
    if file.suffix.lower() != ".png":
        raise BadUsage(f"{file.name}: pages are rendered as PNG", hint=f"-o {file.stem}.png")
    try:
        file.write_bytes(png)
    except OSError as cause:
        raise StoreFailed(f"{file} was not written: {cause.strerror or cause}.") from cause
    if as_json:
        print_json({"file": str(file), "bytes": len(png)})
    else:
        print_text(f"{file}   {len(png):,} bytes")


# What ``ingest`` says: documents taken, pages to be looked at, files not read, and the cost.

_SHOWN = 20


_NAMED = 4


_FOR_OCR = ("image only", "garbled")


def print_ingested(
    report: IngestReport, account: PagesAsked | None = None, *, quiet: bool = False
) -> None:
    """Print the sources on stdout, and the rest with the cost of OCR by a model on stderr."""
    for entry in report.taken:
        print_text(_taken_line(entry))
    for line in _page_lines(report):
        say(line, quiet=quiet)
    if report.others:
        kinds = ", ".join(f"{n} {suffix}" for suffix, n in report.others.items())
        say(f"no documents, left out: {kinds}", quiet=quiet)
        for line in report.advice:
            say(f"  {line}", quiet=quiet)
    if report.unused:
        names = ", ".join(report.unused[:_SHOWN])
        say(f"rows of --meta that name no file: {names}", quiet=quiet)
    for name, told in audience_lines(report.taken):
        say(f"{name}: {told}", quiet=quiet)
    _print_not_read(report.not_read)
    if account is not None and account.pages:
        cached = f", {account.cached:,} of them asked before" if account.cached else ""
        pages = counted(account.pages, "page")
        say(f"{account.model}: {pages}{cached}, {spent_text(account.spent)}", quiet=quiet)
    if report.taken and not quiet:
        say_next(_next_lines(report.taken))


def audience_lines(taken: Sequence[Ingested]) -> Iterator[tuple[str, str]]:
    """How many documents count as public and as private, by which licenses, and what changes
    that."""
    changes = {
        "public": "; --license private changes that",
        "private": ": a license that permits publication is not known of them; --license NAME "
        "(such as CC-BY-4.0, or public) or --meta changes that",
    }
    for name, change in changes.items():
        own = [entry.license for entry in taken if entry.is_public is (name == "public")]
        said = ", ".join(
            f"license {printable(license)!r} {n:,}" if license else f"no license {n:,}"
            for license, n in sorted(Counter(own).items())
        )
        if own:
            yield name, f"{counted(len(own), 'document')} ({said}){change}"


def _next_lines(taken: Sequence[Ingested]) -> Iterator[str]:
    names = [f"source:{short(entry.id)}" for entry in taken]
    yield f"show {names[0]}"
    if any(entry.n_passages for entry in taken):
        inputs = " ".join(names[:_NAMED])
        yield f"build statements {inputs} -m PROVIDER/NAME --judge PROVIDER/NAME"


def _page_lines(report: IngestReport) -> Iterator[str]:
    from proofstone.records.pages import page_ranges

    for entry in report.taken:
        unread = sorted(n for why in _FOR_OCR for n in entry.unread.get(why, ()))
        if unread:
            pages = f"{counted(len(unread), 'page')} without text that can be read"
            yield f"{entry.file}: {pages}, kept as unread: {page_ranges(unread)}"
        for failed in entry.not_scanned[:_SHOWN]:
            yield f"{entry.file}, page {failed.page}: not read by the model: {failed.why}"
        if len(entry.not_scanned) > _SHOWN:
            yield f"{entry.file}: and {len(entry.not_scanned) - _SHOWN} more such pages"
        if entry.doubtful:
            pages = counted(len(entry.doubtful), "page")
            where = page_ranges(entry.doubtful)
            yield f"{entry.file}: {pages} read with little confidence: {where}"
    if report.needs:
        yield f"to read pages from their images: {report.needs}, then the same command again"


def _taken_line(entry: Ingested) -> str:
    by_ocr = f" ({entry.n_scanned:,} from images)" if entry.n_scanned else ""
    pages = f"{counted(entry.n_pages, 'page')}{by_ocr}, " if entry.n_pages else ""
    unread = "".join(
        f", {len(numbers)} unread ({reason})" for reason, numbers in entry.unread.items()
    )
    known = "" if entry.is_new else "   was here"
    counts = f"{pages}{counted(entry.n_passages, 'passage')}{unread}"
    return f"source {short(entry.id)}  {entry.title}  {counts}{known}"


def _print_not_read(files: tuple[NotRead, ...]) -> None:
    for file in files:
        say(f"not read [{file.code}]: {file.file}: {file.why}")
        for problem in file.problems[:_SHOWN]:
            say(f"  {problem}")
        if len(file.problems) > _SHOWN:
            say(f"  ... and {len(file.problems) - _SHOWN} more problems")
        if file.hint:
            say(f"  {file.hint}")


_INCOMPLETE = 3


_INTERRUPTED = 130


_EVERY_S = 0.2


class PathOrAddress(click.ParamType[Path | str]):
    """A file or folder that is there, or an address of the web."""

    name = "path"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path | str:
        """Return an address unchanged, or the path."""
        if isinstance(value, str) and value.startswith(("https://", "http://")):
            return value
        there = click.Path(exists=True).convert(str(value), param, ctx)
        return Path(str(there))


class IngestAsked(Struct, frozen=True, kw_only=True):
    """How documents are read, and what is stated of all of them."""

    meta: Annotated[Path | None, Opt(
        "Table with one row per file: file, title, authors, year, license, language, "
        "discipline, field, subfield, book.", metavar="FILE", is_folder=True,
    )] = None  # fmt: skip
    title: Annotated[str, Opt("Title (default: the document's title).")] = ""
    authors: Annotated[tuple[str, ...], Opt(
        "Author (repeatable).", flags=("--author",),
    )] = ()  # fmt: skip
    year: Annotated[
        int | None, Opt("Year (default: the year in the file).", least=1, most=9999)
    ] = None
    license: Annotated[str, Opt(
        "License, such as CC-BY-4.0. Only a document whose license permits publication counts as "
        "public.", metavar="NAME",
    )] = ""  # fmt: skip
    language: Annotated[
        str, Opt("Language of the document: en, zh, ... (default: detected).", metavar="CODE")
    ] = ""
    ocr: Annotated[Literal["auto", "never", "always"], Opt(
        "Pages to read by OCR: pages without readable text, none, or all of PDF and image files.",
        shows_default=True,
    )] = "auto"  # fmt: skip
    reader: Annotated[str, Opt(
        "Read these pages with a vision model instead of local OCR.",
        flags=("--ocr-model",), metavar="MODEL",
    )] = ""  # fmt: skip
    budget: Annotated[str | None, Opt(BUDGET_HELP, metavar="AMOUNT")] = None
    max_connections: Annotated[int | None, Opt("Concurrent requests to the model.", least=1)] = None
    yes: Annotated[bool, Opt(
        "Skip all confirmations, including those for outbound data.",
    )] = False  # fmt: skip
    discipline: Annotated[str, Opt("Taxonomy label: discipline (top level).")] = ""
    field: Annotated[str, Opt("Taxonomy label: field (second level).")] = ""
    subfield: Annotated[str, Opt("Taxonomy label: subfield (third level).")] = ""
    book: Annotated[str, Opt("Taxonomy label: book (finest level).")] = ""
    taxonomy: Annotated[str | None, Opt(
        "Only accept labels of this taxonomy: a name from 'list taxonomies', or a CSV or TOML "
        "file.",
        metavar="NAME|FILE",
    )] = None  # fmt: skip
    titles: Annotated[Path | None, Opt(
        "Only read these pages of a wiki dump (one title per line).", metavar="FILE", exists=True,
        is_folder=True,
    )] = None  # fmt: skip
    namespaces: Annotated[tuple[int, ...], Opt(
        "Only read this namespace of a wiki dump (repeatable; default: 0, articles).",
        flags=("--namespace",),
    )] = ()  # fmt: skip
    limit: Annotated[int | None, Opt("Read at most this many pages of a wiki dump.", least=1)] = (
        None
    )
    wiki_api: Annotated[str, Opt(
        "Path of the MediaWiki API (default: /w/api.php).", metavar="URL",
    )] = ""  # fmt: skip


@command(
    "ingest",
    basic=(
        "meta",
        "title",
        "license",
        "language",
        "ocr",
        "reader",
        "budget",
        "field",
        "taxonomy",
        "limit",
    ),
)
@click.argument("paths", nargs=-1, required=True, type=PathOrAddress())
@asked_for(IngestAsked)
@workspace_option
@json_option
@quiet_option
def ingest_command(
    paths: tuple[Path | str, ...],
    asked: IngestAsked,
    folder: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Read documents into sources and passages.

    PATHS are files or folders: PDF, HTML, EPUB, DOCX, LaTeX, MediaWiki dumps (.xml, .xml.bz2), ZIM,
    text, Markdown, JSONL (one object with 'text' per line), each also .gz, and page images (PNG,
    JPEG, WebP, TIFF). Passages keep their exact text, offsets and page; for PDFs and images also
    the position on the page.

    An address (https://en.wikipedia.org/wiki/Copper) is a wiki page, fetched once per revision
    through the wiki's API. Only its title is sent; [egress] in proofstone.toml can forbid it.

    Options for all files (--license, --field, ...) are overridden by a file's row in --meta.
    Reading the same file again changes nothing. Another text, license, author or
    year makes a new edition, and searches use the newest. Another title or language
    makes another document.

    Files are read in separate processes with memory and time limits. Files that cannot be read are
    reported at the end.

    Pages without readable text (scans, screenshots, unreadable characters) are read by OCR in
    English and Chinese, after all files. OCR takes some seconds per page and can be resumed.
    Without the extra 'ocr', such pages are stored without text. Images next to web pages and texts
    are skipped as figures; name them, or use --ocr always.

    With --ocr-model, a vision model transcribes those pages. Their images are outbound data
    (proofstone.toml, [egress]) and cost money (--budget). Pages already transcribed are skipped.

    Exit codes: 0 all files read; 3 some files or pages not read; 2 no file read; 4 budget reached;
    5 model unavailable.

    \b
    Example:
      proofstone ingest papers/ --license CC-BY-4.0
    """
    from proofstone.documents.sources import Stated, read_stated
    from proofstone.documents.wiki_api import read_titles
    from proofstone.ingest.ingest import WikiChoice, ingest_paths
    from proofstone.ingest.pages import remember_documents
    from proofstone.ingest.taxonomy import find_taxonomy, placed_stated
    from proofstone.ingest.vision import page_scanner
    from proofstone.records.knowledge import Stratum
    from proofstone.session.session import open_session
    from proofstone.texts.languages import read_language_code

    code = read_language_code(asked.language) if asked.language else ""
    if code is None:
        raise click.BadParameter(
            f"{asked.language!r} is not a language code such as en or zh", param_hint="--language"
        )
    stated = Stated(
        title=asked.title, authors=asked.authors, year=asked.year, license=asked.license,
        language=code,
        stratum=Stratum(asked.discipline, asked.field, asked.subfield, asked.book),
    )  # fmt: skip
    stated_for = read_stated(asked.meta) if asked.meta else {}
    if asked.taxonomy is not None:
        stated, stated_for = placed_stated(find_taxonomy(asked.taxonomy), stated, stated_for)
    titles = read_titles(asked.titles) if asked.titles else ()
    choice = WikiChoice(titles, asked.namespaces, asked.limit or 0)
    if asked.ocr == "never" and asked.reader:
        raise click.UsageError("--ocr never reads no page from its image: leave --ocr-model out")
    with open_session(folder) as session:
        session.ask_egress = TerminalEgress(yes=asked.yes, quiet=quiet)
        scanner = None
        if asked.reader:
            tell_lost(session, quiet=quiet)
            scanner = page_scanner(
                session, asked.reader, budget=asked.budget, max_connections=asked.max_connections
            )
        files = _files(session, paths, asked.wiki_api, quiet=quiet)
        with watching_documents(quiet=quiet or as_json) as watch:
            report = ingest_paths(
                session.store, files, clock=session.clock, stated=stated,
                stated_for=stated_for, ocr=asked.ocr, watch=watch, choice=choice, scanner=scanner,
                located=partial(remember_documents, session),
            )  # fmt: skip
    account = scanner.account if scanner is not None else None
    if as_json:
        print_json({**structs.asdict(report), "model": account})
    else:
        print_ingested(report, account, quiet=quiet)
    if scanner is not None and scanner.stopped is not None:
        raise scanner.stopped
    if scanner is not None and scanner.is_interrupted:
        sys.exit(_INTERRUPTED)
    if report.state != "all":
        sys.exit(_INCOMPLETE if report.state == "some" else 2)


def _files(session: Session, paths: tuple[Path | str, ...], api: str, *, quiet: bool) -> list[Path]:
    """The paths, with the files of pages in place of their addresses."""
    addresses = [path for path in paths if isinstance(path, str)]
    if not addresses:
        return [path for path in paths if isinstance(path, Path)]
    from proofstone.ingest.wiki import fetch_addresses

    fetched = fetch_addresses(session, addresses, api, tell=lambda text: say(text, quiet=quiet))
    return [path if isinstance(path, Path) else fetched[path] for path in paths]


@contextmanager
def watching_documents(*, quiet: bool) -> Iterator[Watch | None]:
    """Show the progress in one line on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    last = 0.0

    def watch(
        file: str, number: int, n_files: int, pages: int, n_pages: int, *, doing: str = ""
    ) -> None:
        nonlocal last
        if not doing and monotonic() - last < _EVERY_S:
            return
        last = monotonic()
        of_pages = f"   page {pages:,} of {n_pages:,}" if n_pages else ""
        line = f"{number:,} of {n_files:,}   {visible(file)[:60]}{of_pages}"
        if doing:
            line = f"{doing}: {pages:,} of {counted(n_pages, 'page')}   {visible(file)[:60]}"
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()

    try:
        yield watch
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


# ``compare`` of two editions of a source, as the terminal shows it.

_TEXT = 300


def compare_sources(
    session: Any,
    before: str,
    after: str,
    *,
    refused: list[str],
    most: int,
    output: Path | None,
    as_json: bool,
) -> None:
    """Compare a source with its new edition and print the result. Raises BadUsage for ``refused``
    options, which do not apply to sources."""
    from proofstone.ingest.editions import compare_editions, write_editions

    if refused:
        raise BadUsage(f"{', '.join(refused)}: of results, and these are sources")
    editions = compare_editions(session, before, after)
    if output is not None:
        n = write_editions(session, editions, output)
        say(f"{output}   {n} statements, each with its decision")
    if as_json:
        print_json(editions)
        return
    _show(editions, most)
    going = editions.statements.changed + editions.statements.vanished
    if going and output is None:
        say("to write flagged items: run the same command with -o FILE")
    elif going:
        say(f"next, once you have looked at them: proofstone correct apply {pasted(str(output))}")


def _show(editions: Editions, most: int) -> None:
    print_text(f"A  {editions.old}  {editions.titles[0]}")
    print_text(f"B  {editions.new}  {editions.titles[1]}")
    print_table(
        [
            ("of A, in B", "verbatim", "changed", "vanished"),
            ("passages", *_counts(editions.passages)),
            ("statements", *_counts(editions.statements)),
        ]
    )
    print_text(f"passages of B that say what A does not: {editions.new_passages:,}")
    if editions.unplaced:
        print_text(f"statements from A without a passage, not compared: {editions.unplaced:,}")
    for name, n in editions.forms:
        print_text(f"{name}: {n:,} of its items use statements that changed or vanished")
    moved = [row for row in editions.rows if row.status != "stands"]
    for row in moved[:most]:
        print_text("")
        for line in _lines(row):
            print_text(line)
    if most and len(moved) > most:
        print_text(f"\nand {len(moved) - most:,} more (-n {len(moved)}, or --json)")


def _counts(counts: EditionCounts) -> tuple[str, str, str]:
    return f"{counts.stands:,}", f"{counts.changed:,}", f"{counts.vanished:,}"


def _lines(row: EditionRow) -> list[str]:
    page = f", page {row.page}" if row.page else ""
    now = f", page {row.page_now}" if row.page_now else ""
    lines = [f"{row.target}  {row.status}  {row.nature}{page}: {_cut(row.text)}"]
    lines.append(f"  - {_cut(row.before)}")
    if row.after:
        lines.append(f"  + {_cut(row.after)}{now}")
    return lines


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT else text[: _TEXT - 1] + "…"
