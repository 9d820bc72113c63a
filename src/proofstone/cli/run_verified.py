"""``run --judge J --reference B``: what was asked is verified at once, and the study of its preset
shown; and what to do next where it was not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from proofstone.cli.output import pasted, say
from proofstone.errors import BudgetReached, ProofstoneError
from proofstone.identity import short

if TYPE_CHECKING:
    from proofstone.engines.models import Spending
    from proofstone.records import Preset
    from proofstone.stages.campaign import RunResult
    from proofstone.stages.judging import JudgeSpec
    from proofstone.stages.run_request import RunRequest
    from proofstone.wiring import Workspace
    from proofstone.wiring.verifying_runs import VerifiedRun

__all__ = ["VerifyingAtOnce", "check_reference", "next_of_study"]


def check_reference(reference: str | None, request: RunRequest) -> None:
    """UsageError for a reference that nobody judges by."""
    if reference is None:
        return
    if not request.judge:
        raise click.UsageError("--reference goes with --judge: somebody is to verify by it")


class VerifyingAtOnce(Struct, frozen=True, kw_only=True):
    """The runs of a command, to be verified as their preset says."""

    workspace: Workspace
    results: Sequence[RunResult]
    reference: str
    judges: JudgeSpec | None
    preset: Preset | None
    quiet: bool

    def perform(
        self, request: RunRequest, spending: Spending | None
    ) -> tuple[Sequence[VerifiedRun], int]:
        """What became of each run, and the exit code that this deserves; nothing is verified while
        a reply is missing, or without a reference. Judges spend what asking left of the budget."""
        if not self.reference or not all(result.is_asked for result in self.results):
            return (), 0
        from proofstone.cli.scoring_triples import Verifying  # noqa: PLC0415
        from proofstone.methods.bequ.verification import VerifySettings  # noqa: PLC0415

        said = {} if self.preset is None else self.preset.values("score")
        runs = [f"run:{result.planned.run.id.hex()}" for result in self.results]
        verifying = Verifying(
            self.workspace, runs, self.reference, VerifySettings(**said), False, self.quiet
        )
        try:
            return verifying.verified(
                judge=self.judges or (),
                max_connections=request.max_connections,
                cache="any" if request.cache == "any" else "same",
                budget=spending,
            )
        except BudgetReached as reached:  # what was judged is kept, and so are the replies
            say(f"error [{reached.code}] {reached}")
            return (), reached.exit_code

    def show_study(self) -> None:
        """Prints the preset's study, and the command that draws it."""
        if self.preset is None or not self.preset.study:
            return
        from proofstone.report.studies import render_study  # noqa: PLC0415

        forms = forms_of(self.results)
        try:
            study = self.workspace.study(self.preset.study, *forms)
        except ProofstoneError as error:
            say(f"no study yet: {error.message}", quiet=self.quiet)
            return
        click.echo(f"\n{render_study(study)}", nl=False)


def forms_of(results: Sequence[RunResult]) -> list[str]:
    """The lists that runs were asked of, each once."""
    sets = {result.planned.item_set.id: result.planned.item_set for result in results}
    return [pasted(f"{each.name}-{short(each.id, 4)}") for each in sets.values()]


def next_of_study(
    results: Sequence[RunResult], preset: Preset | None, *, is_verified: bool, quiet: bool
) -> bool:
    """Says what follows runs of a preset with a study; whether there is anything."""
    if preset is None or not preset.study or not results:
        return False
    forms = " ".join(forms_of(results))
    if not is_verified:
        said: dict[str, Any] = preset.values("score")
        options = "".join(f" --{name.replace('_', '-')} {value}" for name, value in said.items())
        judged = f"--judge PROVIDER/NAME --reference BANK{options}"
        say(f"next: proofstone score {forms} {judged}", quiet=quiet)
    figures = " --figures svg,png" if is_verified else ""
    say(f"look: proofstone report {forms} --study {preset.study}{figures}", quiet=quiet)
    return True
