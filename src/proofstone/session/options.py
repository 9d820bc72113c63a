"""Define options that several commands share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeVar, cast, get_args, get_origin

import click
import msgspec
from click.core import ParameterSource
from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo

from proofstone.records.knowledge import Role, RoleName
from proofstone.records.options import (
    BUDGET_HELP,
    CACHE_HELP,
    YES_HELP,
    Opt,
    Parameter,
    declared_option,
)
from proofstone.session.terminal import pasted, say, say_next
from proofstone.wording.messages import LANGUAGES, Language, speaking

Command = TypeVar("Command", bound=Callable[..., Any])


workspace_option = click.option(
    "-w",
    "--workspace",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Workspace directory (default: search this directory and its parents).",
)


json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


def _speak(context: click.Context, _parameter: click.Parameter, wanted: Language) -> None:
    """All texts until the command ends are in that language; keys of JSON and errors are not."""
    context.with_resource(speaking(wanted))


def _read_languages(
    _context: click.Context, parameter: click.Parameter, text: str | None
) -> tuple[str, ...] | None:
    """The first parts of codes, each once; none for ``all``, None where nothing was said."""
    if text is None:
        return None
    from proofstone.texts.languages import main_language, read_language_code  # noqa: PLC0415

    named = read_list([text])
    if named == ["all"]:
        return ()
    codes = {name: read_language_code(name) for name in named}
    wrong = [name for name, code in codes.items() if code is None]
    if wrong or not codes:
        raise click.BadParameter(
            f"{', '.join(wrong) or text!r}: expected codes such as en,zh, or all", param=parameter
        )
    return tuple(dict.fromkeys(main_language(code or "") for code in codes.values()))


def languages_option(help_text: str) -> Callable[[Command], Command]:
    """The languages of the passages that are meant: a tuple of codes, empty for all, None where
    nothing was said."""
    return click.option(
        "--languages",
        metavar="CODE,...",
        callback=_read_languages,
        help=f"{help_text} all: in any.",
    )


language_option = click.option(
    "--ui-language",
    type=click.Choice(LANGUAGES),
    default="en",
    show_default=True,
    expose_value=False,
    callback=_speak,
    help="Language of pages, sheets, figures and summaries: English or Chinese.",
)


audience_option = click.option(
    "--audience",
    type=click.Choice(["internal", "public"]),
    default="internal",
    show_default=True,
    help="Audience; public omits all texts of items, passages and responses.",
)


output_option = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the result to FILE.",
)


budget_option = click.option(
    "--budget",
    metavar="AMOUNT",
    help=BUDGET_HELP,
)


cache_option = click.option(
    "--cache",
    type=click.Choice(["same", "any"]),
    default="same",
    show_default=True,
    help=CACHE_HELP,
)


quiet_option = click.option(
    "-q", "--quiet", is_flag=True, help="Print no progress and no messages."
)


yes_option = click.option("--yes", is_flag=True, help=YES_HELP)


seed_option = click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Random seed.",
)


def read_list(values: Iterable[str]) -> list[str]:
    """The entries of an option that may be repeated or take commas, in order, each once."""
    entries = [entry.strip() for value in values for entry in value.split(",")]
    return list(dict.fromkeys(entry for entry in entries if entry))


def read_panel(values: Iterable[str]) -> list[str]:
    """Return the judges of an option that may be repeated or contain commas. Raises UsageError for
    a duplicate: it would still have one vote."""
    return read_once(values, "each judge has one vote")


def read_once(values: Iterable[str], because: str) -> list[str]:
    """Return entries as ``read_list``. Raises UsageError with the reason ``because`` for a
    duplicate."""
    entries = [entry.strip() for value in values for entry in value.split(",")]
    twice = [entry for entry, n in Counter(filter(None, entries)).items() if n > 1]
    if twice:
        raise click.UsageError(f"{', '.join(twice)} is named twice: {because}")
    return read_list(values)


def was_given(context: click.Context, name: str) -> bool:
    """Whether a person gave this option, not its default."""
    return context.get_parameter_source(name) not in (ParameterSource.DEFAULT, None)


def read_roles(pairs: Sequence[str]) -> list[Role]:
    """``wrote=MODEL`` pairs, the model as leaderboards or people name it."""
    known: dict[str, RoleName] = {name: name for name in get_args(RoleName)}
    roles = []
    for pair in pairs:
        role, equals, model = (part.strip() for part in pair.partition("="))
        if role not in known or not equals or not model:
            raise click.BadParameter(
                f"{pair!r}: expected ROLE=MODEL, with one of {', '.join(known)}",
                param_hint="--role",
            )
        roles.append(Role(known[role], model))
    return roles


def read_seeds(text: str | None, seed: int) -> list[int]:
    """``5``: five seeds from ``seed`` on; ``40,41,42`` or ``40-42``: these."""
    if text is None:
        return [seed]
    seeds: list[int] = []
    is_number = re.fullmatch(r"\d+", text) is not None
    if is_number:
        seeds += range(seed, seed + int(text))
    for part in () if is_number else text.split(","):
        ends = re.fullmatch(r"\s*(\d+)\s*(?:(?:-|\.\.)\s*(\d+)\s*)?", part)
        if ends is None:
            raise click.BadParameter(
                f"{text!r}: expected a number of seeds (5), a list (40,41) or a range (40-42)",
                param_hint="--seeds",
            )
        low = int(ends[1])
        seeds += range(low, int(ends[2] or low) + 1)
    if not seeds:
        raise click.BadParameter(f"{text!r} leaves no seed", param_hint="--seeds")
    return list(dict.fromkeys(seeds))


def read_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """Return ``name=value`` pairs as a mapping; a value is parsed as JSON if possible, otherwise it
    is text."""
    import json  # noqa: PLC0415

    settings: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{pair!r}: expected NAME=VALUE", param_hint="--set")
        try:
            settings[name] = json.loads(value)
        except ValueError:
            settings[name] = value
    return settings


def with_options(*options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """All of these options on a command, in this order."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


# Requests whose fields are options: see ``records.options``.


class Share(click.ParamType[float]):
    """A share, as ``20%`` or ``0.2``."""

    name = "share"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The share as a number from 0 to 1."""
        text = str(value).strip()
        try:
            share = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
        except ValueError:
            self.fail(f"expected a share, as 20% or 0.2; came {text!r}", param, ctx)
        if not 0.0 <= share <= 1.0:
            self.fail(f"expected a share from 0% to 100%; came {text!r}", param, ctx)
        return share


def asked_for(
    record: type[Struct], into: str = "asked", *, without: Iterable[str] = ()
) -> Callable[[Command], Command]:
    """Return a decorator that adds the fields of ``record`` with an ``Opt`` as options of a
    command.

    The command gets one ``record`` as its argument ``into``. The options of a nested record are
    added in its place. Fields ``without`` an option keep their defaults.
    """
    left_out = frozenset(without)

    def add(command: Command) -> Command:
        @wraps(command)
        def with_request(**given: Any) -> Any:
            return command(**{into: _collected(record, given, left_out)}, **given)

        return cast("Command", with_options(*_options_of(record, left_out))(with_request))

    return add


def options_of(
    record: type[Struct],
    *names: str,
    classes: Mapping[str, type[click.Option]] = MappingProxyType({}),
) -> Callable[[Command], Command]:
    """These fields of ``record`` (all, where none is named) as options of a command, which gets
    their values one by one; ``classes`` are options that say their own help."""
    found = []
    for field in msgspec.structs.fields(record):
        kind, option = declared_option(field.type)
        if option is not None and (not names or field.name in names):
            found.append(_click_option(field, kind, option, classes.get(field.name)))
    return with_options(*found)


def _options_of(
    record: type[Struct], left_out: frozenset[str] = frozenset()
) -> Iterator[Callable[[Any], Any]]:
    for field in msgspec.structs.fields(record):
        if field.name in left_out:
            continue
        kind, option = declared_option(field.type)
        if option is not None:
            yield _click_option(field, kind, option)
        elif isinstance(kind, type) and issubclass(kind, Struct):
            yield from _options_of(kind)


def _collected(record: type[Struct], given: dict[str, Any], left_out: frozenset[str]) -> Any:
    """The record of what was given; its options are taken out of ``given``."""
    values = {}
    for field in msgspec.structs.fields(record):
        if field.name in left_out:
            continue
        kind, option = declared_option(field.type)
        if option is not None:
            value = given.pop(field.name)
            if option.once:
                value = tuple(read_once(value, option.once))
            elif option.separated:
                value = tuple(read_list(value))
            if value is not None:
                values[field.name] = value
        elif isinstance(kind, type) and issubclass(kind, Struct) and any(_options_of(kind)):
            values[field.name] = _collected(kind, given, frozenset())
    return record(**values)


def _click_option(
    field: FieldInfo, kind: Any, option: Opt, cls: type[click.Option] | None = None
) -> Callable[[Any], Any]:
    default = None if field.default in (NODEFAULT, "") else field.default
    declared: dict[str, Any] = {
        "help": option.help, "metavar": option.metavar, "cls": cls or click.Option,
    }  # fmt: skip
    flags = option.flags or ("--" + field.name.replace("_", "-"),)
    if kind is bool:
        return click.option(*flags, field.name, is_flag=True, default=default, **declared)
    if get_origin(kind) is tuple:
        kind = get_args(kind)[0]
        declared["multiple"] = True
        if get_origin(kind) is tuple:  # several words each time
            declared["nargs"], kind = len(get_args(kind)), get_args(kind)[0]
    else:
        declared |= {"default": default, "show_default": option.shows_default}
    return click.option(*flags, field.name, type=_click_type(kind, option), **declared)


def _click_type(kind: Any, option: Opt) -> click.ParamType[Any] | type:
    if option.choices or get_origin(kind) is Literal:
        return click.Choice(option.choices or [each for each in get_args(kind) if each])
    if option.is_share:
        return Share()
    if kind is Path:
        return click.Path(
            path_type=Path, exists=option.exists, file_okay=not option.is_folder_only,
            dir_okay=option.is_folder or option.is_folder_only,
        )  # fmt: skip
    if kind in (int, float) and (option.least, option.most) != (None, None):
        ranged = click.IntRange if kind is int else click.FloatRange
        ends = {"min_open": option.is_open, "max_open": option.is_open}
        return ranged(option.least, option.most, **(ends if option.is_open else {}))  # type: ignore[arg-type]
    found: type = kind
    return found


def with_parameters(
    parameters: Sequence[Parameter],
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Options made from a method's declared parameters; their values arrive under their names."""

    return with_options(*map(_option, parameters))


def _option(parameter: Parameter) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    flag = "--" + parameter.name.replace("_", "-")
    default = parameter.default
    if parameter.kind == "range" and isinstance(default, list | tuple):
        default = "-".join(str(end) for end in default)
    common: dict[str, Any] = {"default": default, "help": parameter.help}
    if parameter.kind == "flag":
        return click.option(f"{flag}/--no-{flag[2:]}", parameter.name, **common)
    kinds: dict[str, Any] = {
        "int": int,
        "float": float,
        "range": str,
        "text": str,
        "choice": click.Choice(parameter.choices),
    }
    metavar = "LOW-HIGH" if parameter.kind == "range" else None
    shown = parameter.default not in (None, "")
    return click.option(
        flag,
        parameter.name,
        type=kinds[parameter.kind],
        metavar=metavar,
        show_default=shown,
        **common,
    )


encoding_option = click.option(
    "--encoding",
    default="",
    metavar="NAME",
    help="Encoding of text that is not UTF-8: gb18030, windows-1252, ... (an error previews "
    "candidates).",
)


flagged_items_option = click.option(
    "--flagged-items",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write flagged items with reasons (.csv, .jsonl); fill in the column decision, then run "
    "'correct apply FILE'.",
)


def tell_flagged_items(path: Path, n: int) -> None:
    """Says what was written, and what comes next."""
    say(f"{path}   {n} flagged")
    if n:
        say("fill in its column decision, then apply it")
        say_next([f"correct apply {pasted(str(path))}"])
