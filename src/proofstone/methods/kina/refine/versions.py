"""Rows of a refinement: a question, its versions, and the issues found with each."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct, structs

from proofstone.methods.kina.candidates import Candidate
from proofstone.methods.kina.payloads import Question

# Section E.7: the first two need counter-evidence; the fifth is named by the strategies alone.
IssueType = Literal["confidence", "non_unique", "ambiguity", "low_value_option", "weak_causality"]
ISSUE_TYPES: tuple[IssueType, ...] = get_args(IssueType)
SEARCHED: tuple[IssueType, ...] = ("confidence", "non_unique")

STRATEGIES: dict[IssueType, str] = {
    "confidence": "premise",
    "non_unique": "exclusion",
    "ambiguity": "disambiguation",
    "low_value_option": "replacement",
    "weak_causality": "assumption",
}

Result = Literal["accepted", "easier", "breaks a rule", "unusable changes"]


class Citation(Struct, frozen=True, forbid_unknown_fields=True):
    """A quote from a text that the search found, by its name in the prompt."""

    text: str
    quote: str


class Issue(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A defect of a question as the auditor states it."""

    type: IssueType
    reasoning: str
    directive: str
    citations: tuple[Citation, ...]


class Version(Struct, frozen=True, kw_only=True):
    """A version that was tried in a ``round``, and its result.

    ``question`` is None if the changes could not be used. ``right`` counts the members of the panel
    that answer it correctly, None if none was asked. ``found`` says why it was not accepted.
    """

    round: int
    issues: tuple[Issue, ...]
    question: Question | None
    response: str
    strategies: tuple[str, ...] = ()
    new_sources: tuple[str, ...] = ()
    result: Result | None = None
    right: int | None = None
    found: str = ""


class Refining(Struct, frozen=True, kw_only=True):
    """A question under refinement.

    ``question`` is its newest accepted version, which ``right`` of ``n`` members of the panel
    answer correctly. ``issues`` are open ones. ``unfounded`` are those without a citation that was
    found. ``queries``, ``addresses`` and ``diagnoses`` are what was searched for, found and said.
    """

    candidate: Candidate
    question: Question
    right: int
    n: int
    first_right: int
    versions: tuple[Version, ...] = ()
    issues: tuple[Issue, ...] = ()
    unfounded: tuple[Issue, ...] = ()
    queries: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    diagnoses: tuple[str, ...] = ()
    is_clean: bool = False

    def current(self) -> Candidate:
        """Return the newest accepted version as a candidate."""
        return structs.replace(self.candidate, question=self.question)

    @property
    def tried(self) -> Version | None:
        """Return the version that waits for the panel."""
        last = self.versions[-1] if self.versions else None
        return last if last is not None and last.result is None else None

    def closed(self, version: Version) -> Refining:
        """Return the row with its last version replaced; an accepted one becomes current."""
        row = structs.replace(self, versions=(*self.versions[:-1], version))
        if version.result != "accepted" or version.question is None or version.right is None:
            return row
        return structs.replace(row, question=version.question, right=version.right, issues=())
