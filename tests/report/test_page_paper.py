"""What stands on every printed sheet, and how any text goes safely into a style sheet."""

from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.page.section import Column, Section, Table
from proofstone.results.page import render_page, rows_on_paper
from proofstone.results.page_parts import css_string, paper_line
from report.made_up import two_small
from report.test_page import page_of


@given(st.text())
def test_a_text_in_a_style_sheet_comes_back_as_it_was(text: str) -> None:
    """Nothing but letters, digits, spaces and backslashes stands between the quotes, and numbers
    of characters are read as CSS reads them: up to six hexadecimal digits and one space."""
    written = css_string(text)
    inner = written.removeprefix('"').removesuffix('"')
    assert all(c.isalnum() or c in "\\ " for c in inner)
    assert re.sub(r"\\([0-9a-f]{1,6}) ", lambda found: chr(int(found[1], 16)), inner) == text


def test_a_hostile_title_does_not_end_the_style_sheet() -> None:
    data = msgspec.structs.replace(page_of(two_small()), title='x"} </style><script>1</script>')
    page = render_page(data)
    assert page.count("</style>") == 1
    assert page.count("</script>") == 1


def test_of_many_runs_a_sheet_names_the_first() -> None:
    data = page_of(two_small())
    assert paper_line(data.title, data.provenance) == (
        "Elements \N{MIDDLE DOT} 2c1e, 9f00 \N{MIDDLE DOT} 2026-11-21 02:30 UTC "
        "\N{MIDDLE DOT} proofstone 0.1.0"
    )
    runs = tuple(f"run:{n}" for n in range(6))
    provenance = msgspec.structs.replace(data.provenance, runs=runs)
    many = msgspec.structs.replace(data, provenance=provenance)
    assert "run:0, run:1, run:2, run:3 +2" in paper_line(many.title, many.provenance)


@pytest.mark.parametrize(
    ("rows", "columns", "printed"),
    [
        (20, 7, 20),
        (1770, 7, 1000 // 7),
        (1770, 1, 1000),
        (60, 62, 1000 // 62),
        (40, 12, 40),
        (3, 2000, 1),
    ],
)
def test_of_a_long_table_the_first_rows_go_on_paper(rows: int, columns: int, printed: int) -> None:
    """A thousand cells, some two sheets; the rest stands on the page, and it is said."""
    table = Table(
        title="All pairs",
        columns=tuple(Column(key=f"c{n}", name=f"c{n}") for n in range(columns)),
        rows=tuple((0,) * columns for _ in range(rows)),
    )
    assert rows_on_paper(table) == printed
    part = Section(name="pairs", title="Pairs", finding="Some.", tables=(table,))
    page = render_page(msgspec.structs.replace(page_of(two_small()), sections=(part,)))
    assert page.count('<tr class="unprinted">') == rows - printed
    said = f"On paper the first {printed:,} of {rows:,} rows;"
    assert (said in page) == (printed < rows)
