"""What columns mean: by their names, by their values, as a user says."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import layout_of, table_of, written

from proofstone.errors import BadUsage
from proofstone.results.audit.audit import Asked, audit_files
from proofstone.results.audit.column_names import Layout

WIDE = "qid,discipline,book,gpt,qwen,length\nq1,law,b1,1,0,230\nq2,art,b2,0,1,180\n"


def test_the_context_of_asking_is_no_cluster(tmp_path: Path) -> None:
    """As exported responses have it; a passage under that name is one."""
    text = "item,model,context,score\n1,a,{0},1\n2,a,{1},0\n1,b,{0},1\n2,b,{1},0\n"
    path = written(tmp_path, text.format("none", "none"))
    assert layout_of(path).clusters == ()
    assert layout_of(written(tmp_path, text.format("p1", "p2"))).clusters == ("context",)


def test_who_graded_is_told_by_the_column_of_judges(tmp_path: Path) -> None:
    """One judge for each model, or each record graded by both: models of one judge are ranked. A
    column of that name with labels of records is none."""
    text = "item,model,judge,score\n1,a,gpt,1\n2,a,gpt,0\n1,b,{0},1\n2,b,{1},0\n"
    path = written(tmp_path, text.format("glm", "glm"))
    assert layout_of(path).grader == "judge"
    assert [(who.name, who.judge) for who in table_of(path).respondents] == [
        ("a", "gpt"),
        ("b", "glm"),
    ]
    assert layout_of(written(tmp_path, text.format("good", "bad"))).grader == ""
    twice = "item,model,judge,score\n1,a,gpt,1\n1,a,glm,0\n2,a,gpt,1\n2,a,glm,0\n"
    assert len(table_of(written(tmp_path, twice)).respondents) == 2


def test_a_leaderboard_by_several_judges_is_refused(tmp_path: Path) -> None:
    """With the option that keeps one; files of one judge each are no one table either."""
    text = "model,judge,accuracy,n\na,x,50,100\nb,{0},60,100\n"
    path = written(tmp_path, text.format("y"))
    with pytest.raises(BadUsage, match="2 judges graded these rows") as caught:
        layout_of(path)
    assert "--where judge=x or --where judge=y" in str(caught.value)
    audit = audit_files([path], Asked(where={"judge": "x"}))
    assert [row.judge for row in audit.board.standings[0].ranked] == ["x"]
    tables = [
        written(tmp_path, f"model,judge,all,law,art\n{name},{judge},60,50,70\n", f"{name}.csv")
        for name, judge in (("a", "x"), ("b", "y"))
    ]
    with pytest.raises(BadUsage, match="different judges graded these files"):
        audit_files(tables, Asked())


def test_a_wide_table_is_known_by_one_row_an_item(tmp_path: Path) -> None:
    """Models are the columns of scores; a column of other numbers is not used."""
    found = layout_of(written(tmp_path, WIDE))
    assert found == Layout(
        kind="wide",
        item="qid",
        models=("gpt", "qwen"),
        strata=("discipline",),
        clusters=("book",),
        percent=False,
        unused=("length",),
    )
    assert found.told() == (
        "item: qid; models: gpt, qwen; strata: discipline; clusters: book; not used: length"
    )


def test_the_item_is_the_first_column_without_repeats_where_no_name_tells(tmp_path: Path) -> None:
    """``which`` has no known name, and ``colour`` repeats."""
    found = layout_of(written(tmp_path, "colour,which,a,b\nred,x,1,0\nred,y,0,0\n"))
    assert (found.item, found.models, found.unused) == ("which", ("a", "b"), ("colour",))


def test_a_long_table_has_a_model_and_a_score_in_each_row(tmp_path: Path) -> None:
    """The names are compared without case and punctuation."""
    text = "Question ID,Model,Epoch,Is Correct,Subject\n1,a,1,true,x\n1,a,2,false,x\n"
    found = layout_of(written(tmp_path, text))
    assert found.told() == (
        "item: Question ID; model: Model; score: Is Correct; sample: Epoch; strata: Subject"
    )


def test_accuracies_alone_have_one_row_a_model(tmp_path: Path) -> None:
    """No items; the overall column is apart from the strata, and percent are seen."""
    found = layout_of(written(tmp_path, "Model,ALL,Law,Art\na,50.5,51,50\nb,40,41,39\n"))
    assert found.told() == (
        "model: Model; overall: ALL; strata: Law, Art; scores: percent, divided by 100"
    )


def test_what_a_user_names_stands(tmp_path: Path) -> None:
    """Whatever the names suggest."""
    text = "key,id,who,what,score\nk1,1,a,0.5,1\nk2,1,b,0.7,0\n"
    named = Layout(kind="long", item="key", model="who", score="what", strata=("id",))
    found = layout_of(written(tmp_path, text), named)
    assert found.told() == "item: key; model: who; score: what; strata: id; not used: score"


def test_a_named_column_that_is_none_is_refused_with_those_there_are(tmp_path: Path) -> None:
    """The message lists them."""
    with pytest.raises(BadUsage, match="has no column 'nope'") as caught:
        layout_of(written(tmp_path, WIDE), Layout(item="nope"))
    assert caught.value.hint == "its columns: qid, discipline, book, gpt, qwen, length"


def test_an_open_role_is_asked_for_with_the_option_that_names_it(tmp_path: Path) -> None:
    """Nothing here looks like a score."""
    with pytest.raises(BadUsage) as caught:
        layout_of(written(tmp_path, "item,comment\n1,good\n2,bad\n"))
    assert str(caught.value) == (
        "results.csv: no column is known as a model's scores\n"
        "  name what is missing: --model-cols COLUMN; its columns, with some values:\n"
        "    item: 1, 2\n    comment: good, bad"
    )


@pytest.mark.parametrize(
    ("scores", "percent"),
    [
        (("0", "1", "1"), False),
        (("0", "100", "100"), True),
        (("53.17", "8.2", "0.5"), True),
        (("0.53", "0.08", "1"), False),
        (("53%", "8%", "0.5%"), True),
        (("0", "0", "0"), False),
    ],
)
def test_percentages_are_seen_by_most_scores_above_one(
    tmp_path: Path, scores: tuple[str, ...], percent: bool
) -> None:
    """Zeros tell nothing."""
    lines = [f"q{place},{score}" for place, score in enumerate(scores)]
    found = layout_of(written(tmp_path, "\n".join(["item,m", *lines]) + "\n"))
    assert found.percent is percent


def test_repeated_items_of_a_wide_table_want_a_sample_column(tmp_path: Path) -> None:
    """A run column counts samples only where items repeat."""
    twice = layout_of(written(tmp_path, "item,run,m\n1,1,0\n1,2,1\n"))
    once = layout_of(written(tmp_path, "item,run,m\n1,1,0\n2,1,1\n"))
    assert (twice.sample, once.sample) == ("run", "")


def test_measured_quantities_are_no_models(tmp_path: Path) -> None:
    """Whatever their values; nor is a column of many different values a stratum."""
    lines = [f"{item},1,0.5,12,0.{item}" for item in range(10, 40)]
    text = "\n".join(["item,m,latency,tokens,difficulty", *lines]) + "\n"
    found = layout_of(written(tmp_path, text))
    assert (found.models, found.strata) == (("m",), ())
    assert found.unused == ("latency", "tokens", "difficulty")


def test_a_comma_may_stand_for_the_decimal_point(tmp_path: Path) -> None:
    """As spreadsheets of many countries write it, between semicolons."""
    found = layout_of(written(tmp_path, "model;all;law\na;53,17;48,5\nb;40,2;39,9\n"))
    assert found.told() == (
        "model: model; overall: all; strata: law; scores: percent, divided by 100"
    )


def test_rows_of_models_without_a_score_lack_the_score(tmp_path: Path) -> None:
    """And texts are shown in one line."""
    text = 'id,model,reply\n1,a,"one\ntwo"\n2,a,three\n'
    with pytest.raises(BadUsage) as caught:
        layout_of(written(tmp_path, text))
    assert "no column is known as the score" in str(caught.value)
    assert "reply: one two, three" in str(caught.value)


def test_a_column_half_of_words_is_still_a_model(tmp_path: Path) -> None:
    """So that a stray word among few scores is told with its line rather than taken for a reason
    to leave the model out; a column of nothing is none."""
    found = layout_of(written(tmp_path, "id,m1,m2,note\nq1,1,0,\nq2,maybe,1,\n"))
    assert found.models == ("m1", "m2")


def test_a_table_with_thousands_of_columns_is_refused(tmp_path: Path) -> None:
    """They are no models: all pairs of them would take hours. Named ones are taken."""
    head = ",".join(["item", *(f"c{n}" for n in range(2_001))])
    rows = [",".join([f"q{n}", *("01"[(n + k) % 2] for k in range(2_001))]) for n in range(12)]
    path = written(tmp_path, "\n".join([head, *rows]) + "\n")
    with pytest.raises(BadUsage, match="2,001 columns would be models"):
        audit_files([path], Asked())
    named = Asked(named=Layout(models=("c0", "c1")))
    assert audit_files([path], named).board.n_items == 12
