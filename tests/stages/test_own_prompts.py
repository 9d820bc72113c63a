"""Runs by a person's own template: marked everywhere, kept, never joined with others."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from sqlalchemy import update

from proofstone.api import Workspace, create_workspace
from proofstone.browse.show import look
from proofstone.errors import BadInput, BadUsage, TextPurged
from proofstone.method import find_method
from proofstone.records.items import ItemSet, own_prompt_of
from proofstone.run.campaign import perform_request
from proofstone.run.prompts import read_own_prompt, with_prompt
from proofstone.run.request import Asking, RunRequest
from proofstone.run.run_file import read_run_file, save_request
from proofstone.store import schema
from proofstone.store.copies import merge
from scripted_server import Seen, answering
from serving import configure, serving

QUESTIONS = 12
MINE = "Own words.\n{{ question }}\n{% if stepwise %}Think. {% endif %}Answer: X"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    (tmp_path / "secret-folder").mkdir()
    path = tmp_path / "secret-folder" / "mine.jinja"
    path.write_text(MINE, encoding="utf-8")
    return path


def ranked_lines(workspace: Workspace, form: str) -> list[str]:
    """The lines of the leaderboard's table, without the sentences below it."""
    _, table = str(workspace.leaderboard(form)).split("rank  model", 1)
    lines = table.split("\n")[1:]
    return [line for line in lines if re.match(r" *\d+(-\d+)?  ", line)]


def test_the_template_is_what_a_model_is_sent(workspace: Workspace, form: str, mine: Path) -> None:
    """And nothing of the method's own prompt; what is read of replies stays the same."""
    seen: list[str] = []

    def response(request: Seen) -> str:
        seen.append(request.json["messages"][-1]["content"])
        return "Answer: A"

    with serving(answering(response)) as server:
        configure(workspace.folder, server.url)
        (result,) = workspace.run(form, models="scripted/one", prompt_template=mine)
    assert result.complete
    assert len(seen) == QUESTIONS
    assert all(text.startswith("Own words.\n") and text.endswith("Answer: X") for text in seen)
    assert not any("Reply with one line" in text for text in seen)


def test_rows_by_a_template_are_marked_and_stand_by_themselves(
    workspace: Workspace, form: str, mine: Path
) -> None:
    """Beside the method's own prompt and another template: three rows, two of them marked."""
    other = mine.with_name("other.jinja")
    other.write_text(f"{MINE}!", encoding="utf-8")
    workspace.run(form, models="sim/ann")
    for path in (mine, other):
        workspace.run(form, models="sim/ann", prompt_template=path)
    labels = {name: f"{name} ({read_own_prompt(mine.with_name(name)).hash.hex()[:8]})"
              for name in ("mine.jinja", "other.jinja")}  # fmt: skip
    (group,) = workspace.leaderboard(form).standings
    assert sorted(row.settings for row in group.ranked) == [
        "", f"own prompt: {labels['mine.jinja']}", f"own prompt: {labels['other.jinja']}",
    ]  # fmt: skip
    assert sum("own prompt: " in line for line in ranked_lines(workspace, form)) == 2
    path = workspace.folder / "page.html"
    workspace.report(form, path=path)
    page = path.read_text(encoding="utf-8")
    assert f"own prompt: {labels['mine.jinja']}" in page
    assert "secret-folder" not in page


def test_rows_of_two_forms_join_only_by_the_same_template(
    workspace: Workspace, tmp_path: Path, mine: Path
) -> None:
    """One row a template over all forms of a bank, another for the method's own prompt."""
    forms = workspace.build_form("old-books", questions=6, seeds=[1, 2])
    workspace.run(forms, models="sim/ann", prompt_template=mine)
    workspace.run(forms, models="sim/ann")
    (group,) = workspace.leaderboard(*forms).standings
    assert sorted((row.settings[:10], row.estimate.n) for row in group.ranked) == [
        ("", 12), ("own prompt", 12),
    ]  # fmt: skip


def test_the_run_is_named_by_the_text_and_not_by_the_file(
    workspace: Workspace, form: str, mine: Path
) -> None:
    first = workspace.run(form, models="sim/ann", prompt_template=mine)[0].planned.run
    renamed = mine.with_name("renamed.jinja")
    renamed.write_text(MINE, encoding="utf-8")
    again = workspace.run(form, models="sim/ann", prompt_template=renamed)[0].planned.run
    renamed.write_text(f"{MINE} ", encoding="utf-8")
    changed = workspace.run(form, models="sim/ann", prompt_template=renamed)[0].planned.run
    plain = workspace.run(form, models="sim/ann")[0].planned.run
    assert again.id == first.id
    assert len({first.id, changed.id, plain.id}) == 3
    assert own_prompt_of(plain.settings) == ""
    lines = ranked_lines(workspace, form)
    assert sum("mine.jinja" in line for line in lines) == 1
    assert sum("renamed.jinja" in line for line in lines) == 1


def test_it_goes_on_without_the_file_and_shows_the_text(
    workspace: Workspace, form: str, mine: Path
) -> None:
    """``resume`` and ``show`` read the template from the store. Where its file was, which the next
    command after an edit names, stands in the database of this workspace alone."""
    (part,) = workspace.run(form, models="sim/ann", prompt_template=mine, limit=4)
    mine.unlink()
    name = f"run:{part.planned.run.id.hex()}"
    (whole,) = workspace.resume(name)
    assert whole.complete
    assert whole.planned.run.id == part.planned.run.id
    shown = str(look(workspace.store, name))
    assert (
        f"--- own prompt, mine.jinja ({part.planned.run.settings['prompt'][:8]})\n{MINE}" in shown
    )
    assert "prompt_name" not in shown
    rows = workspace.export(name, workspace.folder / "r.jsonl")
    assert rows
    exported = (workspace.folder / "r.jsonl").read_text(encoding="utf-8")
    assert exported.count('"own_prompt":"mine.jinja (') == QUESTIONS
    workspace.store.close()
    files = [path for path in workspace.folder.rglob("*") if path.is_file()]
    files = [path for path in files if not path.name.startswith("store.sqlite")]
    assert not [path for path in files if b"secret-folder" in path.read_bytes()]


def test_a_template_that_asks_two_ways_alike_is_refused(
    workspace: Workspace, form: str, tmp_path: Path, mine: Path
) -> None:
    """Before anything is asked; one that tells ways apart may ask in several."""
    plain = tmp_path / "plain.jinja"
    plain.write_text("{{ question }}", encoding="utf-8")
    with pytest.raises(BadUsage, match=r"plain\.jinja renders the same prompt for direct and cot"):
        workspace.run(
            form, models="sim/ann", prompt_method=["direct", "cot"], prompt_template=plain
        )
    assert workspace.store.runs.every() == []
    results = workspace.run(
        form, models="sim/ann", prompt_method=["direct", "cot"], prompt_template=mine
    )
    assert [result.complete for result in results] == [True, True]


def test_a_template_that_fails_on_a_later_question_is_refused_before_the_run(
    workspace: Workspace, form: str, tmp_path: Path
) -> None:
    path = tmp_path / "late.jinja"
    path.write_text("{{ question }}\n{{ statements[9].text }}", encoding="utf-8")
    with pytest.raises(BadInput, match=r"late\.jinja, line 2: list object has no element 9"):
        workspace.run(form, models="sim/ann", prompt_template=path)
    path.write_text("{% if count == 99 %}{{ question }}{% endif %}", encoding="utf-8")
    with pytest.raises(BadInput, match="renders an empty prompt"):
        workspace.run(form, models="sim/ann", prompt_template=path)
    assert workspace.store.runs.every() == []


def test_a_template_that_holds_a_key_is_refused(
    workspace: Workspace, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRIPTED_KEY", "planted-key-1234567")
    configure(workspace.folder, "http://127.0.0.1:9/v1", 'api_key_env = "SCRIPTED_KEY"')
    path = tmp_path / "mine.jinja"
    path.write_text("planted-key-1234567 {{ question }}", encoding="utf-8")
    with pytest.raises(BadInput, match="contains a key or password") as caught:
        workspace.run(form, models="scripted/one", prompt_template=path)
    assert "planted" not in str(caught.value)


def test_a_prompt_is_no_setting(workspace: Workspace, form: str) -> None:
    """So that no ``--set`` makes a row that looks like one of a template."""
    request = RunRequest(targets=(form,), models={"sim/ann": Asking()})
    for name in ("prompt", "prompt_name"):
        with pytest.raises(BadUsage, match="'prompt' cannot be a setting"):
            perform_request(workspace, request.over(flags=Asking(settings={name: "x"})))


def test_a_method_without_templates_says_so(workspace: Workspace, mine: Path) -> None:
    """That of another distribution in the test tree takes none."""
    recall = find_method("recall")
    empty = ItemSet(name="empty", kind="form", method="recall")
    prompt_method = recall.prepare("recall", 0, empty, None)
    with pytest.raises(BadUsage, match="recall takes no prompt template"):
        with_prompt(recall, prompt_method, read_own_prompt(mine), empty)


def test_a_template_goes_along_where_a_workspace_is_merged(
    workspace: Workspace, form: str, mine: Path, tmp_path: Path
) -> None:
    """Its run goes on there too."""
    (part,) = workspace.run(form, models="sim/ann", prompt_template=mine, limit=4)
    with create_workspace(tmp_path / "other") as other:
        merge(workspace.store.database, other.store.database)
        (whole,) = other.resume(f"run:{part.planned.run.id.hex()}")
    assert whole.complete


def test_a_purged_template_is_named(workspace: Workspace, form: str, mine: Path) -> None:
    """Where its text is gone, ``show`` says so and ``resume`` refuses."""
    (part,) = workspace.run(form, models="sim/ann", prompt_template=mine, limit=4)
    name = f"run:{part.planned.run.id.hex()}"
    hashed = bytes.fromhex(part.planned.run.settings["prompt"])
    emptied = update(schema.prompt).where(schema.prompt.c.hash == hashed).values(body=b"")
    with workspace.store.database.writing() as connection:
        connection.execute(emptied)
    assert "mine.jinja" in str(look(workspace.store, name))
    assert "{{ question }}" not in str(look(workspace.store, name))
    with pytest.raises(TextPurged, match=r"mine\.jinja"):
        workspace.resume(name)


def test_a_run_file_names_a_template_for_each_way(
    workspace: Workspace, form: str, mine: Path
) -> None:
    """Paths are meant from the file's folder; "" is the method's own prompt again."""
    plan = mine.with_name("run.toml")
    plan.write_text(
        f'target = "{form}"\nprompt_template = "mine.jinja"\n\n'
        '[prompt_method.direct]\n[prompt_method.cot]\nprompt_template = ""\n\n'
        '[models."sim/ann"]\n',
        encoding="utf-8",
    )
    request = read_run_file(plan).request
    direct, cot = perform_request(workspace, request)
    assert direct.planned.run.settings["prompt_name"] == "mine.jinja"
    assert "prompt" not in cot.planned.run.settings
    saved = workspace.folder / "saved.toml"
    save_request(workspace, request, saved)
    assert os.path.relpath(mine, saved.parent) in saved.read_text(encoding="utf-8")
    again = perform_request(workspace, read_run_file(saved).request)
    assert [each.planned.run.id for each in again] == [direct.planned.run.id, cot.planned.run.id]


@pytest.mark.parametrize(
    ("content", "says"),
    [(None, "prompt template .* not found"), (b"\xff\xfe{", "is not UTF-8: byte 0"),
     (b"x" * 1_100_000, "larger than 1 MB")],
)  # fmt: skip
def test_a_file_that_is_no_template_is_refused(
    tmp_path: Path, content: bytes | None, says: str
) -> None:
    path = tmp_path / "mine.jinja"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadInput, match=says):
        read_own_prompt(path)


def test_line_endings_and_a_mark_at_the_start_change_nothing(tmp_path: Path) -> None:
    """The same template, saved on another system, is the same one."""
    one, two = tmp_path / "a.jinja", tmp_path / "b.jinja"
    one.write_bytes(b"a\nb\n")
    two.write_bytes(b"\xef\xbb\xbfa\r\nb\r\n")
    assert read_own_prompt(one).hash == read_own_prompt(two).hash
