"""What stands on every printed sheet, and how any text goes safely into a style sheet."""

from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.page.section import Column, Section, Table
from proofstone.results.page import render_page
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


@pytest.mark.parametrize(("rows", "is_printed"), [(50, True), (51, False), (1770, False)])
def test_a_table_of_more_than_50_rows_is_not_printed(rows: int, is_printed: bool) -> None:
    """A line says how many rows there are and where they can be read."""
    table = Table(
        title="All pairs",
        columns=(Column(key="a", name="a"),),
        rows=tuple((0,) for _ in range(rows)),
    )
    part = Section(name="pairs", title="Pairs", finding="Some.", tables=(table,))
    page = render_page(msgspec.structs.replace(page_of(two_small()), sections=(part,)))
    assert ("unprinted" in page.split('id="pairs"')[1].split("</section>")[0]) != is_printed
    said = f"{rows:,} rows, not printed: see the page or its CSV files (--tables csv)."
    assert (said in page) != is_printed
