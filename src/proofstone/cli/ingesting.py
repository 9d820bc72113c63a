"""``ingest``: documents into sources, pages and passages."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import click

from proofstone.cli.options import json_option, quiet_option, workspace_option
from proofstone.cli.output import pasted, print_json, print_text, say, visible
from proofstone.identity import short

if TYPE_CHECKING:
    from proofstone.engines.ingest import Stated
    from proofstone.stages.ingest import Ingested, IngestReport, NotRead, OcrUse, Watch
    from proofstone.wiring import Workspace

__all__ = ["ingest_command", "watching_documents"]

_INCOMPLETE = 3
_SHOWN = 20
_EVERY_S = 0.2
_FOR_OCR = ("image only", "garbled")


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


@click.command("ingest")
@click.argument("paths", nargs=-1, required=True, type=PathOrAddress())
@click.option("--meta", type=click.Path(path_type=Path), metavar="FILE", help="A table with a row "
              "a file: file, title, authors, year, licence, language, discipline, field, subfield, "
              "book.")  # fmt: skip
@click.option("--title", default="", help="The title; else the document's own.")
@click.option("--author", "authors", multiple=True, help="An author; may be repeated.")
@click.option("--year", type=click.IntRange(1, 9999), help="The year; else that of the file.")
@click.option("--licence", default="", metavar="NAME", help="Such as CC-BY-4.0. A source without "
              "one cannot enter a public release.")  # fmt: skip
@click.option("--language", default="", metavar="CODE", help="en, zh, ...; else it is guessed.")
@click.option(
    "--ocr",
    type=click.Choice(["auto", "never", "always"]),
    default="auto",
    show_default=True,
    help="Read pages from their images: those without text that can be "
    "read, none, or all of PDF and image files.",
)
@click.option("--discipline", default="", help="The coarsest level of the taxonomy.")
@click.option("--field", default="", help="The second level.")
@click.option("--subfield", default="", help="The third level.")
@click.option("--book", default="", help="The finest level.")
@click.option("--taxonomy", metavar="NAME|FILE", help="Take only places that this taxonomy has: "
              "see 'list taxonomy', or name a CSV or TOML file.")  # fmt: skip
@click.option(
    "--titles",
    "titles_file",
    type=click.Path(path_type=Path, exists=True),
    metavar="FILE",
    help="Of a wiki's dump only these pages, a title a line.",
)
@click.option(
    "--namespace",
    "namespaces",
    multiple=True,
    type=int,
    help="Of a wiki's dump the "
    "pages in this namespace, by its number; may be repeated. Else 0, the articles.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Of a wiki's dump no more pages.")
@click.option(
    "--wiki-api",
    default="",
    metavar="URL",
    help="Where the API of the addresses is; else /w/api.php.",
)
@workspace_option
@json_option
@quiet_option
def ingest_command(
    paths: tuple[Path | str, ...],
    meta: Path | None,
    title: str,
    authors: tuple[str, ...],
    year: int | None,
    licence: str,
    language: str,
    ocr: OcrUse,
    discipline: str,
    field: str,
    subfield: str,
    book: str,
    taxonomy: str | None,
    titles_file: Path | None,
    namespaces: tuple[int, ...],
    limit: int | None,
    wiki_api: str,
    folder: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Read documents into sources, pages and passages.

    PATHS are files, or folders of which all documents are read: PDF, HTML, EPUB, DOCX, LaTeX,
    dumps of MediaWiki (.xml, .xml.bz2) and ZIM, text, Markdown and JSONL (one object with 'text' a
    line), also packed (.gz), and images of pages (PNG, JPEG, WebP, TIFF with all its pages). Every
    passage stands verbatim at its offsets in the text of its page; of a PDF or an image it is known
    where on the page.

    An address (https://en.wikipedia.org/wiki/Copper) is a page of a wiki, which is fetched through
    the wiki's API, once a revision. Nothing but its title is sent; [egress] in proofstone.toml can
    forbid it.

    What is stated for all files (--licence, --field, ...) yields to a file's own row in --meta.
    The same file again changes nothing; a new edition becomes a source beside the old one.

    Files are read in processes of their own, with limits of memory and time. A file that cannot be
    read keeps no other from being read, and is reported at the end.

    A page without text (a scan, a screenshot, or characters that are no words) is read by OCR,
    English and Chinese, after all files; that takes some seconds a page, is stored page by page,
    and goes on where it was stopped. Without what does it ([ocr]) such pages are kept as unread.
    Images beside web pages and texts are taken for their figures; name them, or --ocr always.

    Exit code 0 where all files were read, 3 where some were not, 2 where none was.
    """
    from proofstone.engines.ingest import Stated, read_language_code, read_stated  # noqa: PLC0415
    from proofstone.records import Stratum  # noqa: PLC0415
    from proofstone.stages.ingest import WikiChoice, ingest_paths  # noqa: PLC0415
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    code = read_language_code(language) if language else ""
    if code is None:
        raise click.BadParameter(
            f"{language!r} is no code such as en or zh", param_hint="--language"
        )
    stated = Stated(
        title=title, authors=authors, year=year, licence=licence, language=code,
        stratum=Stratum(discipline, field, subfield, book),
    )  # fmt: skip
    stated_for = read_stated(meta) if meta else {}
    if taxonomy is not None:
        stated, stated_for = _placed(taxonomy, stated, stated_for)
    choice = WikiChoice(_titles(titles_file), namespaces, limit or 0)
    with open_workspace(folder) as workspace, watching_documents(quiet=quiet or as_json) as watch:
        files = _files(workspace, paths, wiki_api, quiet=quiet)
        report = ingest_paths(
            workspace.store, files, clock=workspace.clock, stated=stated,
            stated_for=stated_for, ocr=ocr, watch=watch, choice=choice,
            located=workspace.note_documents,
        )  # fmt: skip
    if as_json:
        print_json(report)
    else:
        _print(report, quiet=quiet)
    if report.state != "all":
        sys.exit(_INCOMPLETE if report.state == "some" else 2)


def _placed(
    name: str, of_all: Stated, by_file: Mapping[str, Stated]
) -> tuple[Stated, dict[str, Stated]]:
    """What is stated, its places as the taxonomy has them."""
    from proofstone.engines.ingest.taxonomy import find_taxonomy  # noqa: PLC0415
    from proofstone.stages.taxonomies import placed_stated  # noqa: PLC0415

    return placed_stated(find_taxonomy(name), of_all, by_file)


def _titles(file: Path | None) -> tuple[str, ...]:
    """The titles that a file lists, a line each."""
    if file is None:
        return ()
    from proofstone.engines.ingest import read_titles  # noqa: PLC0415

    return read_titles(file)


def _files(
    workspace: Workspace, paths: tuple[Path | str, ...], api: str, *, quiet: bool
) -> list[Path]:
    """The paths, with the files of pages in place of their addresses."""
    addresses = [path for path in paths if isinstance(path, str)]
    if not addresses:
        return [path for path in paths if isinstance(path, Path)]
    from proofstone.wiring.wiki_pages import fetch_addresses  # noqa: PLC0415

    fetched = fetch_addresses(workspace, addresses, api, tell=lambda text: say(text, quiet=quiet))
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
            line = f"{doing}: {pages:,} of {_counted(n_pages, 'page')}   {visible(file)[:60]}"
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()

    try:
        yield watch
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def _print(report: IngestReport, *, quiet: bool) -> None:
    for entry in report.taken:
        print_text(_taken_line(entry))
    for line in _page_lines(report):
        say(line, quiet=quiet)
    if report.others:
        kinds = ", ".join(f"{n} {suffix}" for suffix, n in report.others.items())
        say(f"no documents, left out: {kinds}", quiet=quiet)
    if report.unused:
        names = ", ".join(report.unused[:_SHOWN])
        say(f"rows of --meta that name no file: {names}", quiet=quiet)
    if report.taken and not all(entry.licence for entry in report.taken):
        n = sum(not entry.licence for entry in report.taken)
        say(f"{n} without a licence: not for a public release (--licence, or --meta)", quiet=quiet)
    _print_not_read(report.not_read)
    if report.taken and not quiet:
        say(f"next: proofstone show {pasted('source:' + short(report.taken[0].id))}")


def _page_lines(report: IngestReport) -> Iterator[str]:
    """What is to be said of pages: those that are for OCR still, and those to be looked at."""
    from proofstone.stages.origins_shown import page_ranges  # noqa: PLC0415

    for entry in report.taken:
        unread = sorted(n for why in _FOR_OCR for n in entry.unread.get(why, ()))
        if unread:
            pages = f"{_counted(len(unread), 'page')} without text that can be read"
            yield f"{entry.file}: {pages}, kept as unread: {page_ranges(unread)}"
        if entry.doubtful:
            pages = _counted(len(entry.doubtful), "page")
            where = page_ranges(entry.doubtful)
            yield f"{entry.file}: {pages} read with little confidence: {where}"
    if report.needs:
        yield f"to read pages from their images: {report.needs}, then the same command again"


def _counted(n: int, thing: str) -> str:
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"


def _taken_line(entry: Ingested) -> str:
    by_ocr = f" ({entry.n_scanned:,} by OCR)" if entry.n_scanned else ""
    pages = f"{_counted(entry.n_pages, 'page')}{by_ocr}, " if entry.n_pages else ""
    unread = "".join(
        f", {len(numbers)} unread ({reason})" for reason, numbers in entry.unread.items()
    )
    known = "" if entry.is_new else "   was here"
    counts = f"{pages}{_counted(entry.n_passages, 'passage')}{unread}"
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
