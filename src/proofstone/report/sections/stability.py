"""Would the ranking be the same with other items? Subsamples, and the bootstrap, named apart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from proofstone.engines.stats import Stability, bootstrap_stability, subsample_stability
from proofstone.report.numbers import MISSING
from proofstone.report.sections.ranked_values import RankedValues, ranked_values
from proofstone.report.sections.section import Cell, Column, Evidence, Figure, Mark, Section, Table
from proofstone.wording import counted, paragraph, say, word

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
        title=say("Whether the ranking is stable"),
        finding=_finding(ranked, by_rate[0], boot),
        plain=_plain(ranked, boot),
        cannot=_cannot(ranked, boot),
        how=_how(ranked, boot),
        tables=(_schemes((*by_rate, boot)), _ranks(ranked, boot)),
        figures=tuple(_figure(ranked, boot)),
    )


def _is_level(drawn: Stability) -> bool:
    """Whether the whole top scores the same, so that there is no order to keep."""
    return math.isnan(drawn.tau.mean) and len(drawn.leaders) >= drawn.k > 1


def _finding(ranked: RankedValues, half: Stability, boot: Stability) -> str:
    if _is_level(half):
        return say(
            "The top {k} score the same, so there is no order that other items could keep or "
            "change.",
            k=half.k,
        )
    kept, anew = _percent(half.first_alone), _percent(boot.first_alone)
    return say(
        "With half of the items the order of the top {k} agrees with the whole by a tau of "
        "{mean}, and {leader} stays first in {kept} of draws; with as many items drawn anew, "
        "in {anew}.",
        k=half.k,
        mean=_two(half.tau.mean),
        leader=_leader(ranked, half),
        kept=kept,
        anew=anew,
    )


def _leader(ranked: RankedValues, drawn: Stability) -> str:
    """Who is first in the full sample; where several share it, staying is said of any of them."""
    if len(drawn.leaders) == 1:
        return ranked.labels[drawn.leaders[0]]
    return say("one of the {n} that share the lead", n=len(drawn.leaders))


def _plain(ranked: RankedValues, boot: Stability) -> str:
    if _is_level(boot):
        return say("These questions rank none of the top {k} above another.", k=boot.k)
    stays = boot.first_alone
    if stays > 0.95:
        how_often = say("almost always")
    else:
        how_often = say("mostly") if stays > 0.7 else say("often not")
    return say(
        "Had other questions of the same kind been asked, {leader} would {how_often} have come "
        "first ({stays} of {n_draws:,} trials).",
        leader=_leader(ranked, boot),
        how_often=how_often,
        stays=_percent(stays),
        n_draws=boot.n_draws,
    )


def _cannot(ranked: RankedValues, boot: Stability) -> str:
    wide = [spread for spread in boot.ranks if spread.high - spread.low >= 5]
    if not wide:
        return ""
    return say(
        "{n} of {all} models move over six ranks or more when items are drawn anew: their "
        "place in the order is an accident of these items.",
        n=len(wide),
        all=len(boot.ranks),
    )


def _how(ranked: RankedValues, boot: Stability) -> str:
    drawn = {"n": boot.n_draws, "seed": boot.seed, "what": word(boot.resampled)}
    draws = (
        say(
            "{n:,} draws each, seed {seed}, of {what} within each {level}.",
            level=word(ranked.level),
            **drawn,
        )
        if ranked.level
        else say("{n:,} draws each, seed {seed}, of {what}.", **drawn)
    )
    return paragraph(
        draws,
        say(
            "A subsample without "
            "replacement varies less than a fresh set of items of the full size would (see its "
            "share of the variance); the bootstrap, with replacement, varies as much. Both take "
            "items as independent. Ranks are computed anew in each draw.",
        ),
    )


def _schemes(found: Sequence[Stability]) -> Table:
    return Table(
        title=say("Stability by scheme of drawing"),
        columns=(
            Column(key="scheme", name=say("scheme")),
            Column(key="rate", name=say("rate"), digits=2),
            Column(key="items", name=say("items drawn")),
            Column(key="variance_share", name=say("share of the variance"), digits=2,
                   help=say("of what a fresh set of as many items as there are would vary")),
            Column(key="tau", name=say("tau"), digits=3,
                   help=say("Kendall's tau-b over the top, between the whole and a draw")),
            Column(key="tau_low", name="2.5%", digits=3,
                   help=say("quantile of tau over the draws")),
            Column(key="tau_high", name="97.5%", digits=3,
                   help=say("quantile of tau over the draws")),
            Column(key="first", name=say("first stays"), unit="share",
                   help=say("the leader is first, and no other ties with it")),
            Column(key="overlap", name=say("top kept"), unit="share",
                   help=say("share of the top that a draw has in its own top")),
        ),
        rows=tuple(
            (
                word(each.scheme), each.rate, each.n_drawn, each.variance_share, each.tau.mean,
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
        title=say("Ranks when items are drawn anew"),
        columns=(
            Column(key="model", name=say("model")),
            Column(
                key="rank",
                name=say("rank"),
                help=say("on all items; equal means share the best rank"),
            ),
            Column(
                key="low",
                name=say("best"),
                help=say("95% of the draws give this rank or a worse one"),
            ),
            Column(
                key="high",
                name=say("worst"),
                help=say("95% of the draws give this rank or a better one"),
            ),
            Column(key="mean", name=say("mean rank"), digits=1),
            Column(key="first", name=say("first in"), unit="share"),
        ),
        rows=tuple(rows),
        note=say("The bootstrap: as many items as there are, with replacement."),
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
        title=say("Ranks when items are drawn anew"),
        subtitle=say(
            "percent of {n_draws:,} bootstrap draws in which a model has each rank; {items}",
            n_draws=boot.n_draws,
            items=counted(boot.n_units, "item"),
        ),
        marks=tuple(marks),
        row_axis=say("model"),
        column_axis=say("rank"),
        value_axis=say("percent of draws"),
        table=2,
    )


def _two(value: float) -> str:
    return MISSING if math.isnan(value) else f"{value:.2f}"


def _percent(share: float) -> str:
    return MISSING if math.isnan(share) else f"{100 * share:.0f}%"
