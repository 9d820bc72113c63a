"""``verify-triples``: triples that came from anywhere, checked both ways against a reference."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proofstone.cli.column_options import encoding_option
from proofstone.cli.egress import TerminalEgress
from proofstone.cli.judge_options import judge_options, read_judges
from proofstone.cli.options import (
    budget_option,
    cache_option,
    json_option,
    output_option,
    quiet_option,
    seed_option,
    workspace_option,
    yes_option,
)
from proofstone.cli.output import print_json, say
from proofstone.cli.verify_options import sample_options

if TYPE_CHECKING:
    from proofstone.engines.models import CacheUse

__all__ = ["verify_triples_command"]

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
    from proofstone.cli.verifying_text import print_to_verify, print_verification  # noqa: PLC0415
    from proofstone.methods.bequ.verification import VerifySettings  # noqa: PLC0415
    from proofstone.wiring.verifying import opened_triples  # noqa: PLC0415

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


def _tell_done(done: int, of: int) -> None:
    """One line on a terminal, written over until all is done."""
    click.echo(f"\r{done:,} of {of:,} triples", err=True, nl=done >= of)
