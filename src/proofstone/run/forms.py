"""The forms and runs that targets mean, and forms composed from a bank without its retired facts.

Which facts were retired by then stands in a form's recipe, and so in its id: the same command gives
another form once something else is retired, and an old form is always composed as it was.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from proofstone.errors import BadInput, BadUsage, NotFound
from proofstone.files.tables import SUFFIXES, RowReader
from proofstone.method import USUAL_METHOD, Method, every_method, find_method
from proofstone.models.retries import SystemClock
from proofstone.records.calls import Clock
from proofstone.records.ids import canonical_json, content_id, short
from proofstone.records.items import (
    CONTEXT,
    CONTEXT_CHUNKS,
    CONTEXT_EMBEDDING_MODEL,
    CONTEXT_SEARCH,
    CONTEXT_SETTINGS,
    CONTEXT_SOURCE,
    CONTEXT_TOKENS,
    PROMPT,
    PROMPT_NAME,
    ItemSet,
    PromptMethod,
    composed_set_id,
    shown_name,
)
from proofstone.records.knowledge import BankReader, Fact
from proofstone.records.runs import ANSWER_FORMAT, Run
from proofstone.store.lookup import Found
from proofstone.store.store import Store

WITHOUT = "without"  # in a recipe: ids of the bank's facts that were left out, in hexadecimal


@dataclass(slots=True)
class _Fewer:
    """A bank without some of its facts."""

    id: bytes
    name: str
    kept: Sequence[Fact]

    def facts(self) -> Sequence[Fact]:
        return self.kept


def excluded_facts(store: Store, bank: BankReader) -> dict[str, list[str]]:
    """What a recipe says of the bank's facts that are retired now; empty where none are."""
    excluded = store.corrections.excluded_facts(fact.id for fact in bank.facts())
    return {WITHOUT: sorted(identity.hex() for identity in excluded)} if excluded else {}


def fewer_facts(bank: BankReader, recipe: Mapping[str, Any]) -> BankReader:
    """The bank without the facts that a recipe leaves out."""
    without = {bytes.fromhex(identity) for identity in recipe.get(WITHOUT, ())}
    if not without:
        return bank
    return _Fewer(bank.id, bank.name, [fact for fact in bank.facts() if fact.id not in without])


def bank_of(store: Store, form: ItemSet) -> BankReader | None:
    """The bank that a form was composed from, without what it left out; None without one."""
    return fewer_facts(store.knowledge.bank(form.bank), form.recipe) if form.bank else None


def plain_form(form: ItemSet) -> ItemSet:
    """The form with its recipe as the method made it."""
    recipe = {name: value for name, value in form.recipe.items() if name != WITHOUT}
    return structs.replace(form, recipe=recipe)


def without_former_versions(
    store: Store, prompt_method: PromptMethod, form: ItemSet
) -> PromptMethod:
    """The way of asking a corrected form, whose worked examples come from the bank before: none may
    rest on a former version of a fact that the form's items rest on. The others stay as they are,
    so that what does not show the corrected fact is not asked anew."""
    if form.corrects is None or not prompt_method.shots:
        return prompt_method
    shown = {fact.id for example in prompt_method.shots for fact in example.facts}
    former = frozenset(store.corrections.former_facts(form.id)) & shown
    if not former:
        return prompt_method
    key = content_id("without-former-versions", [prompt_method.prompt_hash, sorted(former)])
    return structs.replace(prompt_method, unfit=former, prompt_hash=key)


def build_forms(
    store: Store,
    method: Method,
    bank: bytes,
    *,
    params: Mapping[str, Any],
    seeds: Sequence[int],
    clock: Clock,
    name: str | None = None,
) -> list[ItemSet]:
    """Composes one form a seed from a bank, without its retired facts. The same bank, seed and
    parameters, and nothing else retired: the same form.

    Raises BadUsage for parameters that cannot be, BadInput where the bank cannot make the form.
    """
    plain = method.recipe(params)
    whole = store.knowledge.bank(bank)
    recipe = {**plain, **excluded_facts(store, whole)}
    reader = fewer_facts(whole, recipe)
    forms = []
    for seed in seeds:
        identity = composed_set_id(method.name, bank, seed, recipe)
        form = ItemSet(
            id=identity, name=name or reader.name, kind="form", method=method.name, bank=bank,
            seed=seed, recipe=recipe,
        )  # fmt: skip
        try:
            forms.append(store.items.item_set(identity))
            continue
        except KeyError:
            pass
        items = list(method.compose(reader, plain, seed))
        if not items:
            raise BadInput(f"bank {short(bank)} gives no item with these parameters")
        form = msgspec.structs.replace(form, n_items=len(items))
        store.items.add_set(form, items, clock.now())
        forms.append(form)
    return forms


def forms_of(store: Store, found: Found) -> list[bytes]:
    """The item sets that a form, a bank or a run means. A bank without any gets one where its
    method asks banks as they stand, else BadUsage is raised."""
    if found.kind == "form":
        return [found.id]
    if found.kind == "run":
        return [store.runs.run(found.id)[1].item_set]
    forms = store.items.sets_of_bank(found.id)
    superseded = store.items.superseded(forms)
    forms = [form for form in forms if form not in superseded]
    if not forms:
        forms = _form_as_it_stands(store, found.id)
    if not forms:
        raise BadUsage(
            f"bank {found.name} has no form yet",
            hint=f"proofstone build form {shlex.quote(f'{found.name}-{short(found.id, 4)}')}",
        )
    return forms


def _form_as_it_stands(store: Store, bank: bytes) -> list[bytes]:
    """The form of a bank whose facts are its questions; none of any other."""
    method = find_method(store.knowledge.bank(bank).method)
    if method.bank_run is None:
        return []
    made = build_forms(store, method, bank, params={}, seeds=(0,), clock=SystemClock())
    return [form.id for form in made]


def not_run(store: Store, targets: Iterable[Found], forms: Iterable[bytes]) -> NotFound:
    """That nothing was run on targets; of ``forms`` that were corrected, which runs their former
    versions have, what is left to ask, and the commands."""
    names = ", ".join(
        f"{target.name}-{short(target.id, 4)}" if target.name else short(target.id)
        for target in targets
    )
    told = [(each, _runs_before(store, each)) for each in forms]
    said = [
        f"its {_counted(len(runs), 'run')} {'is' if len(runs) == 1 else 'are'} of the former "
        f"version {shown_name(former)}, and {_differing(store, form, former)} left to ask"
        for form, (former, runs) in told
        if former is not None
    ]
    asked = [line for form, (former, _runs) in told if former for line in _commands(store, form)]
    return NotFound(
        "; ".join([f"nothing was run on {names} yet", *said]),
        hint="\n  ".join(asked) or "proofstone run TARGET -m MODEL",
    )


class Selection(Struct, frozen=True, kw_only=True):
    """The item sets that a target means, and the runs on them with their keys."""

    item_sets: tuple[ItemSet, ...]
    runs: tuple[tuple[int, Run], ...]

    @property
    def method(self) -> str:
        """The name of the method that all of them share."""
        return self.item_sets[0].method


def select_runs(store: Store, targets: Sequence[Found]) -> Selection:
    """The runs that ``targets`` mean: runs, forms, or banks (all forms of one recipe).

    Raises BadUsage where they cannot stand in one table, NotFound where nothing was run.
    """
    chosen: dict[bytes, tuple[int, Run]] = {}
    sets: dict[bytes, ItemSet] = {}
    for target in targets:
        if target.kind == "run":
            key, run = store.runs.run(target.id)
            chosen[run.id] = (key, run)
            sets[run.item_set] = store.items.item_set(run.item_set)
            continue
        found = [target.id] if target.kind == "form" else _forms_of_bank(store, target)
        sets |= {identity: store.items.item_set(identity) for identity in found}
        chosen |= {run.id: (key, run) for key, run in store.runs.of_sets(found)}
    if len({item_set.method for item_set in sets.values()}) > 1:
        raise BadUsage("these targets belong to different methods; name those of one")
    _refuse_several_recipes(list(sets.values()))
    if not chosen:
        raise not_run(store, targets, sets)
    return Selection(item_sets=tuple(sets.values()), runs=tuple(chosen.values()))


def _forms_of_bank(store: Store, bank: Found) -> list[bytes]:
    forms = [store.items.item_set(identity) for identity in store.items.sets_of_bank(bank.id)]
    asked = {run.item_set for _key, run in store.runs.of_sets([form.id for form in forms])}
    forms = [form for form in forms if form.id in asked] or forms
    superseded = store.items.superseded([form.id for form in forms])
    forms = [form for form in forms if form.id not in superseded]
    return [form.id for form in forms]


def _refuse_several_recipes(forms: Sequence[ItemSet]) -> None:
    """What a bank is asked by one recipe says nothing of what it is asked by another: numbers of
    choices, ways of posing, facts retired in between."""
    by_bank: dict[bytes, list[ItemSet]] = {}
    for form in forms:
        if form.bank is not None:
            by_bank.setdefault(form.bank, []).append(form)
    for of_bank in by_bank.values():
        recipes = {canonical_json(form.recipe) for form in of_bank}
        if len(recipes) > 1:
            names = ", ".join(shown_name(form) for form in of_bank[:10])
            raise BadUsage(
                f"these forms of one bank are of {len(recipes)} recipes, which do not add up",
                hint=f"name those of one: {names}",
            )


def newer_forms(store: Store, item_sets: Sequence[ItemSet]) -> tuple[str, ...]:
    """A sentence on each of these sets that was corrected, naming its newer versions."""
    said = []
    for item_set in item_sets:
        found = store.lookup.find(f"form:{item_set.id.hex()}")
        newer = store.corrections.newer("form", found.key)
        if newer:
            names = ", ".join(shown_name(store.items.item_set(identity)) for identity in newer)
            said.append(f"{shown_name(item_set)} was corrected; the newer version: {names}")
            said += _left_to_ask(store, newer)
    return tuple(said)


def run_again(store: Store, form: bytes) -> list[str]:
    """The options of ``run`` by which a corrected form is asked as the version before it that was
    asked last, one a way of asking: its models and all settings that are not the method's own.
    Empty where none was."""
    former, runs = _runs_before(store, form)
    limits = store.runs.limits([key for key, _run in runs])
    models: dict[str, list[str]] = {}
    for key, run in runs:
        limit = limits.get(key)
        is_part = former is not None and limit is not None and limit < former.n_items
        asked = _options(store, run) + (f" --limit {limit}" if is_part else "")
        models.setdefault(asked, []).append(run.respondent)
    return [
        f"-m {shlex.quote(','.join(dict.fromkeys(names)))}{asked}"
        for asked, names in models.items()
    ]


_PLAIN = {"temperature": "temperature", "max_tokens": "max-tokens",
          "reasoning_effort": "reasoning-effort", "thinking": "thinking",
          ANSWER_FORMAT: "answer-format"}  # fmt: skip


_CONTEXT = {CONTEXT: "context", CONTEXT_TOKENS: "context-tokens", CONTEXT_CHUNKS: "context-chunks",
            CONTEXT_SEARCH: "context-search", CONTEXT_SOURCE: "context-source",
            CONTEXT_EMBEDDING_MODEL: "embedding_model"}  # fmt: skip


def _options(store: Store, run: Run) -> str:
    """How a run was asked, as options of ``run``."""
    settings = run.settings
    asked = (
        ""
        if run.prompt_method == "direct"
        else f" --prompt-method {shlex.quote(run.prompt_method)}"
    )
    for name, usual in (("shots", 0), ("samples", 1)):
        value = settings.get(name, usual)
        asked += f" --{name} {value}" if value != usual else ""
    if name := settings.get(PROMPT_NAME, ""):
        file = store.own_prompts.file(bytes.fromhex(settings[PROMPT]))
        asked += f" --prompt-template {shlex.quote(name if file is None else _from_here(file))}"
    for name, option in _CONTEXT.items():
        asked += f" --{option} {shlex.quote(str(settings[name]))}" if name in settings else ""
    usual_ones = find_method(run.method).settings(run.prompt_method)
    ours = {"shots", "samples", "endpoint", PROMPT, PROMPT_NAME, *CONTEXT_SETTINGS}
    for name in sorted({*settings, *usual_ones} - ours):
        value = settings.get(name)
        # Thinking makes room for itself, unless the length is named.
        if value == usual_ones.get(name) and not (name == "max_tokens" and "thinking" in settings):
            continue
        if name in _PLAIN and value is not None:
            asked += f" --{_PLAIN[name]} {shlex.quote(str(value))}"
        else:
            asked += f" --set {shlex.quote(f'{name}={json.dumps(value, ensure_ascii=False)}')}"
    return asked + (f" --replicate {shlex.quote(run.replicate)}" if run.replicate else "")


def _from_here(file: Path) -> str:
    """A file as a command names it: from the current folder where it lies below it."""
    here = Path.cwd().resolve()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)


def _runs_before(store: Store, form: bytes) -> tuple[ItemSet | None, list[tuple[int, Run]]]:
    """The newest former version of a form on which something was run, with its runs."""
    former = store.items.item_set(form).corrects
    while former is not None:
        found = store.items.item_set(former)
        if runs := store.runs.of_sets([former]):
            return found, runs
        former = found.corrects
    return None, []


def _left_to_ask(store: Store, forms: Sequence[bytes]) -> Iterator[str]:
    """Of corrected forms on which nothing was run yet, what is left to ask, and the commands."""
    asked = {run.item_set for _key, run in store.runs.of_sets(forms)}
    for form in forms:
        former, _runs = _runs_before(store, form)
        if form not in asked and former is not None:
            name = shown_name(store.items.item_set(form))
            yield (
                f"nothing was run on {name} yet; {_differing(store, form, former)} left to ask: "
                + "; ".join(_commands(store, form))
            )


def _differing(store: Store, form: bytes, former: ItemSet) -> str:
    n_items = store.items.item_set(form).n_items
    now = {item for _place, item in store.items.places(form, -1, n_items)}
    then = {item for _place, item in store.items.places(former.id, -1, former.n_items)}
    n = len(now - then)
    return f"{n:,} of {_counted(n_items, 'item')} {'is' if n == 1 else 'are'}"


def _commands(store: Store, form: bytes) -> list[str]:
    name = shlex.quote(shown_name(store.items.item_set(form)))
    return [f"proofstone run {name} {options}" for options in run_again(store, form)]


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


# Files of questions: which method reads one as items or as facts, and ``run FILE``.

_LOOKED_AT = 20  # rows whose columns tell what a file holds


def is_question_file(target: str) -> bool:
    """Whether a target is a file of rows; no form or bank is named so."""
    path = Path(target)
    suffix = path.suffixes[-2:][0] if path.suffix == ".gz" else path.suffix
    return suffix.lower() in SUFFIXES and path.is_file()


def method_of_bank_file(path: Path, *, encoding: str = "") -> str:
    """The name of the method that reads a file as facts, by its columns; the usual one where none
    says so. Raises BadUsage where several do, and what reading raises."""
    columns = file_columns(path, encoding=encoding)
    found = [method.name for method in every_method() if method.recognises_facts(columns)]
    if len(found) > 1:
        raise _ambiguous(path, found, "bank")
    return found[0] if found else USUAL_METHOD


def method_of_reference(path: Path, *, encoding: str = "") -> str:
    """The name of the method that reads a file as a reference. Raises BadInput where it says
    nothing of what it names, and what reading raises."""
    reader = RowReader(path, encoding=encoding)
    columns = _columns(reader)
    known = [each for each in every_method() if each.verifying is not None]
    for method in known:
        if method.verifying is not None and method.verifying.has_reference(columns):
            return method.name
    wanted = "; or ".join(each.verifying.reference_columns for each in known if each.verifying)
    raise BadInput(
        f"{path} holds no reference: its columns are {', '.join(columns) or 'none'}",
        reader.problems,
        hint=f"expected {wanted}",
    )


def method_of_list(called: str) -> str:
    """The name of the method whose items are called so. Raises NotFound where there is none."""
    found = [method.name for method in every_method() if method.items_called == called]
    if not found:
        raise NotFound(f"no method that is installed asks of {called}")
    return found[0]


def method_of_file(path: Path, *, otherwise: str = "", encoding: str = "") -> str:
    """The name of the method that reads the questions of a file, by its columns; ``otherwise``
    where none does.

    Raises BadInput where there is none, BadUsage where several would, and what reading raises.
    """
    reader = RowReader(path, encoding=encoding)
    columns = _columns(reader)
    found = [method.name for method in every_method() if method.recognises(columns)]
    if not found and otherwise:
        return otherwise
    if not columns:
        raise BadInput(f"{path} holds no questions", reader.problems)
    if len(found) > 1:
        raise _ambiguous(path, found, "form")
    if not found:
        raise BadInput(
            f"{path} holds no questions that are known here: its columns are {', '.join(columns)}",
            hint="expected question and answer; or question, options and answer; "
            "of entities: proofstone import FILE --as entities",
        )
    return found[0]


def file_columns(path: Path, *, encoding: str = "") -> dict[str, None]:
    """Return the columns of a file's first rows. Raises what reading raises."""
    return _columns(RowReader(path, encoding=encoding))


def _columns(reader: RowReader) -> dict[str, None]:
    """The columns of the first rows, each once."""
    return {name: None for row in islice(reader, _LOOKED_AT) for name in row.values}


def _ambiguous(path: Path, found: Sequence[str], kind: str) -> BadUsage:
    return BadUsage(
        f"{path} could be read by {' and '.join(found)}",
        hint=f"say which: proofstone import FILE --as {kind} --method NAME",
    )
