"""Cells that hold a score and its uncertainty."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from reading import written

from proofstone.errors import BadUsage
from proofstone.results.audit.audit import Asked, Audit, audit_files
from proofstone.results.audit.column_names import Layout
from proofstone.results.board import BoardRow

CELLS = [
    "48.55\u00b10.56",
    "48.55 (0.56)",
    "48.55 +/- 0.56",
    "48.55 \u00b1 0.56%",
    "48.55 \\pm 0.56",
]


def audited(path: Path, asked: Asked | None = None) -> Audit:
    return audit_files([path], asked or Asked())


def rows(audit: Audit) -> list[BoardRow]:
    return list(audit.board.standings[0].ranked)


@pytest.mark.parametrize("cell", CELLS)
def test_the_second_number_is_shown_and_gives_no_interval_unless_named(
    tmp_path: Path, cell: str
) -> None:
    """A cell cannot tell a standard error from a deviation: that is said, with the option that
    names it; then the interval is 48.55 +- 1.96 * 0.56. A bare or empty cell has no second one."""
    path = written(tmp_path, f"model,accuracy\na,{cell}\nb,40.10\nc,-\nd,{cell}\n")
    audit = audited(path)
    assert [row.name for row in rows(audit)] == ["a", "d", "b"]
    assert rows(audit)[0].estimate.value == pytest.approx(0.4855)
    assert all(math.isnan(row.estimate.low) for row in rows(audit))
    assert any('--stderr-col "accuracy uncertainty"' in note for note in audit.notes)
    (shown,) = (each for each in audit.sections if each.name == "metrics")
    assert shown.tables[0].rows[0][-1] in ("0.56", "0.56%")
    first = rows(audited(path, Asked(named=Layout(stderr="accuracy uncertainty"))))[0]
    assert first.estimate.low == pytest.approx(0.4855 - 1.959964 * 0.0056)


@pytest.mark.parametrize(
    ("header", "has_interval"),
    [("Accuracy (SE)", True), ("acc \u00b1 stderr", True), ("acc (\u00b1 std)", False),
     ("acc (95% CI)", False)],
)  # fmt: skip
def test_the_header_says_what_the_second_number_is(
    tmp_path: Path, header: str, has_interval: bool
) -> None:
    """A standard error gives intervals; a standard deviation or half an interval is shown."""
    path = written(tmp_path, f"model,{header}\na,48.55 \u00b1 0.56\nb,40.10 \u00b1 0.60\n")
    audit = audited(path)
    assert [not math.isnan(row.estimate.low) for row in rows(audit)] == [has_interval] * 2
    assert not any("second number" in note for note in audit.notes)


def test_a_number_in_brackets_that_is_no_uncertainty_is_refused(tmp_path: Path) -> None:
    """A count or a rank behind a score is never cut off."""
    path = written(tmp_path, "model,accuracy\na,48.5 (500)\nb,40.1 (2)\n")
    with pytest.raises(BadUsage):
        audited(path)
