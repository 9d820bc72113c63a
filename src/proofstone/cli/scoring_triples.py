"""``score RUN... --reference``: triples of stored runs verified, as a command tells it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from proofstone.cli.options import was_given
from proofstone.cli.output import print_json, say
from proofstone.cli.verify_options import SAMPLE_OPTIONS
from proofstone.errors import BadUsage

if TYPE_CHECKING:
    from proofstone.methods.bequ.verification import VerifySettings
    from proofstone.wiring import Workspace
    from proofstone.wiring.verifying_runs import VerifiedRun

__all__ = ["Verifying", "print_verified", "settings_of"]


def settings_of(reference: str | None, options: Mapping[str, Any]) -> VerifySettings:
    """How triples are drawn and found, by these options. Raises BadUsage where one of them is given
    that means nothing without a reference."""
    from proofstone.methods.bequ.verification import VerifySettings  # noqa: PLC0415

    context = click.get_current_context()
    names = {**SAMPLE_OPTIONS, "seed": "--seed"}
    given = [option for name, option in names.items() if was_given(context, name)]
    if reference is None and given:
        raise BadUsage(
            f"{', '.join(given)}: for triples that are verified against a --reference",
            hint="name one, or leave what belongs to it away",
        )
    return VerifySettings(**{name: options[name] for name in names})


_MOST_UNPARSED = 0.02  # of verdicts; beyond it a figure depends on what nobody judged


@dataclass(frozen=True, slots=True)
class Verifying:
    """The command at work on these runs."""

    workspace: Workspace
    runs: Sequence[str]
    reference: str
    settings: VerifySettings
    as_json: bool
    quiet: bool

    def foresee(self, **asking: Any) -> None:
        """Says what it would take."""
        from proofstone.cli.judging_text import judging_lines  # noqa: PLC0415

        found = self.workspace.verify_forecast(
            self.runs, reference=self.reference, settings=self.settings, **asking
        )
        if self.as_json:
            print_json(found)
        else:
            click.echo("\n".join(judging_lines(found, "triple")))

    def perform(self, **asking: Any) -> None:
        """Verifies, says what came of it, and exits by whether triples wait."""
        made, code = self.verified(**asking)
        if self.as_json:
            print_json({"runs": made})
        else:
            print_verified(made)
            self.tell_next(made)
        click.get_current_context().exit(code)

    def verified(self, **asking: Any) -> tuple[Sequence[VerifiedRun], int]:
        """Verifies: what became of each run, and the exit code that this deserves."""
        is_watched = not self.quiet and sys.stderr.isatty()
        interrupted: list[bool] = []
        made = self.workspace.verify_runs(
            self.runs,
            reference=self.reference,
            settings=self.settings,
            watch=_tell_done if is_watched else None,
            on_interrupt=lambda: self._tell_interrupt(interrupted),
            **asking,
        )
        waiting = sum(each.waiting for each in made)
        return made, 130 if interrupted else 3 if waiting else 0

    def _tell_interrupt(self, interrupted: list[bool]) -> None:
        interrupted.append(True)
        say("stopping: what judges have said is kept; again: stop at once", quiet=self.quiet)

    def tell_next(self, made: Sequence[VerifiedRun]) -> None:
        """What to do next: the same again where triples wait, else the leaderboard."""
        waiting = sum(each.waiting for each in made)
        if waiting:
            what = "1 triple waits" if waiting == 1 else f"{waiting:,} triples wait"
            say(f"{what}: the same command again asks only what is missing", quiet=self.quiet)
            return
        runs = " ".join(each.run for each in made)
        say(f"next: proofstone leaderboard {runs}", quiet=self.quiet)


def print_verified(made: Sequence[VerifiedRun]) -> None:
    """Each run with what its triples came to, under what they were verified by."""
    first = made[0]
    click.echo(f"by {first.judges}, against {first.reference}: {first.drawn}")
    for each in made:
        click.echo(f"{each.run}   {each.label}   {each.scoring}   {each.n:,} verified")
        for direction, counts in each.counts.items():
            said = ", ".join(f"{name} {n:,}" for name, n in counts.items())
            click.echo(f"  {direction}: {said}")
            unparsed = counts.get("unparsed", 0) / max(sum(counts.values()), 1)
            if unparsed > _MOST_UNPARSED:
                click.echo(
                    f"  warning: {100 * unparsed:.1f}% of the {direction} verdicts are unparsed "
                    "and count against the model"
                )


def _tell_done(done: int, of: int) -> None:
    """One line on a terminal, written over until all is done."""
    click.echo(f"\r{done:,} of {of:,} triples", err=True, nl=done >= of)
