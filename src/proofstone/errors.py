"""The one tree of exceptions: what went wrong, where, and what to do next.

Every error that a user may see is a ``ProofstoneError``. It has a ``code`` of its own that never
changes (PS-204; its first digit is the exit code of the command that meets it), and an entry in
docs/errors.md made from its docstring, ``cause`` and ``remedy``. A new kind takes the next free
number of its exit code; tests/project/error_codes.txt holds them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar


class ProofstoneError(Exception):
    """Something a user can act on: ``message`` says what, ``hint`` the next step."""

    code: ClassVar[str] = "PS-200"
    exit_code: ClassVar[int] = 2
    cause: ClassVar[str] = ""
    remedy: ClassVar[str] = ""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


class BadUsage(ProofstoneError):
    """The command, option or argument cannot mean anything."""

    code = "PS-201"
    cause = (
        "An option was mistyped, two options exclude each other, or a value is out of its range."
    )
    remedy = (
        "The message says what was expected. `proofstone COMMAND --help` lists the options "
        "and their values."
    )


class ExtraMissing(BadUsage):
    """What was asked for needs an optional package that is not installed; the hint installs it."""

    code = "PS-211"
    cause = "Proofstone was installed without the extra that this feature belongs to."
    remedy = "Install the extra that the message names, or use the other format that it names."


@contextmanager
def needed(message: str, hint: str) -> Iterator[None]:
    """Raises ExtraMissing with this message where an import within fails; ``hint`` installs it."""
    try:
        yield
    except ImportError as missing:
        raise ExtraMissing(message, hint=hint) from missing


class NoPrice(BadUsage):
    """A budget in money was given, and the price of a model or search is not known."""

    code = "PS-213"
    cause = "No entry of proofstone.toml gives the price, so what requests cost is not known."
    remedy = (
        "Add the lines of the message with the numbers of the provider's page, or give the "
        "budget in tokens: `--budget 5Mtok`."
    )


class UnboundedResponse(BadUsage):
    """A budget was given, and nothing limits how long a model's replies may be."""

    code = "PS-214"
    cause = "No `max_tokens` reaches the model, and its entry of proofstone.toml has no `window`."
    remedy = (
        "Give `--max-tokens N`. Where the model takes that field under another name, set "
        '`max_tokens_field = "max_completion_tokens"` in its entry; else its `window`.'
    )


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with an input, at its place (``line 3, field text``)."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


class BadInput(ProofstoneError):
    """An input was checked whole and refused; ``problems`` names each place. Nothing was stored."""

    code = "PS-202"
    cause = (
        "A line of the file lacks a field, holds a value of another kind, or is no valid "
        "JSON, CSV or Parquet."
    )
    remedy = (
        "Mend the places that the message lists, each with its line and field, and run the "
        "same command again: nothing of the file was taken."
    )
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

    code = "PS-203"
    cause = "A name or id was mistyped, or it belongs to another workspace."
    remedy = "Take one of the names that the message lists, or look with `proofstone list KIND`."


class WorkspaceUnusable(ProofstoneError):
    """The workspace is missing, unwritable or not ours."""

    code = "PS-204"
    cause = (
        "No folder at or above the current one is a workspace, the folder may not be written, "
        "or its database is another program's."
    )
    remedy = (
        "Make one with `proofstone init`, or name one with `-w FOLDER`. `proofstone doctor` "
        "looks closer."
    )


class SchemaTooNew(WorkspaceUnusable):
    """The database was written by a newer version; it is left untouched."""

    code = "PS-205"
    cause = (
        "A newer Proofstone has opened this workspace and added tables that this one does not know."
    )
    remedy = "Upgrade with `pip install -U proofstone`. Nothing was changed."


class SchemaTooOld(WorkspaceUnusable):
    """The database was made before the first release; it is left untouched."""

    code = "PS-215"
    cause = "Versions before the first release had other tables, and no migration leads from them."
    remedy = (
        "Start again in a new folder, or with an empty database: `proofstone init`. What the "
        "version that made it exports can be imported there."
    )


class FolderShared(WorkspaceUnusable):
    """The workspace's folder is on a network file system or is kept in step by a cloud service."""

    code = "PS-207"
    cause = (
        "A database file is locked and written in place, which network file systems do not "
        "do reliably and cloud services copy half-written: rows are lost."
    )
    remedy = (
        "Keep the workspace on a disk of this machine, and copy it elsewhere with "
        "`proofstone workspace backup`. To share one, set `database_env` to a PostgreSQL "
        "database. To go on all the same, put `allow_shared_folder = true` under "
        "`[workspace]` in proofstone.toml."
    )


class WorkspaceInUse(WorkspaceUnusable):
    """Another process works on this workspace, and what was asked for needs it alone."""

    code = "PS-210"
    cause = "A run is being worked on, or another command has the database open."
    remedy = "Wait for the process that the message names, or stop it; then repeat the command."


class SourcePurged(BadInput):
    """This source was purged from the workspace, and was to be taken in again."""

    code = "PS-208"
    cause = (
        "The file, or a bank that rests on it, is the one whose tombstone the message names: "
        "its content has the same hash."
    )
    remedy = (
        "Leave it out. Where it may come back, lift the tombstone with `proofstone workspace "
        "purge SOURCE --lift --reason WHY`; that too is recorded."
    )


class TextPurged(ProofstoneError):
    """What was asked for needs texts that were purged; hashes, scores and costs are still here."""

    code = "PS-209"
    cause = "A source was purged with all that was derived from it."
    remedy = (
        "`proofstone show SOURCE` says who purged it, when and why. Leaderboards that were scored "
        "before still stand. `proofstone workspace repair BANK` makes the bank and its forms "
        "without what was purged; new forms, runs and exports take that version."
    )


class StoreFailed(ProofstoneError):
    """A write did not reach the disk (full, gone, read-only). What was committed before stands."""

    code = "PS-301"
    exit_code = 3
    cause = (
        "The disk is full, was taken away, or became read-only; or the database server went away."
    )
    remedy = (
        "Free some space or mend the permission, then repeat the command: it goes on from "
        "what was committed."
    )


class RunInUse(ProofstoneError):
    """Another process holds this run's lease."""

    code = "PS-206"
    cause = "The same run was started twice, or a process on another machine still works on it."
    remedy = (
        "Wait for the process that the message names, or stop it. The lease of a process that "
        "died ends by itself within half a minute."
    )


class Incomplete(ProofstoneError):
    """Rows are missing, so the question asked cannot be answered."""

    code = "PS-302"
    exit_code = 3
    cause = "A run was stopped, was given a limit, or some of its calls failed."
    remedy = "`proofstone status` lists unfinished runs; `proofstone run --resume RUN` resumes one."


class BudgetReached(ProofstoneError):
    """The budget does not cover another call. What was done is kept, and the run can be resumed."""

    code = "PS-401"
    exit_code = 4
    cause = "What was spent, with what the calls in flight may still cost, reached the budget."
    remedy = "Repeat the command with a larger budget: it asks only what is missing."


class EgressRefused(ProofstoneError):
    """Data may not go to this host: the workspace's egress policy refuses it, or nobody has allowed
    it yet. Nothing was sent."""

    code = "PS-212"
    cause = (
        "`[egress]` in proofstone.toml does not list the host, a table "
        '`[egress.sources."TITLE"]` keeps this source from it, or the host is new and there was '
        "no terminal at which to ask."
    )
    remedy = (
        "Add the host to the list that the message names, if the data may go there; or answer at a "
        "terminal, or give `--yes` once. `local` models send nothing anywhere."
    )


class EndpointUnusable(ProofstoneError):
    """An endpoint, key or model cannot be used at all (never one transient failure)."""

    code = "PS-501"
    exit_code = 5
    cause = (
        "A key is missing or refused, the model's name is unknown there, the credit is used "
        "up, or the address is no API."
    )
    remedy = (
        "The message says which it is and what to set. `proofstone models check MODEL` tries "
        "again with one small request."
    )


class CallFailed(Exception):
    """A call ended without a reply after its bounded retries.

    A method's ``ask`` lets it pass: the run stage has recorded the failure, the item stays
    unfinished and is asked again on resume. It never becomes a score.
    """

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail


class NotAsked(CallFailed):
    """A call that was not made, or the last of a model that cannot be asked any more: the run
    stops, the budget is reached, the key is wrong. It says nothing of this one request."""
