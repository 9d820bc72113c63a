"""What ``ingest`` says: documents taken, pages to be looked at, files not read, and the cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from proofstone.cli.output import print_text, say
from proofstone.cli.spending import spent_text
from proofstone.identity import short
from proofstone.report.columns import printable

if TYPE_CHECKING:
    from proofstone.stages.ingest import Ingested, IngestReport, NotRead
    from proofstone.stages.page_reading import PagesAsked

__all__ = ["audience_lines", "counted", "print_ingested"]

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
        say(_account_line(account), quiet=quiet)
    if report.taken and not quiet:
        for line in _next_lines(report.taken):
            say(line)


def audience_lines(taken: Sequence[Ingested]) -> Iterator[tuple[str, str]]:
    """How many documents count as public and as private, by which licenses, and what changes
    that."""
    changes = {
        "public": "; --licence private changes that",
        "private": ": a license that permits publication is not known of them; --licence NAME "
        "(such as CC-BY-4.0, or public) or --meta changes that",
    }
    for name, change in changes.items():
        own = [entry.licence for entry in taken if entry.is_public is (name == "public")]
        said = ", ".join(
            f"license {printable(licence)!r} {n:,}" if licence else f"no license {n:,}"
            for licence, n in sorted(Counter(own).items())
        )
        if own:
            yield name, f"{counted(len(own), 'document')} ({said}){change}"


def _next_lines(taken: Sequence[Ingested]) -> Iterator[str]:
    """How to look at what was read, and how statements come of it."""
    names = [f"source:{short(entry.id)}" for entry in taken]
    yield f"look: proofstone show {names[0]}"
    if any(entry.n_passages for entry in taken):
        inputs = " ".join(names[:_NAMED]) + (" ..." if len(names) > _NAMED else "")
        yield f"next: proofstone build statements {inputs} -m PROVIDER/NAME --judge PROVIDER/NAME"
        yield "or have it tried on a few passages first: proofstone start FOLDER"


def _page_lines(report: IngestReport) -> Iterator[str]:
    """What is to be said of pages: those that are for OCR still, and those to be looked at."""
    from proofstone.stages.origins_shown import page_ranges  # noqa: PLC0415

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


def counted(n: int, thing: str) -> str:
    """``1 page``, ``2 pages``."""
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"


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


def _account_line(account: PagesAsked) -> str:
    cached = f", {account.cached:,} of them asked before" if account.cached else ""
    return f"{account.model}: {counted(account.pages, 'page')}{cached}, {spent_text(account.spent)}"
