"""Would the ranking be the same with other items? Subsamples, and the bootstrap, named apart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from proofstone.engines.stats import Stability, bootstrap_stability, subsample_stability
from proofstone.report.numbers import MISSING
from proofstone.report.sections.ranked_values import RankedValues, ranked_values
from proofstone.report.sections.section import Cell, Column, Evidence, Figure, Mark, Section, Table

__all__ = ["stability_section"]

_TOP = 10
_MOST_DRAWN = 20  # rows of the figure of ranks


def stability_section(evidence: Evidence) -> Section | None:
    """Kendall's tau over the top ten, retention of the first rank and of the top, and the ranks
    that each respondent takes. None with fewer than two ranked, or fewer than ten items."""
    ranked = ranked_values(evidence)
    if ranked is None or len(ranked.values) < 10:
        return None
    k = min(_TOP, len(ranked.respondents))
    by_rate = subsample_stability(ranked.values, ranked.strata, k=k, seed=evidence.seed)
    boot = bootstrap_stability(ranked.values, ranked.strata, k=k, seed=evidence.seed)
    return Section(
        name="stability",
        title="Whether the ranking is stable",
        finding=_finding(ranked, by_rate[0], boot),
        plain=_plain(ranked, boot),
        cannot=_cannot(ranked, boot),
        how=_how(ranked, boot),
        tables=(_schemes((*by_rate, boot)), _ranks(ranked, boot)),
        figures=tuple(_figure(ranked, boot)),
    )


def _finding(ranked: RankedValues, half: Stability, boot: Stability) -> str:
    kept, anew = _percent(half.first_alone), _percent(boot.first_alone)
    return (
        f"With half of the items the order of the top {half.k} agrees with the whole by a tau of "
        f"{_two(half.tau.mean)}, and {_leader(ranked, half)} stays first in {kept} of draws; with "
        f"as many items drawn anew, in {anew}."
    )


def _leader(ranked: RankedValues, drawn: Stability) -> str:
    """Who is first in the full sample; where several share it, staying is said of any of them."""
    if len(drawn.leaders) == 1:
        return ranked.labels[drawn.leaders[0]]
    return f"one of the {len(drawn.leaders)} that share the lead"


def _plain(ranked: RankedValues, boot: Stability) -> str:
    stays = boot.first_alone
    how_often = "almost always" if stays > 0.95 else "mostly" if stays > 0.7 else "often not"
    return (
        f"Had other questions of the same kind been asked, {_leader(ranked, boot)} would "
        f"{how_often} have come first ({_percent(stays)} of {boot.n_draws:,} trials)."
    )


def _cannot(ranked: RankedValues, boot: Stability) -> str:
    wide = [spread for spread in boot.ranks if spread.high - spread.low >= 5]
    if not wide:
        return ""
    return (
        f"{len(wide)} of {len(boot.ranks)} models move over six ranks or more when items are drawn "
        "anew: their place in the order is an accident of these items."
    )


def _how(ranked: RankedValues, boot: Stability) -> str:
    within = f" within each {ranked.level}" if ranked.level else ""
    return (
        f"{boot.n_draws:,} draws each, seed {boot.seed}, of {boot.resampled}{within}. A subsample "
        "without replacement varies less than a fresh set of items of the full size would (see its "
        "share of the variance); the bootstrap, with replacement, varies as much. Both take items "
        "as independent. Ranks are computed anew in each draw."
    )


def _schemes(found: Sequence[Stability]) -> Table:
    return Table(
        title="Stability by scheme of drawing",
        columns=(
            Column(key="scheme", name="scheme"),
            Column(key="rate", name="rate", digits=2),
            Column(key="items", name="items drawn"),
            Column(key="variance_share", name="share of the variance", digits=2,
                   help="of what a fresh set of as many items as there are would vary"),
            Column(key="tau", name="tau", digits=3,
                   help="Kendall's tau-b over the top, between the whole and a draw"),
            Column(key="tau_low", name="2.5%", digits=3, help="quantile of tau over the draws"),
            Column(key="tau_high", name="97.5%", digits=3, help="quantile of tau over the draws"),
            Column(key="first", name="first stays", unit="share",
                   help="the leader is first, and no other ties with it"),
            Column(key="overlap", name="top kept", unit="share",
                   help="share of the top that a draw has in its own top"),
        ),
        rows=tuple(
            (
                each.scheme, each.rate, each.n_drawn, each.variance_share, each.tau.mean,
                each.tau.low, each.tau.high, each.first_alone, each.overlap.mean,
            )
            for each in found
        ),
        sorts=False,
    )  # fmt: skip


def _ranks(ranked: RankedValues, boot: Stability) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            ranked.labels[spread.respondent],
            spread.rank,
            spread.low,
            spread.high,
            spread.mean,
            spread.counts[0] / boot.n_draws,
        )
        for spread in sorted(boot.ranks, key=lambda spread: spread.rank)
    ]
    return Table(
        title="Ranks when items are drawn anew",
        columns=(
            Column(key="model", name="model"),
            Column(key="rank", name="rank", help="on all items; equal means share the best rank"),
            Column(key="low", name="best", help="95% of the draws give this rank or a worse one"),
            Column(
                key="high", name="worst", help="95% of the draws give this rank or a better one"
            ),
            Column(key="mean", name="mean rank", digits=1),
            Column(key="first", name="first in", unit="share"),
        ),
        rows=tuple(rows),
        note="The bootstrap: as many items as there are, with replacement.",
    )


def _figure(ranked: RankedValues, boot: Stability) -> Iterator[Figure]:
    shown = sorted(boot.ranks, key=lambda spread: spread.rank)[:_MOST_DRAWN]
    if len(shown) < 3:
        return
    width = max(rank for spread in shown for rank, n in enumerate(spread.counts, start=1) if n)
    marks = [
        Mark(
            row=ranked.labels[spread.respondent],
            column=str(rank),
            value=n / boot.n_draws,
            n=boot.n_draws,
            text=f"{100 * n / boot.n_draws:.0f}" if n / boot.n_draws >= 0.01 else "",
        )
        for spread in shown
        for rank, n in enumerate(spread.counts[:width], start=1)
    ]
    yield Figure(
        name="ranks",
        kind="ranks",
        title="Ranks when items are drawn anew",
        subtitle=f"percent of {boot.n_draws:,} bootstrap draws in which a model has each rank; "
        f"{boot.n_units:,} items",
        marks=tuple(marks),
        row_axis="model",
        column_axis="rank",
        value_axis="percent of draws",
    )


def _two(value: float) -> str:
    return MISSING if math.isnan(value) else f"{value:.2f}"


def _percent(share: float) -> str:
    return MISSING if math.isnan(share) else f"{100 * share:.0f}%"
