"""Report on a refinement: rounds, issues, and versions that were rejected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from proofstone.methods.kina.refine.versions import IssueType, Refining, Result
from proofstone.records.tables import Column, Tabulation
from proofstone.wording.messages import noted, say, word

_RESULTS: Mapping[Result, str] = {
    "accepted": noted("Accepted versions"),
    "easier": noted("Easier"),
    "breaks a rule": noted("Break a rule"),
    "unusable changes": noted("Unusable changes"),
}
_TYPES: Mapping[IssueType, str] = {
    "confidence": noted("holds only under a condition"),
    "non_unique": noted("another option is correct too"),
    "ambiguity": noted("two readings"),
    "low_value_option": noted("an option tests nothing"),
    "weak_causality": noted("a cause that can hardly be proven"),
}

PUBLISHED = 100 / 3  # percent of questions that needed a round (section 4, "approximately")


class RefinementReport(Struct, frozen=True, kw_only=True):
    """Counts over all questions that were diagnosed."""

    n: int
    needed: int
    issues: dict[str, int]
    unfounded: dict[str, int]
    results: dict[str, int]


def report_on(rows: Sequence[Refining]) -> RefinementReport:
    """Return the counts; an issue that several rounds found in one question counts once."""
    issues = Counter(
        kind
        for row in rows
        for kind in {issue.type for each in row.versions for issue in each.issues}
    )
    unfounded = Counter(issue.type for row in rows for issue in row.unfounded)
    results = Counter(str(each.result) for row in rows for each in row.versions)
    return RefinementReport(
        n=len(rows),
        needed=sum(bool(row.versions) for row in rows),
        issues={str(kind): n for kind, n in issues.items()},
        unfounded={str(kind): n for kind, n in unfounded.items()},
        results=dict(results),
    )


def report_tables(reports: Sequence[RefinementReport]) -> tuple[Tabulation, ...]:
    """Return the tables of a report; none without one."""
    if not reports:
        return ()
    (report,) = reports
    return _rounds(report), _issues(report)


def _rounds(report: RefinementReport) -> Tabulation:
    return Tabulation(
        title=say("Refinement"),
        columns=(
            Column(key="questions", name=say("Questions"), digits=0),
            Column(key="needed", name=say("Needed a round"), digits=0),
            Column(key="share", name="%", digits=1),
            Column(key="published", name=say("Paper, %"), digits=1),
            *(Column(key=key, name=word(name), digits=0) for key, name in _RESULTS.items()),
        ),
        rows=(
            (
                report.n, report.needed, 100 * report.needed / report.n, PUBLISHED,
                *(report.results.get(key, 0) for key in _RESULTS),
            ),
        ),
        notes=(
            say("A version is accepted if it breaks no new rule and no more members of the panel "
                "answer it correctly. Otherwise the version before it stays."),
        ),
    )  # fmt: skip


def _issues(report: RefinementReport) -> Tabulation:
    return Tabulation(
        title=say("Issues by type"),
        columns=(
            Column(key="type", name=say("Issue")),
            Column(key="n", name=say("Questions"), digits=0),
            Column(key="unfounded", name=say("Without a citation"), digits=0),
        ),
        rows=tuple(
            (word(name), report.issues.get(kind, 0), report.unfounded.get(kind, 0))
            for kind, name in _TYPES.items()
        ),
        notes=(
            say("Issues without a citation in the texts that the search found are not counted as "
                "issues."),
        ),
    )  # fmt: skip
