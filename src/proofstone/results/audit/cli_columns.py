"""The options that say what the columns of files of results mean, and what of them counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from proofstone.errors import BadUsage
from proofstone.session.options import encoding_option, read_list, with_options

if TYPE_CHECKING:
    from proofstone.results.audit.audit import Asked
    from proofstone.results.audit.result_files import FileKind


_LISTS = ("models", "strata", "clusters", "labels")


Command = TypeVar("Command", bound=Callable[..., Any])


def column_option(role: str, text: str) -> Callable[[Command], Command]:
    """An option that names the column of a role, of all files or of one kind of file."""
    return click.option(f"--{role}", multiple=True, metavar="COLUMN", help=text)


def column_options(command: Command) -> Command:
    """What every command has that reads files of results; ``read_asked`` takes their values."""
    return with_options(
        click.option(
            "--as",
            "kind",
            type=click.Choice(["wide", "long", "accuracies", "labels"]),
            help="One row an item, one row a score, one row a model, or no scores but annotators' "
            "labels; else guessed.",
        ),
        column_option(
            "item",
            "What names the items. Like every column, of one kind of file: lm-eval:COLUMN, "
            "inspect:COLUMN or table:COLUMN, named once for each.",
        ),
        column_option("model", "What names the models, where each score has its row."),
        click.option(
            "--models",
            multiple=True,
            metavar="COLUMN,...",
            help="The models' columns of a wide table.",
        ),
        column_option(
            "score",
            "The score: 0 to 1, percent, or true and false. Of a log: which of its metrics.",
        ),
        column_option("sample", "What counts the times that an item was asked (epoch, run)."),
        column_option("way", "What else tells respondents apart (a prompt, a setting)."),
        click.option(
            "--cluster",
            "clusters",
            multiple=True,
            metavar="COLUMN,...",
            help="What items share, so that they are not independent (book, passage). A cell may "
            "hold several keys: a;b, or a JSON list.",
        ),
        column_option(
            "outcome", "How each reply ended: answered, refused, unparsed, truncated or failed."
        ),
        click.option(
            "--where",
            multiple=True,
            metavar="COLUMN=VALUE",
            help="Only these records (filter=none); of one kind of file: lm-eval:filter=none.",
        ),
        click.option("--percent", is_flag=True, help="Scores are from 0 to 100; else seen."),
        click.option("--shares", is_flag=True, help="Scores are from 0 to 1; else seen."),
        click.option(
            "--complete-from",
            type=click.FloatRange(0, 1),
            default=0.95,
            show_default=True,
            help="The share of all items that a model needs scores of, to be ranked.",
        ),
        encoding_option,
    )(command)


def read_asked(given: Mapping[str, Any], **more: Any) -> Asked:
    """What the values of ``column_options``, with those of further columns, ask for; ``more`` are
    fields of ``Asked`` beside them."""
    from proofstone.results.audit.audit import Asked
    from proofstone.results.audit.column_names import Layout
    from proofstone.results.audit.result_files import FILE_KINDS

    columns = dict(given)
    rest = {"kind": columns.pop("kind")}
    rest["percent"] = _percent(columns.pop("percent"), columns.pop("shares"))
    complete_from, encoding = columns.pop("complete_from"), columns.pop("encoding")
    where = _by_kind(columns.pop("where"))
    lists = {name: _by_kind(read_list(columns.pop(name, ()))) for name in _LISTS}
    ones = {name: _by_kind(texts) for name, texts in columns.items()}

    def named(kind: FileKind | None) -> dict[str, Any]:
        several = {name: tuple(found[kind]) for name, found in lists.items() if kind in found}
        return several | {
            name: _the_one(name, found[kind]) for name, found in ones.items() if kind in found
        }

    return Asked(
        named=Layout(**rest, **named(None)),
        where=dict(named_pairs(where.get(None, ()), "--where")),
        named_of={kind: Layout(**own) for kind in FILE_KINDS if (own := named(kind))},
        where_of={
            kind: dict(named_pairs(where[kind], "--where")) for kind in FILE_KINDS if kind in where
        },
        complete_from=complete_from,
        encoding=encoding,
        **more,
    )


def _by_kind(texts: Sequence[str]) -> dict[FileKind | None, list[str]]:
    """What is said of one kind of file (``lm-eval:filter=strict``) by that kind; under None what
    is said of all."""
    from proofstone.results.audit.result_files import FILE_KINDS

    found: dict[FileKind | None, list[str]] = {}
    for text in texts:
        kind = next((kind for kind in FILE_KINDS if text.startswith(f"{kind}:")), None)
        found.setdefault(kind, []).append(text if kind is None else text[len(kind) + 1 :])
    return found


def _the_one(role: str, columns: Sequence[str]) -> str:
    if len(set(columns)) > 1:
        raise click.BadParameter(
            f"{', '.join(columns)}: name one column, or one of each kind of file "
            "(lm-eval:COLUMN, inspect:COLUMN, table:COLUMN)",
            param_hint=f"--{role}",
        )
    return columns[0]


def _percent(percent: bool, shares: bool) -> bool | None:
    """What scores are said to be; None where that is left to the reader."""
    if percent and shares:
        raise BadUsage(
            "--percent and --shares say two things of the same scores",
            hint="give the one that holds, or neither: then it is seen by the scores",
        )
    return percent if percent or shares else None


def named_pairs(given: Sequence[str], option: str) -> list[tuple[str, str]]:
    """``NAME=VALUE`` texts as pairs; BadParameter for any other."""
    pairs = []
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"{text!r}: expected NAME=VALUE", param_hint=option)
        pairs.append((name.strip(), value.strip()))
    return pairs
