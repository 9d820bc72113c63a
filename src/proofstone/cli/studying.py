"""``report --study``: a study's sentence and table on stdout, its figure's data in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from proofstone.cli.figure_options import figures_line
from proofstone.cli.output import print_json, say

if TYPE_CHECKING:
    from proofstone.stages.figure_files import FiguresAsked

__all__ = ["STUDY_NAMES", "report_study"]

# Written out, because the catalogue loads NumPy; a test compares them.
STUDY_NAMES = (
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
    "difficulty",
    "topics",
    "random",
    "effort",
    "domains",
    "prompts",
    "ranges",
    "popularity",
)


def report_study(
    name: str,
    targets: Sequence[str],
    output: Path | None,
    estimand: str,
    folder: Path | None,
    *,
    pairs: Sequence[str] = (),
    beside: str = "",
    beside_items: int | None = None,
    drawn: FiguresAsked | None = None,
    scorings: Sequence[str] = (),
    as_json: bool,
) -> None:
    """Performs a study and prints it; with ``output``, writes the figure's data there, and with
    ``drawn`` its figures."""
    from proofstone.stages.corrected import View  # noqa: PLC0415
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    with open_workspace(folder) as workspace:
        study = workspace.study(
            name, *targets, estimand=estimand, pairs=pairs, beside=beside,
            beside_items=beside_items or 0, view=View(scorings=tuple(scorings)),
        )  # fmt: skip
        if output is not None:
            workspace.write_figure_data(study, output)
        written = None if drawn is None else workspace.write_study_figures(study, drawn)
    if as_json:
        print_json(study)
        return
    from proofstone.report.studies import render_study  # noqa: PLC0415

    click.echo(render_study(study), nl=False)
    if output is not None:
        say(f"the figure's data ({len(study.points)} marks) is in {output}")
    if written is not None:
        say(f"figures  {figures_line(written)}")
