"""Consistency checks of result tables: printed numbers that contradict others.

Every printed number represents the range that rounds to it. Nothing is reported as a misprint if
some numbers that print like the table are consistent. If the number of items is stated, a share is
also a whole number of them (GRIM; Brown and Heathers, 2017), which narrows the range to few values.
Some relations are not stated: that the overall is a mean, that F1 follows from precision and
recall, that scores are k of n. They are assumed if at least three quarters of rows fit, and only
then is another row a misprint.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import NamedTuple, TypeAlias

import numpy as np
from msgspec import structs
from scipy import special

from proofstone.page.section import Column, Section, Table, column, table_of
from proofstone.records.scores import Accuracies, Check, CheckDone, Coded, Misprint
from proofstone.results.audit.cells import number_of
from proofstone.results.sections.evidence import Evidence
from proofstone.wording.messages import counted, listed, noted, paragraph, say, say_of, word

# Printed numbers: the range of values that round to one.

_NUMBER = re.compile(r"^[+\-\u2212]?\d*[.,]?(\d*)$")


_HAIR = 1e-9  # floating-point tolerance, in units of the column


@dataclass(frozen=True, slots=True)
class Printed:
    """A printed number; ``low`` and ``high`` bound the values that print as it does."""

    text: str
    value: float
    low: float
    high: float
    digits: int

    @property
    def half(self) -> float:
        """Return half a unit of the last digit."""
        return 0.5 * 10.0**-self.digits

    def within(self, low: float, high: float) -> bool:
        """Return True if some number from ``low`` to ``high`` prints like this."""
        return low <= self.high + _HAIR and high >= self.low - _HAIR


@dataclass(frozen=True, slots=True)
class PrintedTable:
    """Names of rows and columns of printed numbers (None without a number).

    ``top`` is 100 for columns of percentages and 1 for shares. ``n`` is the stated number of items
    behind each column or cell.
    """

    rows: Sequence[str]
    columns: Mapping[str, Sequence[Printed | None]]
    top: Mapping[str, float]
    n: Mapping[str, Sequence[int]]


def printed(text: str) -> Printed | None:
    """Return a cell's number; None for other texts."""
    short = text.strip().removesuffix("%").strip().replace("\u2212", "-")
    match = _NUMBER.fullmatch(short)
    value = number_of(short)
    if match is None or value is None or math.isnan(value):
        return None
    digits = len(match[1]) if re.search(r"[.,]", short) else 0
    half = 0.5 * 10.0**-digits
    return Printed(text.strip(), value, value - half, value + half, digits)


def printed_column(column: Coded, records: Sequence[int]) -> list[Printed | None]:
    """Return the printed numbers of a column's records."""
    known = [*map(printed, column.names), None]
    return [known[code] for code in np.asarray(column.codes)[list(records)].tolist()]


_HOLDS = 0.75  # share of rows that must fit for a relation to be assumed


_FEWEST = 3  # rows that fit it


_BY_ACCIDENT = 1e-3  # maximum probability that values other than k/n fit so often


_MOST_CHANCE = 0.5  # a cell that fits k/n by chance more often than this is not tested


_MOST_RUNS = 16


_MOST_ITEMS = 5000  # maximum in the search for another number of items


_FEW_ITEMS = 1000  # maximum for trying multiples of the stated number, as means of runs


_MOST_PAIRS = 8  # columns whose differences are tried


_MORE_DIGITS = 4  # at most, to show that a number lies outside its rounding


@dataclass(frozen=True, slots=True)
class CheckedRoles:
    """Roles of columns.

    ``overall`` is the score and ``strata`` its groups, with items in ``counts`` (0 if unknown) and
    ``total``. ``shares`` are the columns whose values are shares k/n of their items. ``kinds`` maps
    metrics to columns. ``runs`` is the number of runs averaged in each value.
    """

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
    """Checks performed and misprints found."""

    checks: tuple[CheckDone, ...]
    misprints: tuple[Misprint, ...]


class _Range(NamedTuple):
    """The least and greatest value, in units of the column."""

    low: float
    high: float

    def recomputed(self, cell: Printed) -> str:
        """Return the center, with enough digits to show that it differs from the cell."""
        middle, allowed = (self.low + self.high) / 2, float(f"{self.half(cell):.2g}")
        for digits in range(cell.digits, cell.digits + _MORE_DIGITS):
            text = f"{middle:.{digits}f}"
            if round(abs(float(text) - cell.value) - allowed, 9) > 0:
                return text
        return f"{middle:.{cell.digits}f}"

    def half(self, cell: Printed) -> float:
        """Return the maximum distance between the center and the cell's value."""
        return cell.half + (self.high - self.low) / 2


class _Misfit(NamedTuple):
    """A row that does not fit a relation, and the value that the cell should have."""

    row: int
    column: str
    cell: Printed
    right: _Range

    @property
    def fits(self) -> bool:
        return self.cell.within(*self.right)


def check_table(table: PrintedTable, roles: CheckedRoles) -> Consistency:
    """Run all checks that the columns of a table allow."""
    work = _Work(table, roles)
    work.fractions()
    work.attempts()
    work.follow("F1")
    work.overall()
    work.follow("CV")
    work.follow("range")
    work.differences()
    work.ranks()
    work.bounds()
    work.errors()
    misprints = sorted(work.misprints, key=lambda each: (each[0], each[1].check))
    return Consistency(tuple(work.checks), tuple(misprint for _row, misprint in misprints))


class _Work:
    """Checks of one table and their findings so far."""

    def __init__(self, table: PrintedTable, roles: CheckedRoles) -> None:
        self.table, self.roles = table, roles
        self.checks: list[CheckDone] = []
        self.misprints: list[tuple[int, Misprint]] = []
        self.n = {name: list(sizes) for name, sizes in table.n.items()}
        self.is_whole: set[str] = set()  # columns whose values are k/n
        self.impossible: dict[tuple[int, str], int] = {}  # index among the misprints

    # Shares of a whole number of items.

    def fractions(self) -> None:
        """Check every share as k/n, where n is the stated number of items times the runs.

        Columns with one stated number are checked jointly, those with several numbers separately.
        """
        groups: dict[object, dict[str, list[int]]] = {}
        for name in self.roles.shares:
            if rows := self._tested(name):
                sizes = set(self.n[name])
                groups.setdefault(sizes.pop() if len(sizes) == 1 else name, {})[name] = rows
        for tested in groups.values():
            self._one_size(tested)

    def _tested(self, name: str) -> list[int]:
        """Return the rows whose cell could show that it is not k/n."""
        sizes, cells = self.n.get(name, ()), self.table.columns[name]
        return [
            row
            for row, (cell, n) in enumerate(zip(cells, sizes, strict=bool(sizes)))
            if cell is not None and n and _chance(cell, n, self.table.top[name]) <= _MOST_CHANCE
        ]

    def _one_size(self, tested: Mapping[str, Sequence[int]]) -> None:
        fitted = self._fitted(tested)
        n = sum(map(len, tested.values()))
        stated = {self.n[name][rows[0]] for name, rows in tested.items()}
        what = f"k / {min(stated)}" if len(stated) == 1 else "k / n"
        fits_stated = len(fitted) >= _HOLDS * n
        if fits_stated and self._is_no_accident(tested):
            self._hold_shares(what, tested, fitted)
            return
        is_open = len(stated) == 1 and not fits_stated
        size = self._other_size(tested, min(stated)) if is_open else 0
        runs = size // min(stated) if size and size % min(stated) == 0 else 0
        if runs > 1:
            what = f"{what} (means of {runs} runs: --runs {runs * self.roles.runs})"
        off = n - len(fitted)
        self.checks.append(CheckDone(check="k/n", what=what, n=n, off=off, holds=False))
        if size and runs < 2 and self.roles.runs == 1:
            misprint = Misprint(
                row="n", cell=", ".join(tested), check="count", printed=str(min(stated)),
                recomputed=str(size), allowed="0",
            )  # fmt: skip
            self.misprints.append((-1, misprint))
            self.n |= {name: [size] * len(self.n[name]) for name in tested}
            self._hold_shares(f"k / {size}", tested, self._fitted(tested))

    def _hold_shares(
        self, what: str, tested: Mapping[str, Sequence[int]], fitted: set[tuple[str, int]]
    ) -> None:
        """Record that shares are k/n, and report those not in ``fitted`` as misprints."""
        n = sum(map(len, tested.values()))
        self.checks.append(CheckDone(check="k/n", what=what, n=n, off=n - len(fitted)))
        self.is_whole.update(tested)
        for name, row, cell in self._cells(tested):
            if (name, row) not in fitted:
                n, top = self.n[name][row], self.table.top[name]
                below = math.floor(cell.value / top * n) / n * top
                self.impossible[row, name] = len(self.misprints)
                right = f"{below:.{cell.digits}f} or {below + top / n:.{cell.digits}f}"
                self._add(row, name, "k/n", cell.text, right, cell.half)

    def _cells(self, tested: Mapping[str, Sequence[int]]) -> Iterator[tuple[str, int, Printed]]:
        for name, rows in tested.items():
            for row in rows:
                if (cell := self.table.columns[name][row]) is not None:
                    yield name, row, cell

    def _fitted(self, tested: Mapping[str, Sequence[int]]) -> set[tuple[str, int]]:
        return {
            (name, row)
            for name, row, cell in self._cells(tested)
            if _wholes(cell, self.n[name][row], self.table.top[name])
        }

    def _is_no_accident(self, tested: Mapping[str, Sequence[int]]) -> bool:
        """Return True if the number of distinct cells that fit k/n is too large for chance."""
        cells = {
            (cell.text, self.n[name][row], self.table.top[name]): cell
            for name, row, cell in self._cells(tested)
        }
        chances = [_chance(cell, n, top) for (_text, n, top), cell in cells.items()]
        fitted = sum(bool(_wholes(cell, n, top)) for (_text, n, top), cell in cells.items())
        return _tail(fitted, len(chances), float(np.mean(chances))) < _BY_ACCIDENT

    def _other_size(self, tested: Mapping[str, Sequence[int]], stated: int) -> int:
        """Return the one number of items that fits nearly all cells; 0 without any.

        Multiples of it fit as well, so the smallest is returned.
        """
        if stated > _MOST_ITEMS:
            return 0
        # Equal cells count once.
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
        return surely[0] if surely and all(n % surely[0] == 0 for n in surely) else 0

    def _range(self, name: str, row: int, *, is_share: bool = False) -> _Range | None:
        """Return the values that a cell may represent, in units of its column, or as shares."""
        cell, top = self.table.columns[name][row], self.table.top[name]
        if cell is None:
            return None
        low, high = cell.low, cell.high
        if name in self.is_whole and (row, name) not in self.impossible:
            n = self.n[name][row]
            if n and (wholes := _wholes(cell, n, top)):
                low, high = wholes[0] / n * top, wholes[-1] / n * top
        return _Range(low / top, high / top) if is_share else _Range(low, high)

    def _ranges(
        self, names: Sequence[str], row: int, *, is_share: bool = False
    ) -> list[_Range] | None:
        """Return the ranges of several columns; None if one has no number there."""
        found = [self._range(name, row, is_share=is_share) for name in names]
        known = [each for each in found if each is not None]
        return known if len(known) == len(names) else None

    # Numbers that follow from others.

    def attempts(self) -> None:
        """Check CO + NA + IN = 100 and the metrics that follow from CO and IN."""
        odd = self.follow("CGA") | self.follow("F")
        kinds = self.roles.kinds
        names = [kinds.get(kind, "") for kind in ("correct", "not attempted", "incorrect")]
        if not all(names):
            return
        sums = {
            row: _Range(sum(part.low for part in parts), sum(part.high for part in parts))
            for row in range(len(self.table.rows))
            if (parts := self._ranges(names, row, is_share=True))
        }
        if not sums or not 0.9 < float(np.median([sum(each) / 2 for each in sums.values()])) < 1.1:
            return
        off = [row for row, each in sums.items() if not each.low - _HAIR <= 1 <= each.high + _HAIR]
        top = self.table.top[names[0]]
        is_confirmed = kinds.get("correct given attempted") or kinds.get("f1")
        what = f"{' + '.join(names)} = {top:g}"
        self.checks.append(CheckDone(check="sum to 100", what=what, n=len(sums), off=len(off)))
        for row in off:
            cells = [cell for name in names if (cell := self.table.columns[name][row]) is not None]
            right, own, wrong = cells
            half = sum(cell.half for cell in cells)
            if is_confirmed and row not in odd:
                rest = f"{top - right.value - wrong.value:.{own.digits}f}"
                self._add(row, names[1], "sum to 100", own.text, rest, half)
            else:
                total = f"sum {sum(cell.value for cell in cells):.{own.digits}f}"
                blamed = f"{names[0]}, {names[1]} or {names[2]}"
                self._add(row, blamed, "sum to 100", total, f"{top:g}", half)

    def follow(self, check: Check) -> set[int]:
        """Return and report the rows in which a number does not follow from its two parts.

        Only if it does in most rows.
        """
        what, kinds, measure, is_share = _FOLLOWS[check]
        name, *parts = (self.roles.kinds.get(kind, "") for kind in kinds)
        if not name or not all(parts):
            return set()
        found = self._of_two(name, parts, measure, is_share=is_share)
        return self._hold(check, what.format(name, *parts), found)

    def _of_two(
        self, name: str, parts: Sequence[str], measure: _OfTwo, *, is_share: bool = False
    ) -> list[_Misfit]:
        """Return each row with the result of ``measure`` on its two ``parts``, as shares or as
        printed."""
        top = self.table.top[name] if is_share else 1.0
        return [
            _Misfit(row, name, cell, _Range(right.low * top, right.high * top))
            for row, cell in enumerate(self.table.columns[name])
            if cell is not None
            and (two := self._ranges(parts, row, is_share=is_share))
            and (right := measure(*two)) is not None
        ]

    def _odd(self, check: Check, what: str, found: Sequence[_Misfit]) -> list[_Misfit] | None:
        """Return those of ``found`` that do not fit; None if the relation does not hold."""
        odd = [each for each in found if not each.fits]
        holds = _is_relation(len(found), len(odd))
        if found:
            self.checks.append(
                CheckDone(check=check, what=what, n=len(found), off=len(odd), holds=holds)
            )
        return odd if holds else None

    def _hold(self, check: Check, what: str, found: Sequence[_Misfit]) -> set[int]:
        """Return and report the rows that do not fit a relation, if it holds."""
        odd = self._odd(check, what, found) or []
        for misfit in odd:
            self._tell(check, misfit)
        return {misfit.row for misfit in odd}

    def _tell(self, check: Check, misfit: _Misfit) -> None:
        row, name, cell, right = misfit
        self._add(row, name, check, cell.text, right.recomputed(cell), right.half(cell))

    # The overall and its groups.

    def overall(self) -> None:
        """Check the overall as the mean over each partition of the items into groups."""
        name = self.roles.overall
        if not name or len(self.roles.strata) < 2:
            return
        parts = list(self._partitions())
        held: list[tuple[Mapping[str, float], dict[int, _Misfit]]] = []
        for weights, prompt_method in parts:
            what = f"{name}: {prompt_method}" + (
                "" if len(parts) == 1 else f" ({', '.join(weights)})"
            )
            odd = self._odd("overall", what, list(self._means(weights)))
            if odd is not None:
                held.append((weights, {each.row: each for each in odd}))
        for weights, odd_rows in held:
            others = [rows for _weights, rows in held if rows is not odd_rows]
            for row, misfit in odd_rows.items():
                is_sure = bool(others) and all(row not in rows for rows in others)
                self._tell_overall(misfit, weights, is_sure=is_sure)
        if parts and not held:  # an unknown mean that lies outside the range of its groups
            found = [
                _Misfit(row, name, cell, _Range(
                    min(each.low for each in known), max(each.high for each in known)
                ))
                for row, cell, known in self._with_groups(self.roles.strata)
            ]  # fmt: skip
            self._tell_bounds(f"{name} between its groups", found)

    def _partitions(self) -> Iterator[tuple[Mapping[str, float], str]]:
        """Yield the weights of groups that partition the items, and their description."""
        strata = list(self.roles.strata)
        # A stated number is corrected if no cell is a share of it.
        counts = [
            self.n[name][0] // self.roles.runs if name in self.n and name in self.is_whole else n
            for name, n in zip(strata, self.roles.counts, strict=True)
        ]
        total = self.roles.total or sum(counts)
        means = dict.fromkeys(strata, 1 / len(strata)), say("plain mean of the groups")
        if not all(counts):
            yield means
            return
        shares = {name: n / total for name, n in zip(strata, counts, strict=True)}
        segments = list(_segments(counts, total))
        for first, last in segments:
            yield (
                {name: shares[name] for name in strata[first:last]},
                say("mean of the groups weighted by their items"),
            )
        if not segments or (len(segments) < 2 and self._fits(means[0]) > self._fits(shares)):
            yield means

    def _fits(self, weights: Mapping[str, float]) -> int:
        return sum(each.fits for each in self._means(weights))

    def _means(self, weights: Mapping[str, float]) -> Iterator[_Misfit]:
        name, top = self.roles.overall, self.table.top
        scaled = [weight * top[name] / top[group] for group, weight in weights.items()]
        for row, cell, known in self._with_groups(list(weights)):
            low = sum(w * each.low for w, each in zip(scaled, known, strict=True))
            high = sum(w * each.high for w, each in zip(scaled, known, strict=True))
            yield _Misfit(row, name, cell, _Range(low, high))

    def _with_groups(self, groups: Sequence[str]) -> Iterator[tuple[int, Printed, list[_Range]]]:
        """Yield each row with an overall and all of these groups, with their possible values."""
        for row, cell in enumerate(self.table.columns[self.roles.overall]):
            if cell is not None and (known := self._ranges(groups, row)):
                yield row, cell, known

    def _tell_overall(
        self, misfit: _Misfit, weights: Mapping[str, float], *, is_sure: bool
    ) -> None:
        """Report a row whose overall is not the mean of its groups.

        The group is named if another grouping confirms the overall, or if a cell of it is not k/n.
        """
        row = misfit.row
        impossible = [group for group in weights if (row, group) in self.impossible]
        fixes = {
            group: value
            for group in impossible or (weights if is_sure else ())
            if (value := self._fix(misfit, weights, group)) is not None
        }
        if len(impossible) == 1 and fixes:
            place = self.impossible[row, impossible[0]]
            was, recomputed = self.misprints[place][1], fixes[impossible[0]]
            self.misprints[place] = (row, structs.replace(was, recomputed=recomputed))
        elif fixes and not impossible:
            cells = [cell for _name, _row, cell in self._cells({name: [row] for name in fixes})]
            text, half = " or ".join(cell.text for cell in cells), max(cell.half for cell in cells)
            self._add(row, " or ".join(fixes), "overall", text, " or ".join(fixes.values()), half)
        elif not impossible:
            self._tell("overall", misfit)

    def _fix(self, misfit: _Misfit, weights: Mapping[str, float], group: str) -> str | None:
        """Return the value of a group's cell from which the overall would follow; None without
        any."""
        row = misfit.row
        own, cell = self._range(misfit.column, row), self.table.columns[group][row]
        if own is None or cell is None:
            return None
        rest = [
            (weight, found)
            for other, weight in weights.items()
            if other != group and (found := self._range(other, row)) is not None
        ]
        high = (own.high - sum(w * each.low for w, each in rest)) / weights[group]
        low = (own.low - sum(w * each.high for w, each in rest)) / weights[group]
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

    # Differences, ranks, bounds, standard errors.

    def differences(self) -> None:
        """Check columns of differences against the two columns and the direction that most rows
        fit."""
        scores = [*self.roles.strata, *([self.roles.overall] if self.roles.overall else [])]
        scores = list(dict.fromkeys([*scores, *self.roles.shares]))[:_MOST_PAIRS]
        for name in self.roles.differences:
            tried = [
                (f"{name} = {how.format(a=first, b=second)}",
                 self._of_two(name, (first, second), measure))
                for first, second in permutations(scores, 2)
                for how, measure in (("{a} - {b}", _minus), ("100 ({a} - {b}) / {a}", _drop))
            ]  # fmt: skip
            what, best = max(tried, key=lambda each: _n_fitting(each[1]), default=("", []))
            if _is_relation(len(best), len(best) - _n_fitting(best)):
                self._hold("difference", what, best)

    def ranks(self) -> None:
        """Check that a rank is one more than the number of greater scores; equal scores may
        share one."""
        name, overall = self.roles.rank, self.roles.overall
        ranks, scores = self.table.columns.get(name), self.table.columns.get(overall)
        if ranks is None or scores is None:
            return
        known = [
            (row, rank, score.value)
            for row, (rank, score) in enumerate(zip(ranks, scores, strict=True))
            if rank is not None and score is not None
        ]
        values = [value for _row, _rank, value in known]
        dense = {value: place for place, value in enumerate(sorted(set(values), reverse=True), 1)}
        shared = [
            _Range(1 + sum(v > own for v in values), sum(v >= own for v in values))
            for own in values
        ]
        prompt_methods = (shared, [_Range(dense[own], dense[own]) for own in values])
        found = [
            [
                _Misfit(row, name, rank, own)
                for (row, rank, _), own in zip(known, prompt_method, strict=True)
            ]
            for prompt_method in prompt_methods
        ]
        self._hold("rank", f"{name} by {overall}", max(found, key=_n_fitting))

    def bounds(self) -> None:
        """Check that a score lies within its printed interval."""
        names = (self.roles.overall, self.roles.low, self.roles.high)
        columns = [each for name in names if (each := self.table.columns.get(name)) is not None]
        if len(columns) < len(names):
            return
        found = [
            _Misfit(row, names[0], score, _Range(least.low, most.high))
            for row, (score, least, most) in enumerate(zip(*columns, strict=True))
            if score is not None and least is not None and most is not None
        ]
        self._tell_bounds(f"{names[0]} within {names[1]}, {names[2]}", found)

    def _tell_bounds(self, what: str, found: Sequence[_Misfit]) -> None:
        for row, name, cell, right in self._odd("bounds", what, found) or ():
            recomputed = f"{right.low:.{cell.digits}f} to {right.high:.{cell.digits}f}"
            self._add(row, name, "bounds", cell.text, recomputed, cell.half)

    def errors(self) -> None:
        """Check a standard error of 0/1 items: the root of p(1 - p) / n, or with n - 1."""
        name, score = self.roles.stderr, self.roles.overall
        if not name or score not in self.table.n:
            return
        top = self.table.top[name]
        for less, root in ((0, "n"), (1, "(n - 1)")):
            found = []
            for row, cell in enumerate(self.table.columns[name]):
                share = self._range(score, row, is_share=True)
                n = self.table.n[score][row] // self.roles.runs
                if cell is None or share is None or n < 2:
                    continue
                # The root is greatest at 0.5.
                tried = [*share, 0.5] if share.low < 0.5 < share.high else [*share]
                ends = [math.sqrt(max(p * (1 - p), 0) / (n - less)) for p in tried]
                found.append(_Misfit(row, name, cell, _Range(min(ends) * top, max(ends) * top)))
            if _is_relation(len(found), len(found) - _n_fitting(found)):
                what = f"{name} = root of p(1 - p) / {root}"
                self._hold("standard error", what, found)
                return

    def _add(
        self, row: int, cell: str, check: Check, printed: str, recomputed: str, half: float
    ) -> None:
        misprint = Misprint(
            row=self.table.rows[row], cell=cell, check=check, printed=printed,
            recomputed=recomputed, allowed=f"\u00b1{half:.2g}",
        )  # fmt: skip
        self.misprints.append((row, misprint))


def _n_fitting(found: Sequence[_Misfit]) -> int:
    return sum(each.fits for each in found)


def _is_relation(n: int, off: int) -> bool:
    return n - off >= _FEWEST and n - off >= _HOLDS * n


def _wholes(cell: Printed, n: int, top: float) -> range:
    """Return the whole numbers k for which k / n prints like the cell."""
    low, high = cell.low / top * n, cell.high / top * n
    return range(max(math.ceil(low - _HAIR * n), 0), min(math.floor(high + _HAIR * n), n) + 1)


def _chance(cell: Printed, n: int, top: float) -> float:
    """Return the probability that a value other than k/n prints like one."""
    return min(1.0, 2 * cell.half * n / top)


def _tail(fitted: int, n: int, chance: float) -> float:
    """Return the probability of at least ``fitted`` of n, each with this chance."""
    if fitted <= 0 or chance >= 1:
        return 1.0
    return float(special.betainc(fitted, n - fitted + 1, chance))


def _segments(counts: Sequence[int], total: int) -> Iterator[tuple[int, int]]:
    """Yield the runs of adjacent groups that together hold all items."""
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


_OfTwo: TypeAlias = Callable[[_Range, _Range], _Range | None]


# Numbers that follow from two others: description, kinds (the number's own first),
# formula, and whether it applies to shares.
_FOLLOWS: Mapping[Check, tuple[str, tuple[str, str, str], _OfTwo, bool]] = {
    "CGA": (
        "CGA = CO / (CO + IN)", ("correct given attempted", "correct", "incorrect"), _cga, True,
    ),
    "F": ("F = 2 CO / (1 + CO + IN)", ("f1", "correct", "incorrect"), _f_of, True),
    "F1": ("F1 = 2PR / (P + R)", ("f1", "precision", "recall"), _harmonic, True),
    "CV": ("{} = 100 {} / {}", ("cv", "sd", "mean"), _hundredfold, False),
    "range": ("{} = {} - {}", ("range", "max", "min"), _minus, False),
}  # fmt: skip


# Sections on the consistency of printed numbers and on metrics other than the score.


_MOST_NAMED = 5


_SAYS: Mapping[Check, str] = {
    "k/n": noted("not k/n for a whole number of items"),
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
    """Return every check of printed numbers and each misprint by row and cell; None without
    checks."""
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
    return say(
        "Not checked, because too few rows fit: {checks}.", checks=listed(open_to, _MOST_NAMED)
    )


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
        column(
            "holds", say("relation holds"), lambda each: say("yes") if each.holds else say("no")
        ),
    )


def metrics_section(evidence: Evidence) -> Section | None:
    """Return the other metrics of each model as in the file; None without any."""
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
            "Models are ranked by one column. The line 'read' names it and "
            "gives the reason. Use --score-col to choose another."
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
