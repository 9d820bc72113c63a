"""Leaderboards of verified triples, and ``grade`` of a file of triples."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proofstone.errors import ProofstoneError
from proofstone.methods.bequ.records import TripleFileAsked, VerifySettings
from proofstone.run.cli_reference import tell_done
from proofstone.session.options import was_given
from proofstone.session.terminal import (
    TerminalEgress,
    print_json,
    print_rendered,
    say,
    say_next,
    wants_color,
)

if TYPE_CHECKING:
    from proofstone.run.cli_files import FileAsked, GradeCall
    from proofstone.session.session import Session


# ``leaderboard`` of runs whose triples were verified.

# Options that are of scores of items: each triple counts once, and intervals are over entities.
_OF_ITEMS = ("level", "population")


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
                "--human-labels goes with triples that were verified, and none of these is"
            )
        say("no triple here is verified, so models are ranked by the number of triples")
        say_next([how_to_verify(selection.runs).removeprefix("proofstone ")])
        return False
    read_breakdowns(by)
    context = click.get_current_context()
    given = [f"--{name}" for name in _OF_ITEMS if was_given(context, name)]
    if given:
        raise click.UsageError(
            f"{', '.join(given)}: not available for verified triples; with --unverified "
            "these are ranked by how much models say"
        )
    if as_json:
        print_json(board)
        return True
    width = shutil.get_terminal_size((100, 24)).columns
    colour = wants_color()
    cards = shared["card_columns"]
    print_rendered(render_triple_board(board, card_columns=cards, width=width, colour=colour))
    for name in wanted:
        print_rendered(f"\n{render_triple_parts(board, name, width=width)}")
    return True


def show_analysis(session: Session, name: str, forms: Sequence[str], *, quiet: bool) -> None:
    """Prints a study of verified runs of these lists, or why there is none yet."""
    from proofstone.page.section import section_text
    from proofstone.results.report import make_analysis

    try:
        analysis = make_analysis(session, name, *forms)
    except ProofstoneError as error:
        say(f"no study yet: {error.message}", quiet=quiet)
        return
    print_rendered(f"\n{section_text(analysis)}")


_USUAL = ("domain", "popularity", "source")


def grade_triples(
    file: Path,
    reference: Path,
    *,
    settings: VerifySettings,
    options: TripleFileAsked,
    asked: FileAsked,
    call: GradeCall,
) -> int:
    """Verify a file of triples both ways against a reference; print the figures and return the exit
    code (3: triples still need a judge).

    Precision: a judge labels each sampled triple by its ten nearest passages (entailment,
    contradiction, neutral). Recall: a judge decides whether the elicited triples of an entity cover
    each sampled reference triple. Each verdict names the passage or triple that it is based on; a
    verdict that names another one is unparsed, and counts in the denominator as published.
    """
    from proofstone.methods.bequ.report.text import (
        print_to_verify,
        print_verification,
        read_breakdowns,
    )
    from proofstone.methods.bequ.verification.triple_files import opened_triples

    by = read_breakdowns(asked.by) or _USUAL
    is_watched = not call.quiet and sys.stderr.isatty()
    with opened_triples(file, reference, settings, encoding=asked.encoding) as opened:
        if call.dry_run or options.show:
            found = opened.to_ask(options.show or 0)
            print_json(found) if call.as_json else print_to_verify(found)
            return 0
        made = opened.verify(
            judge=call.judges or (),
            people=options.labels,
            output=asked.output,
            tables=options.tables_to,
            folder=call.folder,
            ask_egress=TerminalEgress(yes=call.yes, quiet=call.quiet),
            watch=partial(tell_done, called="triples") if is_watched else None,
            **call.spending,
        )
    print_json(made) if call.as_json else print_verification(made, by)
    for path in filter(None, (asked.output, options.tables_to)):
        say(f"written: {path}", quiet=call.quiet)
    if made.waiting:
        say(f"{made.waiting:,} triples need a judge: --judge PROVIDER/NAME", quiet=call.quiet)
    return 3 if made.waiting else 0
