"""Command ``audit``: audit result files without a workspace."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import UNSET, structs

from proofstone.results.cli import (
    BriefOfPage,
    FiguresOfPage,
    TablesOfPage,
    column_option,
    column_options,
    files_beside,
    named_pairs,
    read_asked,
)
from proofstone.session.cli_command import command
from proofstone.session.options import (
    asked_for,
    audience_option,
    flagged_items_option,
    json_option,
    language_option,
    output_option,
    read_list,
    read_roles,
    seed_option,
    tell_flagged_items,
    workspace_option,
)
from proofstone.session.terminal import print_json, print_rendered, say, wants_color

if TYPE_CHECKING:
    from proofstone.results.audit.audit import Audit
    from proofstone.results.audit.scores import NamedRole
    from proofstone.results.drawing_process import DrawingProcess
    from proofstone.results.page_files import BesideAsked, PageWritten


# Bytes of results; with fewer, a second process takes longer to start than the page takes.
_LARGE = 200_000


@command(
    "audit",
    basic=(
        "output",
        "kind",
        "item",
        "model",
        "models",
        "score",
        "clusters",
        "flagged_items",
        "tables",
        "ui_language",
        "confidence",
    ),
)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@output_option
@flagged_items_option
@column_options
@click.option(
    "--group-col",
    "strata",
    multiple=True,
    metavar="COLUMN,...",
    help="Columns that group items (discipline).",
)
@column_option("answer", "Column of given answers.")
@column_option("answer_key", "Column of answer keys.")
@column_option("certainty", "Column of stated confidence: 0 to 1, or percent.")
@column_option("tokens", "Column of response tokens.")
@column_option("options", "Column of the number of options (gives the chance level).")
@column_option("human", "Column of human scores or labels, to validate a judge.")
@column_option("judge", "Column of the judge's scores or labels (default: the score).")
@click.option(
    "--label-col",
    "labels",
    multiple=True,
    metavar="COLUMN,...",
    help="Columns of labels, one per annotator; with --annotator-col, the one column of labels.",
)
@column_option("annotator", "Column of annotator names (one row per label; labels without scores).")
@column_option(
    "order",
    "Column of option orders (BDAC: the original second option first), or of any name for an "
    "order.",
)
@column_option("parameters", "Column of parameter counts: 7B, 350M, or a number of billions.")
@column_option("active", "Column of active parameters (mixture of experts).")
@column_option("family", "Column of model families.")
@click.option(
    "--benchmarks",
    is_flag=True,
    help="Treat each file as a separate benchmark.",
)
@column_option("overall", "Accuracy tables: column of the overall accuracy.")
@column_option("stderr", "Accuracy tables: column of standard errors.")
@column_option("count", "Accuracy tables: column of the number of items per row.")
@click.option(
    "--items",
    metavar="N or COLUMN=N,...",
    default="",
    help="Accuracy tables: number of items of all columns or of each.",
)
@click.option(
    "--runs",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Accuracy tables: number of runs averaged in each value (used to check possible shares).",
)
@click.option(
    "--role",
    "roles",
    multiple=True,
    metavar="ROLE=MODEL",
    help="Model that wrote, falsified, checked, filtered or judged the items "
    "(ROLE=MODEL@COLUMN=VALUE: some items).",
)
@click.option(
    "--level",
    default="sample",
    metavar="STRATUM",
    help="Level of the average: items, or equal-weight groups.",
)
@click.option(
    "--population",
    type=click.Choice(["domain", "bank"]),
    default="domain",
    show_default=True,
    help="Population that confidence intervals generalize to: new clusters (books, facts), or "
    "new items of these clusters.",
)
@click.option("--confidence", type=click.FloatRange(0.5, 0.999), default=0.95, show_default=True)
@language_option
@asked_for(TablesOfPage, "tables")
@asked_for(FiguresOfPage, "figures")
@asked_for(BriefOfPage, "brief")
@seed_option
@audience_option
@workspace_option
@json_option
def audit_command(
    files: tuple[Path, ...],
    output: Path | None,
    flagged_items: Path | None,
    tables: TablesOfPage,
    figures: FiguresOfPage,
    brief: BriefOfPage,
    folder: Path | None,
    as_json: bool,
    **columns: Any,
) -> None:
    """Audit results from any tool: ranks, ties, item problems.

    FILES are one set of results: CSV, TSV, JSON, JSONL (each also .gz), Parquet, Inspect logs
    (.eval, .json), lm-eval output (samples or results), a folder of these, or runs, forms or a bank
    of a workspace. Files of the same models with different items are read as several benchmarks.
    Files need no workspace, and no data leaves this machine.

    \b
    Layouts (--as):
      wide        one row per item, one column per model: 0/1, a share, or empty
      long        one row per score: item, model, score, and sample if repeated
      accuracies  one row per model, one column per group, no items

    Proofstone detects column roles and prints them. Override them with --item-col and related
    options. A missing score is never counted as incorrect. Every estimate has n and a confidence
    interval. Models whose difference is not statistically significant are tied. --audience public
    omits all texts of items and responses.

    \b
    Example:
      proofstone audit scores.csv -o audit.html
    """
    with _drawing_process(files, output) as process:
        more = {
            "items": _items(columns["items"]),
            "roles": tuple(map(_named_role, columns["roles"])),
        }
        asked = read_asked(columns, **more)
        from proofstone.results.page_files import BesideAsked

        sheet = brief.of(figures.fonts)
        wanted = BesideAsked(tables.of(output), figures.of(output), brief=sheet)
        if any(map(_is_target, files)):
            audit, written = _audit_runs(files, asked, output, wanted, folder)
        else:
            audit, written = _audit_files(files, asked, output, wanted, process)
    if flagged_items is not None:
        from proofstone.results.audit.audit import write_flagged_items

        tell_flagged_items(flagged_items, write_flagged_items(audit.flagged_items, flagged_items))
    if as_json:
        print_json(structs.replace(audit, items=UNSET))
        return
    from proofstone.results.audit.audit import page_step, render_audit

    width = shutil.get_terminal_size((100, 24)).columns
    colour = wants_color()
    steps = [page_step(output), *files_beside(written.tables, written.figures, written.brief)]
    shown = render_audit(audit, next_steps=steps, width=width, colour=colour)
    print_rendered(shown)


def _is_target(file: Path) -> bool:
    """Return True if this can only name something in a workspace: no such file, no file suffix."""
    return not file.exists() and not file.suffix


def _audit_runs(
    targets: Sequence[Path],
    asked: Any,
    output: Path | None,
    beside: BesideAsked,
    folder: Path | None,
) -> tuple[Audit, PageWritten]:
    """Return the audit of runs, forms or a bank, and its page, which is their report."""
    from proofstone.errors import BadUsage, WorkspaceUnusable
    from proofstone.files.csv import missing_file
    from proofstone.results.compare_inputs import naming_missing_files
    from proofstone.results.page_files import PageWritten
    from proofstone.results.report import audit_runs, write_report
    from proofstone.session.session import open_session

    files = [str(target) for target in targets if not _is_target(target)]
    if files:
        raise BadUsage(
            "files and runs of a workspace cannot be combined",
            hint=f"audit them apart, or export the runs' scores first: {', '.join(files)}",
        )
    names = [str(target) for target in targets]
    how = {"population": asked.population, "level": asked.level, "confidence": asked.confidence}
    how |= {"audience": asked.audience}
    try:
        opened = open_session(folder)
    except WorkspaceUnusable as cause:
        hint = "no workspace here either: name one with -w, or check the name and the folder"
        raise missing_file(names[0], hint) from cause
    with naming_missing_files(*names), opened as session:
        written = PageWritten(page=None, tables=None, figures=None, methods=())
        if output is not None or any(beside):
            written = write_report(session,
                *names, path=output, tables=beside.tables, figures=beside.figures,
                brief=beside.brief, seed=asked.seed, **how,
            )  # fmt: skip
        return audit_runs(session, *names, seed=asked.seed, **how), written


def _audit_files(
    files: Sequence[Path],
    asked: Any,
    output: Path | None,
    beside: BesideAsked,
    process: DrawingProcess | None,
) -> tuple[Audit, PageWritten]:
    """Return the audit of files and its page, whose figures ``process`` draws."""
    from proofstone.results.audit.audit import audit_files, audit_page
    from proofstone.results.page_files import write_page

    audit = audit_files(files, asked)
    command = f"proofstone {shlex.join(map(_without_folder, sys.argv[1:]))}"
    page = audit_page(audit, now=time.time(), command=command)
    written = write_page(page, output, beside, process.begin if process else None)
    if process is not None and process.has_crashed:
        say("the figure process crashed; the page has its tables but no figures")
    return audit, written


def _drawing_process(
    files: Sequence[Path], output: Path | None
) -> contextlib.AbstractContextManager[DrawingProcess | None]:
    """Return a process for the page's figures, if the audit takes longer than its start."""
    from proofstone.results.drawing_process import DrawingProcess

    size = sum(file.stat().st_size for file in files if file.is_file())
    return contextlib.nullcontext() if output is None or size < _LARGE else DrawingProcess()


def _without_folder(word: str) -> str:
    """Return a word of the command without local folders, because pages are shared.

    Folders after the ``=`` of an option are removed as well.
    """
    option, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
    path = Path(value)
    is_place = path.is_absolute() or value.startswith(("~", ".")) or (value and path.exists())
    return f"{option}{equals}{path.name if is_place else value}"


def _named_role(text: str) -> NamedRole:
    """Parse ``wrote=MODEL``, or for some items ``filtered=MODEL@COLUMN=VALUE``."""
    from proofstone.results.audit.scores import NamedRole

    pair, at, condition = text.rpartition("@")
    column, equals, value = condition.partition("=")
    if not (at and equals and "=" in pair):
        pair, column, value = text, "", ""
    (role,) = read_roles([pair])
    return NamedRole(role.role, role.model, column.strip(), value.strip())


def _items(text: str) -> dict[str, int]:
    """Parse ``500`` (all columns) or ``Law=65,Medicine=81``."""
    if text.strip().isdecimal():
        return {"": int(text)}
    return {name: _whole(n) for name, n in named_pairs(read_list([text]), "--items")}


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise click.BadParameter(f"{text!r}: expected a number of items", param_hint="--items")
    return int(text)
