"""The other benchmark of a study of rankings: a row of the workspace, or anybody's file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from proofstone.engines.store import Found, Store
from proofstone.errors import BadUsage
from proofstone.ports import Method
from proofstone.stages.studies import parts_together

if TYPE_CHECKING:
    from proofstone.records import Accuracies
    from proofstone.report.studies import Part

__all__ = ["benchmark_beside"]


def benchmark_beside(
    store: Store,
    find_method: Callable[[str], Method],
    find: Callable[[str], Found],
    named: str,
    n_items: int = 0,
) -> Part | Accuracies:
    """The results that ``named`` means: a file, as ``audit`` reads it (scores by item, or a model
    and a score each), else a form, a bank or a run. ``n_items`` stand behind a file of scores alone
    that does not say how many.

    Raises what reading does; BadUsage for ``n_items`` of what has items.
    """
    path = Path(named)
    found = (
        _of_file(path) if path.is_file() else parts_together(store, find_method, [find(named)])[0]
    )
    alone = _overall_alone(found, n_items)
    if alone is not None:
        return alone
    if n_items:
        raise BadUsage(
            f"{named} has its items, so their number is known", hint="leave --beside-items out"
        )
    return found


def _of_file(path: Path) -> Part | Accuracies:
    from proofstone.report.studies import Part  # noqa: PLC0415 - numpy is loaded there
    from proofstone.stages.audit import Asked, read_either  # noqa: PLC0415

    found = read_either([path], Asked())
    if not isinstance(found, tuple):
        return replace(found, name=path.name)
    table, measure = found
    return Part(name=path.name, kind="file", seed=None, recipe={}, table=table, measure=measure)


def _overall_alone(found: Part | Accuracies, n_items: int) -> Accuracies | None:
    """Of scores alone the overall ones, with how many items stand behind them where that is known;
    None of what has items."""
    import numpy as np  # noqa: PLC0415

    from proofstone.records import Accuracies  # noqa: PLC0415
    from proofstone.report.accuracy_board import overall_accuracies  # noqa: PLC0415

    if not isinstance(found, Accuracies):
        return None
    n = n_items or found.n_items
    return Accuracies(
        name=found.name,
        models=found.models,
        strata=(),
        value=np.empty((len(found.models), 0)),
        overall=overall_accuracies(found),
        counts=np.array([n] if n else [], dtype=np.int64),
    )
