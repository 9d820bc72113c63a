"""Combine the scores of one or several tables into one score table."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from proofstone.records.runs import OUTCOMES
from proofstone.records.scores import Coded, Respondent, ScoreTable, TextCodes, coded_texts
from proofstone.results.audit.cells import CELLS, Problems, read_numbers
from proofstone.results.audit.column_names import Layout
from proofstone.results.audit.scores import (
    NamedRole,
    ScoresIn,
    cluster_edges,
    column_of,
    fact_of_items,
    held_roles,
    option_counts,
    text_codes,
)

# Map answers to options that were shown in several orders to the original order.
#
# An order lists the original option at each position: ``CADB``, ``C,A,D,B``,
# ``3 1 4 2`` (from 1), ``2,0,3,1`` (from 0) or a JSON list. Letters then mean the same option in
# every record. Any other value only names an order: the meaning of its letters is not known.

_LETTERS = string.ascii_uppercase


@dataclass(frozen=True, slots=True)
class Orders:
    """Order of each of S scores as a code of ``names``, -1 if not recorded.

    ``spelled``: each name lists the original letters in the order shown.
    """

    codes: NDArray[np.int32]
    names: tuple[str, ...]
    spelled: bool


def in_original_order(parts: Sequence[ScoresIn]) -> tuple[list[ScoresIn], Orders | None]:
    """Return the parts with answers and answer keys in the original order, and the order of each
    score.

    The second value is None if no part has a column of orders. Answer keys that differ between
    records of an item refer to the order shown, otherwise to the original. If orders are only
    named, differing answer keys are omitted.
    """
    if not any(part.layout.order for part in parts):
        return list(parts), None
    names = {name for part in parts for name in column_of(part.table, part.layout.order).names}
    found = {name: _spelled(name) for name in names}
    spelled = bool(found) and all(found.values())
    shown = {name: text if spelled else name for name, text in found.items()}
    of_records = [_orders(part, shown) for part in parts]
    of_scores = (
        own[record]
        for part, own in zip(parts, of_records, strict=True)
        for record in part.record.tolist()
    )
    orders = coded_texts(list(of_scores))
    read = [_original(part, own, spelled) for part, own in zip(parts, of_records, strict=True)]
    return read, Orders(orders.codes, orders.names, spelled)


def _spelled(name: str) -> str:
    """Return an order as letters; empty if the text does not spell one."""
    tokens = _tokens(name.strip())
    n = len(tokens)
    if not 2 <= n <= len(_LETTERS):
        return ""
    for places in (_LETTERS[:n], [str(i) for i in range(n)], [str(i + 1) for i in range(n)]):
        if sorted(tokens) == sorted(places):
            return "".join(_LETTERS[list(places).index(token)] for token in tokens)
    return ""


def _tokens(text: str) -> list[str]:
    if text.startswith("["):
        try:
            listed = msgspec.json.decode(text, type=list[str | int])
        except msgspec.DecodeError:
            return []
        return [str(each).strip().upper() for each in listed]
    if text.isalpha():
        return list(text.upper())
    return [token for token in re.split(r"[\s,;|>-]+", text.upper()) if token]


def _orders(part: ScoresIn, shown: dict[str, str]) -> list[str]:
    """Return the order of each record, empty if not recorded."""
    column = column_of(part.table, part.layout.order)
    names = [*(shown[name] for name in column.names), ""]
    return [names[code] for code in column.codes.tolist()]


def _original(part: ScoresIn, orders: Sequence[str], spelled: bool) -> ScoresIn:
    layout, columns = part.layout, dict(part.table.columns)
    moves = layout.answer_key and _differ(part, columns[layout.answer_key])
    if spelled and layout.answer:
        columns[layout.answer] = _moved(columns[layout.answer], orders)
    if spelled and moves:
        columns[layout.answer_key] = _moved(columns[layout.answer_key], orders)
    elif moves:
        layout = structs.replace(layout, answer_key="")
    return replace(part, table=replace(part.table, columns=columns), layout=layout)


def _differ(part: ScoresIn, answer_key: Coded) -> bool:
    """Return True if records of one item have different answer keys."""
    item = part.table.columns[part.layout.item].codes.astype(np.int64)
    known = (item >= 0) & (answer_key.codes >= 0)
    pairs = np.unique(item[known] * (len(answer_key.names) + 1) + answer_key.codes[known])
    return len(pairs) > len(np.unique(item[known]))


def _moved(column: Coded, orders: Sequence[str]) -> Coded:
    """Map letters of shown positions to original letters.

    Other texts become missing answers. A record without an order keeps its letter.
    """
    texts = [*column.names, ""]
    return coded_texts(
        [
            _letter(texts[code], order)
            for code, order in zip(column.codes.tolist(), orders, strict=True)
        ]
    )


def _letter(text: str, order: str) -> str:
    if not order or not text:
        return text
    letter = text.strip().strip("().").upper()
    place = _LETTERS.find(letter) if len(letter) == 1 else -1
    return order[place] if 0 <= place < len(order) else ""


_TRUE = {"true", "1", "yes"}


def assemble(
    parts: Sequence[ScoresIn], *, complete_from: float = 0.95, roles_held: Sequence[NamedRole] = ()
) -> ScoreTable:
    """Return one score table of all parts; items with equal names are the same.

    A model is complete, and therefore ranked, with at least the share ``complete_from`` of its
    items' scores. Raises one BadInput with all invalid scores, scores repeated for an item, model
    and sample, records that disagree about their item, and unknown outcomes. ``roles_held`` are the
    roles of models in the items.
    """
    problems = Problems([part.table for part in parts])
    for number, part in enumerate(parts):
        for cell in part.wrong:
            problems.add(number, cell.record, cell.what, column=cell.column, hint=CELLS)
    parts, orders = in_original_order(parts)
    items = TextCodes()
    units = [text_codes(column_of(part.table, part.layout.item), items) for part in parts]
    unit = np.concatenate([own[part.record] for part, own in zip(parts, units, strict=True)])
    who, respondents = _respondents(parts)
    sample = _samples(parts)
    if orders is not None and not any(part.layout.sample for part in parts):
        sample = _again(unit, who)
    _note_repeats(parts, unit, who, sample, problems)
    n_units = len(items.names())
    facts = {
        name: fact_of_items(parts, units, name, n_units, problems)
        for name in dict.fromkeys(
            [
                *(name for part in parts for name in _fact_columns(part.layout)),
                *(role.column for role in roles_held if role.column),
            ]
        )
    }
    outcome = _outcomes(parts, problems)
    problems.refuse()
    strata = {name: facts[name] for part in parts for name in part.layout.strata}
    key_columns = list(dict.fromkeys(name for part in parts for name in part.layout.clusters))
    edges = cluster_edges([facts[name] for name in key_columns])
    answer_key = _letters(
        [facts[part.layout.answer_key] for part in parts if part.layout.answer_key], n_units
    )
    options = [facts[part.layout.options] for part in parts if part.layout.options]
    answer = _answers(parts)
    return ScoreTable(
        respondents=respondents,
        unit=unit.astype(np.int32),
        respondent=who,
        sample=sample,
        outcome=outcome,
        value=np.concatenate([part.value for part in parts]),
        answer=answer.codes,
        answers=answer.names,
        items=tuple(name.encode() for name in items.names()),
        strata={name: _known(fact).codes for name, fact in strata.items()},
        stratum_names={name: _known(fact).names for name, fact in strata.items()},
        answer_key=answer_key.codes,
        answer_keys=answer_key.names,
        n_options=option_counts(options[0]) if options else _shown_options(orders, unit, n_units),
        form=np.zeros(n_units, dtype=np.int32),
        forms=(", ".join(dict.fromkeys(part.table.name for part in parts)),),
        cluster_unit=edges.unit,
        cluster_key=edges.key,
        key_names=dict(enumerate(edges.names)),
        key_columns=tuple(key_columns),
        order=None if orders is None else orders.codes,
        orders=() if orders is None else orders.names,
        orders_spelled=orders is not None and orders.spelled,
        expected=_expected(unit, who, sample, len(respondents), complete_from),
        roles=tuple(held_roles(roles_held, facts, n_units)),
        item_names=items.names(),
        item_texts=_texts(parts, units, n_units),
        tells_outcomes=any(part.layout.outcome for part in parts),
        unknown_outcomes=tuple(
            dict.fromkeys(name for part in parts for name in part.layout.unknown_outcomes)
        ),
        confidence=_confidence(parts),
        tokens=_numbers(parts, "tokens"),
    )


def _texts(
    parts: Sequence[ScoresIn], units: Sequence[NDArray[np.int64]], n_units: int
) -> tuple[str, ...]:
    """Return the question of each item from its first record that has one; empty without any."""
    if not any(part.layout.question for part in parts):
        return ()
    found = [""] * n_units
    for part, unit in zip(parts, units, strict=True):
        column = column_of(part.table, part.layout.question)
        told = np.flatnonzero((column.codes >= 0) & (unit >= 0))
        at, first = np.unique(unit[told], return_index=True)
        for place, record in zip(at.tolist(), told[first].tolist(), strict=True):
            found[place] = found[place] or column.names[int(column.codes[record])]
    return tuple(found)


def _fact_columns(layout: Layout) -> Iterator[str]:
    yield from (*layout.strata, *layout.clusters)
    yield from (name for name in (layout.answer_key, layout.options) if name)


def _by_score(parts: Sequence[ScoresIn], role: str, names: TextCodes) -> NDArray[np.int64]:
    columns = [column_of(part.table, getattr(part.layout, role)) for part in parts]
    return np.concatenate(
        [
            text_codes(column, names)[part.record]
            for part, column in zip(parts, columns, strict=True)
        ]
    )


def _respondents(
    parts: Sequence[ScoresIn],
) -> tuple[NDArray[np.int32], tuple[Respondent, ...]]:
    """Return the model of each score, in order of first appearance, and the models."""
    models, prompt_methods, marks, judges = TextCodes(), TextCodes(), TextCodes(), TextCodes()
    model = np.concatenate([text_codes(part.model, models) for part in parts])
    prompt_method, mark = (
        _by_score(parts, "prompt_method", prompt_methods),
        _by_score(parts, "simulated", marks),
    )
    judge = _by_score(parts, "grader", judges)
    simulated = np.array([*(text.lower() in _TRUE for text in marks.names()), False])[mark]
    key = (model * (len(prompt_methods) + 1) + prompt_method + 1) * 2 + simulated
    key = key * (len(judges) + 1) + judge + 1
    _, first, code = np.unique(key, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    names, prompt_method_names, judge_names = (
        models.names(),
        (*prompt_methods.names(), ""),
        (*judges.names(), ""),
    )
    found = tuple(
        Respondent(
            name=names[model[score]],
            prompt_method=prompt_method_names[prompt_method[score]],
            simulated=bool(simulated[score]),
            judge=judge_names[judge[score]],
        )
        for score in first[order].tolist()
    )
    return rank[code].astype(np.int32), found


def _samples(parts: Sequence[ScoresIn]) -> NDArray[np.int32]:
    """Return the sample of each score from 0, in numerical order of their names."""
    names = TextCodes()
    code = _by_score(parts, "sample", names)
    known = names.names()
    order = sorted(range(len(known)), key=lambda place_of: _natural(known[place_of]))
    rank = np.zeros(len(known) + 1, dtype=np.int32)
    rank[order] = np.arange(len(known))
    return np.asarray(rank[code])


def _again(unit: NDArray[np.int64], who: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the sample of each score from 0, counting earlier scores of its item and model.

    It is used if each row of an item and model has another order of options.
    """
    key = unit * (int(who.max(initial=0)) + 1) + who
    order = np.argsort(key, kind="stable")
    _, first, place = np.unique(key[order], return_index=True, return_inverse=True)
    counted = np.empty(len(key), dtype=np.int32)
    counted[order] = np.arange(len(key)) - first[place]
    return counted


def _shown_options(
    orders: Orders | None, unit: NDArray[np.int64], n_units: int
) -> NDArray[np.int32]:
    """Return the number of options of each unit from the orders shown; 0 if not recorded."""
    counts = np.zeros(n_units, dtype=np.int32)
    if orders is not None and orders.spelled:
        lengths = np.array([*map(len, orders.names), 0], dtype=np.int32)
        np.maximum.at(counts, unit, lengths[orders.codes])
    return counts


def _natural(name: str) -> list[tuple[int, int, str]]:
    return [
        (0, int(part), "") if part.isdecimal() else (1, 0, part)
        for part in re.split(r"(\d+)", name)
        if part
    ]


def _note_repeats(
    parts: Sequence[ScoresIn],
    unit: NDArray[np.int64],
    who: NDArray[np.int32],
    sample: NDArray[np.int32],
    problems: Problems,
) -> None:
    """Record repetitions of an item, model and sample, with the first place."""
    n_who, n_samples = int(who.max(initial=0)) + 1, int(sample.max(initial=0)) + 1
    key = (unit * n_who + who) * n_samples + sample
    order = np.argsort(key, kind="stable")
    again = order[1:][key[order][1:] == key[order][:-1]]
    if not len(again):
        return
    first = dict(zip(key[order][::-1].tolist(), order[::-1].tolist(), strict=True))
    offsets = np.cumsum([0, *(len(part.value) for part in parts)])
    for score in sorted(again.tolist()):
        number, record = _record_of(parts, offsets, score)
        at = problems.where(*_record_of(parts, offsets, first[int(key[score])]))
        part = parts[number]
        item = part.table.columns[part.layout.item]
        model = part.model.names[part.model.codes[score - int(offsets[number])]]
        what = f"item {item.names[item.codes[record]]}, model {model}, as at {at}"
        problems.add(number, record, what, hint=_repeat_hint(parts))


def _record_of(
    parts: Sequence[ScoresIn], offsets: NDArray[np.int64], score: int
) -> tuple[int, int]:
    """Return the number of the part that holds a score, and its record there."""
    number = int(np.searchsorted(offsets, score, side="right")) - 1
    return number, int(parts[number].record[score - int(offsets[number])])


def _repeat_hint(parts: Sequence[ScoresIn]) -> str:
    if len(parts) > 1:
        return (
            "name only one of two files that hold the same scores, such as an older log of a run; "
            "if each file is a separate benchmark: audit --benchmarks"
        )
    if parts[0].layout.sample:
        return "each item, model and sample may have only one score"
    return "if items were asked several times, name the column that counts it: --sample-col COLUMN"


def _outcomes(parts: Sequence[ScoresIn], problems: Problems) -> NDArray[np.int8]:
    """Return the outcome of each score from its column, otherwise answered."""
    found = []
    expected = f"expected one of {', '.join(OUTCOMES)}"
    for number, part in enumerate(parts):
        column = column_of(part.table, part.layout.outcome)
        wrong = [code for code, name in enumerate(column.names) if name not in OUTCOMES]
        for record in np.flatnonzero(np.isin(column.codes, wrong)).tolist():
            problems.add(number, record, expected, column=part.layout.outcome, hint=CELLS)
        known = [name if name in OUTCOMES else OUTCOMES[0] for name in column.names]
        codes_of = np.array([*(OUTCOMES.index(name) for name in known), 0], dtype=np.int8)
        found.append(codes_of[column.codes[part.record]])
    return np.concatenate(found)


def _answers(parts: Sequence[ScoresIn]) -> Coded:
    names = TextCodes()
    code = _by_score(parts, "answer", names)
    return _known(Coded(code.astype(np.int32), names.names()))


def _confidence(parts: Sequence[ScoresIn]) -> NDArray[np.float64] | None:
    """Return stated confidence in [0, 1]; percentages, detected by any value above 1, are
    divided."""
    found = _numbers(parts, "certainty")
    if found is None:
        return None
    most = 100.0 if np.nanmax(found) > 1 else 1.0
    return np.where((found >= 0) & (found <= most), found / most, np.nan)


def _numbers(parts: Sequence[ScoresIn], role: str) -> NDArray[np.float64] | None:
    """Return a column of numbers by score; None if no part has it."""
    columns = [column_of(part.table, getattr(part.layout, role)) for part in parts]
    numbers = [
        read_numbers(column)[part.record] for part, column in zip(parts, columns, strict=True)
    ]
    found = np.concatenate(numbers)
    return None if np.isnan(found).all() else found


def _known(fact: Coded) -> Coded:
    """Return the codes with an empty name for missing values, so that no code is negative."""
    missing = fact.codes < 0
    if not missing.any():
        return fact
    return Coded(np.where(missing, len(fact.names), fact.codes).astype(np.int32), (*fact.names, ""))


def _letters(facts: Sequence[Coded], n_units: int) -> Coded:
    """Return the answer keys if all are single letters or digits; a longer one is not a
    position."""
    if facts and all(len(name.strip()) == 1 for name in facts[0].names):
        return _known(facts[0])
    return Coded(np.zeros(n_units, dtype=np.int32), ("",))


def _expected(
    unit: NDArray[np.int64],
    who: NDArray[np.int32],
    sample: NDArray[np.int32],
    n_who: int,
    complete_from: float,
) -> NDArray[np.int64]:
    """Return the expected number of scores of each model: all samples of all items.

    A model with at least the share ``complete_from`` of them is expected to have what it has.
    """
    n_units = int(unit.max()) + 1
    pairs = np.unique(who.astype(np.int64) * (int(sample.max()) + 1) + sample)
    samples = np.bincount(pairs // (int(sample.max()) + 1), minlength=n_who)
    full = samples * n_units
    there = np.bincount(who, minlength=n_who)
    return np.where(there >= complete_from * full, there, full).astype(np.int64)
