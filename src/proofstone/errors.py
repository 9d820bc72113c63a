"""The one tree of exceptions: what went wrong, where, and what to do next.

Every error that a user may see is a ``ProofstoneError``. It has a stable ``code`` (documented in
docs/errors.md) and the exit code of the command that meets it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = [
    "BadInput",
    "BadUsage",
    "BudgetReached",
    "CallFailed",
    "EndpointUnusable",
    "Incomplete",
    "NotFound",
    "Problem",
    "ProofstoneError",
    "RunInUse",
    "SchemaTooNew",
    "StoreFailed",
    "WorkspaceUnusable",
]


class ProofstoneError(Exception):
    """Something a user can act on: ``message`` says what, ``hint`` the next step."""

    code = "error"
    exit_code = 2

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


class BadUsage(ProofstoneError):
    """The command, option or argument cannot mean anything."""

    code = "bad-usage"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with an input, at its place (``line 3, field text``)."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


class BadInput(ProofstoneError):
    """An input was checked whole and refused; ``problems`` names each place. Nothing was stored."""

    code = "bad-input"
    shown = 20

    def __init__(self, message: str, problems: Iterable[Problem] = (), *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        lines = [self.message]
        lines += [f"  {problem}" for problem in self.problems[: self.shown]]
        if len(self.problems) > self.shown:
            lines.append(f"  ... and {len(self.problems) - self.shown} more problems")
        if self.hint:
            lines.append(f"  {self.hint}")
        return "\n".join(lines)


class NotFound(ProofstoneError):
    """No row, file or model has this name; the message lists what is near."""

    code = "not-found"


class WorkspaceUnusable(ProofstoneError):
    """The workspace is missing, unwritable or not ours."""

    code = "workspace-unusable"


class SchemaTooNew(WorkspaceUnusable):
    """The database was written by a newer version; it is left untouched."""

    code = "schema-too-new"


class StoreFailed(ProofstoneError):
    """A write did not reach the disk (full, gone, read-only). What was committed before stands."""

    code = "store-failed"
    exit_code = 3


class RunInUse(ProofstoneError):
    """Another process holds this run's lease."""

    code = "run-in-use"


class Incomplete(ProofstoneError):
    """Rows are missing, so the question asked cannot be answered."""

    code = "incomplete"
    exit_code = 3


class BudgetReached(ProofstoneError):
    """The budget stopped the run; it can be resumed."""

    code = "budget-reached"
    exit_code = 4


class EndpointUnusable(ProofstoneError):
    """An endpoint, key or model cannot be used at all (never one transient failure)."""

    code = "endpoint-unusable"
    exit_code = 5


class CallFailed(Exception):
    """A call ended without a reply after its bounded retries.

    A method's ``ask`` lets it pass: the run stage has recorded the failure, the item stays
    unfinished and is asked again on resume. It never becomes a score.
    """

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail
