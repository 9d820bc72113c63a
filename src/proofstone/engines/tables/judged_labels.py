"""The columns of people's and of a judge's labels, as codes of the same labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from proofstone.engines.tables.item_facts import cluster_edges, fact_of_items
from proofstone.engines.tables.label_codes import column_of, label_codes, text_codes
from proofstone.engines.tables.layout import Layout
from proofstone.engines.tables.problems import Problems
from proofstone.engines.tables.scores_in import ScoresIn
from proofstone.errors import BadUsage
from proofstone.records import Judged, TextCodes

__all__ = ["judged_labels"]


def judged_labels(parts: Sequence[ScoresIn]) -> Judged | None:
    """Both labels of every record of the files in which people's column is named; None where it is
    named in none. Labels are numbers where all are (1, true and correct are the same then), else
    texts without the spaces around them.

    Raises BadUsage without a judge's column, and where there are more than twenty labels.
    """
    chosen = [part for part in parts if part.layout.human]
    if not chosen:
        return None
    people = [column_of(part.table, part.layout.human) for part in chosen]
    judge = [column_of(part.table, _judge(part.layout)) for part in chosen]
    known = label_codes(
        [*people, *judge],
        whose="people and the judge",
        hint="name columns of labels, or of scores with few steps: --human COLUMN --judge COLUMN",
    )
    items, models = TextCodes(), TextCodes()
    units = [text_codes(column_of(part.table, part.layout.item), items) for part in chosen]
    named = dict.fromkeys(name for part in chosen for name in part.layout.clusters)
    problems = Problems([part.table for part in chosen])
    facts = [fact_of_items(chosen, units, name, len(items), problems) for name in named]
    problems.refuse()
    edges = cluster_edges(facts)
    return Judged(
        labels=known.labels,
        people=np.concatenate([known.codes(column) for column in people]),
        judge=np.concatenate([known.codes(column) for column in judge]),
        item=np.concatenate(units),
        model=np.concatenate(
            [text_codes(column_of(part.table, part.layout.model), models) for part in chosen]
        ),
        models=models.names(),
        values=known.values,
        cluster_item=edges.unit,
        cluster_key=edges.key,
    )


def _judge(layout: Layout) -> str:
    name = layout.judge or layout.score
    if not name:
        raise BadUsage(
            f"column {layout.human!r} has people's labels, but no column is known as the judge's",
            hint="name it: --judge COLUMN",
        )
    return name
