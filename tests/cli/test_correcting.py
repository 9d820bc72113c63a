"""``rule``, ``exclude``, ``restore`` and ``review erase`` as a person types them."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from told import Proofstone, Told

BOB = "sim/bob?miss=0.5"
QUESTIONS = 8


@pytest.fixture(autouse=True)
def _ada(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROOFSTONE_ACTOR", "Ada")


def responses(proofstone: Proofstone, made: Path, outcome: str, n: int = 8) -> list[str]:
    """The names of bob's direct replies with an outcome, as ``show`` prints them."""
    said = proofstone("show", "old-books", "-m", BOB, "--outcome", outcome, "-n", n, "-w", made)
    return re.findall(r"^response:(\S+)  \S+ direct", said.out, flags=re.MULTILINE)


def row(proofstone: Proofstone, made: Path, *more: str) -> dict[str, Any]:
    """Bob's direct row of the leaderboard."""
    board = proofstone("leaderboard", "old-books", *more, "-w", made, "--json").json
    rows = [row for group in board["standings"] for row in group["ranked"] + group["incomplete"]]
    return next(row for row in rows if (row["name"], row["prompt_method"]) == (BOB, "direct"))


def test_a_ruling_moves_the_leaderboard_and_the_scores_stay(
    made: Path, proofstone: Proofstone
) -> None:
    """A wrong reply ruled correct: one more right of eight; as scored, what it was before."""
    before = row(proofstone, made)
    (wrong, *_more) = responses(proofstone, made, "unparsed")
    said = proofstone("correct", "override", wrong, "correct", "--reason", "meant so", "-w", made)
    assert said.code == 0
    assert re.fullmatch(rf"{wrong}  {re.escape(BOB)}  correct  by actor \w{{8}}\n", said.out)
    assert re.search(r"(?m)^Next: proofstone leaderboard run:\w{8}$", said.err)
    after = row(proofstone, made)
    assert after["estimate"]["value"] == pytest.approx(before["estimate"]["value"] + 1 / QUESTIONS)
    assert after["corrections"] == {"raised": 1, "lowered": 0, "upheld": 0, "invalidated": 0}
    assert row(proofstone, made, "--ignore-corrections") == before
    shown = proofstone("show", f"run:{wrong[:8]}", "--outcome", "overridden", "-w", made)
    assert f"response:{wrong}" in shown.out
    assert re.search(r"--- ruled correct by actor \w{8}, .*: meant so", shown.out)


def test_a_second_ruling_names_the_first_and_holds(made: Path, proofstone: Proofstone) -> None:
    (right, *_more) = responses(proofstone, made, "right")
    first = proofstone(
        "correct", "override", right, "invalidated", "--reason", "a", "-w", made, "--json"
    ).json[0]
    said = proofstone(
        "correct", "override", right, "incorrect", "--reason", "b", "--actor", "Bo", "-w", made
    )
    assert "incorrect, before: invalidated" in said.out
    again = proofstone(
        "correct", "override", right, "correct", "--reason", "c", "-w", made, "--json"
    ).json[0]
    assert (again["former"], first["former"]) == ("incorrect", None)
    assert again["override"]["actor"] == first["override"]["actor"]
    assert first["override"]["replaces"] is None
    assert row(proofstone, made)["corrections"]["upheld"] == 1


def test_void_leaves_the_item_out_for_every_model(made: Path, proofstone: Proofstone) -> None:
    (right, *_more) = responses(proofstone, made, "right")
    proofstone(
        "correct", "override", right, "invalidated", "--reason", "a slip of the page", "-w", made
    )
    board = proofstone("leaderboard", "old-books", "-w", made, "--json").json
    (group,) = board["standings"]
    assert {row["estimate"]["n"] for row in group["ranked"]} == {QUESTIONS - 1}
    text = proofstone("leaderboard", "old-books", "-w", made).out
    assert f"is left out for all: 1 of {QUESTIONS} items." in text


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nonsense", "does not name a response"),
        ("{run}/{item}/x", "does not name a response"),
        ("{run}/{item}/7", "this run has samples 0 to 0"),
        ("{run}/ffffffff", "no item is named 'ffffffff'"),
        ("ffffffff/{item}", "no run is named 'ffffffff'"),
    ],
)
def test_what_is_no_response_is_refused(
    made: Path, proofstone: Proofstone, name: str, told: str
) -> None:
    """And nobody is added for it."""
    run, item, _sample = responses(proofstone, made, "right")[0].split("/")
    said = proofstone(
        "correct",
        "override",
        name.format(run=run, item=item),
        "correct",
        "--reason",
        "x",
        "-w",
        made,
    )
    assert (said.code, told in said.err) == (2, True)
    assert proofstone("review", "erase", "Ada", "-w", made).code == 2


def test_several_problems_are_told_together(made: Path, proofstone: Proofstone) -> None:
    """One of three responses is sound; nothing is stored."""
    (right, *_more) = responses(proofstone, made, "right")
    named = f"{right},a/b,{right[:8]}/ffffffff"
    said = proofstone("correct", "override", named, "invalidated", "--reason", "x", "-w", made)
    assert said.code == 2
    assert "nothing was stored" in said.err
    assert "a/b: " in said.err
    assert f"{right[:8]}/ffffffff: no item is named" in said.err
    assert row(proofstone, made)["corrections"]["invalidated"] == 0


def test_an_item_that_was_not_asked_cannot_be_ruled_on(made: Path, proofstone: Proofstone) -> None:
    """A run with a limit: its later items have no reply yet."""
    done = proofstone("run", "old-books", "-m", "sim/cas", "--limit", 1, "-w", made, "--json")
    asked = {name.split("/")[1] for name in responses(proofstone, made, "answered")}
    run = done.json[0]["run"][:8]
    told = [
        proofstone(
            "correct", "override", f"{run}/{item}", "invalidated", "--reason", "x", "-w", made
        )
        for item in asked
    ]
    refused = [said.err for said in told if said.code == 2]
    assert len(refused) >= len(asked) - 1
    assert all("it was not asked yet" in err for err in refused)
    assert all(f"proofstone run --resume run:{run}" in err for err in refused)


def test_a_retired_item_is_left_out_and_comes_back(made: Path, proofstone: Proofstone) -> None:
    before = row(proofstone, made)
    item = responses(proofstone, made, "right")[0].split("/")[1]
    said = proofstone("correct", "exclude", f"item:{item}", "--reason", "unclear", "-w", made)
    assert re.match(
        rf"item:{item}  excluded by actor \w{{8}}\n  old-books-\w{{4}}   1 item\n", said.out
    )
    text = proofstone("leaderboard", "old-books", "-w", made).out
    assert f"{QUESTIONS - 1} questions" in text
    assert "1 item is excluded." in text
    assert row(proofstone, made)["estimate"]["n"] == QUESTIONS - 1
    assert row(proofstone, made, "--ignore-corrections") == before
    assert "excluded" in proofstone("show", f"item:{item}", "-w", made).out
    twice = proofstone("correct", "exclude", f"item:{item}", "--reason", "unclear", "-w", made)
    assert (twice.code, "is already excluded, since" in twice.err) == (2, True)
    assert (
        proofstone("correct", "include", f"item:{item}", "--reason", "clear", "-w", made).code == 0
    )
    assert row(proofstone, made) == before
    again = proofstone("correct", "include", f"item:{item}", "--reason", "clear", "-w", made)
    assert (again.code, "is not excluded" in again.err) == (2, True)


def test_a_retired_fact_leaves_out_what_rests_on_it(made: Path, proofstone: Proofstone) -> None:
    item = responses(proofstone, made, "right")[0].split("/")[1]
    shown = proofstone("show", f"item:{item}", "-w", made).out
    fact = re.findall(r"fact:(\w+)", shown)[0]
    done = proofstone(
        "correct", "exclude", f"fact:{fact}", "--reason", "false", "-w", made, "--json"
    ).json
    ((_form, n),) = done["forms"]
    assert n >= 1
    assert row(proofstone, made)["estimate"]["n"] == QUESTIONS - n
    said = proofstone("correct", "include", f"item:{item}", "--reason", "x", "-w", made)
    assert f"proofstone correct include fact:{fact}" in said.err


def test_a_person_is_erased_and_the_rulings_stand(made: Path, proofstone: Proofstone) -> None:
    (wrong, *_more) = responses(proofstone, made, "unparsed")
    proofstone("correct", "override", wrong, "correct", "--reason", "x", "-w", made)
    overridden = row(proofstone, made)
    said = proofstone("review", "erase", "Ada", "-w", made)
    assert (said.code, said.out.startswith("erased   actor ")) == (0, True)
    assert row(proofstone, made) == overridden
    gone = proofstone("review", "erase", "Ada", "-w", made)
    assert (gone.code, "person 'Ada' not found" in gone.err) == (2, True)
    (made / "again").mkdir()
    second = proofstone(
        "correct", "override", wrong, "invalidated", "--reason", "y", "-w", made, "--json"
    ).json[0]
    assert second["override"]["actor"] != overridden


def test_a_reason_that_holds_a_key_is_scrubbed(made: Path, proofstone: Proofstone) -> None:
    (wrong, *_more) = responses(proofstone, made, "unparsed")
    key = "sk-" + "a1B2" * 12
    told: Told = proofstone(
        "correct", "override", wrong, "correct", "--reason", f"see {key}", "-w", made, "--json"
    )
    assert key not in told.out
    empty = proofstone("correct", "override", wrong, "correct", "--reason", " ", "-w", made)
    assert (empty.code, "missing option --reason" in empty.err) == (2, True)


def test_edit_makes_a_new_form_and_says_what_to_run(made: Path, proofstone: Proofstone) -> None:
    """By --set and by a file; the plain name means the new version from then on."""
    item = responses(proofstone, made, "right")[0].split("/")[1]
    fields = proofstone("correct", "edit", f"item:{item}", "--fields", "-w", made).json
    template = (fields["template"] + 1) % 2
    said = proofstone(
        "correct",
        "edit",
        f"item:{item}",
        "--set",
        f"template={template}",
        "--reason",
        "clearer",
        "-w",
        made,
    )
    assert said.code == 0
    assert re.fullmatch(
        rf"item:\w{{8}}  corrects item:{item}  by actor \w{{8}}\n"
        r"  changed  template\n"
        r"  form     (old-books-\w{4})  corrects old-books-\w{4}   1 item differs\n",
        said.out,
    )
    next_lines = [line for line in said.err.splitlines() if line.startswith("Next: ")]
    assert [re.sub(r"^.* -m (\S+)( --prompt-method cot)?  #.*$", r"\2",
        line) for line in next_lines] == [
        " --prompt-method cot", "",
    ]  # fmt: skip
    assert all(line.startswith("Next: proofstone run old-books-") for line in next_lines)
    new = said.out[5:13]
    shown = proofstone("show", f"item:{new}", "-w", made).out
    assert f"corrects      item:{item}" in re.sub(r"corrects +", "corrects      ", shown)
    assert ": clearer" in shown
    values = made / "values.json"
    values.write_text('{"book": "Another"}', encoding="utf-8")
    done = proofstone(
        "correct", "edit", f"item:{new}", "--from", values, "--reason", "b", "-w", made, "--json"
    ).json
    assert (done["former"][:8], done["fields"], done["kind"]) == (new, ["book"], "item")
    assert done["forms"][0]["n_changed"] == 1


def test_an_editor_opens_the_fields(
    made: Path, proofstone: Proofstone, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What it leaves is the new version; left as it was, nothing is made."""
    item = responses(proofstone, made, "right")[0].split("/")[1]
    script = tmp_path / "editor.py"
    script.write_text(
        "import json, os, sys\n"
        "fields = json.load(open(sys.argv[1], encoding='utf-8'))\n"
        "fields['subfield'] = 'Edited'\n"
        "json.dump(fields, open(sys.argv[1], 'w', encoding='utf-8'))\n"
        "os.utime(sys.argv[1], (1, 1))\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("VISUAL", f"{sys.executable} {script}")
    said = proofstone("correct", "edit", f"item:{item}", "--reason", "x", "-w", made, "--json")
    assert said.json["fields"] == ["subfield"]
    monkeypatch.setenv("VISUAL", "true")
    new = said.json["new"][:8]
    left = proofstone("correct", "edit", f"item:{new}", "--reason", "x", "-w", made)
    assert (left.code, "nothing was saved" in left.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--set", "template=1"], "missing option --reason"),
        (["--set", "template", "--reason", "x"], "expected FIELD=VALUE"),
        (["--set", "colour=red", "--reason", "x"], "colour: cannot be changed"),
        (["--set", "answer=B", "--reason", "x"], "follow from its statements: edit those"),
        (["--set", "asked=neither", "--reason", "x"], "asked: expected correct or incorrect"),
        (["--set", "book=B", "--form", "old-books-ffff", "--reason", "x"], "no form is named"),
    ],
)
def test_an_edit_that_cannot_be_is_refused(
    made: Path, proofstone: Proofstone, arguments: list[str], told: str
) -> None:
    item = responses(proofstone, made, "right")[0].split("/")[1]
    said = proofstone("correct", "edit", f"item:{item}", *arguments, "-w", made)
    assert (said.code, told in said.err) == (2, True), said.err


def test_a_file_that_is_no_object_is_refused(made: Path, proofstone: Proofstone) -> None:
    item = responses(proofstone, made, "right")[0].split("/")[1]
    for text, told in (("[1]", "holds list"), ("{", "is not JSON")):
        values = made / "values.json"
        values.write_text(text, encoding="utf-8")
        said = proofstone(
            "correct", "edit", f"item:{item}", "--from", values, "--reason", "b", "-w", made
        )
        assert (said.code, told in said.err) == (2, True)


def test_scorings_are_listed_and_can_be_chosen(made: Path, proofstone: Proofstone) -> None:
    run = responses(proofstone, made, "right")[0].split("/")[0]
    proofstone("grade", f"run:{run}", "--again", "-w", made)
    said = proofstone("grade", f"run:{run}", "--list", "-w", made, "--json").json
    assert said["scored"] is None
    assert [one["is_current"] for one in said["scorings"]] == [False, True]
    first = said["scorings"][0]["id"]
    chosen = row(proofstone, made, "--scoring", f"scoring:{first}")
    assert chosen == row(proofstone, made, "--scoring", "first") == row(proofstone, made)
    wrong = proofstone("leaderboard", "old-books", "--scoring", "zz", "-w", made)
    assert (wrong.code, first in wrong.err) == (2, True)
