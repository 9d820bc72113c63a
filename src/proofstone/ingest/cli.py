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
    """Writes a PNG and says so. Raises BadUsage for another suffix, StoreFailed where it cannot be
    written."""
    if file.suffix.lower() != ".png":
        raise BadUsage(f"{file.name}: pages are drawn as PNG", hint=f"-o {file.stem}.png")
    try:
        file.write_bytes(png)
    except OSError as cause:
        raise StoreFailed(f"{file} was not written: {cause.strerror or cause}.") from cause
    if as_json:
        print_json({"file": str(file), "bytes": len(png)})
    else:
        click.echo(f"{file}   {len(png):,} bytes")


# What ``ingest`` says: documents taken, pages to be looked at, files not read, and the cost.

_SHOWN = 20


_NAMED = 4


_FOR_OCR = ("image only", "garbled")


def print_ingested(
    report: IngestReport, account: PagesAsked | None = None, *, quiet: bool = False
) -> None:
    """Sources on stdout, the rest on stderr, with what a model took that read pages."""
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
        for line in _next_lines(report.taken):
            say(line)


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
    yield f"Next: proofstone show {names[0]}"
    if any(entry.n_passages for entry in taken):
        inputs = " ".join(names[:_NAMED]) + (" ..." if len(names) > _NAMED else "")
        yield f"Next: proofstone build statements {inputs} -m PROVIDER/NAME --judge PROVIDER/NAME"
        yield "or have it tried on a few passages first: proofstone init --guided FOLDER"


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
        """The address as it stands, or the path."""
        if isinstance(value, str) and value.startswith(("https://", "http://")):
            return value
        there = click.Path(exists=True).convert(str(value), param, ctx)
        return Path(str(there))


class IngestAsked(Struct, frozen=True, kw_only=True):
    """How documents are read, and what is stated of all of them."""

    meta: Annotated[Path | None, Opt(
        "A table with a row a file: file, title, authors, year, licence, language, discipline, "
        "field, subfield, book.", metavar="FILE", is_folder=True,
    )] = None  # fmt: skip
    title: Annotated[str, Opt("The title; else the document's own.")] = ""
    authors: Annotated[tuple[str, ...], Opt(
        "An author; may be repeated.", flags=("--author",),
    )] = ()  # fmt: skip
    year: Annotated[int | None, Opt("The year; else that of the file.", least=1, most=9999)] = None
    license: Annotated[str, Opt(
        "License, such as CC-BY-4.0. Only a document whose license permits publication counts as "
        "public.", metavar="NAME",
    )] = ""  # fmt: skip
    language: Annotated[str, Opt("en, zh, ...; else it is guessed.", metavar="CODE")] = ""
    ocr: Annotated[Literal["auto", "never", "always"], Opt(
        "Read pages from their images: those without text that can be read, none, or all of PDF "
        "and image files.", shows_default=True,
    )] = "auto"  # fmt: skip
    reader: Annotated[str, Opt(
        "Let this vision model read those images, in place of OCR on this machine.",
        flags=("--ocr-model",), metavar="MODEL",
    )] = ""  # fmt: skip
    budget: Annotated[str | None, Opt(BUDGET_HELP, metavar="AMOUNT")] = None
    max_connections: Annotated[int | None, Opt("Requests to the model at once.", least=1)] = None
    yes: Annotated[bool, Opt(
        "Answer yes to every question, also to what may be sent where.",
    )] = False  # fmt: skip
    discipline: Annotated[str, Opt("The coarsest level of the taxonomy.")] = ""
    field: Annotated[str, Opt("The second level.")] = ""
    subfield: Annotated[str, Opt("The third level.")] = ""
    book: Annotated[str, Opt("The finest level.")] = ""
    taxonomy: Annotated[str | None, Opt(
        "Take only places that this taxonomy has: see 'list taxonomy', or name a CSV or TOML file.",
        metavar="NAME|FILE",
    )] = None  # fmt: skip
    titles: Annotated[Path | None, Opt(
        "Of a wiki's dump only these pages, a title a line.", metavar="FILE", exists=True,
        is_folder=True,
    )] = None  # fmt: skip
    namespaces: Annotated[tuple[int, ...], Opt(
        "Of a wiki's dump the pages in this namespace, by its number; may be repeated. Else 0, the "
        "articles.", flags=("--namespace",),
    )] = ()  # fmt: skip
    limit: Annotated[int | None, Opt("Of a wiki's dump no more pages.", least=1)] = None
    wiki_api: Annotated[str, Opt(
        "Where the API of the addresses is; else /w/api.php.", metavar="URL",
    )] = ""  # fmt: skip


@click.command("ingest")
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

    PATHS are files, or folders of which all documents are read: PDF, HTML, EPUB, DOCX, LaTeX,
    dumps of MediaWiki (.xml, .xml.bz2) and ZIM, text, Markdown and JSONL (one object with 'text' a
    line), also packed (.gz), and images of pages (PNG, JPEG, WebP, TIFF with all its pages). Every
    passage stands verbatim at its offsets in the text of its page; of a PDF or an image it is known
    where on the page.

    An address (https://en.wikipedia.org/wiki/Copper) is a page of a wiki, which is fetched through
    the wiki's API, once a revision. Nothing but its title is sent; [egress] in proofstone.toml can
    forbid it.

    What is stated for all files (--license, --field, ...) yields to a file's own row in --meta.
    The same file again changes nothing; a new edition becomes a source beside the old one.

    Files are read in processes of their own, with limits of memory and time. A file that cannot be
    read keeps no other from being read, and is reported at the end.

    A page without text (a scan, a screenshot, or characters that are no words) is read by OCR,
    English and Chinese, after all files; that takes some seconds a page, is stored page by page,
    and goes on where it was stopped. Without what does it ([ocr]) such pages are kept as unread.
    Images beside web pages and texts are taken for their figures; name them, or --ocr always.

    With --ocr-model a vision model reads those pages: their images leave this machine as texts do
    (proofstone.toml, [egress]) and cost money (--budget). It writes down what it sees; a page that
    it refuses, or of which it writes no end, stays as it was and is named. What it read is not
    asked for again.

    Exit code 0 where all files were read, 3 where some files or pages were not, 2 where no file
    was; 4 where the budget was reached, 5 where the model could not be asked.
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
            f"{asked.language!r} is no code such as en or zh", param_hint="--language"
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
    """One line that says how far it is, on a terminal."""
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
    """Holds a source against its new edition and prints what came of it; ``refused`` are options
    that were given and mean nothing here."""
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
        say("for a work list of them: the same command with -o FILE")
    elif going:
        say(f"next, once you have looked at them: proofstone correct apply {pasted(str(output))}")


def _show(editions: Editions, most: int) -> None:
    click.echo(f"A  {editions.old}  {editions.titles[0]}")
    click.echo(f"B  {editions.new}  {editions.titles[1]}")
    print_table(
        [
            ("of A, in B", "stand verbatim", "changed", "vanished"),
            ("passages", *_counts(editions.passages)),
            ("statements", *_counts(editions.statements)),
        ]
    )
    click.echo(f"passages of B that say what A does not: {editions.new_passages:,}")
    if editions.unplaced:
        click.echo(
            f"statements that rest on A without a passage, of which nothing can be told: "
            f"{editions.unplaced:,}"
        )
    for name, n in editions.forms:
        click.echo(f"{name}: {n:,} of its items rest on statements that changed or vanished")
    moved = [row for row in editions.rows if row.status != "stands"]
    for row in moved[:most]:
        click.echo("")
        for line in _lines(row):
            click.echo(line)
    if most and len(moved) > most:
        click.echo(f"\nand {len(moved) - most:,} more (-n {len(moved)}, or --json)")


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
