"""Ranking stability over subsamples and bootstrap resamples, and the probability of being best."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from msgspec import structs

from proofstone.errors import BadUsage
from proofstone.page.section import (
    MISSING,
    Cell,
    Column,
    Figure,
    Mark,
    Section,
    Table,
    column,
    points,
    shown_share,
    table_of,
)
from proofstone.records.ids import canonical_json
from proofstone.records.runs import Estimate
from proofstone.results.sections.evidence import Evidence, RankedValues, ranked_values
from proofstone.results.sections.parts import (
    Analysis,
    Part,
    complete_everywhere,
    left_out,
    make_analysis,
    mark_of,
)
from proofstone.stats.ranks import LEAST_EXPECTED, RankInterval, homogeneity, tau_b
from proofstone.stats.stability import (
    Shrinkage,
    ShrunkenScore,
    Stability,
    bootstrap_stability,
    subsample_stability,
)
from proofstone.wording.messages import counted, joined, paragraph, say, word

_TOP = 10


_MOST_RANKS = (
    40  # columns of the figure; with hundreds of models, shares of single ranks are near 0
)


_MOST_DRAWN = 20  # rows of the figure of ranks


_MOST_NAMED = 3  # models whose probability of being best is in a sentence


def stability_section(evidence: Evidence) -> Section | None:
    """Return Kendall's tau of the top ten, retention of the leader and the top, and rank shares.

    Also true scores under a hierarchical model. None with fewer than two ranked models or ten
    items.
    """
    ranked = ranked_values(evidence)
    if ranked is None or len(ranked.values) < 10:
        return None
    k = min(_TOP, len(ranked.respondents))
    by_rate = subsample_stability(
        ranked.values, ranked.strata, k=k, seed=ranked.seed,
        weighting=ranked.weighting, keys=ranked.clusters,
    )  # fmt: skip
    boot = bootstrap_stability(
        ranked.values, ranked.strata, k=k, seed=ranked.seed,
        weighting=ranked.weighting, keys=ranked.clusters,
    )  # fmt: skip
    return Section(
        name="stability",
        title=say("Ranking stability"),
        finding=_finding(ranked, by_rate[0], boot),
        plain=paragraph(_plain(boot), probability_of_best(ranked)),
        cannot=_cannot(boot),
        how=_how(ranked, by_rate[0], boot),
        tables=(
            _schemes((*by_rate, boot)),
            _ranks(ranked, boot),
            *([_true_scores(ranked, ranked.shrinkage)] if ranked.shrinkage else []),
        ),
        figures=tuple(_figure(ranked, boot)),
    )


def probability_of_best(ranked: RankedValues) -> str:
    """Return the posterior probability of being best for the most probable models.

    Empty if the hierarchical model does not apply. Summary and section use the same text.
    """
    found = ranked.shrinkage
    if found is None:
        return ""
    likeliest = sorted(found.scores, key=lambda score: -score.best)[:_MOST_NAMED]
    named = [
        say(
            "{model} ({share})",
            model=ranked.labels[score.respondent],
            share=shown_share(score.best) if score.best < 1 else ">99.9%",
        )
        for score in likeliest
        if score.best > 0
    ]
    return say(
        "Probability of having the highest true score (hierarchical model): {models}.",
        models=joined(named),
    )


def _is_level(drawn: Stability) -> bool:
    """Return True if all top models have the same score, so there is no order."""
    return math.isnan(drawn.tau.mean) and len(drawn.leaders) >= drawn.k > 1


def _finding(ranked: RankedValues, half: Stability, boot: Stability) -> str:
    if _is_level(half):
        return say(
            "The top {k} models have the same score, so the stability of their order is undefined.",
            k=half.k,
        )
    return paragraph(
        say(
            "With random halves of the items, the top-{k} ranking has a mean Kendall's tau of "
            "{mean} with the full ranking.",
            k=half.k,
            mean=MISSING if math.isnan(half.tau.mean) else f"{half.tau.mean:z.2f}",
        ),
        _first_alone(ranked, boot),
    )


def _first_alone(ranked: RankedValues, boot: Stability) -> str:
    """Return the share of resamples in which the leader alone ranks first."""
    told = {"stays": shown_share(boot.first_alone), "n_resamples": boot.n_resamples}
    if len(boot.leaders) == 1:
        return say(
            "{leader} alone ranks first in {stays} of {n_resamples:,} bootstrap resamples.",
            leader=ranked.labels[boot.leaders[0]],
            **told,
        )
    return say(
        "{n} models share the lead; no other model ranks first in {stays} of {n_resamples:,} "
        "bootstrap resamples.",
        n=len(boot.leaders),
        **told,
    )


def _plain(boot: Stability) -> str:
    if _is_level(boot):
        return ""
    return say("Stability over resamples is not the probability of being best.")


def _cannot(boot: Stability) -> str:
    wide = [spread for spread in boot.ranks if spread.high - spread.low >= 5]
    if not wide:
        return ""
    return say(
        "{n} of {all} models have a 95% bootstrap rank interval of six or more ranks.",
        n=len(wide),
        all=len(boot.ranks),
    )


def _how(ranked: RankedValues, half: Stability, boot: Stability) -> str:
    names = list(dict.fromkeys([half.resampled, boot.resampled]))
    what = {
        "n": boot.n_resamples,
        "seed": boot.seed,
        "what": joined([word(name) for name in names]),
    }
    draws = (
        say("{n:,} bootstrap resamples each of {what} (strata: {level}), seed {seed}.",
            level=word(ranked.level), **what)
        if any("strata" in name for name in names)
        else say("{n:,} bootstrap resamples each of {what}, seed {seed}.", **what)
    )  # fmt: skip
    return paragraph(
        draws,
        say(
            "Subsamples are without replacement and vary less than a new set of items of the full "
            "size (see their share of the variance). The bootstrap is with replacement and varies "
            "as much."
        ),
        say("Ranks are computed in each sample."),
        say(
            "Hierarchical model: true scores are normal around a common mean, observed scores have "
            "the items' covariance between models. The standard deviation of true scores is "
            "integrated out under a half-Cauchy prior (posterior median {sd} points [{low}, "
            "{high}]).",
            sd=points(found.spread),
            low=points(found.spread_low),
            high=points(found.spread_high),
        )
        if (found := ranked.shrinkage)
        else "",
    )


def _true_scores(ranked: RankedValues, found: Shrinkage) -> Table:

    def credible(each: ShrunkenScore) -> Estimate:
        return structs.replace(
            ranked.group.ranked[each.respondent].estimate,
            value=each.value,
            low=each.low,
            high=each.high,
            level=found.confidence,
            made_by=f"hierarchical normal model, {found.n_resamples} draws, seed {found.seed}",
            flags=(),
        )

    return table_of(
        say("True scores under the hierarchical model"),
        found.scores,
        column("model", say("model"), lambda each: ranked.labels[each.respondent]),
        column("score", say("score"),
               lambda each: ranked.group.ranked[each.respondent].estimate.value, unit="points"),
        column("shrunken", say("shrunken score"), credible, unit="points",
               help=say("posterior mean and credible interval of the true score")),
        column("best", say("probability of being best"), unit="share",
               help=say("posterior probability of the highest true score of all models here")),
    )  # fmt: skip


def _schemes(found: Sequence[Stability]) -> Table:
    return table_of(
        say("Stability by resampling scheme"),
        found,
        column("scheme", say("scheme"), lambda each: word(each.scheme)),
        column("rate", say("rate")),
        column("items", say("items resampled"), "n_drawn"),
        column("variance_share", say("share of the variance"),
               help=say("relative to a new set of as many items")),
        column("tau", say("tau"), "tau.mean", digits=3,
               help=say("Kendall's tau-b of the top models, full ranking against resample")),
        column("tau_low", "2.5%", "tau.low", digits=3, help=say("quantile over the resamples")),
        column("tau_high", "97.5%", "tau.high", digits=3,
               help=say("quantile over the resamples")),
        column("first", say("first stays"), "first_alone", unit="share",
               help=say("a leader of the full ranking is first, and no other model ties")),
        column("overlap", say("top kept"), "overlap.mean", unit="share",
               help=say("share of the top models that are also at the top of the resample")),
        sorts=False,
    )  # fmt: skip


def _ranks(ranked: RankedValues, boot: Stability) -> Table:
    return table_of(
        say("Ranks over bootstrap resamples"),
        sorted(boot.ranks, key=lambda spread: spread.rank),
        column("model", say("model"), lambda spread: ranked.labels[spread.respondent]),
        column("rank", say("rank"), help=say("on all items; equal means share the best rank")),
        column("low", say("best"), help=say("lower end of the 95% interval of ranks")),
        column("high", say("worst"), help=say("upper end of the 95% interval of ranks")),
        column("mean", say("mean rank"), digits=1),
        column("first", say("first, alone or tied"),
               lambda spread: spread.counts[0] / boot.n_resamples, unit="share"),
        note=say("Each bootstrap resample has as many items as the data, with replacement."),
    )  # fmt: skip


def _figure(ranked: RankedValues, boot: Stability) -> Iterator[Figure]:
    shown = sorted(boot.ranks, key=lambda spread: spread.rank)[:_MOST_DRAWN]
    if len(shown) < 3:
        return
    width = max(rank for spread in shown for rank, n in enumerate(spread.counts, start=1) if n)
    is_cut = width > _MOST_RANKS
    width = min(width, _MOST_RANKS)
    marks = [
        Mark(
            row=ranked.labels[spread.respondent],
            column=str(rank),
            value=n / boot.n_resamples,
            n=boot.n_resamples,
            text=f"{100 * n / boot.n_resamples:z.0f}" if n / boot.n_resamples >= 0.01 else "",
        )
        for spread in shown
        for rank, n in enumerate(spread.counts[:width], start=1)
    ]
    yield Figure(
        name="ranks",
        kind="ranks",
        title=say("Ranks over bootstrap resamples"),
        subtitle=say(
            "percent of {n_resamples:,} bootstrap resamples with each rank up to {most}; {items}"
            if is_cut
            else "percent of {n_resamples:,} bootstrap resamples with each rank; {items}",
            n_resamples=boot.n_resamples,
            items=counted(boot.n_units, "item"),
            most=_MOST_RANKS,
        ),
        marks=tuple(marks),
        row_axis=say("model"),
        column_axis=say("rank"),
        value_axis=say("resamples (%)"),
        table=2,
    )


# Variation of results between forms with different seeds (Encyclo-K 5.2, Figure 4).


def analyze_seeds(parts: Sequence[Part]) -> Analysis:
    """Return range and standard deviation over seeds, rank changes and Kendall's tau-b.

    They are compared with item sampling error alone. Intervals refer to fresh forms of the bank,
    because seeds vary the form. Raises BadUsage without two forms of one recipe.
    """
    parts = sorted(_of_one_recipe(parts), key=lambda p: (p.seed is None, p.seed or 0, p.name))
    parts = [replace(part, population="bank") for part in parts]
    labels = complete_everywhere(parts)
    by_part = [part.estimates(labels) for part in parts]
    table = np.array([[found[label].value for found in by_part] for label in labels])
    ranks = 1 + (table[None, :, :] > table[:, None, :]).sum(axis=1)  # ties share the better one
    names = [
        part.name if part.seed is None else say("seed {seed}", seed=part.seed) for part in parts
    ]
    order = np.argsort(-table.mean(axis=1), kind="stable").tolist()
    return make_analysis(
        "seeds",
        say("Accuracy by seed"),
        _seeds_finding(table, ranks),
        columns=(
            Column(key="model", name=say("model")),
            *(Column(key="seed", name=name, unit="points") for name in names),
            Column(key="mean", name=say("mean"), unit="points"),
            Column(key="range", name=say("range"), unit="points"),
            Column(key="sd", name=say("SD"), unit="points"),
            Column(key="sd_sampling", name=say("SD by sampling"), unit="points"),
            Column(key="p", name=say("p")),
            Column(key="ranks", name=say("ranks")),
        ),
        rows=(_seeds_row(parts, labels[i], table[i], ranks[i]) for i in order),
        axes=("seed", "accuracy"),
        marks=(
            mark_of(labels[i], name, found[labels[i]])
            for i in order
            for name, found in zip(names, by_part, strict=True)
        ),
        notes=(
            say(
                "SD by sampling: what fresh items of the bank alone would give at this number of "
                "items. p: that one accuracy holds on all seeds (chi-square; not shown where an "
                "expected count is below {least}).",
                least=LEAST_EXPECTED,
            ),
            *left_out(parts, labels),
        ),
    )


def _of_one_recipe(parts: Sequence[Part]) -> list[Part]:
    """Return the forms that differ only in their seed; other forms of a bank are ignored."""
    by_recipe: dict[bytes, list[Part]] = {}
    for part in parts:
        by_recipe.setdefault(canonical_json(part.recipe), []).append(part)
    several = [group for group in by_recipe.values() if len(group) > 1]
    if len(several) == 1:
        return several[0]
    if several:
        names = "; ".join(", ".join(part.name for part in group) for group in several)
        raise BadUsage(
            f"there are forms of {len(several)} recipes, each with several seeds",
            hint=f"name those of one: {names}",
        )
    raise BadUsage(
        "a study of seeds takes two or more forms of one recipe",
        hint="proofstone build form BANK --seeds 5, then name the bank or the forms",
    )


def _seeds_row(
    parts: Sequence[Part], label: str, means: np.ndarray, ranks: np.ndarray
) -> tuple[Cell, ...]:
    """Return a model's means with their spread, standard error, homogeneity test and ranks.

    The standard error is the root mean square over forms, with items taken as independent.
    """
    blocks = [part.block([label])[1][:, 0] for part in parts]
    variances = [each.var(ddof=1) / len(each) if len(each) > 1 else np.nan for each in blocks]
    groups = np.repeat(np.arange(len(blocks)), [len(each) for each in blocks])
    test = homogeneity(np.concatenate(blocks), groups.astype(np.int32))
    return (
        label,
        *means.tolist(),
        float(means.mean()),
        float(np.ptp(means)),
        float(means.std(ddof=1)),
        float(np.sqrt(np.mean(variances))),
        test.p if test.least_expected >= LEAST_EXPECTED else None,
        RankInterval(low=int(ranks.min()), high=int(ranks.max())),
    )


def _seeds_finding(table: np.ndarray, ranks: np.ndarray) -> str:
    n_models, n_seeds = table.shape
    spread = say(
        "Over {n} seeds accuracy moves by at most {points} points",
        n=n_seeds,
        points=points(np.ptp(table, axis=1).max()),
    )
    if n_models < 2:
        return say("{said}; one model has no ranks to compare.", said=spread)
    taus = [tau_b(table[:, a], table[:, b]) for a, b in combinations(range(n_seeds), 2)]
    if np.isnan(taus).any():
        return say("{said}; ranks cannot be compared where all models score the same.", said=spread)
    return say(
        "{said}; Kendall's tau-b between seeds is {mean:.2f} on average (lowest {least:.2f}); "
        "{moved} of {n} models change rank.",
        said=spread,
        mean=float(np.mean(taus)),
        least=float(np.min(taus)),
        moved=int((np.ptp(ranks, axis=1) > 0).sum()),
        n=n_models,
    )
