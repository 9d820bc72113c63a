"""``--audience``: what is written for the public holds no text of items, passages or replies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proofstone.api import create_workspace, open_workspace
from scripted_server import Act, Seen, answer
from serving import configure, serving
from small_bank import rows, write_lines
from told import Proofstone, page_with_files

STATEMENT, RESPONSE, REASONING, PROMPT = (
    f"planted-{kind}-5e1f" for kind in ("statement", "response", "reasoning", "prompt")
)
HIDDEN = tuple(f"planted-reason-of-a-{what}" for what in ("fact", "override", "exclusion"))
SHOWN_INSIDE = (STATEMENT, RESPONSE, REASONING, PROMPT, HIDDEN[0])
MODELS = tuple(f"scripted/m{number}" for number in range(4))


def talkative(seen: Seen) -> Act:
    """Answers that hold texts, right ones and wrong ones, one without an answer."""
    letter = "ABCD"[(seen.number // 3) % 4]
    said = f"{RESPONSE} Answer: {letter}" if seen.number % 5 else RESPONSE
    return answer(said, reasoning_content=REASONING)


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace whose statements, template, replies and reasons each hold a string of their own;
    four models were asked, one reply was ruled on, an item retired."""
    folder = tmp_path_factory.mktemp("audience")
    bank = [
        {**row, "text": f"{STATEMENT} {row['text']}"}
        | ({"reason": HIDDEN[0]} if "reason" in row else {})
        for row in rows()
    ]
    template = folder / "mine.jinja"
    template.write_text(f"{PROMPT} {{{{ question }}}}", encoding="utf-8")
    create_workspace(folder / "work").close()
    with serving(talkative) as server:
        configure(folder / "work", server.url)
        with open_workspace(folder / "work") as workspace:
            forms = workspace.build_form(
                workspace.import_bank(write_lines(folder / "old-books.jsonl", bank)), questions=12
            )
            workspace.run(forms, models=list(MODELS), prompt_template=template)
    return folder / "work"


def test_own_runs_for_the_public_hold_no_text(
    proofstone: Proofstone, worked: Path, tmp_path: Path
) -> None:
    """Neither the page nor any JSON; the same for colleagues holds all of it, also why a statement
    is false, but not the reasons of corrections."""
    run = proofstone("list", "run", "-w", worked, "--json").json[0]["id"]
    shown = proofstone("show", run, "-n", 1, "-w", worked, "--json").json
    first = (shown if isinstance(shown, list) else shown["responses"])[0]
    response = f"{run[:8]}/{first['item']}/0"
    assert (
        proofstone(
            "correct", "override", response, "correct", "--reason", HIDDEN[1], "-w", worked
        ).code
        == 0
    )
    told = proofstone(
        "correct", "exclude", f"item:{first['item']}", "--reason", HIDDEN[2], "-w", worked
    )
    assert told.code == 0, told.err
    said = {}
    for audience in ("internal", "public"):
        page, audited = tmp_path / f"{audience}.html", tmp_path / f"audited-{audience}.html"
        how = ("old-books", "-w", worked, "--audience", audience, "--json")
        tables = ("--tables", "csv,tex", "--tables-to", tmp_path / audience)
        report = proofstone("report", *how, "-o", page, *tables)
        assert (report.json["page"], report.json["audience"]) == (str(page), audience)
        audit = proofstone("audit", *how, "-o", audited, "--flagged-items", tmp_path / "work.jsonl")
        assert audit.json["audience"] == audience
        said[audience] = [
            page_with_files(page), page_with_files(audited), audit.out,
            (tmp_path / "work.jsonl").read_text(encoding="utf-8"),
            *(file.read_text(encoding="utf-8") for file in (tmp_path / audience).iterdir()),
        ]  # fmt: skip
    for text in said["public"]:
        assert "planted-" not in text
    for text in said["internal"]:
        assert not [planted for planted in HIDDEN[1:] if planted in text]
    for page in said["internal"][:2]:
        assert not [planted for planted in SHOWN_INSIDE if planted not in page]


def test_each_page_says_first_whom_it_is_for(
    proofstone: Proofstone, worked: Path, tmp_path: Path
) -> None:
    """In its head and before the answer; internal unless told."""
    page = tmp_path / "page.html"
    for options, word in (((), "internal"), (("--audience", "public"), "public")):
        assert proofstone("report", "old-books", "-w", worked, "-o", page, *options).code == 0
        text = page.read_text(encoding="utf-8")
        assert f'<meta name="audience" content="{word}">' in text
        assert f" \u00b7 {word}</p>" in text.partition('id="answer"')[0]


ITEM, ANSWER_KEY, WRONG, PASSAGE, ADVICE = (
    f"planted {kind} 77c0" for kind in ("item", "right answer", "wrong answer", "passage", "note")
)


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """Nine models on 30 items, named by their texts; on the first the five best give one wrong
    answer, the others the right one. Passages are clusters, a long text a stratum."""
    lines = []
    for item in range(30):
        for who in range(9):
            is_right = who < 4 if item == 0 else item < 3 * who + 3
            lines.append(
                {
                    "question": f"{ITEM} {item}?", "model": f"m{who}", "score": int(is_right),
                    "answer": f"{ANSWER_KEY} {item}" if is_right else f"{WRONG} {item}",
                    "answer_key": f"{ANSWER_KEY} {item}", "passage": f"{PASSAGE} {item // 2}",
                    "topic": f"{ADVICE} {item % 2} " + "so long that it is a text. " * 4,
                }
            )  # fmt: skip
    return write_lines(tmp_path / "answers.jsonl", lines)


def test_files_for_the_public_number_their_items(
    proofstone: Proofstone, foreign: Path, tmp_path: Path
) -> None:
    """No name of an item, answer, key, passage or long group stands anywhere; the numbers do not
    move. For colleagues the items and answers stand as the file has them."""
    page, work = tmp_path / "page.html", tmp_path / "work.csv"
    found = {}
    for audience in ("internal", "public"):
        told = proofstone(
            "audit", foreign, "--item-col", "question", "--answer-col", "answer",
            "--answer-key-col", "answer_key",
            "--cluster-col", "passage", "--group-col", "topic", "--audience", audience,
            "-o", page, "--flagged-items", work, "--json", "--tables", "csv,tex", "--tables-to",
            tmp_path / audience,
        )  # fmt: skip
        assert told.code == 0, told.err
        written = [page.read_text(encoding="utf-8"), work.read_text(encoding="utf-8"), told.out]
        tables = "".join(
            file.read_text(encoding="utf-8") for file in (tmp_path / audience).iterdir()
        )
        assert ("planted" in tables) == (audience == "internal")
        found[audience] = told.json
        if audience == "public":
            assert not [text for text in written if "planted" in text]
            assert "item 1" in written[0]
        else:
            assert all(f"{ITEM} 0?" in text and f"{WRONG} 0" in text for text in written)
    ours, theirs = found["internal"], found["public"]
    assert [row["place"] for row in ours["flagged_items"]] == [
        row["place"] for row in theirs["flagged_items"]
    ]
    accused = theirs["flagged_items"][0]
    assert (accused["target"], accused["distractor"][:7]) == ("item 1", "answer ")
    rows = [board["board"]["standings"][0]["ranked"] for board in (ours, theirs)]
    assert rows[0] == rows[1]


@pytest.mark.parametrize("audience", ["internal", "public"])
def test_no_folder_of_this_machine_stands_in_it(
    proofstone: Proofstone, tmp_path: Path, audience: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither that of the files, nor of the page, nor of a model that a log names by its path."""
    home = tmp_path / "home" / "somebody"
    home.mkdir(parents=True)
    path = home / "results.csv"
    path.write_text(f"item,model,score\n1,{home}/m,1\n1,other,0\n2,{home}/m,0\n2,other,0\n")
    wide = home / "wide.csv"
    wide.write_text(f"item,hf/{home}/w,b\n1,1,0\n2,0,0\n")
    for file in (path, wide):
        page = home / f"{file.stem}.html"
        words = ("audit", str(file), "-o", str(page), "--json", "--audience", audience)
        monkeypatch.setattr("sys.argv", ["proofstone", *words])
        told = proofstone(*words)
        assert told.code == 0, told.err
        text = page.read_text(encoding="utf-8")
        assert str(tmp_path) not in text
        assert str(tmp_path) not in json.dumps(told.json)
        assert f"proofstone audit {file.name} -o {page.name}" in text
