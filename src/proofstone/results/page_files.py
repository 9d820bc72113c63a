"""Write a page with its tables (CSV for programs, TeX for papers) and figures."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from msgspec import Struct, structs

from proofstone import __version__
from proofstone.errors import StoreFailed
from proofstone.files.write import csv_bytes, write_rows
from proofstone.page.figure import (
    BeginDrawing,
    FigureFile,
    figure_files,
    has_chinese_font,
    needed,
    use_fonts,
)
from proofstone.page.section import (
    Cell,
    Column,
    Figure,
    Mark,
    PageTable,
    ReadColumn,
    Section,
    Span,
    Table,
    column,
    estimate_mark,
    flat_rows,
    shown_estimate,
    shown_share,
    table_of,
    tie_letters,
)
from proofstone.page.tex import tex_document, tex_paragraphs, tex_table
from proofstone.page.text import visible
from proofstone.records.runs import Estimate
from proofstone.results.board import BoardRow, Standings
from proofstone.results.board_text import Leaderboard
from proofstone.results.brief import BriefAsked, brief_bytes
from proofstone.results.cards import card_value
from proofstone.results.corrections import OVERRIDE_HEADS, overridden_rows, override_cells
from proofstone.results.item_browser import hold_items
from proofstone.results.methods_paragraph import methods_text
from proofstone.results.page import models_of, render_page
from proofstone.results.page_parts import (
    Download,
    EstimateTable,
    PageData,
    estimate_tables,
    page_for,
    same_recipe,
)
from proofstone.results.page_pieces import FileBeside, folder_beside
from proofstone.results.sections.evidence import chance_levels
from proofstone.results.sections.pairs import all_pairs
from proofstone.results.sections.strata import all_documents
from proofstone.results.sentences import SELF_EVALUATION_MARK, apart_name, deeds
from proofstone.results.summary import top_group
from proofstone.session.written_files import FIGURES, check_folder, files_into
from proofstone.wording.messages import counted, joined, listed, paragraph, say, word

TableKind = Literal["csv", "tex"]


TABLE_KINDS: tuple[TableKind, ...] = get_args(TableKind)


DOCUMENT = "tables.tex"


METHODS = ("methods.txt", "methods.tex")


class TablesAsked(Struct, frozen=True):
    """Folder and kinds of table files."""

    folder: Path
    kinds: tuple[TableKind, ...]


class MoreTables(NamedTuple):
    """CSV files in addition to the tables of the page.

    ``names`` are the possible file names. ``write`` writes files into a folder and describes each.
    """

    names: tuple[str, ...]
    write: Callable[[Path], Mapping[str, str]]


class TablesWritten(Struct, frozen=True):
    """The folder and its file names in page order."""

    folder: str
    files: tuple[str, ...]


def check_tables(data: PageData, asked: TablesAsked, others: MoreTables | None = None) -> None:
    """Raise BadUsage if the folder holds files of other origin."""
    names = [f"{page.name}.{kind}" for page in page_tables(data) for kind in asked.kinds]
    more = [*METHODS, *([DOCUMENT] if "tex" in asked.kinds else [])]
    more += [f"{name}.csv" for name in LONG_TABLES] if "csv" in asked.kinds else []
    more += others.names if others is not None else ()
    check_folder(asked.folder, [*names, *more])


def write_tables(
    data: PageData, asked: TablesAsked, others: MoreTables | None = None
) -> TablesWritten:
    """Write every table of the page in each kind, and ``others`` with CSV; all or nothing."""
    pages = page_tables(data)
    how = _how(data)
    with files_into(asked.folder, f"proofstone {__version__}") as (folder, about):
        for page in pages:
            for kind in asked.kinds:
                path = folder / f"{page.name}.{kind}"
                if kind == "csv":
                    _write_csv(path, page)
                else:
                    text = tex_table(page, about=data.title, how=how)
                    path.write_text(text, encoding="utf-8", newline="\n")
                about[path.name] = page.table.title
        for page in long_tables(data) if "csv" in asked.kinds else ():
            _write_csv(folder / f"{page.name}.csv", page)
            about[f"{page.name}.csv"] = page.table.title
        if "tex" in asked.kinds:
            text = tex_document([f"{page.name}.tex" for page in pages])
            (folder / DOCUMENT).write_text(text, encoding="utf-8", newline="\n")
            about[DOCUMENT] = say("a document that shows all of these tables")
        if others is not None and "csv" in asked.kinds:
            about.update(others.write(folder))
        _write_methods(folder, data, asked.kinds, about)
        files = tuple(about)
    return TablesWritten(folder=str(asked.folder), files=files)


def _write_methods(
    folder: Path, data: PageData, kinds: Sequence[TableKind], about: dict[str, str]
) -> None:
    """Write the methods text as plain paragraphs, and as TeX on request."""
    paragraphs = methods_text(data)
    written = {"methods.txt": "\n\n".join(visible(each) for each in paragraphs)}
    if "tex" in kinds:
        written["methods.tex"] = tex_paragraphs(paragraphs)
    for name, text in written.items() if paragraphs else ():
        (folder / name).write_text(f"{text}\n", encoding="utf-8", newline="\n")
        about[name] = say("Methods text")


def _how(data: PageData) -> tuple[str, ...]:
    """Return the notes of every table: version and random seed.

    They hold no time, so the same results give the same bytes.
    """
    made = say("Made by proofstone {version}.", version=data.provenance.version)
    seed = (
        "" if data.seed is None else say("Random seed of all resampling: {seed}.", seed=data.seed)
    )
    return (made, seed)


def _write_csv(path: Path, page: PageTable) -> None:
    columns, rows = flat_rows(page.table)
    write_rows(path, rows, columns=columns)


ALL_PAIRS = "pairs-all"


ALL_DOCUMENTS = "documents-all"


LONG_TABLES = (ALL_PAIRS, ALL_DOCUMENTS)


def page_tables(data: PageData) -> tuple[PageTable, ...]:
    """Return the tables of opening, leaderboard, sections (``strata-1``, ``strata-2``) and
    requests.

    Names are unique and independent of the language.
    """
    sections = (table for section in data.sections for table in _of_section(section))
    return (*_of_opening(data), *board_tables(data), *sections, *asked_tables(data))


def long_tables(data: PageData) -> tuple[PageTable, ...]:
    """Return tables too long for a page and for TeX: all pairs of models, all documents."""
    found = {ALL_PAIRS: all_pairs(data.board), ALL_DOCUMENTS: all_documents(data.board)}
    return tuple(PageTable(name=name, table=table) for name, table in found.items() if table)


def _of_opening(data: PageData) -> Iterator[PageTable]:
    tables = [part.table for part in data.opening.parts if part.table is not None]
    for number, table in enumerate(tables, start=1):
        yield PageTable(name=f"opening-{number}", table=table, notes=data.opening.words)


def _of_section(section: Section) -> Iterator[PageTable]:
    notes = tuple(
        filter(None, (*section.notes, section.how and say("How: {how}", how=section.how)))
    )
    for number, table in enumerate(section.tables, start=1):
        yield PageTable(name=f"{section.name}-{number}", table=table, notes=notes)


# Figures of a page as files.


class FiguresAsked(Struct, frozen=True):
    """Folder and kinds of figure files, and a folder of ``fonts`` in addition to system fonts."""

    folder: Path
    kinds: tuple[FigureFile, ...]
    fonts: Path | None = None


class FiguresWritten(Struct, frozen=True):
    """The folder, its file names, and whether Chinese text in figures is legible."""

    folder: str
    files: tuple[str, ...]
    shows_chinese: bool = True


def check_figures(data: PageData, asked: FiguresAsked) -> None:
    """Raise BadUsage if the folder holds files of other origin, ExtraMissing if drawing is
    unavailable."""
    check_drawn(page_figures(page_for(data)), asked)


def write_figures(data: PageData, asked: FiguresAsked) -> FiguresWritten:
    """Write every figure of the page in each kind; all or nothing."""
    data = page_for(data)
    return write_drawn(page_figures(data), models_of(data.board), asked)


def check_drawn(figures: Sequence[Figure], asked: FiguresAsked) -> None:
    """Raise BadUsage if the folder holds files of other origin, ExtraMissing if drawing is
    unavailable."""
    endings = (*(kind for kind in asked.kinds if kind != "json"), "vl.json")
    if set(asked.kinds) - {"json"}:
        needed("vl_convert")
    names = [f"{figure.name}.{ending}" for figure in figures for ending in endings]
    check_folder(asked.folder, names, FIGURES)


def write_drawn(
    figures: Sequence[Figure], models: Sequence[str], asked: FiguresAsked
) -> FiguresWritten:
    """Write figures in each kind; all or nothing. The order of ``models`` sets their colors."""
    if asked.fonts is not None:
        use_fonts(asked.fonts)
    with files_into(asked.folder, f"proofstone {__version__}", FIGURES) as (folder, about):
        for figure in figures:
            for ending, content in figure_files(figure, asked.kinds, models).items():
                name = f"{figure.name}.{ending}"
                (folder / name).write_bytes(content)
                about[name] = figure.title
        files = tuple(about)
    readable = not {"pdf", "png"} & set(asked.kinds) or has_chinese_font(figures)
    return FiguresWritten(folder=str(asked.folder), files=files, shows_chinese=readable)


def page_figures(data: PageData) -> tuple[Figure, ...]:
    """Return the figures of leaderboards and sections in order, with unique names."""
    used: dict[str, int] = {}
    return tuple(_apart(figure, used) for figure in _figures(data))


def _figures(data: PageData) -> Iterator[Figure]:
    for group in data.board.standings:
        if figure := leaderboard_figure(data.board, group):
            yield structs.replace(figure, name=f"{figure.name}{'-simulated' * group.simulated}")
    for section in data.sections:
        yield from section.figures


def _apart(figure: Figure, used: dict[str, int]) -> Figure:
    """Return the figure with a unique name that is valid on all file systems."""
    name = re.sub(r"[^\w-]+", "-", figure.name).strip("-").lower() or "figure"
    used[name] = used.get(name, 0) + 1
    return structs.replace(figure, name=name if used[name] == 1 else f"{name}-{used[name]}")


# Pages with their tables and figures.


class BesideAsked(NamedTuple):
    """Files to write next to a page:

    ``others`` are additional tables, ``brief`` is the summary sheet.
    """

    tables: TablesAsked | None = None
    figures: FiguresAsked | None = None
    others: MoreTables | None = None
    brief: BriefAsked | None = None


class PageWritten(Struct, frozen=True, kw_only=True):
    """Paths of a page, its tables and its figures (None if not requested), and its methods text.

    ``rows`` is the folder that the page needs next to it, None if it needs none; ``units`` names
    what that folder holds.
    """

    page: str | None
    tables: TablesWritten | None
    figures: FiguresWritten | None
    methods: tuple[str, ...]
    rows: str | None = None
    units: str = "questions"
    brief: str | None = None

    @property
    def folder_note(self) -> str:
        """Return why the folder belongs to the page; empty without a folder."""
        if self.rows is None:
            return ""
        return f"keep the folder {self.rows} next to the page: it holds its {self.units}"


NOTHING = BesideAsked()


def write_page(
    data: PageData,
    path: Path | None,
    beside: BesideAsked = NOTHING,
    begin_drawing: BeginDrawing | None = None,
    responses: Callable[[Path], Iterable[FileBeside]] | None = None,
) -> PageWritten:
    """Write a page, its tables and its figures, each if requested.

    Writes nothing if tables or figures cannot be written. ``begin_drawing`` may draw the page's
    figures. ``responses`` yields the files of responses next to the page. Raises as
    ``check_tables``, ``check_figures``, ``hold_items`` and ``write_text`` do.
    """
    tables, figures, others, brief = beside
    if tables is not None:
        check_tables(data, tables, others)
    if figures is not None:
        check_figures(data, figures)
    sheet = None
    if brief is not None and data.brief is not None:
        sheet = brief_bytes(data.brief, brief)  # before the page: a missing font leaves nothing
    rows, units = None, "questions"
    if path is not None:
        data = page_for(data)
        held = None
        if data.items is not None:
            files = responses(path) if responses and data.items.has_responses else ()
            held = hold_items(data.items, path, files)
            if held.is_beside or data.items.has_responses:
                rows = str(folder_beside(path))
                units += " and responses" if data.items.has_responses else ""
        write_text(path, render_page(data, begin_drawing, held, tuple(_downloads(data))))
    if brief is not None and sheet is not None:
        write_bytes(brief.path, sheet)
    return PageWritten(
        page=None if path is None else str(path),
        tables=None if tables is None else write_tables(data, tables, others),
        figures=None if figures is None else write_figures(data, figures),
        methods=methods_text(data),
        rows=rows,
        units=units,
        brief=None if brief is None or sheet is None else str(brief.path),
    )


def _downloads(data: PageData) -> Iterator[Download]:
    """Yield the first leaderboard as CSV and LaTeX: the bytes of ``write_tables``."""
    page = next(board_tables(data), None)
    if page is None:
        return
    columns, rows = flat_rows(page.table)
    yield Download("CSV", f"{page.name}.csv", "text/csv", csv_bytes(rows, columns))
    text = tex_table(page, about=data.title, how=_how(data))
    yield Download("LaTeX", f"{page.name}.tex", "text/plain", text.encode())


def write_text(path: Path, text: str) -> None:
    """Write a page. Raise StoreFailed, naming the cause, if it cannot be written."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file. Raise StoreFailed, naming the cause, if it cannot be written."""
    try:
        path.write_bytes(content)
    except OSError as error:
        raise StoreFailed(
            f"cannot write {path}: {error.strerror or error}", hint="name another file with -o"
        ) from error


# Provenance of a page as tables: files, forms, models, usage.


def asked_tables(data: PageData) -> Iterator[PageTable]:
    """Yield the tables that have rows. They hold no text of questions or responses."""
    board = data.board
    counts = board.counts if board.standings else ()
    denominator = say(
        "Denominator of {measure}: {denominator}.",
        measure=word(board.measure),
        denominator=word(board.denominator),
    )
    once = say("All were made with the same parameters.") if same_recipe(data.forms) else ""
    tables = {
        "outcomes": table_of(say("What each outcome counts as"), counts,
            column("outcome", say("outcome"), lambda each: word(each[0])),
            column("counts_as", say("counts as"), lambda each: word(each[1])),
            note=denominator,
        ),
        "files": table_of(say("Files that were read"), data.files,
            column("file", say("file"), "name"),
            column("kind", say("what it is")),
            column("holds", say("what it holds")),
            column("columns", say("columns, as they were understood")),
        ),
        "forms": table_of(say("Test forms"), data.forms,
            column("form", say("form"), "name"),
            column("seed", say("seed")),
            column("n", say("items"), "n_items"),
            column("recipe", say("made with"), lambda form: _pairs(form.recipe)),
            column("id", say("id")),
            note=once,
        ),
        "models": table_of(say("Models and settings"), data.asked,
            column("model", say("model"), "label"),
            column("settings", say("settings sent"), lambda each: _pairs(each.settings)),
            column("dropped", say("not accepted"), lambda each: joined(each.dropped) or None),
            column("reported", say("model version reported"),
                   lambda each: joined(each.reported_models) or None),
            column("fingerprints", say("fingerprints"),
                   lambda each: joined(each.fingerprints) or None),
            column("first", say("first response"), lambda each: each.first_call or None),
            column("last", say("last response"), lambda each: each.last_call or None),
        ),
        "spent": table_of(say("Tokens, cost and time"), data.asked,
            column("model", say("model"), "label"),
            column("calls", say("calls")),
            column("prompt_tokens", say("prompt tokens"), "usage.prompt"),
            column("cached_share", say("from the prefix cache"), unit="share"),
            column("response_tokens", say("response tokens"), "usage.completion"),
            column("reasoning_tokens", say("reasoning tokens"), "usage.reasoning"),
            column("cost_usd", say("cost, USD"), digits=4),
            column("estimated_usd", say("estimated cost, USD"), digits=4),
            column("mean_logprob", say("mean log-probability"), digits=3),
            column("median_latency_s", say("median latency, s")),
        ),
    }  # fmt: skip
    for name, table in tables.items():
        if table.rows:
            yield PageTable(name=name, table=table)


def _pairs(pairs: tuple[tuple[str, str], ...]) -> str:
    return listed([f"{name} {value}" for name, value in pairs])


_OUTCOMES = ("truncated", "unparsed", "refused", "no answer")


def board_tables(data: PageData) -> Iterator[PageTable]:
    """Yield the nonempty tables of each standing.

    They are the ranking, estimates by population, level and measure, incomplete models,
    self-evaluation and overrides.
    """
    for place, group in enumerate(data.board.standings):
        end = "" if place == 0 else f"-{place + 1}"
        apart = [say("Simulated")] if group.simulated else []
        apart += [name] if (name := apart_name(group)) else []
        head = say("{what}: ", what=listed(apart)) if apart else ""
        for name, table in _of_standing(data, group):
            if table.rows:
                notes = tuple(_ranking_notes(data.board, group)) if name == "leaderboard" else ()
                titled = structs.replace(table, title=f"{head}{table.title}")
                best = top_group(group) if name == "leaderboard" else ()
                yield PageTable(name=name + end, table=titled, notes=notes, best=best)


def _of_standing(data: PageData, group: Standings) -> Iterator[tuple[str, Table]]:
    yield "leaderboard", _ranking(data, group)
    for averages in estimate_tables(group, data.board.population):
        yield averages.name, _averages(group, averages)
    yield "incomplete", _incomplete(data, group)
    roles_held = [row for row in group.rows if row.self_evaluation is not None]
    title = say("Self-evaluation: models that helped write or filter the items")
    yield "self-evaluation", table_of(title, roles_held,
        *_who(group),
        column("did", say("what it did"), lambda row: deeds(row.self_evaluation)),
        column("touched", say("items it helped with"), "self_evaluation.n_self_evaluated"),
        column("rest", say("on the others"), unit="points",
               cell=lambda row: _with_scores(row.self_evaluation.untouched)),
        column("rank_rest", say("rank there"), "self_evaluation.rank"),
    )  # fmt: skip
    yield "overrides", table_of(say("Overrides by people"), overridden_rows(group),
        *_who(group),
        *(
            column(name.replace(" ", "_"), word(name), partial(_override, at))
            for at, name in enumerate(OVERRIDE_HEADS)
        ),
    )  # fmt: skip


def _with_scores(estimate: Estimate) -> Estimate | None:
    return estimate if estimate.n else None


def _who(group: Standings) -> list[ReadColumn]:
    """Return the columns that identify a model; method, settings and judge only if any row has
    one."""
    rows = group.rows
    names = {
        "prompt_method": say("prompt method"),
        "settings": say("settings"),
        "judge": say("judge"),
    }
    return [
        column("model", say("model"), "name"),
        *(
            column(key, name)
            for key, name in names.items()
            if any(getattr(row, key) for row in rows)
        ),
    ]


def _facts(data: PageData) -> list[ReadColumn]:
    """Return the columns of model cards."""
    return [column(f"card_{name}", word(name), partial(_fact, name)) for name in data.card_columns]


def _fact(name: str, row: BoardRow) -> Cell:
    return word(card_value(row.card, name))


def _rate(outcome: str, row: BoardRow) -> Cell:
    return row.rate(outcome).share


def _override(at: int, row: BoardRow) -> Cell:
    return override_cells(row)[at]


def _ranking(data: PageData, group: Standings) -> Table:
    """Return the ranked rows. ``self_evaluation`` marks such rows; ``tied`` holds the letters of
    ties."""
    board, rows = data.board, group.ranked
    has_self_evaluation = any(row.self_evaluation for row in rows)
    has_samples = any(row.average is not None and row.average.k > 1 for row in rows)
    told = [name for name in _OUTCOMES if any(row.rate(name).n for row in rows)]
    groups = {id(rows[place]): each.name for each in group.groups for place in each.ranked}
    ranks = [
        column("rank", say("rank")),
        column("tied", say("tied"), lambda row: " ".join(tie_letters(tie) for tie in row.ties)),
    ]
    self_evaluation = column(
        "self_evaluation",
        say("self-evaluation"),
        lambda row: SELF_EVALUATION_MARK if row.self_evaluation else "",
    )
    named = column("group", word(board.group_by), lambda row: groups.get(id(row), ""))
    spread = column(
        "sd_samples", say("SD over samples"), unit="points",
        cell=lambda row: row.average.sd if row.average else None,
    )  # fmt: skip
    return table_of(say("Leaderboard"), rows,
        *(ranks if group.has_ranks else []),
        *_who(group),
        *([self_evaluation] if has_self_evaluation else []),
        *([named] if group.groups else []),
        *_facts(data),
        column("n", say("n"), "estimate.n"),
        column(board.measure, word(board.measure), "estimate", unit="points"),
        *([spread] if has_samples else []),
        *(column(name, word(name), partial(_rate, name), unit="share") for name in told),
    )  # fmt: skip


def _ranking_notes(board: Leaderboard, group: Standings) -> Iterator[str]:
    if board.level != "sample":
        yield say("Every {level} has equal weight.", level=word(board.level))
    if group.ties:
        yield say("Models that share a letter are not significantly different (Holm-adjusted).")
    if group.has_ranks:
        yield say("Bold in LaTeX: statistically tied for first (Holm-adjusted).")
    if group.has_ranks and group.is_paired:
        yield say(
            "Ranks come from paired comparisons on the same items, Holm-adjusted for all pairs. "
            "A rank range holds the ranks compatible with all of them."
        )
    if not group.is_common:
        yield say("These models share no item, so they are not ranked against each other.")
    if any(row.self_evaluation for row in group.ranked):
        yield say(
            "{mark}: the model or one of its family helped write or filter the items.",
            mark=SELF_EVALUATION_MARK,
        )
    if group.chance_sentence:
        yield paragraph(
            group.chance_sentence, say("Chance is {chance}.", chance=shown_share(group.chance))
        )


def _averages(group: Standings, averages: EstimateTable) -> Table:
    who = _who(group)
    columns = (
        *(each.column for each in who),
        *(
            Column(key=key, name=name, help=denominator, unit="points")
            for key, (name, denominator) in zip(averages.keys, averages.heads, strict=True)
        ),
    )
    rows = tuple(
        (*(each.cell(row) for each in who), *cells)
        for row, cells in zip(group.ranked, averages.cells, strict=True)
    )
    title = averages.about[:1].upper() + averages.about[1:]
    return Table(title=title, columns=columns, rows=rows, note=averages.note)


def _incomplete(data: PageData, group: Standings) -> Table:
    """Return the incomplete rows, with the reasons that are known."""
    reasons = [
        column("failed", say("of these failed")),
        column("not_asked", say("of these not asked")),
        column("unscored", say("of these not scored yet")),
    ]
    fields = [
        *_who(group),
        *_facts(data),
        column("responses", say("responses"), "n_responses"),
        column("missing", say("missing")),
        *(
            each
            for each in reasons
            if any(getattr(row, each.column.key) for row in group.incomplete)
        ),
        column("lowest", say("lowest"), lambda row: row.bounds and row.bounds.low, unit="points"),
        column(
            "highest", say("highest"), lambda row: row.bounds and row.bounds.high, unit="points"
        ),
        column("so_far", say("so far"), "estimate", unit="points"),
    ]
    note = say("Scores are missing. The bounds count them as all wrong, then as all right.")
    return table_of(say("Incomplete, not ranked"), group.incomplete, *fields, note=note)


def leaderboard_figure(board: Leaderboard, group: Standings) -> Figure | None:
    """Return the ranked rows with intervals, ties as bars and the chance line.

    None if no row has an interval.
    """
    rows = [row for row in group.ranked if not math.isnan(row.estimate.low)]
    if not rows:
        return None
    return Figure(
        name="leaderboard",
        kind="dots",
        title=say("{measure} by model", measure=word(board.measure).capitalize()),
        subtitle=_figure_subtitle(board, group),
        marks=tuple(_dot(row) for row in rows),
        levels=chance_levels(group),
        spans=tuple(Span(first=first, last=last) for first, last in group.ties),
        row_axis=word("model"),
        value_axis=say("score (%)"),
        x_axis=say("ranks left open"),
    )


def _figure_subtitle(board: Leaderboard, group: Standings) -> str:
    """Return the number of items and the kind of intervals."""
    made_up = f"{say('simulated, no model was asked')}; " if group.simulated else ""
    items = f"{counted(group.n_items, 'item')}; " if group.is_common else ""
    kind = say(
        "{level:g}% intervals for {population}",
        level=100 * board.confidence,
        population=word(board.population),
    )
    tied = f"; {say('bars join models that are not significantly different')}" if group.ties else ""
    return f"{made_up}{items}{kind}{tied}"


def _dot(row: BoardRow) -> Mark:
    estimate, rank = row.estimate, row.rank
    return estimate_mark(
        estimate,
        row=row.label,
        text=shown_estimate(estimate),
        x_low=float("nan") if rank is None else rank.low,
        x_high=float("nan") if rank is None else rank.high,
    )
