"""Every table under docs/data: its own ranking, its misprints, and no alarm beside them."""

from __future__ import annotations

import csv
from functools import cache
from typing import NamedTuple

import pytest
from reading import layout_of
from tools.resolved import ROOT

from proofstone.errors import BadUsage
from proofstone.page.section import Section
from proofstone.records.scores import Misprint
from proofstone.results.audit.audit import Asked, Audit, audit_files
from proofstone.results.audit.column_names import Layout

DATA = ROOT / "docs" / "data"


class Known(NamedTuple):
    """A table: the options it is audited with, the column of its own ranking (empty: the mean of
    all groups by their items), how many misprints it has, and who are no models."""

    title: str
    options: str
    asked: Asked
    headline: str
    n_misprints: int


TABLES = {
    "bequ-leaderboard": Known("BeQu, leaderboard", "", Asked(), "F1", 2),
    "chinese-simpleqa-table-2": Known("Chinese SimpleQA, Table 2", "", Asked(), "F", 0),
    "chinese-simpleqa-table-3": Known(
        "Chinese SimpleQA, Table 3",
        "--score-col open --items 300",
        Asked(named=Layout(score="open"), items={"": 300}),
        "open",
        3,
    ),
    "chinese-simpleqa-table-4": Known("Chinese SimpleQA, Table 4", "", Asked(), "F", 15),
    "elaipbench-table-2": Known("ELAIPBench, Table 2", "", Asked(), "Total", 4),
    "encyclo-k-table-3": Known("Encyclo-K, Table 3", "", Asked(), "all", 0),
    "encyclo-k-table-4": Known(
        "Encyclo-K, Table 4",
        "--score-col sample-wise",
        Asked(named=Layout(score="sample-wise")),
        "sample-wise",
        0,
    ),
    "encyclo-k-table-5": Known("Encyclo-K, Table 5", "", Asked(), "", 0),
    "kina-table-3": Known("KINA, Table 3", "--runs 4", Asked(runs=4), "ALL", 5),
    "kina-table-6": Known(
        "KINA, Table 6", "--score-col direct", Asked(named=Layout(score="direct")), "direct", 0
    ),
    "kina-table-7": Known(
        "KINA, Table 7",
        "--as accuracies --model-col discipline",
        Asked(named=Layout(kind="accuracies", model="discipline")),
        "mean accuracy",
        0,
    ),
    "kina-table-13": Known("KINA, Table 13", "", Asked(), "Avg@4", 0),
}
# Tables without a score: statistics of items.
REFUSED = {"chinese-simpleqa-figure-15": "no column is known as"}
NEED_A_CHOICE = ("chinese-simpleqa-table-3", "encyclo-k-table-4", "kina-table-6", "kina-table-7")


@cache
def audited(name: str) -> Audit:
    return audit_files([DATA / f"{name}.csv"], TABLES[name].asked)


def records(name: str) -> list[dict[str, str]]:
    with (DATA / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def rows_of(name: str) -> list[dict[str, str]]:
    return [row for row in records(name) if row.get("model") != "n"]


def printed_order(name: str) -> list[str]:
    """The models by the column that the paper ranks by, computed from the file alone; of equal ones
    the order is by name."""
    column, rows = TABLES[name].headline, rows_of(name)
    first = next(iter(rows[0])) if "model" not in rows[0] else "model"

    def value(row: dict[str, str]) -> float:
        if column:
            return float(row[column])
        counts = {key: int(n) for key, n in records(name)[-1].items() if key != "model"}
        return sum(float(row[key]) * n for key, n in counts.items()) / sum(counts.values())

    def label(row: dict[str, str]) -> str:
        return f"{row[first]} ({row['search']})" if "search" in row else row[first]

    return [label(row) for row in sorted(rows, key=lambda row: (-value(row), label(row)))]


def ranking(audit: Audit) -> list[str]:
    (group,) = audit.board.standings
    return [row.name for row in group.ranked]


def consistency(audit: Audit) -> Section | None:
    return next((each for each in audit.sections if each.name == "consistency"), None)


def misprints(audit: Audit) -> list[Misprint]:
    found = consistency(audit)
    if found is None or found.tables[0].title != "Misprints":
        return []
    return [
        Misprint(
            row=str(row[0]), cell=str(row[1]), check="k/n", printed=str(row[3]),
            recomputed=str(row[4]), allowed=str(row[5]),
        )
        for row in found.tables[0].rows
    ]  # fmt: skip


def test_every_table_of_the_documents_is_known() -> None:
    """A new file under docs/data needs its line here."""
    assert {path.stem for path in DATA.glob("*.csv")} == {*TABLES, *REFUSED}


@pytest.mark.parametrize("name", TABLES)
def test_the_ranking_is_the_papers_own(name: str) -> None:
    """Nothing else is averaged into it."""
    assert ranking(audited(name)) == printed_order(name)


@pytest.mark.parametrize("name", TABLES)
def test_the_misprints_are_found_and_nothing_else(name: str) -> None:
    """Those that docs/explanation/reproductions.md derives; none on sound tables."""
    assert len(misprints(audited(name))) == TABLES[name].n_misprints


@pytest.mark.parametrize("name", [*REFUSED, *NEED_A_CHOICE])
def test_tables_whose_score_nothing_tells_are_refused(name: str) -> None:
    """With the choices; none of their columns is averaged or ranked against another."""
    with pytest.raises(BadUsage) as caught:
        layout_of(DATA / f"{name}.csv")
    assert "--score-col" in str(caught.value) or "--model-cols" in str(caught.value)


def summary() -> list[str]:
    """The lines of the table in docs/explanation/reproductions.md."""
    lines = []
    for name, known in TABLES.items():
        audit = audited(name)
        section = consistency(audit)
        table = section.tables[-1] if section is not None else None
        checked = sum(int(str(row[1])) for row in table.rows if row[3] == "yes") if table else 0
        agreed = "yes" if ranking(audit) == printed_order(name) else "no"
        found = len(misprints(audit))
        options = f"`{known.options}`" if known.options else "none"
        score = known.headline or "mean of A to H by n"
        extra = found - known.n_misprints
        lines.append(
            f"| {known.title} | `{name}.csv` | {options} | {score} | {agreed} | {checked:,} | "
            f"{found} | {extra} |"
        )
    return lines


def listed() -> list[str]:
    """The lines of the list of misprints there."""
    return [
        f"| {known.title} | {each.row} | {each.cell} | {each.printed} | {each.recomputed} | "
        f"{each.allowed} |"
        for name, known in TABLES.items()
        for each in misprints(audited(name))
    ]


def test_the_documents_list_what_is_found() -> None:
    """The two tables of docs/explanation/reproductions.md, line by line."""
    text = (ROOT / "docs" / "explanation" / "reproductions.md").read_text(encoding="utf-8")
    lines = [
        line
        for line in text.splitlines()
        if line.startswith(("| BeQu", "| Chinese", "| ELAIP", "| Encyclo", "| KINA"))
    ]
    assert lines == [*summary(), *listed()]
