"""Whether a leaderboard's overall column follows from its strata."""

from __future__ import annotations

import numpy as np

from proofstone.records.accuracies import Accuracies
from proofstone.report.sections.section import Column, Evidence, Section, Table
from proofstone.wording import counted, listed, say, say_of, word

__all__ = ["totals_section"]

# Two decimals of percent, of the overall and of each stratum: both may be half a unit off.
_ROUNDING = 0.0001


def totals_section(evidence: Evidence) -> Section | None:
    """The overall column against the means of the strata, weighted by their items and plain; None
    unless a table of accuracies gives an overall and at least two strata."""
    found = evidence.accuracies
    if found is None or np.isnan(found.overall).all() or len(found.strata) < 2:
        return None
    ways = _means(found)
    off = {way: np.abs(means - found.overall) for way, means in ways.items()}
    best = min(ways, key=lambda way: float(np.nanmedian(off[way])) if len(off[way]) else 1.0)
    wrong = np.flatnonzero(off[best] > _ROUNDING)
    n = int((~np.isnan(found.overall)).sum())
    return Section(
        name="totals",
        title=say("Whether the overall column follows from the others"),
        finding=_finding(best, n, len(wrong)),
        plain=_plain(found, wrong) if 0 < len(wrong) <= n / 2 else "",
        how=say(
            "Each overall accuracy is compared with the mean of its row, weighted by items where "
            "their numbers are known, and plain; one hundredth of a point is allowed for rounding."
        ),
        tables=(_table(found, ways[best], wrong),) if 0 < len(wrong) <= n / 2 else (),
    )


def _finding(way: str, n: int, wrong: int) -> str:
    if wrong > n / 2:
        return say(
            "The overall column is not the {way}: {wrong} of {n} rows differ from it.",
            way=word(way),
            wrong=wrong,
            n=n,
        )
    return say(
        "The overall column is the {way}: {agree} of {n} rows agree within rounding.",
        way=word(way),
        agree=n - wrong,
        n=n,
    )


def _means(found: Accuracies) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    means = {"plain mean of the groups": found.value.mean(axis=1)}
    if (found.counts > 0).all():
        weighted = found.value @ (found.counts / found.counts.sum())
        means = {"mean of the groups weighted by their items": weighted, **means}
    return means


def _plain(found: Accuracies, wrong: np.ndarray[tuple[int], np.dtype[np.intp]]) -> str:
    return say_of(
        len(wrong),
        "{rows} disagrees with itself, so some printed number there is wrong: {models}.",
        "{rows} disagree with themselves, so some printed number there is wrong: {models}.",
        rows=counted(len(wrong), "row"),
        models=listed([found.models[place] for place in wrong[:5].tolist()]),
    )


def _table(
    found: Accuracies,
    means: np.ndarray[tuple[int], np.dtype[np.float64]],
    wrong: np.ndarray[tuple[int], np.dtype[np.intp]],
) -> Table:
    return Table(
        title=say("Rows that disagree with themselves"),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="printed", name=say("overall as printed")),
            Column(key="recomputed", name=say("recomputed")),
        ),
        rows=tuple(
            (
                found.models[place],
                f"{100 * found.overall[place]:.2f}",
                f"{100 * means[place]:.2f}",
            )
            for place in wrong.tolist()
        ),
    )
