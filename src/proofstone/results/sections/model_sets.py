"""Items by the set of models that reach a threshold on them: what an UpSet plot shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import starmap

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.page.section import Figure, Mark, Table, column, table_of
from proofstone.results.sections.parts import (
    Analysis,
    Part,
    complete_everywhere,
    group_codes,
    left_out,
    make_analysis,
)
from proofstone.wording.messages import listed, say, word

# The ten best models, as UpSet plots of leaderboards show; more have too many combinations.
_MOST_MODELS = 10


_MOST_DRAWN, _MOST_ROWS = 24, 40


_THRESHOLD = 35.0


# Exclusive intersections (Lex, Gehlenborg, Strobelt, Vuillemot and Pfister 2014): each element is
# counted once, under the combination of all sets that it belongs to.


class Intersection(Struct, frozen=True, kw_only=True):
    """Elements (indices) that belong to all of ``sets`` (indices, ascending) and to no other."""

    sets: tuple[int, ...]
    elements: tuple[int, ...]

    @property
    def n(self) -> int:
        """Return the number of elements."""
        return len(self.elements)


def intersections(member: NDArray[np.bool_]) -> tuple[Intersection, ...]:
    """Return the occupied exclusive intersections of ``member`` (elements, sets), largest first.

    Equally large ones are in order of fewer sets, then of the sets' numbers. The intersection
    without any set is one of them. Together they hold each element exactly once.
    """
    patterns, place = np.unique(member, axis=0, return_inverse=True)
    place = place.reshape(-1)
    found = [
        Intersection(
            sets=tuple(np.flatnonzero(pattern).tolist()),
            elements=tuple(np.flatnonzero(place == code).tolist()),
        )
        for code, pattern in enumerate(patterns)
    ]
    return tuple(sorted(found, key=lambda each: (-each.n, len(each.sets), each.sets)))


def members_from(values: NDArray[np.float64], threshold: float) -> NDArray[np.bool_]:
    """Return which ``values`` (elements, sets; shares, no NaN) reach a threshold in (0, 1].

    A value that equals the threshold up to rounding of floats reaches it. Raises BadUsage for a
    threshold outside.
    """
    if not 0.0 < threshold <= 1.0:
        raise BadUsage(
            f"the threshold of a set must be above 0 and at most 100%, got {100 * threshold:g}%",
            hint="--threshold 35",
        )
    reached: NDArray[np.bool_] = values >= threshold - 1e-9
    return reached


class _Sets(Struct, frozen=True):
    """Values (elements, models) with the elements that each combination of models reaches.

    ``what`` are "items", or the level whose groups are the elements; ``names`` are those of the
    groups, empty for items. ``labels`` are the models, best first.
    """

    what: str
    names: tuple[str, ...]
    labels: tuple[str, ...]
    reached: NDArray[np.bool_]
    found: tuple[Intersection, ...]

    def models(self, each: Intersection) -> str:
        """Return the models of a combination."""
        return listed([self.labels[place] for place in each.sets], 10) or say("no model")

    @property
    def n(self) -> int:
        """Return the number of elements."""
        return len(self.reached)

    @property
    def elements(self) -> str:
        """Return what the elements are, in words."""
        return word("groups of items" if self.names else "items")


def analyze_sets(
    parts: Sequence[Part], *, threshold: float = _THRESHOLD, level: str = ""
) -> Analysis:
    """Return items by the exact set of models whose mean score reaches ``threshold`` (in %).

    With a ``level``, the elements are its groups instead of items, and a model's value is its mean
    over the group's items. Of more than ten models the ten best count. Raises BadUsage if no model
    is complete, for a threshold outside (0, 100], and for an unknown level.
    """
    (part,) = parts
    labels = complete_everywhere(parts)
    units, values = part.block(labels)
    order = np.argsort(-values.mean(axis=0), kind="stable")[:_MOST_MODELS]
    chosen = tuple(labels[place] for place in order)
    values = values[:, order]
    names: tuple[str, ...] = ()
    if level:
        names, values = _by_group(part, level, units, values)
    reached = members_from(values, threshold / 100.0)
    sets = _Sets(
        part.table.level_names.get(level, level) if level else "items",
        names,
        chosen,
        reached,
        intersections(reached),
    )
    title = say("Items by the models that reach {at:g}%", at=threshold)
    if level:
        title = say("{what}: which models reach {at:g}%", what=word(sets.what), at=threshold)
    return make_analysis(
        "sets",
        title,
        _finding(sets, threshold),
        columns=(
            column("models", say("exactly these models"), sets.models),
            column("n_models", say("models"), lambda each: len(each.sets)),
            column("n", "n", "n"),
            column("share", say("share"), lambda each: each.n / sets.n, unit="share"),
            *(
                [column("elements", word(sets.what),
                        lambda each: listed([word(names[place]) for place in each.elements], 20))]
                if names else []
            ),
        ),
        rows=sets.found[:_MOST_ROWS],
        axes=("place", "items" if not level else "groups"),
        marks=_marks(sets),
        notes=tuple(_notes(part, sets, labels, threshold)),
        more=(_totals(sets, threshold),),
        figures=(_figure(sets, title),),
    )  # fmt: skip


def _by_group(
    part: Part, level: str, units: NDArray[np.int64], values: NDArray[np.float64]
) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Return the groups of a level that have items, and the models' means in each."""
    names, codes = group_codes(part, level, units)
    means = np.array([values[codes == code].mean(axis=0) for code in range(len(names))])
    return names, means


def _finding(sets: _Sets, threshold: float) -> str:
    by_number = sets.reached.sum(axis=1)
    m = len(sets.labels)
    if m < 2:
        return say(
            "{model} reaches {at:g}% on {all:,} of {n:,} {what}.",
            model=sets.labels[0],
            at=threshold,
            all=int(by_number.sum()),
            n=sets.n,
            what=sets.elements,
        )
    said = say(
        "All {models} models reach {at:g}% on {all:,} of {n:,} {what} and none on {none:,}",
        n=sets.n,
        what=sets.elements,
        all=int((by_number == m).sum()),
        none=int((by_number == 0).sum()),
        models=m,
        at=threshold,
    )
    alone = int((by_number == 1).sum())
    return say("{said}; exactly one does on {one:,}.", said=said, one=alone)


def _marks(sets: _Sets) -> Iterator[Mark]:
    for place, each in enumerate(sets.found, start=1):
        yield Mark(row=sets.models(each), x=float(place), value=float(each.n), n=sets.n)


def _totals(sets: _Sets, threshold: float) -> Table:
    """Return how many elements each model reaches, and how many it alone does."""
    alone = sets.reached & (sets.reached.sum(axis=1) == 1)[:, None]

    def row(place: int, label: str) -> tuple[str, int, int]:
        return label, int(sets.reached[:, place].sum()), int(alone[:, place].sum())

    return table_of(
        say("By model, at {at:g}%", at=threshold),
        list(starmap(row, enumerate(sets.labels))),
        column("model", say("model"), "0"),
        column("n", say("reached"), "1"),
        column("share", say("share"), lambda each: each[1] / sets.n, unit="share"),
        column("alone", say("by it alone"), "2"),
    )


def _notes(part: Part, sets: _Sets, labels: Sequence[str], threshold: float) -> Iterator[str]:
    yield say(
        "Each is counted once, under the models that reach the threshold on it. Means of few "
        "samples have a large sampling error: other samples give other sets."
    )
    if len(sets.found) > _MOST_ROWS:
        yield say(
            "The {n} largest of {all} combinations; -o FILE writes all.",
            n=_MOST_ROWS,
            all=len(sets.found),
        )
    k = _samples(part, sets.labels)
    if not sets.names and k:
        yield say(
            "Items have {k} samples: {points} takes {right} of them right.",
            k=k,
            points=f"{threshold:g}%",
            right=int(np.ceil(k * threshold / 100.0 - 1e-9)),
        )
    if len(labels) > len(sets.labels):
        yield say("The {n} best of {all} models.", n=len(sets.labels), all=len(labels))
    yield from left_out([part], labels)


def _samples(part: Part, labels: Sequence[str]) -> int:
    """Return the number of right-or-wrong samples of every item and model; 0 if it varies."""
    table, counted = part.table, part.sheet.counted
    own = np.isin(table.respondent, [part.complete[label] for label in labels])
    own &= ~np.isnan(counted)
    if not np.isin(counted[own], (0.0, 1.0)).all():
        return 0
    pairs = table.respondent[own].astype(np.int64) * len(table.items) + table.unit[own]
    numbers = np.unique(np.unique(pairs, return_counts=True)[1])
    return int(numbers[0]) if len(numbers) == 1 else 0


def _figure(sets: _Sets, title: str) -> Figure:
    """Return a column per combination, largest first, and a row per model.

    Marks have the combination's number of elements; ``text`` is set where the model belongs to it.
    ``x`` is the number of all elements that the model reaches.
    """
    shown = sets.found[:_MOST_DRAWN]
    totals = sets.reached.sum(axis=0)
    cut = say("the {n} largest of {all} combinations", n=len(shown), all=len(sets.found))
    told = say("{n:,} {what}, each under exactly the models that reach it", n=sets.n,
               what=sets.elements)  # fmt: skip
    return Figure(
        name="sets",
        kind="sets",
        title=title,
        subtitle=say("; ").join([told, *([cut] if len(shown) < len(sets.found) else [])]),
        marks=tuple(
            Mark(
                row=label,
                column=str(number),
                value=float(each.n),
                n=each.n,
                text=say("reaches it") if place in each.sets else "",
                x=float(totals[place]),
            )
            for number, each in enumerate(shown, start=1)
            for place, label in enumerate(sets.labels)
        ),
        value_axis=sets.elements,
        value_unit="number",
        x_axis=say("reached"),
        x_unit="number",
        table=1,
    )
