"""``grade FILE``: what a file holds, and its grades as files, tables and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Annotated, Any, TypeVar

import click
import msgspec
from msgspec import Struct

from proofstone.errors import BadUsage
from proofstone.files.csv import missing_file
from proofstone.method import Verifying, every_method
from proofstone.records.options import Opt
from proofstone.run.judges import JudgeSpec
from proofstone.session.options import asked_for, was_given
from proofstone.session.terminal import (
    TerminalEgress,
    pasted,
    print_json,
    print_table,
    print_text,
    say,
    say_next,
)

Command = TypeVar("Command", bound=Callable[..., Any])

LETTERS, ANSWERS = "letters", "answers"
_RESPONSES = ("response", "response", "prediction")


class FileAsked(Struct, frozen=True, kw_only=True):
    """How a file is read, where its grades go, and how they are summarized."""

    output: Annotated[Path | None, Opt(
        "Write the graded rows to FILE (.jsonl, .csv, .parquet, .xlsx).",
        flags=("-o", "--output"), metavar="FILE",
    )] = None  # fmt: skip
    by: Annotated[tuple[str, ...], Opt(
        "Summarize the file by the values of this column too.", metavar="COLUMN", separated=True,
    )] = ()  # fmt: skip
    human_column: Annotated[str, Opt(
        "Report agreement with the human grades in this column.", flags=("--human-col",),
        metavar="COLUMN",
    )] = ""  # fmt: skip
    encoding: Annotated[str, Opt(
        "Encoding of text that is not UTF-8: gb18030, windows-1252.", metavar="NAME",
    )] = ""  # fmt: skip


class GradeCall(Struct, frozen=True, kw_only=True):
    """What grading a file asks of judges, and how it speaks."""

    judges: JudgeSpec | None
    again: bool
    dry_run: bool
    yes: bool
    as_json: bool
    quiet: bool
    folder: Path | None
    spending: Mapping[str, Any]
    """``max_connections``, ``cache`` and ``budget``."""


def file_options(command: Command) -> Command:
    """The options that methods need to grade files; each record arrives as
    ``file options of METHOD``."""
    for method in every_method():
        if method.verifying is not None and method.verifying.file_options is not None:
            record = method.verifying.file_options
            command = asked_for(record, f"file options of {method.name}")(command)
    return command


class FileKind(click.Choice[str]):
    """What a file holds; methods are asked when one is typed or listed."""

    def __init__(self) -> None:
        super().__init__(())

    @property
    def choices(self) -> tuple[str, ...]:
        """The kinds of files that can be graded."""
        return (LETTERS, ANSWERS, *_verifying())

    @choices.setter
    def choices(self, _none: Sequence[str]) -> None:
        """Nothing is set: they are asked for."""


def _verifying() -> dict[str, tuple[str, Verifying]]:
    """Methods that verify files against a reference, by what a file of theirs holds."""
    return {
        f"{method.verifying.called}s": (method.name, method.verifying)
        for method in every_method()
        if method.verifying is not None and method.verifying.grade_file is not None
    }


def kind_of_file(path: Path, encoding: str = "") -> str:
    """What a file holds, by its columns: "letters", "answers" or what a method verifies.

    Raises BadUsage for columns of none of these, and what reading raises.
    """
    from proofstone.run.forms import file_columns

    columns = file_columns(path, encoding=encoding)
    for kind, (_name, verifying) in _verifying().items():
        if verifying.recognizes_file(columns):
            return kind
    if "options" in columns and "response" in columns:
        return LETTERS
    has_response = any(name in columns for name in _RESPONSES)
    if "grade" in columns or ("question" in columns and "answer" in columns and has_response):
        return ANSWERS
    raise BadUsage(
        f"{path} has no columns that can be graded: {', '.join(columns) or 'none'}",
        hint="expected response and options (letters); question, answer and response (answers); "
        "or grade; see: proofstone grade --help",
    )


def grade_letters(path: Path, asked: FileAsked, call: GradeCall) -> int:
    """Extract an option's letter from each response, and score it where the file has answer keys;
    prints counts and returns the exit code."""
    from proofstone.choices.outcomes import extract_rows
    from proofstone.files.tables import read_checked

    rows = read_checked(path, extract_rows, encoding=asked.encoding)
    counts = {
        name: dict(Counter(row[name] for row in rows).most_common()) for name in ("outcome", "tier")
    }
    if asked.output is not None:
        _write(asked.output, rows, quiet=call.quiet)
    scores = [row["score"] for row in rows if "score" in row]
    accuracy = _accuracy(scores) if scores else None
    if call.as_json:
        counted = {"n": len(rows), "outcomes": counts["outcome"], "tiers": counts["tier"]}
        print_json({**counted, "scored": accuracy})
        return 0
    print_table([("outcome", "responses"), *counts["outcome"].items()])
    if accuracy is not None:
        mean, low, high = (f"{100 * each:.1f}" for each in (accuracy["accuracy"], *accuracy["ci"]))
        of = f"{accuracy['correct']:,} of {accuracy['n']:,} correct"
        print_text(f"\naccuracy {mean}% [{low}, {high}]   {of}, Wilson 95% CI, independent rows")
    return 0


def _accuracy(scores: Sequence[int]) -> dict[str, Any]:
    """The share of correct rows with Wilson's 95% interval, the rows taken as independent."""
    import numpy as np

    from proofstone.stats.intervals import wilson

    n, correct = len(scores), sum(scores)
    share, size = np.array([correct / n]), np.array([float(n)])
    low, high = wilson(share, size, NormalDist().inv_cdf(0.975))
    interval = [float(low[0]), float(high[0])]
    return {"n": n, "correct": correct, "accuracy": correct / n, "ci": interval}


def grade_answers(path: Path, asked: FileAsked, call: GradeCall) -> int:
    """Grade short answers by rules and judges, or count the grades of a file that has them; prints
    the measures and returns the exit code."""
    from proofstone.files.tables import read_checked
    from proofstone.records.tables import Row
    from proofstone.run.forms import file_columns
    from proofstone.run.score import grade_file, grading_method

    measures_of = grading_method()[1].metrics_of
    columns = file_columns(path, encoding=asked.encoding)
    waiting = 0
    if "grade" in columns and not (call.again or call.judges):
        if asked.output is not None:
            raise BadUsage(
                f"{path} is graded already, so there is nothing to write",
                hint="grade it again with --again or --judge PROVIDER/NAME",
            )
        found = read_checked(
            path, lambda rows: measures_of(rows, asked.by, asked.human_column),
            encoding=asked.encoding,
        )  # fmt: skip
    else:
        graded = grade_file(
            path, judge=() if call.dry_run else call.judges or (), folder=call.folder,
            ask_egress=TerminalEgress(yes=call.yes, quiet=call.quiet), encoding=asked.encoding,
            **call.spending,
        )  # fmt: skip
        waiting = graded.waiting
        if call.dry_run:
            return _tell_dry(waiting, len(graded.rows), call)
        if asked.output is not None:
            _write(asked.output, graded.rows, quiet=call.quiet)
        rows = [Row(f"row {n}", values) for n, values in enumerate(graded.rows, start=1)]
        found = measures_of(rows, asked.by, asked.human_column)
    found = msgspec.to_builtins(found)
    if call.as_json:
        print_json({**found.pop("overall"), **found, "waiting": waiting})
    else:
        _print_measures(found)
    if waiting:
        say(f"{waiting:,} responses need a judge", quiet=call.quiet)
        say_next([f"grade {pasted(path)} --judge PROVIDER/NAME"], quiet=call.quiet)
    return 3 if waiting else 0


def _tell_dry(waiting: int, n: int, call: GradeCall) -> int:
    if call.as_json:
        print_json({"n": n, "by_rule": n - waiting, "judged": waiting})
    else:
        print_text(f"{n:,} responses: {n - waiting:,} graded by rule, {waiting:,} by a judge")
    return 0


def _print_measures(found: Mapping[str, Any]) -> None:
    names = ("CO", "NA", "IN", "CGA", "F")

    def cells(row: Mapping[str, Any]) -> list[str]:
        shown = []
        for name in names:
            value, interval = row[name], row["intervals"].get(name)
            text = "-" if value is None else f"{100 * value:.1f}"
            if interval is not None:
                text += f" [{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]"
            shown.append(text)
        return shown

    overall = found["overall"]
    print_text(f"n {overall['n']:,} graded, {overall['ungraded']:,} not graded; %, 95% CI")
    rows: list[tuple[Any, ...]] = [("", "n", *names), ("all", overall["n"], *cells(overall))]
    for column, groups in found["by"].items():
        rows += [
            (f"{column}={value}", group["n"], *cells(group)) for value, group in groups.items()
        ]
    print_table(rows)
    against = found.get("against")
    for name in ("all", "judged") if against else ():
        if against is not None and against[name] is not None:
            agree, kappa = against[name]["agree"], against[name]["kappa"]
            which = f"agreement with {against['column']}" + (", judged" if name == "judged" else "")
            print_text(f"{which}: {_share(agree, 100)}%, Cohen's kappa {_share(kappa, 1)}, "
                       f"n {agree['n']:,}")  # fmt: skip


def _share(share: Mapping[str, Any], scale: int) -> str:
    digits = 1 if scale == 100 else 2
    value, low, high = (
        None if share[name] is None else f"{scale * share[name]:.{digits}f}"
        for name in ("value", "low", "high")
    )
    if value is None:
        return "-"
    return value if low is None else f"{value} [{low}, {high}]"


def grade_verified(
    kind: str, path: Path, asked: FileAsked, call: GradeCall, reference: str | None,
    options: Mapping[str, Any],
) -> int:  # fmt: skip
    """Verify what a file holds against a reference file; prints the figures and returns the exit
    code. Raises BadUsage without a reference."""
    name, verifying = _verifying()[kind]
    if reference is None:
        raise BadUsage(
            f"{path} holds {kind}, which are verified against a reference",
            hint="--reference FILE|DIR",
        )
    if not Path(reference).exists():
        raise missing_file(reference, "--reference takes a file or a folder")
    if verifying.grade_file is None:
        raise BadUsage(f"{name} grades no files")
    return verifying.grade_file(
        path, Path(reference), settings=options[f"settings of {name}"],
        options=options[f"file options of {name}"], asked=asked, call=call,
    )  # fmt: skip


def refuse_options(names: Mapping[str, str], why: str) -> None:
    """Raises BadUsage for options that were given and mean nothing here."""
    context = click.get_current_context()
    given = [flag for name, flag in names.items() if was_given(context, name)]
    if given:
        raise BadUsage(f"{', '.join(given)}: {why}")


def _write(output: Path, rows: Sequence[Mapping[str, Any]], *, quiet: bool) -> None:
    from proofstone.files.write import write_rows

    say(f"{output}   {write_rows(output, [dict(row) for row in rows])} rows", quiet=quiet)
