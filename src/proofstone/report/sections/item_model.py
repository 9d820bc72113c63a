"""A model of all items and models at once: two-parameter item response theory, and its fit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats import (
    ItemResponse,
    Reliability,
    benjamini_hochberg,
    fit_two_parameter,
    measure_reliability,
)
from proofstone.report.sections.documents import document_cells, document_columns
from proofstone.report.sections.item_work import DescribedItems, described_items
from proofstone.report.sections.section import Cell, Column, Evidence, Section, Table
from proofstone.wording import counted, paragraph, say, say_of

__all__ = ["item_model_section"]

_FEWEST_MODELS, _FEWEST_ITEMS = 20, 20
_MOST_ITEMS = 3_000  # beyond, the fit takes longer than all the rest
_MOST_LISTED = 20
_FALSE_SHARE = 0.1


def item_model_section(evidence: Evidence) -> Section | None:
    """Skills, items that discriminate least, and items that the model does not fit. None with
    fewer than twenty items or ranked models, or with more than three thousand items."""
    found = described_items(evidence)
    if found is None or len(found.ranked.respondents) < _FEWEST_MODELS:
        return None
    if not _FEWEST_ITEMS <= len(found.ranked.units) <= _MOST_ITEMS:
        return None
    fit = fit_two_parameter(found.ranked.values)
    misfits = _misfits(fit)
    return Section(
        name="item-model",
        title=say("A model of items and skills"),
        finding=_finding(found, fit, misfits, evidence.board.confidence),
        cannot=_cannot(fit),
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
        tables=(_skills(found, fit), _items(found, fit, misfits)),
    )


def _misfits(fit: ItemResponse) -> NDArray[np.bool_]:
    """Whose curve is wrong, at a false discovery rate of 10%."""
    known = ~np.isnan(fit.fit_p)
    adjusted = np.ones(len(fit.fit_p))
    if known.any():
        adjusted[known] = benjamini_hochberg(fit.fit_p[known])
    return np.asarray(adjusted < _FALSE_SHARE)


def _finding(
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
    """KR-20 with its interval, and what an interval that includes 0 leaves open."""
    if np.isnan(alpha.low):
        return say("KR-20 is undefined: too few independent groups of items, or no spread.")
    ends = {"value": alpha.value, "low": alpha.low, "high": alpha.high}
    models = counted(alpha.n_respondents, "model")
    if alpha.low > 0.0:
        return say(
            "KR-20 is {value:.2f} [{low:.2f}, {high:.2f}], n = {models}.", models=models, **ends
        )
    return say(
        "KR-20 is {value:.2f} [{low:.2f}, {high:.2f}], n = {models}. The interval includes 0, so "
        "these items do not show that the models differ in skill.",
        models=models,
        **ends,
    )


def _cannot(fit: ItemResponse) -> str:
    n = len(fit.skill)
    if "few-respondents" not in fit.flags:
        return ""
    return say(
        "Slopes and difficulties of single items: with {models} (fewer than 50) the priors "
        "speak with the data.",
        models=counted(n, "model"),
    )


def _skills(found: DescribedItems, fit: ItemResponse) -> Table:
    return Table(
        title=say("Skill by model"),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="n", name=say("n"), help=say("items")),
            Column(
                key="skill", name=say("skill"), help=say("in standard deviations of all skills")
            ),
            Column(key="skill_sd", name=say("its deviation"), help=say("of the posterior")),
        ),
        rows=tuple(
            (label, len(found.ranked.units), float(skill), float(sd))
            for label, skill, sd in zip(found.ranked.labels, fit.skill, fit.skill_sd, strict=True)
        ),
    )


def _items(found: DescribedItems, fit: ItemResponse, misfits: NDArray[np.bool_]) -> Table:
    order = np.lexsort((fit.slope, ~misfits))[:_MOST_LISTED]
    return Table(
        title=say("Items that fit or discriminate least"),
        columns=(
            Column(key="item", name=say("item")),
            *document_columns(found.table),
            Column(key="follows", name=say("follows the model")),
            Column(key="n", name=say("n"), help=say("models that were scored on it")),
            Column(key="slope", name=say("slope"),
                   help=say("change of the log odds per standard deviation of skill")),
            Column(key="difficulty", name=say("difficulty"),
                   help=say("the skill at which it is right half of the time")),
            Column(key="outfit", name=say("outfit"), help=say("about 1 where the model holds")),
            Column(key="infit", name=say("infit"), help=say("the same, weighted by information")),
            Column(key="fit_p", name=say("p"), unit="probability"),
        ),
        rows=tuple(_row(found, fit, place, wrong=bool(misfits[place])) for place in order.tolist()),
        note=say("{most} of {items}.", most=_MOST_LISTED, items=counted(len(fit.slope), "item"))
        if len(fit.slope) > 20
        else "",
    )  # fmt: skip


def _row(found: DescribedItems, fit: ItemResponse, place: int, *, wrong: bool) -> tuple[Cell, ...]:
    item = found.items[place]
    columns = (fit.slope, fit.difficulty, fit.outfit, fit.infit, fit.fit_p)
    values = (float(column[place]) for column in columns)
    return (
        found.name(item),
        *document_cells(found.table, found.documents(item)),
        say("no") if wrong else say("as far as seen"),
        item.n,
        *values,
    )
