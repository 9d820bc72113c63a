"""``start``: from a folder of documents to ten questions, what all of it takes, and a run file."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proofstone.session.cli_egress import TerminalEgress
from proofstone.session.options import (
    json_option,
    languages_option,
    quiet_option,
    read_list,
    seed_option,
    workspace_option,
    yes_option,
)
from proofstone.session.terminal import pasted, print_json, print_text, say

if TYPE_CHECKING:
    from proofstone.session.session import Session
    from proofstone.start.answers import Answers


# ``demo``: the whole path, on real facts, with a real model.


@click.command("demo")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("demo"), metavar="[DIR]")
@click.option("-m", "--model", metavar="PROVIDER/NAME", help="Another model than the carried one.")
@click.option(
    "--questions", type=click.IntRange(1), help="Questions a form; else 20, time allowing."
)
@yes_option
@json_option
@quiet_option
def demo_command(
    folder: Path,
    model: str | None,
    questions: int | None,
    yes: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """The whole path on real facts with a real model, offline.

    Builds a bank of statements from fact tables (chemical elements, countries, codes; English and
    Chinese), composes three forms by three seeds, asks the carried SmolLM2-135M in two ways (direct
    and step by step), scores, prints the leaderboard with intervals and writes one HTML page. It
    takes a few minutes; the same command again goes on where it stopped.

    All of it is an ordinary workspace in DIR (demo).
    """
    from proofstone.results.board_text import render_terminal, to_json
    from proofstone.session.progress import watching
    from proofstone.session.session import create_session
    from proofstone.start.demo import CARRIED_MODEL, demonstrate

    with create_session(folder) as session, watching(quiet=quiet) as watch:
        session.ask_egress = TerminalEgress(yes=yes, quiet=quiet)
        done = demonstrate(
            session,
            model or CARRIED_MODEL,
            questions=questions,
            watch=watch,
            tell=lambda line: say(line, quiet=quiet),
        )
    complete = all(result.complete for result in done.results)
    if as_json:
        click.echo(to_json(done.board))
    else:
        n = sum(form.n_items for form in done.forms)
        seeds = " ".join(str(form.seed) for form in done.forms)
        first = next(iter(done.results)).planned.run
        place = f" -w {pasted(folder)}" if folder != Path() else ""
        look = f"proofstone show run:{first.id.hex()[:8]} --outcome wrong -n 5{place}"
        text = render_terminal(
            done.board,
            heading=[("form", f"{done.forms[0].name}   {n} questions, seeds {seeds}")],
            next_steps=[
                ("control", done.control.summary),
                ("page", str(done.page)),
                ("look", look),
            ],
            width=shutil.get_terminal_size((100, 24)).columns,
            colour=sys.stdout.isatty() and "NO_COLOR" not in os.environ,
        )
        click.echo(text, nl=False)
        say(f"took {done.seconds:.0f} s", quiet=quiet)
    if not complete:
        say("incomplete: the same command goes on", quiet=quiet)
        click.get_current_context().exit(3)


BEFORE_READING = ("want", "licence")


@click.command("start")
@click.argument("documents", default=Path(), metavar="[FOLDER]",
                type=click.Path(path_type=Path, exists=True, file_okay=False))  # fmt: skip
@click.option("--want", type=click.Choice(["memory", "reading", "both"]),
              help="What you want to know: what models know of the documents, how well they read "
              "them, or both.")  # fmt: skip
@click.option("--licence", metavar="NAME", help="The documents' license, such as CC-BY-4.0.")
@click.option("--private", is_flag=True,
              help="The documents are private, without a license. Nothing leaves this machine, "
              "unless proofstone.toml states an [egress] policy.")  # fmt: skip
@languages_option("Only passages in these.")
@click.option("--writer", metavar="PROVIDER/NAME", help="The model that writes statements.")
@click.option("--judge", metavar="PROVIDER/NAME", help="The model that checks them.")
@click.option("-m", "--model", "models", multiple=True, metavar="PROVIDER/NAME",
              help="A model to compare; repeat it or use commas. none: no model yet.")  # fmt: skip
@click.option("--questions", type=click.IntRange(1), help="Questions of the form.  [default: 100]")
@click.option("--people", type=click.IntRange(0), help="People who can look at statements.")
@click.option("--budget", metavar="AMOUNT", help="The most that the pilot, and then each command, "
              "may spend: 5USD, 2Mtok; none.")  # fmt: skip
@click.option("--pilot", type=click.IntRange(2), default=20, show_default=True, metavar="N",
              help="Passages that are really worked on; what is made of them is kept.")  # fmt: skip
@seed_option
@yes_option
@workspace_option
@json_option
@quiet_option
def start_command(
    documents: Path,
    folder: Path | None,
    pilot: int,
    seed: int,
    yes: bool,
    as_json: bool,
    quiet: bool,
    **said: Any,
) -> None:
    """Begin with a folder of documents: examples, cost, and a run file.

    Reads the documents of FOLDER, asks what you want to know, then tries it: statements from a few
    passages of documents chosen over the folder (each kind, subfolder and size has its turn), ten
    questions of them beside the pages that they rest on, and the models that you name on these. It
    says what all of the folder would take, in money and time, writes the run file, and prints the
    commands that do the rest.

    Of private documents models are asked twice: with nothing, which shows memory, and with the
    passages, which shows reading.

    Every answer has an option; with --yes nothing is asked, and what is not given is as usual.
    Leave at any question: nothing is broken, and the same command goes on with what you answered.
    Without -w, the nearest workspace is used; else the current folder becomes one.
    """
    from proofstone.documents.sources import Stated
    from proofstone.start.guide import languages_of
    from proofstone.start.text import method_lines, report_lines

    given = _given(said)
    with _session(folder, quiet=quiet) as session:
        if said["private"]:
            _keep_local(session, quiet=quiet)
        asking = _Asking(session, documents, given, yes=yes)
        for line in () if yes or quiet else method_lines():
            say(line)
        first = asking.first()  # a source is read under its licence
        report = _read(session, documents, Stated(licence=first.licence or ""), quiet=quiet)
        answers = asking.others(first, languages_of(session, report))
        found = _perform(session, documents, answers, report, pilot, seed, yes=yes, quiet=quiet)
    if as_json:
        print_json(found)
        return
    for line in report_lines(found):
        print_text(line)


def _given(said: dict[str, Any]) -> Answers:
    """The answers that options give. UsageError where two contradict each other."""
    from proofstone.start.answers import NONE, Answers, read_budget_text

    if said["private"] and said["licence"]:
        raise click.UsageError("--private documents have no --licence: leave out either")
    models = read_list(said["models"])
    return Answers(
        want=said["want"],
        licence="" if said["private"] else said["licence"],
        languages=said["languages"],
        writer=said["writer"],
        judge=said["judge"],
        models=() if models == [NONE] else tuple(models) or None,
        questions=said["questions"],
        people=said["people"],
        budget=None if said["budget"] is None else read_budget_text(said["budget"]),
    )


def _keep_local(session: Session, *, quiet: bool) -> None:
    """Lets nothing of this workspace leave the machine, unless its file states a policy itself."""
    from proofstone.session.egress import keep_local

    if keep_local(session.folder):
        say('egress   nothing leaves this machine: [egress] hosts = ["local"] in proofstone.toml',
            quiet=quiet)  # fmt: skip


def _session(folder: Path | None, *, quiet: bool) -> Session:
    """The workspace that is named or near; else a new one here."""
    from proofstone.errors import WorkspaceUnusable
    from proofstone.session.session import create_session, open_session

    if folder is not None:
        return create_session(folder)
    try:
        return open_session()
    except WorkspaceUnusable:
        say(f"workspace {Path.cwd()}", quiet=quiet)
        return create_session()


def _read(session: Session, documents: Path, stated: Any, *, quiet: bool) -> Any:
    """The documents, read; what was read and what was not is said. Raises BadInput where nothing
    was."""
    from proofstone.errors import BadInput
    from proofstone.ingest.cli import watching_documents
    from proofstone.start.guide import languages_of, read_documents
    from proofstone.start.text import read_lines

    with watching_documents(quiet=quiet) as watch:
        report = read_documents(session, documents, stated, watch)
    for line in read_lines(report, languages_of(session, report)):
        say(line, quiet=quiet)
    if not report.taken:
        raise BadInput(
            f"no document of {documents} could be read", hint="proofstone ingest says more of each"
        )
    return report


class _Asking:
    """The questions of a start in two goes: what must be known before the documents are read, and
    the rest. Raises BadUsage, with the options to give, where nobody can be asked."""

    def __init__(self, session: Session, documents: Path, given: Answers, *, yes: bool) -> None:
        from proofstone.errors import BadUsage
        from proofstone.session.folders import MARK
        from proofstone.start.answers import asks_here, kept_answers, missing_flags

        missing = missing_flags(given)
        if missing and not yes and not asks_here():
            raise BadUsage(
                "nobody can be asked here (no terminal), and these are not given:\n  "
                + "\n  ".join(missing),
                hint="give them, or --yes to take what is usual",
            )
        self._session, self._documents = session, documents
        self._given, self._ask = given, not yes
        self._mark = session.folder / MARK
        self._before = kept_answers(self._mark, documents)

    def first(self) -> Answers:
        """The answers to what the documents need not be read for."""
        return self._complete(self._given, BEFORE_READING, {}, [])

    def others(self, answers: Answers, languages: dict[str, int]) -> Answers:
        """All answers."""
        from proofstone.session.models import (
            known_models,
            model_choices,
            model_prices,
            models_here,
        )

        listed = known_models(self._session)
        prices = model_prices(self._session, [each.name for each in listed])
        here = models_here(self._session) if answers.writer is None else ()
        return self._complete(answers, None, languages, model_choices(listed, prices, here))

    def _complete(
        self, answers: Answers, names: Any, languages: dict[str, int], choices: Any
    ) -> Answers:
        from proofstone.start.answers import FLAGS, complete_answers, keep_answers

        return complete_answers(
            answers,
            self._before,
            names or tuple(FLAGS),
            languages=languages,
            choices=choices,
            ask=self._ask,
            keep=lambda answers: keep_answers(self._mark, self._documents, answers),
        )


def _perform(
    session: Session,
    documents: Path,
    answers: Answers,
    report: Any,
    pilot: int,
    seed: int,
    *,
    yes: bool,
    quiet: bool,
) -> Any:
    from proofstone.session.costs import tell_lost
    from proofstone.session.progress import tell_interrupt, watching
    from proofstone.start.guide import Start

    session.ask_egress = TerminalEgress(yes=yes, quiet=quiet)
    tell_lost(session, quiet=quiet)
    with watching(quiet=quiet) as watch:
        return Start(
            session=session, folder=documents, answers=answers, read=report, seed=seed,
            n_passages=pilot, watch=watch, on_interrupt=tell_interrupt,
            tell=lambda line: say(line, quiet=quiet),
        ).perform()  # fmt: skip
