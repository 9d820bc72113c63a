"""Searches against the labeled evidence of questions, and what missing evidence costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.page.section import Cell, Column, Mark, Table, points, signed_points
from proofstone.records.ids import canonical_json
from proofstone.records.items import (
    CONTEXT_SETTINGS,
    context_of,
    shows_document,
)
from proofstone.records.runs import Estimate
from proofstone.results.sections.parts import (
    Analysis,
    HowAsked,
    Part,
    make_analysis,
    mark_of,
    method_alone,
    pair_change,
    same_request,
    search_name,
)
from proofstone.stats.estimates import mean_estimates
from proofstone.stats.intervals import equal_weights
from proofstone.wording.messages import listed, noted, paragraph, say, word

Floats = NDArray[np.float64]


# Recall at every k would fill pages.
_SHOWN_K = (1, 2, 3, 5, 10, 20, 50)


@dataclass(frozen=True)
class _Searched:
    """One search: the runs with its passages, and its measures by unit.

    ``recall`` and ``ndcg`` are (units, k). ``labels`` are the complete models asked with it.
    """

    name: str
    labels: list[str]
    units: NDArray[np.int64]
    recall: Floats
    ndcg: Floats
    n_unknown: int

    @property
    def classes(self) -> dict[str, NDArray[np.bool_]]:
        """Return which units have all of their evidence in the passages, a part, and none."""
        last = self.recall[:, -1]
        whole, nothing = last == 1.0, last == 0.0
        return {_ALL: whole, _PART: ~whole & ~nothing, _NONE: nothing}


_ALL, _PART, _NONE = noted("all"), noted("part"), noted("none")


_EVERY = noted("every question")


def analyze_evidence(parts: Sequence[Part]) -> Analysis:
    """Measure searches against labeled evidence, and compare passages with evidence alone.

    One row per search and k has recall, nDCG, and the shares of questions with all, part and none
    of their evidence found. A second table has accuracy by what was found; for models also asked
    with evidence alone, the paired difference, split by what was found. Raises BadUsage without a
    complete run whose prompts show passages of the workspace, and without evidence in documents.
    """
    (part,) = parts
    searches = list(_searches(part))
    if not searches:
        raise BadUsage(
            "no complete run here was asked with passages that a search found in documents, for "
            "questions with evidence in these documents",
            hint="proofstone run TARGET -m MODEL --context retrieved,evidence; status lists what "
            "is not complete",
        )
    rows = [row for searched in searches for row in _search_rows(part, searched)]
    losses = [loss for searched in searches for loss in _losses(part, searched)]
    headline = next(iter(part.sheets))
    return make_analysis(
        "evidence",
        say("Passages found, against the evidence of each question"),
        paragraph(*(_found(searched) for searched in searches), *map(_split, losses)),
        columns=(
            Column(key="search", name=say("search")),
            Column(key="k", name="k", digits=0),
            Column(key="n", name="n", digits=0),
            Column(key="recall", name=say("recall at k"), unit="points",
                   help=say("mean share of a question's evidence in the first k passages")),
            Column(key="ndcg", name=say("nDCG at k"), unit="points",
                   help=say("evidence in the passages, discounted by rank, of the best order")),
            Column(key="all", name=say("all found"), unit="points"),
            Column(key="part", name=say("part found"), unit="points"),
            Column(key="none", name=say("none found"), unit="points"),
        ),
        rows=rows,
        axes=("evidence found", headline),
        marks=[mark for loss in losses for mark in loss.marks],
        notes=_notes(searches, losses),
        more=[_loss_table(losses)] if losses else (),
    )  # fmt: skip


def _searches(part: Part) -> Iterator[_Searched]:
    """Yield each search once, with the complete models asked with its passages."""
    by_search: dict[bytes, list[str]] = {}
    for label, place in part.complete.items():
        if place < len(part.found) and part.found[place]:
            settings = part.asked[place].settings
            key = [settings.get(name) for name in CONTEXT_SETTINGS]
            by_search.setdefault(canonical_json(key), []).append(label)
    for labels in by_search.values():
        place = part.complete[labels[0]]
        found = part.found[place]
        scored = np.flatnonzero(~np.isnan(part.sheet.values[:, place]))
        known = [unit for unit in scored.tolist() if part.table.items[unit] in found]
        if known:
            measured = [found[part.table.items[unit]] for unit in known]
            yield _Searched(
                name=search_name(part.asked[place]),
                labels=labels,
                units=np.array(known, dtype=np.int64),
                recall=np.array([each.recall for each in measured]),
                ndcg=np.array([each.ndcg for each in measured]),
                n_unknown=len(scored) - len(known),
            )


def _search_rows(part: Part, searched: _Searched) -> Iterator[tuple[Cell, ...]]:
    most = searched.recall.shape[1]
    for k in sorted({*(k for k in _SHOWN_K if k < most), most}):
        recall, ndcg = searched.recall[:, k - 1], searched.ndcg[:, k - 1]
        shares = ((recall == 1.0), (recall > 0.0) & (recall < 1.0), (recall == 0.0))
        defined = ~np.isnan(ndcg)
        yield (
            searched.name,
            k,
            len(recall),
            _mean(part, searched.units, recall),
            _mean(part, searched.units[defined], ndcg[defined]) if defined.any() else None,
            *(_mean(part, searched.units, share.astype(np.float64)) for share in shares),
        )


def _mean(part: Part, units: NDArray[np.int64], values: Floats) -> Estimate:
    keys = part.sheet.keys.among(units)
    (found,) = mean_estimates(values[:, None], equal_weights(len(units)), keys, **part.interval)
    return found


# What missing evidence costs.


@dataclass(frozen=True)
class _Loss:
    """A model with passages and, if it was asked so, with evidence alone.

    ``total`` is the paired difference on all n questions, None without evidence alone. ``missing``
    and ``held`` are its parts on questions with missing evidence and with all of it, so that they
    add up. ``rows`` are the rows of the table.
    """

    model: str
    search: str
    rows: list[tuple[Cell, ...]]
    marks: list[Mark]
    total: Estimate | None = None
    missing: Estimate | None = None
    held: Estimate | None = None


def _losses(part: Part, searched: _Searched) -> Iterator[_Loss]:
    """Yield one per model with the passages alone; a shown document holds the evidence anyway."""
    for label in searched.labels:
        asked = part.asked[part.complete[label]]
        if not shows_document(context_of(asked.settings)):
            yield _loss(part, searched, label, _with_evidence(part, asked))


def _with_evidence(part: Part, asked: HowAsked) -> str | None:
    """Return the complete model with the same settings that was asked with evidence alone."""
    wanted = same_request(asked)
    for label, place in part.complete.items():
        other = part.asked[place]
        if context_of(other.settings) == "evidence" and same_request(other) == wanted:
            return label
    return None


def _loss(part: Part, searched: _Searched, label: str, evidence: str | None) -> _Loss:
    asked = part.asked[part.complete[label]]
    name = f"{asked.model} {method_alone(asked)}"
    labels = [label] if evidence is None else [label, evidence]
    places = [part.complete[each] for each in labels]
    values = part.sheet.block(searched.units, places)
    both = ~np.isnan(values).any(axis=1)
    units, values = searched.units[both], values[both]
    classes = {kind: mask[both] for kind, mask in searched.classes.items()}
    everything = {_EVERY: np.ones(len(units), dtype=np.bool_)}
    rows: list[tuple[Cell, ...]] = []
    marks: list[Mark] = []
    parts: dict[str, Estimate] = {}
    for kind, mask in {**classes, **everything}.items():
        if not mask.any():
            continue
        means = part.means(labels, units[mask], values[mask])
        change = of_total = None
        if evidence is not None:
            keys = part.sheet.keys.among(units[mask])
            change = pair_change(values[mask, 1], values[mask, 0], keys, part)
            of_total = parts[kind] = _part_of_change(part, units, values, mask)
        alone = means[1] if evidence is not None else None
        n = int(mask.sum())
        rows.append((name, searched.name, word(kind), n, means[0], alone, change, of_total))
        marks.append(mark_of(f"{name}, passages", kind, means[0]))
        if alone is not None:
            marks.append(mark_of(f"{name}, evidence", kind, alone))
    if evidence is None or not len(units):
        return _Loss(name, searched.name, rows, marks)
    return _Loss(
        name, searched.name, rows, marks, total=parts[_EVERY],
        missing=_part_of_change(part, units, values, ~classes[_ALL]),
        held=_part_of_change(part, units, values, classes[_ALL]),
    )  # fmt: skip


def _part_of_change(
    part: Part, units: NDArray[np.int64], values: Floats, mask: NDArray[np.bool_]
) -> Estimate:
    """Return passages less evidence, counted on the units in ``mask`` and averaged over all."""
    within = np.where(mask[:, None], values, 0.0)
    return pair_change(within[:, 1], within[:, 0], part.sheet.keys.among(units), part)


def _loss_table(losses: Sequence[_Loss]) -> Table:
    return Table(
        title=say("Accuracy by how much of the evidence was found"),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="search", name=say("search")),
            Column(key="found", name=say("evidence found")),
            Column(key="n", name="n", digits=0),
            Column(key="passages", name=say("with the passages"), unit="points"),
            Column(key="evidence", name=say("with evidence alone"), unit="points"),
            Column(key="difference", name=say("difference"), unit="change"),
            Column(key="share", name=say("part of the whole difference"), unit="change",
                   help=say("summed over these questions, divided by all; the parts add up")),
        ),
        rows=tuple(row for loss in losses for row in loss.rows),
        sorts=False,
    )  # fmt: skip


def _found(searched: _Searched) -> str:
    counts = {kind: int(mask.sum()) for kind, mask in searched.classes.items()}
    return say(
        "{search}: recall is {recall}. All evidence was found for {all} of {n} questions, a part "
        "for {part} and none for {none}.",
        search=searched.name,
        recall=f"{points(float(searched.recall[:, -1].mean()))}%",
        n=f"{len(searched.units):,}",
        all=f"{counts[_ALL]:,}",
        part=f"{counts[_PART]:,}",
        none=f"{counts[_NONE]:,}",
    )


def _split(loss: _Loss) -> str:
    total, missing, held = loss.total, loss.missing, loss.held
    if total is None or missing is None or held is None:
        return ""
    if total.low <= 0.0 <= total.high:
        return say(
            "{model}: no significant difference between {search} and evidence alone.",
            model=loss.model,
            search=loss.search,
        )
    return say(
        "{model} with {search} scores {total} points [{low}, {high}] against evidence alone: "
        "{missing} on questions with missing evidence, {held} on questions with all of it.",
        model=loss.model,
        search=loss.search,
        total=signed_points(total.value),
        low=signed_points(total.low),
        high=signed_points(total.high),
        missing=signed_points(missing.value),
        held=signed_points(held.value),
    )


def _notes(searches: Sequence[_Searched], losses: Sequence[_Loss]) -> Iterator[str]:
    yield say(
        "recall at k: the share of each evidence span's characters in the first k passages as "
        "shown, averaged over the spans of a question. nDCG at k: gains are these shares, "
        "discounted by log2(rank + 1), over the best order of all passages."
    )
    if any(loss.total is not None for loss in losses):
        yield say(
            "difference: passages minus evidence alone, on the same questions. The search decides "
            "which questions miss evidence. They may differ in other ways, so a better search "
            "need not regain their part."
        )
    alone = sorted({loss.model for loss in losses if loss.total is None})
    if alone:
        yield say("Not asked with evidence alone: {models}.", models=listed(alone))
    for searched in searches:
        if searched.n_unknown:
            yield say(
                "{search}: {n} of the scored questions are left out, without evidence in a "
                "document or with a deleted prompt.",
                search=searched.name,
                n=f"{searched.n_unknown:,}",
            )
        unreachable = int(np.isnan(searched.ndcg[:, -1]).sum())
        if unreachable:
            yield say(
                "{search}: no passage of the documents holds any evidence of {n} of the questions. "
                "Their recall is 0, and nDCG leaves them out.",
                search=searched.name,
                n=f"{unreachable:,}",
            )
