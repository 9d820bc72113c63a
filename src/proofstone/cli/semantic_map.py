"""``check --map``: a map of texts in meaning, and how far their groups stand apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from proofstone.cli.output import print_json, print_table, say
from proofstone.errors import BadUsage

if TYPE_CHECKING:
    from proofstone.stages.semantic_maps import SemanticMap

__all__ = ["show_map"]

_ENDINGS = (".svg", ".png", ".html", ".json")


def show_map(target: str, path: Path, seed: int, folder: Path | None, *, as_json: bool) -> None:
    """Writes the map of a bank or form to ``path`` and prints what it says in numbers."""
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    if path.suffix.lower() not in _ENDINGS:
        raise BadUsage(f"--map writes {', '.join(_ENDINGS)}, not {path.suffix or path.name}")
    with open_workspace(folder) as workspace:
        drawn = workspace.semantic_map(target, seed=seed)
        workspace.write_map(drawn, path)
    if as_json:
        print_json(drawn)
        return
    _show(drawn)
    say(f"the map is in {path}")


def _show(drawn: SemanticMap) -> None:
    from proofstone.engines.stats import FLAGS  # noqa: PLC0415
    from proofstone.report.numbers import shown_estimate  # noqa: PLC0415

    apart = drawn.separation
    of = f" of {drawn.n_all:,}, drawn by seed {drawn.seed}" if drawn.n_all > drawn.n_texts else ""
    click.echo(f"{drawn.target}  {drawn.n_texts:,} {drawn.nature}{of}; vectors by {drawn.embedder}")
    index = apart.index
    click.echo(
        f"separation by {drawn.level}: {index.value:.2f} [{index.low:.2f}, {index.high:.2f}]  "
        "(0 mixed, 1 apart)"
    )
    click.echo(
        f"of the {apart.k} nearest others {shown_estimate(apart.agreement)}% are of the same "
        f"{drawn.level}, {100 * apart.chance:.1f}% by chance"
    )
    for text in (FLAGS[flag] for flag in FLAGS if flag in index.flags):
        click.echo(f"! {text}")
    rows = [(drawn.level, "texts", "neighbours of it", "by chance")]
    rows += [
        (group.name, f"{group.n:,}", f"{100 * group.agreement:.1f}", f"{100 * group.chance:.1f}")
        for group in apart.groups
    ]
    print_table(rows)
