"""A page on paper: A4, all of it, nothing cut, and every sheet says what it is from."""

from __future__ import annotations

import re

import pytest

from browser.pages import PAGES, Page
from browser.tab import Tab
from browser.tables import Seen

pdfium = pytest.importorskip("pypdfium2")

A4 = (595, 842)  # points
# The width of what is printed, in pixels of 1/96 inch: 210 mm less two margins of 14.
PAPER = round((210 - 28) / 25.4 * 96)


def sheets(printed: bytes) -> list[str]:
    """The text of each sheet; all of them must be A4."""
    document = pdfium.PdfDocument(printed)
    try:
        assert {tuple(round(side) for side in sheet.get_size()) for sheet in document} == {A4}
        return [sheet.get_textpage().get_text_range() for sheet in document]
    finally:
        document.close()


def bare(text: str) -> str:
    """Without spaces and without hyphens, which end a line as other characters."""
    return re.sub(r"[\s\u00ad\u2010\ufffe-]", "", text)


# Rows of the tables that are open, but for those that have too many.
ROWS = """[...document.querySelectorAll("main table")]
  .filter((table) => !table.closest("details:not([open]), .items")
    && !table.matches(".unprinted"))
  .flatMap((table) => [...table.tBodies].flatMap((body) => [...body.rows]))
  .map((row) => [...row.cells].map((cell) => cell.textContent))"""


@pytest.mark.parametrize("name", ["report", "partial", "empty"])
def test_paper_holds_all_open_tables(tab: Tab, page: Page, name: str) -> None:
    """A closed fold stays closed: what it holds is on the page and in the files."""
    tab.open(page(name))
    rows = tab.read(ROWS)
    assert rows or name == "empty"
    whole = bare("".join(sheets(tab.pdf())))
    assert [row for row in rows if not all(bare(cell) in whole for cell in row)] == []


def test_without_scripts_paper_holds_them_too(tab: Tab, page: Page) -> None:
    tab.without_scripts()
    tab.open(page("report"))
    rows = tab.read(ROWS)
    whole = bare("".join(sheets(tab.pdf())))
    assert [row for row in rows if not all(bare(cell) in whole for cell in row)] == []


def test_a_long_table_is_replaced_by_where_its_rows_are(tab: Tab, page: Page) -> None:
    """Of more than 50 rows none is printed, and a line says so; with a filter its rows are."""
    tab.open(page("accuracies"))
    tab.read("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    tab.show_as("print")
    long = """[...document.querySelectorAll("main table.unprinted")]
      .map((each) => [each.checkVisibility(), each.nextElementSibling.innerText])"""
    found = tab.read(long)
    assert found
    assert not any(is_seen for is_seen, _said in found)
    assert all(said.endswith("not printed: see the page or its CSV files (--tables csv).")
               for _is_seen, said in found)  # fmt: skip


def test_every_sheet_says_run_time_and_version(tab: Tab, page: Page) -> None:
    """Of many runs the first few; all stand on the last sheet."""
    tab.open(page("report"))
    version = tab.read("document.querySelector('footer dd').innerText")
    line = tab.read("document.querySelectorAll('footer dd')[1].innerText")
    runs = tab.read("document.querySelectorAll('footer dd')[2].innerText").split(", ")
    printed = sheets(tab.pdf())
    made = re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", line)
    assert made is not None
    assert 1 <= len(printed) <= 20
    for place, sheet in enumerate(printed, start=1):
        for said in (*runs[:4], made.group(), version, f"{place} / {len(printed)}"):
            assert bare(said) in bare(sheet)
    assert all(bare(run) in bare(printed[-1]) for run in runs)


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_wider_than_the_paper(tab: Tab, page: Page, name: str) -> None:
    """Figures shrink to it; a table of many columns is printed row by row."""
    tab.open(page(name))
    tab.resize(PAPER)
    tab.show_as("print")
    tab.read("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    wider = tab.read(
        """[...document.querySelectorAll("body *")].filter((each) => {
          const box = each.getBoundingClientRect();
          return box.width && box.right > innerWidth + 1 && each.checkVisibility();
        }).map((each) => `${each.tagName} ${each.textContent.trim().slice(0, 40)}`)"""
    )
    assert wider == []
    tall = "[...document.querySelectorAll('.drawn svg')].map((each) => each.clientHeight)"
    assert all(height <= 240 / 25.4 * 96 + 1 for height in tab.read(tall))
    has_tools = bool(tab.read("document.querySelectorAll('.tools').length"))
    assert has_tools == (name != "empty"), "else nothing is tried below"
    assert tab.read(
        "[...document.querySelectorAll('input, select, .tools button')]"
        ".every((each) => !each.checkVisibility())"
    )


def test_what_is_filtered_says_so_on_paper(tab: Tab, page: Page) -> None:
    tab.open(page("accuracies"))
    board = Seen(tab, "Leaderboard")
    n_all = len(board.column("model"))
    board.search("thinking")
    n_left = len(board.column("model"))
    tab.show_as("print")
    assert board.look("tools.innerText").split() == (
        f"{n_left} of {n_all} rows Only: thinking".split()
    )
