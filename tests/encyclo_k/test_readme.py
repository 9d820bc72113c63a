"""The method's README says what is so: names exist, numbers are those of the page and the code."""

from __future__ import annotations

import re
from pathlib import Path

from tools.extraction_report import KINDS, REFERENCES

from proofstone.methods.encyclo_k.method import METHOD
from proofstone.records.runs import OUTCOMES

ROOT = Path(__file__).parents[2]
README = ROOT / "src" / "proofstone" / "methods" / "encyclo_k" / "README.md"
TEXT = README.read_text(encoding="utf-8")

# [file.py](path/to/file.py) `name`, `other_name`
_NAMED = re.compile(r"\]\((?P<path>[^)#]+\.py)\) (?P<names>`\w+`(?:, `\w+`)*)")


def test_every_function_that_is_named_stands_in_the_file_beside_it() -> None:
    named = [(match["path"], re.findall(r"\w+", match["names"])) for match in _NAMED.finditer(TEXT)]
    assert len(named) > 40
    missing = [
        f"{path}: {name}"
        for path, names in named
        for name in names
        if not re.search(
            rf"^(?:async )?(?:def|class) {name}\b|^{name}(?::.*)? = ",
            (README.parent / path).read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    ]
    assert missing == []


def test_every_file_of_the_folder_is_in_the_order_of_reading() -> None:
    """The package's own files; tables/ is named as a folder, and __init__ says the order too."""
    part = TEXT.partition("\n## How to read the folder\n")[2].partition("\n## ")[0]
    files = {path.name for path in README.parent.glob("*.py")} - {"__init__.py"}
    assert {name for name in files if f"({name})" not in part} == set()


def test_the_page_of_extraction_compares_the_papers_reading_with_six_others() -> None:
    """The page is generated from the responses: a row an extractor and one of ours, and every kind
    of disagreement with its readings."""
    page = (ROOT / "docs" / "reference" / "extraction.md").read_text(encoding="utf-8")
    rows = page.partition("### Agreement with other extractors")[2].partition("###")[0]
    names = [row.strip("| ").split(" | ")[0] for row in rows.splitlines() if row.count("|") == 8]
    assert names[2:] == [*REFERENCES.values(), "ours"]
    kinds = page.partition("### Disagreements by kind")[2]
    assert sum(kinds.count(f"\n{kind}: ") for kind in KINDS.values()) == len(KINDS)
    assert kinds.count(" readings.\n") == len(KINDS)
    assert "They agree on 329 responses; 328 of them are read the same here." in page


def test_what_each_outcome_counts_as_is_what_the_measures_say() -> None:
    """``answered`` stands in two rows, right and not; the others in one each."""
    worth = {measure.name: dict(measure.counts) for measure in METHOD.measures}
    table = next(part for part in TEXT.split("\n\n") if part.startswith("| outcome | accuracy |"))
    cells = [row.strip("| ").split(" | ") for row in table.splitlines()[2:]]
    said = {re.split(r"[,:]", row[0])[0]: row[1:3] for row in cells[1:]}
    assert cells[0][:3] == ["answered, the right option", "1", "0"]
    for outcome in OUTCOMES:
        counts = [worth[name].get(outcome) for name in ("accuracy", "no answer")]
        shown = ["not counted" if n is None else f"{0 if n == 'value' else n:g}" for n in counts]
        assert said[outcome] == shown
