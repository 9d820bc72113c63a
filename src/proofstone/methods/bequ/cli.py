"""``verify-triples``: triples that came from anywhere, checked both ways against a reference."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import structs

from proofstone.errors import ProofstoneError
from proofstone.methods.bequ.records import VerifySettings
from proofstone.run.cli_reference import tell_done
from proofstone.run.cli_request import judge_options, read_judges
from proofstone.session.options import (
    asked_for,
    budget_option,
    cache_option,
    encoding_option,
    json_option,
    output_option,
    quiet_option,
    seed_option,
    was_given,
    workspace_option,
    yes_option,
)
from proofstone.session.terminal import TerminalEgress, print_json, say

if TYPE_CHECKING:
    from proofstone.records.calls import CacheUse
    from proofstone.session.session import Session


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
    from proofstone.methods.bequ.records import BREAKDOWNS
    from proofstone.methods.bequ.report.board import verified_board
    from proofstone.methods.bequ.report.text import (
        read_breakdowns,
        render_triple_board,
        render_triple_parts,
    )
    from proofstone.methods.bequ.verification.stored_verdicts import how_to_verify
    from proofstone.results.report import selection_of

    wanted = [name for name in BREAKDOWNS if name in by]
    parts = {} if as_json and not wanted else {"by": wanted}
    selection = selection_of(session, targets)
    board = verified_board(session, selection, people=people, **parts, **shared)
    if board is None:
        if people is not None:
            raise click.UsageError(
                "--people goes with triples that were verified, and none of these is"
            )
        say(
            "nothing of this is verified, so models are ranked by how much they say\n"
            f"next: {how_to_verify(selection.runs)}"
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


def show_study(session: Session, name: str, forms: Sequence[str], *, quiet: bool) -> None:
    """Prints a study of verified runs of these lists, or why there is none yet."""
    from proofstone.page.section import section_text
    from proofstone.results.report import make_study

    try:
        study = make_study(session, name, *forms)
    except ProofstoneError as error:
        say(f"no study yet: {error.message}", quiet=quiet)
        return
    click.echo(f"\n{section_text(study)}", nl=False)


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
@asked_for(VerifySettings, "settings", without=("seed",))
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
    as_json: bool,
    quiet: bool,
    settings: VerifySettings,
    seed: int,
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
    from proofstone.methods.bequ.report.text import (
        print_to_verify,
        print_verification,
    )
    from proofstone.methods.bequ.verification.triple_files import opened_triples

    judge = read_judges(options)
    is_watched = not quiet and sys.stderr.isatty()
    settings = structs.replace(settings, seed=seed)
    with opened_triples(file, reference, settings, encoding=encoding) as opened:
        if dry_run or show:
            found = opened.to_ask(show or 0)
            print_json(found) if as_json else print_to_verify(found)
            return
        made = opened.verify(
            judge=judge or (),
            output=output,
            tables=tables,
            ask_egress=TerminalEgress(yes=yes, quiet=quiet),
            max_connections=max_connections,
            cache=cache,
            budget=budget,
            watch=partial(tell_done, called="triples") if is_watched else None,
            **options,  # people and folder
        )
    print_json(made) if as_json else print_verification(made, by)
    for path in filter(None, (output, tables)):
        say(f"written: {path}", quiet=quiet)
    if made.waiting:
        say(f"{made.waiting:,} triples wait for a judge: --judge PROVIDER/NAME", quiet=quiet)
    click.get_current_context().exit(3 if made.waiting else 0)
