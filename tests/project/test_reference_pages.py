"""The pages of the reference list what there is: keys of run files, sections, analyses, terms."""

from __future__ import annotations

import re

from tools.resolved import ROOT

from proofstone.method import every_method
from proofstone.results.request import ERRORS
from proofstone.results.sections.catalogue import ANALYSES
from proofstone.run.run_file import ASKING_KEYS, MODEL_KEYS, TOP_KEYS

REFERENCE = ROOT / "docs" / "reference"
RESULTS = ROOT / "src" / "proofstone" / "results"


def rows_under(heading: str) -> list[list[str]]:
    """The cells of each row of a table of the page on formats, without its head."""
    page = (REFERENCE / "formats.md").read_text(encoding="utf-8")
    section = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [line for line in section.partition("\n### ")[0].splitlines() if line.startswith("|")]
    return [row.strip("| ").split(" | ") for row in rows[2:]]


def names_in(cell: str) -> list[str]:
    return re.findall(r"`([\w-]+)`", cell)


def test_every_key_of_a_run_file_is_listed_where_it_is_taken() -> None:
    """``all`` is the top, a prompting method and a model."""
    places = {name: row[1] for row in rows_under("Run files") for name in names_in(row[0])}
    assert set(places) == {*TOP_KEYS, *MODEL_KEYS}
    assert {name for name, where in places.items() if where == "all"} == set(ASKING_KEYS)
    assert {name for name, where in places.items() if "model" in where} == (
        set(MODEL_KEYS) - set(ASKING_KEYS)
    )
    assert {name for name, where in places.items() if "top" in where} == (
        set(TOP_KEYS) - set(ASKING_KEYS)
    )


def test_every_section_of_a_report_is_listed() -> None:
    files = [*RESULTS.glob("sections/*.py"), RESULTS / "audit" / "consistency.py"]
    made = {
        name
        for path in files
        for name in re.findall(r'\bSection\(\s*name="([\w-]+)"', path.read_text(encoding="utf-8"))
    }
    listed = {name for row in rows_under("Report sections") for name in names_in(row[0])}
    assert made - {*ANALYSES} <= listed
    assert {"keys", "statements"} <= listed  # one section, named by what the file calls them


def test_every_analysis_is_listed() -> None:
    own = {name for method in every_method() for name in method.analyses}
    listed = {name for row in rows_under("Analyses") for name in names_in(row[0])}
    assert listed == {*ANALYSES, ERRORS, *own}


def test_the_glossary_has_at_most_60_terms_each_once_in_order() -> None:
    page = (REFERENCE / "glossary.md").read_text(encoding="utf-8")
    terms = [line.split("|")[1].strip().lower() for line in page.splitlines() if line[:2] == "| "]
    assert terms[1:] == sorted(set(terms[1:]))
    assert 50 <= len(terms[1:]) <= 60
