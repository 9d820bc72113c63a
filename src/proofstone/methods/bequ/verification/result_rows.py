"""Results as rows of files: a verdict a row, and tables in the columns that BeQu publishes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from proofstone.records.triples import EntityFacts, Group, Measured, Verified

__all__ = ["combined_rows", "counted_rows", "result_tables", "verdict_row"]

_METRICS = {"precision": "Precision (RAG)", "recall": "Recall"}


def verdict_row(
    found: Verified, groups: Sequence[Group], entities: Sequence[EntityFacts]
) -> dict[str, Any]:
    """A triple with its verdict, and the empty columns that people fill."""
    group, facts, verdict = groups[found.group], entities[found.entity], found.verdict
    return {
        "id": found.id,
        "drawn": found.drawn,
        "direction": found.direction,
        "model": group.model,
        "setting": group.setting,
        "subject": found.subject,
        "predicate": found.predicate,
        "object": found.object,
        "subject_name": facts.name,
        "wikidata_id": facts.identity,
        "domain": facts.domain,
        "popularity": facts.popularity,
        "family": found.family,
        "source": found.source,
        "verdict": verdict.label or verdict.basis,
        "basis": verdict.basis,
        "passage": verdict.passage.text,
        "title": verdict.passage.title,
        "url": verdict.passage.url,
        "reason": verdict.reason,
        "trouble": verdict.trouble,
        "people": "",
        "is_true": "",
    }


def result_tables(
    measured: Sequence[Measured], parts: Sequence[Measured]
) -> dict[str, Iterator[dict[str, Any]]]:
    """The tables by the names of their files; those of a breakdown only where ``parts`` hold it."""
    by = {name: [part for part in parts if part.by == name] for name in ("domain", "popularity")}
    found = {
        "results.csv": counted_rows(measured),
        "combined_results.csv": combined_rows([*measured, *by["domain"]]),
    }
    named = {"domain": ("category", "Domain"), "popularity": ("popularity", "Popularity")}
    for name, (file, column) in named.items():
        if by[name]:
            found[f"results_by_{file}.csv"] = counted_rows(by[name], column)
    return found


def counted_rows(measured: Iterable[Measured], column: str = "") -> Iterator[dict[str, Any]]:
    """A row a group and direction, as in ``results.csv``: all triples of the sample, and how many
    of them were which. Unparsed verdicts and triples without a reference are neutral there, as
    published; their own counts stand behind. ``column`` names a breakdown's."""
    for each in measured:
        for direction, metric in _METRICS.items():
            n = {name: count for name, count in each.counts[direction].items() if name != "waiting"}
            if not n:
                continue
            right = n.get("entailment", 0) + n.get("covered", 0)
            against = n.get("contradiction", 0)
            yield {
                "Model": each.group.model,
                "Metric": metric,
                "Setting": each.group.setting,
                **({column: each.value} if column else {}),
                "Total #Triples": sum(n.values()),
                "Entailment": right,
                "Contradiction": against,
                "Neutral": sum(n.values()) - right - against,
                "Unparsed": n.get("unparsed", 0),
                "Without reference": n.get("no reference", 0),
            }


def combined_rows(measured: Iterable[Measured]) -> Iterator[dict[str, Any]]:
    """A row a group, as in ``combined_results``: F1, precision and recall; by domain where the
    measures are."""
    for each in measured:
        estimates = each.estimates
        yield {
            "Model": each.group.model,
            "Setting": each.group.setting,
            "Domain": each.value if each.by == "domain" else "",
            **{name: _value(estimates, key) for name, key in _COMBINED.items()},
        }


_COMBINED = {
    "Entailment_F1": "f1",
    "Entailment_Precision": "precision",
    "Entailment_Recall": "recall",
}


def _value(estimates: Mapping[str, Any], name: str) -> float | None:
    return round(estimates[name].value, 4) if name in estimates else None
