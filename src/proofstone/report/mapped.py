"""A map of texts in meaning, as a figure and as a section of a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from proofstone.records import StoredMap
from proofstone.report.numbers import points, shown_estimate
from proofstone.report.sections.section import Column, Figure, Mark, Section, Table
from proofstone.wording import say, word

__all__ = ["MappedText", "map_figure", "map_section"]

_SHOWN = 120
_LONGEST_NAME = 80  # a longer name of a group is a text of its own


class MappedText(NamedTuple):
    """A fact or item of a map, and what its dot says; empty where nothing may be told."""

    row: bytes
    text: str


def map_figure(kept: StoredMap, told: Sequence[MappedText]) -> Figure:
    """The map as a figure: a panel a group, its texts in front of all others. ``told`` is of the
    map's rows, in their order."""
    index = kept.separation.index
    names = _names(kept)
    marks = [
        (names[group], place, each.text)
        for group, place, each in zip(kept.group, kept.places, told, strict=True)
    ]
    return Figure(
        name="semantic-map",
        kind="map",
        title=say("Semantic map of {nature}", nature=word(kept.nature)),
        subtitle=say(
            "{n:,} texts, t-SNE of {embedder}, seed {seed}; separation of the groups {value:.2f} "
            "[{low:.2f}, {high:.2f}] (0 mixed, 1 apart). Places and distances have no scale.",
            n=len(kept.rows), embedder=kept.embedder, seed=kept.seed,
            value=index.value, low=index.low, high=index.high,
        ),
        marks=tuple(
            Mark(row=group, column=group, x=x, value=y, text=text[:_SHOWN])
            for group, (x, y), text in sorted(marks)
        ),
        value_unit="number",
        x_unit="number",
    )  # fmt: skip


def map_section(name: str, kept: StoredMap, told: Sequence[MappedText]) -> Section:
    """The map with its separation index, which needs no picture, and each group's share. ``name``
    tells it from other maps of the page."""
    apart = kept.separation
    return Section(
        name=f"semantic-map-{name}",
        title=say("Semantic separation of {nature}", nature=word(kept.nature)),
        finding=say(
            "Separation by {level}: {value:.2f} [{low:.2f}, {high:.2f}], where 0 is mixed and 1 is "
            "apart.",
            level=word(kept.level), value=apart.index.value, low=apart.index.low,
            high=apart.index.high,
        ),
        plain=say(
            "{share}% of the {k} nearest neighbors of a text belong to its own group; {chance}% "
            "are expected by chance.",
            k=apart.k, share=shown_estimate(apart.agreement), chance=points(apart.chance),
        ),
        cannot=say(
            "Distances on the map have no scale: they do not measure how similar two texts are."
        ),
        how=say(
            "As kept by {command}: vectors by {embedder}, {n:,} of {n_all:,} texts, seed {seed}. "
            "Texts that share a statement or a passage are never counted as neighbours; intervals "
            "resample sources.",
            command="check --map", embedder=kept.embedder, n=len(kept.rows), n_all=kept.n_all,
            seed=kept.seed,
        ),
        tables=(_groups(kept),),
        figures=(map_figure(kept, told),),
    )  # fmt: skip


def _groups(kept: StoredMap) -> Table:
    rows = tuple(
        (name, group.n, group.agreement, group.chance)
        for name, group in zip(_names(kept), kept.separation.groups, strict=True)
    )
    columns = (
        Column(key="group", name=say("Group")),
        Column(key="n", name=say("Texts"), digits=0),
        Column(key="own", name=say("Neighbors in its own group"), unit="share"),
        Column(key="chance", name=say("By chance"), unit="share"),
    )
    return Table(title=say("Groups"), columns=columns, rows=rows)


def _names(kept: StoredMap) -> list[str]:
    return [
        group.name if len(group.name) <= _LONGEST_NAME else f"group {place}"
        for place, group in enumerate(kept.separation.groups, start=1)
    ]
