"""``proofstone audit``: anybody's results, without a workspace."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from told import Proofstone

WIDE = """\
qid,discipline,book,gpt,qwen,llama
q1,law,b1,1,1,0
q2,law,b1,1,0,0
q3,law,b2,1,1,
q4,art,b2,0,1,0
q5,art,b3,1,0,0
q6,art,b3,1,1,1
"""

SUMMARY = """\
read           results.csv: wide table; 6 items, 3 models, 17 scores, 1 missing
               item: qid; models: gpt, qwen, llama; strata: discipline; clusters: book

rank  model    n  accuracy
 1-2  gpt      6  83.3 [2.4, 100.0]
 1-2  qwen     6  66.7 [0.8, 100.0]
gpt has the highest score (83.3%, 16.7 points above qwen); 1 model is statistically tied with it.
incomplete, not ranked: missing responses counted as all wrong .. all right
llama    5 of 6 responses  16.7 .. 33.3  so far 20.0 [0.0, 99.7]
95% intervals for the domain of this item bank; each item counts the same (items with a score)

note           The items come from only 3 clusters. Intervals also cover other such clusters, so
               they are wide. For new items from these clusters alone, use --population bank.
pairs          The difference between the two is not statistically significant.
power          These are too few independent items to find any difference between two models. These
               items cannot show a difference of any size between two models.
strata         Scores by discipline (2 groups). gpt has the highest score overall, and the highest
               observed score, alone or tied, in 2 of the 2 groups by discipline. Groups with fewer
               than 30 items (wide intervals): discipline (art, law).
page           add -o report.html for tables, figures and items
"""


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    path = tmp_path / "results.csv"
    path.write_text(WIDE, encoding="utf-8")
    return path


def test_the_summary_says_what_was_read_and_who_is_ahead(
    proofstone: Proofstone, wide: Path
) -> None:
    """Columns as understood, the leaderboard, then one finding a section."""
    told = proofstone("audit", wide)
    assert (told.code, told.err) == (0, "")
    assert told.out == SUMMARY


def test_json_holds_every_number_with_its_interval(proofstone: Proofstone, wide: Path) -> None:
    """And the seed, the estimand and what was resampled."""
    audit = proofstone("audit", wide, "--seed", 7, "--json").json
    row = audit["board"]["standings"][0]["ranked"][0]
    assert (row["name"], row["estimate"]["n"], row["estimate"]["resampled"]) == (
        "gpt",
        6,
        "clusters",
    )
    assert audit["seed"] == 7
    assert audit["sections"][0]["name"] == "pairs"
    assert audit["files"][0]["columns"].startswith("item: qid")


def test_columns_are_named_by_options(proofstone: Proofstone, wide: Path) -> None:
    """Only two models, no cluster but by another column."""
    told = proofstone("audit", wide, "--model-cols", "gpt,qwen", "--cluster-col", "discipline")
    assert told.code == 0
    assert "models: gpt, qwen; clusters: discipline; not used: book, llama" in told.out


def test_a_lower_bar_ranks_a_model_with_missing_scores(proofstone: Proofstone, wide: Path) -> None:
    """On the five items that all three have, which a note says."""
    told = proofstone("audit", wide, "--complete-from", "0.8")
    assert "1 model lacks at most" in told.out
    rows = [line.split()[1:3] for line in told.out.splitlines() if line.startswith(" 1-3")]
    assert rows == [["gpt", "5"], ["qwen", "5"], ["llama", "5"]]


def test_where_no_model_is_ranked_the_option_that_ranks_is_named(
    proofstone: Proofstone, tmp_path: Path
) -> None:
    """Two models with 4 of 7 scores each, on one item together; how many calls failed is not known
    from a file, so nothing of it is said."""
    path = tmp_path / "long.csv"
    told = ["1,a,1", "2,a,0", "3,a,1", "4,a,1", "5,b,1", "6,b,0", "7,b,1", "1,b,0"]
    path.write_text("\n".join(["item,model,score", *told, ""]), encoding="utf-8")
    out = " ".join(proofstone("audit", path).out.split())
    assert "No model has scores for 95% of the items (the most is 57%), so none is ranked." in out
    assert "To rank on the 1 item that all models have scores for, use --complete-from 0.57." in out
    assert "failed" not in out
    assert "no rank" not in proofstone("audit", path, "--complete-from", "0.57").out
    assert proofstone("audit", path, "--complete-from", "0.57").out.count(" 1-2 ") == 2
    path.write_text("\n".join(["item,model,score", *told[:-1], ""]), encoding="utf-8")
    out = " ".join(proofstone("audit", path).out.split())
    assert "so none is ranked. No item has scores from all models." in out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("item,m\n1,1\n", "100.0"),
        ("item,a,b\n1,1,1\n2,1,1\n3,1,1\n", "100.0"),
        ("item,a,b\n1,0,0\n2,0,0\n", "0.0"),
        ("item,a,b\n1,1,\n2,,1\n", "incomplete, not ranked"),
        ("item,field,a,b\n1,,1,0\n2,x,0,1\n", "50.0"),
        ("model,all\na,50\nb,50\n", "50.0"),
        ("model,all,Law,Art\na,50,40,60\nb,55,50,60\n", "50.0"),
    ],
    ids=[
        "one item",
        "all right",
        "all wrong",
        "no item in common",
        "empty stratum",
        "no strata",
        "no numbers of items",
    ],
)
def test_degenerate_results_are_answered(
    proofstone: Proofstone, tmp_path: Path, text: str, said: str
) -> None:
    """Not crashed on: in the terminal, as JSON, as a page with its tables, in either language."""
    path, page = tmp_path / "results.csv", tmp_path / "page.html"
    path.write_text(text, encoding="utf-8")
    told = proofstone("audit", path)
    assert (told.code, told.err) == (0, "")
    assert said in told.out
    assert proofstone("audit", path, "--json").code == 0
    for language in ("en", "zh"):
        told = proofstone(
            "audit", path, "-o", page, "--tables", "csv,tex", "--ui-language", language
        )
        assert told.code == 0, told.err
        assert not re.search(r"\bnan\b", page.read_text(encoding="utf-8"))


def test_a_first_place_is_no_lead_where_the_number_of_items_is_unknown(
    proofstone: Proofstone, tmp_path: Path
) -> None:
    """No lead is significant without an interval."""
    path, page = tmp_path / "results.csv", tmp_path / "page.html"
    path.write_text("model,all,Law,Art\na,50,40,60\nb,55,50,60\n", encoding="utf-8")
    assert proofstone("audit", path, "-o", page).code == 0
    told = " ".join(page.read_text(encoding="utf-8").split())
    assert "b has the highest score (55.0%). The number of items is unknown" in told
    assert "Accuracy in %, without confidence intervals." in told
    assert "leads with" not in told


def test_models_that_never_differ_have_no_resolution(
    proofstone: Proofstone, tmp_path: Path
) -> None:
    """No variance was seen, so none stands for what items would find: not "0.0 points"."""
    path = tmp_path / "results.csv"
    path.write_text("item,a,b\n" + "".join(f"{n},1,1\n" for n in range(20)), encoding="utf-8")
    told = " ".join(proofstone("audit", path).out.split())
    assert "power The difference of the median pair is the same on every item" in told
    assert "difference of 0.0 points" not in told


def test_accuracies_alone_are_never_called_paired(proofstone: Proofstone, tmp_path: Path) -> None:
    """Neither on the page nor beside its tables: without items nothing is compared by item."""
    path, page = tmp_path / "results.csv", tmp_path / "page.html"
    path.write_text("model,all,Law,Art\na,50,40,60\nb,75,70,80\nn,,60,60\n", encoding="utf-8")
    assert proofstone("audit", path, "-o", page, "--tables", "tex").code == 0
    written = [page, *sorted((tmp_path / "page-tables").glob("*.t*"))]
    assert len(written) > 3
    told = " ".join(" ".join(each.read_text(encoding="utf-8") for each in written).split())
    assert "paired comparisons on the same items" not in told


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("item,a\n1,x\n2,1\n3,1\n", "line 2, column a: expected a number from 0 to 1, came 'x'"),
        ("item,comment\n1,good\n", "name what is missing: --model-cols COLUMN"),
        ("", "the file has no rows"),
        ("item,a\n1,\n", "--model-cols COLUMN"),
    ],
    ids=["no score", "no model", "empty file", "no score at all"],
)
def test_what_cannot_be_read_is_refused_with_the_next_step(
    proofstone: Proofstone, tmp_path: Path, text: str, said: str
) -> None:
    """Exit code 2, and nothing on stdout."""
    path = tmp_path / "results.csv"
    path.write_text(text, encoding="utf-8")
    told = proofstone("audit", path)
    assert (told.code, told.out) == (2, "")
    assert said in told.err


def test_a_missing_file_and_an_empty_folder_are_named(
    proofstone: Proofstone, tmp_path: Path
) -> None:
    """Both are not found."""
    assert "file not found" in proofstone("audit", tmp_path / "no.csv").err
    assert "no results in" in proofstone("audit", tmp_path).err


@pytest.mark.parametrize("option", ["--items=x", "--items=x=y", "--where=x"])
def test_pairs_are_checked(proofstone: Proofstone, wide: Path, option: str) -> None:
    """NAME=VALUE, and a number of items."""
    told = proofstone("audit", wide, option)
    assert told.code == 2
    assert "expected" in told.err


def test_runs_of_a_workspace_are_audited_alike(
    proofstone: Proofstone, made: Path, tmp_path: Path
) -> None:
    """By their names; the page is their report, with the same sections."""
    told = proofstone("audit", "old-books", "-w", made, "-o", tmp_path / "page.html")
    assert told.code == 0
    assert "4 runs in this workspace" in told.out
    assert "pairs " in told.out
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Pairwise differences" in page
    assert "All items" in page


def test_files_and_runs_are_not_mixed(proofstone: Proofstone, made: Path, wide: Path) -> None:
    """The way out is told."""
    told = proofstone("audit", "old-books", wide, "-w", made)
    assert told.code == 2
    assert "export the runs' scores first" in told.err


def test_the_page_names_no_folder(proofstone: Proofstone, wide: Path, tmp_path: Path) -> None:
    """It is handed on."""
    page = tmp_path / "page.html"
    assert proofstone("audit", wide, "-o", page).code == 0
    text = page.read_text(encoding="utf-8")
    assert "results.csv" in text
    assert str(tmp_path) not in text


def test_a_name_that_is_neither_file_nor_target_is_told(
    proofstone: Proofstone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outside any workspace it may have been meant as a file."""
    monkeypatch.chdir(tmp_path)
    told = proofstone("audit", "results")
    assert (told.code, told.out) == (2, "")
    assert "file not found: results\n  help: no workspace here either" in told.err


def test_few_clusters_are_noted_where_intervals_speak_of_others(
    proofstone: Proofstone, wide: Path
) -> None:
    """Three books are guessed from a name; for these alone items count."""
    assert "only 3 clusters" in proofstone("audit", wide).out
    assert "only 3 clusters" not in proofstone("audit", wide, "--population", "bank").out


def test_models_that_never_differ_are_said_to_be_level(
    proofstone: Proofstone, tmp_path: Path
) -> None:
    """No tau of a dash, no first place, no range of 0.0 points."""
    path, page = tmp_path / "results.csv", tmp_path / "page.html"
    rows = (
        f"q{n},{'law' if n % 2 else 'art'}{',1' * 3 if n % 3 else ',0' * 3}\n" for n in range(30)
    )
    path.write_text("item,discipline,a,b,c\n" + "".join(rows), encoding="utf-8")
    told = " ".join(proofstone("audit", path, "-o", page).out.split())
    assert (
        "The top 3 models have the same score, so the stability of their order is undefined."
        in told
    )
    assert "All 3 models score the same overall, and in 2 of the 2 groups by discipline." in told
    assert "Nowhere: the top 3 score the same in every group by discipline." in told
    for odd in ("tau of \u2014", "first overall", "0.0 points on"):
        assert odd not in told
        assert odd not in page.read_text(encoding="utf-8")


def test_a_long_name_is_shortened_in_sentences_too(proofstone: Proofstone, tmp_path: Path) -> None:
    """As in the table, by its end; the page has it whole. Up to 200 letters no name is cut."""
    path, long = tmp_path / "results.csv", "x" * 5000 + "-7b"
    rows = (f"q{n},{n % 2},{n % 3 % 2},1\n" for n in range(30))
    path.write_text(f"item,{long},b,c\n" + "".join(rows), encoding="utf-8")
    told = proofstone("audit", path).out
    assert max(map(len, told.splitlines())) <= 220
    assert "x-7b" in told.split("\npairs ")[1]
