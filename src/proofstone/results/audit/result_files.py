"""Result files by kind: selection within folders, reading, and reasons for skipping."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from msgspec import Struct, structs

from proofstone.errors import BadInput, BadUsage, NotFound
from proofstone.files.columns import read_columns
from proofstone.files.tables import SUFFIXES, RowReader, read_rows
from proofstone.page.section import points
from proofstone.records.models import shown_names
from proofstone.records.scores import Accuracies, Coded, FileColumns
from proofstone.results.audit.cells import chosen, read_numbers, split_cells
from proofstone.results.audit.column_names import Layout, plain
from proofstone.results.audit.columns import guess_layout
from proofstone.results.audit.harness_logs import (
    LmEvalResults,
    inspect_columns,
    is_lm_eval,
    lm_eval_accuracies,
    lm_eval_columns,
    lm_eval_results,
    model_of,
    task_of,
    time_of,
)
from proofstone.results.audit.scores import ScoresIn
from proofstone.results.board import WARN_ABOVE
from proofstone.results.page_parts import FileRead
from proofstone.stats.ranks import share_estimate
from proofstone.wording.messages import counted, listed, noted, say, word

FileKind = Literal["table", "lm-eval", "inspect"]


FILE_KINDS: tuple[FileKind, ...] = get_args(FileKind)


_LAYOUTS = {
    "wide": noted("wide table"),
    "long": noted("long table"),
    "accuracies": noted("accuracies alone"),
    "labels": noted("labels alone"),
    "models": noted("parameters and families of models"),
}


# With more models, all pairs take minutes and gigabytes.
_MOST_MODELS = 2_000


_NO_RESULTS = noted("neither a log nor a table")


_BESIDE_LOGS = noted("a table in a folder of logs; name the file itself to read it")


_NAMES_MODELS = noted("totals of the samples read here")


_TOTALS_ALONE = noted("totals without samples (--log-samples), although other files have samples")


_ELSEWHERE = noted("a link to a file outside the folder")


_NOT_JSON = noted("JSON that is not a log, in a folder of logs")


@dataclass(frozen=True)
class Reading:
    """How files are read.

    ``named`` maps roles to columns and ``where`` selects records, for all files. ``named_of`` and
    ``where_of`` apply to one kind of file. ``encoding`` is that of text other than UTF-8.
    """

    named: Layout = field(default_factory=Layout)
    where: Mapping[str, str] = field(default_factory=dict)
    named_of: Mapping[FileKind, Layout] = field(default_factory=dict)
    where_of: Mapping[FileKind, Mapping[str, str]] = field(default_factory=dict)
    encoding: str = ""

    def layout(self, kind: FileKind) -> Layout:
        """Return the named columns for a kind of file, which override those for all."""
        own = self.named_of.get(kind)
        if own is None:
            return self.named
        given = {name: value for name in own.__struct_fields__ if (value := getattr(own, name))}
        return structs.replace(self.named, **given)

    def records(self, kind: FileKind) -> dict[str, str]:
        """Return the values that select records of a kind of file."""
        return {**self.where, **self.where_of.get(kind, {})}


class FileSkipped(Struct, frozen=True, kw_only=True):
    """A file of a folder that was not read, and the reason."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class ReadFile:
    """Records of a file, its layout and kind, and the values that selected them.

    ``whole`` holds all records of a log with several filters.
    """

    table: FileColumns
    layout: Layout
    kind: str
    where: Mapping[str, str]
    whole: FileColumns | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """Return the models in the file."""
        if self.layout.kind == "wide":
            return self.layout.models
        return self.table.columns[self.layout.model].names

    def told(self, *holds: str) -> FileRead:
        """Return kind, selection and columns of the file, and what it ``holds``."""
        shown = shown_names(self.layout.models)
        models = tuple(shown[name] for name in self.layout.models)
        chosen_by = (f"{column} {value}" for column, value in self.where.items())
        return FileRead(
            name=self.table.name,
            kind=listed([word(self.kind), *chosen_by]),
            columns=structs.replace(self.layout, models=models).told(),
            holds=listed(holds),
        )


@dataclass(frozen=True, slots=True)
class FilesRead:
    """Files that were read, files of a folder that were skipped, and notes."""

    read: list[ReadFile]
    skipped: tuple[FileSkipped, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Found:
    """A file, its folder (None if the file itself was named), and its kind.

    ``totals`` are the contents of a results file of lm-eval.
    """

    path: Path
    folder: Path | None
    kind: FileKind | None
    totals: LmEvalResults | None = None
    why: str = ""

    @property
    def name(self) -> str:
        """Return the file's name for the reader of an audit."""
        return self.path.name if self.folder is None else str(self.path.relative_to(self.folder))

    @property
    def has_items(self) -> bool:
        """Return True if it is a log with one record per response."""
        return self.kind in ("lm-eval", "inspect") and self.totals is None


def read_files(paths: Sequence[Path], asked: Reading) -> FilesRead:
    """Read all files that ``paths`` refer to: files, or those in a folder and below.

    Each file of a folder is read or listed in ``skipped`` with a reason. Tables of a folder are
    read only if it holds no log. Raises NotFound for a folder with nothing to read, BadInput for
    unreadable files (in a folder: if no log is readable), and as reading a file does.
    """
    found = [each for given in paths for each in _found(given, asked.encoding)]
    skipped = [FileSkipped(name=each.name, why=each.why) for each in found if each.why]
    found = [each for each in found if not each.why]
    kept: list[_Found] = []
    for each in found:
        if why := _why_not(each, found):
            skipped.append(FileSkipped(name=each.name, why=why))
        else:
            kept.append(each)
    models = {
        time_of(each.path): each.totals.model_name
        for each in found
        if each.totals is not None and each.totals.model_name
    }
    read: list[ReadFile] = []
    unnamed: list[str] = []
    failed: BadInput | None = None
    for each in kept:
        try:
            read.append(_read(each, asked, models, unnamed))
        except BadInput as cause:
            if each.folder is None:
                raise
            failed = failed or cause
            why = str(cause).partition("\n")[0].replace(str(each.path), each.path.name)
            skipped.append(FileSkipped(name=each.name, why=why))
    if not read:
        if failed is not None:
            raise failed
        _refuse_empty(paths, skipped)
    return FilesRead(read, tuple(skipped), tuple(_notes(unnamed)))


def _found(given: Path, encoding: str) -> Iterator[_Found]:
    if not given.is_dir():
        yield _classified(given, None, encoding)
        return
    inside = given.resolve()
    for path in sorted(given.rglob("*")):
        if path.is_dir():
            continue
        if path.is_symlink() and not path.resolve().is_relative_to(inside):
            yield _Found(path, given, None, why=say(_ELSEWHERE))
        elif not _is_regular(path):
            yield _Found(path, given, None, why=say(_NO_RESULTS))
        else:
            yield _classified(path, given, encoding)


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def _classified(path: Path, folder: Path | None, encoding: str) -> _Found:
    if _is_inspect(path):
        return _Found(path, folder, "inspect")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    suffix = next((each for each in reversed(suffixes) if each != ".gz"), "")
    if suffix not in SUFFIXES:
        # A file that a user names is read as a table, so that the error lists the formats.
        return _Found(path, folder, "table", why="" if folder is None else say(_NO_RESULTS))
    if suffix == ".json" and (totals := lm_eval_results(path)) is not None:
        return _Found(path, folder, "lm-eval", totals)
    try:
        is_log = suffix in (".jsonl", ".ndjson") and _holds_lm_eval(path, encoding)
    except BadInput:
        if folder is None:
            raise
        is_log = False
    return _Found(path, folder, "lm-eval" if is_log else "table")


def _is_inspect(path: Path) -> bool:
    """Return True for a log of Inspect, by its suffix or the beginning of its JSON."""
    if path.suffix.lower() != ".json" or not path.is_file():
        return path.suffix.lower() == ".eval"
    with path.open("rb") as file:
        head = file.read(2000)
    return all(key in head for key in (b'"version"', b'"status"', b'"eval"'))


def _holds_lm_eval(path: Path, encoding: str) -> bool:
    first = next(iter(RowReader(path, encoding=encoding)), None)
    return first is not None and is_lm_eval(first.values)


def _why_not(each: _Found, found: Sequence[_Found]) -> str:
    """Return why a file is not read with the others; empty if it is."""
    logs = [other for other in found if other.has_items]
    if each.totals is not None and logs:
        times = {time_of(log.path) for log in logs if log.kind == "lm-eval"}
        return say(_NAMES_MODELS if time_of(each.path) in times else _TOTALS_ALONE)
    if (
        each.kind == "table"
        and each.folder is not None
        and any(x.kind in ("lm-eval", "inspect") for x in found)
    ):
        return say(_NOT_JSON if each.path.suffix.lower() == ".json" else _BESIDE_LOGS)
    return ""


def _refuse_empty(paths: Iterable[Path], skipped: Sequence[FileSkipped]) -> None:
    folders = ", ".join(str(path) for path in paths if path.is_dir())
    lines = [f"    {each.name}: {each.why}" for each in skipped[:10]]
    more = [f"    and {len(skipped) - 10:,} more"] if len(skipped) > 10 else []
    raise NotFound(
        f"no results in {folders}: no log of lm-eval or Inspect, and no table",
        hint="\n".join(["name the files themselves", *lines, *more]),
    )


def _read(each: _Found, asked: Reading, models: Mapping[str, str], unnamed: list[str]) -> ReadFile:
    path, kind = each.path, each.kind or "table"
    named, where = asked.layout(kind), asked.records(kind)
    said, chosen_score = "", ""
    if each.totals is not None:
        table = lm_eval_accuracies(
            each.totals, name=each.name, metric=named.score, filtered=where.pop("filter", "")
        )
        layout = Layout(
            kind="accuracies", model="model", score="score", strata=("task",), count="n"
        )
        return ReadFile(table, guess_layout(table, layout), noted("lm-eval totals"), where)
    if kind == "inspect":
        table, chosen_score = inspect_columns(path, named.score)
        named = _named_log(named, chosen_score, refused="refused" in _outcomes(table))
        said = noted("Inspect log")
    elif kind == "lm-eval":
        model, is_told = model_of(path, models)
        if not is_told:
            unnamed.append(f"{each.name} ({model})")
        table, chosen_score = lm_eval_columns(
            read_rows(path, encoding=asked.encoding),
            name=f"{path.parent.name}/{path.name}",
            model=model,
            task=task_of(path),
        )
        named = _named_log(named, chosen_score)
        filters = table.columns["filter"].names
        if len(filters) > 1:
            where.setdefault("filter", filters[0])
        said = noted("lm-eval samples")
    else:
        table = split_cells(read_columns(path, encoding=asked.encoding))
    whole, table = table, chosen(table, where)
    layout = guess_layout(table, named)
    said = said or _LAYOUTS[layout.kind or "wide"]
    found = ReadFile(table, layout, said, where, whole if kind == "lm-eval" else None)
    _refuse_crowds(found, named)
    return found


def _refuse_crowds(read: ReadFile, named: Layout) -> None:
    """Raise BadUsage if detection finds implausibly many models.

    The columns then have other roles, and all pairs would take hours.
    """
    layout = read.layout
    if layout.kind == "labels" or named.models or named.model:
        return
    if len(read.models) > _MOST_MODELS:
        what = "columns" if layout.kind == "wide" else f"names in column {layout.model!r}"
        raise BadUsage(
            f"{read.table.name}: {len(read.models):,} {what} would be models, more than "
            f"{_MOST_MODELS:,}",
            hint="name the models' columns (--model-cols COLUMN,...), or the column that names the "
            "models (--model-col COLUMN)",
        )


def _outcomes(table: FileColumns) -> tuple[str, ...]:
    return table.columns["outcome"].names if "outcome" in table.columns else ()


def _named_log(named: Layout, score: str, *, refused: bool = False) -> Layout:
    """Return the columns of a harness's log, unless the user names others."""
    return structs.replace(
        named,
        kind="long",
        item=named.item or "item",
        model=named.model or "model",
        score=named.score or score,
        outcome=named.outcome or "outcome",
        unknown_outcomes=("truncated",) if refused else ("truncated", "refused"),
    )


def _notes(unnamed: Sequence[str]) -> Iterator[str]:
    if unnamed:
        yield say(
            "No results_TIME.json in the folder of {files}. lm-eval records "
            "the model's name only in that file, so these rows have the name "
            "of their run.",
            files=_some(unnamed),
        )


def _some(names: Sequence[str], most: int = 4) -> str:
    more = len(names) - most
    shown = ", ".join(names[:most])
    return say("{words} and {n:,} more", words=shown, n=more) if more > 0 else shown


def skipped_notes(skipped: Sequence[FileSkipped]) -> Iterator[str]:
    """Yield the skipped files of a folder, one sentence per reason."""
    by_reason: dict[str, list[str]] = {}
    for each in skipped:
        by_reason.setdefault(each.why, []).append(each.name)
    for why, names in by_reason.items():
        yield say("Not read ({why}): {files}.", why=why, files=_some(names))


def filter_notes(read: Sequence[ReadFile], asked: Reading) -> Iterator[str]:
    """Yield the results of lm-eval's other filters.

    Only for models with more than 2% unparsed responses under the selected filter.
    """
    told: dict[str, dict[str, _Filtered]] = {}
    for each in read:
        if each.whole is not None and len(each.whole.columns["filter"].names) > 1:
            model = each.table.columns[each.layout.model].names[0]
            for name, own in _by_filter(each.whole, each.layout.score).items():
                known = told.setdefault(model, {}).get(name, _Filtered())
                told[model][name] = known + own
    chosen_filters = {each.where.get("filter", "") for each in read if each.whole is not None}
    for model, filters in told.items():
        first = next((name for name in filters if name in chosen_filters), "")
        if not first or filters[first].unparsed <= WARN_ABOVE * filters[first].n:
            continue
        for other, own in filters.items():
            if other != first and own.unparsed < filters[first].unparsed:
                yield _filter_note(model, first, filters[first], other, own)


@dataclass(frozen=True, slots=True)
class _Filtered:
    """Number of a model's responses under one filter, and the sum of their scores."""

    n: int = 0
    unparsed: int = 0
    total: float = 0.0

    def __add__(self, other: _Filtered) -> _Filtered:
        return _Filtered(self.n + other.n, self.unparsed + other.unparsed, self.total + other.total)


def _by_filter(table: FileColumns, score: str) -> dict[str, _Filtered]:
    rules, outcome = table.columns["filter"], table.columns["outcome"]
    values = read_numbers(table.columns[score])
    is_unparsed = np.isin(
        outcome.codes, [code for code, name in enumerate(outcome.names) if name == "unparsed"]
    )
    found = {}
    for code, name in enumerate(rules.names):
        own = (rules.codes == code) & ~np.isnan(values)
        found[name] = _Filtered(
            int(own.sum()), int((own & is_unparsed).sum()), float(values[own].sum())
        )
    return found


def _filter_note(model: str, first: str, own: _Filtered, other: str, its: _Filtered) -> str:
    estimate = share_estimate(its.total / its.n, its.n, 0.95)
    return say(
        "{model}: filter {first} leaves {unparsed} of {n:,} responses unparsed. Filter {other} "
        "leaves {fewer} of {m:,}; its score is {score} {interval}. To use it: {option}.",
        model=model,
        first=first,
        unparsed=f"{own.unparsed:,}",
        n=own.n,
        other=other,
        fewer=f"{its.unparsed:,}",
        m=its.n,
        score=points(estimate.value),
        interval=f"[{points(estimate.low)}, {points(estimate.high)}]",
        option=f"--where filter={other}",
    )


def as_benchmarks(read: Sequence[ReadFile], *, always: bool = False) -> Sequence[ReadFile]:
    """Mark tables of the same models on different items as separate benchmarks.

    Each gets a stratum with its name; other files are unchanged. With ``always``, items with the
    same name in two files are different items. Otherwise tables that share an item are parts of one
    set of results, as are logs and tables with a stratum of benchmarks.
    """
    named = {"benchmark", "dataset", "task", "test", "suite", "form"}
    has_stratum = any(plain(name) in named for each in read for name in each.layout.strata)
    if len(read) < 2 or has_stratum or any(each.layout.kind == "labels" for each in read):
        return read
    items = [set(each.table.columns[each.layout.item].names) for each in read]
    is_disjoint = sum(map(len, items)) == len(set().union(*items))
    if not always and not (is_disjoint and set.intersection(*(set(each.models) for each in read))):
        return read
    return [_as_benchmark(each, renamed=not is_disjoint) for each in read]


def _as_benchmark(read: ReadFile, *, renamed: bool) -> ReadFile:
    table, layout = read.table, read.layout
    name = table.name.rpartition("/")[2].partition(".")[0] or table.name
    columns = {**table.columns, "benchmark": Coded(np.zeros(len(table), dtype=np.int32), (name,))}
    if renamed:
        item = columns[layout.item]
        columns[layout.item] = item._replace(names=tuple(f"{name}/{each}" for each in item.names))
    marked = replace(table, columns=columns)
    strata = (*layout.strata, "benchmark")
    return replace(read, table=marked, layout=structs.replace(layout, strata=strata))


# Descriptions of the files read.


def tell_file(read: ReadFile, part: ScoresIn) -> FileRead:
    """Describe a file of scores."""
    n_models, n = len(part.model.names), len(part.value)
    full = len(read.table) * (n_models if read.layout.kind == "wide" else 1)
    return read.told(
        counted(len(read.table.columns[read.layout.item].names), "item"),
        counted(n_models, "model"),
        counted(n, "score"),
        *([say("{n:,} missing", n=full - n)] if full > n else []),
    )


def tell_models(read: ReadFile) -> FileRead:
    """Describe a table of model facts."""
    return read.told(counted(len(read.table.columns[read.layout.model].names), "model"))


def tell_labels(read: ReadFile) -> FileRead:
    """Describe a table of labels."""
    layout, columns = read.layout, read.table.columns
    who = columns[layout.annotator].names if layout.annotator else layout.labels
    return read.told(
        counted(len(columns[layout.item].names), "item"),
        counted(len(who), "annotator"),
        counted(sum(int((columns[name].codes >= 0).sum()) for name in layout.labels), "label"),
    )


def tell_accuracies(read: ReadFile, found: Accuracies) -> FileRead:
    """Describe a table of accuracies."""
    sizes = set() if found.n_of is None else {int(n) for n in found.n_of}
    n = found.n_items or int(found.counts.sum())
    items = counted(n, "item") if n else say("numbers of items not known")
    if sizes - {0, n}:
        low, high = min(sizes - {0}), max(sizes)
        items = (
            say("{n:,} items for each model", n=low)
            if low == high
            else say("{low:,} to {high:,} items for each model", low=low, high=high)
        )
    return read.told(
        counted(len(found.models), "model"), counted(len(found.strata), "group"), items
    )
