"""``verify-triples``: triples that came from anywhere, checked both ways against a reference."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec import Struct

from proofstone.errors import BadUsage, BudgetReached, ProofstoneError
from proofstone.records.ids import short
from proofstone.run.cli_files import read_judges
from proofstone.run.cli_options import judge_options
from proofstone.session.cli_egress import TerminalEgress
from proofstone.session.options import (
    budget_option,
    cache_option,
    encoding_option,
    json_option,
    output_option,
    quiet_option,
    seed_option,
    was_given,
    with_options,
    workspace_option,
    yes_option,
)
from proofstone.session.terminal import pasted, print_json, say

if TYPE_CHECKING:
    from proofstone.methods.bequ.verification.planning import VerifySettings
    from proofstone.methods.bequ.verification.runs import VerifiedRun
    from proofstone.models.reply_cache import CacheUse
    from proofstone.models.spending import Spending
    from proofstone.records.items import Preset
    from proofstone.run.campaign import RunResult
    from proofstone.run.judges import JudgeSpec
    from proofstone.run.request import RunRequest
    from proofstone.session.session import Session


# Options of commands that verify triples: how many, which, and what judges are shown.

Command = TypeVar("Command", bound=Callable[..., Any])


# The parameters by which they arrive, with the option that gives each.
SAMPLE_OPTIONS = {
    "sample": "--sample",
    "sampling": "--sampling",
    "sample_per": "--sample-per",
    "over": "--recall-over",
    "recall": "--recall",
    "way": "--way",
    "k": "--k",
    "candidates": "--candidates",
}


def sample_options(command: Command) -> Command:
    """Adds them; they arrive under the names of ``VerifySettings``."""
    return with_options(
        click.option(
            "--sample", type=click.IntRange(0), default=500, show_default=True,
            help="Triples of each model, and of the reference, that are judged; 0: all.",
        ),
        click.option(
            "--sampling", type=click.Choice(["entities", "triples"]), default="entities",
            show_default=True,
            help="Draw an entity and then one of its triples, or uniformly over triples.",
        ),
        click.option(
            "--sample-per", type=click.Choice(["all", "domain", "popularity"]), default="all",
            show_default=True,
            help="Draw --sample triples overall, or of each domain or popularity (as published).",
        ),
        click.option(
            "--recall-over", "over", type=click.Choice(["reference", "elicited"]),
            default="reference", show_default=True,
            help="Recall over all entities of the reference, or those that somebody gave a triple "
            "of.",
        ),
        click.option(
            "--recall", type=click.Choice(["together", "single"]), default="together",
            show_default=True,
            help="Recall by what all elicited triples of an entity entail together (as published), "
            "or by whether a single triple covers the reference triple (stricter).",
        ),
        click.option(
            "--way", type=click.Choice(["bm25", "dense", "hybrid"]), default="bm25",
            show_default=True,
            help="Find passages and candidates by words, by meaning, or by both.",
        ),
        click.option(
            "--k", type=click.IntRange(1, 50), default=10, show_default=True,
            help="Passages a triple.",
        ),
        click.option(
            "--candidates", type=click.IntRange(1, 50), default=10, show_default=True,
            help="With --recall single: elicited triples that are shown for one of the reference.",
        ),
    )(command)  # fmt: skip


# ``score RUN... --reference``: triples of stored runs verified, as a command tells it.


def settings_of(reference: str | None, options: Mapping[str, Any]) -> VerifySettings:
    """How triples are drawn and found, by these options. Raises BadUsage where one of them is given
    that means nothing without a reference."""
    from proofstone.methods.bequ.verification.planning import VerifySettings

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

    session: Session
    runs: Sequence[str]
    reference: str
    settings: VerifySettings
    as_json: bool
    quiet: bool

    def foresee(self, **asking: Any) -> None:
        """Says what it would take."""
        from proofstone.methods.bequ.verification.runs import verify_forecast
        from proofstone.run.forecast_text import judging_lines

        found = verify_forecast(
            self.session, self.runs, reference=self.reference, settings=self.settings, **asking
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
        from proofstone.methods.bequ.verification.runs import verify_runs

        is_watched = not self.quiet and sys.stderr.isatty()
        interrupted: list[bool] = []
        made = verify_runs(
            self.session,
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


# ``run --judge J --reference B``: what was asked is verified at once, and the study of its preset
# shown; and what to do next where it was not.


def check_reference(reference: str | None, request: RunRequest) -> None:
    """UsageError for a reference that nobody judges by."""
    if reference is None:
        return
    if not request.asked.judge:
        raise click.UsageError("--reference goes with --judge: somebody is to verify by it")


class VerifyingAtOnce(Struct, frozen=True, kw_only=True):
    """The runs of a command, to be verified as their preset says."""

    session: Session
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
        from proofstone.methods.bequ.verification.planning import VerifySettings

        said = {} if self.preset is None else self.preset.values("score")
        runs = [f"run:{result.planned.run.id.hex()}" for result in self.results]
        verifying = Verifying(
            self.session, runs, self.reference, VerifySettings(**said), False, self.quiet
        )
        try:
            return verifying.verified(
                judge=self.judges or (),
                max_connections=request.asked.max_connections,
                cache=request.asked.cache,
                budget=spending,
            )
        except BudgetReached as reached:  # what was judged is kept, and so are the replies
            say(f"error [{reached.code}] {reached}")
            return (), reached.exit_code

    def show_study(self) -> None:
        """Prints the preset's study, and the command that draws it."""
        from proofstone.results.reading import make_study

        if self.preset is None or not self.preset.study:
            return
        from proofstone.page.section import section_text

        forms = forms_of(self.results)
        try:
            study = make_study(self.session, self.preset.study, *forms)
        except ProofstoneError as error:
            say(f"no study yet: {error.message}", quiet=self.quiet)
            return
        click.echo(f"\n{section_text(study)}", nl=False)


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


# ``leaderboard`` of runs whose triples were verified.

# Options that are of scores of items: each triple counts once, and intervals are over entities.
_OF_ITEMS = ("level", "estimand")


def show_verified(
    session: Session,
    targets: Sequence[str],
    shared: Mapping[str, Any],
    by: Sequence[str],
    people: Path | None,
    *,
    as_json: bool,
) -> bool:
    """Prints the leaderboard of what was verified; False, and how to verify, where nothing is.

    Raises UsageError for options that it has not, and what ``verified_board`` does.
    """
    from proofstone.methods.bequ.report.board_text import (
        read_breakdowns,
        render_triple_board,
        render_triple_parts,
    )
    from proofstone.records.triples import BREAKDOWNS
    from proofstone.results.reading import (
        verified_board,
        verifying_command,
    )

    wanted = [name for name in BREAKDOWNS if name in by]
    parts = {} if as_json and not wanted else {"by": wanted}
    board = verified_board(session, *targets, people=people, **parts, **shared)
    if board is None:
        if people is not None:
            raise click.UsageError(
                "--people goes with triples that were verified, and none of these is"
            )
        say(
            "nothing of this is verified, so models are ranked by how much they say\n"
            f"next: {verifying_command(session, *targets)}"
        )
        return False
    read_breakdowns(by)
    context = click.get_current_context()
    given = [f"--{name}" for name in _OF_ITEMS if was_given(context, name)]
    if given:
        raise click.UsageError(
            f"{', '.join(given)}: not of verified triples; with --unverified these are ranked by "
            "how much models say"
        )
    if as_json:
        print_json(board)
        return True
    width = shutil.get_terminal_size((100, 24)).columns
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    cards = shared["card_columns"]
    click.echo(render_triple_board(board, card_columns=cards, width=width, colour=colour), nl=False)
    for name in wanted:
        click.echo(f"\n{render_triple_parts(board, name, width=width)}", nl=False)
    return True


_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command("verify-triples")
@click.argument("file", type=_FILE)
@click.option(
    "--reference",
    required=True,
    type=click.Path(path_type=Path, exists=True),
    help="What is known of the entities: a file of triples or texts, or a folder of such files.",
)
@judge_options
@sample_options
@click.option(
    "--people",
    type=_FILE,
    help="The file of verdicts with its columns people and is_true filled for some.",
)
@output_option
@click.option(
    "--tables",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write results.csv and the tables beside it, in BeQu's columns, to this folder.",
)
@click.option(
    "--by",
    multiple=True,
    type=click.Choice(["domain", "popularity", "source", "family"]),
    default=["domain", "popularity", "source"],
    help="Figures to print by: family is the predicate's. Default: all others. JSON has all.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be asked; ask nobody.")
@click.option("--show", type=click.IntRange(1), metavar="N", help="Show N questions to a judge.")
@click.option("--max-connections", type=click.IntRange(1), help="Requests to judges at once.")
@cache_option
@yes_option
@budget_option
@seed_option
@encoding_option
@workspace_option
@json_option
@quiet_option
def verify_triples_command(
    file: Path,
    reference: Path,
    people: Path | None,
    output: Path | None,
    tables: Path | None,
    by: tuple[str, ...],
    dry_run: bool,
    show: int | None,
    max_connections: int | None,
    cache: CacheUse,
    yes: bool,
    budget: str | None,
    encoding: str,
    folder: Path | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Verify triples both ways against a reference.

    FILE has subject, predicate, object and subject_name; model, setting, domain, popularity and
    wikidata_id where there are such. The reference has rows with entity (or subject_name) and
    predicate, object, passage, source; or text; or lists of triples (triples_wiki, triples_web). In
    a folder each .txt or .md is the text of the entity that it is named for.

    Precision: a judge says of each triple of a sample whether its ten nearest passages entail it,
    contradict it, or leave it open. Recall: of each reference triple of a sample whether one of the
    nearest elicited triples of its entity covers it. A verdict names the passage or triple that it
    rests on; one that names another was not parsed, and counts as published: in the denominator.

    Intervals are at 95%, over entities. What waits for a judge is in no figure, and the exit code
    is then 3. In a workspace a judge's replies are kept, and the same command again asks only what
    is missing.
    """
    from proofstone.methods.bequ.report.verifying_text import (
        print_to_verify,
        print_verification,
    )
    from proofstone.methods.bequ.verification.planning import VerifySettings
    from proofstone.methods.bequ.verification.triple_files import opened_triples

    judge = read_judges(options)
    settings = VerifySettings(**options)
    with opened_triples(file, reference, settings, encoding=encoding) as opened:
        if dry_run or show:
            found = opened.to_ask(show or 0)
            print_json(found) if as_json else print_to_verify(found)
            return
        made = opened.verify(
            judge=judge or (),
            people=people,
            output=output,
            tables=tables,
            folder=folder,
            ask_egress=TerminalEgress(yes=yes, quiet=quiet),
            max_connections=max_connections,
            cache=cache,
            budget=budget,
            watch=None if quiet or not sys.stderr.isatty() else _tell_done,
        )
    print_json(made) if as_json else print_verification(made, by)
    for path in filter(None, (output, tables)):
        say(f"written: {path}", quiet=quiet)
    if made.waiting:
        say(f"{made.waiting:,} triples wait for a judge: --judge PROVIDER/NAME", quiet=quiet)
    click.get_current_context().exit(3 if made.waiting else 0)
