"""In which strata the strongest models stand apart, and how far chance alone would put them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from proofstone.page.numbers import points, two_digits
from proofstone.page.section import Column, Section, Table
from proofstone.records.scores import Accuracies
from proofstone.results.sections.evidence import Evidence, RankedValues, ranked_values
from proofstone.stats.dimension import DimensionCheck, check_dimension
from proofstone.stats.power import Resolution, Separation, resolution_after
from proofstone.stats.stability import Discrimination, discriminate, discriminate_shares
from proofstone.wording.messages import counted, joined, listed, noted, paragraph, say, word

# Do groups of items measure one thing, or rank models each in its own way?

_FEWEST_ITEMS = 5  # a group, on average: else its means are all noise


_MOST_DRAWS, _FEWEST_DRAWS, _MOST_WORK = 500, 99, 20_000_000


def dimension_section(evidence: Evidence) -> Section | None:
    """How far models' profiles over groups are their own, beside what groups at random would show.
    None without a level of two groups or more, of five items each on average."""
    ranked, sheet = ranked_values(evidence), evidence.sheet
    if ranked is None or sheet is None or not len(ranked.units):
        return None
    found = {
        level: _check(evidence, ranked, sheet.table.strata[level][ranked.units], len(names))
        for level, names in sheet.table.stratum_names.items()
        if 1 < len(names) <= len(ranked.units) / _FEWEST_ITEMS
    }
    found = {level: check for level, check in found.items() if not math.isnan(check.p)}
    if not found:
        return None
    return Section(
        name="dimension",
        title=say("Model × group interaction"),
        finding=_finding(found),
        plain=_plain(found),
        cannot=_cannot(found),
        how=_how(found, evidence.seed),
        tables=(_table(found),),
    )


def _check(
    evidence: Evidence, ranked: RankedValues, strata: NDArray[np.int32], n_strata: int
) -> DimensionCheck:
    work = max(len(ranked.units) * n_strata, 1)
    n_draws = min(_MOST_DRAWS, max(_FEWEST_DRAWS, _MOST_WORK // work))
    # Of fresh forms of one bank items are independent, whatever facts they share.
    keys = ranked.keys if evidence.estimand == "knowledge" else None
    return check_dimension(ranked.values, strata, keys=keys, n_draws=n_draws, seed=evidence.seed)


_HOW = {
    "items": noted("By {levels}: items are put into groups at random, {n} times."),
    "groups": noted(
        "By {levels}: items that share a key are put into groups at random together, {n} times."
    ),
    "shared pairs": noted(
        "By {levels}: items share keys across each other's groups, so nothing can be put "
        "elsewhere at random; what chance gives is the variance over all pairs of items that "
        "share any key, p by its first two moments."
    ),
}


def _how(found: dict[str, DimensionCheck], seed: int) -> str:
    parts = []
    for chance, text in _HOW.items():
        of = {level: check for level, check in found.items() if check.chance == chance}
        if of:
            n = min(check.n_draws for check in of.values())
            levels = say(", by ").join(word(level) for level in of)
            parts.append(say(text, levels=levels, n=n))
    return paragraph(
        say(
            "What is left of the models' means in groups after each model's and each group's own "
            "level (its standard deviation, weighted by items), beside chance."
        ),
        *parts,
        say("Seed {seed}.", seed=seed),
    )


def _rejected(found: dict[str, DimensionCheck]) -> list[str]:
    """The levels whose groups differ, at 5% over all levels (Bonferroni)."""
    return [level for level, check in found.items() if check.p < 0.05 / len(found)]


def _finding(found: dict[str, DimensionCheck]) -> str:
    rejected = _rejected(found)
    if not rejected:
        return say(
            "No significant model × group interaction by {levels}.",
            levels=joined([word(name) for name in found]),
        )
    level = max(rejected, key=lambda name: found[name].corrected)
    check = found[level]
    return say(
        "The model × group interaction is significant by {levels}. By {level}, models deviate "
        "from their own level by {interaction} points, against {by_chance} in random groups.",
        levels=joined([word(name) for name in rejected]),
        level=word(level),
        interaction=points(check.interaction),
        by_chance=points(check.by_chance),
    )


def _plain(found: dict[str, DimensionCheck]) -> str:
    rejected = _rejected(found)
    if not rejected:
        return ""
    return say(
        "Which model is better depends on the {level} asked about: one overall number hides that.",
        level=word(rejected[0]),
    )


def _cannot(found: dict[str, DimensionCheck]) -> str:
    if _rejected(found):
        return ""
    return say(
        "The test does not show that all groups measure the same construct; small interactions may "
        "go undetected."
    )


def _table(found: dict[str, DimensionCheck]) -> Table:
    return Table(
        title=say("Profiles over groups"),
        columns=(
            Column(key="by", name=say("by")),
            Column(key="groups", name=say("groups")),
            Column(key="n", name=say("n"), help=say("items")),
            Column(key="interaction", name=say("seen"), unit="points",
                   help=say("how far models' means in groups stray from their own level")),
            Column(key="by_chance", name=say("by chance"), unit="points",
                   help=say("the same in groups drawn at random")),
            Column(key="corrected", name=say("beyond chance"), unit="points"),
            Column(key="p", name=say("p"), unit="probability"),
        ),
        rows=tuple(
            (
                word(level), check.n_strata, check.n_units, check.interaction, check.by_chance,
                check.corrected, check.p,
            )
            for level, check in found.items()
        ),
    )  # fmt: skip


_TOP = 10


def discrimination_section(evidence: Evidence) -> Section | None:
    """One row a stratum over the top ten, as KINA's Table 7, beside what chance gives. None without
    strata, without counts of items, or with fewer than three models."""
    if evidence.accuracies is not None:
        return _of_accuracies(evidence.accuracies)
    ranked = ranked_values(evidence)
    if ranked is None or ranked.strata is None or len(ranked.respondents) < 3:
        return None
    found = discriminate(
        ranked.values, ranked.strata, k=_TOP, keys=ranked.keys, estimand=evidence.estimand
    )
    names = [ranked.stratum_names[each.stratum] for each in found]
    how = say(
        "Chance: what models of equal skill would show on as many items, from the paired variance "
        "of these scores, items that share a key taken together."
    )
    return _section(ranked.level, names, found, how)


def _of_accuracies(found: Accuracies) -> Section | None:
    if len(found.models) < 3 or len(found.strata) < 2 or not (found.counts > 0).all():
        return None
    overall = None if any(map(math.isnan, found.overall.tolist())) else found.overall
    each = discriminate_shares(found.value, found.counts, overall, k=_TOP)
    how = say(
        "Chance: a binomial's with the mean accuracy, each model erring by itself and always "
        "answering alike. Where all fail at the same items this gives chance more than its due."
    )
    return _section(found.by, list(found.strata), each, how)


def _section(by: str, names: list[str], found: Sequence[Discrimination], how: str) -> Section:
    known = [
        (each, name) for each, name in zip(found, names, strict=True) if not math.isnan(each.p)
    ]
    beyond = [name for each, name in known if each.p < 0.05 / max(len(known), 1)]
    k = max(each.k for each in found)
    widest = max(found, key=lambda each: -1.0 if math.isnan(each.range) else each.range)
    if widest.range == 0.0:
        return _all_alike(by, names, found, how)
    return Section(
        name="discrimination",
        title=say("Where the strongest stand apart"),
        finding=say(
            "In {n} of {groups} groups by {by}, the range of the top {k} is significant "
            "(Bonferroni-adjusted). The largest observed range is {range} points, in {widest} "
            "({items}); {by_chance} points are expected of equal models there.",
            k=k,
            widest=names[found.index(widest)],
            range=points(widest.range),
            by_chance=points(widest.range_by_chance),
            items=counted(widest.n_units, "item"),
            n=len(beyond),
            groups=len(known),
            by=word(by),
        ),
        cannot=_discrimination_cannot(by, known, beyond),
        how=paragraph(say("Standard deviation and CV divide by {k}.", k=k), how),
        tables=(_discrimination_table(by, names, found),),
    )


def _all_alike(by: str, names: list[str], found: Sequence[Discrimination], how: str) -> Section:
    """The section where nobody differs from anybody in any group."""
    k = max(each.k for each in found)
    return Section(
        name="discrimination",
        title=say("Where the strongest stand apart"),
        finding=say(
            "Nowhere: the top {k} score the same in every group by {by}.", k=k, by=word(by)
        ),
        how=paragraph(say("Standard deviation and CV divide by {k}.", k=k), how),
        tables=(_discrimination_table(by, names, found),),
    )


def _discrimination_cannot(
    by: str, known: Sequence[tuple[Discrimination, str]], beyond: Sequence[str]
) -> str:
    rest = [name for _, name in known if name not in beyond]
    if not rest:
        return ""
    return say(
        "No significant differences among the strongest models within {shown} (each {by} tested "
        "at 5%, Bonferroni-adjusted). This does not show that they are equal.",
        shown=listed(rest, 6),
        by=word(by),
    )


def _discrimination_table(by: str, names: list[str], found: Sequence[Discrimination]) -> Table:
    return Table(
        title=say("Discrimination by {by}", by=word(by)),
        columns=(
            Column(key=by, name=word(by)),
            Column(key="n", name=say("n"), help=say("items")),
            Column(key="mean", name=say("mean"), unit="points"),
            Column(key="sd", name=say("SD"), unit="points",
                   help=say("over the models, dividing by k")),
            Column(key="cv", name=say("CV, %"), digits=1, help=say("100 SD / mean")),
            Column(key="max", name=say("max"), unit="points"),
            Column(key="min", name=say("min"), unit="points"),
            Column(key="range", name=say("range"), unit="points"),
            Column(key="range_by_chance", name=say("by chance"), unit="points",
                   help=say("the range to expect of as many models of equal skill")),
            Column(key="sd_corrected", name=say("SD less chance"), unit="points"),
            Column(key="p", name=say("p"), unit="probability",
                   help=say("probability of a range at least this large if all models were equal")),
        ),
        rows=tuple(
            (
                name, each.n_units, each.mean, each.sd, each.cv, each.high, each.low, each.range,
                each.range_by_chance, each.sd_corrected, each.p,
            )
            for each, name in zip(found, names, strict=True)
        ),
    )  # fmt: skip


# Statistical power: the minimum detectable difference, and the items that neighbors need.


def resolution_section(evidence: Evidence) -> Section | None:
    """The smallest difference that these items resolve at 80% power once all pairs are compared,
    and the items that each neighbouring pair would need. None with fewer than two ranked."""
    ranked = ranked_values(evidence)
    if ranked is None:
        return None
    adjusted = resolution_after(ranked.spread, confidence=ranked.adjusted_confidence)
    alone = resolution_after(ranked.spread, confidence=ranked.confidence)
    return Section(
        name="resolution",
        title=say("Statistical power"),
        finding=_resolution_finding(adjusted, ranked.n_pairs),
        cannot=_resolution_cannot(adjusted, ranked.n_pairs),
        how=_resolution_how(evidence, ranked),
        tables=(_detectable(adjusted, alone, ranked.n_pairs), _resolution_table(ranked)),
    )


def _resolution_how(evidence: Evidence, ranked: RankedValues) -> str:
    alpha = 100 * (1 - ranked.confidence)
    return paragraph(
        say(
            "Minimum detectable difference: a two-sided paired test finds it with 80% power, for "
            "the median pair and the variance observed."
        ),
        say(
            "Each pair is tested at {alpha:g}% / {n:,}, the number of pairs (Bonferroni). Holm's "
            "ranking is at least as powerful.",
            alpha=alpha,
            n=ranked.n_pairs,
        )
        if ranked.n_pairs > 1
        else say("The pair is tested at {alpha:g}%.", alpha=alpha),
        say(
            "Items needed assume that the observed difference is the true one, and count items "
            "of the same kind. Intervals for {estimand}.",
            estimand=word(evidence.board.estimand),
        ),
    )


def _detectable(adjusted: Resolution, alone: Resolution, n_pairs: int) -> Table:
    return Table(
        title=say("Minimum detectable difference"),
        columns=(
            Column(key="comparison", name=say("comparison")),
            Column(key="difference", name=say("difference"), unit="points",
                   help=say("found with 80% power, median pair; a dash where it is over 100")),
            Column(key="standard_error", name=say("standard error"), unit="points"),
        ),
        rows=tuple(
            (name, None if _sees_nothing(found) else found.difference,
             None if math.isnan(found.standard_error) else found.standard_error)
            for name, found in (
                (say("adjusted for {pairs}", pairs=counted(n_pairs, "pair")), adjusted),
                (say("one planned pair, unadjusted"), alone),
            )
        ),
        sorts=False,
    )  # fmt: skip


def _sees_nothing(found: Resolution) -> bool:
    return math.isnan(found.difference) or found.difference >= 1.0


def _resolution_finding(found: Resolution, n_pairs: int) -> str:
    if found.difference == 0.0:
        return say(
            "Most models score alike item by item, so nothing here says which true differences "
            "such items would find."
        )
    if _sees_nothing(found):
        return say("These are too few independent items to find any difference between two models.")
    return say(
        "{items} give 80% power to detect a true difference of {difference} points (median pair, "
        "adjusted for the number of pairs)."
        if n_pairs > 1
        else "{items} give 80% power to detect a true difference of {difference} points.",
        items=_items(found),
        difference=points(found.difference),
    )


def _items(found: Resolution) -> str:
    """How many they are, and in how many independent groups of equal size, as it were, where some
    share a key: their number alone sets the degrees of freedom, so items are not said to be worth
    no more than that."""
    items = counted(found.n_units, "item")
    if found.groups > found.n_units - 0.5:
        return items
    return say("{items} in some {groups:,.0f} independent groups", items=items, groups=found.groups)


def _resolution_cannot(found: Resolution, n_pairs: int) -> str:
    if found.difference == 0.0:
        return say("Models that score alike on these items may differ on others.")
    if _sees_nothing(found):
        return say("These items cannot show a difference of any size between two models.")
    return paragraph(
        say(
            "Power is below 80% for differences under {difference} points (median pair, adjusted "
            "for the number of pairs)."
            if n_pairs > 1
            else "Power is below 80% for differences under {difference} points.",
            difference=points(found.difference),
        ),
        say("A non-significant difference does not show that two models are equal."),
    )


def _resolution_table(ranked: RankedValues) -> Table:
    return Table(
        title=say("Items needed to separate neighbors"),
        columns=(
            Column(key="first", name=say("model")),
            Column(key="second", name=say("next")),
            Column(key="difference", name=say("difference"), unit="points"),
            Column(key="standard_error", name=say("standard error"), unit="points"),
            Column(key="needed", name=say("items needed"),
                   help=say("adjusted for the number of pairs; a dash where the two score the "
                            "same, or where it cannot be estimated")),
            Column(key="times", name=say("times these"),
                   help=say("as a multiple of the items here")),
        ),
        rows=tuple(
            (
                ranked.labels[pair.first],
                ranked.labels[pair.second],
                pair.difference,
                pair.standard_error,
                two_digits(pair.needed) if math.isfinite(pair.needed) else None,
                _times(pair) if math.isfinite(pair.times) else None,
            )
            for pair in ranked.separations()
        ),
    )  # fmt: skip


def _times(pair: Separation) -> str:
    """A multiple with two significant digits."""
    return f"{two_digits(pair.times):,}" if pair.times >= 10 else f"{pair.times:.1f}"
