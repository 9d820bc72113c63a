"""Corrected items and facts: new forms in which only they differ, and nothing else is asked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import json

from proofstone.api import Workspace
from proofstone.correct.edit import Edited, _revises
from proofstone.errors import BadInput, BadUsage
from proofstone.methods.encyclo_k.ask import choose_shots
from proofstone.records.ids import short
from proofstone.records.items import LoadedItem
from proofstone.records.knowledge import Role
from scripted_server import ScriptedServer, answer, error
from serving import configure, serving
from small_bank import rows, write_lines

QUESTIONS = 12
MODEL = "scripted/one"


@pytest.fixture
def server(workspace: Workspace) -> Iterator[ScriptedServer]:
    with serving(answer("Answer: A")) as serves:
        configure(workspace.folder, serves.url)
        yield serves


def items(workspace: Workspace, form: str) -> list[LoadedItem]:
    found = workspace.find(form, "form")
    return [s.loaded for page in workspace.store.items.pages(found.id) for s in page]


def edited_item(workspace: Workspace, form: str, **changes: object) -> Edited:
    """The first question with another template (or ``changes``)."""
    item = items(workspace, form)[0].item
    template = (item.payload.template + 1) % 2
    return workspace.edit(
        f"item:{item.id.hex()}", changes or {"template": template}, reason="clearer", by="Ada"
    )


def test_a_corrected_form_asks_only_what_differs(
    workspace: Workspace, form: str, server: ScriptedServer
) -> None:
    """Twelve calls for the form, one for its corrected version; the old form and run stay."""
    workspace.run(form, models=MODEL)
    assert server.requests == QUESTIONS
    before = workspace.leaderboard(form)
    edited = edited_item(workspace, form)
    ((made),) = edited.forms
    (result,) = workspace.run(made.form, models=MODEL)
    assert result.complete
    assert server.requests == QUESTIONS + 1
    old, new = items(workspace, form), items(workspace, made.form)
    assert [item.item.id for item in old[1:]] == [item.item.id for item in new[1:]]
    assert new[0].item.corrects == old[0].item.id
    assert (made.n_changed, made.n_items) == (1, QUESTIONS)
    after = workspace.leaderboard(form)
    assert json.encode(after.standings) == json.encode(before.standings)
    (note,) = after.notes
    assert note.endswith(f"was corrected; the newer version: {made.form}")
    workspace.run(form, models=MODEL)
    assert server.requests == QUESTIONS + 1


def test_a_correction_of_the_answer_alone_asks_nobody(
    workspace: Workspace, tmp_path: Path, server: ScriptedServer
) -> None:
    """The same prompts: every reply comes from the cache, and is scored by the new answer."""
    questions = [
        {"question": f"What is {n} + 1?", "options": [str(n + 1), "0"], "answer": "B"}
        for n in range(5, 9)
    ]
    sums = workspace.import_form(write_lines(tmp_path / "sums.jsonl", questions))
    workspace.store.roles.add_to_set(sums.id, [Role("wrote", "lab/writer")])
    workspace.run(sums, models=MODEL)
    assert server.requests == 4
    first = workspace.store.items.page(sums.id, -1, 1)[0].loaded.item
    edited = workspace.edit(f"item:{first.id.hex()}", {"answer": "A"}, reason="wrong", by="Ada")
    ((made),) = edited.forms
    workspace.run(made.form, models=MODEL)
    assert server.requests == 4
    (row,) = workspace.leaderboard(made.form).standings[0].ranked
    assert row.estimate.value == pytest.approx(1 / 4)
    corrected = workspace.find(made.form, "form")
    assert workspace.store.items.item_set(corrected.id).corrects == sums.id
    assert workspace.store.roles.of_set(corrected.id) == (Role("wrote", "lab/writer"),)


def test_a_corrected_fact_makes_its_questions_and_its_bank_anew(
    workspace: Workspace, form: str, server: ScriptedServer
) -> None:
    """Every question that rests on it or on its falsified version, and no other."""
    workspace.run(form, models=MODEL)
    fact = next(f for f in items(workspace, form)[0].facts if f.payload.correct)
    text = "A leaf of this book was misread."
    edited = workspace.edit(f"fact:{fact.id.hex()}", {"text": text}, reason="misread", by="Ada")
    ((made),) = edited.forms
    origins = {fact.id}
    touched = [
        place
        for place, item in enumerate(items(workspace, form))
        if any(f.id in origins or f.payload.origin in origins for f in item.facts)
    ]
    old, new = items(workspace, form), items(workspace, made.form)
    differ = [n for n in range(QUESTIONS) if old[n].item.id != new[n].item.id]
    assert differ == touched
    assert made.n_changed == edited.n_items == len(touched)
    shown = [n for n in touched if any(f.payload.text == text for f in new[n].facts)]
    workspace.run(made.form, models=MODEL)
    assert server.requests == QUESTIONS + len(shown)
    bank = workspace.find("old-books", "bank")
    assert f"old-books-{short(bank.id, 4)}" == edited.banks[0]
    facts = workspace.store.knowledge.bank(bank.id).facts()
    assert len(facts) == len(rows())
    assert fact.id not in {f.id for f in facts}
    false = next(f for f in facts if f.payload.origin == edited.new)
    assert false.corrects is not None


def test_the_plain_name_means_the_newest_version(
    workspace: Workspace, form: str, server: ScriptedServer
) -> None:
    """Of bank and forms; what has no result yet on the newest shows those of the former."""
    workspace.run(form, models=MODEL)
    old_bank = workspace.find("old-books", "bank")
    fact = items(workspace, form)[0].facts[0]
    edited = workspace.edit(f"fact:{fact.id.hex()}", {"title": "a title"}, reason="x", by="Ada")
    assert workspace.find("old-books", "bank").id != old_bank.id
    assert workspace.leaderboard("old-books").forms == workspace.leaderboard(form).forms
    (result,) = workspace.run("old-books", models=MODEL)
    assert f"old-books-{short(result.planned.item_set.id, 4)}" == edited.forms[0].form
    assert server.requests == QUESTIONS  # a title is shown to nobody
    assert workspace.leaderboard("old-books").forms == (edited.forms[0].form,)


def test_a_correction_of_a_correction_follows_the_newest(workspace: Workspace, form: str) -> None:
    first = edited_item(workspace, form)
    with pytest.raises(BadUsage, match="was edited into item:"):
        edited_item(workspace, form)
    second = edited_item(workspace, first.forms[0].form)
    assert second.former == first.new
    assert second.forms[0].former == first.forms[0].form
    other = items(workspace, form)[1].item
    third = workspace.edit(f"item:{other.id.hex()}", {"book": "B"}, reason="x", by="Ada")
    assert [made.former for made in third.forms] == [second.forms[0].form]
    newest = items(workspace, third.forms[0].form)
    assert [item.item.corrects is not None for item in newest[:3]] == [True, True, False]


def test_only_the_forms_that_are_named_are_corrected(workspace: Workspace, form: str) -> None:
    """Two forms hold the item; one is named, and a stranger is refused."""
    first = edited_item(workspace, form)
    other = items(workspace, form)[2].item
    target = f"item:{other.id.hex()}"
    with pytest.raises(BadUsage, match=", or that form was already corrected"):
        workspace.edit(target, {"book": "B"}, reason="x", by="Ada", forms=[form])
    named = [first.forms[0].form]
    edited = workspace.edit(target, {"book": "B"}, reason="x", by="Ada", forms=named)
    assert [made.former for made in edited.forms] == named


def test_what_changes_nothing_or_is_wrong_stores_nothing(workspace: Workspace, form: str) -> None:
    item = items(workspace, form)[0].item
    before = workspace.store.lookup.count("item"), workspace.store.lookup.count("form")
    target = f"item:{item.id.hex()}"
    with pytest.raises(BadUsage, match="no field of item:"):
        workspace.edit(target, {"template": item.payload.template}, reason="x", by="Ada")
    with pytest.raises(BadInput, match="asked: expected"):
        workspace.edit(target, {"asked": "neither"}, reason="x", by="Ada")
    with pytest.raises(BadUsage, match="needs its reason"):
        workspace.edit(target, {"template": 0}, reason="", by="Ada")
    assert (workspace.store.lookup.count("item"), workspace.store.lookup.count("form")) == before
    assert workspace.store.people.every() == []


def test_a_fact_that_leaves_a_question_without_an_answer_names_the_question(
    workspace: Workspace, form: str
) -> None:
    """All falsified statements of a question that asks for them turn true: one is too many, and
    once that question is retired the edit goes through."""
    asks_false = next(i for i in items(workspace, form) if not i.item.payload.asks_correct)
    false = [f for f in asks_false.facts if not f.payload.correct]
    target = asks_false.item
    changes = {"correct": True, "origin": None, "error_type": None, "reason": None}
    refused = ""
    current = form
    for fact in false:
        try:
            made = workspace.edit(f"fact:{fact.id.hex()}", changes, reason="x", by="Ada").forms
            current = next((m.form for m in made), current)
        except BadInput as error:
            refused = str(error)
            break
    else:
        pytest.fail("the last one was not refused")
    newest = [i.item for i in items(workspace, current) if i.item.number == target.number]
    assert any(f"item:{short(item.id)}" in refused for item in newest)
    for name in re.findall(r"item:\w{8}(?=: )", refused):
        workspace.exclude(name, reason="no answer", by="Ada")
    workspace.edit(f"fact:{fact.id.hex()}", changes, reason="x", by="Ada")


def test_a_method_that_cannot_revise_says_so() -> None:
    """A method without the capability is named with what to do instead."""
    with pytest.raises(BadUsage, match="recall does not support editing of its facts and items"):
        _revises("recall.pair")


def test_a_ruling_holds_on_the_corrected_form_for_the_same_reply_to_the_same_item(
    workspace: Workspace, form: str, server: ScriptedServer
) -> None:
    """All say A. Ruled correct on the old form: an item that is the same carries the ruling over,
    the edited one does not, and no run that another model had is touched."""
    workspace.run(form, models=[MODEL, "scripted/two"])
    run = next(r for _k, r in workspace.store.runs.every() if r.respondent == MODEL)
    first, second = (item.item for item in items(workspace, form)[:2])
    names = [f"{run.id.hex()}/{item.id.hex()}/0" for item in (first, second)]
    workspace.override(names, "invalidated", reason="a slip", by="Ada")
    edited = edited_item(workspace, form)
    workspace.run(edited.forms[0].form, models=[MODEL, "scripted/two"])
    rows = {
        row.name: row.corrections.invalidated
        for row in workspace.leaderboard(edited.forms[0].form).standings[0].ranked
    }
    assert rows == {MODEL: 1, "scripted/two": 0}
    (overridden,) = workspace.override(names[1], "correct", reason="after all", by="Bo")
    assert (overridden.n_runs, overridden.former) == (2, "invalidated")


def test_of_several_samples_one_is_named(
    workspace: Workspace, form: str, server: ScriptedServer
) -> None:
    """A void sample leaves its item to the other one: all twelve items are still compared."""
    (result,) = workspace.run(form, models=MODEL, samples=2)
    item = items(workspace, form)[0].item
    name = f"{result.planned.run.id.hex()[:12]}/{item.id.hex()[:12]}"
    with pytest.raises(BadUsage, match="has 2 samples"):
        workspace.override(name, "invalidated", reason="x", by="Ada")
    workspace.override(f"{name}/1", "invalidated", reason="x", by="Ada")
    (row,) = workspace.leaderboard(form).standings[0].ranked
    assert (row.estimate.n, row.n_responses) == (QUESTIONS, 2 * QUESTIONS - 1)


def test_a_failed_call_left_nothing_to_rule_on(workspace: Workspace, form: str) -> None:
    with serving(error(400, {"error": {"message": "no such thing"}})) as serves:
        configure(workspace.folder, serves.url)
        (result,) = workspace.run(form, models=MODEL, limit=1)
        item = items(workspace, form)[0].item
        name = f"{result.planned.run.id.hex()}/{item.id.hex()}/0"
        with pytest.raises(BadUsage, match="its call failed"):
            workspace.override(name, "correct", reason="x", by="Ada")


def statements_of(workspace: Workspace, form: str) -> set[bytes]:
    return {fact.id for item in items(workspace, form) for fact in item.facts}


def test_a_form_is_built_without_what_is_retired(workspace: Workspace, form: str) -> None:
    """Another form then, which says what it leaves out; once all is restored the first one again.
    Its worked examples do without it too."""
    (gone, *_others) = items(workspace, form)[0].facts
    workspace.exclude(f"fact:{gone.id.hex()}", reason="outdated", by="Ada")
    (made,) = workspace.build_form("old-books", questions=QUESTIONS)
    name = f"form:{made.id.hex()}"
    assert made.recipe["without"] == [gone.id.hex()]
    assert made.id != workspace.find(form, "form").id
    assert gone.id not in statements_of(workspace, name)
    (result,) = workspace.run(made, models="sim/ann", shots=2)
    assert result.complete
    shown = {fact.id for shot in result.planned.prompt_method.shots for fact in shot.facts}
    assert shown
    assert gone.id not in shown
    (again,) = workspace.build_form("old-books", questions=QUESTIONS)
    assert again == made
    workspace.include(f"fact:{gone.id.hex()}", reason="still right", by="Ada")
    (first,) = workspace.build_form("old-books", questions=QUESTIONS)
    assert first.id == workspace.find(form, "form").id
    assert "without" not in first.recipe


def test_an_edited_statement_leaves_its_falsified_one_retired(
    workspace: Workspace, form: str
) -> None:
    """Its falsified one is made to name the new version; a form built then leaves out as many."""
    bank = workspace.store.knowledge.bank(workspace.find("old-books", "bank").id)
    false = next(fact for fact in bank.facts() if fact.payload.origin is not None)
    workspace.exclude(f"fact:{false.id.hex()}", reason="no error in it", by="Ada")
    origin = f"fact:{false.payload.origin.hex()}"
    edited = workspace.edit(origin, {"text": "Another text."}, reason="misread", by="Bo")
    (made,) = workspace.build_form("old-books", questions=QUESTIONS)
    bank = workspace.store.knowledge.bank(workspace.find("old-books", "bank").id)
    (remade,) = (fact for fact in bank.facts() if fact.payload.origin == edited.new)
    assert made.recipe["without"] == [remade.id.hex()]
    newest = workspace.find(f"fact:{remade.id.hex()}")
    exclusion = workspace.store.corrections.exclusion("fact", newest.key)
    assert exclusion is not None
    assert exclusion.reason == "no error in it"
    workspace.include(f"fact:{remade.id.hex()}", reason="there is one", by="Ada")
    (whole,) = workspace.build_form("old-books", questions=QUESTIONS)
    assert "without" not in whole.recipe


def test_a_bank_of_which_too_much_is_retired_makes_no_form(workspace: Workspace) -> None:
    bank = workspace.store.knowledge.bank(workspace.find("old-books", "bank").id)
    for fact in bank.facts():
        if fact.stratum.book == "Herbal":
            workspace.exclude(f"fact:{fact.id.hex()}", reason="outdated", by="Ada")
    (made,) = workspace.build_form("old-books", setting="statements")
    assert made.n_items == len(bank.facts()) / 2
    with pytest.raises(BadInput, match="statements, fewer than the sample of"):
        workspace.build_form("old-books", setting="statements", sample=made.n_items + 1)


def test_no_worked_example_of_a_corrected_form_shows_the_former_version(
    workspace: Workspace, server: ScriptedServer
) -> None:
    """Edited twice, of a form that holds the statement: neither former version is shown, and what
    is asked with other examples is not asked again."""
    (made,) = workspace.build_form("old-books", questions=40, seeds=[7])
    (result,) = workspace.run(made, models=MODEL, shots=2)
    asked = server.requests
    usual = Counter(fact.id for shot in result.planned.prompt_method.shots for fact in shot.facts)
    held = statements_of(workspace, f"form:{made.id.hex()}")
    victim = next(identity for identity, _n in usual.most_common() if identity in held)
    form, former = f"form:{made.id.hex()}", [victim]
    for text in ("A first correction of the text.", "A second correction of the text."):
        name = f"fact:{former[-1].hex()}"
        changes = {"text": text, "correct": workspace.fields_of(name)["correct"]}
        edited = workspace.edit(name, changes, reason="wrong", by="Ada")
        form = next(each.form for each in edited.forms)
        (new,) = [
            fact.id for item in items(workspace, form) for fact in item.facts
            if fact.payload.text == text
        ][:1]  # fmt: skip
        former.append(new)
    (after,) = workspace.run(form, models=MODEL, shots=2)
    assert after.complete
    prompt_method = after.planned.prompt_method
    assert victim in prompt_method.unfit
    for item in items(workspace, form):
        chosen = choose_shots(item, prompt_method.shots, 2, prompt_method.unfit)
        assert not {victim, former[1]} & {fact.id for shot in chosen for fact in shot.facts}
    assert server.requests < asked + 40
    (resumed,) = workspace.resume(f"run:{after.planned.run.id.hex()}")
    assert resumed.planned.run.id == after.planned.run.id
