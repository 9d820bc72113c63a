"""What a command of ``run`` asks for: its run file, if it names one, with its
options over it. What the installed methods declare is asked only when help is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_origin

import click
from msgspec import Struct

from proofstone.models.wire import THINKING
from proofstone.records.items import CONTEXTS
from proofstone.records.options import options_in
from proofstone.run.run_options import COUNTS, JUDGING, RunAsked, names_of
from proofstone.run.self_preference import judge_lines, tell_lines
from proofstone.session.options import options_of, read_list, read_panel, read_settings, was_given

if TYPE_CHECKING:
    from proofstone.method import Method
    from proofstone.run.judges import JudgeSpec
    from proofstone.run.request import Asking, RunRequest
    from proofstone.run.run_file import RunFile
    from proofstone.session.session import Session


class MethodsOption(click.Option):
    """An option whose help says what the methods of this package take: it is the same wherever it
    is printed, and they are loaded only then."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option with what every method takes."""
        from proofstone.method import bundled_names, find_method

        self.help = _HELP[self.name or ""]([find_method(name) for name in bundled_names()])
        try:
            return super().get_help_record(ctx)
        finally:
            self.help = None


def _help_of_prompt_methods(methods: Sequence[Method]) -> str:
    prompt_methods = {
        name: says for method in methods for name, says in method.prompt_methods.items()
    }
    told = "; ".join(f"{name} ({says})" for name, says in prompt_methods.items())
    return f"Prompting method (default: direct): {told}."


def _help_of_ranges(methods: Sequence[Method]) -> str:
    names = dict.fromkeys(name for method in methods for name in method.ranges)
    return (
        "For entities: number of triples to request for a widely known entity (about a tenth of "
        f"it for others): {', '.join(names)}. Several values run each. Default: the first."
    )


def _help_of_prompt(methods: Sequence[Method]) -> str:
    taking = [method.prompts for method in methods if method.prompts is not None]
    names = dict.fromkeys(name for prompts in taking for name in prompts.variables)
    return (
        "Jinja template that replaces the method's prompt. Variables: "
        f"{', '.join(names)}. See docs/reference/formats.md."
    )


_HELP: Mapping[str, Callable[[Sequence[Method]], str]] = {
    "prompt_method": _help_of_prompt_methods,
    "ranges": _help_of_ranges,
    "prompt_template": _help_of_prompt,
}


# The options of every command that asks a contestant, and those of whoever judges; ``read_asked``
# makes one record of what a command without run files was given of them.
model_options = options_of(
    RunAsked,
    *(name for name, _kind, _option in options_in(RunAsked) if name not in (*JUDGING, "preset")),
    classes=dict.fromkeys(_HELP, MethodsOption),
)
judge_options = options_of(RunAsked, *JUDGING)
preset_option = options_of(RunAsked, "preset")
temperature_option = options_of(RunAsked, "temperature")
max_tokens_option = options_of(RunAsked, "max_tokens")
setting_option = options_of(RunAsked, "extra")
connections_option = options_of(RunAsked, "max_connections")
reasoning_option = click.option(
    "--reasoning-effort", metavar="EFFORT", help="Reasoning effort, for models that support it."
)


def dry_run_list(
    *, dry_run: str, pilot: str, least_pilot: int, show: str
) -> list[Callable[[Any], Any]]:
    """The options of a dry run, each with its help; a pilot has ``least_pilot`` or more."""
    return [
        click.option("--dry-run", is_flag=True, help=dry_run),
        click.option("--pilot", type=click.IntRange(least_pilot), metavar="N", help=pilot),
        click.option("--show", type=click.IntRange(1), metavar="N", help=show),
    ]


def read_asked(options: dict[str, Any]) -> RunAsked:
    """What these options say of how is asked and who judges; they are taken out of them."""
    names = [name for name, _kind, _option in options_in(RunAsked) if name in options]
    given = {name: value for name in names if (value := options.pop(name)) is not None}
    if "judge" in given:
        given["judge"] = tuple(read_panel(given["judge"]))
    return RunAsked(**given)


def read_judges(options: dict[str, Any]) -> JudgeSpec | None:
    """Return the judges of these options, removing the options; None without judges."""
    from proofstone.run.judges import judges_asked

    return judges_asked(read_asked(options))


def tell_judges(
    session: Session, judges: JudgeSpec | None, evaluated_models: Sequence[str], *, quiet: bool
) -> None:
    """Warn of judges that share a model family with a model that they judge."""
    from proofstone.run.score import self_evaluation_of_judges

    if judges is not None:
        tell_lines(
            judge_lines(self_evaluation_of_judges(session, judges, evaluated_models)), quiet=quiet
        )


class AskedFor(Struct, frozen=True, kw_only=True):
    """The request of a command, and the workspace and run file that it names, if any."""

    request: RunRequest
    workspace: Path | None = None
    file: RunFile | None = None


def read_request(context: click.Context, *, whole: bool = True) -> AskedFor:
    """The request of a ``run`` command. UsageError where it names no model or target, though the
    ``whole`` is wanted; BadInput where its run file cannot be read."""
    from proofstone.run.request import RunRequest
    from proofstone.run.run_file import is_run_file, read_run_file

    targets = read_list(context.params["targets"])
    files = [target for target in targets if is_run_file(target)]
    if len(files) > 1:
        raise click.UsageError(f"one run file at a time, not {' and '.join(files)}", context)
    file = read_run_file(Path(files[0])) if files else None
    said = dict(_said(context))
    efforts = said.pop("reasoning_effort", ())
    if len(efforts) > 1:
        said["reasoning_effort"] = efforts
    request = (RunRequest() if file is None else file.request).over(
        targets=[target for target in targets if not is_run_file(target)],
        models=said.get("models", ()),
        prompt_methods=_prompt_methods(said.get("prompt_method", ()), said.get("ranges", ())),
        flags=_flags(said, efforts),
        **{
            name: said[name]
            for name in (*names_of("whole"), "thinking", "reasoning_effort")
            if name in said
        },
    )
    if whole and not request.targets:
        raise click.UsageError("name a target: a form or a bank", context)
    if whole and not request.models:
        raise click.UsageError(
            "name a model: -m openai/gpt-5.1, -m local/FILE.gguf, -m sim/x", context
        )
    return AskedFor(request=request, workspace=None if file is None else file.workspace, file=file)


def _said(context: click.Context) -> Iterator[tuple[str, Any]]:
    """Yield the given options by field of ``RunAsked``; repeated values appear once."""
    for name, kind, _option in options_in(RunAsked):
        if not was_given(context, name):
            continue
        value = context.params[name]
        if name == "judge":
            value = tuple(read_panel(value))
        elif get_origin(kind) is tuple and name not in ("stop", "extra"):
            value = tuple(read_list(value))
        _check_words(name, value)
        yield name, value


def _check_words(name: str, value: Any) -> None:
    """BadParameter for a word that is neither on nor off, or no context."""
    known, expected = {
        "thinking": (THINKING, "on, off, or on,off"),
        "context": (CONTEXTS, "none, evidence, retrieved, or several (none,evidence)"),
    }.get(name, ((), ""))
    for word in value if known else ():
        if word not in known:
            raise click.BadParameter(f"{word!r}: expected {expected}", param_hint=f"--{name}")


def _prompt_methods(prompt_methods: tuple[str, ...], ranges: tuple[str, ...]) -> tuple[str, ...]:
    """Each way with each of the ranges, where any is named."""
    if not ranges:
        return prompt_methods
    from proofstone.run.request import DEFAULT_PROMPT_METHOD

    told = [prompt_method for prompt_method in prompt_methods if "@" in prompt_method]
    if told:
        raise click.BadParameter(f"{told[0]} has a range already", param_hint="--range")
    return tuple(
        f"{prompt_method}@{named}"
        for prompt_method in prompt_methods or (DEFAULT_PROMPT_METHOD,)
        for named in ranges
    )


def _flags(said: Mapping[str, Any], efforts: tuple[str, ...]) -> Asking:
    """Return the layer of the options, which overrides all others. Several ``efforts`` are not part
    of it; each is run separately."""
    from proofstone.run.request import Asking

    own = {*names_of("setting")} - {"thinking", "reasoning_effort"}
    settings = {name: value for name, value in said.items() if name in own}
    if "stop" in settings:
        settings["stop"] = [text.replace("\\n", "\n") for text in settings["stop"]]
    settings |= {"reasoning_effort": efforts[0]} if len(efforts) == 1 else {}
    settings |= read_settings(said.get("extra", ()))
    prompt = None if "prompt_template" not in said else str(said["prompt_template"].resolve())
    counts = {name: said[name] for name in COUNTS if name in said}
    return Asking(**counts, prompt_template=prompt, settings=settings)
