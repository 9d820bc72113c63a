"""Request records: each field is a command option, a run-file key and an API keyword.

``Opt`` holds what a field's type does not express, as plain data.

    class SheetsAsked(Struct, frozen=True, kw_only=True):
        most: Annotated[int | None, Opt("The most one is given.", metavar="N", least=1)] = None

``session.options.asked_for`` makes click options of such a record.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from msgspec import Struct
from msgspec.structs import fields


class Opt(Struct, frozen=True):
    """An option: its help, and properties not visible in the field's type.

    ``flags`` are set if the option's name differs from the field's ("-o", "--output"). Numbers are
    limited to ``least`` and ``most``, inclusive unless ``is_open``. ``is_share`` accepts 20% and
    0.2. A ``Literal`` lists its values (``choices`` does for other types). A Path is a file: an
    existing one with ``exists``, or also a folder with ``is_folder``, or only a folder with
    ``is_folder_only``. A tuple may be repeated; ``separated`` also splits at commas, and ``once``
    is the error for duplicates. ``shows_default`` appends the default to the help.
    """

    help: str | None = None
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    least: float | None = None
    most: float | None = None
    is_open: bool = False
    is_share: bool = False
    exists: bool = False
    is_folder: bool = False
    is_folder_only: bool = False
    shows_default: bool = False
    choices: tuple[str, ...] = ()
    separated: bool = False
    once: str = ""


BUDGET_HELP = "Spending limit of this command, retries included: 20USD, 0.05USD, 500ktok, 5Mtok."


YES_HELP = "Skip all confirmations, including those for outbound data."


CACHE_HELP = "Cached responses to use: those of the current model version, or of any version."


def options_in(record: type[Struct]) -> Iterator[tuple[str, Any, Opt]]:
    """Yield the options of a record in order: name, type without None, and ``Opt``."""
    for field in fields(record):
        kind, option = declared_option(field.type)
        if option is not None:
            yield field.name, kind, option


def declared_option(annotation: Any) -> tuple[Any, Opt | None]:
    """Return a field's type without None, and its ``Opt`` if it has one."""
    option = next(
        (each for each in getattr(annotation, "__metadata__", ()) if isinstance(each, Opt)), None
    )
    kind = get_args(annotation)[0] if option is not None else annotation
    if get_origin(kind) in (Union, UnionType):
        kind = next(each for each in get_args(kind) if each is not NoneType)
    return kind, option


class Parameter(Struct, frozen=True, gc=False, kw_only=True):
    """One parameter of a builder or composer; its option, help and checks are made from it.

    A ``range`` is LOW-HIGH or a single number, parsed as a pair of integers.
    """

    name: str
    kind: Literal["int", "float", "range", "flag", "choice", "text"]
    default: Any = None
    help: str
    choices: tuple[str, ...] = ()
