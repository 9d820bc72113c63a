"""Find the forms and runs of targets, and compose forms from a bank without excluded facts.

A form's recipe names the excluded facts, and so does its id. The same command gives another form
once another fact is excluded; an old form is always composed as it was.
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
from proofstone.records.runs import ANSWER_FORMAT, BLOCKED_HOSTS, REASONING_TOKENS, TOOLS, Run
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
    """Return the recipe's entry on the bank's excluded facts; empty if there are none."""
    excluded = store.corrections.excluded_facts(fact.id for fact in bank.facts())
    return {WITHOUT: sorted(identity.hex() for identity in excluded)} if excluded else {}


def fewer_facts(bank: BankReader, recipe: Mapping[str, Any]) -> BankReader:
    """Return the bank without the facts that a recipe leaves out."""
    without = {bytes.fromhex(identity) for identity in recipe.get(WITHOUT, ())}
    if not without:
        return bank
    return _Fewer(bank.id, bank.name, [fact for fact in bank.facts() if fact.id not in without])


def bank_of(store: Store, form: ItemSet) -> BankReader | None:
    """Return the bank that a form was composed from, less what it left out; None without one."""
    return fewer_facts(store.knowledge.bank(form.bank), form.recipe) if form.bank else None


def plain_form(form: ItemSet) -> ItemSet:
    """Return the form with its recipe as the method made it."""
    recipe = {name: value for name, value in form.recipe.items() if name != WITHOUT}
    return structs.replace(form, recipe=recipe)


def without_former_versions(
    store: Store, prompt_method: PromptMethod, form: ItemSet
) -> PromptMethod:
    """Return the prompting method of a corrected form, with examples of the earlier bank.

    Examples are dropped if they use a former version of a fact of the form. The others stay, so
    that prompts without the corrected fact are not asked again.
    """
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
    """Compose one form per seed from a bank, without its excluded facts.

    The same bank, seed, parameters and exclusions give the same form. Raises BadUsage for invalid
    parameters, BadInput if the bank cannot make the form.
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
    """Return the item sets of a form, a bank or a run.

    A bank without forms gets one if its method asks banks directly; otherwise BadUsage is raised.
    """
    if found.kind == "form":
        return [found.id]
    if found.kind == "run":
        return [store.runs.run(found.id)[1].item_set]
    forms = store.items.sets_of_bank(found.id)
    superseded = store.items.superseded(forms)
    forms = [form for form in forms if form not in superseded]
    if not forms:
        forms = form_as_it_stands(store, found.id)
    if not forms:
        raise BadUsage(
            f"bank {found.name} has no form yet",
            hint=f"proofstone build form {shlex.quote(f'{found.name}-{short(found.id, 4)}')}",
        )
    return forms


def form_as_it_stands(store: Store, bank: bytes) -> list[bytes]:
    """Return the form of a bank whose facts are its questions; empty for any other."""
    method = find_method(store.knowledge.bank(bank).method)
    if method.bank_run is None:
        return []
    made = build_forms(store, method, bank, params={}, seeds=(0,), clock=SystemClock())
    return [form.id for form in made]


def not_run(store: Store, targets: Iterable[Found], forms: Iterable[bytes]) -> NotFound:
    """Return the error that nothing was run on targets.

    For corrected ``forms`` it names the runs of their former versions, what is left to ask, and the
    commands.
    """
    names = ", ".join(
        f"{target.name}-{short(target.id, 4)}" if target.name else short(target.id)
        for target in targets
    )
    told = [(each, _runs_before(store, each)) for each in forms]
    said = [
        (
            f"its {_counted(len(runs), 'run')} {'is' if len(runs) == 1 else 'are'} of the former "
            f"version {shown_name(former)}, and {_differing(store, form, former)} left to ask"
        )
        for form, (former, runs) in told
        if former is not None
    ]
    asked = [line for form, (former, _runs) in told if former for line in _commands(store, form)]
    return NotFound(
        "; ".join([f"nothing was run on {names} yet", *said]),
        hint="\n  ".join(asked) or "proofstone run TARGET -m MODEL",
    )


class Selection(Struct, frozen=True, kw_only=True):
    """Hold the item sets of a target, and the runs on them with their keys."""

    item_sets: tuple[ItemSet, ...]
    runs: tuple[tuple[int, Run], ...]

    @property
    def method(self) -> str:
        """Return the name of the method that all of them share."""
        return self.item_sets[0].method


def select_runs(store: Store, targets: Sequence[Found]) -> Selection:
    """Return the runs of ``targets``: runs, forms, or banks (all forms of one recipe).

    Raises BadUsage if they cannot share one table, NotFound if nothing was run.
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
        raise BadUsage("these targets belong to different methods; name targets of one method")
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
    """Raise BadUsage for forms of several recipes, whose scores cannot be combined.

    Recipes differ in the number of choices, the question format or the excluded facts.
    """
    by_bank: dict[bytes, list[ItemSet]] = {}
    for form in forms:
        if form.bank is not None:
            by_bank.setdefault(form.bank, []).append(form)
    for of_bank in by_bank.values():
        recipes = {canonical_json(form.recipe) for form in of_bank}
        if len(recipes) > 1:
            names = ", ".join(shown_name(form) for form in of_bank[:10])
            raise BadUsage(
                f"these forms of one bank have {len(recipes)} recipes, whose scores cannot be "
                "combined",
                hint=f"name the forms of one recipe: {names}",
            )


def newer_forms(store: Store, item_sets: Sequence[ItemSet]) -> tuple[str, ...]:
    """Return a sentence for each of these sets that was corrected, naming its newer versions."""
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
    """Return the options of ``run`` that ask a corrected form like its last version with runs.

    One line per prompting method, newest first: its models and all settings that differ from the
    method's defaults. Empty if no version was asked.
    """
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
        for asked, names in reversed(models.items())
    ]


_PLAIN = {"temperature": "temperature", "max_tokens": "max-tokens",
          "reasoning_effort": "reasoning-effort", "thinking": "thinking",
          REASONING_TOKENS: "reasoning-tokens", TOOLS: "tools", BLOCKED_HOSTS: "blocked-hosts",
          ANSWER_FORMAT: "answer-format"}  # fmt: skip


_CONTEXT = {CONTEXT: "context", CONTEXT_TOKENS: "context-tokens", CONTEXT_CHUNKS: "context-chunks",
            CONTEXT_SEARCH: "context-search", CONTEXT_SOURCE: "context-source",
            CONTEXT_EMBEDDING_MODEL: "embedding_model"}  # fmt: skip


def _options(store: Store, run: Run) -> str:
    """Return a run's settings as options of ``run``."""
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
        # Thinking raises the token limit, unless the limit is given.
        if value == usual_ones.get(name) and not (name == "max_tokens" and "thinking" in settings):
            continue
        if name in _PLAIN and value is not None:
            asked += f" --{_PLAIN[name]} {shlex.quote(str(value))}"
        else:
            asked += f" --set {shlex.quote(f'{name}={json.dumps(value, ensure_ascii=False)}')}"
    return asked + (f" --replicate {shlex.quote(run.replicate)}" if run.replicate else "")


def _from_here(file: Path) -> str:
    """Return a file relative to the current folder if it lies below it."""
    here = Path.cwd().resolve()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)


def _runs_before(store: Store, form: bytes) -> tuple[ItemSet | None, list[tuple[int, Run]]]:
    """Return the newest former version of a form with runs, and these runs."""
    former = store.items.item_set(form).corrects
    while former is not None:
        found = store.items.item_set(former)
        if runs := store.runs.of_sets([former]):
            return found, runs
        former = found.corrects
    return None, []


def _left_to_ask(store: Store, forms: Sequence[bytes]) -> Iterator[str]:
    """Yield what is left to ask of corrected forms without runs, with the commands."""
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


# Question files: find the method that reads one as items or as facts.

_LOOKED_AT = 20  # rows read to learn a file's columns


def is_question_file(target: str) -> bool:
    """Return True if a target is a file of rows; no form or bank has such a name."""
    path = Path(target)
    suffix = path.suffixes[-2:][0] if path.suffix == ".gz" else path.suffix
    return suffix.lower() in SUFFIXES and path.is_file()


def method_of_bank_file(path: Path, *, encoding: str = "") -> str:
    """Return the name of the method that reads a file as facts, by its columns.

    Falls back to the default method. Raises BadUsage if several methods match, and what reading
    raises.
    """
    columns = file_columns(path, encoding=encoding)
    found = [method.name for method in every_method() if method.recognises_facts(columns)]
    if len(found) > 1:
        raise _ambiguous(path, found, "bank")
    return found[0] if found else USUAL_METHOD


def method_with_documents(path: Path) -> str:
    """Return the name of the method that looks up the documents of a file's questions; or "".

    Raises what reading raises.
    """
    columns = file_columns(path)
    known = (method for method in every_method() if method.place_evidence is not None)
    return next((method.name for method in known if method.recognises_facts(columns)), "")


def method_of_reference(path: Path, *, encoding: str = "") -> str:
    """Return the name of the method that reads a file as a reference knowledge base.

    Raises BadInput if its columns match no method, and what reading raises.
    """
    reader = RowReader(path, encoding=encoding)
    columns = _columns(reader)
    known = [each for each in every_method() if each.verifying is not None]
    for method in known:
        if method.verifying is not None and method.verifying.has_reference(columns):
            return method.name
    wanted = "; or ".join(each.verifying.reference_columns for each in known if each.verifying)
    raise BadInput(
        f"{path} is not a reference knowledge base: its columns are {', '.join(columns) or 'none'}",
        reader.problems,
        hint=f"expected {wanted}",
    )


def method_of_list(called: str) -> str:
    """Return the method whose items have this name. Raises NotFound if there is none."""
    found = [method.name for method in every_method() if method.items_called == called]
    if not found:
        raise NotFound(f"no installed method asks about {called}")
    return found[0]


def method_of_file(path: Path, *, otherwise: str = "", encoding: str = "") -> str:
    """Return the name of the method that reads a file's questions, by its columns.

    ``otherwise`` is used if none matches. Raises BadInput if there is none, BadUsage if several
    match, and what reading raises.
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
            f"no method reads the columns of {path}: {', '.join(columns)}",
            hint=(
                "expected question and answer; or question, options and answer; for entities: "
                "proofstone import FILE --as entities"
            ),
        )
    return found[0]


def file_columns(path: Path, *, encoding: str = "") -> dict[str, None]:
    """Return the columns of a file's first rows. Raises what reading raises."""
    return _columns(RowReader(path, encoding=encoding))


def _columns(reader: RowReader) -> dict[str, None]:
    """Return the columns of the first rows, each once."""
    return {name: None for row in islice(reader, _LOOKED_AT) for name in row.values}


def _ambiguous(path: Path, found: Sequence[str], kind: str) -> BadUsage:
    return BadUsage(
        f"{path} matches the columns of {' and '.join(found)}",
        hint=f"choose one: proofstone import FILE --as {kind} --method NAME",
    )
