"""What is asked for, written once: a field of a request is an option of its command, a key of run
files and a keyword of the API. ``Opt`` carries what a field's type does not say; it is plain data.

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
    """An option: its help, and what cannot be seen in the field's type.

    ``flags`` are written where the option is not called as the field ("-o", "--output"). Numbers
    are held between ``least`` and ``most``, both included unless ``is_open``. ``is_share`` reads
    20% and 0.2 alike. A ``Literal`` offers its values (``choices``, where it is no Literal), a Path
    is a file (``exists``: one that is there; ``is_folder``: either; ``is_folder_only``: no file), a
    tuple may be given several times; ``separated`` by commas too, ``once`` says why none may stand
    there twice. ``shows_default`` prints the default behind the help.
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
    """The options of a record in order: each one's name, its type without None, and its ``Opt``."""
    for field in fields(record):
        kind, option = declared_option(field.type)
        if option is not None:
            yield field.name, kind, option


def declared_option(annotation: Any) -> tuple[Any, Opt | None]:
    """A field's type without None, and its ``Opt`` where it has one."""
    option = next(
        (each for each in getattr(annotation, "__metadata__", ()) if isinstance(each, Opt)), None
    )
    kind = get_args(annotation)[0] if option is not None else annotation
    if get_origin(kind) in (Union, UnionType):
        kind = next(each for each in get_args(kind) if each is not NoneType)
    return kind, option


class Parameter(Struct, frozen=True, gc=False, kw_only=True):
    """One parameter of a builder or composer: commands, help and checks are made from it.

    ``range`` is written LOW-HIGH or a single number and read as a pair of integers.
    """

    name: str
    kind: Literal["int", "float", "range", "flag", "choice", "text"]
    default: Any = None
    help: str
    choices: tuple[str, ...] = ()
