"""Which column of a leaderboard is the score: by its name, by a stated rule, or by none."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from reading import layout_of, written

from proofstone.errors import BadUsage
from proofstone.results.audit.audit import Asked, audit_files
from proofstone.results.audit.column_names import Layout
from proofstone.results.board import BoardRow


def ranked(path: Path, asked: Asked | None = None) -> list[BoardRow]:
    """The rows of the audit's leaderboard."""
    (group,) = audit_files([path], asked or Asked()).board.standings
    return list(group.ranked)


def scores(path: Path, asked: Asked | None = None) -> dict[str, float]:
    """Each model's score as ranked, out of 100."""
    return {row.name: round(100 * row.estimate.value, 3) for row in ranked(path, asked)}


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("model,accuracy,std\na,71.2,2\nb,60.5,1.1\n", "accuracy"),
        ("rank,model,accuracy,params_b\n1,a,71.2,7\n2,b,60.5,13\n", "accuracy"),
        ("model,acc,acc_stderr\na,0.712,0.014\nb,0.605,0.015\n", "acc"),
        ("model,accuracy,has_image\na,71.2,1\nb,60.5,0\n", "accuracy"),
        ("model,score,cost_usd,tokens,date\na,71.2,3.5,90,2024\nb,60.5,2,80,2025\n", "score"),
        ("Model,Elo,Accuracy (%)\na,99,71.2\nb,98,60.5\n", "Accuracy (%)"),
        ("model,precision,recall,F1\na,72,70.4,71.2\nb,61,60,60.5\n", "F1"),
        ("model,CO,NA,IN,CGA,F\na,69,4,27,72,71.2\nb,58,5,37,61,60.5\n", "F"),
        ("model,pass@1\na,71.2\nb,60.5\n", "pass@1"),
        ("Name,BLEU,Params\na,71.2,7\nb,60.5,13\n", "BLEU"),
    ],
)
def test_a_leaderboard_is_ranked_by_its_score_alone(tmp_path: Path, text: str, score: str) -> None:
    """Errors, ranks, sizes, costs, flags and other metrics are never averaged with it."""
    path = written(tmp_path, text)
    assert layout_of(path).overall == score
    factor = 1 if "0.712" in text else 1.0
    assert scores(path) == {"a": 71.2 * factor, "b": 60.5 * factor}


def test_the_rule_that_chose_the_score_is_told(tmp_path: Path) -> None:
    """With the metrics that are shown beside it."""
    found = layout_of(written(tmp_path, "model,F1,precision,recall\na,0.7,75,65\nb,0.5,50,51\n"))
    assert found.told() == (
        "model: model; overall: F1 (combines the other metrics); other metrics, shown and not "
        "averaged: precision, recall"
    )


def test_several_metrics_without_a_rule_are_refused_with_the_choices(tmp_path: Path) -> None:
    """And each choice is named by its option, with which the same file is read."""
    path = written(tmp_path, "model,accuracy,f1,bleu\na,70,60,50\nb,60,65,40\nc,65,50,45\n")
    with pytest.raises(BadUsage) as caught:
        layout_of(path)
    assert str(caught.value) == (
        "results.csv has 3 columns that could be the score: accuracy, f1, bleu\n"
        "  name the one that models are ranked by:\n"
        "    --score-col accuracy\n    --score-col f1\n    --score-col bleu"
    )
    assert layout_of(path, Layout(score="f1")).overall == "f1"
    assert list(scores(path, Asked(named=Layout(score="f1")))) == ["b", "a", "c"]


def test_columns_of_unknown_names_are_averaged_only_where_they_are_known_groups(
    tmp_path: Path,
) -> None:
    """By a row of their numbers of items, or because a user names them."""
    text = "model,mmlu,gsm\na,70,50\nb,60,80\n"
    with pytest.raises(BadUsage, match="could be the score: mmlu, gsm"):
        layout_of(written(tmp_path, text))
    counted = written(tmp_path, text + "n,300,100\n", "counted.csv")
    assert scores(counted) == {"a": 65.0, "b": 65.0}
    named = Asked(named=Layout(models=("mmlu", "gsm")))
    assert scores(written(tmp_path, text), named) == {"b": 70.0, "a": 60.0}


def test_ranks_or_the_order_of_rows_tell_the_score(tmp_path: Path) -> None:
    """Where exactly one column follows them: five rows at least for the order."""
    rows = [(5, 10, 3), (4, 20, 1), (3, 30, 2), (2, 40, 5), (1, 50, 4)]
    lines = [f"m{n},{accuracy},{f1 * 10}" for n, accuracy, f1 in reversed(rows)]
    path = written(tmp_path, "\n".join(["model,accuracy,f1", *lines]) + "\n")
    assert (layout_of(path).overall, layout_of(path).rule) == ("accuracy", "sorted")
    ranked_by = "rank,model,accuracy,f1\n2,a,50,70\n1,b,40,80\n3,c,60,60\n"
    found = layout_of(written(tmp_path, ranked_by))
    assert (found.overall, found.rule) == ("f1", "ranks")


def test_counts_beside_tokens_hold_no_score(tmp_path: Path) -> None:
    """As in a table of categories: nothing is ranked against anything."""
    path = written(tmp_path, "category,count,avg_tokens\nx,33,32.1\ny,48,30.9\n")
    with pytest.raises(BadUsage, match="no column is known as"):
        layout_of(path)


def test_statistics_of_groups_hold_no_models(tmp_path: Path) -> None:
    """A mean and a standard deviation by discipline rank nobody."""
    path = written(tmp_path, "discipline,mean accuracy,SD\nlaw,40.5,3.1\nart,50.2,2.2\n")
    with pytest.raises(BadUsage, match="cannot be told to be models"):
        layout_of(path)


def test_a_flag_or_a_count_beside_scores_of_items_is_no_model(tmp_path: Path) -> None:
    """By its name, or by its scale."""
    lines = [f"q{n},{n % 2},{(n + 1) % 2},{n % 2},{10 + n}" for n in range(6)]
    path = written(tmp_path, "\n".join(["item,gpt,qwen,has_image,words_in_it", *lines]) + "\n")
    assert layout_of(path).models == ("gpt", "qwen")
    lines = [f"q{n},{n % 2},{(n + 1) % 2},{10 + n}" for n in range(6)]
    path = written(tmp_path, "\n".join(["item,gpt,qwen,hops", *lines]) + "\n")
    assert layout_of(path).models == ("gpt", "qwen")


def test_a_model_called_delta_is_a_model(tmp_path: Path) -> None:
    """Words of quantities count in a name without digits alone."""
    path = written(tmp_path, "item,vicuna-7b-delta,gpt\n1,0,1\n2,1,1\n")
    assert layout_of(path).models == ("vicuna-7b-delta", "gpt")


def test_letters_of_options_are_groups_and_no_metrics(tmp_path: Path) -> None:
    """F beside precision and recall is a metric, and beside A and B a place."""
    path = written(tmp_path, "model,E,F,G\na,50,60,70\nn,10,10,20\n")
    assert layout_of(path).models == ("E", "F", "G")


def test_models_in_several_settings_are_rows_of_their_own(tmp_path: Path) -> None:
    """The column of texts that tells them apart is named behind the model."""
    path = written(tmp_path, "model,search,accuracy\na,none,50\na,web,60\nb,none,40\nb,web,70\n")
    assert list(scores(path)) == ["b (web)", "a (web)", "a (none)", "b (none)"]


def test_the_items_of_each_row_give_intervals(tmp_path: Path) -> None:
    """Wilson for 71.2% of 500: 0.6708 to 0.7500; n counts items, and a number of runs adds none."""
    text = "model,score,n\na,71.2,500\nb,60,1000\nc,50,1000\n"
    (first, *_), (again, *_) = (
        ranked(written(tmp_path, text), asked) for asked in (Asked(), Asked(runs=4))
    )
    assert (first.estimate.n, first.rank is not None) == (500, True)
    assert (round(first.estimate.low, 3), round(first.estimate.high, 3)) == (0.671, 0.750)
    assert again.estimate == first.estimate


def test_stated_standard_errors_give_intervals(tmp_path: Path) -> None:
    """0.712 with 0.02: 0.712 +- 1.96 * 0.02; 0.65 with 0.02 differs from it by 2.19 standard
    errors, one pair, so the ranks are apart."""
    first, second = ranked(written(tmp_path, "model,acc,acc_stderr\na,.712,.02\nb,.65,.02\n"))
    assert first.estimate.low == pytest.approx(0.712 - 1.959964 * 0.02)
    assert first.estimate.high == pytest.approx(0.712 + 1.959964 * 0.02)
    assert first.rank is not None
    assert second.rank is not None
    assert (first.rank.high, second.rank.low) == (1, 2)


def test_errors_on_another_scale_than_the_scores_are_not_used(tmp_path: Path) -> None:
    """Shares beside percentages would be a hundredth of the width."""
    (first, *_) = ranked(written(tmp_path, "model,acc,acc_stderr\na,71.2,.02\nb,65,.02\n"))
    assert math.isnan(first.estimate.low)


def test_f1_has_no_interval_from_the_number_of_items(tmp_path: Path) -> None:
    """It is no mean over them, and the notes say so."""
    path = written(tmp_path, "model,F1\na,0.71\nb,0.65\n")
    audit = audit_files([path], Asked(items={"": 500}))
    assert all(math.isnan(row.estimate.low) for row in audit.board.standings[0].ranked)
    assert any(note.startswith("F1 is treated as a corpus metric") for note in audit.notes)


def test_a_refusal_of_a_wide_table_lists_a_few_columns(tmp_path: Path) -> None:
    """2,000 columns that could be the score are counted, and ten of them named."""
    heads = ",".join(f"c{k}" for k in range(2000))
    cells = ",".join(["50.5"] * 2000)
    path = written(tmp_path, f"model,{heads}\na,{cells}\nb,{cells}\n")
    with pytest.raises(BadUsage) as caught:
        layout_of(path)
    assert "has 2,000 columns that could be the score: c0, c1" in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_a_file_of_one_column_is_refused_with_the_columns_that_tables_have(tmp_path: Path) -> None:
    """What a row is of cannot be known; each shape that the sentence names is read."""
    with pytest.raises(BadUsage, match="its one column, 'score', does not say") as caught:
        ranked(written(tmp_path, "score\n0.7\n0.6\n"))
    for columns in ("item,model,score", "item,model-a,model-b", "model,score"):
        assert f"({columns})" in caught.value.hint
    assert len(ranked(written(tmp_path, "model,score\na,0.7\nb,0.6\n"))) == 2
    assert len(ranked(written(tmp_path, "item,model-a,model-b\n1,1,0\n2,1,1\n"))) == 2
    long = "item,model,score\n1,a,1\n1,b,0\n2,a,1\n2,b,1\n"
    assert len(ranked(written(tmp_path, long))) == 2
