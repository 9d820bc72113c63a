"""Consistency checks of a table of results: printed numbers that cannot be right as others stand.

Every printed number stands for the range that rounds to it, so nothing is called a misprint that
any numbers which print like the table could give. Where the number of items is stated, a share is
moreover a whole number of them (GRIM; Brown and Heathers, 2017), which narrows that range to few
values. A relation that a table does not state (that the overall is a mean, that F1 is that of the
precision and recall beside it, that scores are k of n) is taken to hold where at least three in
four rows fit it: only then is a row that does not fit a misprint.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import NamedTuple

import numpy as np
from msgspec import structs
from scipy import special

from proofstone.page.section import Column, Section, Table, column, table_of
from proofstone.records.scores import Accuracies, Check, CheckDone, Coded, Misprint
from proofstone.results.audit.cells import number_of
from proofstone.results.sections.evidence import Evidence
from proofstone.wording.messages import counted, listed, noted, paragraph, say, say_of, word

# Numbers as they are printed: the range of those that a rounded one may stand for.

_NUMBER = re.compile(r"^[+\-\u2212]?\d*[.,]?(\d*)$")


_HAIR = 1e-9  # of floating point, in units of the column


@dataclass(frozen=True, slots=True)
class Printed:
    """A number as printed: ``low`` and ``high`` are the least and greatest that print so."""

    text: str
    value: float
    low: float
    high: float
    digits: int

    @property
    def half(self) -> float:
        """Half a unit of the last digit."""
        return 0.5 * 10.0**-self.digits

    def within(self, low: float, high: float) -> bool:
        """Return True if some number from ``low`` to ``high`` prints so."""
        return low <= self.high + _HAIR and high >= self.low - _HAIR


@dataclass(frozen=True, slots=True)
class PrintedTable:
    """A table's rows by their names and its columns of printed numbers, None where none is; ``top``
    is 100 for columns of percentages and 1 for shares, ``n`` the stated items behind each column
    or cell."""

    rows: Sequence[str]
    columns: Mapping[str, Sequence[Printed | None]]
    top: Mapping[str, float]
    n: Mapping[str, Sequence[int]]


def printed(text: str) -> Printed | None:
    """A cell's number; None where it holds none, or a word."""
    short = text.strip().removesuffix("%").strip().replace("\u2212", "-")
    match = _NUMBER.fullmatch(short)
    value = number_of(short)
    if match is None or value is None or math.isnan(value):
        return None
    digits = len(match[1]) if re.search(r"[.,]", short) else 0
    half = 0.5 * 10.0**-digits
    return Printed(text.strip(), value, value - half, value + half, digits)


def printed_column(column: Coded, records: Sequence[int]) -> list[Printed | None]:
    """The numbers of a column's records as they are printed."""
    known = [*map(printed, column.names), None]
    return [known[code] for code in np.asarray(column.codes)[list(records)].tolist()]


_HOLDS = 0.75  # of the rows, for a relation to be one


_FEWEST = 3  # rows that fit it


_BY_ACCIDENT = 1e-3  # greatest probability that shares of something else fit k/n so often


_MOST_CHANCE = 0.5  # a cell that fits k/n by chance more often than this tests nothing


_MOST_RUNS = 16


_MOST_ITEMS = 5000  # among which a stated number of items is looked for anew


_FEW_ITEMS = 1000  # up to which multiples of the stated number are tried, as means of runs


_MOST_PAIRS = 8  # columns whose differences are tried


_MORE_DIGITS = 4  # at most, to show that a number lies outside its rounding


@dataclass(frozen=True, slots=True)
class CheckedRoles:
    """What the columns are. ``overall`` is the score and ``strata`` its groups, with the number of
    items of each in ``counts`` (0 where not known) and of all in ``total``; ``shares`` are the
    columns whose values are whole numbers of their items; ``kinds`` names a column by its metric;
    ``runs`` is the number of runs that each value is the mean of."""

    overall: str = ""
    strata: Sequence[str] = ()
    counts: Sequence[int] = ()
    total: int = 0
    shares: Sequence[str] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    differences: Sequence[str] = ()
    rank: str = ""
    low: str = ""
    high: str = ""
    stderr: str = ""
    runs: int = 1


class Consistency(NamedTuple):
    """What was checked, and what is no right number."""

    checks: tuple[CheckDone, ...]
    misprints: tuple[Misprint, ...]


class _Range(NamedTuple):
    """The least and greatest value, in units of the column."""

    low: float
    high: float

    def recomputed(self, cell: Printed) -> str:
        """The middle, with as many digits as show that it is not what the cell allows."""
        middle, allowed = (self.low + self.high) / 2, float(f"{self._half(cell):.2g}")
        for digits in range(cell.digits, cell.digits + _MORE_DIGITS):
            text = f"{middle:.{digits}f}"
            if round(abs(float(text) - cell.value) - allowed, 9) > 0:
                return text
        return f"{middle:.{cell.digits}f}"

    def allowed(self, cell: Printed) -> str:
        return f"\u00b1{self._half(cell):.2g}"

    def _half(self, cell: Printed) -> float:
        return cell.half + (self.high - self.low) / 2


class _Misfit(NamedTuple):
    """A row that a relation does not fit: what the cell should be."""

    row: int
    column: str
    cell: Printed
    right: _Range

    @property
    def fits(self) -> bool:
        return self.cell.within(*self.right)


def check_table(table: PrintedTable, roles: CheckedRoles) -> Consistency:
    """All checks that the columns of a table allow."""
    work = _Work(table, roles)
    work.fractions()
    work.attempts()
    work.f1()
    work.overall()
    work.statistics()
    work.differences()
    work.ranks()
    work.bounds()
    work.errors()
    misprints = sorted(work.misprints, key=lambda each: (each[0], each[1].check))
    return Consistency(tuple(work.checks), tuple(misprint for _row, misprint in misprints))


class _Work:
    """The checks of one table, and what they found so far."""

    def __init__(self, table: PrintedTable, roles: CheckedRoles) -> None:
        self.table, self.roles = table, roles
        self.checks: list[CheckDone] = []
        self.misprints: list[tuple[int, Misprint]] = []
        self.n = {name: list(sizes) for name, sizes in table.n.items()}
        self.is_whole: set[str] = set()  # columns that are whole numbers of their items
        self.impossible: dict[tuple[int, str], int] = {}  # by their place among the misprints

    # Shares of a whole number of items.

    def fractions(self) -> None:
        """Every share as k of n, n the stated items times the runs."""
        tested = {name: rows for name in self.roles.shares if (rows := self._tested(name))}
        if not tested:
            return
        for group in self._by_size(tested):
            self._one_size({name: tested[name] for name in group})

    def _tested(self, name: str) -> list[int]:
        """The rows whose cell could show that it is no k/n."""
        sizes, cells = self.n.get(name, ()), self.table.columns[name]
        return [
            row
            for row, (cell, n) in enumerate(zip(cells, sizes, strict=bool(sizes)))
            if cell is not None and n and _chance(cell, n, self.table.top[name]) <= _MOST_CHANCE
        ]

    def _by_size(self, tested: Mapping[str, Sequence[int]]) -> Iterator[list[str]]:
        """The columns that have one stated number of items; those of several each by itself."""
        groups: dict[object, list[str]] = {}
        for name in tested:
            sizes = set(self.n[name])
            groups.setdefault(sizes.pop() if len(sizes) == 1 else name, []).append(name)
        yield from groups.values()

    def _one_size(self, tested: Mapping[str, Sequence[int]]) -> None:
        fitted = self._fitted(tested, lambda name, row: self.n[name][row])
        n = sum(map(len, tested.values()))
        off = n - len(fitted)
        stated = {self.n[name][rows[0]] for name, rows in tested.items()}
        what = f"k / {min(stated)}" if len(stated) == 1 else "k / n"
        fits_stated = len(fitted) >= _HOLDS * n
        if fits_stated and self._is_no_accident(tested):
            self.checks.append(CheckDone(check="k/n", what=what, n=n, off=off))
            self.is_whole.update(tested)
            for name, rows in tested.items():
                for row in rows:
                    if (name, row) not in fitted:
                        self._no_share(name, row)
            return
        is_open = len(stated) == 1 and not fits_stated
        size = self._other_size(tested, min(stated)) if is_open else 0
        runs = size // min(stated) if size and size % min(stated) == 0 else 0
        if runs > 1:
            what = f"{what} (means of {runs} runs: --runs {runs * self.roles.runs})"
        self.checks.append(CheckDone(check="k/n", what=what, n=n, off=off, holds=False))
        if size and runs < 2 and self.roles.runs == 1:
            self._false_count(tested, min(stated), size)

    def _cells(self, tested: Mapping[str, Sequence[int]]) -> Iterator[tuple[str, int, Printed]]:
        for name, rows in tested.items():
            for row in rows:
                if (cell := self.table.columns[name][row]) is not None:
                    yield name, row, cell

    def _fitted(
        self, tested: Mapping[str, Sequence[int]], size: Callable[[str, int], int]
    ) -> set[tuple[str, int]]:
        return {
            (name, row)
            for name, row, cell in self._cells(tested)
            if _wholes(cell, size(name, row), self.table.top[name])
        }

    def _is_no_accident(self, tested: Mapping[str, Sequence[int]]) -> bool:
        """Whether so many different cells fit k/n that chance does not explain it."""
        cells = {
            (cell.text, self.n[name][row], self.table.top[name]): cell
            for name, row, cell in self._cells(tested)
        }
        chances = [_chance(cell, n, top) for (_text, n, top), cell in cells.items()]
        fitted = sum(bool(_wholes(cell, n, top)) for (_text, n, top), cell in cells.items())
        return _tail(fitted, len(chances), float(np.mean(chances))) < _BY_ACCIDENT

    def _other_size(self, tested: Mapping[str, Sequence[int]], stated: int) -> int:
        """The one number of items of which nearly all cells are shares; 0 where there is none.
        Multiples of it fit as well, so the least is taken."""
        if stated > _MOST_ITEMS:
            return 0
        # Equal cells tell the same thing once.
        cells = {
            (cell.low / self.table.top[name], cell.high / self.table.top[name])
            for name, _row, cell in self._cells(tested)
        }
        low, high = np.array(sorted(cells)).T
        most = _MOST_RUNS * stated if stated < _FEW_ITEMS else 2 * stated
        sizes = np.arange(1, most + 1)
        wholes = np.floor(np.outer(sizes, high + _HAIR)) - np.ceil(np.outer(sizes, low - _HAIR))
        fits = (wholes >= 0).sum(axis=1)
        chance = float((high - low).mean()) * sizes
        surely = [
            int(n)
            for n, fit, by_chance in zip(sizes, fits, chance, strict=True)
            if fit >= 0.9 * len(cells)
            and by_chance < _MOST_CHANCE
            and _tail(int(fit), len(cells), by_chance) * len(sizes) < _BY_ACCIDENT
        ]
        if not surely:
            return 0
        return surely[0] if all(n % surely[0] == 0 for n in surely) else 0

    def _no_share(self, name: str, row: int) -> None:
        cell = self.table.columns[name][row]
        if cell is None:
            return
        n, top = self.n[name][row], self.table.top[name]
        below = math.floor(cell.value / top * n) / n * top
        above = below + top / n
        digits = cell.digits
        self.impossible[row, name] = len(self.misprints)
        self._add(
            row, name, "k/n", cell.text, f"{below:.{digits}f} or {above:.{digits}f}", cell.half
        )

    def _false_count(self, tested: Mapping[str, Sequence[int]], stated: int, size: int) -> None:
        misprint = Misprint(
            row="n", cell=", ".join(tested), check="count", printed=str(stated),
            recomputed=str(size), allowed="0",
        )  # fmt: skip
        self.misprints.append((-1, misprint))
        fitted = self._fitted(tested, lambda _name, _row: size)
        n = sum(map(len, tested.values()))
        self.checks.append(CheckDone(check="k/n", what=f"k / {size}", n=n, off=n - len(fitted)))
        for name, rows in tested.items():
            self.n[name] = [size] * len(self.n[name])
            self.is_whole.add(name)
            for row in rows:
                if (name, row) not in fitted:
                    self._no_share(name, row)

    def _range(self, name: str, row: int) -> _Range | None:
        """The values that a cell can stand for, in units of its column."""
        cell = self.table.columns[name][row]
        if cell is None:
            return None
        if name in self.is_whole and self.n[name][row] and (row, name) not in self.impossible:
            n, top = self.n[name][row], self.table.top[name]
            if wholes := _wholes(cell, n, top):
                return _Range(wholes[0] / n * top, wholes[-1] / n * top)
        return _Range(cell.low, cell.high)

    def _share(self, name: str, row: int) -> _Range | None:
        """The same out of 1."""
        found = self._range(name, row)
        top = self.table.top[name]
        return None if found is None else _Range(found.low / top, found.high / top)

    # Metrics that follow from others.

    def attempts(self) -> None:
        """CO + NA + IN = 100, CGA = CO / (CO + IN), F = 2 CO / (1 + CO + IN)."""
        kinds = self.roles.kinds
        right, none, wrong = (
            kinds.get(kind, "") for kind in ("correct", "not attempted", "incorrect")
        )
        if not right or not wrong:
            return
        given = kinds.get("correct given attempted", "")
        odd_given = self._derived("CGA", "CGA = CO / (CO + IN)", given, (right, wrong), _cga)
        f_score = kinds.get("f1", "")
        odd_f = self._derived("F", "F = 2 CO / (1 + CO + IN)", f_score, (right, wrong), _f_of)
        odd = {misfit.row for misfit in (*odd_given, *odd_f)}
        if none:
            self._sums(right, none, wrong, confirmed=bool(given or f_score), odd=odd)
        self._tell("CGA", odd_given)
        self._tell("F", odd_f)

    def _sums(self, right: str, none: str, wrong: str, *, confirmed: bool, odd: set[int]) -> None:
        sums = {}
        for row in range(len(self.table.rows)):
            parts = [self._share(name, row) for name in (right, none, wrong)]
            known = [part for part in parts if part is not None]
            if len(known) == len(parts):
                sums[row] = _Range(sum(p.low for p in known), sum(p.high for p in known))
        if not sums or not 0.9 < float(np.median([sum(each) / 2 for each in sums.values()])) < 1.1:
            return
        off = [row for row, each in sums.items() if not each.low - _HAIR <= 1 <= each.high + _HAIR]
        what = f"{right} + {none} + {wrong} = {self.table.top[right]:g}"
        self.checks.append(CheckDone(check="sum to 100", what=what, n=len(sums), off=len(off)))
        top = self.table.top[right]
        for row in off:
            cells = [self.table.columns[name][row] for name in (right, none, wrong)]
            own = cells[1]
            if own is None or cells[0] is None or cells[2] is None:
                continue
            rest = top - cells[0].value - cells[2].value
            if confirmed and row not in odd:
                half = cells[0].half + own.half + cells[2].half
                self._add(row, none, "sum to 100", own.text, f"{rest:.{own.digits}f}", half)
            else:
                total = sum(cell.value for cell in cells if cell is not None)
                names = f"{right}, {none} or {wrong}"
                half = sum(cell.half for cell in cells if cell is not None)
                printed = f"sum {total:.{own.digits}f}"
                self._add(row, names, "sum to 100", printed, f"{top:g}", half)

    def f1(self) -> None:
        """F1 = 2PR / (P + R)."""
        kinds = self.roles.kinds
        precision, recall = kinds.get("precision", ""), kinds.get("recall", "")
        if precision and recall:
            what = "F1 = 2PR / (P + R)"
            name = kinds.get("f1", "")
            self._tell("F1", self._derived("F1", what, name, (precision, recall), _harmonic))

    def _derived(
        self,
        check: Check,
        what: str,
        name: str,
        parts: tuple[str, str],
        measure: Callable[[_Range, _Range], _Range | None],
    ) -> list[_Misfit]:
        """The rows in which a metric does not follow from its two parts, where it does in most."""
        if not name:
            return []
        return self._odd(check, what, self._of_two(name, parts, measure, is_share=True))

    def _odd(self, check: Check, what: str, found: Sequence[_Misfit]) -> list[_Misfit]:
        """Those among ``found`` that do not fit, where the relation holds."""
        odd = [each for each in found if not each.fits]
        holds = _is_relation(len(found), len(odd))
        if found:
            self.checks.append(
                CheckDone(check=check, what=what, n=len(found), off=len(odd), holds=holds)
            )
        return odd if holds else []

    def _tell(self, check: Check, misfits: Iterable[_Misfit]) -> None:
        for row, name, cell, right in misfits:
            self._add(
                row, name, check, cell.text, right.recomputed(cell), 0.0,
                allowed=right.allowed(cell),
            )  # fmt: skip

    # The overall and its groups.

    def overall(self) -> None:
        """The overall as the mean of each way in which the groups part the items."""
        name = self.roles.overall
        if not name or len(self.roles.strata) < 2:
            return
        parts = list(self._partitions())
        held: list[tuple[Sequence[str], Sequence[float], dict[int, _Misfit]]] = []
        for groups, weights, way in parts:
            found = list(self._means(name, groups, weights))
            what = f"{name}: {way}" + ("" if len(parts) == 1 else f" ({', '.join(groups)})")
            odd = self._odd("overall", what, found)
            if self.checks and self.checks[-1].what == what and self.checks[-1].holds:
                held.append((groups, weights, {each.row: each for each in odd}))
        if held:
            for groups, weights, odd_rows in held:
                others = [rows for _g, _w, rows in held if rows is not odd_rows]
                for row, misfit in odd_rows.items():
                    sure = bool(others) and all(row not in rows for rows in others)
                    self._tell_overall(row, misfit, groups, weights, is_sure=sure)
        elif parts:
            self._between(name)

    def _partitions(self) -> Iterator[tuple[Sequence[str], Sequence[float], str]]:
        strata, counts = list(self.roles.strata), self._counts()
        total = self.roles.total or sum(counts)
        plain = "plain mean of the groups"
        if not all(counts):
            yield strata, [1 / len(strata)] * len(strata), plain
            return
        weighted = "mean of the groups weighted by their items"
        segments = list(_segments(counts, total))
        for first, last in segments:
            sizes = counts[first:last]
            yield strata[first:last], [size / total for size in sizes], weighted
        if len(segments) < 2:
            means = [1 / len(strata)] * len(strata)
            if not segments or self._fits(strata, means) > self._fits(
                strata, [n / total for n in counts]
            ):
                yield strata, means, plain

    def _fits(self, groups: Sequence[str], weights: Sequence[float]) -> int:
        return sum(each.fits for each in self._means(self.roles.overall, groups, weights))

    def _counts(self) -> list[int]:
        """The items of each group, a stated number corrected where no cell is a share of it."""
        return [
            self.n[name][0] // self.roles.runs if name in self.n and name in self.is_whole else n
            for name, n in zip(self.roles.strata, self.roles.counts, strict=True)
        ]

    def _means(
        self, name: str, groups: Sequence[str], weights: Sequence[float]
    ) -> Iterator[_Misfit]:
        scaled = [
            weight * self.table.top[name] / self.table.top[group]
            for group, weight in zip(groups, weights, strict=True)
        ]
        for row, cell, known in self._with_groups(name, groups):
            low = sum(w * each.low for w, each in zip(scaled, known, strict=True))
            high = sum(w * each.high for w, each in zip(scaled, known, strict=True))
            yield _Misfit(row, name, cell, _Range(low, high))

    def _with_groups(
        self, name: str, groups: Sequence[str]
    ) -> Iterator[tuple[int, Printed, list[_Range]]]:
        """Each row that has this cell and all of these groups, with what they can stand for."""
        for row, cell in enumerate(self.table.columns[name]):
            ranges = [self._range(group, row) for group in groups]
            known = [each for each in ranges if each is not None]
            if cell is not None and len(known) == len(groups):
                yield row, cell, known

    def _tell_overall(
        self,
        row: int,
        misfit: _Misfit,
        groups: Sequence[str],
        weights: Sequence[float],
        *,
        is_sure: bool,
    ) -> None:
        """A row whose overall is no mean of its groups: the group to blame where another way of
        grouping confirms the overall, or where a cell of it is no share of its items."""
        impossible = [group for group in groups if (row, group) in self.impossible]
        blamed = impossible or (list(groups) if is_sure else [])
        fixes = {
            group: value
            for group in blamed
            if (value := self._fix(row, misfit, groups, weights, group)) is not None
        }
        if len(impossible) == 1 and fixes:
            place = self.impossible[row, impossible[0]]
            was, recomputed = self.misprints[place][1], fixes[impossible[0]]
            self.misprints[place] = (row, structs.replace(was, recomputed=recomputed))
        elif fixes and not impossible:
            printed = [self.table.columns[group][row] for group in fixes]
            text = " or ".join(cell.text for cell in printed if cell is not None)
            half = max(cell.half for cell in printed if cell is not None)
            self._add(row, " or ".join(fixes), "overall", text, " or ".join(fixes.values()), half)
        elif not impossible:
            self._tell("overall", [misfit])

    def _fix(
        self,
        row: int,
        misfit: _Misfit,
        groups: Sequence[str],
        weights: Sequence[float],
        group: str,
    ) -> str | None:
        """What a group's cell would have to be for the overall to follow; None where nothing is."""
        own, cell = self._range(misfit.column, row), self.table.columns[group][row]
        if own is None or cell is None:
            return None
        weight = dict(zip(groups, weights, strict=True))
        rest = [
            (weight[other], found)
            for other in groups
            if other != group and (found := self._range(other, row)) is not None
        ]
        high = (own.high - sum(w * each.low for w, each in rest)) / weight[group]
        low = (own.low - sum(w * each.high for w, each in rest)) / weight[group]
        top = self.table.top[group]
        if group in self.is_whole:
            n = self.n[group][row]
            wholes = range(
                max(math.ceil(low / top * n - 1e-6), 0),
                min(math.floor(high / top * n + 1e-6), n) + 1,
            )
            return f"{wholes[0] / n * top:.{cell.digits}f}" if len(wholes) == 1 else None
        if high < 0 or low > top:
            return None
        return f"{(low + high) / 2:.{cell.digits}f}"

    def _between(self, name: str) -> None:
        """An overall that is no mean we know lies between its least and greatest group."""
        found = []
        for row, cell, known in self._with_groups(name, self.roles.strata):
            low, high = min(each.low for each in known), max(each.high for each in known)
            found.append(_Misfit(row, name, cell, _Range(low, high)))
        self._tell_bounds(f"{name} between its groups", found)

    # Statistics, differences, ranks, bounds, standard errors.

    def statistics(self) -> None:
        """CV = 100 SD / mean; the range is the greatest less the least."""
        kinds = self.roles.kinds
        mean, sd, cv = (kinds.get(kind, "") for kind in ("mean", "sd", "cv"))
        if mean and sd and cv:
            rows = self._of_two(cv, (sd, mean), _hundredfold)
            self._tell("CV", self._odd("CV", f"{cv} = 100 {sd} / {mean}", rows))
        least, most, spread = (kinds.get(kind, "") for kind in ("min", "max", "range"))
        if least and most and spread:
            rows = self._of_two(spread, (most, least), _minus)
            self._tell("range", self._odd("range", f"{spread} = {most} - {least}", rows))

    def _of_two(
        self,
        name: str,
        parts: tuple[str, str],
        measure: Callable[[_Range, _Range], _Range | None],
        *,
        is_share: bool = False,
    ) -> list[_Misfit]:
        """Each row with what ``measure`` makes of its two ``parts``, as shares or as printed."""
        found, top = [], self.table.top[name] if is_share else 1.0
        for row, cell in enumerate(self.table.columns[name]):
            first, second = (
                self._share(part, row) if is_share else self._range(part, row) for part in parts
            )
            if cell is not None and first is not None and second is not None:
                right = measure(first, second)
                if right is not None:
                    found.append(
                        _Misfit(row, name, cell, _Range(right.low * top, right.high * top))
                    )
        return found

    def differences(self) -> None:
        """A column of differences against the two columns, and the way, that most rows fit."""
        scores = [*self.roles.strata, *([self.roles.overall] if self.roles.overall else [])]
        scores += [name for name in self.roles.shares if name not in scores]
        scores = scores[:_MOST_PAIRS]
        for name in self.roles.differences:
            tried: list[tuple[int, str, list[_Misfit]]] = []
            for first, second in permutations(scores, 2):
                for how, measure in (("{a} - {b}", _minus), ("100 ({a} - {b}) / {a}", _drop)):
                    rows = self._of_two(name, (first, second), measure)
                    fit = sum(each.fits for each in rows)
                    tried.append((fit, f"{name} = {how.format(a=first, b=second)}", rows))
            best = max(tried, key=lambda each: each[0], default=None)
            if best is not None and _is_relation(len(best[2]), len(best[2]) - best[0]):
                self._tell("difference", self._odd("difference", best[1], best[2]))

    def ranks(self) -> None:
        """A rank is one more than the number of greater scores; equal scores may share theirs."""
        ranks, scores = (
            self.table.columns.get(name) for name in (self.roles.rank, self.roles.overall)
        )
        if ranks is None or scores is None:
            return
        known = [
            (row, rank, score)
            for row, (rank, score) in enumerate(zip(ranks, scores, strict=True))
            if rank is not None and score is not None
        ]
        values = [score.value for _row, _rank, score in known]
        dense = sorted(set(values), reverse=True)
        ways = []
        for is_dense in (False, True):
            found = []
            for row, rank, score in known:
                low = 1 + sum(value > score.value for value in values)
                high = sum(value >= score.value for value in values)
                if is_dense:
                    low = high = 1 + dense.index(score.value)
                found.append(_Misfit(row, self.roles.rank, rank, _Range(low, high)))
            ways.append(found)
        best = max(ways, key=lambda rows: sum(each.fits for each in rows))
        self._tell("rank", self._odd("rank", f"{self.roles.rank} by {self.roles.overall}", best))

    def bounds(self) -> None:
        """A score lies within its printed interval."""
        low, high, scores = (
            self.table.columns.get(name)
            for name in (self.roles.low, self.roles.high, self.roles.overall)
        )
        if low is None or high is None or scores is None:
            return
        found = [
            _Misfit(row, self.roles.overall, score, _Range(least.low, most.high))
            for row, (score, least, most) in enumerate(zip(scores, low, high, strict=True))
            if score is not None and least is not None and most is not None
        ]
        names = f"{self.roles.low}, {self.roles.high}"
        self._tell_bounds(f"{self.roles.overall} within {names}", found)

    def _tell_bounds(self, what: str, found: Sequence[_Misfit]) -> None:
        for row, name, cell, right in self._odd("bounds", what, found):
            recomputed = f"{right.low:.{cell.digits}f} to {right.high:.{cell.digits}f}"
            self._add(row, name, "bounds", cell.text, recomputed, cell.half)

    def errors(self) -> None:
        """A standard error of 0/1 items is the root of p(1 - p) / n, or over n - 1."""
        name, score = self.roles.stderr, self.roles.overall
        if not name or score not in self.table.n:
            return
        for less, root in ((0, "n"), (1, "(n - 1)")):
            found = []
            for row, cell in enumerate(self.table.columns[name]):
                share, n = self._share(score, row), self.table.n[score][row] // self.roles.runs
                if cell is None or share is None or n < 2:
                    continue
                ends = [math.sqrt(max(p * (1 - p), 0) / (n - less)) for p in share]
                most = (
                    max(ends) if not share.low < 0.5 < share.high else math.sqrt(0.25 / (n - less))
                )
                top = self.table.top[name]
                found.append(_Misfit(row, name, cell, _Range(min(ends) * top, most * top)))
            odd = [each for each in found if not each.fits]
            if _is_relation(len(found), len(odd)):
                what = f"{name} = root of p(1 - p) / {root}"
                self._tell("standard error", self._odd("standard error", what, found))
                return

    def _add(
        self,
        row: int,
        cell: str,
        check: Check,
        printed: str,
        recomputed: str,
        half: float,
        *,
        allowed: str = "",
    ) -> None:
        self.misprints.append(
            (
                row,
                Misprint(
                    row=self.table.rows[row],
                    cell=cell,
                    check=check,
                    printed=printed,
                    recomputed=recomputed,
                    allowed=allowed or f"\u00b1{half:.2g}",
                ),
            )
        )


def _is_relation(n: int, off: int) -> bool:
    return n - off >= _FEWEST and n - off >= _HOLDS * n


def _wholes(cell: Printed, n: int, top: float) -> range:
    """The whole numbers k of which k / n prints like the cell."""
    low, high = cell.low / top * n, cell.high / top * n
    return range(max(math.ceil(low - _HAIR * n), 0), min(math.floor(high + _HAIR * n), n) + 1)


def _chance(cell: Printed, n: int, top: float) -> float:
    """How often a number that is no k/n would print like one."""
    return min(1.0, 2 * cell.half * n / top)


def _tail(fitted: int, n: int, chance: float) -> float:
    """How probable at least so many of n are, each with this chance."""
    if fitted <= 0 or chance >= 1:
        return 1.0
    return float(special.betainc(fitted, n - fitted + 1, chance))


def _segments(counts: Sequence[int], total: int) -> Iterator[tuple[int, int]]:
    """The runs of neighbouring groups that together hold all items."""
    ends = np.cumsum([0, *counts]).tolist()
    starts = {end: place for place, end in enumerate(ends)}
    start = 0
    while start < len(counts):
        last = starts.get(ends[start] + total)
        if last is not None and last > start + 1:
            yield start, last
            start = last
        else:
            start += 1


def _cga(right: _Range, wrong: _Range) -> _Range | None:
    if right.low + wrong.low <= 0:
        return None
    return _Range(right.low / (right.low + wrong.high), right.high / (right.high + wrong.low))


def _f_of(right: _Range, wrong: _Range) -> _Range | None:
    return _Range(
        2 * right.low / (1 + right.low + wrong.high), 2 * right.high / (1 + right.high + wrong.low)
    )


def _harmonic(first: _Range, second: _Range) -> _Range | None:
    if first.low + second.low <= 0:
        return None
    low, high = (2 * a * b / (a + b) for a, b in zip(first, second, strict=True))
    return _Range(low, high)


def _hundredfold(top: _Range, bottom: _Range) -> _Range | None:
    return (
        _Range(100 * top.low / bottom.high, 100 * top.high / bottom.low) if bottom.low > 0 else None
    )


def _minus(first: _Range, second: _Range) -> _Range:
    return _Range(first.low - second.high, first.high - second.low)


def _drop(first: _Range, second: _Range) -> _Range | None:
    if first.low <= 0:
        return None
    return _Range(100 * (1 - second.high / first.low), 100 * (1 - second.low / first.high))


# Whether the printed numbers of a leaderboard fit each other, and its metrics beside the score.


_MOST_NAMED = 5


_SAYS: Mapping[Check, str] = {
    "k/n": noted("no share of a whole number of items"),
    "count": noted("number of items that the shares do not fit"),
    "sum to 100": noted("shares that do not add up to 100"),
    "CGA": noted("CGA does not follow from CO and IN"),
    "F": noted("F does not follow from CO and IN"),
    "F1": noted("F1 does not follow from precision and recall"),
    "overall": noted("overall and groups do not agree"),
    "CV": noted("CV does not follow from SD and mean"),
    "range": noted("range does not follow from max and min"),
    "difference": noted("difference does not follow from its columns"),
    "rank": noted("rank does not follow from the score"),
    "bounds": noted("outside its bounds"),
    "standard error": noted("standard error does not follow from score and n"),
}


def consistency_section(evidence: Evidence) -> Section | None:
    """Every check of printed numbers against others, and each misprint by row and cell; None where
    nothing could be checked."""
    found = evidence.accuracies
    if found is None or not found.checks:
        return None
    return Section(
        name="consistency",
        title=say("Consistency checks"),
        finding=_finding(found),
        cannot=_cannot(found.checks),
        how=say(
            "A printed number represents every value that rounds to it. With a stated number of "
            "items, it represents only shares of whole items. A relation is used if at least "
            "three rows and three quarters of all rows fit. Numbers that could be right are not "
            "listed."
        ),
        tables=(*([_misprints(found.misprints)] if found.misprints else []), _checks(found.checks)),
    )


def _finding(found: Accuracies) -> str:
    n = sum(each.n for each in found.checks if each.holds)
    overall = [
        say(
            "{what}: {agree} of {n} rows agree within rounding.",
            what=each.what,
            agree=each.n - each.off,
            n=each.n,
        )
        for each in found.checks
        if each.check == "overall" and each.holds
    ]
    if not found.misprints:
        none = say("No misprint found in {n}.", n=counted(n, "check"))
        return paragraph(*overall, none if n else say("No relation between the columns holds."))
    said = say_of(
        len(found.misprints),
        "{n} printed number disagrees with the others: {first}.",
        "{n} printed numbers disagree with the others: {first}.",
        n=len(found.misprints),
        first=_first(found.misprints),
    )
    return paragraph(*overall, said)


def _first(misprints: Sequence[Misprint]) -> str:
    first = [
        say(
            "{row}, {cell} ({printed} printed, {recomputed} recomputed, {allowed} allowed)",
            row=each.row,
            cell=each.cell,
            printed=each.printed,
            recomputed=each.recomputed,
            allowed=each.allowed,
        )
        for each in misprints[:_MOST_NAMED]
    ]
    more = len(misprints) - len(first)
    shown = say("; ").join(first)
    return say("{first}; and {more} more", first=shown, more=more) if more else shown


def _cannot(checks: Sequence[CheckDone]) -> str:
    open_to = [each.what for each in checks if not each.holds]
    if not open_to:
        return ""
    return say("Not checked, as too few rows fit: {checks}.", checks=listed(open_to, _MOST_NAMED))


def _misprints(misprints: Sequence[Misprint]) -> Table:
    return table_of(
        say("Misprints"),
        misprints,
        column("row", say("row")),
        column("cell", say("cell")),
        column("check", say("check"), lambda each: word(_SAYS[each.check])),
        column("printed", say("printed")),
        column("recomputed", say("recomputed")),
        column("allowed", say("rounding allowed")),
    )


def _checks(checks: Sequence[CheckDone]) -> Table:
    return table_of(
        say("Checks"),
        checks,
        column("check", say("check"), "what"),
        column("n", say("numbers checked")),
        column("off", say("do not fit")),
        column("holds", say("taken to hold"), lambda each: say("yes") if each.holds else say("no")),
    )


def metrics_section(evidence: Evidence) -> Section | None:
    """The other metrics of each model as the file has them; None without any."""
    found = evidence.accuracies
    if found is None or not found.metrics:
        return None
    names = [each.name for each in found.metrics]
    return Section(
        name="metrics",
        title=say("Other metrics"),
        finding=say(
            "Shown as printed, never averaged with {score}: {names}.",
            score=found.score,
            names=listed(names, 8),
        ),
        how=say(
            "Models are ranked by one column; the read line says which, and why. --score names "
            "another."
        ),
        tables=(
            Table(
                title=say("Other metrics"),
                columns=(
                    Column(key="model", name=say("model")),
                    *(Column(key=name, name=name) for name in names),
                ),
                rows=tuple(
                    (model, *(each.cells[place] for each in found.metrics))
                    for place, model in enumerate(found.models)
                ),
            ),
        ),
    )
