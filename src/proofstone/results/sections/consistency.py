"""Whether the printed numbers of a leaderboard fit each other, and its metrics beside the score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofstone.page.section import Column, Section, Table
from proofstone.records.scores import Accuracies, Check, CheckDone, Misprint
from proofstone.results.sections.evidence import Evidence
from proofstone.wording.messages import counted, listed, noted, paragraph, say, say_of, word

_MOST_NAMED = 5


_SAYS: Mapping[Check, str] = {
    "k/n": noted("no share of a whole number of items"),
    "count": noted("number of items that the shares do not fit"),
    "sum to 100": noted("shares that do not add up to 100"),
    "CGA": noted("CGA does not follow from CO and IN"),
    "F": noted("F does not follow from CO and IN"),
    "F1": noted("F1 does not follow from precision and recall"),
    "overall": noted("overall and groups do not agree"),
    "CV": noted("CV does not follow from SD and mean"),
    "range": noted("range does not follow from max and min"),
    "difference": noted("difference does not follow from its columns"),
    "rank": noted("rank does not follow from the score"),
    "bounds": noted("outside its bounds"),
    "standard error": noted("standard error does not follow from score and n"),
}


def consistency_section(evidence: Evidence) -> Section | None:
    """Every check of printed numbers against others, and each misprint by row and cell; None where
    nothing could be checked."""
    found = evidence.accuracies
    if found is None or not found.checks:
        return None
    return Section(
        name="consistency",
        title=say("Consistency checks"),
        finding=_finding(found),
        cannot=_cannot(found.checks),
        how=say(
            "A printed number represents every value that rounds to it. With a stated number of "
            "items, it represents only shares of whole items. A relation is used if at least "
            "three rows and three quarters of all rows fit. Numbers that could be right are not "
            "listed."
        ),
        tables=(*([_misprints(found.misprints)] if found.misprints else []), _checks(found.checks)),
    )


def _finding(found: Accuracies) -> str:
    n = sum(each.n for each in found.checks if each.holds)
    overall = [
        say(
            "{what}: {agree} of {n} rows agree within rounding.",
            what=each.what,
            agree=each.n - each.off,
            n=each.n,
        )
        for each in found.checks
        if each.check == "overall" and each.holds
    ]
    if not found.misprints:
        none = say("No misprint found in {n}.", n=counted(n, "check"))
        return paragraph(*overall, none if n else say("No relation between the columns holds."))
    said = say_of(
        len(found.misprints),
        "{n} printed number disagrees with the others: {first}.",
        "{n} printed numbers disagree with the others: {first}.",
        n=len(found.misprints),
        first=_first(found.misprints),
    )
    return paragraph(*overall, said)


def _first(misprints: Sequence[Misprint]) -> str:
    first = [
        say(
            "{row}, {cell} ({printed} printed, {recomputed} recomputed, {allowed} allowed)",
            row=each.row,
            cell=each.cell,
            printed=each.printed,
            recomputed=each.recomputed,
            allowed=each.allowed,
        )
        for each in misprints[:_MOST_NAMED]
    ]
    more = len(misprints) - len(first)
    shown = say("; ").join(first)
    return say("{first}; and {more} more", first=shown, more=more) if more else shown


def _cannot(checks: Sequence[CheckDone]) -> str:
    open_to = [each.what for each in checks if not each.holds]
    if not open_to:
        return ""
    return say("Not checked, as too few rows fit: {checks}.", checks=listed(open_to, _MOST_NAMED))


def _misprints(misprints: Sequence[Misprint]) -> Table:
    return Table(
        title=say("Misprints"),
        columns=(
            Column(key="row", name=say("row")),
            Column(key="cell", name=say("cell")),
            Column(key="check", name=say("check")),
            Column(key="printed", name=say("printed")),
            Column(key="recomputed", name=say("recomputed")),
            Column(key="allowed", name=say("rounding allowed")),
        ),
        rows=tuple(
            (
                each.row,
                each.cell,
                word(_SAYS[each.check]),
                each.printed,
                each.recomputed,
                each.allowed,
            )
            for each in misprints
        ),
    )


def _checks(checks: Sequence[CheckDone]) -> Table:
    return Table(
        title=say("Checks"),
        columns=(
            Column(key="check", name=say("check")),
            Column(key="n", name=say("numbers checked")),
            Column(key="off", name=say("do not fit")),
            Column(key="holds", name=say("taken to hold")),
        ),
        rows=tuple(
            (each.what, each.n, each.off, say("yes") if each.holds else say("no"))
            for each in checks
        ),
    )


def metrics_section(evidence: Evidence) -> Section | None:
    """The other metrics of each model as the file has them; None without any."""
    found = evidence.accuracies
    if found is None or not found.metrics:
        return None
    names = [each.name for each in found.metrics]
    return Section(
        name="metrics",
        title=say("Other metrics"),
        finding=say(
            "Shown as printed, never averaged with {score}: {names}.",
            score=found.score,
            names=listed(names, 8),
        ),
        how=say(
            "Models are ranked by one column; the read line says which, and why. --score names "
            "another."
        ),
        tables=(
            Table(
                title=say("Other metrics"),
                columns=(
                    Column(key="model", name=say("model")),
                    *(Column(key=name, name=name) for name in names),
                ),
                rows=tuple(
                    (model, *(each.cells[place] for each in found.metrics))
                    for place, model in enumerate(found.models)
                ),
            ),
        ),
    )
