"""Spread of models by stratum, dimensionality, item difficulty and a Rasch-type item model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.page.section import (
    Curve,
    Figure,
    Mark,
    Section,
    Table,
    column,
    points,
    shown_estimate,
    table_of,
)
from proofstone.records.runs import Estimate
from proofstone.records.scores import Accuracies
from proofstone.results.sections.evidence import Evidence, ranked_values
from proofstone.results.sections.items import DescribedItems, described_items
from proofstone.results.sections.parts import (
    Analysis,
    Part,
    complete_everywhere,
    left_out,
    make_analysis,
    mark_of,
)
from proofstone.results.sections.strata import document_column
from proofstone.stats.estimates import mean_estimates
from proofstone.stats.factors import DimensionCheck, check_dimension
from proofstone.stats.intervals import equal_weights
from proofstone.stats.items import ItemResponse, fit_two_parameter
from proofstone.stats.multiple_comparisons import benjamini_hochberg, over_known
from proofstone.stats.stability import (
    Discrimination,
    Reliability,
    discriminate,
    discriminate_shares,
    measure_reliability,
)
from proofstone.wording.messages import counted, joined, listed, noted, paragraph, say, say_of, word

# Do groups of items measure one construct, or does each rank models differently?

_FEWEST_ITEMS = 5  # per group, on average: with fewer, means are dominated by sampling error


_MOST_DRAWS, _FEWEST_DRAWS, _MOST_WORK = 500, 99, 20_000_000


def dimension_section(evidence: Evidence) -> Section | None:
    """Return the model-by-group interaction, compared with random groups of items.

    None without a level of two or more groups with five items each on average.
    """
    ranked = ranked_values(evidence)
    if ranked is None or not len(ranked.units):
        return None
    table = ranked.sheet.table
    found = {}
    for level, names in table.stratum_names.items():
        if 1 < len(names) <= len(ranked.units) / _FEWEST_ITEMS:
            check = check_dimension(
                ranked.values,
                table.strata[level][ranked.units],
                # For fresh forms of one bank, items are independent even if they share facts.
                keys=ranked.clusters,
                n_resamples=min(
                    _MOST_DRAWS,
                    max(_FEWEST_DRAWS, _MOST_WORK // (len(ranked.units) * len(names))),
                ),
                seed=ranked.seed,
            )
            if not math.isnan(check.p):
                found[level] = check
    if not found:
        return None
    # The levels whose groups differ, at 5% over all levels (Bonferroni).
    rejected = [level for level, check in found.items() if check.p < 0.05 / len(found)]
    return Section(
        name="interaction",
        title=say("Model × group interaction"),
        finding=_finding(found, rejected),
        plain=say(
            "The differences between models vary by {level}; an overall score does not show this.",
            level=word(rejected[0]),
        )
        if rejected
        else "",
        cannot=""
        if rejected
        else say(
            "The test does not show that all groups measure the same construct; small interactions "
            "may go undetected."
        ),
        how=_how(found, evidence.seed),
        tables=(_table(found),),
    )


_HOW = {
    "items": noted("By {levels}: items are put into groups at random, {n} times."),
    "groups": noted(
        "By {levels}: clusters of items are assigned to random groups as a whole, {n} times."
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
            n = min(check.n_resamples for check in of.values())
            levels = say(", by ").join(word(level) for level in of)
            parts.append(say(text, levels=levels, n=n))
    return paragraph(
        say(
            "Model × group interaction: the standard deviation of group means after removing "
            "model and group means, weighted by items. It is compared with chance."
        ),
        *parts,
        say("Seed {seed}.", seed=seed),
    )


def _finding(found: dict[str, DimensionCheck], rejected: list[str]) -> str:
    if not rejected:
        return say(
            "No significant model × group interaction by {levels}.",
            levels=joined([word(name) for name in found]),
        )
    level = max(rejected, key=lambda name: found[name].corrected)
    return say(
        "The model × group interaction is significant by {levels}. By {level}, models deviate "
        "from their own level by {interaction} points, against {by_chance} in random groups.",
        levels=joined([word(name) for name in rejected]),
        level=word(level),
        interaction=points(found[level].interaction),
        by_chance=points(found[level].by_chance),
    )


def _table(found: dict[str, DimensionCheck]) -> Table:
    return table_of(
        say("Profiles over groups"),
        found.items(),
        column("by", say("by"), lambda row: word(row[0])),
        column("groups", say("groups"), "1.n_strata"),
        column("n", say("n"), "1.n_units", help=say("items")),
        column("interaction", say("seen"), "1.interaction", unit="points",
               help=say("standard deviation of group means after removing model and group means")),
        column("by_chance", say("by chance"), "1.by_chance", unit="points",
               help=say("the same with random groups")),
        column("corrected", say("excess over chance"), "1.corrected", unit="points"),
        column("p", say("p"), "1.p", unit="probability"),
    )  # fmt: skip


_TOP = 10


def discrimination_section(evidence: Evidence) -> Section | None:
    """Return one row per stratum over the top ten (KINA, Table 7), with values expected by chance.

    None without strata, without counts of items, or with fewer than three models.
    """
    if evidence.accuracies is not None:
        return _of_accuracies(evidence.accuracies)
    ranked = ranked_values(evidence)
    if ranked is None or ranked.strata is None or len(ranked.respondents) < 3:
        return None
    found = discriminate(
        ranked.values, ranked.strata, k=_TOP, keys=ranked.keys, population=evidence.population
    )
    names = [ranked.stratum_names[each.stratum] for each in found]
    how = say(
        "Chance: the value expected for models of equal skill on as many items, from the "
        "paired, clustered variance of these scores."
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
    rest = [name for _, name in known if name not in beyond]
    k = max(each.k for each in found)
    widest = max(found, key=lambda each: -1.0 if math.isnan(each.range) else each.range)
    if widest.range == 0.0:  # no models differ in any group
        rest = []
        finding = say(
            "Nowhere: the top {k} score the same in every group by {by}.", k=k, by=word(by)
        )
    elif not known or math.isnan(widest.range_by_chance):
        finding = say(
            "The largest observed range of the top {k} by {by} is {range} points, in {widest} "
            "({items}). It is not tested there.",
            k=k,
            by=word(by),
            range=points(widest.range),
            widest=names[found.index(widest)],
            items=counted(widest.n_units, "item"),
        )
    else:
        where = {"k": k, "n": len(beyond), "groups": len(known), "by": word(by)}
        finding = paragraph(
            say(
                "In {n} of {groups} groups by {by}, the range of the top {k} is significant "
                "(Bonferroni-adjusted).",
                **where,
            )
            if beyond
            else say(
                "The range of the top {k} is not significant in any of the {groups} groups by {by} "
                "(Bonferroni-adjusted).",
                **where,
            ),
            say(
                "The largest observed range is {range} points, in {widest} ({items}); {by_chance} "
                "points are expected of equal models there.",
                widest=names[found.index(widest)],
                range=points(widest.range),
                by_chance=points(widest.range_by_chance),
                items=counted(widest.n_units, "item"),
            ),
        )
    return Section(
        name="spread",
        title=say("Spread of the top models"),
        finding=finding,
        cannot=say(
            "No significant differences among the strongest models within {shown} (each {by} "
            "tested at 5%, Bonferroni-adjusted). This does not show that they are equal.",
            shown=listed(rest, 6),
            by=word(by),
        )
        if rest
        else "",
        how=paragraph(say("Standard deviation and CV divide by {k}.", k=k), how),
        tables=(_discrimination_table(by, names, found),),
    )


def _discrimination_table(by: str, names: list[str], found: Sequence[Discrimination]) -> Table:
    return table_of(
        say("Discrimination by {by}", by=word(by)),
        zip(names, found, strict=True),
        column(by, word(by), "0"),
        column("n", say("n"), "1.n_units", help=say("items")),
        column("mean", say("mean"), "1.mean", unit="points"),
        column("sd", say("SD"), "1.sd", unit="points", help=say("over the models, dividing by k")),
        column("cv", say("CV, %"), "1.cv", digits=1, help=say("100 SD / mean")),
        column("max", say("max"), "1.high", unit="points"),
        column("min", say("min"), "1.low", unit="points"),
        column("range", say("range"), "1.range", unit="points"),
        column("range_by_chance", say("by chance"), "1.range_by_chance", unit="points",
               help=say("the range to expect of as many models of equal skill")),
        column("sd_corrected", say("SD less chance"), "1.sd_corrected", unit="points"),
        column("p", say("p"), "1.p", unit="probability",
               help=say("probability of a range at least this large if all models were equal")),
    )  # fmt: skip


# Difficulty by category: number of models that fail each question (Chinese SimpleQA, I and
# Figure 16).


_PASSED = 0.5  # a model with a smaller share of correct samples fails the question


_OVERALL, _NOT_STATED = noted("all questions"), noted("not stated")


class _Group(Struct, frozen=True):
    """Questions of one category.

    ``units`` are indices of units. ``failing`` is the number of models that fail each. ``mean`` is
    the mean share of models that fail.
    """

    level: str
    name: str
    units: NDArray[np.int64]
    failing: NDArray[np.int64]
    mean: Estimate

    @property
    def by_level(self) -> bool:
        """Return True if it is a part of the questions."""
        return self.level != _OVERALL

    @property
    def median(self) -> float:
        """Return the median number of models that fail a question."""
        return float(np.median(self.failing))

    def failed_by(self, n: int) -> int:
        """Return the number of questions that exactly ``n`` models fail."""
        return int((self.failing == n).sum())


def analyze_difficulty(parts: Sequence[Part]) -> Analysis:
    """Return for each category the mean share of models that fail a question.

    Also the questions that no model and all models fail, and the distribution of the number of
    failing models. Raises BadUsage if no model is complete.
    """
    (part,) = parts
    labels = complete_everywhere(parts)
    units, values = part.block(labels)
    n = len(labels)
    groups = list(_groups(part, n, units, (values < _PASSED).sum(axis=1)))
    return make_analysis(
        "difficulty",
        say("How many of {n} models fail each question", n=n),
        _difficulty_finding(groups, n),
        columns=(
            column("category", say("category"), lambda group: word(group.name)),
            column("by", say("by"), lambda group: word(group.level) if group.by_level else ""),
            column("n", "n", lambda group: len(group.units)),
            column("failing", say("models failing, %"), "mean", unit="points"),
            column("median", say("median"), lambda group: f"{group.median:g}", unit="mixed"),
            column("none", say("none"), lambda group: group.failed_by(0)),
            column("all", say("all"), lambda group: group.failed_by(n)),
        ),
        rows=groups,
        axes=("models failing", "share of questions"),
        marks=(mark for group in groups for mark in _marks(part, n, group)),
        notes=(
            say(
                "A model fails a question where it has fewer than half of its samples right; "
                "giving no answer counts as failing. Median, none and all: of the models, by "
                "question; how many questions none and all of them fail."
            ),
            say("Models: {models}.", models=listed(labels)),
            *left_out(parts, labels),
        ),
        figures=_figures(groups, labels),
    )


def _means(
    part: Part,
    units: NDArray[np.int64],
    values: NDArray[np.float64],
    n_parts: int | None = None,
) -> tuple[Estimate, ...]:
    """Return the mean over questions of each column of ``values``."""
    keys = part.sheet.keys.among(units)
    return mean_estimates(values, equal_weights(len(units)), keys, n_parts=n_parts, **part.interval)


def _groups(
    part: Part, n_models: int, units: NDArray[np.int64], failing: NDArray[np.int64]
) -> Iterator[_Group]:
    """Yield all questions, then categories of each level with several, hardest first."""

    def group(level: str, name: str, chosen: NDArray[np.bool_]) -> _Group:
        """A category with its mean, whose spread is that between its questions."""
        own, fails = units[chosen], failing[chosen]
        shares = (fails / n_models)[:, None]
        (mean,) = _means(part, own, shares, len(own) * n_models)
        return _Group(level, name, own, fails, mean)

    yield group(_OVERALL, _OVERALL, np.ones(len(units), dtype=bool))
    table = part.table
    for level, names in table.stratum_names.items():
        codes = table.strata[level][units]
        present = [code for code in range(len(names)) if (codes == code).any()]
        if len(present) > 1:
            by = table.level_names.get(level, level)
            found = [group(by, names[code] or _NOT_STATED, codes == code) for code in present]
            yield from sorted(found, key=lambda each: (-each.mean.value, each.name))


def _marks(part: Part, n_models: int, group: _Group) -> Iterator[Mark]:
    """Yield the share of a category's questions by number of failing models, from none to all."""
    counts = np.arange(n_models + 1)
    shares = _means(part, group.units, (group.failing[:, None] == counts).astype(np.float64))
    series = group.name if group.level == _OVERALL else f"{group.level}: {group.name}"
    for count, each in zip(counts.tolist(), shares, strict=True):
        yield mark_of(series, float(count), each)


def _difficulty_finding(groups: Sequence[_Group], n_models: int) -> str:
    every = groups[0]
    said = say(
        "Of {n:,} questions {all:,} are failed by all {models} models and {none:,} by none",
        n=len(every.units),
        all=every.failed_by(n_models),
        none=every.failed_by(0),
        models=n_models,
    )
    if len(groups) == 1:
        return say("{said}.", said=said)
    level = groups[1].level
    own = [group for group in groups if group.level == level]
    hard, easy = own[0], own[-1]
    if hard.mean.value == easy.mean.value:
        return say("{said}; by {level}, all are as hard.", said=said, level=word(level))
    return say(
        "{said}; by {level}, {hard} is hardest ({share} % of models fail a question) and {easy} "
        "easiest ({least}).",
        said=said,
        level=word(level),
        hard=word(hard.name),
        share=shown_estimate(hard.mean),
        easy=word(easy.name),
        least=shown_estimate(easy.mean),
    )


def _figures(groups: Sequence[_Group], labels: Sequence[str]) -> Iterator[Figure]:
    for level in dict.fromkeys(group.level for group in groups):
        own = [group for group in groups if group.level == level]
        n = sum(len(group.units) for group in own)
        whole = level == _OVERALL
        yield Figure(
            name="difficulty" if whole else f"difficulty-by-{level.replace(' ', '-')}",
            kind="violins",
            title=say("Questions by number of models that fail them")
            if whole
            else say("Questions by number of models that fail them, by {level}", level=word(level)),
            subtitle=say(
                "{n:,} questions, {models} models; a violin is as wide as the share of a "
                "category's questions; the line is the median",
                n=n,
                models=len(labels),
            ),
            marks=tuple(
                Mark(row=word(group.name), value=group.median, n=len(group.units)) for group in own
            ),
            curves=tuple(_curve(group, len(labels)) for group in own),
            value_axis=say("models failing"),
            value_unit="number",
            x_axis=say("models failing"),
            x_unit="number",
        )


def _curve(group: _Group, n_models: int) -> Curve:
    """Return the share of questions by number of models, drawn to zero one step outside."""
    shares = np.bincount(group.failing, minlength=n_models + 1) / len(group.failing)
    return Curve(
        row=word(group.name),
        x=tuple(float(count) for count in range(n_models + 1)),
        values=tuple(float(share) for share in shares),
    )


_FEWEST_MODELS, _FEWEST_MODELED = 20, 20


_MOST_ITEMS = 3_000  # beyond, the fit takes longer than all the rest


_MOST_MODELED = 20


_FALSE_SHARE = 0.1


def item_model_section(evidence: Evidence) -> Section | None:
    """Return skills, least discriminating items, and misfitting items of the item model.

    None with fewer than twenty items or ranked models, or with more than three thousand items.
    """
    found = described_items(evidence)
    if found is None or len(found.ranked.respondents) < _FEWEST_MODELS:
        return None
    if not _FEWEST_MODELED <= len(found.ranked.units) <= _MOST_ITEMS:
        return None
    fit = fit_two_parameter(found.ranked.values)
    misfits = (
        over_known(benjamini_hochberg, fit.fit_p) < _FALSE_SHARE
    )  # the item curve does not fit
    return Section(
        name="item-model",
        title=say("A model of items and skills"),
        finding=_model_finding(found, fit, misfits, evidence.board.confidence),
        cannot=say(
            "Slopes and difficulties of single items: with {models} (fewer than 50) the priors "
            "speak with the data.",
            models=counted(len(fit.skill), "model"),
        )
        if "few-respondents" in fit.flags
        else "",
        how=paragraph(
            say(
                "Two-parameter logistic model by marginal maximum likelihood (Bock and Aitkin "
                "1981), with priors on slopes and intercepts (Mislevy 1986). Slopes are shrunken "
                "to {common:.2f}, the slope of a one-slope model; {n} iterations."
                if "not-converged" not in fit.flags
                else "Two-parameter logistic model by marginal maximum likelihood (Bock and "
                "Aitkin 1981), with priors on slopes and intercepts (Mislevy 1986). Slopes are "
                "shrunken to {common:.2f}, the slope of a one-slope model; {n} iterations, not "
                "converged.",
                n=fit.n_iterations,
                common=fit.common_slope,
            ),
            say(
                "Reliability is coefficient alpha, which is KR-20 for right-or-wrong items, with "
                "Feldt's (1965) interval."
            ),
            say(
                "Fit by Yen's Q1 over groups of similar skill, tested at a false discovery rate "
                "of 10%. Items count as independent given skill."
            ),
        ),
        tables=(_skills(found, fit), _modeled_items(found, fit, misfits)),
    )


def _model_finding(
    found: DescribedItems, fit: ItemResponse, misfits: NDArray[np.bool_], confidence: float
) -> str:
    ranked = found.ranked
    alpha = measure_reliability(ranked.values, ranked.keys, confidence=confidence)
    said = [_reliability(alpha)]
    if not np.isnan(fit.reliability):
        said.append(
            say(
                "Reliability under the two-parameter model: {reliability:.2f}.",
                reliability=fit.reliability,
            )
        )
    if alpha.low > 0.0:
        low, high = np.quantile(fit.difficulty, [0.1, 0.9])
        said.append(
            say(
                "80% of the items have a difficulty from {low:.1f} to {high:.1f} standard "
                "deviations of skill.",
                low=low,
                high=high,
            )
        )
    if tested := int((~np.isnan(fit.fit_p)).sum()):
        wrong = int(misfits.sum())
        said.append(
            say_of(
                wrong,
                "{items} of {n:,} does not follow the model.",
                "{items} of {n:,} do not follow the model.",
                items=counted(wrong, "item"),
                n=tested,
            )
        )
    return paragraph(*said)


def _reliability(alpha: Reliability) -> str:
    """Return KR-20 with its interval, and a note if the interval includes 0."""
    if np.isnan(alpha.low):
        return say("KR-20 is undefined: too few independent groups of items, or no spread.")
    return say(
        "KR-20 is {value:.2f} [{low:.2f}, {high:.2f}], n = {models}."
        if alpha.low > 0.0
        else "KR-20 is {value:.2f} [{low:.2f}, {high:.2f}], n = {models}. The interval includes 0, "
        "so these items do not show that the models differ in skill.",
        value=alpha.value,
        low=alpha.low,
        high=alpha.high,
        models=counted(alpha.n_respondents, "model"),
    )


def _skills(found: DescribedItems, fit: ItemResponse) -> Table:
    return table_of(
        say("Skill by model"),
        zip(found.ranked.labels, fit.skill.tolist(), fit.skill_sd.tolist(), strict=True),
        column("model", say("model"), "0"),
        column("n", say("n"), lambda _: len(found.ranked.units), help=say("items")),
        column("skill", say("skill"), "1", help=say("in standard deviations of all skills")),
        column("skill_sd", say("its deviation"), "2", help=say("of the posterior")),
    )


def _modeled_items(found: DescribedItems, fit: ItemResponse, misfits: NDArray[np.bool_]) -> Table:
    def of(values: NDArray[np.float64]) -> Callable[[int], float]:
        return lambda place: float(values[place])

    return table_of(
        say("Items that fit or discriminate least"),
        np.lexsort((fit.slope, ~misfits))[:_MOST_MODELED].tolist(),
        column("item", say("item"), lambda place: found.name(found.items[place])),
        *document_column(found.table, lambda place: found.documents(found.items[place])),
        column("follows", say("follows the model"),
               lambda place: say("no") if misfits[place] else say("as far as seen")),
        column("n", say("n"), lambda place: found.items[place].n,
               help=say("models that were scored on it")),
        column("slope", say("slope"), of(fit.slope),
               help=say("change of the log odds per standard deviation of skill")),
        column("difficulty", say("difficulty"), of(fit.difficulty),
               help=say("the skill at which it is right half of the time")),
        column("outfit", say("outfit"), of(fit.outfit), help=say("about 1 where the model holds")),
        column("infit", say("infit"), of(fit.infit), help=say("the same, weighted by information")),
        column("fit_p", say("p"), of(fit.fit_p), unit="probability"),
        note=say("{most} of {items}.", most=_MOST_MODELED, items=counted(len(fit.slope), "item"))
        if len(fit.slope) > _MOST_MODELED
        else "",
    )  # fmt: skip
