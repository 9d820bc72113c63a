"""The format of answers that a run states: kept with it, applied wherever it is scored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import structs

from proofstone.api import Workspace
from proofstone.browse.show import look
from proofstone.errors import BadInput, BadUsage
from proofstone.method import find_method
from proofstone.records.items import ItemSet, OwnPrompt
from proofstone.records.runs import ANSWER_FORMAT
from proofstone.run.campaign import perform_request
from proofstone.run.prompts import check_format, with_prompt
from proofstone.run.request import Asking, RunRequest
from proofstone.run.run_file import read_run_file, save_request
from scripted_server import ScriptedServer, Seen, answering
from serving import configure, serving
from told import Proofstone

QUESTIONS = 12
FINAL = "regex:Final: ([A-D])"
MODEL = "scripted/one"


@pytest.fixture
def server(workspace: Workspace) -> Iterator[ScriptedServer]:
    """Every reply states A in words and B in a form of its own."""

    def response(seen: Seen) -> str:
        assert ANSWER_FORMAT not in seen.json  # it is no setting of a model
        return "The answer is A.\nFinal: B\nThe answer is A."

    with serving(answering(response)) as found:
        configure(workspace.folder, found.url)
        yield found


def letters(workspace: Workspace, run: str) -> set[str]:
    """What the current scores of a run read."""
    meant = workspace.store.lookup.find(run)
    scoring = workspace.store.scores.current(meant.key)
    assert scoring is not None
    items = [stored.key for stored in workspace.store.items.page(_set(workspace), -1, QUESTIONS)]
    found = workspace.store.scores.of_items(scoring.key, items)
    return {score.answer for scores in found.values() for score in scores}


def _set(workspace: Workspace) -> bytes:
    (form,) = workspace.store.lookup.every("form")
    return form.id


def test_the_stated_format_is_read_kept_and_another_setting(
    workspace: Workspace, form: str, server: ScriptedServer
) -> None:
    """The same command with it is another run, whose responses come from the cache."""
    (plain,) = workspace.run(form, models=MODEL)
    (stated,) = workspace.run(form, models=MODEL, answer_format=FINAL)
    assert len(server.seen) == QUESTIONS
    assert stated.planned.run.id != plain.planned.run.id
    names = [f"run:{each.planned.run.id.hex()}" for each in (plain, stated)]
    assert [letters(workspace, name) for name in names] == [{"A"}, {"B"}]
    assert [workspace.score(name, again=True).n for name in names] == [QUESTIONS, QUESTIONS]
    assert [letters(workspace, name) for name in names] == [{"A"}, {"B"}]
    (group,) = workspace.leaderboard(form).standings
    assert sorted(FINAL in row.settings for row in group.ranked) == [False, True]
    assert FINAL in str(look(workspace.store, names[1]))
    assert "answer_format" not in str(look(workspace.store, names[0]))
    page = workspace.folder / "page.html"
    workspace.report(form, path=page)
    assert FINAL in page.read_text(encoding="utf-8")


def test_a_run_goes_on_in_its_format(
    workspace: Workspace, form: str, server: ScriptedServer
) -> None:
    (part,) = workspace.run(form, models=MODEL, answer_format=FINAL, limit=4)
    name = f"run:{part.planned.run.id.hex()}"
    (whole,) = workspace.resume(name)
    assert whole.complete
    assert whole.planned.run.id == part.planned.run.id
    assert letters(workspace, name) == {"B"}
    assert len(server.seen) == QUESTIONS


def test_replies_without_the_format_are_unparsed(
    workspace: Workspace, form: str, server: ScriptedServer
) -> None:
    (run,) = workspace.run(form, models=MODEL, answer_format="json:$.answer")
    assert run.complete
    assert letters(workspace, f"run:{run.planned.run.id.hex()}") == {""}
    assert server.seen


@pytest.mark.parametrize(
    ("stated", "told"),
    [
        ("Final: ([A-D])", "expected regex:PATTERN or json:PATH"),
        ("regex:(", "invalid regular expression"),
        ("regex:(a+)+", "a repeat contains another one"),
        ("json:$.a[x]", "invalid JSON path"),
        (7, "invalid answer format"),
    ],
)
def test_a_format_that_cannot_be_used_is_told_before_anything_is_asked(
    workspace: Workspace, form: str, server: ScriptedServer, stated: object, told: str
) -> None:
    with pytest.raises(BadInput, match=told):
        workspace.run(form, models=MODEL, answer_format=stated)
    assert workspace.store.runs.every() == []
    assert not server.seen


def test_two_formats_for_one_run_are_refused(
    workspace: Workspace, form: str, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.jinja"
    mine.write_text("{# answer: json:$.answer #}\n{{ question }}", encoding="utf-8")
    with pytest.raises(BadUsage, match="both the run and its template set an answer format"):
        workspace.run(form, models="sim/ann", prompt_template=mine, answer_format=FINAL)
    assert workspace.store.runs.every() == []


@pytest.mark.parametrize(
    ("method", "prompt_method", "text", "told"),
    [
        ("bequ", "direct", "{{ entity }}", "every triple of a response is read"),
        ("chinese_simpleqa", "confidence", "{{ question }}", "the answer and the confidence"),
    ],
)
def test_ways_whose_whole_response_is_read_take_no_format(
    method: str, prompt_method: str, text: str, told: str
) -> None:
    """Neither as an option nor in a template."""
    asks, items = find_method(method), ItemSet(name="few", kind="form", method=method)
    ready = asks.prepare(prompt_method, 0, items, None)
    with pytest.raises(BadUsage, match=told):
        check_format(asks, ready, None, {ANSWER_FORMAT: FINAL})
    check_format(asks, ready, None, {})
    stated = OwnPrompt("mine.jinja", f"{{# answer: {FINAL} #}}\n{text}")
    with pytest.raises(BadUsage, match=told):
        with_prompt(asks, ready, stated, items)
    with_prompt(asks, ready, structs.replace(stated, text=text), items)


def test_other_ways_of_short_questions_take_one() -> None:
    method = find_method("chinese_simpleqa")
    items = ItemSet(name="few", kind="form", method="chinese_simpleqa")
    for prompt_method in ("direct", "recall", "cot", "as-published"):
        check_format(
            method, method.prepare(prompt_method, 0, items, None), None, {ANSWER_FORMAT: FINAL}
        )


def test_a_run_file_states_it_for_each_way(workspace: Workspace, form: str) -> None:
    """And "unset" leaves it out again; what is saved is the same run."""
    plan = workspace.folder / "plan.toml"
    plan.write_text(
        f'target = "{form}"\nanswer_format = "{FINAL}"\n\n'
        "[prompt_method.direct]\n[prompt_method.cot]\n"
        'answer_format = "unset"\n\n[models."sim/ann"]\n',
        encoding="utf-8",
    )
    request = read_run_file(plan).request
    direct, cot = perform_request(workspace, request)
    assert direct.planned.run.settings[ANSWER_FORMAT] == FINAL
    assert ANSWER_FORMAT not in cot.planned.run.settings
    saved = workspace.folder / "saved.toml"
    save_request(workspace, request, saved)
    again = perform_request(workspace, read_run_file(saved).request)
    assert [each.planned.run.id for each in again] == [direct.planned.run.id, cot.planned.run.id]
    plan.write_text(f'target = "{form}"\nanswer_format = 3\n[models."sim/a"]\n', encoding="utf-8")
    with pytest.raises(BadInput, match="cannot be run"):
        read_run_file(plan)


def test_set_states_the_same_run(workspace: Workspace, form: str) -> None:
    """``--set answer_format=...`` is no way around the check."""
    request = RunRequest(targets=(form,), models={"sim/ann": Asking()})
    with pytest.raises(BadInput, match="invalid regular expression"):
        perform_request(workspace, request.over(flags=Asking(settings={ANSWER_FORMAT: "regex:("})))


def test_the_command_takes_it_and_shows_where_it_comes_from(
    workspace: Workspace, form: str, proofstone: Proofstone
) -> None:
    workspace.store.close()
    words = ("run", form, "-m", "sim/ann", "-w", workspace.folder)
    told = proofstone(*words, "--answer-format", "regex:[", "-q")
    assert told.code == 2
    assert "invalid regular expression '['" in told.err
    assert proofstone(*words, "--answer-format", FINAL, "-q").code == 0
    assert proofstone(*words, "-q").code == 0
    runs = proofstone("list", "run", "-w", workspace.folder, "--json").json
    assert len(runs) == 2
    names = [f"run:{run['id'][:12]}" for run in runs]
    compared = proofstone("compare", *names, "-w", workspace.folder)
    assert f"answer_format={FINAL}" in compared.out
    assert "answer_format=none" in compared.out
