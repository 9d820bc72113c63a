"""Each command on a small workspace: results on stdout, talk on stderr, JSON that reads."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from scripted_server import answer, error
from serving import configure, serving
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
    assert said.err.startswith("Next, from documents: proofstone init --guided DOCUMENTS")


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
    """Complete runs need nothing, nor does one that reached its limit, which is told; one that
    lacks replies is listed with the line that resumes it."""
    said = proofstone("status", "-w", made)
    assert said.out.splitlines()[1] == f"source 0   fact {STATEMENTS}   bank 1   form 1   run 4"
    assert said.err == "all runs are complete\nNext: proofstone list runs\n"

    proofstone("run", "old-books", "-m", "sim/cas", "--limit", 3, "-w", made)
    said = proofstone("status", "-w", made)
    assert re.fullmatch(
        r"part        run:\w{8}  sim/cas direct  complete for its limit: ranked as the first 3 of "
        rf"{QUESTIONS} items",
        said.out.splitlines()[2],
    )
    refused = error(400, {"error": {"message": "no"}})
    with serving(lambda seen: refused if seen.number == 2 else answer("Answer: A")) as server:
        configure(made, server.url)
        proofstone("run", "old-books", "-m", "scripted/one", "-w", made)
    said = proofstone("status", "-w", made)
    unfinished = rf"unfinished  run:\w{{8}}  scripted/one direct  7 of {QUESTIONS}   1 failed: .*"
    assert re.fullmatch(unfinished, said.out.splitlines()[2])
    assert re.fullmatch(r"Next: proofstone run --resume run:\w{8}\n", said.err)
    report = proofstone("status", "-w", made, "--json").json
    assert report["counts"]["run"] == 6
    assert [run["done"] for run in report["unfinished"]] == [7]
    assert [(run["done"], run["limit"]) for run in report["limited"]] == [(3, 3)]


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
    assert said.err == f"Next: proofstone build form rivers-{first.json['bank'][:4]} --seeds 3\n"


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
    show, run = said.err.splitlines()
    assert re.fullmatch(r"Next: proofstone show old-books-\w+", show)
    assert re.fullmatch(r"Fill in: proofstone run old-books-\S+ -m PROVIDER/NAME", run)


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


def test_run_reports_each_run_and_repeats_nothing(made: Path, proofstone: Proofstone) -> None:
    """One line a run and their leaderboard on stdout, the next steps on stderr; the second time
    the same result."""
    command = ("run", "old-books", "-m", "sim/eve,sim/fay", "-m", "sim/eve", "-w", made)
    first = proofstone(*command)
    lines = first.out.partition("\n\n")[0].splitlines()
    assert first.code == 0
    assert first.out.count("form    old-books-") == 1  # the leaderboard of these runs
    assert [line.split("  ")[1] for line in lines] == ["sim/eve direct", "sim/fay direct"]
    assert all(line.endswith(f"{QUESTIONS} of {QUESTIONS} scored, complete") for line in lines)
    assert "Next: proofstone report run:" in first.err
    quiet = proofstone(*command, "-q")
    assert (quiet.out, quiet.err) == (first.out, "")
    results = proofstone(*command, "--json").json
    assert [(r["model"], r["scored"], r["complete"]) for r in results] == [
        ("sim/eve", QUESTIONS, True),
        ("sim/fay", QUESTIONS, True),
    ]


def test_a_limited_run_is_a_part_until_it_is_resumed(made: Path, proofstone: Proofstone) -> None:
    """It names the command that asks the other items."""
    part = proofstone("run", "old-books", "-m", "sim/gus", "--limit", 2, "-w", made)
    assert part.code == 0
    step = re.search(r"Next: proofstone (run --resume .*)\n", part.err)
    assert step is not None
    whole = proofstone(*step[1].split(), "-w", made)
    assert whole.code == 0
    assert f"{QUESTIONS} of {QUESTIONS} scored, complete" in whole.out
    again = proofstone(*step[1].split(), "-w", made, "--json")
    assert (again.code, again.json[0]["complete"]) == (0, True)


def test_score_counts_what_it_scored(made: Path, proofstone: Proofstone) -> None:
    """From stored replies; --again makes a new scoring of the same."""
    run = proofstone("list", "run", "-w", made, "--json").json[0]
    said = proofstone("grade", f"run:{run['id']}", "-w", made)
    assert said.out == f"run:{run['id']}   {QUESTIONS} scored\n"
    again = proofstone("grade", f"run:{run['id']}", "--again", "-w", made, "--json")
    assert (again.json["run"], again.json["scored"]) == (f"run:{run['id']}", QUESTIONS)
    assert [one["is_current"] for one in again.json["scorings"]] == [False, True]


def test_leaderboard_ranks_with_intervals(made: Path, proofstone: Proofstone) -> None:
    """Each respondent once; simulated ones say so; levels, estimands and breakdowns change it."""
    said = proofstone("leaderboard", "old-books", "-w", made)
    assert said.code == 0
    assert said.out.startswith("form    old-books-")
    assert "SIMULATED models" in said.out
    names = re.findall(r"(?m)^ *[\d-]+  (sim/\S+) +(direct|cot) ", said.out)
    assert sorted(names) == [
        (name, prompt_method) for name in ("sim/ann?ability=0.8", "sim/bob?miss=0.5")
        for prompt_method in ("cot", "direct")
    ]  # fmt: skip
    assert "the domain of this item bank" in said.out
    fresh = proofstone("leaderboard", "old-books", "-w", made, "--population", "bank")
    assert "95% intervals for this item bank" in fresh.out
    level = proofstone("leaderboard", "old-books", "-w", made, "--level", "subfield", "--json").json
    assert level["level"] == "subfield"
    by = proofstone("leaderboard", "old-books", "-w", made, "--by", "subfield,position")
    assert by.code == 0
    assert f"\n{'subfield':<13}" not in said.out
    assert "\nsubfield " in by.out
    assert "\nanswer key position " in by.out


def test_a_breakdown_that_is_none_prints_no_half_result(made: Path, proofstone: Proofstone) -> None:
    """The refusal comes before the table, with the breakdowns that there are."""
    said = proofstone("leaderboard", "old-books", "-w", made, "--by", "colour")
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        "error[PS-201]: no breakdown by 'colour'\n  there is: answer key position, book, subfield\n"
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
        assert (estimate["n"], row["n_responses"], len(row["runs"])) == (QUESTIONS, QUESTIONS, 1)


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


def test_extract_adds_the_letter_to_each_row(tmp_path: Path, proofstone: Proofstone) -> None:
    """A file in, rows out to -o and counts on stdout; no workspace; other fields stay."""
    responses = [
        ("Answer: B", "B", "answered"),
        ("no idea", "", "unparsed"),
        ("Answer: Q", "Q", "unparsed"),
    ]
    file = write_lines(
        tmp_path / "responses.jsonl",
        [{"response": text, "options": 4, "id": n} for n, (text, _l, _o) in enumerate(responses)],
    )
    out = tmp_path / "out.jsonl"
    said = proofstone("grade", file, "-o", out)
    found = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [(row["letter"], row["outcome"]) for row in found] == [r[1:] for r in responses]
    assert [row["id"] for row in found] == [0, 1, 2]
    assert [line.split() for line in said.out.splitlines()] == [
        ["outcome", "responses"], ["unparsed", "2"], ["answered", "1"],
    ]  # fmt: skip
    counts = proofstone("grade", file, "--as", "letters", "--json").json
    assert (counts["n"], counts["outcomes"]) == (3, {"unparsed": 2, "answered": 1})


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
    assert head == "error[PS-201]: 'two' names 2 forms"
    listed = hint.removeprefix("  help: use one of: ").split(", ")
    assert sorted(name[:8] for name in listed) == sorted(names)


def test_commands_that_are_printed_can_be_pasted(
    empty: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """A name with a space or a sign of the shell's is quoted in what to do next."""
    file = write_bank(tmp_path)
    said = proofstone("import", file, "--as", "bank", "--name", "my <bank>", "-w", empty)
    (digits,) = re.findall(r"my <bank>-(\w{4})", said.out)
    assert said.err == f"Next: proofstone build form 'my <bank>-{digits}'\n"


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
