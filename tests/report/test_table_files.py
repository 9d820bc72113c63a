"""The tables of a page as files: every number, as computed; TeX that compiles whatever it holds."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.files.tables import read_rows
from proofstone.files.write import write_rows
from proofstone.page.section import Cell, Column, PageTable, Table, flat_rows
from proofstone.page.tex import tex_document, tex_table, tex_text
from proofstone.records.runs import Estimate
from proofstone.records.scores import Documents, ScoreTable
from proofstone.results.audit.audit import Asked, audit_files, audit_page
from proofstone.results.measured_scores import Sheet
from proofstone.results.page_files import TablesAsked, long_tables, page_tables, write_tables
from proofstone.results.page_parts import PageData, Provenance
from proofstone.results.rankings import leaderboard
from proofstone.results.sections.catalogue import make_sections
from proofstone.results.sections.evidence import Evidence
from proofstone.stats.ranks import RankInterval
from report.made_up import MEASURES, mixed, two_small

HOSTILE = (
    "\\input{/etc/passwd}", "a & b % c", "$x_1^2$", "{", "}}", "[2em] first", "*star", "#1 ~ ^ _",
    "a--b ''c'' ``d`` <<e>>", "\u4e2d\u6587\u6a21\u578b\uff08\u4e00\uff09\uff1a\u957f\u540d\u79f0",
    "caf\u00e9 \u0142 \u0105 \u0416 \U0001f600", "line\nbreak\ttab\rreturn",
    "\x00\x1b[31m\u202e\u2066 bidi", "\ud800", "", " ", "=1+1", "-", "--", "\\", "\\\\", "%",
    "\u03b1 \u2264 \u03a9 \u00b5 \u00b2", "a" * 200, "lab/very_long/" * 8, "?`!`,,",
)  # fmt: skip
ESTIMATE = Estimate(
    value=0.5, n=40, low=0.25, high=0.75, population="this item bank", made_by="t",
        resampled="items"
)  # fmt: skip
evil = st.text(st.characters(exclude_categories=[]), max_size=30) | st.sampled_from(HOSTILE)


def page_of(table: ScoreTable) -> PageData:
    board = leaderboard(table, MEASURES, "accuracy", by_document=True)
    sheet = Sheet(table, MEASURES[0].counts)
    return PageData(
        title="Elements",
        board=board,
        provenance=Provenance(version="0.1.0", made_at="2026-11-21 02:30 UTC"),
        sections=make_sections(Evidence(board=board, sheet=sheet, seed=7)),
        seed=7,
    )


def table_of(*texts: str, value: Cell = 0.25) -> PageTable:
    """Texts wherever a text can stand, each with a number beside it."""
    columns = (Column(key="name", name="name"), Column(key="x", name=texts[0], unit="points"))
    rows = tuple((text, value) for text in texts)
    title, note = texts[0], texts[-1]
    table = Table(title=title, columns=columns, rows=rows, note=note)
    return PageTable(name="evil", table=table, notes=(texts[0],))


def test_every_table_of_the_page_is_there_once() -> None:
    """The leaderboards of both standings, other averages, and all of the sections."""
    data = page_of(mixed())
    names = [page.name for page in page_tables(data)]
    assert names[:5] == ["leaderboard", "by-population", "by-level", "other-measures", "incomplete"]
    assert "leaderboard-2" in names
    in_sections = [
        f"{part.name}-{k + 1}" for part in data.sections for k in range(len(part.tables))
    ]
    assert [name for name in names if name in in_sections] == in_sections
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)


def test_estimates_are_spread_over_columns_and_unrounded() -> None:
    """Six columns an estimate, two a rank; two columns of one key are told apart."""
    third = Estimate(
        value=1 / 3, n=9, low=0.1, high=float("nan"), population="this item bank", level=0.9
    )
    columns = (
        Column(key="rank", name="rank"),
        Column(key="a", name="a"),
        Column(key="a", name="b"),
        Column(key="x", name="x"),
    )
    rows: tuple[tuple[Cell, ...], ...] = (
        (RankInterval(1, 3), third, "=1+1", 2),
        (None, None, None, float("nan")),
    )
    names, flat = flat_rows(Table(title="t", columns=columns, rows=rows))
    assert names == [
        "rank_low", "rank_high", "a_value", "a_low", "a_high", "a_n", "a_population",
        "a_confidence", "a", "x",
    ]  # fmt: skip
    assert list(flat[0].values()) == [1, 3, 1 / 3, 0.1, None, 9, "this item bank", 0.9, "=1+1", 2]
    assert set(flat[1].values()) == {None}


def test_columns_of_one_key_have_names_of_their_own() -> None:
    """A model may be called n."""
    columns = tuple(Column(key=key, name=key) for key in ("n", "n", "n_2"))
    names, _rows = flat_rows(Table(title="t", columns=columns, rows=((1, 2, 3),)))
    assert names == ["n", "n_2", "n_2_2"]


def test_a_table_as_csv_is_read_back_with_every_number(tmp_path: Path) -> None:
    """One header row; no cell that a spreadsheet would evaluate; a table without rows has one."""
    names, rows = flat_rows(table_of("=cmd()", "@x", value=ESTIMATE).table)
    write_rows(tmp_path / "t.csv", rows, columns=names)
    text = (tmp_path / "t.csv").read_text(encoding="utf-8")
    assert text.splitlines()[0] == "name,x_value,x_low,x_high,x_n,x_population,x_confidence"
    assert text.splitlines()[1].startswith("'=cmd(),0.5,0.25,0.75,40,this item bank,0.95")
    assert [row.values["name"] for row in read_rows(tmp_path / "t.csv")] == ["=cmd()", "@x"]
    write_rows(tmp_path / "none.csv", [], columns=names)
    assert (tmp_path / "none.csv").read_text(encoding="utf-8") == text.splitlines()[0] + "\n"


LEADERBOARD = r"""\providecommand{\toprule}{\hline}
\providecommand{\midrule}{\hline}
\providecommand{\bottomrule}{\hline}
\begin{table}[htbp]
\centering\footnotesize\setlength{\tabcolsep}{3pt}
\caption{Leaderboard (part 1 of 2): Elements.}
\label{tab:leaderboard}
\begin{tabular}{rlllrrr}
\toprule
rank & tied & model & prompt method & n & accuracy & truncated \\
\midrule
1\textendash{}2 & a & smollm2-135m & cot & 60 & \textbf{18.3 {[}10.6, 29.9{]}} & 6.7\% \\
1\textendash{}2 & a & smollm2-135m & direct & 60 & \textbf{15.0 {[}8.1, 26.1{]}} & 0.0\% \\
\bottomrule
\end{tabular}
\end{table}
\begin{table}[htbp]
\centering\footnotesize\setlength{\tabcolsep}{3pt}
\caption{Leaderboard (part 2 of 2): Elements.}
\label{tab:leaderboard:2}
\begin{tabular}{rlllrrr}
\toprule
rank & tied & model & prompt method & unparsed & refused & no answer \\
\midrule
1\textendash{}2 & a & smollm2-135m & cot & 11.7\% & 0.0\% & 18.3\% \\
1\textendash{}2 & a & smollm2-135m & direct & 3.3\% & 0.0\% & 3.3\% \\
\bottomrule
\end{tabular}
\par\smallskip
\parbox{\linewidth}{\raggedright
95\% intervals for the domain of this item bank (Wilson; resampled unit: items), n = 60. For some
intervals, the facts behind the items are unknown, so items were treated as independent. Models
that share a letter are not significantly different (Holm-adjusted). Bold in LaTeX: statistically
tied for first (Holm-adjusted). Ranks come from paired comparisons on the same items,
Holm-adjusted for all pairs. A rank range holds the ranks compatible with all of them. Chance lies
inside both intervals: these results do not show knowledge. Chance is 20.0\%. Random seed of all
resampling: 7.
}
\end{table}
"""


def test_the_leaderboard_as_tex() -> None:
    """Ties by letters, intervals beside the values, and beneath it all that they rest on."""
    page = page_tables(page_of(two_small()))[0]
    text = tex_table(page, about="Elements", how=("Random seed of all resampling: 7.",))
    assert text == LEADERBOARD


def balanced(text: str) -> bool:
    """Whether braces that are no signs close in order."""
    depth = 0
    for brace in re.findall(r"[{}]", re.sub(r"\\[\\{}]", "", text)):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


@given(evil)
def test_any_text_is_escaped(text: str) -> None:
    """Nothing of it is a command, a comment, a column or a brace of its own; it is one line, and
    can be written as UTF-8."""
    tex = tex_text(text)
    assert balanced(tex)
    tex.encode("utf-8")
    assert "\n" not in tex
    bare = re.sub(r"\\[{}$&#_%]", "", tex)
    assert not re.search(r"[&#%~]", bare.replace("{,}", "").replace("~", "", tex.count("~")))
    assert set(re.findall(r"\\([A-Za-z]+)", tex)) <= COMMANDS


@given(st.lists(evil, min_size=1, max_size=5))
def test_any_table_is_whole(texts: list[str]) -> None:
    """Environments close, and every row has as many cells as columns."""
    text = tex_table(table_of(*texts), about=texts[0])
    assert balanced(text)
    for kind in ("table", "tabular"):
        assert text.count(rf"\begin{{{kind}}}") == text.count(rf"\end{{{kind}}}") == 1
    body = text.partition("\\midrule\n")[2].partition("\\bottomrule")[0]
    rows = body.splitlines()
    assert len(rows) == len(texts)
    assert all(len(re.findall(r"(?<!\\)&", row)) == 1 and row.endswith(r" \\") for row in rows)


COMMANDS = set(
    re.findall(
        r"\w+",
        """
        textbackslash textasciicircum textasciitilde textless textgreater textbar
        textquotedblright textquotedblleft textquoteleft textquoteright textendash textemdash
        dots textbullet textexclamdown textquestiondown ss ae AE oe OE o O l L i S P copyright
        pounds dag ddag ensuremath proofstonetext proofstonecjk allowbreak pm times div cdot le
        ge ne approx infty surd to leftarrow leftrightarrow circ Delta Sigma Omega alpha beta
        gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon
        phi chi psi omega u H v c d r
        """,
    )
)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no TeX on this machine")
def test_every_table_compiles_as_it_is(tmp_path: Path) -> None:
    """The hostile ones, wide and long ones and those of a page, by a real TeX without an error."""
    wide = Table(
        title="wide",
        columns=tuple(Column(key=f"c{i}", name=f"model {i}", unit="points") for i in range(12)),
        rows=tuple((f"row {i}", *[ESTIMATE] * 11) for i in range(60)),
    )
    pages = [
        *page_tables(page_of(mixed())),
        table_of(*HOSTILE, value=ESTIMATE),
        PageTable(name="wide", table=wide),
    ]
    for page in pages:
        text = tex_table(page, about=HOSTILE[0])
        (tmp_path / f"{page.name}.tex").write_text(text, encoding="utf-8")
    document = tex_document([f"{page.name}.tex" for page in pages])
    (tmp_path / "tables.tex").write_text(document, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "tables"],
        cwd=tmp_path,
        capture_output=True,
        timeout=120,
        check=False,
    )
    log = (tmp_path / "tables.log").read_text(encoding="utf-8", errors="replace")
    assert done.returncode == 0, log[-3000:]
    assert "Missing character" not in log


def test_of_many_pairs_the_page_lists_neighbors_and_leaders(tmp_path: Path) -> None:
    """Sixty models have 60 * 59 / 2 = 1,770 pairs: the page holds 59 neighbors and the pairs among
    25, and the files of its tables hold all, once."""
    rng = np.random.default_rng(3)
    scores = rng.random((40, 60)) < np.linspace(0.2, 0.9, 60)
    rows = [",".join(["q" + str(n), *map(str, row)]) for n, row in enumerate(scores.astype(int))]
    path = tmp_path / "many.csv"
    head = ",".join(["item", *(f"m{m}" for m in range(60))])
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    audit = audit_files([path], Asked())
    pairs = next(section for section in audit.sections if section.name == "pairs")
    assert [len(table.rows) for table in pairs.tables] == [59, 25 * 24 // 2]
    assert "1,770 pairs are too many for a page" in pairs.tables[1].note
    listed = {row[:2]: row for table in pairs.tables for row in table.rows}
    (every,) = long_tables(audit_page(audit, now=0.0))
    assert len({row[:2] for row in every.table.rows}) == 60 * 59 // 2
    cells = {row[:2]: row for row in every.table.rows}
    assert all(row[:6] == cells[key][:6] for key, row in listed.items())
    wanted = TablesAsked(tmp_path / "tables", ("csv", "tex"))
    written = write_tables(audit_page(audit, now=0.0), wanted)
    assert "pairs-all.csv" in written.files
    assert "pairs-all.tex" not in written.files
    assert long_tables(page_of(two_small())) == ()


def test_of_many_documents_the_page_lists_the_largest_and_a_file_all(tmp_path: Path) -> None:
    """Forty documents, of which the first holds 41 items, the second 40 ...: the page lists thirty,
    the CSV files all, and the TeX files no more than the page."""
    unit = np.concatenate([np.arange(n + 2) for n in range(40)]).astype(np.int32)
    document = np.concatenate([np.full(n + 2, n) for n in range(40)]).astype(np.int32)
    names = tuple(f"Volume {n:02}" for n in range(40))
    table = replace(two_small(), documents=Documents(unit, document, ("",) * len(unit), names))
    data = page_of(table)
    found = next(section for section in data.sections if section.name == "documents")
    (listed,) = found.tables
    heads = listed.columns[1:]
    assert [head.name for head in heads] == [f"Volume {39 - n:02}" for n in range(30)]
    assert [head.help for head in heads] == [f"n = {41 - n}" for n in range(30)]
    assert "11 more are not shown" in listed.note  # ten documents, and the items without one
    written = write_tables(data, TablesAsked(tmp_path / "t", ("csv", "tex")))
    assert "documents-all.tex" not in written.files
    with (tmp_path / "t" / "documents-all.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["n"] for row in rows] == [*(str(41 - n) for n in range(40)), "19"]
    assert rows[-1]["document"] == "(not given)"
