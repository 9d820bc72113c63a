"""Commands ``leaderboard``, ``report``, ``compare`` and ``build plan``.

Also the options shared with ``audit``: reading result files and writing files next to a page.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import click
from msgspec import Struct, structs

from proofstone.errors import BadUsage
from proofstone.ingest.cli import compare_sources
from proofstone.method import every_method
from proofstone.records.ids import short
from proofstone.records.options import Opt
from proofstone.records.runs import PlanAsked
from proofstone.results.request import (
    ERRORS,
    Ask,
    BoardAsked,
    CompareAsked,
    ErrorsAsked,
    GateAsked,
    View,
)
from proofstone.session.cli_command import command
from proofstone.session.options import (
    Command,
    asked_for,
    audience_option,
    encoding_option,
    flagged_items_option,
    json_option,
    language_option,
    options_of,
    output_option,
    read_list,
    tell_flagged_items,
    was_given,
    with_options,
    workspace_option,
)
from proofstone.session.terminal import (
    TerminalEgress,
    pasted,
    print_json,
    print_rendered,
    print_text,
    say,
    say_next,
    visible,
    wants_color,
)

if TYPE_CHECKING:
    from proofstone.page.figure import FigureFile
    from proofstone.results.audit.audit import Asked
    from proofstone.results.audit.result_files import FileKind
    from proofstone.results.brief import BriefAsked
    from proofstone.results.page_files import (
        FiguresAsked,
        FiguresWritten,
        TableKind,
        TablesAsked,
        TablesWritten,
    )
    from proofstone.session.session import Session


# Options for the columns of result files.

_LISTS = ("models", "strata", "clusters", "labels")


def column_option(role: str, text: str) -> Callable[[Command], Command]:
    """Return an option that names the column of a role, for all files or one kind of file."""
    return click.option(
        f"--{role.replace('_', '-')}-col", role, multiple=True, metavar="COLUMN", help=text
    )


def column_options(command: Command) -> Command:
    """Add the options for reading result files; ``read_asked`` takes their values."""
    return with_options(
        click.option(
            "--as",
            "kind",
            type=click.Choice(["wide", "long", "accuracies", "labels"]),
            help="Layout of the table: one row per item, per score or per model, or annotator "
            "labels without scores (default: detected).",
        ),
        column_option(
            "item",
            "Column of item names. Prefix it for one kind of file: lm-eval:COLUMN, "
            "inspect:COLUMN, table:COLUMN.",
        ),
        column_option("model", "Column of model names (one row per score)."),
        click.option(
            "--model-cols",
            "models",
            multiple=True,
            metavar="COLUMN,...",
            help="Columns of the models (one column per model).",
        ),
        column_option(
            "score",
            "Column of scores: 0 to 1, percent, or true and false. For a log: the metric.",
        ),
        column_option("sample", "Column of the sample number (epoch, run) of an item."),
        column_option(
            "prompt_method", "Column of a prompt or setting that distinguishes rows of one model."
        ),
        click.option(
            "--cluster-col",
            "clusters",
            multiple=True,
            metavar="COLUMN,...",
            help="Column that items of one cluster share (book, passage). A cell may hold "
            "several: a;b, or a JSON list.",
        ),
        column_option(
            "outcome", "Column of outcomes: answered, refused, unparsed, truncated or failed."
        ),
        click.option(
            "--where",
            multiple=True,
            metavar="COLUMN=VALUE",
            help="Only use these records (filter=none); for one kind of file: lm-eval:filter=none.",
        ),
        click.option(
            "--percent", is_flag=True, help="Scores range from 0 to 100 (default: detected)."
        ),
        click.option(
            "--shares", is_flag=True, help="Scores range from 0 to 1 (default: detected)."
        ),
        click.option(
            "--complete-from",
            type=click.FloatRange(0, 1),
            default=0.95,
            show_default=True,
            help="Share of all items with scores that a model needs to be ranked.",
        ),
        encoding_option,
    )(command)


def read_asked(given: Mapping[str, Any], **more: Any) -> Asked:
    """Return the request that ``given`` options describe.

    ``given`` holds values of ``column_options``, of further columns, and of options that are fields
    of ``Asked``. ``more`` sets such fields directly.
    """
    from proofstone.results.audit.audit import Asked
    from proofstone.results.audit.column_names import Layout
    from proofstone.results.audit.result_files import FILE_KINDS

    columns = dict(given)
    rest = {"kind": columns.pop("kind")}
    rest["percent"] = _percent(columns.pop("percent"), columns.pop("shares"))
    plain = {each.name: columns.pop(each.name) for each in fields(Asked)
             if each.name in columns and each.name != "where"}  # fmt: skip
    where = _by_kind(columns.pop("where"))
    lists = {name: _by_kind(read_list(columns.pop(name, ()))) for name in _LISTS}
    ones = {name: _by_kind(texts) for name, texts in columns.items()}

    def named(kind: FileKind | None) -> dict[str, Any]:
        several = {name: tuple(found[kind]) for name, found in lists.items() if kind in found}
        return several | {
            name: _the_one(name, found[kind]) for name, found in ones.items() if kind in found
        }

    return Asked(
        named=Layout(**rest, **named(None)),
        where=dict(named_pairs(where.get(None, ()), "--where")),
        named_of={kind: Layout(**own) for kind in FILE_KINDS if (own := named(kind))},
        where_of={
            kind: dict(named_pairs(where[kind], "--where")) for kind in FILE_KINDS if kind in where
        },
        **{**plain, **more},
    )


def _by_kind(texts: Sequence[str]) -> dict[FileKind | None, list[str]]:
    """Split values such as ``lm-eval:filter=strict`` by kind of file; None holds the others."""
    from proofstone.results.audit.result_files import FILE_KINDS

    found: dict[FileKind | None, list[str]] = {}
    for text in texts:
        kind = next((kind for kind in FILE_KINDS if text.startswith(f"{kind}:")), None)
        found.setdefault(kind, []).append(text if kind is None else text[len(kind) + 1 :])
    return found


def _the_one(role: str, columns: Sequence[str]) -> str:
    if len(set(columns)) > 1:
        raise click.BadParameter(
            f"{', '.join(columns)}: name one column, or one of each kind of file "
            "(lm-eval:COLUMN, inspect:COLUMN, table:COLUMN)",
            param_hint=f"--{role.replace('_', '-')}-col",
        )
    return columns[0]


def _percent(percent: bool, shares: bool) -> bool | None:
    """Return True for percentages, False for shares, None to detect the scale."""
    if percent and shares:
        raise BadUsage(
            "--percent and --shares say two things of the same scores",
            hint="give the one that holds, or neither: then it is seen by the scores",
        )
    return percent if percent or shares else None


def named_pairs(given: Sequence[str], option: str) -> list[tuple[str, str]]:
    """Return ``NAME=VALUE`` texts as pairs. Raises BadParameter for any other text."""
    pairs = []
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"{text!r}: expected NAME=VALUE", param_hint=option)
        pairs.append((name.strip(), value.strip()))
    return pairs


# Files written next to a page: their kinds and their folder.


Kind = TypeVar("Kind", bound=str)


def _files_of_page(
    name: str,
    named: Sequence[str],
    folder: Path | None,
    page: Path | None,
    *,
    kinds: Sequence[Kind],
    usual: Sequence[Kind],
    expected: str,
) -> tuple[Path, tuple[Kind, ...]] | None:
    """Return the folder and ``kinds`` that ``--NAME`` and ``--NAME-to`` request; None without
    either.

    ``usual`` applies if only the folder is given. ``expected`` lists the kinds in an error message.
    Raises UsageError if there is no page to name the folder after, BadParameter for unknown kinds.
    """
    wrong = [kind for kind in named if kind not in kinds]
    if wrong:
        raise click.BadParameter(
            f"{', '.join(map(repr, wrong))}: expected {expected}", param_hint=f"--{name}"
        )
    if not named and folder is None:
        return None
    if folder is None and page is None:
        raise click.UsageError(f"--{name} needs a place: -o report.html, or --{name}-to DIR")
    beside = folder or (page or Path()).with_name(f"{(page or Path()).stem}-{name}")
    return beside, tuple(kind for kind in kinds if kind in (named or usual))


class TablesOfPage(Struct, frozen=True, kw_only=True):
    """Options for writing the tables of a page as files: kinds and folder."""

    tables: Annotated[tuple[str, ...], Opt(
        "Also write all tables as files to a folder next to the page (report-tables).",
        metavar="csv,tex", separated=True,
    )] = ()  # fmt: skip
    tables_to: Annotated[Path | None, Opt(
        "Folder for tables (without --tables: csv and tex).", metavar="DIR",
        is_folder_only=True,
    )] = None  # fmt: skip

    def of(self, page: Path | None) -> TablesAsked | None:
        """Return the request for files next to a page, None if not requested.

        Raises as ``_files_of_page`` does.
        """
        kinds: tuple[TableKind, ...] = ("csv", "tex")
        found = _files_of_page(
            "tables", self.tables, self.tables_to, page,
            kinds=kinds, usual=kinds, expected="csv or tex, or both",
        )  # fmt: skip
        if found is None:
            return None
        from proofstone.results.page_files import TablesAsked

        return TablesAsked(*found)


class FiguresOfPage(Struct, frozen=True, kw_only=True):
    """Options for writing the figures of a page as files: kinds, folder and fonts."""

    figures: Annotated[tuple[str, ...], Opt(
        "Also write all figures as files to a folder next to the page (report-figures); html is "
        "interactive.",
        metavar="svg,pdf,png,html", separated=True,
    )] = ()  # fmt: skip
    figures_to: Annotated[Path | None, Opt(
        "Folder for figures (without --figures: svg and png).", metavar="DIR",
        is_folder_only=True,
    )] = None  # fmt: skip
    fonts: Annotated[Path | None, Opt(
        "Folder with fonts for figures; Chinese text in a PNG needs a font with Chinese.",
        metavar="DIR", exists=True, is_folder_only=True,
    )] = None  # fmt: skip

    def of(self, page: Path | None) -> FiguresAsked | None:
        """Return the request for files next to a page, None if not requested.

        Raises as ``_files_of_page`` does.
        """
        kinds: tuple[FigureFile, ...] = ("svg", "pdf", "png", "html", "json")
        found = _files_of_page(
            "figures", self.figures, self.figures_to, page,
            kinds=kinds, usual=("svg", "png"), expected="svg, pdf, png, html or json, or several",
        )  # fmt: skip
        if found is None:
            return None
        from proofstone.results.page_files import FiguresAsked

        return FiguresAsked(*found, self.fonts)


class BriefOfPage(Struct, frozen=True, kw_only=True):
    """Option for writing a one-sheet summary as a separate file."""

    brief: Annotated[Path | None, Opt(
        "Also write half a page for a decision, as FILE.html or FILE.pdf (extra [brief]).",
        metavar="FILE",
    )] = None  # fmt: skip

    def of(self, fonts: Path | None) -> BriefAsked | None:
        """Return the request, None if not given. Raises as ``check_brief`` does."""
        if self.brief is None:
            return None
        from proofstone.results.brief import BriefAsked, check_brief

        asked = BriefAsked(self.brief, fonts)
        check_brief(asked)
        return asked


def files_beside(
    tables: TablesWritten | None, figures: FiguresWritten | None, brief: str | None = None
) -> list[tuple[str, str]]:
    """Return the files written next to a page as name and description.

    An example is ``report-tables   23 files, listed in tables.json``. Prints a warning if PNG
    figures lack a font for Chinese.
    """
    if figures is not None and not figures.shows_chinese:
        say("no font here has Chinese: a PNG shows empty boxes for it; give one: --fonts DIR")
    lines = []
    for name, written in (("tables", tables), ("figures", figures)):
        if written is not None:
            n = len(written.files)
            counted = f"{n} {'file' if n == 1 else 'files'}"
            lines.append((name, visible(f"{written.folder}   {counted}, listed in {name}.json")))
    if brief is not None:
        lines.append(("brief", visible(brief)))
    return lines


# ``report --analysis``: sentence and table on stdout, the figure's data in a file.

# Written out, because importing the catalog loads NumPy; a test compares them.
ANALYSIS_NAMES = (
    "seeds",
    "options",
    "position",
    "length",
    "levels",
    "thinking",
    "settings",
    "judges",
    "alignment",
    "rankings",
    "choices",
    "retrieval",
    "contexts",
    "evidence",
    "reasoning",
    "tools",
    "difficulty",
    "topics",
    "refresh",
    "drift",
    "panel",
    "sets",
    "cost",
    "spread",
)


def analysis_names() -> tuple[str, ...]:
    """Return the names of all analyses: general ones, then those of methods."""
    own = (name for method in every_method() for name in method.analyses)
    return (*ANALYSIS_NAMES, ERRORS, *own)


class AnalysisName(click.Choice[str]):
    """Click type for the name of an analysis; methods are loaded on first use."""

    def __init__(self) -> None:
        super().__init__(())

    @property
    def choices(self) -> tuple[str, ...]:
        """Return all names."""
        return analysis_names()

    @choices.setter
    def choices(self, _none: Sequence[str]) -> None:
        """Nothing is set: they are asked for."""


def _refuse_analysis_options(
    pairs: Sequence[str], other: str | int | None, threshold: float | None, errors: ErrorsAsked
) -> None:
    """Raise UsageError for options of an analysis without it."""
    if pairs:
        raise click.UsageError("--base-models goes with --analysis alignment")
    if other:
        raise click.UsageError("--other-benchmark goes with --analysis rankings")
    if threshold is not None:
        raise click.UsageError("--threshold goes with --analysis sets and refresh")
    if errors != ErrorsAsked(yes=errors.yes):
        raise click.UsageError(
            "--judge, --wrong, --human-labels, --budget, --dry-run and --draw-seed go with "
            "--analysis errors"
        )


def _show_analysis(
    name: str,
    targets: Sequence[str],
    output: Path | None,
    folder: Path | None,
    *,
    drawn: FiguresAsked | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Run and print an analysis.

    Writes the figure's data to ``output`` and the figures as ``drawn`` requests, if given.
    """
    from proofstone.page.section import section_text
    from proofstone.results.report import make_analysis, write_analysis_data, write_analysis_figures
    from proofstone.session.session import open_session

    with open_session(folder) as session:
        analysis = make_analysis(session, name, *targets, **options)
        if output is not None:
            write_analysis_data(session, analysis, output)
        written = None if drawn is None else write_analysis_figures(session, analysis, drawn)
    if as_json:
        print_json(analysis)
        return
    print_rendered(section_text(analysis))
    if output is not None:
        say(f"the figure's data ({len(analysis.data.marks)} marks) is in {output}")
    for what, line in files_beside(None, written):
        say(f"{what}  {line}")


def _show_errors(
    targets: Sequence[str],
    asked: ErrorsAsked,
    output: Path | None,
    folder: Path | None,
    *,
    as_json: bool,
) -> None:
    """Print the labels of wrong responses, or what they would take; write their rows."""
    from proofstone.page.section import section_text
    from proofstone.results.error_analysis import analyze_wrong, foresee_wrong, write_sheet
    from proofstone.results.report import selection_of
    from proofstone.run.cli_grade import show_judging
    from proofstone.run.cli_request import tell_judges
    from proofstone.run.judges import judge_spec
    from proofstone.session.session import open_session

    with open_session(folder) as session:
        session.ask_egress = TerminalEgress(yes=asked.yes)
        selection = selection_of(session, targets)
        models = list(dict.fromkeys(run.respondent for _key, run in selection.runs))
        tell_judges(session, judge_spec(asked.judge), models, quiet=False)
        if asked.dry_run:
            show_judging([foresee_wrong(session, selection, asked)], as_json=as_json)
            return
        found = analyze_wrong(session, selection, asked)
    if found.analysis is None and output is None:
        raise BadUsage(
            f"{found.drawn:,} wrong responses are drawn; nobody is named to label them",
            hint="--judge PROVIDER/NAME, or -o sheet.xlsx for people",
        )
    if output is not None:
        say(f"{output}   {write_sheet(found, output):,} wrong responses")
    if as_json:
        print_json(found.analysis)
    elif found.analysis is not None:
        print_rendered(section_text(found.analysis))
    else:
        say("fill in the column label, then: --judge PROVIDER/NAME --human-labels SHEET")


@command("leaderboard")
@click.argument("targets", nargs=-1, required=True)
@asked_for(BoardAsked)
@workspace_option
@json_option
def leaderboard_command(
    targets: tuple[str, ...], asked: BoardAsked, folder: Path | None, as_json: bool
) -> None:
    """Show the leaderboard with confidence intervals.

    TARGETS are runs, forms, or a bank. Models are ranked on their common questions. Models whose
    difference is not statistically significant are tied. An incomplete run is listed below the
    ranking with the bounds of its final score. Simulated models are listed separately. A model
    without a model card is listed as "unknown".

    A model marked * (or its model family) helped write or filter items; it is listed again without
    those items. Corrections are applied and counted by model; --ignore-corrections ignores them.
    --scoring selects a stored scoring ('grade RUN --list').

    Verified triples ('grade RUN --judge J --reference BANK') are ranked by F1 of precision and
    recall.

    \b
    Example:
      proofstone leaderboard facts --by discipline
    """
    from proofstone.session.session import open_session

    with open_session(folder) as session:
        print_board(session, read_list(targets), asked, as_json=as_json)


def print_board(
    session: Session, named: Sequence[str], asked: BoardAsked | None = None, *, as_json: bool
) -> None:
    """Print the leaderboard of these runs, forms or banks; ``run`` ends with it too."""
    from proofstone.results.board_text import render_breakdowns, render_terminal, to_json
    from proofstone.results.report import board_of, selection_of, verifying_of_runs

    asked = asked or BoardAsked()
    verifying = None if asked.unverified else verifying_of_runs(session, *named)
    if verifying is not None:
        shared = {name: getattr(asked, name) for name in _OF_CARDS}
        if verifying.show_board(session, named, shared, asked.by, asked.people, as_json=as_json):
            return
    elif asked.people is not None:
        raise click.UsageError("--human-labels goes with triples that were verified")
    asked = structs.replace(asked, by_document=as_json or "document" in asked.by)
    board = board_of(session, selection_of(session, named), asked).board
    if as_json:
        click.echo(to_json(board))
        return
    width = shutil.get_terminal_size((100, 24)).columns
    breakdowns = list(render_breakdowns(board, asked.by, width=width))
    heading = [("form", f"{', '.join(board.forms)}   {board.n_items} questions")]
    colour = wants_color()
    shown = render_terminal(
        board, heading=heading, card_columns=asked.card_columns, width=width, colour=colour
    )
    print_rendered(shown)
    for text in breakdowns:
        print_rendered(f"\n{text}")


# Options that leaderboards of verified triples share with others.
_OF_CARDS = ("group_by", "where", "card_columns", "view")


@command(
    "report",
    basic=(
        "output",
        "analysis",
        "audience",
        "ui_language",
        "group_by",
        "where",
        "tables",
        "figures",
        "flagged_items",
        "ignore_corrections",
    ),
)
@click.argument("targets", nargs=-1, required=True)
@output_option
@click.option(
    "--analysis",
    type=AnalysisName(),
    help="Print one analysis instead of the page; with -o FILE (.csv, .jsonl, .parquet), write "
    "the data of its figure.",
)
@click.option(
    "--base-models",
    "pairs",
    multiple=True,
    metavar="BASE=CHAT,...",
    help="With --analysis alignment: chat models by their base model.",
)
@click.option(
    "--other-benchmark",
    default="",
    metavar="TARGET|FILE",
    help="With --analysis rankings: the other benchmark, as a form, bank or run, or as a file of "
    "models and scores.",
)
@click.option(
    "--other-items",
    type=click.IntRange(1),
    metavar="N",
    help="With --analysis rankings: number of items in a file of scores.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 100, min_open=True),
    metavar="PERCENT",
    help="With --analysis sets: mean score that counts as reached (default 35). With --analysis "
    "refresh: accuracy of the strongest model above which new items are due (default 70).",
)
@click.option(
    "--panel",
    multiple=True,
    metavar="MODEL,...",
    help="With --analysis panel: models whose wrong answers admit an item.",
)
@click.option(
    "--least-wrong",
    type=click.IntRange(1),
    metavar="N",
    help="With --analysis panel: models that must answer wrong. [default: more than half]",
)
@options_of(BoardAsked, "level", "population")
@options_of(BoardAsked, "group_by", "where", "card_columns")
@asked_for(View, "view")
@language_option
@audience_option
@options_of(BoardAsked, "unverified")
@asked_for(ErrorsAsked, "errors")
@asked_for(TablesOfPage, "tables")
@flagged_items_option
@asked_for(FiguresOfPage, "figures")
@asked_for(BriefOfPage, "brief")
@workspace_option
@json_option
def report_command(
    targets: tuple[str, ...],
    output: Path | None,
    analysis: str | None,
    pairs: tuple[str, ...],
    other_benchmark: str,
    other_items: int | None,
    threshold: float | None,
    panel: tuple[str, ...],
    least_wrong: int | None,
    view: View,
    errors: ErrorsAsked,
    tables: TablesOfPage,
    flagged_items: Path | None,
    figures: FiguresOfPage,
    brief: BriefOfPage,
    folder: Path | None,
    as_json: bool,
    **board: Any,
) -> None:
    """Write a report as an HTML page.

    TARGETS are runs, forms, or a bank. The page (default: report.html) needs no network. It holds
    the ranking with confidence intervals, and sample questions with prompt, raw response and
    extracted answer for each model. --audience public omits these texts. --tables csv,tex also
    writes its tables as files, --figures svg,png,html its figures.

    \b
    Analyses, each with --analysis NAME:
      seeds       range, rank changes and Kendall's tau over forms of different seeds
      options     accuracy by number of options (build form --sweep options=4..10)
      position    accuracy by position of the correct option, with a test
      length      accuracy by response length
      levels      averages by questions, subfields, fields and disciplines
      thinking    hybrid models with and without thinking (run --thinking on,off)
      settings    single statements, verdicts on each, whole questions
      choices     the same questions with options, with shuffled options, and open
      judges      the same responses graded by several judges
      alignment   base models and the chat models made from them, paired
      rankings    the same models on another benchmark (--other-benchmark TARGET or FILE)
      difficulty  number of models that fail each question, by category
      topics      the ten best models of each topic, with ties
      sets        questions by the set of models that reach a threshold (--threshold 35)
      spread      each model's scores over groups (--level), beyond what sampling explains
      cost        what single questions cost, and the share of the dearest tenth
      refresh     the strongest model against the limit for new items (--threshold 70)
      drift       change on the common items of two versions (report FIRST SECOND)
      panel       a panel on the items that it admits (--panel A,B,C), held-out answers
      retrieval   every measure without a search and with what one found
      contexts    the same questions in every two contexts, paired
      evidence    recall and nDCG of searches, and what missed evidence costs
      reasoning   the answer held along the reasoning, and answers that were left
      errors      why responses were wrong, by a judge (--judge M); without one, -o
                  writes a sheet for people to label

    \b
    Analyses of triples verified by 'grade RUN --judge M --reference BANK':
      random      models by F1, compared with the first on the same entities
      effort      by reasoning effort, with tokens and cost
      domains     by domain, and for non-existent entities
      prompts     by prompt template, compared with direct
      ranges      by number of requested triples
      popularity  by third of popularity, with the trend

    \b
    Example:
      proofstone report facts --audience public -o report.html
    """
    from proofstone.results.report import write_item_flagged_items, write_report
    from proofstone.session.session import open_session

    path = output or Path(f"{analysis}.csv" if analysis else "report.html")
    drawn = figures.of(path)
    named = read_list(targets)
    if analysis is not None and brief.brief is not None:
        raise click.UsageError("--brief is not available with --analysis")
    if analysis == ERRORS:
        _show_errors(named, errors, output, folder, as_json=as_json)
        return
    if analysis is not None:
        _show_analysis(
            analysis, named, output, folder, drawn=drawn, as_json=as_json,
            population=board["population"], pairs=read_list(pairs), beside=other_benchmark,
            beside_items=other_items or 0, view=View(scorings=view.scorings),
            threshold=threshold, panel=read_list(panel), least_wrong=least_wrong,
            level="" if board["level"] == "sample" else board["level"],
        )  # fmt: skip
        return
    _refuse_analysis_options(pairs, other_benchmark or other_items, threshold, errors)
    if panel or least_wrong:
        raise click.UsageError("--panel and --least-wrong go with --analysis panel")
    asked, sheet = tables.of(path), brief.of(figures.fonts)
    columns = read_list(board.pop("card_columns"))
    with open_session(folder) as session:
        written = write_report(
            session, *named, path=path, tables=asked, figures=drawn, brief=sheet,
            card_columns=columns, view=view,
            **{name: value for name, value in board.items() if value is not None},
        )  # fmt: skip
        if flagged_items is not None:
            n = write_item_flagged_items(
                session, *named, path=flagged_items, population=board["population"]
            )
            tell_flagged_items(flagged_items, n)
    if as_json:
        shown = {"page": str(path), "audience": board["audience"]}
        print_json(shown | {name: getattr(written, name) for name in _SHOWN})
        return
    width = 10 if written.figures else 9 if written.tables else 7
    print_text(f"{'page':<{width}}{path}")
    for name, line in files_beside(written.tables, written.figures, written.brief):
        print_text(f"{name:<{width}}{line}")
    if written.rows is not None:
        say(visible(written.folder_note))
    say("open it in a browser; it needs no network")


_SHOWN = ("tables", "figures", "brief", "methods", "rows")


# ``compare``: two results.


_OF_SOURCES = ("most", "output", "folder", "as_json")


def reading_of(columns: Mapping[str, Any], sides: Sequence[str]) -> Asked:
    """Return how files are read. Raises UsageError for such options if no side is a file."""
    from proofstone.results.compare_inputs import is_results_file

    context = click.get_current_context()
    given = [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name in columns and was_given(context, parameter.name)
    ]
    if given and not any(map(is_results_file, sides)):
        raise click.UsageError(f"{', '.join(given)}: of files of results, and none is named here")
    return read_asked(columns)


def _given(others: Sequence[str]) -> list[str]:
    """Return the options given on the command line, except those in ``others``."""
    context = click.get_current_context()
    return [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name not in others and was_given(context, str(parameter.name))
    ]


@command(
    "compare",
    basic=(
        "most",
        "output",
        "is_gate",
        "max_drop",
        "minimum",
        "junit",
        "item",
        "score",
        "confidence",
        "ignore_corrections",
    ),
)
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@asked_for(CompareAsked)
@output_option
@click.option(
    "--gate",
    "is_gate",
    is_flag=True,
    help="Check B against the baseline A: pass (exit code 0), fail (1), inconclusive (3).",
)
@click.option(
    "--max-drop",
    type=click.FloatRange(0, 100),
    metavar="POINTS",
    help="With --gate: points (of 100) that B may be below A.",
)
@asked_for(GateAsked, "gate", without=("rescore", "most"))
@column_options
@asked_for(Ask, "ask")
@workspace_option
@json_option
def compare_command(
    before: str,
    after: str,
    asked: CompareAsked,
    output: Path | None,
    is_gate: bool,
    max_drop: float | None,
    gate: GateAsked,
    ask: Ask,
    folder: Path | None,
    as_json: bool,
    **columns: Any,
) -> None:
    """Compare two results on their common items.

    A and B are runs, forms or banks of the workspace, or files of results. Files are read as by
    'audit' (CSV, JSONL, Parquet, lm-eval and Inspect logs). RUN@2026-03-01 is a run at the end of
    that day. All factors that differ are listed (model, items, prompt, settings, scorer, judge),
    each with its consequence for the comparison.

    Only items with scores on both sides are compared. The output has the difference with its
    confidence interval, an exact McNemar test and a sign-flip test. It lists the items won and
    lost. -o FILE writes these items. Forms and banks are compared model by model, with p-values
    adjusted for the number of pairs. For verified triples, differences of F1, precision and recall
    are reported too (if both runs were verified alike).

    \b
    --gate checks run B against the baseline A:
      pass          the confidence interval of B - A lies above -POINTS (--max-drop)
      fail          it lies below -POINTS
      inconclusive  neither; the number of further questions needed is printed

    A run passes only if a larger drop is excluded. An incomplete run cannot pass, nor can a run
    with another scorer or judge than its baseline. Each look at a pair is recorded. The intervals
    of all looks together have --confidence. At 0.95, the false-pass rate for a run exactly at the
    limit is at most about 2.5%, over all looks.

    Two sources are compared as editions of a document. The output lists facts of A that B still
    supports verbatim, that changed, and that vanished. -o FILE then writes flagged items for
    'correct apply'.

    \b
    Examples:
      proofstone compare run:4f2a91cc run:9ab3c4d1
      proofstone compare baseline.csv new.csv --gate --max-drop 2
    """
    from proofstone.files.write import write_rows
    from proofstone.results.compare import moved_rows, render_compared
    from proofstone.results.compare_inputs import (
        are_sources,
        compare_targets,
        is_results_file,
        naming_missing_files,
    )
    from proofstone.session.session import open_session

    how = {"reading": reading_of(columns, [before, after]), **structs.asdict(ask)}
    drop = _max_drop(is_gate, max_drop, output)
    if drop is not None:
        code = _gate(before, after, drop, gate, asked, folder, as_json=as_json, **how)
        click.get_current_context().exit(code)
    if is_results_file(before) and is_results_file(after):
        compared = compare_targets(None, before, after, **how)
    else:
        with naming_missing_files(before, after), open_session(folder) as session:
            if are_sources(session, before, after):
                compare_sources(
                    session, before, after, refused=_given(("before", "after", *_OF_SOURCES)),
                    most=asked.most, output=output, as_json=as_json,
                )  # fmt: skip
                return
            texts = None if as_json or output is not None else asked.most
            compared = compare_targets(
                session, before, after, rescore=asked.rescore, view=asked.view, texts=texts, **how
            )
    if output is not None:
        n = write_rows(output, moved_rows(compared))
        say(f"{output}   {n} items won and lost")
    if as_json:
        print_json(compared)
        return
    width = shutil.get_terminal_size((100, 24)).columns
    print_rendered(render_compared(compared, most=asked.most, width=width))


# ``compare --gate``: a pass/fail check against a baseline.


def _gate(
    baseline: str,
    run: str,
    max_drop: float,
    gate: GateAsked,
    asked: CompareAsked,
    folder: Path | None,
    *,
    as_json: bool,
    **how: Any,
) -> int:
    """Print whether ``run`` passes against its baseline; return the exit code (0 pass, 1 fail,
    3 inconclusive)."""
    from proofstone.results.compare_inputs import gate_run, is_results_file, naming_missing_files
    from proofstone.results.gate import render_gate, to_junit, to_markdown
    from proofstone.results.page_files import write_text
    from proofstone.session.session import open_session

    how |= {
        "max_drop": max_drop, "minimum": gate.minimum, "single": gate.single, "looks": gate.looks,
    }  # fmt: skip
    if is_results_file(run) and is_results_file(baseline):
        gated = gate_run(None, run, baseline, **how)
    else:
        with naming_missing_files(run, baseline), open_session(folder) as session:
            gated = gate_run(session, run, baseline, rescore=asked.rescore, texts=asked.most, **how)
    if gate.junit is not None:
        write_text(gate.junit, to_junit(gated))
    if gate.markdown is not None:
        write_text(gate.markdown, to_markdown(gated))
    if as_json:
        print_json(gated)
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        print_rendered(render_gate(gated, most=asked.most, width=width))
    return gated.exit_code


def _max_drop(is_gate: bool, max_drop: float | None, output: Path | None) -> float | None:
    """Return the limit of a gate, None for a comparison.

    Raises UsageError for a gate without its limit, and for gate options without ``--gate``.
    """
    context = click.get_current_context()
    if is_gate:
        if max_drop is None:
            raise click.UsageError("--gate needs a limit: --max-drop POINTS")
        if output is not None:
            raise click.UsageError("-o writes a comparison; a gate writes --junit and --markdown")
        return max_drop
    names = {"max_drop": "--max-drop", "minimum": "--min", "junit": "--junit",
             "markdown": "--markdown", "single": "--single-look", "looks": "--looks"}  # fmt: skip
    given = [flag for name, flag in names.items() if was_given(context, name)]
    if given:
        raise click.UsageError(f"{', '.join(given)}: only with --gate")
    return None


# ``plan``: the analysis, fixed before the run.


@command(
    "plan",
    basic=(
        "measure",
        "comparisons",
        "exclusions",
        "n_items",
        "samples",
        "stopping",
        "level",
        "population",
        "confidence",
        "power",
    ),
)
@click.argument("target")
@asked_for(PlanAsked)
@workspace_option
@json_option
def plan_command(target: str, asked: PlanAsked, folder: Path | None, as_json: bool) -> None:
    """Preregister the analysis of a form or bank.

    Freezes the primary measure, comparisons, exclusions, sample size and stopping rule with a hash
    and a time. It also reports the minimum detectable effect under the stated assumptions. Later
    runs on TARGET name the plan. Leaderboards and reports show each planned comparison and mark
    everything else as exploratory. A plan made after the first response of a run is marked as post
    hoc for that run. A second plan applies to later runs only; 'list plans' shows all.

    \b
    Example:
      proofstone build plan facts --compare openai/a openai/b --exclude "truncated responses"
    """
    from proofstone.results.plan import describe_plan, make_plan
    from proofstone.run.run_facts import n_begun
    from proofstone.session.session import open_session

    with open_session(folder) as session:
        plan = make_plan(session, target, asked)
        shown = str(describe_plan(session.store, session.find(f"plan:{plan.id.hex()}")))
        late = n_begun(session.store, plan)
    if as_json:
        print_json(plan)
    else:
        print_text(shown)
    if late:
        say(
            f"{late} of its runs had responses already; for these runs the plan is post hoc, not a "
            "preregistration"
        )
    say_next([f"run {pasted(target)} -m PROVIDER/NAME", f"show plan:{short(plan.id)}"])
