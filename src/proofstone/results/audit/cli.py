"""``audit``: anybody's results, from files, without a workspace."""

from __future__ import annotations

import contextlib
import os
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
from proofstone.session.terminal import print_json, say

if TYPE_CHECKING:
    from proofstone.results.audit.audit import Audit
    from proofstone.results.audit.scores import HandNamed
    from proofstone.results.drawing_process import DrawingProcess
    from proofstone.results.page_files import BesideAsked, PageWritten


# Bytes of results; of fewer the page is there before another process could draw.
_LARGE = 200_000


@click.command("audit")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@output_option
@flagged_items_option
@column_options
@click.option(
    "--stratum",
    "strata",
    multiple=True,
    metavar="COLUMN,...",
    help="What groups the items (discipline).",
)
@column_option("answer", "What was answered.")
@column_option("answer_key", "The right answer.")
@column_option("certainty", "The confidence stated with an answer: 0 to 1, or percent.")
@column_option("tokens", "How many tokens the reply had.")
@column_option("options", "How many options an item has: gives the chance level.")
@column_option(
    "human", "What people gave the same record, where they saw it: the check of a judge."
)
@column_option("judge", "What the judge gave it; else the score.")
@click.option(
    "--labels",
    multiple=True,
    metavar="COLUMN,...",
    help="Several annotators' labels of the same record, a column each; or with --annotator the "
    "one column of labels.",
)
@column_option("annotator", "Who gave a label, where each has its row: labels alone, no scores.")
@column_option(
    "order",
    "The order in which an answer's options were shown (BDAC: the second of the original first); "
    "else any name of it.",
)
@column_option("parameters", "How many parameters a model has: 7B, 350M, or a number of billions.")
@column_option("active", "How many of them one token uses, of a mixture of experts.")
@column_option("family", "The family of models of different sizes that a model belongs to.")
@click.option(
    "--benchmarks",
    is_flag=True,
    help="Each file is a benchmark: items of one name in two files are different items.",
)
@column_option("overall", "Of accuracies alone: the overall accuracy.")
@column_option("stderr", "Of accuracies alone: the standard error of the score.")
@column_option("count", "Of accuracies alone: the number of items behind each row.")
@click.option(
    "--items",
    metavar="N or COLUMN=N,...",
    default="",
    help="Of accuracies alone: the number of items, of all columns or of each.",
)
@click.option(
    "--runs",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Of accuracies alone: the number of runs that each value is the mean of. It is used to "
    "check possible shares and does not multiply the items.",
)
@click.option(
    "--role",
    "roles",
    multiple=True,
    metavar="ROLE=MODEL",
    help="A model that wrote, falsified, checked, filtered or judged the items; of some of them: "
    "ROLE=MODEL@COLUMN=VALUE.",
)
@click.option("--level", default="sample", metavar="STRATUM", help="Average over groups instead.")
@click.option(
    "--population",
    type=click.Choice(["domain", "bank"]),
    default="domain",
    show_default=True,
    help="What intervals speak of: other clusters (books, facts) too, or these with other items.",
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

    FILES are one set of results: CSV, TSV, JSON, JSONL (each also .gz) or Parquet; Inspect logs
    (.eval, .json); what lm-eval writes, samples or results; a folder of these, each file of which
    is read or named with the reason; or runs, forms or a bank of a workspace. Files of the same
    models on different items are benchmarks. Files need no workspace. Nothing leaves this machine.

    \b
      wide        one row an item, one column a model: 0/1, a share, or empty
      long        one row a score: item, model, score, and sample if asked several times
      accuracies  one row a model, one column a stratum, no items: for what needs none

    What each column means is guessed from its name and values, told, and can be named. A missing
    score is missing, never wrong. Every number has n and an interval; what the data cannot tell
    apart is shown as a tie. With --audience public no text of items or replies stands in anything
    that this writes or prints; a file's items are numbered then.
    """
    with _drawing_process(files, output) as process:
        more = {"items": _items(columns["items"]), "roles": tuple(map(_hand, columns["roles"]))}
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
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    steps = [page_step(output), *files_beside(written.tables, written.figures, written.brief)]
    shown = render_audit(audit, next_steps=steps, width=width, colour=colour)
    click.echo(shown, nl=False)


def _is_target(file: Path) -> bool:
    """Whether this names something in a workspace: there is no such file, and no file's ending."""
    return not file.exists() and not file.suffix


def _audit_runs(
    targets: Sequence[Path],
    asked: Any,
    output: Path | None,
    beside: BesideAsked,
    folder: Path | None,
) -> tuple[Audit, PageWritten]:
    """The audit of runs, forms or a bank of a workspace, and its page, which is their report."""
    from proofstone.errors import BadUsage, NotFound, WorkspaceUnusable
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
        raise NotFound(
            f"There is no file {names[0]}, and no workspace here in which to look for it.",
            hint="Check the name and the folder, or name a workspace with -w.",
        ) from cause
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
    """The audit of files, and its page, which ``process`` draws."""
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
    """A process for the page's figures, where the audit takes longer than it to start."""
    from proofstone.results.drawing_process import DrawingProcess

    size = sum(file.stat().st_size for file in files if file.is_file())
    return contextlib.nullcontext() if output is None or size < _LARGE else DrawingProcess()


def _without_folder(word: str) -> str:
    """A word of the command without the folders of this machine, for a page that is handed on;
    after an option's ``=`` too."""
    option, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
    path = Path(value)
    is_place = path.is_absolute() or value.startswith(("~", ".")) or (value and path.exists())
    return f"{option}{equals}{path.name if is_place else value}"


def _hand(text: str) -> HandNamed:
    """``wrote=MODEL``, or of some items ``filtered=MODEL@COLUMN=VALUE``."""
    from proofstone.results.audit.scores import HandNamed

    pair, at, condition = text.rpartition("@")
    column, equals, value = condition.partition("=")
    if not (at and equals and "=" in pair):
        pair, column, value = text, "", ""
    (role,) = read_roles([pair])
    return HandNamed(role.role, role.model, column.strip(), value.strip())


def _items(text: str) -> dict[str, int]:
    """``500``, or ``Law=65,Medicine=81``; one number is that of all columns."""
    if text.strip().isdecimal():
        return {"": int(text)}
    return {name: _whole(n) for name, n in named_pairs(read_list([text]), "--items")}


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise click.BadParameter(f"{text!r}: expected a number of items", param_hint="--items")
    return int(text)
