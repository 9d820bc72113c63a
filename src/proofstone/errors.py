"""The tree of exceptions: what happened, where, and how to fix it.

Every error that a user may see is a ``ProofstoneError``. Its ``code`` never changes (PS-204; the
first digit is the exit code of the command). Its entry in docs/reference/errors.md is made from its
docstring, ``cause`` and ``remedy``. A new kind takes the next free number of its exit code;
tests/project/error_codes.txt lists them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar


class ProofstoneError(Exception):
    """An error that users can fix: ``message`` says what happened, ``hint`` how to fix it."""

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
    """A command, option or argument is invalid."""

    code = "PS-201"
    cause = "An option is mistyped, two options exclude each other, or a value is out of range."
    remedy = (
        "The message states the expected value. `proofstone COMMAND --help` lists the "
        "options and their values."
    )


class ExtraMissing(BadUsage):
    """An optional package is not installed; the hint installs it."""

    code = "PS-211"
    cause = "Proofstone was installed without the extra for this feature."
    remedy = "Install the extra named in the message, or use the other format that it names."


@contextmanager
def needed(message: str, hint: str) -> Iterator[None]:
    """Raise ExtraMissing with this message if an import within fails; ``hint`` installs it."""
    try:
        yield
    except ImportError as missing:
        raise ExtraMissing(message, hint=hint) from missing


class NoPrice(BadUsage):
    """A budget in money needs the price of every model and search, and one is unknown."""

    code = "PS-213"
    cause = "No entry of proofstone.toml states the price, so the cost of requests is unknown."
    remedy = (
        "Add the lines in the message with the prices from the provider's page, or set the "
        "budget in tokens: `--budget 5Mtok`."
    )


class UnboundedResponse(BadUsage):
    """A budget is set, but the length of a model's responses is not limited."""

    code = "PS-214"
    cause = "The model receives no `max_tokens`, and its entry in proofstone.toml has no `window`."
    remedy = (
        "Set `--max-tokens N`. If the model uses another name for that field, set "
        '`max_tokens_field = "max_completion_tokens"` in its entry, or set its `window`.'
    )


class QuotasConflict(BadUsage):
    """No selection of items keeps all quotas, duplicate limits and the size together."""

    code = "PS-216"
    cause = (
        "The limits in the message contradict each other, or there are too few candidates. "
        "Without any one of them the others can be kept."
    )
    remedy = "Change one of the limits in the message, or add candidates to a group named there."


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem in an input, with its place (``line 3, field text``)."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


class BadInput(ProofstoneError):
    """An input was checked completely and rejected; ``problems`` lists each place. Nothing was
    stored.
    """

    code = "PS-202"
    cause = (
        "A line of the file lacks a field, has a value of the wrong type, or is not valid "
        "JSON, CSV or Parquet."
    )
    remedy = (
        "Fix the listed lines and fields, then run the same command again. Nothing was imported."
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
    """No row, file or model has this name; the message lists similar names."""

    code = "PS-203"
    cause = "A name or id is mistyped, or belongs to another workspace."
    remedy = "Use one of the names in the message, or list them with `proofstone list KIND`."


class WorkspaceUnusable(ProofstoneError):
    """The workspace is missing, not writable, or not a Proofstone workspace."""

    code = "PS-204"
    cause = (
        "No workspace exists in this folder or its parents, the folder is not writable, or "
        "the database belongs to another program."
    )
    remedy = (
        "Create one with `proofstone init`, or select one with `-w FOLDER`. `proofstone "
        "doctor` shows details."
    )


class SchemaTooNew(WorkspaceUnusable):
    """The database was written by a newer version; it was not changed."""

    code = "PS-205"
    cause = (
        "A newer Proofstone has opened this workspace and added tables that this version "
        "cannot read."
    )
    remedy = "Upgrade with `pip install -U proofstone`. Nothing was changed."


class SchemaTooOld(WorkspaceUnusable):
    """The database is from before the first release; it was not changed."""

    code = "PS-215"
    cause = (
        "Versions before the first release had other tables, and there is no migration from them."
    )
    remedy = (
        "Start again in a new folder, or with an empty database: `proofstone init`. Exports "
        "of the old version can be imported there."
    )


class FolderShared(WorkspaceUnusable):
    """The workspace's folder is on a network file system or synchronized by a cloud service."""

    code = "PS-207"
    cause = (
        "A database needs locks and writes in place. Network file systems do not support "
        "these reliably, and cloud services copy half-written files, so rows are lost."
    )
    remedy = (
        "Keep the workspace on a local disk, and copy it elsewhere with `proofstone "
        "workspace backup`. To share one, set `database_env` to a PostgreSQL database. To "
        "use this folder anyway, set `allow_shared_folder = true` under `[workspace]` in "
        "proofstone.toml."
    )


class WorkspaceInUse(WorkspaceUnusable):
    """Another process uses this workspace, and the command needs exclusive access."""

    code = "PS-210"
    cause = "A run is in progress, or another command has the database open."
    remedy = "Wait for the process named in the message, or stop it. Then repeat the command."


class SourcePurged(BadInput):
    """This source was purged from the workspace and cannot be ingested again."""

    code = "PS-208"
    cause = (
        "The file, or a bank made from it, has the content hash of the tombstone named in "
        "the message."
    )
    remedy = (
        "Leave it out. To allow it again, lift the tombstone with `proofstone workspace "
        "purge SOURCE --lift --reason WHY`, which is also recorded."
    )


class TextPurged(ProofstoneError):
    """The requested texts were purged; hashes, scores and costs are still stored."""

    code = "PS-209"
    cause = "A source was purged together with everything derived from it."
    remedy = (
        "`proofstone show SOURCE` says who purged it, when and why. Existing leaderboards "
        "remain valid. `proofstone workspace repair BANK` makes the bank and its forms "
        "without the purged parts. New forms, runs and exports use that version."
    )


class StoreFailed(ProofstoneError):
    """A write failed (disk full, removed or read-only). Earlier commits are kept."""

    code = "PS-301"
    exit_code = 3
    cause = "The disk is full, was removed, or became read-only; or the database server stopped."
    remedy = (
        "Free some space or fix the permissions, then repeat the command. It resumes from "
        "the last commit."
    )


class RunInUse(ProofstoneError):
    """Another process holds this run's lease."""

    code = "PS-206"
    cause = "The same run was started twice, or a process on another machine still works on it."
    remedy = (
        "Wait for the process named in the message, or stop it. The lease of a dead process "
        "expires within half a minute."
    )


class Incomplete(ProofstoneError):
    """Rows are missing, so the result cannot be computed."""

    code = "PS-302"
    exit_code = 3
    cause = "A run was stopped or limited, or some of its calls failed."
    remedy = "`proofstone status` lists unfinished runs; `proofstone run --resume RUN` resumes one."


class BudgetReached(ProofstoneError):
    """The budget does not cover another call. Finished work is kept, and the run can be resumed."""

    code = "PS-401"
    exit_code = 4
    cause = "The cost so far, plus the maximum cost of the calls in flight, reached the budget."
    remedy = "Repeat the command with a larger budget. Only the missing calls are made."


class EgressRefused(ProofstoneError):
    """The egress policy does not allow data to go to this host. Nothing was sent."""

    code = "PS-212"
    cause = (
        "`[egress]` in proofstone.toml does not list the host, a table "
        '`[egress.sources."TITLE"]` excludes this source, or the host is new and there was '
        "no terminal to ask for permission."
    )
    remedy = (
        "If the data may go there, add the host to the list named in the message. Or confirm "
        "at a terminal, or pass `--yes` once. `local` models send no data anywhere."
    )


class EndpointUnusable(ProofstoneError):
    """An endpoint, key or model cannot be used at all (never a single transient failure)."""

    code = "PS-501"
    exit_code = 5
    cause = (
        "A key is missing or rejected, the model is unknown there, the credit is used up, or "
        "the address is not an API."
    )
    remedy = (
        "The message names the cause and the setting. `proofstone models check MODEL` tests "
        "it with one small request."
    )


class CallFailed(Exception):
    """A call ended without a response after its limited retries.

    Do not catch it in a method's ``ask``: the run has recorded the failure, and the item is asked
    again on resume. It never becomes a score.
    """

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail


class NotAsked(CallFailed):
    """A call was not made, or the model cannot be called any more.

    The run stops, the budget is reached, or the key is invalid. The error is not about this
    request.
    """
