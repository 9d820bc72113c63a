"""Each command on a small workspace: results on stdout, talk on stderr, JSON that reads."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from small_bank import BOOKS, PER_BOOK, rows, write_bank, write_lines
from told import Proofstone

QUESTIONS = 8
RIVERS = """
title = "Rivers"
language = "en"
discipline = "Science"
key = "river"
[columns.length]
values = "number"
[[points]]
name = "length"
column = "length"
title = "length of the {river}"
say = ["The {river} is {length} km long."]
"""
STATEMENTS = 2 * len(BOOKS) * PER_BOOK


def test_init_makes_a_workspace_and_leaves_one_as_it_is(
    tmp_path: Path, proofstone: Proofstone
) -> None:
    """Twice the same folder is the same workspace; settings that stand in it stay."""
    first = proofstone("init", tmp_path / "new", "--json")
    (tmp_path / "new" / "proofstone.toml").write_text("# mine\n", encoding="utf-8")
    again = proofstone("init", tmp_path / "new", "--json")
    assert (first.code, again.code) == (0, 0)
    assert first.json == again.json
    assert (tmp_path / "new" / "proofstone.toml").read_text(encoding="utf-8") == "# mine\n"
    said = proofstone("init", tmp_path / "new")
    assert said.out == f"workspace {tmp_path / 'new'}\n"
    assert said.err.startswith("next, with documents: proofstone start FOLDER")


def test_a_workspace_is_found_upwards(made: Path) -> None:
    """As git finds its repository: from any folder below."""
    below = made / "notes" / "deep"
    below.mkdir(parents=True)
    done = subprocess.run(
        [sys.executable, "-m", "proofstone", "status"],
        cwd=below, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, f"workspace {made.resolve()}")


def test_status_counts_and_names_what_is_unfinished(made: Path, proofstone: Proofstone) -> None:
    """Complete runs need nothing; one with a limit is listed with the line that resumes it."""
    said = proofstone("status", "-w", made)
    assert said.out.splitlines()[1] == f"source 0   fact {STATEMENTS}   bank 1   form 1   run 4"
    assert said.err == "all runs are complete; look: proofstone leaderboard FORM-OR-BANK\n"

    proofstone("run", "old-books", "-m", "sim/cas", "--limit", 3, "-w", made)
    said = proofstone("status", "-w", made)
    assert re.fullmatch(
        rf"unfinished  run:\w{{8}}  sim/cas direct  3 of {QUESTIONS}", said.out.splitlines()[2]
    )
    assert re.fullmatch(r"go on: proofstone resume run:\w{8}\n", said.err)
    report = proofstone("status", "-w", made, "--json").json
    assert report["counts"]["run"] == 5
    assert [run["done"] for run in report["unfinished"]] == [3]


def test_doctor_says_what_is_well(made: Path, proofstone: Proofstone) -> None:
    """Installation, workspace, database, disk; what is missing comes with what to do."""
    said = proofstone("doctor", "-w", made)
    assert said.code == 0
    assert f"ok      workspace          {made}\n" in said.out
    assert "ok      database           SQLite, schema is current\n" in said.out
    findings = proofstone("doctor", "-w", made, "--json").json
    assert {finding["name"] for finding in findings} >= {"python", "proofstone", "disk", "database"}
    bad = proofstone("doctor", "-w", made / "nowhere")
    assert bad.code == 2
    assert f"MEND    workspace          there is no folder {made / 'nowhere'}\n" in bad.out


def test_ingest_reads_documents(empty: Path, tmp_path: Path, proofstone: Proofstone) -> None:
    """A document becomes a source with passages that show verbatim; again, it changes nothing."""
    note = tmp_path / "note.md"
    note.write_text("# Stars\n\nThe morning star is a planet.\n", encoding="utf-8")
    (taken,) = proofstone("ingest", note, "-w", empty, "--json").json["taken"]
    assert taken["n_passages"] >= 1
    said = proofstone("ingest", note, "-w", empty)
    assert said.out.startswith(f"source {taken['id'][:8]}  ")
    assert len(proofstone("list", "source", "-w", empty, "--json").json) == 1
    shown = proofstone("show", f"source:{taken['id'][:8]}", "-w", empty)
    assert shown.code == 0
    assert str(taken["title"]) in shown.out


def test_statements_are_built_from_a_table(
    empty: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """The bank is named after its table; the same command again gives the same bank."""
    table = tmp_path / "rivers.csv"
    lines = ["river,length", *(f"River {n},{100 + 7 * n}" for n in range(30))]
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "rivers.toml").write_text(RIVERS, encoding="utf-8")
    first = proofstone("build", "statements", table, "-w", empty, "--json")
    assert first.code == 0, first.err
    again = proofstone("build", "statements", table, "-w", empty, "--json")
    assert again.json == first.json
    assert first.json["statements"] > 0
    said = proofstone("build", "statements", table, "-w", empty)
    assert said.err == f"next: proofstone build form rivers-{first.json['bank'][:4]} --seeds 3\n"


def test_forms_are_built_by_seed(made: Path, proofstone: Proofstone) -> None:
    """--seeds 5 makes five forms from --seed on; a list or range names them; again, the same."""
    build = ("build", "form", "old-books", "-w", made, "--questions", 4)
    five = proofstone(*build, "--seeds", 5, "--seed", 10, "--json").json
    assert [form["seed"] for form in five] == [10, 11, 12, 13, 14]
    assert {form["items"] for form in five} == {4}
    named = proofstone(*build, "--seeds", "11,13-14", "--json").json
    assert [form["form"] for form in named] == [five[n]["form"] for n in (1, 3, 4)]
    said = proofstone(*build, "--seeds", "11")
    assert len(said.out.splitlines()) == 11
    assert said.err.startswith("next: proofstone run old-books-")


def test_a_sweep_makes_a_form_a_value(made: Path, proofstone: Proofstone) -> None:
    """4 to 10 options: seven forms of the same statements and gold, that differ in options only."""
    sweep = ("build", "form", "old-books", "-w", made, "--questions", 4, "--sweep", "options=4..10")
    forms = proofstone(*sweep, "--json").json
    assert [form["recipe"]["options"] for form in forms] == [[n, n] for n in range(4, 11)]
    texts = [
        proofstone("show", f"form:{form['form'][:12]}", "-w", made, "--json").json["texts"]
        for form in forms
    ]
    statements = [[re.findall(r"(?m)^  (?:true|false) .*$", t) for t in ts] for ts in texts]
    assert statements == [statements[0]] * 7
    assert [len(re.findall(r"(?m)^(?:->|  ) \w\) ", ts[0])) for ts in texts] == [*range(4, 11)]


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet", "jsonl.gz"])
def test_a_bank_goes_out_and_comes_back_the_same(
    made: Path, empty: Path, tmp_path: Path, proofstone: Proofstone, suffix: str
) -> None:
    """Exported and imported into another workspace, a bank has the very same id."""
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    file = tmp_path / f"out.{suffix}"
    out = proofstone("export", "old-books", "-o", file, "-w", made, "--json")
    assert out.json == {"file": str(file), "rows": STATEMENTS}
    back = proofstone("import", file, "--as", "bank", "-w", empty, "--json")
    assert back.code == 0, back.err
    (there,) = proofstone("list", "bank", "-w", made, "--json").json
    assert back.json == {"bank": there["id"], "name": "out", "rows": STATEMENTS}


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_a_form_goes_out_and_comes_back_to_be_asked(
    made: Path, empty: Path, tmp_path: Path, proofstone: Proofstone, suffix: str
) -> None:
    """A form's file holds whole questions: elsewhere it is asked and ranked without its bank."""
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    file = tmp_path / f"made.{suffix}"
    (form,) = proofstone("list", "form", "-w", made, "--json").json
    assert proofstone("export", f"form:{form['id']}", "-o", file, "-w", made).code == 0
    back = proofstone("import", file, "--as", "form", "-w", empty)
    assert re.fullmatch(rf"form   made-\w{{4}}   {QUESTIONS} questions\n", back.out), back.err
    run = proofstone("run", "made", "-m", "sim/ann?ability=1", "-w", empty, "--json")
    assert [result["scored"] for result in run.json] == [QUESTIONS]
    board = proofstone("leaderboard", "made", "-w", empty, "--json").json
    assert board["standings"][0]["ranked"][0]["estimate"]["value"] == 1.0


def test_columns_that_mean_nothing_are_named(
    empty: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """A misspelt column would be lost unseen: it is named with the one it may mean; the statements
    are taken. A column that only some rows need is no such one."""
    lines = [
        {**{k: v for k, v in row.items() if k != "discipline"}, "Disipline": "Lore", "shelf": 3}
        for row in sorted(rows(), key=lambda row: not row["correct"])
    ]
    file = write_lines(tmp_path / "bank.jsonl", lines)
    said = proofstone("import", file, "--as", "bank", "-w", empty)
    assert said.code == 0
    note, _next = said.err.splitlines()
    assert note == "note: not taken, for they mean nothing here: Disipline (discipline?), shelf"
    filtered = proofstone("import", file, "--as", "bank", "--filter", "-w", empty)
    assert note in filtered.err
    sound = proofstone("import", write_bank(tmp_path), "--as", "bank", "-w", empty)
    assert "note:" not in sound.err


def test_rows_that_were_dropped_need_a_folder_before_anything_is_stored(
    empty: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    target = tmp_path / "missing" / "dropped.csv"
    said = proofstone(
        "import", write_bank(tmp_path), "--as", "bank", "--filter", "--dropped", target, "-w", empty
    )
    assert (said.code, said.out) == (2, "")
    assert "there is no folder" in said.err
    assert proofstone("list", "bank", "-w", empty, "--json").json == []


def test_importing_what_is_here_says_under_which_name(
    made: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """The next step that is printed works."""
    file = write_bank(tmp_path)
    said = proofstone("import", file, "--as", "bank", "--name", "other", "-w", made)
    assert said.out.startswith("bank   old-books-")
    assert "are here already, under the name old-books\n" in said.err
    step = re.search(r"next: proofstone (.*)\n", said.err)
    assert step is not None
    assert proofstone(*step[1].split(), "--questions", 4, "-w", made).code == 0


def test_run_reports_each_run_and_repeats_nothing(made: Path, proofstone: Proofstone) -> None:
    """One line a run on stdout, the next step on stderr; the second time the same result."""
    command = ("run", "old-books", "-m", "sim/eve,sim/fay", "-m", "sim/eve", "-w", made)
    first = proofstone(*command)
    lines = first.out.splitlines()
    assert first.code == 0
    assert [line.split("  ")[1] for line in lines] == ["sim/eve direct", "sim/fay direct"]
    assert all(line.endswith(f"{QUESTIONS} of {QUESTIONS} scored, complete") for line in lines)
    assert "look: proofstone leaderboard run:" in first.err
    quiet = proofstone(*command, "-q")
    assert (quiet.out, quiet.err) == (first.out, "")
    results = proofstone(*command, "--json").json
    assert [(r["model"], r["scored"], r["complete"]) for r in results] == [
        ("sim/eve", QUESTIONS, True),
        ("sim/fay", QUESTIONS, True),
    ]


def test_a_limited_run_is_incomplete_until_it_is_resumed(
    made: Path, proofstone: Proofstone
) -> None:
    """Exit 3 and the line that goes on; that line ends with 0."""
    part = proofstone("run", "old-books", "-m", "sim/gus", "--limit", 2, "-w", made)
    assert part.code == 3
    step = re.search(r"go on: proofstone (.*)\n", part.err)
    assert step is not None
    whole = proofstone(*step[1].split(), "-w", made)
    assert whole.code == 0
    assert f"{QUESTIONS} of {QUESTIONS} scored, complete" in whole.out
    again = proofstone(*step[1].split(), "-w", made, "--json")
    assert (again.code, again.json[0]["complete"]) == (0, True)


def test_score_counts_what_it_scored(made: Path, proofstone: Proofstone) -> None:
    """From stored replies; --again makes a new scoring of the same."""
    run = proofstone("list", "run", "-w", made, "--json").json[0]
    said = proofstone("score", f"run:{run['id']}", "-w", made)
    assert said.out == f"run:{run['id']}   {QUESTIONS} scored\n"
    again = proofstone("score", f"run:{run['id']}", "--again", "-w", made, "--json")
    assert (again.json["run"], again.json["scored"]) == (f"run:{run['id']}", QUESTIONS)
    assert [one["is_current"] for one in again.json["scorings"]] == [False, True]


def test_leaderboard_ranks_with_intervals(made: Path, proofstone: Proofstone) -> None:
    """Each respondent once; simulated ones say so; levels, estimands and breakdowns change it."""
    said = proofstone("leaderboard", "old-books", "-w", made)
    assert said.code == 0
    assert said.out.startswith("form    old-books-")
    assert "SIMULATED respondents" in said.out
    names = re.findall(r"(?m)^ *[\d-]+  (sim/\S+) +(direct|cot) ", said.out)
    assert sorted(names) == [
        (name, way) for name in ("sim/ann?ability=0.8", "sim/bob?miss=0.5")
        for way in ("cot", "direct")
    ]  # fmt: skip
    assert "knowledge like this bank's" in said.out
    fresh = proofstone("leaderboard", "old-books", "-w", made, "--estimand", "bank")
    assert "95% intervals for this bank" in fresh.out
    level = proofstone("leaderboard", "old-books", "-w", made, "--level", "subfield", "--json").json
    assert level["level"] == "subfield"
    by = proofstone("leaderboard", "old-books", "-w", made, "--by", "subfield,position")
    assert by.code == 0
    assert f"\n{'subfield':<13}" not in said.out
    assert "\nsubfield " in by.out
    assert "\ngold position " in by.out


def test_a_breakdown_that_is_none_prints_no_half_result(made: Path, proofstone: Proofstone) -> None:
    """The refusal comes before the table, with the breakdowns that there are."""
    said = proofstone("leaderboard", "old-books", "-w", made, "--by", "colour")
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        "error [PS-201] no breakdown by 'colour'\n  there is: book, gold position, subfield\n"
    )


def test_the_leaderboards_json_holds_what_its_table_shows(
    made: Path, proofstone: Proofstone
) -> None:
    """Estimate with n and interval, rates, runs, for every row."""
    board = proofstone("leaderboard", "old-books", "-w", made, "--json").json
    (standings,) = board["standings"]
    assert (board["n_items"], standings["simulated"]) == (QUESTIONS, True)
    for row in standings["ranked"]:
        estimate = row["estimate"]
        assert 0 <= estimate["low"] <= estimate["value"] <= estimate["high"] <= 1
        assert (estimate["n"], row["n_replies"], len(row["runs"])) == (QUESTIONS, QUESTIONS, 1)


def test_report_writes_one_page(made: Path, tmp_path: Path, proofstone: Proofstone) -> None:
    """A page of its own, that names the models."""
    page = tmp_path / "page.html"
    said = proofstone("report", "old-books", "-o", page, "-w", made)
    assert (said.code, said.out) == (0, f"page   {page}\n")
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "sim/ann?ability=0.8" in text
    told = proofstone("report", "old-books", "-o", page, "-w", made, "--json").json
    assert (told["page"], told["audience"]) == (str(page), "internal")


@pytest.mark.parametrize(("kind", "n"), [("source", 0), ("bank", 1), ("form", 1), ("run", 4)])
def test_list_shows_what_there_is(made: Path, proofstone: Proofstone, kind: str, n: int) -> None:
    """Each row with the id by which show finds it."""
    found = proofstone("list", kind, "-w", made, "--json").json
    said = proofstone("list", kind, "-w", made)
    assert (len(found), said.code, said.err) == (n, 0, "")
    shown = re.findall(rf"{kind}:\w{{8}}", said.out)
    assert shown == [f"{kind}:{row['id'][:8]}" for row in found]
    for name in shown:
        assert proofstone("show", name, "-w", made).code == 0


def test_a_listing_tells_forms_of_one_name_apart(made: Path, proofstone: Proofstone) -> None:
    """By the number of questions and the seed; one that was corrected since says so."""
    proofstone("build", "form", "old-books", "--seeds", "4,5", "--questions", 4, "-w", made)
    item = proofstone("export", "old-books", "--what", "scores", "-o", made / "s.jsonl", "-w", made)
    assert item.code == 0
    first = json.loads((made / "s.jsonl").read_text(encoding="utf-8").splitlines()[0])["item"]
    proofstone("edit", f"item:{first}", "--set", "book=Other", "--reason", "x", "-w", made)
    lines = proofstone("list", "form", "-w", made).out.splitlines()
    abouts = sorted(line.split("  ", 2)[2].strip() for line in lines)
    assert abouts == [
        "4 questions   seed 4",
        "4 questions   seed 5",
        "8 questions   seed 0",
        "8 questions   seed 0   corrected since",
    ]


def test_the_line_to_look_closer_names_a_few_runs_or_their_forms(
    made: Path, proofstone: Proofstone
) -> None:
    models = ",".join(f"sim/m{n}" for n in range(5))
    said = proofstone("run", "old-books", "-m", models, "-w", made)
    (look,) = [line for line in said.err.splitlines() if line.startswith("look: ")]
    assert re.fullmatch(r"look: proofstone leaderboard form:\w{8}", look)
    assert proofstone(*look.split()[2:], "-w", made).code == 0


def test_show_follows_a_run_to_its_facts(made: Path, proofstone: Proofstone) -> None:
    """From a run to the question, from the question to a statement, from it to its origin."""
    (bank,) = proofstone("list", "bank", "-w", made, "--json").json
    assert f"facts    {STATEMENTS}\n" in proofstone("show", bank["id"], "-w", made).out
    (listed,) = proofstone("list", "form", "-w", made, "--json").json
    form = proofstone("show", f"form:{listed['id']}", "-w", made).out
    item = re.search(r"item:\w{8}", form)
    assert item is not None
    question = proofstone("show", item[0], "-w", made)
    facts = re.findall(r"fact:\w{8}", question.out)
    assert len(facts) >= 8
    texts = [proofstone("show", fact, "-w", made).out for fact in facts]
    assert all("drawings" in text for text in texts)
    falsified = next(text for text in texts if "error_type" in text)
    origin = re.search(r"(?m)^origin +(\w{64})$", falsified)
    assert origin is not None
    assert "correct  True\n" in proofstone("show", origin[1], "-w", made).out
    assert proofstone("show", item[0], "-w", made, "--json").json["title"] == item[0]


def test_show_prints_what_was_sent_and_what_came(made: Path, proofstone: Proofstone) -> None:
    """The wrong answers of one model: exact messages, raw reply, extraction, no more than asked."""
    (form,) = proofstone("list", "form", "-w", made, "--json").json
    show = (
        "show",
        f"form:{form['id']}",
        "-m",
        "sim/bob?miss=0.5",
        "--outcome",
        "unparsed",
        "-n",
        2,
    )
    said = proofstone(*show, "-w", made)
    assert said.out.count("--- sent, user\n") == 2
    assert said.out.count("--- raw reply (") == 2
    assert said.out.count("--- accuracy: unparsed   nothing extracted") == 2
    replies = proofstone(*show, "-w", made, "--json").json
    for reply in replies:
        (call,) = reply["calls"]
        assert call["prompt"][0]["role"] == "user"
        assert json.loads(call["raw"])["choices"][0]["message"]["role"] == "assistant"
        assert reply["scores"][0]["outcome"] == "unparsed"
    wrong = proofstone(
        "show", "old-books", "--outcome", "wrong", "-n", 1, "-w", made, "--json"
    ).json
    assert [reply["scores"][0]["value"] for reply in wrong] == [0.0]
    none = proofstone("show", "old-books", "--outcome", "refused", "-w", made)
    assert (none.code, none.out, none.err) == (0, "", "no reply fits\n")
    absent = proofstone("show", "old-books", "-m", "sim/zoe", "-w", made)
    assert absent.code == 2
    assert "there is: sim/ann?ability=0.8, sim/bob?miss=0.5" in absent.err


def test_extract_adds_the_letter_to_each_row(tmp_path: Path, proofstone: Proofstone) -> None:
    """A file in, rows out on stdout or to -o; no workspace; other fields stay."""
    replies = [
        ("Answer: B", "B", "answered"),
        ("no idea", "", "unparsed"),
        ("Answer: Q", "Q", "unparsed"),
    ]
    file = write_lines(
        tmp_path / "replies.jsonl",
        [{"response": text, "options": 4, "id": n} for n, (text, _l, _o) in enumerate(replies)],
    )
    said = proofstone("extract", file)
    found = [json.loads(line) for line in said.out.splitlines()]
    assert [(row["letter"], row["outcome"]) for row in found] == [r[1:] for r in replies]
    assert [row["id"] for row in found] == [0, 1, 2]
    to_file = proofstone("extract", file, "-o", tmp_path / "out.jsonl")
    assert (to_file.code, to_file.out) == (0, "")
    assert (tmp_path / "out.jsonl").read_text(encoding="utf-8") == said.out


def test_models_are_listed_with_what_they_lack(made: Path, proofstone: Proofstone) -> None:
    """The entries of the file and the known providers."""
    (made / "proofstone.toml").write_text(
        '[models."here/small"]\nbase_url = "http://127.0.0.1:9/v1"\n', encoding="utf-8"
    )
    listed = {
        model["name"]: model for model in proofstone("models", "list", "-w", made, "--json").json
    }
    assert listed["here/small"]["endpoint"] == "http://127.0.0.1:9/v1"
    assert "openai/..." in listed
    assert "here/small" in proofstone("models", "list", "-w", made).out


def test_a_model_without_its_key_is_listed_with_its_endpoint(
    made: Path, proofstone: Proofstone
) -> None:
    """In few words: where it would be asked, and the variables that are not set."""
    (made / "proofstone.toml").write_text(
        '[models."there/large"]\nbase_url = "https://there.example/v1"\n'
        'api_key_env = "THERE_KEY"\nheaders = { X-Gate = "$GATE_KEY" }\n',
        encoding="utf-8",
    )
    lines = proofstone("models", "list", "-w", made).out.splitlines()
    (line,) = [line for line in lines if line.startswith("there/large ")]
    assert line.split("  ")[-1].strip() == "THERE_KEY, GATE_KEY not set"
    assert "https://there.example/v1" in line


def test_several_forms_of_one_name_are_listed_to_choose_from(
    made: Path, proofstone: Proofstone
) -> None:
    """Forms of several seeds share the name that was given; each is named in its own words."""
    built = proofstone(
        "build", "form", "old-books", "--seeds", 2, "--questions", 4, "--name", "two", "-w", made
    ).out
    names = re.findall(r"two-\w{4}", built)
    said = proofstone("run", "two", "-m", "sim/ann", "-w", made)
    assert (said.code, said.out) == (2, "")
    head, hint = said.err.splitlines()
    assert head == "error [PS-201] 'two' names 2 forms"
    listed = hint.removeprefix("  name one of: ").split(", ")
    assert sorted(name[:8] for name in listed) == sorted(names)


def test_commands_that_are_printed_can_be_pasted(
    empty: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """A name with a space or a sign of the shell's is quoted in what to do next."""
    file = write_bank(tmp_path)
    said = proofstone("import", file, "--as", "bank", "--name", "my <bank>", "-w", empty)
    (digits,) = re.findall(r"my <bank>-(\w{4})", said.out)
    assert said.err == f"next: proofstone build form 'my <bank>-{digits}'\n"


def test_stored_texts_have_no_power_over_the_terminal(
    empty: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """An escape sequence and a mark of direction are shown and not obeyed."""
    text = "a \x1b[31mred \u202eleaf\nand a second line"
    file = write_lines(tmp_path / "bank.jsonl", [{"text": text, "correct": True}])
    proofstone("import", file, "--as", "bank", "--name", "odd\x1b[2J", "-w", empty)
    (bank,) = proofstone("list", "bank", "-w", empty, "--json").json
    said = proofstone("show", f"bank:{bank['id']}", "-w", empty)
    assert "text     a \\x1b[31mred \\u202eleaf\nand a second line\n" in said.out
    assert "odd\\x1b[2J" in proofstone("list", "bank", "-w", empty).out
    for told in (said, proofstone("show", "odd\x1b[2J-ffff", "-w", empty)):
        assert "\x1b" not in told.out + told.err


def test_the_bank_of_these_tests_is_sound() -> None:
    """Half of its statements are true, and every false one names a true one."""
    ids = {row["id"] for row in rows() if row["correct"]}
    assert len(ids) * 2 == len(rows()) == STATEMENTS
    assert {row["origin"] for row in rows() if not row["correct"]} == ids


def test_a_role_in_a_whole_file_marks_the_model(
    empty: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """Of a bank it is a role in each statement, of a form one in the set; ROLE=MODEL is checked."""
    bank = write_bank(tmp_path)
    done = proofstone("import", bank, "--as", "bank", "--role", "checked=sim/ann", "-w", empty)
    assert done.code == 0
    proofstone("build", "form", "old-books", "--questions", QUESTIONS, "-w", empty)
    proofstone("run", "old-books", "-m", "sim/ann,sim/bob", "-q", "-w", empty)
    said = proofstone("leaderboard", "old-books", "-w", empty).out
    assert f"* sim/ann direct: checked {QUESTIONS} of the {QUESTIONS} items; none is left" in said
    wrong = proofstone("import", bank, "--as", "bank", "--role", "made=sim/ann", "-w", empty)
    assert wrong.code == 2
    assert "expected ROLE=MODEL, with one of wrote, falsified, checked" in wrong.err


RAW = (
    {"id": "a", "text": "Heat flows from hot to cold (see Section 3).", "correct": True},
    {"id": "b", "text": "Figure 2 shows how heat flows.", "correct": True},
    {"text": "Heat flows uphill in our country.", "correct": False, "origin": "a"},
    {"text": "Heat flows from cold to hot by itself.", "correct": False, "origin": "b"},
    {"text": "Heat rests.", "correct": False, "origin": "a"},
)
FUNNEL = """\
                   correct  falsified  all
entered                  2          3    5
figure                  -1          0   -1
reference                0          0    0
ambiguous                0         -1   -1
too short                0         -1   -1
same once cleaned        0          0    0
origin dropped           0         -1   -1
left                     1          0    1
of these cleaned         1          0    1
"""


def test_import_with_filters_prints_and_keeps_the_funnel(
    empty: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """The table on stdout, each row that went in the file, and the counts again by ``show``."""
    write_lines(tmp_path / "raw.jsonl", list(RAW))
    dropped = tmp_path / "dropped.jsonl"
    taken = ("import", tmp_path / "raw.jsonl", "--as", "bank", "--filter", "-w", empty)
    said = proofstone(*taken, "--dropped", dropped)
    assert said.code == 0
    assert said.out.startswith(FUNNEL + "bank   raw-")
    assert f"{dropped}   5 rows dropped or cleaned, each with its reason\n" in said.err
    rows = [json.loads(line) for line in dropped.read_text(encoding="utf-8").splitlines()]
    assert [(row["filter_place"], row["filter_reason"]) for row in rows] == [
        ("line 1", "cleaned"),
        ("line 2", "figure"),
        ("line 3", "ambiguous"),
        ("line 4", "origin dropped"),
        ("line 5", "too short"),
    ]
    assert rows[0]["filter_before"] == RAW[0]["text"]
    assert rows[0]["text"] == "Heat flows from hot to cold."
    shown = proofstone("show", "raw", "-w", empty).out
    assert "funnel   5 (2 correct, 3 falsified) entered, by encyclo_k filters 2\n" in shown
    assert "funnel   1 (1 correct, 0 falsified) left, 1 of them cleaned\n" in shown
    again = proofstone(*taken, "--json").json
    assert (again["rows"], again["funnel"]["left"]) == (1, [1, 0])
    assert again["funnel"]["steps"][0] == {"reason": "figure", "dropped": [1, 0]}
    assert proofstone("show", "raw", "-w", empty).out == shown


def test_filters_are_refused_where_they_cannot_be(
    empty: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """Of a form, without --filter, with a file that cannot be written, and with nothing left."""
    write_lines(tmp_path / "raw.jsonl", [RAW[1]])
    file = tmp_path / "raw.jsonl"
    said = proofstone("import", file, "--as", "form", "--filter", "-w", empty)
    assert (said.code, "--filter is for statements: --as bank" in said.err) == (2, True)
    said = proofstone("import", file, "--as", "bank", "--dropped", "d.jsonl", "-w", empty)
    assert (said.code, "--dropped FILE needs --filter" in said.err) == (2, True)
    said = proofstone(
        "import", file, "--as", "bank", "--filter", "--dropped", tmp_path / "d.doc", "-w", empty
    )
    assert (said.code, "no table format" in said.err) == (2, True)
    said = proofstone("import", file, "--as", "bank", "--filter", "-w", empty)
    assert (said.code, "the filters leave no row of raw.jsonl: 1 figure" in said.err) == (2, True)
    assert proofstone("list", "bank", "-w", empty, "--json").json == []
