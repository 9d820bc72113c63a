"""What verifying found, as people read it in a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proofstone.judging.question import pose
from proofstone.methods.bequ.records import VerifySettings
from proofstone.methods.bequ.report.board_text import TIED, people_line, rank_cell
from proofstone.methods.bequ.verification.people import Corrected
from proofstone.methods.bequ.verification.plan import Told
from proofstone.methods.bequ.verification.records import Group, Measured
from proofstone.methods.bequ.verification.triple_files import ToVerify, Verification
from proofstone.page.section import shown_estimate
from proofstone.records.runs import Estimate
from proofstone.session.terminal import print_table, print_text
from proofstone.wording.messages import counted

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
    "R contradicted": "recall_contradiction",
    "P unparsed": "unparsed",
    "R unparsed": "recall_unparsed",
    "no reference": "without_reference",
}


_OF_PARTS = {
    "F1": "f1",
    "P": "precision",
    "R": "recall",
    "P unparsed": "unparsed",
    "R unparsed": "recall_unparsed",
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
    best = _best_first(made)
    print_table(_ranked(made, best, _rows(best, _SHOWN, with_n=True)))
    print_text("")
    print_table(_rows(best, _BESIDE))
    for name in dict.fromkeys(part.by for part in made.parts if part.by in by):
        print_text(f"\nby {'predicate family' if name == 'family' else name}")
        parts = [part for part in made.parts if part.by == name]
        print_table(_rows(parts, _OF_PARTS, with_n=True))
    notes = [
        *_rank_lines(made),
        *_more_lines(made),
        *_unparsed_lines(made),
        *_people_lines(made.corrected),
    ]
    if made.people_elsewhere:
        notes.append(
            f"people's verdicts on triples that are not in this sample: {made.people_elsewhere:,}"
        )
    if notes:
        print_text("\n" + "\n".join(notes))


def _best_first(made: Verification) -> list[Measured]:
    """Those with a rank, then the others by F1; those without one behind, as they came."""
    f1 = [each.estimates["f1"].value if "f1" in each.estimates else -1.0 for each in made.measured]
    ranked = made.ranked.groups
    rest = [at for at in range(len(f1)) if at not in ranked]
    order = [*ranked, *sorted(rest, key=lambda at: -f1[at])]
    return [made.measured[at] for at in order]


def _ranked(
    made: Verification, best: Sequence[Measured], rows: list[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    """The rows behind their ranks, where there are several."""
    ranked = made.ranked
    if len(ranked.intervals) < 2:
        return rows
    cells = [
        rank_cell(
            ranked.intervals[place] if place < len(ranked.intervals) else None,
            [tie for tie, (low, high) in enumerate(ranked.ties) if low <= place <= high],
        )
        for place in range(len(best))
    ]
    return [(cell, *row) for cell, row in zip(["rank", *cells], rows, strict=True)]


def _rank_lines(made: Verification) -> list[str]:
    """What the ranks mean, and who has none for what it was held against."""
    ranked, lines = made.ranked, [TIED] if made.ranked.ties else []
    if not ranked.is_common:
        lines.append("not ranked: no two were held against facts of the same entities")
    for group, n in ranked.elsewhere.items():
        who = _who(made.measured[group].group)
        differ = counted(n, "entity", "entities")
        lines.append(f"{who}: not ranked, held against other entities than most ({differ} differ)")
    return lines


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
        f"of each direction{_per(settings)}"
    )


def _per(settings: VerifySettings) -> str:
    return "" if settings.sample_per == "all" else f" and {settings.sample_per}"


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
    return [
        people_line(_who(each.group), each.n_people, each.figures(), each.scattered)
        for each in corrected
    ]
