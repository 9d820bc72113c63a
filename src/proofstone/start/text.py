"""Print a guided start: questions next to their pages, cost, and next steps."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from proofstone.ingest.cli import audience_lines
from proofstone.ingest.ingest import Ingested, IngestReport
from proofstone.method import find_method, method_names
from proofstone.page.html import QuestionBeside
from proofstone.page.section import shown_estimate
from proofstone.page.text import aligned, printable
from proofstone.results.board_text import SIMULATED_BANNER
from proofstone.run.forecast import budget_lines, price_notes, shown_range
from proofstone.start.guide import SideBySide, StartReport
from proofstone.wording.messages import counted

_WIDTH = 80


_SHOWN = 8


_EXCERPT = 200


_MINUTES = 1  # that a statement is taken to need; said beside what rests on it


def read_lines(report: IngestReport, languages: dict[str, int]) -> Iterator[str]:
    """What was read of the folder, and each file that was not."""
    pages = sum(entry.n_pages for entry in report.taken)
    passages = sum(entry.n_passages for entry in report.taken)
    in_languages = ", ".join(f"{code} {n:,}" for code, n in languages.items())
    yield (
        f"read     {counted(len(report.taken), 'document')}, {counted(pages, 'page')}, "
        f"{counted(passages, 'passage')}" + (f" ({in_languages})" if languages else "")
    )
    if report.copies:
        yield from _wrapped(
            "copies", f"the same document as another, counted once: {', '.join(report.copies)}"
        )
    kept = [entry for entry in report.taken if entry.stated_before]
    if kept:
        yield from _wrapped("kept", _kept(kept))
    for name, told in audience_lines(report.taken):
        yield from _wrapped(name, told)
    unread = sum(len(pages) for entry in report.taken for pages in entry.unread.values())
    if unread:
        install = f": {report.needs}" if report.needs else ""
        yield (
            f"unread   {counted(unread, 'page')} without text that can be read: scans need OCR"
            f"{install}"
        )
    for file in report.not_read[:_SHOWN]:
        told = " ".join(filter(None, (f"{file.file}: {file.why}", file.hint)))
        yield from _wrapped("not read", told)
    if len(report.not_read) > _SHOWN:
        yield f"         and {len(report.not_read) - _SHOWN:,} more; see: proofstone ingest FOLDER"
    if report.others:
        others = ", ".join(f"{n} {suffix}" for suffix, n in report.others.items())
        yield from _wrapped("left out", f"no documents: {others}")
        for line in report.advice:
            yield from _wrapped("", line)


def _kept(entries: Sequence[Ingested]) -> str:
    """Return a line on documents that were already imported and keep their source and license."""
    licenses = sorted({entry.license for entry in entries if entry.license})
    under = f" (license: {', '.join(licenses)})" if licenses else ""
    stay = (
        "was here, and stays its source"
        if len(entries) == 1
        else ("were here, and stay the sources that they are")
    )
    of = "it" if len(entries) == 1 else "them"
    return f"{counted(len(entries), 'document')} {stay}, with what was stated of {of}{under}"


def method_lines() -> Iterator[str]:
    """A sentence on each method that builds from documents, as it says itself."""
    yield "Methods that are installed and build from documents:"
    for name in method_names():
        method = find_method(name)
        for builder in method.pipelines.values():
            if builder.rows is None:
                yield from textwrap.wrap(
                    f"  {method.title}: {builder.help}", _WIDTH, subsequent_indent="    "
                )


def report_lines(report: StartReport) -> Iterator[str]:
    """The whole report."""
    yield ""
    kind = "single statements" if report.single_statements else "questions"
    yield (
        f"{counted(len(report.questions), 'question')} ({kind}) of {report.form}, "
        f"from {counted(report.n_statements, 'statement')}"
    )
    yield from _wrapped("of", ", ".join(report.documents))
    for number, question in enumerate(report.questions, start=1):
        yield ""
        yield from _question(number, question)
    yield from _side_by_side(report)
    yield ""
    yield from _building(report)
    yield from _asking(report)
    yield from _people(report)
    yield ""
    yield f"page     {report.page}"
    yield f"run file {report.run_file}"
    for name, command in report.next_steps:
        yield f"{name:<9}{command}"


def _question(number: int, question: QuestionBeside) -> Iterator[str]:
    yield f"--- {number}"
    for line in question.text.splitlines():
        yield from textwrap.wrap(printable(line), _WIDTH) or [""]
    for there in question.rests_on:
        place = f"{there.title}, page {there.page}" if there.page else there.title
        text = printable(" ".join(there.text.split()))
        cut = text if len(text) <= _EXCERPT else text[: _EXCERPT - 1] + "\u2026"
        yield from textwrap.wrap(
            f"  | {printable(place)}: {cut}", _WIDTH, subsequent_indent="  |   "
        )


def _side_by_side(report: StartReport) -> Iterator[str]:
    rows = report.side_by_side
    for simulated in (False, True):
        own = [_side_row(row) for row in rows if row.simulated is simulated]
        if own:
            yield ""
            yield from [SIMULATED_BANNER] if simulated else []
            head = ["model", "n", "memory", "reading", "reading - memory"]
            yield from aligned([head, *own], left=[0])
    if not rows:
        return
    n = max(row.gain.n for row in rows if row.gain is not None)
    yield from textwrap.wrap(
        "memory: asked with nothing, so it shows what a model knows. reading: asked with the "
        "passages, so it shows how well it reads. Neither stands for the other."
        + (" Of private documents memory should be near chance." if report.private
           else ""),
        _WIDTH,
    )  # fmt: skip
    yield f"Of {counted(n, 'question')} these are first impressions; see the intervals."


def _side_row(row: SideBySide) -> list[str]:
    cells = [
        "" if each is None else shown_estimate(each) for each in (row.memory, row.reading, row.gain)
    ]
    return [printable(row.model), "" if row.gain is None else f"{row.gain.n}", *cells]


def _building(report: StartReport) -> Iterator[str]:
    """What the statements of all documents take, and how that is known."""
    build = report.build
    yield f"Statements of all {report.n_passages:,} passages take, in addition to the pilot:"
    amounts = build.total
    yield f"  calls       {shown_range(amounts.requests, 'amount')}"
    yield f"  tokens      {shown_range(amounts.tokens, 'amount')}"
    yield f"  USD         {shown_range(amounts.cost_usd, 'usd')}"
    yield f"  time        {shown_range(amounts.seconds, 'time')}"
    yield f"  statements  {shown_range(build.rows, 'amount')} (true and false)"
    yield from (f"  {line}" for line in budget_lines(build.reach, "do"))
    yield from (f"  {line}" for line in price_notes(build.unpriced))
    yield from textwrap.wrap(
        f"{build.confidence:.0%} prediction intervals from {build.sampled:,} passages of "
        f"{counted(len(report.documents), 'document')}. Documents differ more than passages of "
        "one document, so take them as a guide. What the pilot made is kept.",
        _WIDTH,
    )


def _asking(report: StartReport) -> Iterator[str]:
    if not report.asked:
        return
    contexts = " and ".join(report.contexts)
    yield ""
    yield f"Asking {report.answers.questions:,} questions (context {contexts}) takes:"
    rows = [["", "questions", "tokens", "USD", "time, one at a time"]]
    rows += [
        [
            printable(each.model),
            f"{each.questions:,}",
            shown_range(each.tokens, "amount"),
            shown_range(each.cost_usd, "usd"),
            shown_range(each.seconds, "time"),
        ]
        for each in report.asked
    ]
    yield from aligned(rows, left=[0])


def _people(report: StartReport) -> Iterator[str]:
    people, rows = report.answers.people or 0, report.build.rows
    if not people or rows is None or rows.likely is None:
        return
    yield ""
    n = max(1, round(rows.likely))
    each = -(-n // people)
    yield from _wrapped(
        "people",
        f"{people:,} people who share about {n:,} statements look at {each:,} each: "
        f"{each * _MINUTES / 60:.1f} hours, if one takes a minute",
    )


def _wrapped(label: str, text: str) -> list[str]:
    return textwrap.wrap(
        printable(text), _WIDTH, initial_indent=f"{label:<9}", subsequent_indent=" " * 9
    )
