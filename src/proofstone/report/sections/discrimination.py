"""In which strata the strongest models stand apart, and how far chance alone would put them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from proofstone.engines.stats import Discrimination, discriminate, discriminate_shares
from proofstone.records.accuracies import Accuracies
from proofstone.report.numbers import points
from proofstone.report.sections.ranked_values import ranked_values
from proofstone.report.sections.section import Column, Evidence, Section, Table
from proofstone.wording import counted, listed, paragraph, say, word

__all__ = ["discrimination_section"]

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
        cannot=_cannot(by, known, beyond),
        how=paragraph(say("Standard deviation and CV divide by {k}.", k=k), how),
        tables=(_table(by, names, found),),
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
        tables=(_table(by, names, found),),
    )


def _cannot(by: str, known: Sequence[tuple[Discrimination, str]], beyond: Sequence[str]) -> str:
    rest = [name for _, name in known if name not in beyond]
    if not rest:
        return ""
    return say(
        "No significant differences among the strongest models within {shown} (each {by} tested "
        "at 5%, Bonferroni-adjusted). This does not show that they are equal.",
        shown=listed(rest, 6),
        by=word(by),
    )


def _table(by: str, names: list[str], found: Sequence[Discrimination]) -> Table:
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
