"""``review incentives``: compute what a payment scheme rewards."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path

import click

from proofstone.session.cli_command import command
from proofstone.session.options import (
    json_option,
    language_option,
    output_option,
    read_settings,
    seed_option,
)
from proofstone.session.terminal import minute, print_json, print_rendered, print_table, say_next


@command("incentives")
@click.argument("game", required=False)
@click.option(
    "--set",
    "values",
    multiple=True,
    metavar="NAME=VALUE",
    help="Another value of the game, such as bonus=20 or high.mean=0.8.",
)
@click.option(
    "--reviews",
    "pilot",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Reviews of a pilot: reviewer, score, and effort (low, high) or pay; group, cost.",
)
@output_option
@language_option
@seed_option
@json_option
def incentives_command(
    game: str | None,
    values: tuple[str, ...],
    pilot: Path | None,
    output: Path | None,
    seed: int,
    as_json: bool,
) -> None:
    """Compute what a payment scheme for reviewers rewards.

    GAME is one of those listed without an argument, or a TOML file. A tournament pays a bonus for
    the better of two reviews above a bar. The command computes what effort adds to its chance,
    equilibria, and the bonus that a goal needs. Games of roles show where careful work is an
    equilibrium. A pilot in which effort was assigned identifies gains, cost and bonus; ordinary
    logs identify none of them.

    \b
    Example:
      proofstone review incentives docs/data/review-bonus.toml -o bonus.html
    """
    from proofstone.mechanism.game_file import find_game, game_names
    from proofstone.mechanism.study import study_game, study_page, study_text

    if game is None:
        names = [(name, str(find_game(name).get("title", ""))) for name in game_names()]
        if as_json:
            print_json([{"game": name, "title": title} for name, title in names])
            return
        print_table([("game", "what it pays for"), *names])
        say_next([f"review incentives {names[0][0]}"] if names else [])
        return
    study = study_game(game, read_settings(values), pilot=pilot, seed=seed)
    if output is not None:
        from proofstone.results.page_files import write_text

        called = f"proofstone {shlex.join(sys.argv[1:])}"
        write_text(output, study_page(study, now=minute(time.time()), command=called))
    if as_json:
        print_json(study)
        return
    print_rendered(study_text(study))
