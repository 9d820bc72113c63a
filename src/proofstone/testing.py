"""Check a custom method against the contract of ``docs/tutorials/write-a-method.md``.

``check_method(METHOD, facts=rows)`` runs a method through everything that commands do with it:
facts from rows, forms, each prompting method, scores, export and import. Scripted responses replace
a model, and no workspace is needed.
"""

from __future__ import annotations

import asyncio
import collections.abc
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from functools import partial
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import structs

from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.ingest.bank_files import identified_facts, item_row, read_item_rows
from proofstone.method import Method, PayloadType
from proofstone.records.calls import Message
from proofstone.records.ids import canonical_json
from proofstone.records.items import (
    Item,
    ItemSet,
    LoadedItem,
    Oracle,
    Unit,
    identified_item,
    item_id,
)
from proofstone.records.knowledge import BuiltFact, Fact, fact_id
from proofstone.records.runs import OUTCOMES, Response, Score
from proofstone.records.tables import Row

__all__ = ["check_method"]


Values = Mapping[str, Any]


# Incorrect responses; none of them may be scored as an answer.
_NO_ANSWER = {
    "an empty response": Response(text="", finish="stop"),
    "a cut response": Response(text="", finish="length"),
    "a refusal": Response(text="", finish="stop", refusal="I cannot help with that."),
}


_N_ASKED = 5  # items per prompting method


def check_method(
    method: Method,
    *,
    facts: Iterable[Values] = (),
    items: Iterable[Values] = (),
    **parameters: Any,
) -> None:
    """Raise BadInput listing every breach of the contract, each with its location.

    ``facts`` are rows for the method's ``read_facts``, of which a form is composed with
    ``parameters``. ``items`` are rows for ``read_items``. At least one of the two is required.
    """
    found = _Found()
    found.check("shape", lambda: _shape(method))
    rows, item_rows = list(facts), list(items)
    if not rows and not item_rows:
        raise BadUsage("nothing to check the method with", hint="check_method(METHOD, facts=rows)")
    loaded: list[LoadedItem] = []
    bank: _Bank | None = None
    if rows:
        built = found.check("read_facts", lambda: _facts(method, rows)) or []
        bank = _Bank(tuple(each.fact for each in built))
        if built:
            recipe = found.value("recipe", lambda: method.recipe(parameters), {})
            composed = found.check("compose", lambda: _composed(method, bank, recipe)) or []
            loaded += composed
            found.check("export", lambda: _comes_back(method, composed, built))
    if item_rows:
        read = found.check("read_items", lambda: _items(method, item_rows)) or []
        loaded += read
        found.check("export", lambda: _comes_back(method, read, ()))
    item_set = ItemSet(name="checked", kind="form", method=method.name, n_items=len(loaded))
    asked = [
        found.check(
            f"prompting method {name}", partial(_asked, method, name, item_set, bank, loaded)
        )
        for name in (method.prompt_methods if loaded else ())
    ]
    if asked and all(each is False for each in asked):
        found.problems.append(Problem("prepare", "no prompting method fits these items"))
    found.check("show", lambda: _shown(method, loaded))
    if found.problems:
        raise BadInput(
            f"method {method.name} breaks the contract in {len(found.problems)} places",
            found.problems,
            hint="docs/tutorials/write-a-method.md describes the contract of each part",
        )


class _BreachError(Exception):
    """Hold the breaches that a check found."""

    def __init__(self, found: Iterable[str]) -> None:
        super().__init__()
        self.found = list(found)


@dataclass
class _Found:
    """Collect breaches. A part that raises is one breach, and the next part is checked."""

    problems: list[Problem] = field(default_factory=list)

    def check(self, where: str, part: Callable[[], Iterator[str] | tuple[Any, list[str]]]) -> Any:
        """Run one part of the check and return its value; breaches are recorded."""
        try:
            told = part()
            value, breaches = told if isinstance(told, tuple) else (None, list(told))
        except Exception as error:  # noqa: BLE001 - whatever a method raises is told, not passed on
            problems = error.problems if isinstance(error, BadInput) else ()
            more = "".join(f"; {each.where}: {each.what}" for each in problems)
            self.problems.append(Problem(where, f"raises {type(error).__name__}: {error}{more}"))
            return None
        self.problems += [Problem(where, breach) for breach in breaches]
        return value

    def value(self, where: str, part: Callable[[], Any], otherwise: Any) -> Any:
        """Return the value of one call, or ``otherwise`` if it raises."""
        got = self.check(where, lambda: (part(), []))
        return otherwise if got is None else got


@dataclass
class _Bank:
    """Hold a bank in memory, with facts in the order of their ids as in the store."""

    kept: tuple[Fact, ...]
    id: bytes = b""
    name: str = "checked"

    def facts(self) -> Sequence[Fact]:
        return sorted(self.kept, key=lambda fact: fact.id)


# -------------------------------------------------------- definition of the method


def _shape(method: Method) -> Iterator[str]:
    yield from _functions(method, "")
    yield from _kinds(method)
    yield from _measures(method)


def _functions(record: Any, inside: str) -> Iterator[str]:
    """Return the fields of a method or a capability that are not functions with the expected
    parameters.
    """
    for name, kind in get_type_hints(type(record)).items():
        held = getattr(record, name)
        if is_dataclass(held):
            yield from _functions(held, f"{inside}{name}.")
        taken = _taken(kind)
        if taken is None or (held is None and type(None) in get_args(kind)):
            continue
        if not callable(held):
            yield f"has no function {inside}{name}"
        elif isinstance(taken, list) and not _takes(held, len(taken)):
            got = ", ".join(inspect.signature(held).parameters)
            yield f"{inside}{name} takes ({got}); expected {len(taken)} values"


def _taken(kind: Any) -> Any:
    """Return the parameter types of a function type, ... if unspecified, None for another type."""
    either = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    for each in either:
        if get_origin(each) is collections.abc.Callable:
            return get_args(each)[0]
    return None


def _takes(function: Callable[..., Any], n: int) -> bool:
    try:
        inspect.signature(function).bind(*[None] * n)
    except TypeError:
        return False
    return True


def _kinds(method: Method) -> Iterator[str]:
    for kind, payload in method.payloads.items():
        if not kind.startswith(f"{method.name}."):
            yield f"payload kind {kind} does not begin with '{method.name}.'"
        if payload.type.__struct_config__.tag != kind:
            yield f"the struct of {kind} has another tag; expected tag={kind!r}"
        if not payload.type.__struct_config__.frozen:
            yield f"the struct of {kind} is not frozen"


def _measures(method: Method) -> Iterator[str]:
    if method.scorer_version < 1:
        yield "scorer_version is below 1"
    if method.headline not in {measure.name for measure in method.measures}:
        yield f"the headline {method.headline!r} is none of the measures"
    for measure in method.measures:
        if set(measure.counts) != set(OUTCOMES) - {"failed"}:
            yield (
                f"measure {measure.name} must count every outcome except failed, which is not a "
                "score"
            )


# ---------------------------------------------------------------- facts and items


def _facts(method: Method, rows: Sequence[Values]) -> tuple[list[BuiltFact], list[str]]:
    given = list(method.read_facts([Row(f"row {n}", dict(row)) for n, row in enumerate(rows, 1)]))
    found = [
        f"fact {place} has an id that does not match its content; leave it empty or use fact_id"
        for place, each in enumerate(given, 1)
        if each.fact.id and each.fact.id != fact_id(each.fact)
    ]
    built = identified_facts(given)
    found += _payloads(method, [each.fact for each in built])
    by_id = {each.fact.id: each.fact for each in built}
    if len(by_id) < len(given):
        found.append(f"{len(given)} rows give {len(by_id)} different facts")
    written = [Row(f"row {n}", dict(method.write_fact(b, by_id))) for n, b in enumerate(built, 1)]
    again = identified_facts(method.read_facts(written))
    if {each.fact.id for each in again} != set(by_id):
        found.append("read_facts returns different facts for the rows that write_fact wrote")
    return built, found


def _composed(
    method: Method, bank: _Bank, recipe: Mapping[str, Any]
) -> tuple[list[LoadedItem], list[str]]:
    given = list(method.compose(bank, recipe, 1))
    found = [
        f"item {place} has an id that does not match its content; leave it empty or use item_id"
        for place, item in enumerate(given)
        if item.id and item.id != item_id(item)
    ]
    items = [identified_item(item) for item in given]
    if not items:
        found.append("compose gives no item")
    if len({item.id for item in items}) < len(items):
        found.append(f"{len(items)} items have {len({i.id for i in items})} different contents")
    if items != [identified_item(item) for item in method.compose(bank, recipe, 1)]:
        found.append("the same bank, recipe and seed give different items the second time")
    facts = {fact.id: fact for fact in bank.facts()}
    if any(fact not in facts for item in items for fact in item.facts):
        found.append("an item refers to a fact that is not in the bank")
        return [], found
    found += _payloads(method, items)
    return [LoadedItem(item, tuple(facts[each] for each in item.facts)) for item in items], found


def _items(method: Method, rows: Sequence[Values]) -> tuple[list[LoadedItem], list[str]]:
    named = [Row(f"row {n}", dict(row)) for n, row in enumerate(rows, 1)]
    read = read_item_rows(named, method, _finder(method))
    return [LoadedItem(item, ()) for item in read.items], list(_payloads(method, read.items))


def _payloads(method: Method, rows: Sequence[Fact | Item]) -> Iterator[str]:
    """Check that stored payloads are read back unchanged, and that their kinds are declared."""
    for row in rows:
        if row.kind not in method.payloads:
            yield f"kind {row.kind} is not in method.payloads"
            return
        decoded = msgspec.json.decode(canonical_json(row.payload), type=_type(method, row.kind))
        if decoded != row.payload:
            yield f"a payload of {row.kind} changes when it is stored and read"
            return


def _type(method: Method, kind: str) -> Any:
    return method.payloads[kind].type


def _finder(method: Method) -> Callable[[str], PayloadType]:
    return lambda kind: method.payloads[kind]


def _comes_back(
    method: Method, items: Sequence[LoadedItem], built: Sequence[BuiltFact]
) -> Iterator[str]:
    """Check that the exported rows give the same items on the same facts."""
    by_id = {each.fact.id: each for each in built}
    rows = [
        Row(f"row {n}", msgspec.json.decode(msgspec.json.encode(item_row(method, each, by_id))))
        for n, each in enumerate(items, 1)
    ]
    read = read_item_rows(rows, method, _finder(method))
    if [item.id for item in read.items] != [each.item.id for each in items]:
        yield "an exported form changes when it is read back (write_item, read_items)"


def _shown(method: Method, items: Sequence[LoadedItem]) -> Iterator[str]:
    for each in items[:_N_ASKED]:
        if not method.show(each).strip():
            yield "shows nothing of an item"
            return


# ------------------------------------------------------------- prompting and scoring


def _asked(
    method: Method, name: str, item_set: ItemSet, bank: _Bank | None, items: Sequence[LoadedItem]
) -> tuple[bool, list[str]]:
    """Prompt with one prompting method and score. False if ``prepare`` refuses these items."""
    try:
        method.prepare(name, 0, item_set, bank)
    except BadUsage:
        return False, []
    return True, list(_responses_scored(method, name, item_set, bank, items))


def _responses_scored(
    method: Method, name: str, item_set: ItemSet, bank: _Bank | None, items: Sequence[LoadedItem]
) -> Iterator[str]:
    if "max_tokens" not in method.settings(name):
        yield "settings has no max_tokens"
    prompt_method = method.prepare(name, 0, item_set, bank)
    if prompt_method != method.prepare(name, 0, item_set, bank):
        yield (
            "prepare returns a different prompting method the second time; the prompt hash is "
            "part of a run's id"
        )
    for loaded in items[:_N_ASKED]:
        call = _Scripted()
        asyncio.run(method.ask(loaded, prompt_method, call))
        if prompt_method.last_step not in call.responses:
            yield f"ask ends without a call of its last step {prompt_method.last_step!r}"
            return
        yield from _scored(method, loaded, call.responses)
        for what, response in _NO_ANSWER.items():
            for score in _scores(
                method, loaded, {**call.responses, prompt_method.last_step: response}
            ):
                if score.outcome == "answered" and score.value:
                    yield f"{what} counts as an answer worth {score.value:g}"
                if score.outcome != "answered" and score.value is not None:
                    yield f"{what} is {score.outcome} and has a value; only an answer has one"


def _scored(method: Method, item: LoadedItem, responses: Mapping[str, Response]) -> Iterator[str]:
    scores = _scores(method, item, responses)
    n_units = len(method.units(item, responses, 0))
    if not n_units:
        yield "units returns nothing to score for a response"
    for score in scores:
        if not 0 <= score.unit < n_units:
            yield f"a score names unit {score.unit} of {n_units}"
        if score.outcome not in OUTCOMES or score.outcome == "failed":
            yield f"a score has the outcome {score.outcome!r}"
        if score.value is not None and not 0.0 <= score.value <= 1.0:
            yield f"a score is {score.value:g}; expected 0 to 1"
    if scores != _scores(method, item, responses):
        yield "the same responses get different scores the second time"


def _scores(method: Method, item: LoadedItem, responses: Mapping[str, Response]) -> Sequence[Score]:
    units: Sequence[Unit] = method.units(item, responses, 0)
    return list(asyncio.run(_score(method, units)))


async def _score(method: Method, units: Sequence[Unit]) -> Sequence[Score]:
    return await method.score(units, None)


class _Scripted:
    """Answer every call with the oracle's correct answer, like simulated models."""

    def __init__(self) -> None:
        self.responses: dict[str, Response] = {}

    async def __call__(
        self,
        step: str,
        messages: Sequence[Message],
        *,
        oracle: Oracle | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Response:
        del messages, schema
        lines = [_right(each) for each in (oracle.parts or (oracle,))] if oracle else ["known"]
        self.responses[step] = Response(text="\n".join(lines), finish="stop")
        return structs.replace(self.responses[step])


def _right(oracle: Oracle) -> str:
    return oracle.response.replace("{choice}", oracle.answer_key)
