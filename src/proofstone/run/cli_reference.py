"""``grade`` and ``run`` with a ``--reference``: runs verified against it, as a command tells it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec import Struct

from proofstone.errors import BadUsage, BudgetReached
from proofstone.method import every_method
from proofstone.records.ids import short
from proofstone.session.cli_command import tell_error
from proofstone.session.options import asked_for, was_given
from proofstone.session.terminal import pasted, print_json, print_text, say, say_next

if TYPE_CHECKING:
    from proofstone.models.budget import Spending
    from proofstone.records.items import Preset
    from proofstone.records.runs import VerifiedRun
    from proofstone.run.campaign import RunResult
    from proofstone.run.judges import JudgeSpec
    from proofstone.run.run_options import RunAsked
    from proofstone.session.session import Session

Command = TypeVar("Command", bound=Callable[..., Any])


# ``grade RUN... --reference``: stored runs verified, as a command tells it.


def reference_options(command: Command) -> Command:
    """Return the settings of every method that verifies, as options. Each value arrives as
    ``settings of METHOD``, which cannot be the name of an option."""
    for method in every_method():
        if method.verifying is not None:
            command = asked_for(method.verifying.settings, f"settings of {method.name}")(command)
    return command


def check_options(reference: str | None, options: Mapping[str, Any]) -> None:
    """Raises BadUsage where one of those is given, and means nothing without a reference."""
    context = click.get_current_context()
    settings = [each for each in options.values() if isinstance(each, Struct)]
    names = {name for each in settings for name in each.__struct_fields__}
    given = [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name in names and was_given(context, parameter.name)
    ]
    if reference is None and given:
        raise BadUsage(
            f"{', '.join(given)}: for triples that are verified against a --reference",
            hint="name one, or leave what belongs to it away",
        )


_MOST_UNPARSED = 0.02  # of verdicts; beyond it a figure depends on what nobody judged


@dataclass(frozen=True)
class ReferenceCommand:
    """``grade --reference`` at work on these runs; the usual settings where there are none."""

    session: Session
    runs: Sequence[str]
    reference: str
    settings: Struct | None
    as_json: bool
    quiet: bool

    @cached_property
    def called(self) -> str:
        """What is verified, in the singular."""
        from proofstone.run.score import verifying_of

        return verifying_of(self.session, self.runs)[1].called

    def foresee(self, **asking: Any) -> None:
        """Says what it would take."""
        from proofstone.run.forecast import judging_lines
        from proofstone.run.score import verify_forecast

        found = verify_forecast(
            self.session, self.runs, reference=self.reference, settings=self.settings, **asking
        )
        if self.as_json:
            print_json(found)
        else:
            print_text("\n".join(judging_lines(found, self.called)))

    def perform(self, **asking: Any) -> None:
        """Verify, print the results, and exit with 3 if triples wait."""
        made, code = self.verified(**asking)
        if self.as_json:
            print_json({"runs": made})
        else:
            print_verified(made)
            self.tell_next(made)
        click.get_current_context().exit(code)

    def verified(self, **asking: Any) -> tuple[Sequence[VerifiedRun], int]:
        """Verify, and return the result of each run with the exit code."""
        from proofstone.run.score import verify_runs

        is_watched = not self.quiet and sys.stderr.isatty()
        interrupted: list[bool] = []
        made = verify_runs(
            self.session,
            self.runs,
            reference=self.reference,
            settings=self.settings,
            watch=partial(tell_done, called=f"{self.called}s") if is_watched else None,
            on_interrupt=lambda: self._tell_interrupt(interrupted),
            **asking,
        )
        waiting = sum(each.waiting for each in made)
        return made, 130 if interrupted else 3 if waiting else 0

    def _tell_interrupt(self, interrupted: list[bool]) -> None:
        interrupted.append(True)
        say("stopping: what judges have said is kept; again: stop at once", quiet=self.quiet)

    def tell_next(self, made: Sequence[VerifiedRun]) -> None:
        """Print the next step: the same command if triples wait, otherwise the leaderboard."""
        waiting = sum(each.waiting for each in made)
        if waiting:
            what = f"1 {self.called} waits" if waiting == 1 else f"{waiting:,} {self.called}s wait"
            say(f"{what}: the same command again asks only what is missing", quiet=self.quiet)
            return
        runs = " ".join(each.run for each in made)
        say_next([f"leaderboard {runs}"], quiet=self.quiet)


def print_verified(made: Sequence[VerifiedRun]) -> None:
    """Print the result of each run, below its judges and reference."""
    first = made[0]
    print_text(f"by {first.judges}, against {first.reference}: {first.drawn}")
    for each in made:
        print_text(f"{each.run}   {each.label}   {each.scoring}   {each.n:,} verified")
        for direction, counts in each.counts.items():
            said = ", ".join(f"{name} {n:,}" for name, n in counts.items())
            print_text(f"  {direction}: {said}")
            unparsed = counts.get("unparsed", 0) / max(sum(counts.values()), 1)
            if unparsed > _MOST_UNPARSED:
                print_text(
                    f"  warning: {100 * unparsed:.1f}% of the {direction} verdicts are unparsed "
                    "and count against the model"
                )


def tell_done(done: int, of: int, called: str) -> None:
    """One line on a terminal, written over until all is done."""
    click.echo(f"\r{done:,} of {of:,} {called}", err=True, nl=done >= of)


# ``run --judge J --reference B``: responses are verified immediately, and the preset's analysis is
# shown.


def verify_at_once(
    session: Session,
    results: Sequence[RunResult],
    reference: str,
    preset: Preset | None,
    *,
    judges: JudgeSpec | None,
    asked: RunAsked,
    spending: Spending,
    quiet: bool,
) -> tuple[Sequence[VerifiedRun], int]:
    """Verify complete runs with the settings of their preset, and return each result with the exit
    code. Judges share the budget of the run."""
    from proofstone.run.score import verifying_of

    runs = _runs_of(results)
    said = {} if preset is None else preset.values("grade")
    settings = verifying_of(session, runs)[1].settings(**said)
    verifying = ReferenceCommand(session, runs, reference, settings, False, quiet)
    try:
        return verifying.verified(
            judge=judges or (),
            max_connections=asked.max_connections,
            cache=asked.cache,
            budget=spending,
        )
    except BudgetReached as reached:  # verdicts and responses are stored
        tell_error(reached)
        return (), reached.exit_code


def show_analysis(
    session: Session, results: Sequence[RunResult], preset: Preset | None, *, quiet: bool
) -> None:
    """Prints the preset's study of what was verified; nothing where it has none."""
    from proofstone.run.score import verifying_of

    if preset is not None and preset.analysis:
        verifying = verifying_of(session, _runs_of(results))[1]
        verifying.show_analysis(session, preset.analysis, forms_of(results), quiet=quiet)


def _runs_of(results: Sequence[RunResult]) -> list[str]:
    """The runs as people name them."""
    return [f"run:{result.planned.run.id.hex()}" for result in results]


def forms_of(results: Sequence[RunResult]) -> list[str]:
    """The lists that runs were asked of, each once."""
    sets = {result.planned.item_set.id: result.planned.item_set for result in results}
    return [pasted(f"{each.name}-{short(each.id, 4)}") for each in sets.values()]


def steps_of_analysis(
    results: Sequence[RunResult], preset: Preset | None, *, is_verified: bool
) -> list[str]:
    """The commands that follow runs of a preset with an analysis; empty without one."""
    if preset is None or not preset.analysis or not results:
        return []
    forms, steps = " ".join(forms_of(results)), []
    if not is_verified:
        said: dict[str, Any] = preset.values("grade")
        options = "".join(f" --{name.replace('_', '-')} {value}" for name, value in said.items())
        judged = f"--judge PROVIDER/NAME --reference BANK{options}"
        steps.append(f"grade {forms} {judged}")
    figures = " --figures svg,png" if is_verified else ""
    return [*steps, f"report {forms} --analysis {preset.analysis}{figures}"]


def waiting_line(run: str, n: int) -> str:
    """Return a line on responses that wait for a judge, with the command for one."""
    what = "1 response waits" if n == 1 else f"{n:,} responses wait"
    return f"{what} for a judge: proofstone grade {run} --judge PROVIDER/NAME"
