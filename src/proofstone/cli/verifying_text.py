"""What verifying found, as people read it in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proofstone.cli.output import print_table, print_text
from proofstone.engines.judging import pose
from proofstone.methods.bequ.verification import Corrected, Told
from proofstone.records import Estimate
from proofstone.records.triples import Group, Measured
from proofstone.report.numbers import shown_estimate
from proofstone.wiring.verifying import ToVerify, Verification

__all__ = ["print_to_verify", "print_verification"]

_SHOWN = {
    "F1": "f1",
    "P": "precision",
    "R": "recall",
    "contradicted": "contradiction",
    "neutral": "neutral",
}
_BESIDE = {
    "P judged": "precision_judged",
    "P decided": "precision_decided",
    "R judged": "recall_judged",
    "unparsed": "unparsed",
    "no reference": "without_reference",
}
_NAMED = 3  # entities without a reference that are named
_DRAWS = {
    "entities": "an entity, then one of its triples",
    "triples": "uniformly over triples",
}


def print_to_verify(found: ToVerify) -> None:
    """What would be asked, and the questions that are to be shown."""
    print_text("\n".join(_told_lines(found.told)))
    rules = ", ".join(f"{name} {n:,}" for name, n in found.by_rule.items()) or "none"
    print_text(
        f"drawn: {found.precision:,} elicited, {found.recall:,} of the reference; decided by rule: "
        f"{rules}\n"
        f"questions to each judge: {found.questions:,}, {found.characters:,} characters"
    )
    for example in found.examples:
        print_text(f"\n--- {example.direction}")
        print_text("\n\n".join(message.text for message in pose(example.question, "json")))


def print_verification(made: Verification, by: Sequence[str]) -> None:
    """The table of all groups, the best first; what stands beside it, ``by`` what is asked for, and
    what limits it."""
    print_text("\n".join([*_told_lines(made.told), _drawn_line(made)]))
    print_text("")
    print_table(_rows(_best_first(made.measured), _SHOWN, with_n=True))
    print_text("")
    print_table(_rows(_best_first(made.measured), _BESIDE))
    for name in dict.fromkeys(part.by for part in made.parts if part.by in by):
        print_text(f"\nby {'predicate family' if name == 'family' else name}")
        parts = [part for part in made.parts if part.by == name]
        print_table(_rows(parts, {name: _SHOWN[name] for name in ("F1", "P", "R")}, with_n=True))
    notes = [*_more_lines(made), *_unparsed_lines(made), *_people_lines(made.corrected)]
    if made.people_elsewhere:
        notes.append(
            f"people's verdicts on triples that are not in this sample: {made.people_elsewhere:,}"
        )
    if notes:
        print_text("\n" + "\n".join(notes))


def _best_first(measured: Sequence[Measured]) -> list[Measured]:
    """By F1; those without one behind, as they came."""
    f1 = [each.estimates["f1"].value if "f1" in each.estimates else -1.0 for each in measured]
    return [measured[at] for at in sorted(range(len(measured)), key=lambda at: -f1[at])]


def _told_lines(told: Told) -> list[str]:
    lines = [
        f"{told.elicited:,} triples of {told.entities:,} entities by "
        f"{told.groups:,} (model, setting); reference: {told.reference_triples:,} triples of "
        f"{told.reference_entities:,} entities"
    ]
    bare = told.without_reference
    if bare:
        named = ", ".join(bare[:_NAMED]) + (", ..." if len(bare) > _NAMED else "")
        lines.append(f"without a reference: {len(bare):,} entities ({named})")
    if told.of_others:
        lines.append(f"about another subject than their entity: {told.of_others:,} triples")
    if told.without_object:
        lines.append(f"without an object: {told.without_object:,} triples")
    return lines


def _drawn_line(made: Verification) -> str:
    settings = made.settings
    if not settings.sample:
        return "all triples are verified"
    return (
        f"drawn with seed {settings.seed}: {_DRAWS[settings.sampling]}, up to {settings.sample:,} "
        "of each direction"
    )


def _rows(
    measured: Sequence[Measured], columns: dict[str, str], *, with_n: bool = False
) -> list[tuple[Any, ...]]:
    has_parts = any(each.by for each in measured)
    head = ["model", *(["value"] if has_parts else []), *(["n P", "n R"] if with_n else [])]
    rows: list[tuple[Any, ...]] = [(*head, *columns)]
    for each in measured:
        cells: list[Any] = [_who(each.group), *([each.value] if has_parts else [])]
        cells += [_n(each, side) for side in ("precision", "recall")] if with_n else []
        cells += [_shown(each.estimates.get(name)) for name in columns.values()]
        rows.append(tuple(cells))
    return rows


def _who(group: Group) -> str:
    return f"{group.model} {group.setting}".strip()


def _n(each: Measured, side: str) -> int:
    found = each.estimates.get(side)
    return 0 if found is None else found.n


def _shown(estimate: Estimate | None) -> str:
    return "-" if estimate is None else shown_estimate(estimate)


def _more_lines(made: Verification) -> list[str]:
    lines = []
    for each in made.measured:
        bare = each.estimates.get("without_reference")
        if bare is not None and bare.value == 1.0:
            continue  # no more triples will say anything
        wanted = [f"{n:,} more for {name}" for name, n in each.more.items() if n]
        if wanted:
            lines.append(
                f"{_who(each.group)}: triples like these to come within 2 points: "
                f"{', '.join(wanted)}"
            )
    return lines


def _unparsed_lines(made: Verification) -> list[str]:
    if not made.troubles:
        return []
    why = ", ".join(f"{_TROUBLES.get(name, name)} {n:,}" for name, n in made.troubles.items())
    return [f"unparsed verdicts, counted as published in the denominator: {why}"]


_TROUBLES = {
    "not_shown": "rests on a passage that was not given",
    "rests_on_nothing": "rests on no passage",
    "no_label": "no label",
    "unknown_label": "a label that is none",
}


def _people_lines(corrected: Sequence[Corrected]) -> list[str]:
    lines = []
    for each in corrected:
        said: dict[str, Estimate | None] = {
            "P": None if each.precision is None else each.precision.corrected,
            "R": None if each.recall is None else each.recall.corrected,
            "F1": each.f1,
            "labels that are the judge's": each.agreement,
            "kappa": each.kappa,
            "recall of the reference itself": each.corpus,
            "true by any source": each.true_share,
        }
        shown = [f"{name} {_kappa(e) if name == 'kappa' else _shown(e)}" for name, e in said.items()
                 if e is not None]  # fmt: skip
        n = ", ".join(f"{side} {n:,}" for side, n in each.n_people.items() if n)
        lines.append(f"{_who(each.group)}, with people's labels ({n}): {'; '.join(shown)}")
    return lines


def _kappa(estimate: Estimate) -> str:
    return f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"
